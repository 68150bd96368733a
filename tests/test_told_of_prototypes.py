"""What is told of a model that keeps fewer prototypes than it has training patterns: every number is a row of X."""

import json
import re

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from doubles import plain
from eocc.cli.inspect import facts_of
from eocc.explain import explain, rules
from eocc.explain.regions import prototypes_of
from eocc.measures import MEASURES
from eocc.measures.euclidean import FittedEuclidean
from eocc.plots.drawing import plot_membership, plot_modularity, plot_space
from eocc.plots.projection import edges_between, known_share, project
from eocc.report import write_report
from eocc.report.charts import Curve, line_chart, linear, logarithmic
from eocc.report.study import study_of
from eocc.synthesis.graph_kinds import NeighbourGraph
from samples import samples
from test_report import Reader, read

KINDS = [{"resolution": "multi"}, {"resolution": "single"}]


class Chosen:
    """The prototypes that were asked for."""

    def __init__(self, indices):
        self.indices = indices

    def select(self, measure, patterns, count, rng):
        return np.array(self.indices)


def words(told):
    return " ".join(str(told).split())


def one_of(patterns, row):
    return patterns[row : row + 1]


def fit(name, **settings):
    training, new = samples(name)
    clf = plain(measure=name, prototypes=8, random_state=3, **settings).fit(training)
    return clf, training, new


def check_told(clf, training, told, row):
    """Check a prototype against the dissimilarities of the explained pattern, and its row in X against that in X."""
    assert told.row == clf.training_indices_[clf.prototype_indices_[told.column]]
    assert told.index == clf.prototype_indices_[told.column]
    assert told.dissimilarity == row[told.column]
    assert_allclose(clf.transform(one_of(training, told.row))[0, told.column], 0, atol=1e-7)


def standing_by_hand(clf, rows, number):
    """Return the index of the training pattern that stands for a region, from the dissimilarities of all of them."""
    region, own = clf.regions_[number], clf.prototype_indices_
    if region.representative in own:
        return region.representative
    inside = [index for index in own if clf.labels_[index] == number]
    candidates = np.array(inside if inside else own)
    gaps = np.sqrt(((rows[candidates] - clf.fuzzy_model_.centres[number]) ** 2).mean(axis=1))
    return candidates[np.argmin(gaps)]


@pytest.mark.parametrize("name", MEASURES)
def test_neighbours_are_prototypes_by_their_rows(name):
    clf, training, new = fit(name)
    for one, row in zip(explain(clf, new), clf.transform(new), strict=True):
        order = np.argsort(row, kind="stable")[:3]
        assert [told.column for told in one.nearest.exemplars] == order.tolist()
        for told in (*one.nearest.exemplars, one.nearest.prototype):
            check_told(clf, training, told, row)
        assert one.nearest.region == clf.labels_[clf.prototype_indices_[order[0]]]
        assert one.difference.dissimilarity == row[order[0]]
        assert one.neighbourhoods.n_prototypes == 8
        rows_told = ", ".join(str(told.row) for told in one.nearest.exemplars)
        assert f"Nearest prototypes: training patterns {rows_told} (" in words(one)
        assert one.nearest.n_members == (clf.labels_ == one.nearest.region).sum()
        assert "Of 20 training patterns, each left out in turn" in words(one)
        other = one.neighbourhoods.equalised
        if other is not None:
            assert other.neighbour.row == clf.training_indices_[other.neighbour.index]
            assert other.neighbour.index in clf.prototype_indices_
        json.dumps(one.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", MEASURES)
def test_regions_that_decide_are_told_by_their_prototypes(name):
    clf, training, new = fit(name)
    all_rows, labels = clf.transform(training), clf.labels_[clf.prototype_indices_]
    for one, row in zip(explain(clf, new), clf.transform(new), strict=True):
        for place in filter(None, (one.nearest, one.runner_up)):
            check_told(clf, training, place.prototype, row)
            assert place.prototype.index == standing_by_hand(clf, all_rows, place.region)
            own = np.flatnonzero(labels == place.region)
            nearest = own[np.argsort(row[own], kind="stable")[:3]].tolist()
            assert [told.column for told in place.exemplars] == nearest
            assert place.n_prototypes == len(own)
            assert place.n_members == len(clf.regions_[place.region].members)
        assert one.difference.dissimilarity == one.nearest.prototype.dissimilarity
        assert one.profile.n_columns == 8
        for column in one.profile.columns:
            assert column.row == clf.training_indices_[column.index]
            assert column.here == row[np.flatnonzero(clf.prototype_indices_ == column.index)[0]]
        assert "dissimilarities to all 8 prototypes with the region's own" in words(one)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MEASURES)
def test_rules_tell_the_prototypes_of_each_region(name, kind):
    clf, training, _ = fit(name, graph=NeighbourGraph(k=4), **kind)
    all_rows = clf.transform(training)
    for number, rule in enumerate(rules(clf)):
        own = np.flatnonzero(clf.labels_[clf.prototype_indices_] == number)
        assert (rule.n_prototypes, rule.n_members) == (len(own), (clf.labels_ == number).sum())
        assert rule.prototype == standing_by_hand(clf, all_rows, number)
        assert bool(rule.ranges) == (len(own) > 0 and isinstance(clf.measure_, FittedEuclidean))
        if rule.ranges:
            values = np.asarray(training, float)[clf.prototype_indices_[own], 0]
            first = next(one for one in rule.ranges if one.feature == "feature 0")
            assert_allclose([first.minimum, first.maximum], [values.min(), values.max()])
            assert f"Its {len(own)} prototype" in words(rule)
        assert str(rule)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_held_out_do_not_shift_the_rows_told(kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.tile([-1, 1, 1], 20)
    clf = plain(prototypes=10, random_state=0, synthesis="validation", **kind).fit(X, y)
    assert (clf.training_indices_[clf.prototype_indices_] != clf.prototype_indices_).any()
    for one in explain(clf, X):
        for told in (*one.nearest.exemplars, one.nearest.prototype):
            assert y[told.row] == 1
            assert_array_equal(clf.prototypes_[told.column], X[told.row])
    for rule in rules(clf):
        assert rule.prototype in clf.training_indices_[clf.prototype_indices_]


@pytest.fixture(scope="module")
def halves():
    """Two clusters, of which the second has no prototype."""
    X = np.vstack([np.linspace(0, 1, 10), np.linspace(0, 0.5, 10)]).T
    X = np.vstack([X, X[:4] / 4 + [50.0, 0.0]])
    return X, {kind["resolution"]: plain(prototypes=3, selection=Chosen([1, 4, 8]), **kind).fit(X) for kind in KINDS}


def test_a_region_without_a_prototype_is_told_honestly(halves):
    _, clfs = halves
    for resolution, clf in clfs.items():
        assert [len(region.members) for region in clf.regions_] == [10, 4]
        near, far = rules(clf)
        assert (near.n_prototypes, far.n_prototypes, far.ranges) == (3, 0, ())
        assert far.prototype == 8
        assert "(4 patterns, none of them a prototype; the prototype nearest to its centre is of another" in words(far)
        assert words(near).endswith("feature 1 from 0.05556 to 0.4444, median 0.2222 (weight 1)")
        found = prototypes_of(clf, [0, 1], None)
        assert [found[number].is_member for number in (0, 1)] == [True, False]
        assert words(far).startswith(
            {"multi": "No pattern is said to be of region 1 (4", "single": "IF the dissimilarity profile"}[resolution]
        )
    assert words(rules(clfs["multi"])[1]).endswith(": a pattern's region is that of its nearest prototype.")


def test_a_pattern_in_a_region_without_a_prototype(halves):
    X, clfs = halves
    (one,) = explain(clfs["single"], X[-2:-1])
    assert (one.is_target, one.nearest.region, one.nearest.exemplars, one.nearest.n_prototypes) == (True, 1, (), 0)
    assert "none of them a prototype" in words(one)
    assert "the prototype nearest to its centre is of another region, training pattern 8" in words(one)
    assert "Most alike there" not in words(one)
    (one,) = explain(clfs["multi"], X[-1:])
    assert (one.nearest.region, one.nearest.exemplars[0].row) == (0, 8)


@pytest.mark.parametrize("resolution", ["multi", "single"])
def test_the_page_on_a_region_without_a_prototype(halves, resolution, tmp_path):
    X, clfs = halves
    for new in (None, X):
        page = read(write_report(clfs[resolution], tmp_path / "page.html", new))
        assert "None of its patterns is a prototype, so none can be shown." in page.text
        assert "Nearest prototype, of another region: training pattern 8." in page.text
        assert "raining pattern 8, prototype of region 1" not in page.text
        identities = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
        assert len(identities) == len(set(identities))


def test_one_prototype_is_told_too():
    X = np.random.default_rng(0).normal(size=(12, 2))
    for kind in KINDS:
        clf = plain(prototypes=1, random_state=0, **kind).fit(X)
        row = clf.training_indices_[clf.prototype_indices_[0]]
        for one in explain(clf, X[:3]):
            assert one.nearest.prototype.row == row
            if one.neighbourhoods is not None:
                assert one.neighbourhoods.local is None
                assert "What decides is how far it lies from the prototype." in words(one)
        assert all(rule.prototype == row for rule in rules(clf))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MEASURES)
def test_the_page_calls_prototypes_by_their_rows(name, kind, tmp_path):
    clf, _, new = fit(name, graph=NeighbourGraph(k=4), **kind)
    rows = clf.training_indices_[clf.prototype_indices_]
    page = read(write_report(clf, tmp_path / "page.html", new))
    marks = [mark for mark in page.all("g") if mark.get("data-key", "").startswith("t")]
    found = {}
    for mark in marks:
        row, region = re.match(r"Training pattern (\d+), (?:in|prototype of) region (\d+)", mark["aria-label"]).groups()
        found[int(mark["data-key"][1:])] = (int(row), int(region))
    assert found == {j: (row, clf.labels_[row]) for j, row in enumerate(rows.tolist())}
    assert "The prototypes are 8 of 20 training patterns" in page.text
    assert "learned what is normal from 20 training patterns" in page.text
    told = {int(row) for row in re.findall(r"[Tt]raining pattern (\d+)", page.text)}
    assert told <= set(rows.tolist())
    assert read(write_report(clf, tmp_path / "page.html")).text.count("how the model sees its own prototypes") == 1


def test_the_study_judges_the_prototypes_as_the_classifier_does():
    for kind in KINDS:
        clf, _, new = fit("euclidean", **kind)
        study = study_of(clf, new)
        assert study.n_training == 20
        assert_allclose(study.training.ratios, clf.judge(clf.prototypes_).ratios, atol=1e-12)
        nearest = [one.nearest.region for one in explain(clf, new)]
        assert study.new.nearest.tolist() == nearest


def test_the_page_prepares_patterns_once(monkeypatch, tmp_path):
    clf, _, new = fit("euclidean")
    asked = []
    prepare = FittedEuclidean.prepare
    monkeypatch.setattr(
        FittedEuclidean, "prepare", lambda self, X, *others: asked.append(len(X)) or prepare(self, X, *others)
    )
    study_of(clf, np.tile(new, (201, 1))[:1003])
    assert asked.count(1003) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_space_draws_the_prototypes_and_the_edges_between_them(kind):
    clf, _, new = fit("euclidean", **kind)
    axes = plot_space(clf, Figure().subplots(), new)
    labels = clf.labels_[clf.prototype_indices_]
    drawn = [line for line in axes.lines if line.get_markersize() == 4]
    assert [len(line.get_xdata()) for line in drawn] == np.bincount(labels, minlength=len(clf.regions_)).tolist()
    pairs = {frozenset(edge) for edge in clf.spanning_tree_.edges.tolist()}
    known = clf.prototype_indices_.tolist()
    expected = {frozenset((a, b)) for a in range(8) for b in range(a) if frozenset((known[a], known[b])) in pairs}
    edges = edges_between(clf, np.arange(8))
    assert {frozenset(edge) for edge in edges.tolist()} == expected
    (lines,) = (part for part in axes.collections if isinstance(part, LineCollection))
    assert len(lines.get_segments()) == len(expected)
    assert f"\n8 of 20 training patterns, {len(expected)} edge" in axes.get_title()
    assert project(clf).prototypes.shape == (8, 2)
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts[: len(clf.regions_)] == [
        f"region {number}: {len(region.members)}" for number, region in enumerate(clf.regions_)
    ]


def test_a_surface_names_the_share_that_it_draws():
    X = np.random.default_rng(0).normal(size=(30, 2))
    axes = plot_membership(plain(prototypes=9, random_state=0).fit(X), Figure().subplots(), resolution=20)
    assert axes.get_legend().get_texts()[0].get_text() == "9 of 30 training patterns"
    assert len(axes.lines[0].get_xdata()) == 9


def test_long_curves_keep_their_beginning_on_a_logarithmic_axis():
    counts = np.arange(1, 100_001)
    drawn = line_chart([Curve("Q", counts, np.log(counts))], logarithmic("k", 1, 100_000), linear("Q", 0, 12), "words")
    path = next(attributes["d"] for attributes in Reader(drawn).all("path") if "curve" in attributes.get("class", ""))
    points = np.array([point.split() for point in path[1:].split("L")], float)
    assert len(points) <= 601
    # The logarithm is a straight line there, and every fifth of the axis is one decade.
    assert np.histogram(points[:, 0], 5)[0].min() >= 5
    assert np.abs(np.diff(points[:, 0]))[20:].max() < 10


def test_the_curve_of_many_partitions_is_drawn_with_few_vertices():
    clf = plain(graph=NeighbourGraph(k=5), prototypes=20, random_state=0)
    clf.fit(np.random.default_rng(0).normal(size=(3000, 2)))
    line = plot_modularity(clf, Figure().subplots()).lines[0]
    assert len(line.get_xdata()) <= 2001
    assert {1, len(clf.regions_), 3000} <= set(line.get_xdata())
    assert_array_equal(line.get_ydata(), clf.modularity_curve_[line.get_xdata() - 1])


def test_inspect_tells_prototypes_and_the_entropy_by_neighbours():
    X = np.random.default_rng(0).normal(size=(30, 2))
    facts = facts_of(plain(prototypes=9, graph="knn", random_state=0).fit(X))
    assert (facts["training patterns"], facts["prototypes"]) == (30, 9)
    assert np.isfinite(facts["Rényi entropy by nearest neighbours"])
    whole = plain().fit(X)
    assert known_share(whole) == ""
    assert "prototypes" not in facts_of(whole)
