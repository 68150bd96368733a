import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from eocc import SurpriseClassifier
from eocc.plots.projection import LogFrame, evenly, points_of, principal_axes, project

RNG = np.random.default_rng(0)
ROWS = {
    "one cloud": RNG.normal(size=(150, 4)),
    "two clouds": np.vstack([RNG.normal(size=(40, 3)), RNG.normal(size=(60, 3)) + 9]),
    "a line": RNG.random((80, 1)),
    "nearly a line": np.c_[RNG.random(80), 1e-5 * RNG.random(80)],
    "three": RNG.random((3, 2)),
}


def by_full_decomposition(centred):
    """Return the first two right singular vectors, their largest entries positive, and the share of variance."""
    _, spreads, directions = np.linalg.svd(centred, full_matrices=False)
    axes = np.zeros((centred.shape[1], 2))
    axes[:, : min(2, len(directions))] = directions[:2].T
    largest = np.abs(axes).argmax(axis=0)
    return axes * np.where(axes[largest, [0, 1]] < 0, -1.0, 1.0), (spreads[:2] ** 2).sum() / (spreads**2).sum()


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_axes_are_those_of_the_full_decomposition(rows):
    D = cdist(rows, rows)
    centred = D - D.mean(axis=0)
    assert_allclose(principal_axes(centred), by_full_decomposition(centred)[0], atol=1e-9)


def test_indices_are_thinned_evenly():
    assert evenly(np.arange(10), 4).tolist() == [0, 2, 5, 7]
    assert evenly(np.arange(2), 4).tolist() == [0, 1]


def test_axes_of_two_and_of_one_by_hand():
    crossed = np.array([[3.0, 4.0], [-3.0, -4.0], [-0.8, 0.6], [0.8, -0.6]])
    assert_allclose(principal_axes(crossed), [[0.6, 0.8], [0.8, -0.6]])
    found = principal_axes(np.array([[-1.0, 0.5], [1.0, -0.5]]))
    assert_allclose(found, np.array([[2.0, 1.0], [-1.0, 2.0]]) / np.sqrt(5), atol=1e-12)
    assert principal_axes(np.zeros((1, 1))).tolist() == [[1.0, 0.0]]


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**6), st.sampled_from([1e-200, 1e-8, 1.0, 1e100]))
def test_the_plane_keeps_as_much_variance_as_any(n, m, seed, scale):
    centred = scale * np.random.default_rng(seed).normal(size=(n, m))
    axes = principal_axes(centred)
    spreads = np.linalg.svd(centred / scale, compute_uv=False)
    assert_allclose(np.sum((centred / scale @ axes) ** 2), np.sum(spreads[:2] ** 2), rtol=1e-9)
    assert_allclose(axes.T @ axes, np.diag([1.0, float(min(n, m) > 1)]), atol=1e-12)


def test_rows_that_are_all_alike_lie_at_one_point():
    axes = principal_axes(np.zeros((4, 4)))
    assert_allclose(axes.T @ axes, np.eye(2), atol=1e-12)


def test_prototypes_are_placed_as_by_the_full_decomposition():
    clf = SurpriseClassifier(prototypes=60).fit(ROWS["one cloud"])
    plane = project(clf)
    rows = clf.transform(clf.prototypes_)
    axes, kept = by_full_decomposition(rows - rows.mean(axis=0))
    assert_allclose(points_of(clf, plane, clf.prototypes_), (rows - rows.mean(axis=0)) @ axes, atol=1e-9)
    assert plane.kept == pytest.approx(kept, abs=1e-12)


def test_many_prototypes_are_projected_by_some_of_them(monkeypatch):
    monkeypatch.setattr("eocc.plots.projection.MOST_PROTOTYPES", 50)
    clf = SurpriseClassifier().fit(ROWS["one cloud"])
    plane = project(clf)
    assert plane.columns.tolist() == list(range(0, 150, 3))
    rows = clf.transform(clf.prototypes_)[:, ::3]
    axes, _ = by_full_decomposition(rows[::3] - rows[::3].mean(axis=0))
    assert_allclose(points_of(clf, plane, clf.prototypes_), (rows - rows[::3].mean(axis=0)) @ axes, atol=1e-9)


def test_far_rows_are_drawn_closer_and_near_ones_to_scale():
    frame = LogFrame(np.array([1.0, 1.0]), 2.0)
    points = np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 3.0], [1.0 + 2 * np.e, 1.0], [1.0, 1.0 - 2 * np.exp(9)]])
    assert_allclose(frame.place(points), [[0, 0], [0.5, 0], [0, 1], [2, 0], [0, -10]], atol=1e-12)


def test_the_circle_holds_95_percent_around_the_median():
    points = np.column_stack([np.arange(-100.0, 101.0), np.zeros(201)])
    frame = LogFrame.around(points)
    assert (frame.centre.tolist(), frame.radius) == ([0, 0], 95)
    assert LogFrame.around(np.ones((3, 2))).radius == 1


def test_one_far_row_leaves_most_of_the_map_to_the_others():
    near = RNG.normal(size=(100, 2))
    frame = LogFrame.around(near)
    drawn = frame.place(np.vstack([near, [[1e4, 0.0]]]))
    assert np.ptp(drawn[:100, 0]) > 0.15 * np.ptp(drawn[:, 0])
