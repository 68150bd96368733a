"""Pictures: each draws what the model says, on the axis it is given, for both classifiers."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.datasets import make_isolated_pattern
from eocc.entropic.search import GeneticSearch
from eocc.plots import (
    PLOTS,
    plot_calibration,
    plot_history,
    plot_membership,
    plot_modularity,
    plot_roc,
    plot_rows,
    plot_scores,
    plot_space,
)
from eocc.plots.projection import MOST_PROTOTYPES, points_of, project
from samples import samples

ROOT = Path(__file__).parents[2]
PROBLEM = make_isolated_pattern()
GIVEN = dict.fromkeys(("rows", "calibration", "scores", "space"), (PROBLEM.X_test,))
GIVEN["roc"] = (PROBLEM.X_test, PROBLEM.y_test)


@pytest.fixture(scope="module")
def entropic():
    clf = EntropicOneClassClassifier(search=GeneticSearch(max_generations=2), random_state=0, false_alarm_rate=0.1)
    return clf.fit(PROBLEM.X_train)


@pytest.fixture(scope="module")
def surprise():
    return SurpriseClassifier().fit(PROBLEM.X_train)


def axis():
    return Figure().subplots()


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in ("entropic", "surprise") for name in PLOTS if (kind, name) != ("surprise", "history")],
)
def test_every_plot_draws_on_its_axis_and_returns_it(kind, name, request, tmp_path):
    axes = axis()
    assert PLOTS[name](request.getfixturevalue(kind), *GIVEN.get(name, ()), axes=axes) is axes
    assert axes.get_title()
    axes.figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5_000


def test_listing_the_plots_imports_nothing_heavy():
    code = (
        "import eocc.plots, sys; print(list(eocc.plots.PLOTS)); assert not {'numpy', 'matplotlib'} & set(sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == str(list(PLOTS))


@pytest.mark.parametrize("measure", ["graph-edit", "string-edit", "dtw", "gower", "precomputed"])
def test_the_space_of_any_kind_of_data_can_be_drawn(measure):
    training, new = samples(measure)
    for clf in (SurpriseClassifier(measure=measure), EntropicOneClassClassifier(measure=measure, search=None)):
        assert plot_space(clf.fit(training), new, axes=axis()).get_title().startswith("Dissimilarity space (")


def test_the_space_of_many_rows_is_drawn_without_regions():
    clf = SurpriseClassifier().fit(np.random.default_rng(0).normal(size=(MOST_PROTOTYPES + 1, 2)))
    axes = plot_space(clf, [[0.0, 0.0], [9.0, 9.0]], axes=axis())
    assert "regions are not drawn for 2,001 rows" in axes.get_title()
    assert not clf._has_regions
    assert [len(line.get_xdata()) for line in axes.lines[:3]] == [MOST_PROTOTYPES, 1, 1]


def test_the_tree_joins_prototypes_for_both_classifiers():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for clf in (SurpriseClassifier(prototypes=10), EntropicOneClassClassifier(search=None)):
        axes = plot_space(clf.fit(X), axes=axis())
        n_prototypes = len(clf.prototypes_)
        assert len(axes.collections[0].get_segments()) == n_prototypes - 1
    assert "10 of 30 training rows" in plot_space(SurpriseClassifier(prototypes=10).fit(X), axes=axis()).get_title()


def test_training_rows_lie_where_the_plane_of_largest_variance_places_them(entropic):
    plane = project(entropic)
    rows = entropic.transform(entropic.prototypes_)
    spreads = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    points = points_of(entropic, plane, entropic.prototypes_)
    assert_allclose(points.var(axis=0) * len(rows), spreads[:2] ** 2, rtol=1e-9)
    assert_allclose(plane.kept, (spreads[:2] ** 2).sum() / (spreads**2).sum())


def test_one_row_and_copies_have_a_plane_too():
    for X in (np.ones((1, 3)), np.ones((4, 3))):
        clf = SurpriseClassifier().fit(X)
        assert_array_equal(points_of(clf, project(clf), X), np.zeros((len(X), 2)))
        assert project(clf).kept == 1.0


@pytest.mark.parametrize("names", [None, ["pay $\\foo$", "$x", "y", "z"]])
def test_a_membership_surface_of_other_than_two_columns_says_what_to_use(setosa, names):
    with pytest.raises(
        ValueError, match="needs two columns of numbers; this model has 4 columns: draw 'space' instead"
    ):
        plot_membership(SurpriseClassifier().fit(pd.DataFrame(setosa, columns=names)), axes=axis())
    with pytest.raises(ValueError, match="this model compares other data: draw 'space' instead"):
        plot_membership(SurpriseClassifier(measure="string-edit").fit(["oak", "elm"]), axes=axis())


def test_a_membership_surface_reads_new_rows_as_the_model_does():
    frame = pd.DataFrame(np.random.default_rng(0).normal((0, 50), size=(60, 2)), columns=["a", "b"])
    clf = SurpriseClassifier().fit(frame)
    axes = plot_membership(clf, frame.iloc[:5], axes=axis(), resolution=20)
    drawn = np.vstack([line.get_xydata() for line in axes.lines if line.get_label().startswith("new")])
    assert sorted(drawn.tolist()) == sorted(frame.iloc[:5].to_numpy().tolist())
    with pytest.raises(ValueError, match="must be in the same order"):
        plot_membership(clf, frame[["b", "a"]], axes=axis(), resolution=20)


def test_without_a_search_there_is_no_history(surprise, setosa):
    given, none = (EntropicOneClassClassifier(**one) for one in ({"weights": [1, 1, 0, 1]}, {"search": None}))
    for clf in (surprise, given.fit(setosa), none.fit(setosa)):
        with pytest.raises(ValueError, match="fitted without a search, so there is no history"):
            plot_history(clf, axes=axis())


def test_the_history_has_a_line_per_quantity(entropic):
    assert [len(line.get_xdata()) for line in plot_history(entropic, axes=axis()).lines] == [len(entropic.history_)] * 4


def test_scores_show_ratios_and_the_limit(entropic, surprise):
    uncalibrated = EntropicOneClassClassifier(search=None).fit(PROBLEM.X_train)
    for clf in (uncalibrated, surprise):
        axes = plot_scores(clf, PROBLEM.X_test, axes=axis())
        assert axes.get_xlabel() == clf._how_far_out_name
        assert axes.lines[0].get_xdata()[0] == 1
    limit = plot_scores(entropic, PROBLEM.X_train, axes=axis()).lines[0].get_xdata()[0]
    ratios = entropic._score_all(PROBLEM.X_train).ratios
    assert_array_equal(entropic.predict(PROBLEM.X_train) == 1, ratios <= limit + 1e-9)


def test_the_most_unusual_rows_are_named_with_their_reasons(surprise):
    axes = plot_rows(surprise, PROBLEM.X_test, [f"part {k}" for k in range(len(PROBLEM.X_test))], axes=axis(), most=3)
    ratios = surprise._score_all(PROBLEM.X_test).ratios
    order = np.argsort(-ratios, kind="stable")[:3]
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"part {k}" for k in order[::-1]]
    assert sorted(bar.get_width() for bar in axes.patches) == sorted(ratios[order])
    assert all("feature" in text.get_text() for text in axes.texts)
    n_rejected = int((surprise.predict(PROBLEM.X_test) == -1).sum())
    assert axes.get_title().startswith(f"{n_rejected} of {len(PROBLEM.X_test)} rows rejected")


def test_names_that_do_not_fit_are_refused(setosa):
    clf = SurpriseClassifier().fit(setosa)
    with pytest.raises(ValueError, match="X has 2 rows and names 1; pass one name per row"):
        plot_rows(clf, setosa[:2], names=["a"], axes=axis())


def test_calibration_shows_the_share_of_p_values_up_to_each_level(surprise):
    axes = plot_calibration(surprise, PROBLEM.X_test, PROBLEM.y_test, axes=axis())
    _, normal, outliers, rate = axes.lines
    p_values, levels = surprise.p_values(PROBLEM.X_test), normal.get_xdata()
    for line, sign in ((normal, 1), (outliers, -1)):
        kept = p_values[PROBLEM.y_test == sign]
        assert_allclose(line.get_ydata(), [(kept <= level).mean() for level in levels])
    assert rate.get_xdata()[0] == surprise.calibration_.rate
    with pytest.raises(ValueError, match="not calibrated"):
        plot_calibration(EntropicOneClassClassifier(search=None).fit(PROBLEM.X_train), PROBLEM.X_test, axes=axis())


def test_a_classifier_draws_its_most_useful_picture(surprise):
    assert (
        surprise.plot(PROBLEM.X_test, axis()).get_title()
        == plot_rows(surprise, PROBLEM.X_test, axes=axis()).get_title()
    )
    assert surprise.plot(axes=axis()).get_title().startswith("Dissimilarity space")
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = surprise.plot()
    assert axes.figure.number in plt.get_fignums()
    plt.close(axes.figure)


def test_estimators_have_the_display_of_scikit_learn(surprise):
    shown = clone(surprise).set_params(false_alarm_rate=0.125)._repr_html_()
    assert "SurpriseClassifier" in shown
    assert "false_alarm_rate" in shown  # older versions show only what differs from the default


def test_the_line_of_the_membership_surface_separates_the_decisions(surprise):
    axes = plot_membership(surprise, axes=axis(), resolution=20)
    (line,) = [drawn for drawn in axes.collections if drawn.get_edgecolor().size and not drawn.get_facecolor().size]
    points = np.concatenate([path.vertices for path in line.get_paths()])
    # On a grid the line lies within a cell of the true limit: both decisions occur near each of its points.
    x, y = (np.ptp(surprise.prototypes_[:, k]) * 1.2 / 19 for k in (0, 1))
    around = np.array([[dx * x, dy * y] for dx in (-1, 0, 1) for dy in (-1, 0, 1)])
    for point in points[::7]:
        assert set(surprise.predict(point + around)) == {-1, 1}


def test_the_roc_shows_auc_and_the_decision(entropic):
    axes = plot_roc(entropic, PROBLEM.X_test, PROBLEM.y_test, axes=axis())
    assert "AUC 1.000" in [text.get_text() for text in axes.get_legend().get_texts()]
    accepted, is_normal = entropic.predict(PROBLEM.X_test) == 1, PROBLEM.y_test == 1
    point = axes.lines[-1].get_xydata()[0]
    assert_allclose(point, [accepted[~is_normal].mean(), accepted[is_normal].mean()])
    with pytest.raises(ValueError, match="needs normal rows and outliers; y has normal rows only"):
        plot_roc(entropic, PROBLEM.X_train, np.ones(len(PROBLEM.X_train)), axes=axis())


def test_labels_split_the_scores_and_columns_have_names(entropic):
    axes = plot_scores(entropic, PROBLEM.X_test, PROBLEM.y_test, axes=axis())
    assert any(text.get_text().startswith("normal: ") for text in axes.get_legend().get_texts())
    clf = SurpriseClassifier().fit(pd.DataFrame(PROBLEM.X_train, columns=["load", "heat $\\foo$"]))
    axes = plot_membership(clf, axes=axis())
    assert [axes.get_xlabel(), axes.get_ylabel()] == ["load", "heat $\\foo$"]
    axes.figure.canvas.draw()  # names are text, not mathematics


def test_the_pictures_of_the_docs_can_be_drawn(tmp_path):
    runpy.run_path(str(ROOT / "examples" / "pictures.py"))["main"](tmp_path)
    page = (ROOT / "docs" / "reference" / "api" / "plots.md").read_text()
    assert {path.name for path in tmp_path.glob("*.png")} == {part.split(")")[0] for part in page.split("/images/")[1:]}


def test_modularity_is_drawn_as_in_the_paper_or_as_q():
    clf = EntropicOneClassClassifier(search=None).fit(np.random.default_rng(0).normal(size=(12, 2)))
    drawn = plot_modularity(clf).lines[0].get_ydata()
    assert_allclose(drawn, np.log(1.5 + clf.modularity_curve_) / np.log(2.5))
    assert_array_equal(plot_modularity(clf, quantity="Q").lines[0].get_ydata(), clf.modularity_curve_)
    with pytest.raises(ValueError, match="quantity"):
        plot_modularity(clf, quantity="q")
