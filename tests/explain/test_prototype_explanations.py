"""Explanations, rules, plots and the report of models with fewer prototypes than training rows.

Every row that they name is a prototype, and its number is its row in the X of the fit.
"""

import json
import re
from functools import partial

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from doubles import plain
from eocc import SurpriseClassifier
from eocc.entropic.partition import normalized_modularity
from eocc.explain.rules import prototypes_of
from eocc.measures import MEASURES
from eocc.plots import plot_membership, plot_modularity, plot_space
from eocc.plots.projection import edges_between
from eocc.report import write_report
from eocc.report.study import study_of
from pages import read
from samples import samples

KINDS = {"entropic": partial(plain, random_state=3), "surprise": SurpriseClassifier}
both_kinds = pytest.mark.parametrize("kind", KINDS)
every_measure = pytest.mark.parametrize("name", MEASURES)


class Given:
    """A selection that chooses the given rows."""

    def __init__(self, indices):
        self.indices = indices

    def select(self, measure, patterns, count, rng):
        return np.array(self.indices)


def words(text):
    return " ".join(getattr(text, "detail", str(text)).split())


def fit(kind, name):
    training, new = samples(name)
    return KINDS[kind](measure=name, prototypes=8).fit(training), training, new


def check_row(clf, training, one, row):
    """Check a named prototype against the dissimilarities of the explained row, and its number against X."""
    assert one.index == clf.prototype_indices_[one.column]
    assert one.row == clf.training_indices_[one.index]
    assert one.dissimilarity == row[one.column]
    itself = training[one.row : one.row + 1]
    if not (hasattr(itself, "isna") and itself.isna().any(axis=None)):  # a row with gaps differs from its copy
        assert_allclose(clf.transform(itself)[0, one.column], 0, atol=1e-7)


def prototype_by_hand(clf, rows, number):
    """Return the training index of the prototype of a region, from the rows of the dissimilarity space."""
    region, known = clf.regions_[number], clf.prototype_indices_
    if region.representative in known:
        return region.representative
    inside = [index for index in known if clf.labels_[index] == number]
    candidates = np.array(inside or known)
    gaps = ((rows[candidates] - clf.fuzzy_model_.centres[number]) ** 2).mean(axis=1)
    return candidates[np.argmin(gaps)]


@every_measure
def test_neighbours_are_prototypes_named_by_their_rows(name):
    clf, training, new = fit("surprise", name)
    for one, row in zip(clf.explain(new), clf.transform(new), strict=True):
        order = np.argsort(row, kind="stable")[:3]
        assert [exemplar.column for exemplar in one.exemplars] == order.tolist()
        for exemplar in (*one.exemplars, one.neighbourhoods[0].neighbour):
            check_row(clf, training, exemplar, row)
        for near in one.neighbourhoods:
            assert near.neighbour.index == clf.prototype_indices_[near.neighbour.column]
        assert one.difference.dissimilarity == row[order[0]]
        assert one.n_prototypes == 8
        numbers = ", ".join(str(exemplar.row) for exemplar in one.exemplars)
        assert f"Nearest prototypes: {numbers} (dissimilarity" in words(one)
        assert one.n_training == 20
        json.dumps(one.to_dict(), allow_nan=False)


@every_measure
def test_regions_are_explained_by_their_prototypes(name):
    clf, training, new = fit("entropic", name)
    all_rows, labels = clf.transform(training)[clf.training_indices_], clf.labels_[clf.prototype_indices_]
    for one, row in zip(clf.explain(new), clf.transform(new), strict=True):
        check_row(clf, training, one.prototype, row)
        assert one.prototype.index == prototype_by_hand(clf, all_rows, one.region)
        assert one.n_members == len(clf.regions_[one.region].members)
        own = np.flatnonzero(labels == one.region)
        nearest = own[np.argsort(row[own], kind="stable")[:3]].tolist()
        assert [exemplar.column for exemplar in one.exemplars] == nearest
        assert one.difference.dissimilarity == one.prototype.dissimilarity
        json.dumps(one.to_dict(), allow_nan=False)


@both_kinds
@every_measure
def test_rules_give_the_prototypes_of_each_region(name, kind):
    clf, training, _ = fit(kind, name)
    all_rows, labels = clf.transform(training)[clf.training_indices_], clf.labels_[clf.prototype_indices_]
    for number, rule in enumerate(clf.rules()):
        own = np.flatnonzero(labels == number)
        assert rule.n_members == (clf.labels_ == number).sum()
        assert rule.prototype == clf.training_indices_[prototype_by_hand(clf, all_rows, number)]
        assert bool(rule.columns) == (len(own) > 0 and name in ("euclidean", "standardised", "gower", "hamming"))
        if rule.columns and name in ("euclidean", "standardised"):
            values = np.asarray(training, float)[clf.training_indices_[clf.prototype_indices_[own]], 0]
            first = next(one for one in rule.columns if one.name == "feature 0")
            assert_allclose([first.low, first.high], [values.min(), values.max()])
        assert str(rule)


@both_kinds
def test_rows_left_out_of_the_training_rows_do_not_shift_the_numbers(kind):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.tile([-1, 1, 1], 20)
    settings = {"synthesis": "validation"} if kind == "entropic" else {}
    clf = KINDS[kind](prototypes=10, **settings).fit(X, y)
    rows = clf.training_indices_[clf.prototype_indices_]
    assert (rows != clf.prototype_indices_).any()
    for one in clf.explain(X):
        for exemplar in (*one.exemplars, one.compared_with[1]):
            assert y[exemplar.row] == 1
            assert_array_equal(clf.prototypes_[exemplar.column], X[exemplar.row])
    assert {rule.prototype for rule in clf.rules()} <= set(rows.tolist())


@pytest.fixture(scope="module")
def halves():
    """Two clusters, of which the second has no prototype."""
    X = np.vstack([np.linspace(0, 1, 10), np.linspace(0, 0.5, 10)]).T
    X = np.vstack([X, X[:4] / 4 + [50.0, 0.0]])
    return X, plain(prototypes=3, selection=Given([1, 4, 8])).fit(X)


def test_the_rule_of_a_region_without_a_prototype_says_so(halves):
    _, clf = halves
    assert [len(region.members) for region in clf.regions_] == [10, 4]
    near, far = clf.rules()
    assert (far.columns, far.prototype) == ((), 8)
    assert words(far).startswith("Region 1, 4 of 14 rows: nearest training row 8 (")
    assert "feature 1 0.05556 to 0.4444; nearest training row 4 A row is accepted if" in words(near)
    labels, found = clf.labels_[clf.prototype_indices_], prototypes_of(clf, [0, 1])
    assert [labels[found[number]] == number for number in (0, 1)] == [True, False]


def test_a_row_in_a_region_without_a_prototype_is_explained(halves):
    X, clf = halves
    (one,) = clf.explain(X[-2:-1])
    assert (one.is_target, one.region, one.exemplars) == (True, 1, ())
    assert "Most similar" not in words(one)
    assert one.exemplars_heading == "The training row nearest to the centre of region 1 is 8."


@pytest.mark.parametrize("with_new_rows", [False, True])
def test_the_report_shows_a_region_without_a_prototype(halves, tmp_path, with_new_rows):
    X, clf = halves
    page = read(write_report(clf, tmp_path / "page.html", X if with_new_rows else None))
    assert "2 regions as rules" in page.text
    identities = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(identities) == len(set(identities))


@both_kinds
def test_a_single_prototype_is_enough(kind):
    X = np.random.default_rng(0).normal(size=(12, 2))
    clf = KINDS[kind](prototypes=1).fit(X)
    row = clf.training_indices_[clf.prototype_indices_[0]]
    assert all(one.compared_with[1].row == row for one in clf.explain(X[:3]))
    assert all(rule.prototype == row for rule in clf.rules())


@both_kinds
@every_measure
def test_the_report_names_prototypes_by_their_rows(name, kind, tmp_path):
    clf, _, new = fit(kind, name)
    rows = clf.training_indices_[clf.prototype_indices_]
    page = read(write_report(clf, tmp_path / "page.html", new))
    found = [(int(one["name"]), one["region"]) for one in page.data["training"]]
    assert found == list(zip(rows.tolist(), clf.labels_[clf.prototype_indices_].tolist(), strict=True))
    assert {int(near["name"]) for row in page.data["rows"] for near in row["near"]} <= set(rows.tolist())
    assert "8 of 20 training rows as prototypes" in page.text
    assert "20 training rows" in page.text
    assert {int(row) for row in re.findall(r"[Tt]raining row (\d+)", page.text)} <= set(rows.tolist())


@both_kinds
def test_a_report_without_new_rows_scores_the_prototypes(kind, tmp_path):
    clf, *_ = fit(kind, "euclidean")
    assert "how the model scores its own prototypes" in read(write_report(clf, tmp_path / "page.html")).text


@both_kinds
def test_the_study_scores_the_prototypes_as_the_classifier_does(kind):
    clf, _, new = fit(kind, "euclidean")
    study = study_of(clf, new)
    assert study.classifier._n_training == 20
    assert_allclose(study.training.ratios, clf._score_all(clf.prototypes_).ratios, atol=1e-12)


@both_kinds
def test_the_space_shows_the_prototypes_and_the_edges_between_them(kind):
    clf, _, new = fit(kind, "euclidean")
    axes = plot_space(clf, new, axes=Figure().subplots())
    labels = clf.labels_[clf.prototype_indices_]
    drawn = [line for line in axes.lines if line.get_markersize() == 4]
    assert [len(line.get_xdata()) for line in drawn] == np.bincount(labels, minlength=len(clf.regions_)).tolist()
    pairs = {frozenset(edge) for edge in np.asarray(clf.spanning_tree_.edges).tolist()}
    known = clf.prototype_indices_.tolist()
    expected = {frozenset((a, b)) for a in range(8) for b in range(a) if frozenset((known[a], known[b])) in pairs}
    assert {frozenset(edge) for edge in edges_between(clf, np.arange(8)).tolist()} == expected
    assert edges_between(clf, np.arange(0)).shape == (0, 2)
    (lines,) = (part for part in axes.collections if isinstance(part, LineCollection))
    assert len(lines.get_segments()) == len(expected)
    assert axes.get_title().endswith("\n8 of 20 training rows")
    texts = [text.get_text() for text in axes.get_legend().get_texts()][: len(clf.regions_)]
    assert [int(text.split()[2]) for text in texts] == [len(region.members) for region in clf.regions_]


def test_a_membership_surface_says_how_many_rows_it_draws():
    X = np.random.default_rng(0).normal(size=(30, 2))
    axes = plot_membership(plain(prototypes=9, random_state=0).fit(X), axes=Figure().subplots(), resolution=20)
    assert axes.get_legend().get_texts()[0].get_text() == "9 of 30 training rows"
    assert len(axes.lines[0].get_xdata()) == 9
    assert plain().fit(X)._prototypes_in_words == ""


def test_the_modularity_of_all_partitions_is_drawn():
    clf = plain(prototypes=20, random_state=0).fit(np.random.default_rng(0).normal(size=(3000, 2)))
    line = plot_modularity(clf, axes=Figure().subplots()).lines[0]
    assert_array_equal(line.get_xdata(), np.arange(1, 3001))
    assert_array_equal(line.get_ydata(), normalized_modularity(clf.modularity_curve_))
