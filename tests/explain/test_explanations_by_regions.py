"""Explanations and rules of a classifier that decides by regions."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from doubles import plain
from eocc.entropic.rules import Bell, Gaussian, Triangular
from eocc.explain import differences
from eocc.measures import MEASURES, Composite
from samples import samples


@pytest.fixture(scope="module")
def frame():
    return load_iris(as_frame=True).data


@pytest.fixture(scope="module")
def clf(frame):
    return plain().fit(frame[:50])


@pytest.mark.parametrize("name", MEASURES)
def test_explanations_agree_with_the_classifier(name):
    training, new = samples(name)
    clf = plain(measure=name).fit(training)
    explanations = clf.explain(new)
    assert [one.is_target for one in explanations] == (clf.predict(new) == 1).tolist()
    assert_array_equal([one.membership for one in explanations], clf.membership(new))
    rows = clf._embed(clf._read(new))
    assert [one.region for one in explanations] == clf.fuzzy_model_.ratios(rows).argmin(axis=1).tolist()
    for one, row in zip(explanations, rows, strict=True):
        assert one.difference.dissimilarity == row[one.prototype.index] == one.prototype.dissimilarity
        assert json.loads(json.dumps(one.to_dict(), allow_nan=False))["is_target"] == one.is_target
        assert one.decision[1:] in " ".join(one.detail.split())


@pytest.mark.parametrize("name", MEASURES)
def test_a_row_is_explained_the_same_alone_as_in_a_batch(name):
    training, new = samples(name)
    clf = plain(measure=name).fit(training)
    for i, explanation in enumerate(clf.explain(new)):
        assert clf.explain(new[i : i + 1]) == [explanation]


def test_the_sentence_represents_an_explanation(clf, frame):
    explanation = clf.explain(frame[:1])[0]
    assert repr(explanation) == f"<{explanation.sentence}>"


def test_distances_are_in_extents(clf, frame):
    rows = clf._embed(frame[::10].to_numpy())
    for one, row in zip(clf.explain(frame[::10]), rows, strict=True):
        for number, distance in ((one.region, one.distance), one.runner_up):
            gap = np.sqrt(((row - clf.fuzzy_model_.centres[number]) ** 2).mean())
            assert_allclose(distance, gap / clf.regions_[number].extent)
        assert one.runner_up[0] != one.region
        assert one.how_far_out == one.distance <= one.runner_up[1]
        assert one.n_members == len(clf.regions_[one.region].members)
        assert one.prototype.index == clf.regions_[one.region].representative


def test_exemplars_are_the_members_least_dissimilar(clf, frame):
    (one,) = clf.explain(frame[60:61])
    members = clf.regions_[one.region].members
    gaps = np.sqrt(((frame.to_numpy()[members] - frame.to_numpy()[60]) ** 2).sum(axis=1)) / clf.measure_.delta
    nearest = np.argsort(gaps, kind="stable")[:3]
    assert [exemplar.index for exemplar in one.exemplars] == members[nearest].tolist()
    assert_allclose([exemplar.dissimilarity for exemplar in one.exemplars], gaps[nearest])


def test_the_decision_in_words(clf, frame):
    inside, outside, centre = clf.explain(frame.iloc[[0, 75, clf.regions_[0].representative]])
    where = "extents from the regions (the limit is 1), nearest to region 0"
    assert inside.decision == f"accepted: {inside.distance:.3g} {where}"
    assert outside.decision == f"rejected: {outside.distance:.3g} {where}"
    assert "(region 0, 49 rows), at its centre." in centre.sentence


@pytest.mark.parametrize("rate", [0.1, 0.6])
def test_calibrated_models_state_their_limit(frame, rate):
    clf = plain(false_alarm_rate=rate, random_state=0).fit(frame[:50])
    explanations = clf.explain(frame)
    assert [one.is_target for one in explanations] == (clf.predict(frame) == 1).tolist()
    limit = explanations[0].limit
    assert f"at most {limit:.4g} times its extent, 0." in " ".join(str(clf.rules()[0]).split())
    assert (limit > 1) == (rate == 0.1)
    assert [one.distance <= limit for one in explanations] == [one.is_target for one in explanations]
    assert all(f"(the limit is {limit:.3g})" in one.decision for one in explanations)


def test_just_outside_is_not_said_to_be_inside():
    training = [[0.0], [1.0], [10.0], [11.0]]
    clf = plain(extent="max").fit(training)
    reached = clf.regions_[0].members
    edge = max(training[i][0] for i in reached)
    steps = edge + np.linspace(-0.5, 0.5, 4001)[:, None]
    just = [one for one in clf.explain(steps) if 1 < one.distance < 1.004 and not one.is_target]
    assert just
    assert all("just outside the nearest group" in one.sentence for one in just)


def test_feature_names_are_used_where_known(clf, frame):
    assert "petal length (cm): 4.4, prototype" in clf.explain(frame[75:76])[0].detail
    nameless = plain().fit(frame.to_numpy()[:50])
    assert "feature 2: 4.4, prototype" in nameless.explain(frame.to_numpy()[75:76])[0].detail


def test_one_region_has_no_runner_up():
    clf = plain().fit([[1.0]])
    (one,) = clf.explain([[2.0]])
    assert one.runner_up is None
    assert "next region" not in one.detail
    assert [exemplar.index for exemplar in one.exemplars] == [0]


def test_far_rows_and_copies_stay_finite():
    clf = plain().fit(np.zeros((4, 2)))
    far, near = clf.explain([[1e300, -1e300], [0.0, 0.0]])
    for one in (far, near):
        json.dumps(one.to_dict(), allow_nan=False)
        assert one.detail
    assert not far.is_target
    assert near.is_target


def test_rows_held_out_to_validate_are_counted(frame):
    y = np.where(np.arange(150) < 50, 1, -1)
    turned = frame.iloc[::-1].reset_index(drop=True)
    clf = plain(synthesis="validation", validation_fraction=0.3, random_state=0).fit(turned, y[::-1])
    (one,) = clf.explain(frame[60:61])
    prototype = one.prototype
    assert prototype.row == clf.training_indices_[prototype.index] != prototype.index
    assert_allclose(
        [part.details["prototype"] for part in one.difference.contributions], turned.iloc[prototype.row].to_numpy()
    )
    assert clf.rules()[one.region].prototype == prototype.row


def test_differences_of_any_pair(clf, frame):
    (one,) = differences(clf, frame[60:61], frame[75:76])
    assert_allclose(sum(part.amount for part in one.contributions), one.dissimilarity)
    assert_allclose(one.dissimilarity, np.linalg.norm(frame.iloc[60] - frame.iloc[75]) / clf.measure_.delta)
    with pytest.raises(ValueError, match="X has 2 rows and Y 1; rows are compared in pairs"):
        differences(clf, frame[:2], frame[:1])
    precomputed = plain(measure="precomputed").fit([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="known to training rows only; use explain"):
        differences(precomputed, [[0, 1]], [[0, 1]])


def test_composite_records_are_explained():
    rng = np.random.default_rng(0)
    records = [{"size": rng.normal(size=2), "name": f"{'ab'[i % 2]}{i}"} for i in range(12)]
    clf = plain(measure=Composite({"size": "euclidean", "name": "string-edit"})).fit(records)
    (one,) = clf.explain([{"size": [9.0, 9.0], "name": "zz"}])
    assert [part.details["part"] for part in one.difference.contributions] == ["size", "name"]
    assert "its own dissimilarity" in one.detail


@pytest.mark.parametrize("function", [lambda clf, X: clf.explain(X), lambda clf, X: differences(clf, X, X)])
def test_an_unfitted_classifier_is_refused(function):
    with pytest.raises(NotFittedError):
        function(plain(), [[0.0]])


def test_bad_rows_are_refused_as_by_predict(frame):
    clf = plain().fit(frame.to_numpy()[:50])
    with pytest.raises(ValueError, match="3 features"):
        clf.explain(frame.to_numpy()[:2, :3])


def test_rules_have_size_prototype_extent_and_ranges(frame):
    weights = [1.0, 0.0, 0.5, 0.75]
    clf = plain(weights=weights).fit(frame[:50])
    for number, rule in enumerate(clf.rules()):
        region, members = clf.regions_[number], frame.iloc[clf.regions_[number].members]
        assert (rule.region, rule.n_members, rule.prototype) == (number, len(region.members), region.representative)
        assert (rule.n_training, rule.n_columns) == (50, 3)
        assert [one.name for one in rule.columns] == [frame.columns[k] for k in (0, 3, 2)]
        for one in rule.columns:
            values = members[one.name]
            assert (one.low, one.centre, one.high) == (values.min(), values.median(), values.max())
        extent = f"{region.extent:.3g}"
        assert f" at most {extent}. It is normal to the degree exp(-r^2 / 2), where r = d / {extent}." in rule.condition
        json.dumps(rule.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", MEASURES)
def test_rules_of_every_measure_print(name):
    training, _ = samples(name)
    clf = plain(measure=name).fit(training)
    for rule in clf.rules():
        assert str(rule).startswith(f"Region {rule.region}, {rule.n_members} of 20 rows: ")
        assert "accepted if its distance d from the centre of the region is at most" in " ".join(str(rule).split())
        assert bool(rule.columns) == (name in ("euclidean", "standardised", "gower", "hamming"))
        assert bool(rule.description) == (name != "precomputed" and not rule.columns)


@pytest.mark.parametrize(
    ("function", "formula"),
    [
        (Gaussian(), "exp(-r^2 / 2)"),
        (Bell(slope=1.5), "1 / (1 + r^3)"),
        (Triangular(support=3), "max(0, 1 - r / 3)"),
    ],
)
def test_the_formula_of_a_membership_gives_its_grades(function, formula):
    (rule,) = plain(membership_function=function).fit([[0.0], [1.0], [2.0]]).rules()[:1]
    assert f" to the degree {formula}, where r = d / " in rule.condition
    for r in (0.25, 1.0, 1.75, 5.0):
        with np.errstate(divide="ignore"):
            grade = np.exp(function.log_grade(np.array([r])))[0]
        known = {"r": r, "exp": np.exp, "min": min, "max": max}
        assert_allclose(eval(formula.replace("^", "**"), known), grade)


def test_a_membership_of_the_user_has_no_formula():
    own = SimpleNamespace(log_grade=lambda ratios: -(ratios**2) / 2)
    condition = plain(membership_function=own).fit([[0.0], [1.0], [2.0]]).rules()[0].condition
    assert f" to the degree {own!r} of r, where r = d / " in condition


def test_tables_with_names_that_are_no_strings():
    table = pd.DataFrame({0: [1.0, 2.0, 4.0], 1: ["a", "b", "a"]})
    clf = plain(measure="gower").fit(table.to_numpy(dtype=object))
    (one,) = clf.explain(np.array([[9.0, "c"]], dtype=object))
    assert json.loads(json.dumps(one.to_dict()))["difference"]["contributions"][0]["details"]["column"] == 0
