"""Products of rows with points -> the exact nearest points: a fast filter, then distances from differences.

Points are in tiles, and in lanes of 16 within these. A product is |y|^2 - 2 x y for a row x and a point y, which equals
|x - y|^2 - |x|^2 up to rounding: at most `rounding` (|x| + |y|)^2, and `tiny` where numbers vanish.
"""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import helper, inlined_kernel, kernel, minimum_kernel, summing_inlined_kernel
from eocc.kernels.smallest import insert

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


class Queries(NamedTuple):
    """Rows (m, d): in the unit of the products, with a column of ones, `left` (m, d + 1); their `lengths` there.

    bounds[i, t] is at most the squared distance of row i to any point of tile t, in that unit. `known` (m, l) are
    places of points, lane by lane, that are compared before all others, -1 for none; l is 0 if none are known.
    """

    left: Any
    rows: Any
    lengths: Any
    bounds: Any
    known: Any


class Scratch(NamedTuple):
    """Room for `step` rows and for as many tiles of w lanes as are compared at a time, allocated outside the kernels.

    `left` (step, d + 1), `products` (tiles, step, 16 w), `lows` (step, tiles, w), `least` (step, tiles), `lengths` and
    `open` (step,), `places` (step, tiles), `limits` (m,), `best` and `first` (1, k).
    """

    left: Any
    products: Any
    lows: Any
    least: Any
    lengths: Any
    open: Any
    places: Any
    limits: Any
    best: Any
    first: Any


@kernel
def box_bounds(rows, slacks, lows, highs, bounds):
    """Fill bounds (m, b) with the squared distance of each row (m, d) to each box between lows and highs (d, b)."""
    # The boxes of row i are larger by slacks[i] on every side.
    for i in range(rows.shape[0]):
        row = bounds[i]
        row[:] = 0.0
        for k in range(rows.shape[1]):
            above, below, low, high = rows[i, k] + slacks[i], rows[i, k] - slacks[i], lows[k], highs[k]
            for j in range(row.shape[0]):
                gap = max(max(low[j] - above, below - high[j]), 0.0)
                row[j] += gap * gap


@minimum_kernel
def lane_minima(products, reach, q, points, scratch):
    """Fill the lower bounds of the products of each lane, and the least of them, for the rows of the q-th tile."""
    # products (m, 16 w) hold point s of lane l in column s w + l; `reach` (w,) are the lanes' longest points.
    w, lengths, places, rounding, tiny = reach.shape[0], scratch.lengths, scratch.open, points.rounding, points.tiny
    for i in range(products.shape[0]):
        row, low = products[i], scratch.lows[places[i], q]
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
        lowest = low[0]
        for lane in range(w):
            low[lane] -= rounding * (lengths[i] + reach[lane]) * (lengths[i] + reach[lane]) + tiny
            lowest = low[lane] if low[lane] < lowest else lowest
        scratch.least[places[i], q] = lowest


@summing_inlined_kernel
def square(rows, i, lanes, lane, s, weights, t):
    """Return the squared distance of row i to point s of a lane under weighting t."""
    # Kernels in the inner loop take indices: to count the references of a slice would take longer than the sum.
    total = 0.0
    for k in range(rows.shape[1]):
        total += weights[t, k] * ((rows[i, k] - lanes[lane, s, k]) * (rows[i, k] - lanes[lane, s, k]))
    return total


@inlined_kernel
def limit_of(i, squares, least, unit):
    """Return the largest squared distance, in the unit of products, of a point that belongs in a list of row i."""
    limit, v = 0.0, least.shape[0]
    for t in range(v):
        limit = max(limit, squares[i * v + t, squares.shape[1] - 1] / least[t])
    return limit * unit * unit


@inlined_kernel
def compare(rows, row, lane, s, points, squares, numbers):
    """Insert point s of a lane into the lists of a row."""
    v = points.weights.shape[0]
    for t in range(v):
        value = square(rows, row, points.lanes, lane, s, points.weights, t)
        insert(value, points.ids[lane, s], squares, numbers, row * v + t)


@helper
def start_lists(i, row, length, points, scratch, squares):
    """Find the k most promising lanes, and fill the lists of a row with an upper bound of the k-th squared distance."""
    lows, best, first = scratch.lows[i], scratch.best, scratch.first
    best[0], first[0] = np.inf, -1
    for q in range(lows.shape[0]):
        for lane in range(lows.shape[1]):
            if lows[q, lane] < best[0, best.shape[1] - 1]:
                insert(np.float64(lows[q, lane]), q * lows.shape[1] + lane, best, first, 0)
    error = points.rounding * (length + 1.0) * (length + 1.0) + points.tiny
    bound = (best[0, -1] + 4.0 * error + length * length) * SLACK / (points.unit * points.unit)
    if length <= LONGEST_ROW and bound > LEAST_BOUND:
        v = points.most.shape[0]
        for t in range(v):
            squares[row * v + t] = bound * points.most[t]


@helper
def insert_near(i, row, queries, turns, points, scratch, squares, numbers):
    """Insert the points that may be near into the lists of a row, number i of the products with the tiles `turns`."""
    # A squared distance under weighting t is at least least[t] times that of the products, so these bound it.
    lows, least, first, w = scratch.lows[i], scratch.least[i], scratch.first, points.reach.shape[1]
    rows, length = queries.rows, queries.lengths[row]
    is_far = not length <= LONGEST_ROW  # its products mean nothing
    shift = 0.0 if is_far else length * length
    nearer = limit_of(row, squares, points.least, points.unit)
    limit = nearer - shift
    if is_far:
        lows[:], least[:] = -np.inf, -np.inf
    # The most promising lanes come first, so that the limit falls early; then all others below it.
    for q in range(-1, turns.shape[0]):
        if q >= 0 and not least[q] <= limit:
            continue
        for n in range(first.shape[1] if q < 0 else w):
            here, lane = q, n
            if q < 0:
                here, lane = first[0, n] // w, first[0, n] % w
            if here < 0 or not lows[here, lane] <= limit:
                continue
            place, tile = scratch.places[i, here], turns[here]
            extent = length + points.reach[tile, lane]
            error = np.inf if is_far else points.rounding * extent * extent + points.tiny
            for s in range(LANE):
                if not scratch.products[here, place, s * w + lane] - error > limit:
                    compare(rows, row, tile * w + lane, s, points, squares, numbers)
                    nearer = limit_of(row, squares, points.least, points.unit)
                    limit = nearer - shift
            lows[here, lane] = np.nan  # done: not below any limit
    scratch.limits[row] = nearer


@helper
def multiply(start, stop, turns, queries, points, scratch):
    """Fill the products and their lower bounds of rows start to stop with some tiles, where these may be near."""
    # Returns whether there are any.
    left, lengths, bounds = queries.left, queries.lengths, queries.bounds
    scratch.least[:], is_any, gathered = np.inf, False, 0
    for q in range(turns.shape[0]):
        tile, count = turns[q], 0
        for row in range(start, stop):
            if not bounds[row, tile] > scratch.limits[row]:
                scratch.open[count] = row - start
                count += 1
        if count == 0:
            continue
        is_any = True
        for c in range(count if count < stop - start or gathered < count else 0):  # all of them are gathered once
            row = start + scratch.open[c]
            scratch.lengths[c] = lengths[row]
            for k in range(left.shape[1]):  # an array assignment would take seconds to compile
                scratch.left[c, k] = left[row, k]
        gathered = count
        for c in range(count):
            scratch.places[scratch.open[c], q] = c
        products = scratch.products[q, :count]
        np.dot(scratch.left[:count], points.tiles[tile], products)
        lane_minima(products, points.reach[tile], q, points, scratch)
    return is_any


@kernel
def nearest_by_products(queries, points, turns, scratch, squares, numbers):
    """Insert the k nearest points of each row, by weighting, into squares and numbers (m v, k) of infinity and -1."""
    # turns[b] are the tiles in the order in which they are compared with rows b step, ..., b step + step - 1; only the
    # rows within their limits take part. Known points must not be in these tiles.
    at_a_time, step, _ = scratch.products.shape
    n_known = queries.known.shape[1]
    for b in range(turns.shape[0]):
        start, stop = b * step, min(b * step + step, queries.rows.shape[0])
        for row in range(start, stop if n_known else start):
            for place in queries.known[row]:
                if place >= 0:
                    compare(queries.rows, row, place // LANE, place % LANE, points, squares, numbers)
            scratch.limits[row] = limit_of(row, squares, points.least, points.unit)
        for n in range(0, turns.shape[1], at_a_time):
            some = turns[b, n : n + at_a_time]
            if multiply(start, stop, some, queries, points, scratch):
                scratch.first[:] = -1
                for row in range(start, stop):
                    if n == 0 and n_known == 0:
                        start_lists(row - start, row, queries.lengths[row], points, scratch, squares)
                    insert_near(row - start, row, queries, some, points, scratch, squares, numbers)
