"""Pictures: each draws what the model says, on the axis it is given."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier
from eocc.datasets import make_isolated_pattern
from eocc.plots.drawing import (
    PLOTS,
    plot_history,
    plot_membership,
    plot_roc,
    plot_scores,
    plot_space,
    plot_weights,
    ratios_of,
)
from eocc.plots.projection import place, project
from eocc.search import GeneticSearch
from samples import samples

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def plane():
    clf = EntropicOneClassClassifier(resolution="single", search=GeneticSearch(max_generations=2), random_state=0)
    return clf.fit(make_isolated_pattern().X_train)


@pytest.fixture(scope="module")
def multi():
    return EntropicOneClassClassifier().fit(make_isolated_pattern().X_train)


def axis():
    return Figure().subplots()


def given(name):
    problem = make_isolated_pattern()
    return {"roc": (problem.X_test, problem.y_test), "scores": (problem.X_test,)}.get(name, ())


@pytest.mark.parametrize("kind", ["plane", "multi"])
@pytest.mark.parametrize("name", PLOTS)
def test_every_picture_draws_on_its_axis_and_returns_it(name, kind, request, tmp_path):
    axes = axis()
    assert PLOTS[name](request.getfixturevalue(kind), axes, *given(name)) is axes
    assert axes.get_title()
    axes.figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5_000


@pytest.mark.parametrize("measure", ["graph-edit", "string-edit", "dtw", "gower", "precomputed"])
def test_the_space_of_any_kind_of_data_can_be_drawn(measure):
    training, new = samples(measure)
    clf = EntropicOneClassClassifier(measure=measure, search=None).fit(training)
    axes = plot_space(clf, axis(), new)
    assert "Dissimilarity space" in axes.get_title()


def test_the_plane_is_that_of_largest_variance_and_training_patterns_lie_where_they_are_placed(plane):
    found = project(plane)
    rows = plane.transform(plane.prototypes_)
    assert_allclose(found.prototypes, place(plane, found, plane.prototypes_), atol=1e-9)
    spreads = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    assert_allclose(found.prototypes.var(axis=0) * len(rows), spreads[:2] ** 2, rtol=1e-9)
    assert_allclose(found.kept, (spreads[:2] ** 2).sum() / (spreads**2).sum())
    assert_array_equal(project(plane).prototypes, found.prototypes)


def test_one_pattern_and_copies_have_a_plane_too():
    for X in (np.ones((1, 3)), np.ones((4, 3))):
        found = project(EntropicOneClassClassifier(search=None).fit(X))
        assert_array_equal(found.prototypes, np.zeros((len(X), 2)))
        assert found.kept == 1.0


def test_distances_in_extents_are_those_of_the_decision(plane):
    problem = make_isolated_pattern()
    ratios = ratios_of(plane, problem.X_test)
    assert_allclose(ratios, plane.fuzzy_model_.ratios(plane.transform(problem.X_test)).min(axis=1), atol=1e-7)
    settings = {"resolution": "single", "search": None}
    calibrated = EntropicOneClassClassifier(**settings, false_alarm_rate=0.2).fit(problem.X_train)
    plain = EntropicOneClassClassifier(**settings).fit(problem.X_train)
    assert_allclose(ratios_of(calibrated, problem.X_test), ratios_of(plain, problem.X_test), atol=1e-9)


def test_a_membership_surface_of_more_than_two_features_says_what_to_use(setosa):
    clf = EntropicOneClassClassifier(search=None).fit(setosa)
    with pytest.raises(ValueError, match="needs two features; this model has 4: use plot_space"):
        plot_membership(clf, axis())


@pytest.mark.parametrize("settings", [{}, {"resolution": "single", "search": None}, {"weights": [1, 1, 0, 1]}])
def test_without_a_search_the_history_says_so(setosa, settings):
    axes = plot_history(EntropicOneClassClassifier(**settings).fit(setosa), axis())
    assert [text.get_text() for text in axes.texts] == ["no search was made"]
    assert len(axes.lines) == 0


def test_a_search_asked_for_is_drawn_at_all_resolutions(setosa):
    clf = EntropicOneClassClassifier(search=GeneticSearch(max_generations=2), random_state=0).fit(setosa)
    axes = plot_history(clf, axis())
    assert [len(line.get_xdata()) for line in axes.lines] == [len(clf.history_)] * 4


def test_scores_are_named_by_what_decides(plane, multi):
    X = make_isolated_pattern().X_test
    assert plot_scores(plane, axis(), X).get_xlabel() == "distance / extent"
    axes = plot_scores(multi, axis(), X)
    assert axes.get_xlabel() == "times the border"
    assert axes.lines[0].get_xdata()[0] == 1
    assert_array_equal(ratios_of(multi, X), multi.judge(X).ratios)
    assert_array_equal(ratios_of(multi, X) <= 1 + 1e-9, multi.predict(X) == 1)


def test_the_membership_surface_at_all_resolutions_is_that_of_the_patterns(multi):
    axes = plot_membership(multi, axis(), resolution=20)
    (border,) = [drawn for drawn in axes.collections if drawn.get_edgecolor().size and not drawn.get_facecolor().size]
    points = np.concatenate([path.vertices for path in border.get_paths()])
    # On a grid the line lies within a cell of the true border: both decisions occur near each of its points.
    x, y = (np.ptp(multi.prototypes_[:, k]) * 1.2 / 19 for k in (0, 1))
    around = np.array([[dx * x, dy * y] for dx in (-1, 0, 1) for dy in (-1, 0, 1)])
    for point in points[::7]:
        assert set(multi.predict(point + around)) == {-1, 1}


def test_the_roc_shows_auc_and_the_decision(plane):
    problem = make_isolated_pattern()
    axes = plot_roc(plane, axis(), problem.X_test, problem.y_test)
    assert "AUC 1.000" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_scores_are_split_by_kind_and_weights_carry_names(plane):
    import pandas as pd

    problem = make_isolated_pattern()
    axes = plot_scores(plane, axis(), problem.X_test, problem.y_test)
    assert any(text.get_text().startswith("targets: ") for text in axes.get_legend().get_texts())
    clf = EntropicOneClassClassifier(search=None).fit(pd.DataFrame(problem.X_train, columns=["load", "heat"]))
    names = [label.get_text() for label in plot_weights(clf, axis()).get_yticklabels()]
    assert sorted(names) == ["heat", "load"]


def test_the_pictures_of_the_page_can_be_drawn(tmp_path):
    runpy.run_path(str(ROOT / "examples" / "pictures.py"))["main"](tmp_path)
    page = (ROOT / "docs" / "pictures.md").read_text()
    assert {path.name for path in tmp_path.glob("*.png")} == {
        part.split(")")[0] for part in page.split("](images/")[1:]
    }


def test_names_with_dollars_are_text():
    import pandas as pd

    X = pd.DataFrame(make_isolated_pattern().X_train, columns=["pay $\\foo$", "$x"])
    clf = EntropicOneClassClassifier(search=None).fit(X)
    for draw in (plot_membership, plot_weights):
        draw(clf, axis()).figure.canvas.draw()


def test_the_border_of_a_calibrated_decision_is_drawn_where_it_is():
    problem = make_isolated_pattern()
    clf = EntropicOneClassClassifier(resolution="single", search=None, false_alarm_rate=0.1, random_state=0)
    clf.fit(problem.X_train)
    (line,) = plot_scores(clf, axis(), problem.X_train).lines
    border, ratios = line.get_xdata()[0], ratios_of(clf, problem.X_train)
    assert_array_equal(clf.predict(problem.X_train) == 1, ratios <= border + 1e-9)


def test_a_roc_of_one_kind_says_so(plane):
    problem = make_isolated_pattern()
    with pytest.raises(ValueError, match="needs targets and others; y holds targets only"):
        plot_roc(plane, axis(), problem.X_train, np.ones(len(problem.X_train)))
