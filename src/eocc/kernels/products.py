"""Products of rows with points -> the exact nearest points: a fast filter, then distances from differences.

Points are in lanes of 16 of about the same length. A product is |y|^2 - 2 x y for a row x and a point y, which equals
|x - y|^2 - |x|^2 up to rounding: at most `rounding` (|x| + |y|)^2, and `tiny` where numbers vanish.
"""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import helper, inlined_kernel, kernel, minimum_kernel, summing_inlined_kernel
from eocc.kernels.insertion import insert

LANE = 16  # points in a lane; a multiple of 4
# Rows this many times as long as the longest point are compared with every point: products would overflow.
LONGEST_ROW = 1e12
# More than the rounding error of an upper bound, unless that is smaller than this.
SLACK, LEAST_BOUND = 1 + 1e-9, 1e-290


class Points(NamedTuple):
    """Points in lanes (l, 16, d), their numbers (l, 16), and what their products need.

    `weights` (v, d) are the weightings. A squared distance under weighting t is at least least[t] and at most most[t]
    times that of the products. `tiles` (tiles, d + 1, places) are the right-hand sides of the products, in a `unit` in
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

    `products` (tiles, step, points of a tile), `lows` (step, lanes), `best` and `first` (k,).
    """

    products: Any
    lows: Any
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


@summing_inlined_kernel
def square(rows, i, lanes, lane, s, weights, t):
    """Return the squared distance of row i to point s of a lane under weighting t."""
    # Kernels in the inner loop take indices: to count the references of a slice would take longer than the sum.
    total = 0.0
    for k in range(rows.shape[1]):
        total += weights[t, k] * ((rows[i, k] - lanes[lane, s, k]) * (rows[i, k] - lanes[lane, s, k]))
    return total


@inlined_kernel
def limit_of(i, squares, least, unit, length):
    """Return the largest product that a point nearer than the last of either list of row i can have."""
    limit = 0.0
    for t in range(least.shape[0]):
        limit = max(limit, squares[i, t, squares.shape[2] - 1] / least[t])
    return limit * unit * unit - length * length


@helper
def start_lists(i, length, points, scratch, squares, numbers):
    """Find the k most promising lanes of row i, and fill its lists with an upper bound of the k-th squared distance."""
    lows, best, first = scratch.lows, scratch.best, scratch.first
    best[:], first[:] = np.inf, -1
    for lane in range(lows.shape[1]):
        if lows[i, lane] < best[-1]:
            insert(np.float64(lows[i, lane]), lane, best, first)
    error = points.rounding * (length + 1.0) * (length + 1.0) + points.tiny
    bound = (best[-1] + 4.0 * error + length * length) * SLACK / (points.unit * points.unit)
    if not (length <= LONGEST_ROW and bound > LEAST_BOUND):
        bound = np.inf
    for t in range(points.most.shape[0]):
        squares[i, t], numbers[i, t] = bound * points.most[t], -1


@helper
def nearest_in_lanes(rows, lengths, points, scratch, squares, numbers):
    """Fill squares and numbers (m, v, k) with the k nearest points of each row, from the products and lows."""
    # A squared distance under weighting t is at least least[t] times that of the products, so these bound it.
    products, lows, first = scratch.products, scratch.lows, scratch.first
    lanes, ids, weights, least, reach = points.lanes, points.ids, points.weights, points.least, points.reach
    unit, rounding, tiny, w = points.unit, points.rounding, points.tiny, points.reach.shape[1]
    for i in range(rows.shape[0]):
        length = lengths[i]
        is_far = not length <= LONGEST_ROW  # its products mean nothing
        if is_far:
            lows[i] = -np.inf
        start_lists(i, length, points, scratch, squares, numbers)
        limit = limit_of(i, squares, least, unit, length)
        # The most promising lanes come first, so that the limit falls early; then all others below it.
        for n in range(first.shape[0] + lows.shape[1]):
            lane = first[n] if n < first.shape[0] else n - first.shape[0]
            if lane < 0 or not lows[i, lane] <= limit:
                continue
            tile, column = lane // w, lane % w
            extent = length + reach[tile, column]
            error = np.inf if is_far else rounding * extent * extent + tiny
            for s in range(LANE):
                if not products[tile, i, s * w + column] - error > limit:
                    for t in range(weights.shape[0]):
                        value = square(rows, i, lanes, lane, s, weights, t)
                        insert(value, ids[lane, s], squares[i, t], numbers[i, t])
                    limit = limit_of(i, squares, least, unit, length)
            lows[i, lane] = np.nan  # done: not below any limit


@kernel
def nearest_by_products(left, rows, lengths, points, scratch, squares, numbers):
    """Fill squares and numbers (m, v, k) with the k nearest points of each row; one call, without the interpreter."""
    # `left` (m, d + 1) are the rows in the unit of the products, and a column of ones.
    step, w = scratch.lows.shape[0], points.reach.shape[1]
    for start in range(0, left.shape[0], step):
        stop = min(start + step, left.shape[0])
        some = lengths[start:stop]
        for t in range(points.tiles.shape[0]):
            products = scratch.products[t, : stop - start]
            np.dot(left[start:stop], points.tiles[t], products)
            lane_minima(products, some, points.reach[t], points.rounding, points.tiny, t * w, scratch.lows)
        nearest_in_lanes(rows[start:stop], some, points, scratch, squares[start:stop], numbers[start:stop])
