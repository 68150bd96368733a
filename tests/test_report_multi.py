"""The report on models that decide by neighbourhoods of several sizes: words and figures are the decision's."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier
from eocc.plots.projection import rate_of, yardstick_of
from eocc.report import write_report
from eocc.report.explained import compared_with
from eocc.report.study import study_of
from samples import samples
from test_report import read


@pytest.fixture(scope="module")
def flowers(iris):
    X, y = iris
    return EntropicOneClassClassifier().fit(X[:40]), X[40:], y[40:]


@pytest.fixture(scope="module")
def text(flowers, tmp_path_factory):
    clf, X, y = flowers
    return read(write_report(clf, tmp_path_factory.mktemp("report") / "page.html", X, y)).text


@pytest.mark.parametrize("settings", [{}, {"resolution": "single", "search": None, "false_alarm_rate": 0.1}])
def test_the_study_holds_the_verdicts_of_the_classifier(iris, settings):
    X, _ = iris
    clf = EntropicOneClassClassifier(**settings, random_state=0).fit(X[:40])
    new, verdicts = study_of(clf, X[40:]).new, clf.judge(X[40:])
    assert_array_equal(new.ratios, verdicts.ratios)
    assert_array_equal(new.scores, clf.score_samples(X[40:]))
    assert_array_equal(new.accepted, clf.predict(X[40:]) == 1)
    assert_array_equal(new.p_values, clf.p_values(X[40:]))


def test_a_pattern_is_in_the_region_of_its_nearest_training_pattern(flowers):
    clf, X, _ = flowers
    distances = np.linalg.norm(X[:, None] - clf.prototypes_, axis=2)
    assert_array_equal(study_of(clf, X).new.nearest, clf.labels_[distances.argmin(axis=1)])


def test_no_word_of_extents_is_said_of_the_decision(flowers, text):
    assert "the farthest first; " in text
    assert "Farthest from what is normal" in text
    assert "A pattern is accepted up to 1, the border of what is normal." in text
    assert "times the border" in text
    for words in (
        "extents from",
        "distance / extent",
        "within the extent",
        "accepted up to 1 extent",
        "in its extents",
    ):
        assert words not in text
    assert yardstick_of(flowers[0]).axis in text


def test_the_page_says_that_the_model_is_calibrated_and_on_what(text):
    assert "not calibrated" not in text
    assert "It is calibrated to reject about 5% of new targets" in text
    assert "calibrated to a false alarm rate of 0.05 on its 40 training patterns, each judged by the others" in text
    assert "The decision rejects at a = 0.05" in text
    assert len(re.findall(r"p-value 0\.\d+", text)) > 10


def test_the_paper_s_model_without_a_rate_is_said_to_be_uncalibrated(setosa, tmp_path):
    clf = EntropicOneClassClassifier(resolution="single", search=None).fit(setosa)
    told = read(write_report(clf, tmp_path / "page.html", setosa)).text
    assert "The model is not calibrated" in told
    assert "p-value" not in told.replace("it would also give p-values", "")
    assert "Distances to the nearest region, in its extents." in told


def test_no_search_is_promised(text):
    assert "No search was made" in text
    assert "The search looks for" not in text
    assert "generation" not in text


def test_both_weightings_of_the_weights_are_told(setosa, tmp_path):
    X = setosa * np.array([1.0, 50.0, 1.0, 1.0])
    clf = EntropicOneClassClassifier().fit(X)
    told = read(write_report(clf, tmp_path / "page.html")).text
    views = clf.surprise_model_.surprise.views
    assert len(views) == 2
    assert "p* equalised" in told
    assert f"{views[1].weights[0]:.3g}" in told


def test_training_patterns_are_said_to_know_themselves(setosa, tmp_path):
    words = "A training pattern has itself as a neighbour here"
    clf = EntropicOneClassClassifier().fit(setosa)
    assert words in read(write_report(clf, tmp_path / "page.html")).text
    assert words not in read(write_report(clf, tmp_path / "page.html", setosa)).text


def test_the_difference_is_from_the_nearest_neighbour(flowers, text):
    clf, X, _ = flowers
    study = study_of(clf, X)
    for index, explanation in list(study.explained.items())[:5]:
        role, other = compared_with(explanation)
        distances = np.linalg.norm(X[index] - clf.prototypes_, axis=1)
        assert role == "nearest neighbour"
        assert_allclose(distances[other.index], distances.min())
        assert f"from the nearest neighbour, training pattern {other.row}" in text
    assert "chief difference from the nearest neighbour" in text
    assert "Nearest neighbours:" in text
    assert "each left out in turn" in text


def test_labels_add_to_the_report(iris, tmp_path):
    X, y = iris
    clf = EntropicOneClassClassifier(synthesis="validation", false_alarm_rate=0.1).fit(X[::2], y[::2])
    told = read(write_report(clf, tmp_path / "page.html", X[1::2], y[1::2])).text
    assert "false alarm rate of 0.1" in told
    assert rate_of(clf) == 0.1


@pytest.mark.parametrize("name", ["graph-edit", "string-edit", "dtw", "gower", "precomputed"])
def test_patterns_of_every_kind_are_shown_beside_their_neighbour(name, tmp_path):
    training, new = samples(name)
    clf = EntropicOneClassClassifier(measure=name).fit(training)
    found = read(write_report(clf, tmp_path / "page.html", new))
    assert "nearest neighbour" in found.text
    if name in ("graph-edit", "dtw"):
        assert "nearest neighbour: training pattern" in " ".join(
            drawing.get("aria-label") or "" for drawing in found.all("svg")
        )


def test_few_patterns_and_copies_have_their_report(tmp_path):
    for X in ([[1.0, 2.0]], [[1.0, 2.0]] * 5, [[0.0, 0.0], [1.0, 0.0]]):
        clf = EntropicOneClassClassifier().fit(X)
        told = read(write_report(clf, tmp_path / "page.html", [[1.0, 2.0], [30.0, 4.0]])).text
        assert "1 of 2 are rejected" in told or "2 of 2 are rejected" in told
