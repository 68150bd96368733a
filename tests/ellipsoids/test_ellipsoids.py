"""Regions of one shape: values by hand, and equality with the slow definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from eocc.ellipsoids import model
from eocc.ellipsoids.features import pair_coordinates, row_coordinates
from eocc.ellipsoids.model import (
    Ellipsoids,
    KnownOutliers,
    count_of_regions,
    learn_ellipsoids,
    pooled_shape,
    radius,
    scatter_cuts,
    with_outliers,
)
from eocc.entropic.graph import point_spanning_tree
from oracles import ellipsoids as oracle
from strategies import points


def rows_of(seed, n=40, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 5 * rng.integers(0, 2, size=(n, 1))


def parts_of(labels):
    return sorted(np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1))


@given(st.integers(0, 10**6), st.integers(2, 14), st.integers(1, 6))
def test_cuts_are_those_of_the_least_scatter(seed, n, n_regions):
    rows = np.random.default_rng(seed).normal(size=(n, 2))
    edges = point_spanning_tree(rows).edges
    labels, between = scatter_cuts(rows, edges, n_regions)
    assert parts_of(labels) == oracle.cut_parts(rows, edges.tolist(), n_regions)
    assert (np.diff(np.bincount(labels)) <= 0).all()
    assert len(between) == labels.max()


@given(points(min_rows=2), st.integers(1, 5))
def test_cuts_of_ties_and_copies_lower_the_scatter_as_much(rows, n_regions):
    edges = point_spanning_tree(rows).edges
    labels, _ = scatter_cuts(rows, edges, n_regions)
    found = sum(oracle.scatter(rows[labels == label]) for label in range(labels.max() + 1))
    if labels.max() == 0:
        assert n_regions == 1 or oracle.scatter(rows) == pytest.approx(found)
    elif n_regions == 2:
        wanted = sum(oracle.scatter(rows[part]) for part in oracle.cut_parts(rows, edges.tolist(), 2))
        assert found == pytest.approx(wanted, abs=1e-9 * (1 + oracle.scatter(rows)))


def test_a_cut_separates_two_groups():
    rows = np.array([[0.0], [1.0], [10.0]])
    labels, between = scatter_cuts(rows, np.array([[0, 1], [1, 2]]), 2)
    assert labels.tolist() == [0, 0, 1]
    assert between.tolist() == [[0, 1]]


@pytest.mark.parametrize("seed", range(5))
def test_the_shape_is_the_shrunk_pooled_covariance(seed):
    rows, labels = rows_of(seed), np.random.default_rng(seed).integers(0, 3, 40)
    found = pooled_shape(rows, labels, 3)
    sigma = found.axes * found.variances @ found.axes.T
    assert_allclose(sigma, oracle.covariance(rows, labels), rtol=1e-10, atol=1e-12)
    _, rho, mean = oracle.shape(rows, labels)
    assert found.shrinkage == pytest.approx(rho)
    assert found.outside == pytest.approx(rho * mean)


def test_the_least_shrinkage():
    # A line of many rows: Ledoit and Wolf would hardly shrink it.
    rows = np.column_stack([np.linspace(-1, 1, 10**5), np.zeros(10**5)])
    assert pooled_shape(rows, np.zeros(10**5, int), 1).shrinkage == 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_memberships_and_left_out_memberships_follow_the_definition(seed, monkeypatch):
    rows, new = rows_of(seed), rows_of(seed + 100, 10)
    monkeypatch.setattr(model, "MOST_FOLDED", 0)
    learned = learn_ellipsoids(row_coordinates(rows), 4)
    sigma = oracle.covariance(rows, learned.labels)
    wanted = [oracle.log_membership(row, rows, learned.labels, sigma) for row in new]
    assert_allclose(learned.model.log_memberships(new), wanted, rtol=1e-9, atol=1e-9)
    left = [oracle.left_out(i, rows, learned.labels) for i in range(len(rows))]
    assert_allclose(learned.radii, radius(np.array(left)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("n", "r", "is_folded"), [(19, 3, 0), (20, 3, 1), (500, 3, 1), (501, 3, 0), (163, 101, 0)])
def test_few_rows_are_left_out_of_the_whole_fit_by_twenty_folds(n, r, is_folded):
    rows = np.random.default_rng(n).normal(size=(n, r))
    learned = learn_ellipsoids(row_coordinates(rows), 5)
    left = radius(np.array([oracle.left_out(i, rows, learned.labels) for i in range(0, n, 20)]))
    others = learn_ellipsoids(row_coordinates(np.delete(rows, np.s_[::20], axis=0)), 5).model
    wanted = np.maximum(left, radius(others.log_memberships(rows[::20]))) if is_folded else left
    assert_allclose(learned.radii[::20], wanted, rtol=1e-6)


@given(points(min_rows=1, max_rows=30))
def test_any_rows_give_finite_memberships_of_at_most_1(rows):
    learned = learn_ellipsoids(row_coordinates(rows), 20)
    logs = learned.model.log_memberships(np.vstack([rows, rows * 1e6, rows + 1e90]))
    assert np.isfinite(logs).all()
    assert (logs <= 1e-9).all()
    assert np.isfinite(learned.radii).all()
    assert len(np.unique(learned.representatives)) == learned.labels.max() + 1


@pytest.mark.parametrize("seed", range(3))
def test_dissimilarities_of_points_give_the_regions_of_the_points(seed):
    rows, new = rows_of(seed), rows_of(seed + 100, 10)
    by_rows = learn_ellipsoids(row_coordinates(rows), 5)
    by_pairs = learn_ellipsoids(pair_coordinates(cdist(rows, rows, "sqeuclidean")), 5)
    assert_array_equal(by_rows.labels, by_pairs.labels)
    found = by_pairs.model.log_memberships(cdist(new, rows, "sqeuclidean"))
    assert_allclose(found, by_rows.model.log_memberships(new), rtol=1e-6)
    assert_allclose(by_pairs.radii, by_rows.radii, rtol=1e-6)


def test_dissimilarities_that_no_points_have_get_a_constant():
    # Three objects at distance 1 from each other, and one at 0.5 from all: no such points exist.
    squares = np.array([[0, 1, 1, 0.25], [1, 0, 1, 0.25], [1, 1, 0, 0.25], [0.25, 0.25, 0.25, 0]])
    found = pair_coordinates(squares)
    between = cdist(found.rows, found.rows, "sqeuclidean")
    added = between - squares
    off = added[~np.eye(4, dtype=bool)]
    assert off.min() > 0.01
    assert_allclose(off, off[0])


def test_a_row_outside_the_span_is_farther_out():
    rows = np.column_stack([rows_of(0, d=2), np.zeros(40)])
    model = learn_ellipsoids(row_coordinates(rows), 3).model
    inside, outside = rows[:1], rows[:1] + np.array([[0.0, 0.0, 1.0]])
    gap = model.placement.place(outside)[0, -1]
    assert gap == pytest.approx(model.placement.height)
    assert model.placement.place(inside)[0, -1] < 1e-6
    lower = model.log_memberships(inside)[0] - model.log_memberships(outside)[0]
    assert lower == pytest.approx(gap**2 / 2)


def test_a_gap_has_the_value_that_the_region_suggests():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    rows = np.column_stack([x, 2 * x + 0.01 * rng.normal(size=400)])
    model = learn_ellipsoids(row_coordinates(rows), 1).model
    (filled,) = model.filled(np.array([[1.0, np.nan]]))
    assert filled[1] == pytest.approx(2.0, abs=0.1)


def test_known_outliers_lower_the_membership_near_them_only():
    rows = rows_of(1)
    learned = learn_ellipsoids(row_coordinates(rows), 3)
    place = learned.model.placement.place
    near, far = rows[:1] + 2.0, rows[:1] - 40.0
    taught = with_outliers(learned, place(near), 3.0, 20)
    before, after = (one.model.log_memberships(np.vstack([near, far])) for one in (learned, taught))
    # At the outlier itself its membership is 1, the background exp(-4.5): ln(1 + exp(4.5)).
    assert before[0] - after[0] == pytest.approx(np.log1p(np.exp(4.5)))
    assert before[1] - after[1] == pytest.approx(0, abs=1e-9)


def test_two_outliers_on_both_sides_do_not_meet_in_the_middle():
    rows = np.random.default_rng(0).normal(size=(100, 2))
    learned = learn_ellipsoids(row_coordinates(rows), 5)
    taught = with_outliers(learned, learned.model.placement.place(np.array([[9.0, 0.0], [-9.0, 0.0]])), 3.0, 20)
    assert len(taught.model.outliers.counts) == 2
    middle = np.zeros((1, 2))
    assert_allclose(taught.model.log_memberships(middle), learned.model.log_memberships(middle), atol=1e-6)


def test_the_number_of_regions():
    assert [count_of_regions(20, n) for n in (1, 7, 8, 79, 80, 1000)] == [1, 1, 2, 19, 20, 20]


def test_a_far_term_adds_nothing_and_a_near_one_counts():
    regions = Ellipsoids(np.array([[0.0], [20.0]]), np.array([1, 1]))
    assert regions.log_memberships(np.array([[0.0]]))[0] == np.log(0.5)
    assert regions.log_memberships(np.array([[10.0]]))[0] == pytest.approx(-50.0)
    assert KnownOutliers(regions.centres, regions.counts, 0.0).penalty(np.array([[1e9]]))[0] == 0
