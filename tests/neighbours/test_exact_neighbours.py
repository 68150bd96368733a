"""Exact nearest rows: scan and products against all distances, for ordinary and for strange points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc.base.threads import threads
from eocc.kernels.products import LANE, Points, Scratch, box_bounds, lane_minima
from eocc.neighbours import exact
from eocc.neighbours.exact import RowIndex
from eocc.neighbours.tiles import Tiles
from oracles import exact as oracle


@pytest.fixture(params=["products", "tiles", "scan"], autouse=True)
def search(request, monkeypatch):
    """All searches, whatever the number of rows and columns."""
    if request.param == "as they are":
        return
    monkeypatch.setattr(exact, "SCAN_VALUES", np.inf if request.param == "scan" else 0)
    if request.param == "tiles":
        for name, value in (("TILE", 2 * LANE), ("TILES_AT_A_TIME", 2)):
            monkeypatch.setattr(exact, name, value)


@pytest.mark.parametrize("search", ["as they are"], indirect=True)
@pytest.mark.parametrize(
    ("n", "d", "search_class"),
    [
        (3000, 5, exact._Products),
        (1024, 10, exact.Scan),
        (1025, 10, exact._Products),
        (512, 100, exact.Scan),
        (513, 100, exact._Products),
    ],
)
def test_columns_and_rows_choose_the_search(n, d, search_class):
    rows = np.arange(n * d, dtype=float).reshape(n, d)
    assert type(RowIndex.of(rows, np.ones((1, d)))._searches[0][0]) is search_class


def check(index, rows, k=10):
    """Compare with all distances; of ties at the end of a list any may be listed."""
    for found, p in zip(index.nearest(rows, k), index.weightings, strict=True):
        for distances, numbers, row in zip(found.distances, found.numbers, rows, strict=True):
            expected = oracle.nearest_points(row, index.points, p, k)
            assert_allclose(distances, [distance for distance, _ in expected], rtol=1e-12)
            clear = distances < distances[-1] * (1 - 1e-9)
            listed = {number for distance, number in expected if distance < distances[-1] * (1 - 1e-9)}
            assert set(numbers[clear].tolist()) == listed
            assert (np.diff(distances[np.isfinite(distances)]) >= 0).all()
            for distance, number in zip(distances, numbers, strict=True):
                assert (number >= 0) == np.isfinite(distance)


@pytest.mark.parametrize("n_columns", [1, 3, 5, 6, 12, 33])
@pytest.mark.parametrize("n", [1, 9, 100, 700])
def test_the_nearest_are_those_of_all_distances(n, n_columns):
    rng = np.random.default_rng(n)
    rows, new = rng.normal(size=(n, n_columns)), rng.normal(size=(4, n_columns))
    weightings = np.vstack([np.ones(n_columns), rng.uniform(0.01, 1, n_columns)])
    check(RowIndex.of(rows, weightings), np.vstack([new, rows[:2]]))


@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([2, 7]), st.sampled_from([1.0, 1e-150, 1e140]))
def test_ties_and_copies(seed, n, n_columns, size):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (n, n_columns)) * size
    index = RowIndex.of(rows, np.ones((1, n_columns)))
    assert_array_equal(index.points[index.point_of[:-1]], rows)
    assert_array_equal(index.counts, [(rows == point).all(axis=1).sum() for point in index.points])
    assert_array_equal(rows[index.first], index.points)
    check(index, rows[:3])


@pytest.mark.parametrize("search", ["products", "tiles", "scan"], indirect=True)
def test_of_points_at_the_same_distance_the_first_are_listed():
    grid = np.array(np.meshgrid(*[[-1.0, 1.0]] * 6)).reshape(6, -1).T
    found = RowIndex.of(grid, np.ones((1, 6))).nearest(np.zeros((1, 6)), 10)[0]
    assert found.numbers[0].tolist() == list(range(10))


@pytest.mark.parametrize("spread", [1e-3, 1e-6, 1e-9])
def test_clusters_far_apart_need_no_single_precision(spread):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 8))
    rows = centres[rng.integers(4, size=500)] + rng.normal(size=(500, 8)) * spread
    check(RowIndex.of(rows, np.ones((1, 8))), rows[:5])


@pytest.mark.parametrize("search", ["products"], indirect=True)
def test_the_precision_follows_the_points():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 8))
    far = np.vstack([rows, rows + 1e6])
    dtypes = [RowIndex.of(points, np.ones((1, 8)))._searches[0][0].points.tiles.dtype for points in (rows, far)]
    assert dtypes == [np.float32, np.float64]


@pytest.mark.parametrize("outlier", [1e3, 1e6, 1e12, 1e100])
def test_one_enormous_point_leaves_the_others_alone(outlier):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(400, 8)), np.full((1, 8), outlier)])
    check(RowIndex.of(rows, np.ones((1, 8))), rows[:3])


@pytest.mark.parametrize("size", [1e5, 1e11, 1e13, 1e40, 1e150])
def test_rows_far_away_have_neighbours_too(size):
    rng = np.random.default_rng(0)
    index = RowIndex.of(rng.normal(size=(300, 7)), np.vstack([np.ones(7), np.linspace(0.8, 1, 7)]))
    for found, p in zip(index.nearest(np.full((2, 7), size), 10), index.weightings, strict=True):
        expected = [distance for distance, _ in oracle.nearest_points(np.full(7, size), index.points, p, 10)]
        assert_allclose(found.distances[0], expected, rtol=1e-12)


# Weights that surely let few points pass, that let few pass of these points, and that let many pass.
@pytest.mark.parametrize("search", ["products", "tiles"], indirect=True)
@pytest.mark.parametrize(("lowest", "n_searches"), [(0.9, 1), (0.5, 1), (1e-6, 2)])
def test_weightings_share_products_only_where_that_helps(lowest, n_searches):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(2000, 9))
    index = RowIndex.of(rows, np.vstack([np.ones(9), np.linspace(lowest, 1, 9)]))
    assert len(index._searches) == n_searches
    check(index, rows[:20])


@pytest.mark.parametrize("search", ["products"], indirect=True)
def test_very_many_columns_do_not_overflow():
    rows = np.random.default_rng(0).normal(size=(40, 3000))
    check(RowIndex.of(rows, np.vstack([np.ones(3000), np.linspace(0.1, 1, 3000)])), rows[:5])


def test_a_weight_of_0_hides_a_column():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(200, 7))
    weightings = np.vstack([np.r_[np.ones(6), 0.0], np.r_[0.0, np.ones(6)]])
    check(RowIndex.of(rows, weightings), rows[:10])


@pytest.mark.parametrize("n_columns", [3, 8, 40])
def test_threads_and_batches_do_not_change_a_bit(n_columns, monkeypatch):
    rng = np.random.default_rng(3)
    index = RowIndex.of(rng.normal(size=(900, n_columns)), np.ones((1, n_columns)))
    new = rng.normal(size=(150, n_columns))
    together = index.nearest(new, 10)[0]
    monkeypatch.setattr(exact, "ROWS_PER_TASK", 20)
    with threads(3):
        spread = index.nearest(new, 10)[0]
    alone = [index.nearest(row[None], 10)[0] for row in new]
    for part in (0, 1):
        assert_array_equal(spread[part], together[part])
        assert_array_equal(np.vstack([one[part] for one in alone]), together[part])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 5, 100])
def test_the_margin_covers_the_worst_rounding(d, dtype):
    # Each of the d + 1 sums, and each factor of a term, may be off by half an eps.
    assert exact._rounding(d, dtype) >= (3 * d + 12) * np.finfo(dtype).eps / 2


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 10**6))
def test_lane_minima_bound_the_products_of_their_lanes(m, w, seed):
    rng = np.random.default_rng(seed)
    products = rng.normal(size=(m, LANE * w)).astype(np.float32)
    lengths, reach = rng.uniform(size=m).astype(np.float32), rng.uniform(size=w).astype(np.float32)
    lows, least, places = np.full((m, 2, w), 7, np.float32), np.full((m, 2), 7, np.float32), rng.permutation(m)
    margins = Points(*[None] * 10)._replace(rounding=np.float32(0.01), tiny=np.float32(1e-38))
    lane_minima(products, reach, 1, margins, Scratch(*[None] * 10)._replace(
        lengths=lengths, open=places, lows=lows, least=least))  # fmt: skip
    expected = np.array(oracle.lane_minima(products, lengths, reach, 0.01))
    assert_allclose(lows[places, 1], expected, rtol=1e-5, atol=1e-6)
    assert_allclose(least[places, 1], expected.min(axis=1), rtol=1e-5, atol=1e-6)
    assert (lows[:, 0] == 7).all()


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_a_box_bounds_the_distance_to_what_it_holds(m, n, d, seed):
    rng = np.random.default_rng(seed)
    rows, corners, bounds = rng.normal(size=(m, d)), np.sort(rng.normal(size=(2, d, n)), axis=0), np.empty((m, n))
    slacks = rng.uniform(size=m)
    box_bounds(rows, slacks, *corners, bounds)
    expected = [
        [oracle.box_distance(row, corners[0, :, j] - slack, corners[1, :, j] + slack) ** 2 for j in range(n)]
        for row, slack in zip(rows, slacks, strict=True)
    ]
    assert_allclose(bounds, expected, atol=1e-12)


@given(st.integers(33, 200), st.integers(1, 4), st.integers(0, 10**6))
def test_tiles_hold_every_point_once_within_their_boxes(n, d, seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (n, d)) + rng.choice([0.0, 0.5], size=(n, d))
    found = Tiles.of(points, 32)
    assert_array_equal(np.sort(found.order), np.arange(n))
    of_point = np.arange(n) // 32
    sorted_points = points[found.order]
    assert (found.lows.T[of_point] <= sorted_points).all()
    assert (sorted_points <= found.highs.T[of_point]).all()
    assert_array_equal(np.sort(found.sorted(points)), np.arange(n))


@pytest.mark.parametrize("search", ["tiles"], indirect=True)
def test_a_tile_as_near_as_the_limit_is_compared(monkeypatch):
    monkeypatch.setattr(exact, "TILES_AT_A_TIME", 1)
    line = np.zeros((64, 6))
    line[:, 0] = np.r_[32:64, 0:32]
    # Halfway between points 0 and 63, in two tiles: the lower number is listed.
    assert_array_equal(RowIndex.of(line, np.ones((1, 6))).nearest(np.eye(1, 6) * 31.5, 1)[0].numbers, [[0]])


@pytest.mark.parametrize("search", ["products", "tiles"], indirect=True)
def test_a_row_whose_square_overflows_has_neighbours():
    rng = np.random.default_rng(0)
    index = RowIndex.of(1e-10 * rng.normal(size=(100, 6)), np.ones((1, 6)))
    found = index.nearest(np.full((1, 6), 1e146), 5)[0]
    assert (found.numbers >= 0).all()
    assert np.isfinite(found.distances).all()


def test_near_rows_are_compared_together():
    points = np.arange(128.0)[:, None]
    assert_array_equal(Tiles.of(points, 32).sorted(np.array([[90.0], [3.0], [127.0], [40.0], [5.0]])), [1, 4, 3, 0, 2])


@pytest.mark.parametrize("search", ["tiles"], indirect=True)
def test_rows_are_not_compared_with_far_tiles(monkeypatch):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(100, 6)), 50 + rng.normal(size=(100, 6))])
    index = RowIndex.of(rows, np.ones((1, 6)))
    ((products, _),) = index._searches
    far = products.points.lanes[..., 0] > 25
    products.points.lanes[far] = -3.0  # points that a comparison would find near
    found = index.nearest(rows[:40], 5)[0]
    assert (found.numbers < 100).all()


@pytest.mark.parametrize("search", ["tiles"], indirect=True)
@given(st.integers(40, 150), st.integers(0, 30), st.integers(0, 39), st.booleans(), st.integers(0, 10**6))
def test_a_search_before_changes_nothing_but_the_time(n, n_new, n_gone, has_ties, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n + n_new, 6)) * rng.choice([1e-3, 1.0, 10.0], 6)
    if has_ties:
        rows = np.round(rows)
    before, weightings = rows[:n], np.vstack([np.ones(6), rng.uniform(0.2, 1, 6)])
    index = RowIndex.of(before, weightings)
    _, searched = index.among_itself(10, before)
    # Another unit, other weights, rows that are new and rows that are gone.
    raw, scale = rows[n_gone:], rng.choice([1.0, 0.37])
    points = (raw - rng.normal(size=6)) * scale
    weightings = weightings * np.vstack([np.ones(6), rng.uniform(0.99, 1.01, 6)])
    found, plain = RowIndex.of(points, weightings, None, searched, raw), RowIndex.of(points, weightings)
    for short, whole in zip(found.among_itself(10, raw)[0], plain.among_itself(10, raw)[0], strict=True):
        for distances, numbers, all_distances, all_numbers in zip(*short, *whole, strict=True):
            n_listed = 9 if numbers[-1] < 0 <= all_numbers[-1] else 10
            is_tied = all_distances[:n_listed] == all_distances[-1]
            assert distances[:n_listed].tolist() == all_distances[:n_listed].tolist()
            assert numbers[:n_listed][~is_tied].tolist() == all_numbers[:n_listed][~is_tied].tolist()
            assert distances[-1] <= all_distances[-1]


@pytest.mark.parametrize("search", ["tiles"], indirect=True)
def test_a_search_before_saves_comparisons(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 6))
    index = RowIndex.of(rows[:580], np.ones((1, 6)))
    later = RowIndex.of(rows, np.ones((1, 6)), None, index.among_itself(10, rows[:580])[1], rows)
    assert later.known.is_new.sum() == 20
    searched, nearest = [], RowIndex.nearest
    monkeypatch.setattr(
        RowIndex, "nearest", lambda self, rows, k, near=None: (
            searched.append((len(rows), near is None)) or nearest(self, rows, k, near)
        )
    )  # fmt: skip
    later.among_itself(10, rows)
    assert searched[0] == (600, False)
    assert searched[1][0] < 60  # the new rows, and those whose ninth and tenth are as far
