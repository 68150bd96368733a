"""Products of rows with points -> the exact nearest points: a fast filter, then distances from differences.

Points are in lanes of 16 of about the same length. A product is |y|^2 - 2 x y for a row x and a point y, which equals
|x - y|^2 - |x|^2 up to rounding: at most `rounding` (|x| + |y|)^2, and `tiny` where numbers vanish.
"""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import helper, kernel, minimum_kernel, summing_helper
from eocc.kernels.insertion import insert

LANE = 16  # points in a lane; a multiple of 4
# Rows this many times as long as the longest point are compared with every point: products would overflow.
LONGEST_ROW = 1e12
# More than the rounding error of an upper bound, unless that is smaller than this.
SLACK, LEAST_BOUND = 1 + 1e-9, 1e-290


class Points(NamedTuple):
    """Points in lanes (l, 16, d), their numbers (l, 16), and what their products need.

    `weights` (v, d) are the weightings. A squared distance under weighting t is at least least[t] and at most most[t]
    times that under the first. `tiles` (tiles, d + 1, places) are the right-hand sides of the products, in a `unit` in
    which the longest point has length 1, and `reach` (tiles, lanes) the longest point of each lane.
    """

    lanes: Any
    ids: Any
    weights: Any
    least: Any
    most: Any
    tiles: Any
    reach: Any
    unit: float
    rounding: Any
    tiny: Any


class Scratch(NamedTuple):
    """Room for `step` rows, allocated outside because that compiles faster.

    `lows` (step, lanes), `room` (step, points of a tile), `best` and `first` (k,).
    """

    lows: Any
    room: Any
    best: Any
    first: Any


@minimum_kernel
def lane_minima(products, lengths, reach, rounding, tiny, first, lows):
    """Fill lows[:, first : first + w] with a lower bound of the products of each of w lanes."""
    # products (m, 16 w) hold point s of lane l in column s w + l; `reach` (w,) are the lanes' longest points.
    w = reach.shape[0]
    for i in range(products.shape[0]):
        row, low = products[i], lows[i, first : first + w]
        for lane in range(w):
            low[lane] = np.inf
        for s in range(0, LANE, 4):  # four points per pass, to load and store the minima less often
            a, b = row[s * w : (s + 1) * w], row[(s + 1) * w : (s + 2) * w]
            c, d = row[(s + 2) * w : (s + 3) * w], row[(s + 3) * w : (s + 4) * w]
            for lane in range(w):
                least = low[lane]
                least = a[lane] if a[lane] < least else least
                least = b[lane] if b[lane] < least else least
                least = c[lane] if c[lane] < least else least
                low[lane] = d[lane] if d[lane] < least else least
        for lane in range(w):
            low[lane] -= rounding * (lengths[i] + reach[lane]) * (lengths[i] + reach[lane]) + tiny


@summing_helper
def compare_with_lane(row, lane, points, squares, numbers):
    """Offer the points of a lane to the lists (v, k) of the nearest under each weighting."""
    values, ids = points.lanes[lane], points.ids[lane]
    for t in range(points.weights.shape[0]):
        weights, near, found = points.weights[t], squares[t], numbers[t]
        for j in range(0, LANE, 4):  # four points at a time, whose sums do not wait for each other
            p, q, r, s = values[j], values[j + 1], values[j + 2], values[j + 3]
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for k in range(row.shape[0]):
                x, w = row[k], weights[k]
                a += w * ((x - p[k]) * (x - p[k]))
                b += w * ((x - q[k]) * (x - q[k]))
                c += w * ((x - r[k]) * (x - r[k]))
                d += w * ((x - s[k]) * (x - s[k]))
            if min(min(a, b), min(c, d)) <= near[-1]:
                insert(a, ids[j], near, found)
                insert(b, ids[j + 1], near, found)
                insert(c, ids[j + 2], near, found)
                insert(d, ids[j + 3], near, found)


@helper
def limit_of(squares, points, length):
    """Return the largest product that a point nearer than the last of either list can have."""
    limit = 0.0
    for t in range(points.least.shape[0]):
        limit = max(limit, squares[t, -1] / points.least[t])
    return limit * points.unit * points.unit - length * length


@helper
def start_lists(best, points, length, squares, numbers):
    """Fill the lists (v, k) with an upper bound of the k-th squared distance, from the lower bounds of k lanes."""
    error = points.rounding * (length + 1.0) * (length + 1.0) + points.tiny
    bound = (best[-1] + 4.0 * error + length * length) * SLACK / (points.unit * points.unit)
    if not (length <= LONGEST_ROW and bound > LEAST_BOUND):
        bound = np.inf
    for t in range(points.most.shape[0]):
        squares[t], numbers[t] = bound * points.most[t], -1


@helper
def nearest_in_lanes(rows, lengths, points, scratch, squares, numbers):
    """Fill squares and numbers (m, v, k) with the k nearest points of each row, from scratch.lows (m, lanes)."""
    # The lows are those of the first weighting, in a unit of length. A squared distance under weighting t is at least
    # least[t] times that under the first, so the same lows bound it.
    best, first = scratch.best, scratch.first
    for i in range(rows.shape[0]):
        near, found, low = squares[i], numbers[i], scratch.lows[i]
        if not lengths[i] <= LONGEST_ROW:  # its products mean nothing
            low[:] = -np.inf
        best[:], first[:] = np.inf, -1
        for lane in range(low.shape[0]):
            if low[lane] < best[-1]:
                insert(np.float64(low[lane]), lane, best, first)
        start_lists(best, points, lengths[i], near, found)
        # The most promising lanes come first, so that the limit falls early; then all others below it.
        for lane in first:
            if lane >= 0:
                compare_with_lane(rows[i], lane, points, near, found)
                low[lane] = np.nan  # done: not below any limit
        limit = limit_of(near, points, lengths[i])
        for lane in range(low.shape[0]):
            if low[lane] <= limit:
                compare_with_lane(rows[i], lane, points, near, found)
                limit = limit_of(near, points, lengths[i])


@kernel
def nearest_by_products(left, rows, lengths, points, scratch, squares, numbers):
    """Fill squares and numbers (m, v, k) with the k nearest points of each row; one call, without the interpreter."""
    # `left` (m, d + 1) are the rows in the unit of the products, and a column of ones.
    step, w = scratch.lows.shape[0], points.reach.shape[1]
    for start in range(0, left.shape[0], step):
        stop = min(start + step, left.shape[0])
        some, products = lengths[start:stop], scratch.room[: stop - start]
        for t in range(points.tiles.shape[0]):
            np.dot(left[start:stop], points.tiles[t], products)
            lane_minima(products, some, points.reach[t], points.rounding, points.tiny, t * w, scratch.lows)
        nearest_in_lanes(rows[start:stop], some, points, scratch, squares[start:stop], numbers[start:stop])
