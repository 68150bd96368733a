from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from eocc.base.threads import threads
from eocc.entropic.graph import nearest_rows as neighbours
from eocc.entropic.graph.nearest_rows import fit_projection, nearest_neighbours, projection_error
from eocc.entropic.graph.point_tree import boxes_of
from eocc.measures.euclidean import euclidean_pairwise_distance
from oracles import core, sparse
from strategies import points

GRID = hnp.arrays(np.float64, st.tuples(st.integers(3, 40), st.just(8)), elements=st.integers(0, 2).map(float))


def dissimilarities(n, n_prototypes=40, n_dims=4, seed=0):
    """Rows of a dissimilarity space: distances of normal points to the first of them."""
    X = np.random.default_rng(seed).normal(size=(n, n_dims))
    rows = cdist(X, X[:n_prototypes])
    return rows / rows.max()


def true_distances(rows):
    return cdist(rows, rows) / np.sqrt(rows.shape[1])


@pytest.fixture
def large_from_200_rows(monkeypatch):
    monkeypatch.setattr(neighbours, "EXACT_ROWS", 200)


@given(points(min_rows=2), st.data())
def test_all_pairs_give_the_nearest_by_distance_then_row(X, data):
    rows = np.ascontiguousarray(X - X.mean(axis=0))
    k = data.draw(st.integers(1, len(rows) - 1))
    distances = core.rounded(euclidean_pairwise_distance(rows, 1 / np.sqrt(rows.shape[1])))
    expected = sparse.nearest(distances.tolist(), k)
    found = nearest_neighbours(rows, k)
    assert found.indices.tolist() == expected
    assert_array_equal(found.distances, np.take_along_axis(distances, np.array(expected), axis=1))


def test_four_points_on_a_line_by_hand():
    found = nearest_neighbours(np.array([[0.0], [1.0], [3.0], [3.0]]), k=2)
    assert found.indices.tolist() == [[1, 2], [0, 2], [3, 1], [2, 1]]
    assert found.distances.tolist() == [[1.0, 3.0], [1.0, 2.0], [0.0, 2.0], [0.0, 2.0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_few_columns_give_the_exact_neighbours(large_from_200_rows, dtype):
    rows = np.random.default_rng(0).normal(size=(500, 3)).astype(dtype)
    found = nearest_neighbours(rows, k=7)
    expected = sparse.nearest(true_distances(rows).tolist(), 7)
    assert found.indices.tolist() == expected


def test_few_columns_with_more_copies_than_neighbours_never_list_the_row_itself(large_from_200_rows):
    rows = np.repeat(np.arange(10.0), 40)[:, None]
    found = nearest_neighbours(rows, k=3)
    assert not (found.indices == np.arange(400)[:, None]).any()
    assert not found.distances.any()
    assert_array_equal(rows[found.indices, 0], np.repeat(rows, 3, axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_nearest_in_the_projection_are_ranked_by_exact_distances(large_from_200_rows, dtype):
    rows = dissimilarities(3000).astype(dtype)
    found = nearest_neighbours(rows, k=10)
    distances = true_distances(rows)
    assert_allclose(found.distances, np.take_along_axis(distances, found.indices, axis=1), rtol=1e-6)
    assert (np.diff(found.distances, axis=1) >= 0).all()
    own = np.column_stack([found.indices, np.arange(3000)])
    assert (np.diff(np.sort(own, axis=1), axis=1) > 0).all()
    np.fill_diagonal(distances, np.inf)
    missed = found.distances[:, -1] > np.partition(distances, 9, axis=1)[:, 9] * (1 + 1e-6)
    assert missed.mean() < 0.01


def test_neighbours_do_not_depend_on_the_number_of_threads(large_from_200_rows, monkeypatch):
    monkeypatch.setattr(neighbours, "ROWS_PER_TASK", 256)
    rows = dissimilarities(3000, n_dims=8)
    found = []
    for count in (1, 2, 5):
        with threads(count):
            found.append(nearest_neighbours(rows, k=6))
    for other in found[1:]:
        assert_array_equal(other.indices, found[0].indices)
        assert_array_equal(other.distances, found[0].distances)


def test_copies_are_neighbours_of_each_other(large_from_200_rows):
    rows = np.repeat(dissimilarities(60), 20, axis=0)
    found = nearest_neighbours(rows, k=5)
    assert not found.distances.any()
    assert not (found.indices == np.arange(1200)[:, None]).any()


def test_distant_clusters_do_not_hide_the_directions_within_clusters():
    rng = np.random.default_rng(0)
    spread = np.zeros((2000, 30))
    spread[:, 15:] = rng.normal(size=(2000, 15))
    spread[:, 0] = 1000.0 * rng.integers(0, 2, 2000)
    basis = fit_projection(spread, k=10).basis
    assert basis.shape[1] == 16
    assert_allclose(np.linalg.norm(basis[15:], axis=1), 1.0, atol=1e-6)


@given(points(min_rows=2, max_columns=12))
def test_a_projection_never_lengthens_a_distance(X):
    projected = fit_projection(X, k=2).points(X)
    assert projected.shape[1] % 8 == 0
    lengthened = cdist(projected, projected) - cdist(X, X)
    assert lengthened.max() <= projection_error(projected) + 1e-9


@given(GRID, st.integers(1, 8))
def test_a_tree_has_balanced_leaves_separated_by_planes(grid, leaf):
    with mock.patch("eocc.entropic.graph.point_tree.LEAF_SIZE", leaf):
        tree = boxes_of(grid, 1.0, grid, np.arange(len(grid)))
    assert sorted(tree.ids.tolist()) == list(range(len(grid)))
    assert_array_equal(tree.points, grid[tree.ids])
    sizes = np.diff(tree.starts)
    assert sizes.max() <= leaf
    assert sizes.max() - sizes.min() <= 1
    middle = tree.starts[len(sizes) // 2]
    if len(sizes) > 1:
        lower, upper = tree.points[:middle], tree.points[middle:]
        assert (lower.max(axis=0) <= upper.min(axis=0)).any()


@pytest.mark.parametrize(
    ("rows", "k", "message"),
    [
        (np.zeros((3, 2)), 3, r"k must be an integer in 1\.\.2, one less than the rows; got 3"),
        (np.zeros((3, 2)), 0, "got 0"),
        (np.zeros((3, 2)), 1.5, "got 1.5"),
        (np.zeros(3), 1, r"not of shape \(3,\)"),
        (np.zeros((3, 2), int), 1, "float32 or float64, not int64"),
    ],
)
def test_invalid_input_raises_clear_errors(rows, k, message):
    with pytest.raises(ValueError, match=message):
        nearest_neighbours(rows, k)
