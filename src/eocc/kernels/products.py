"""Products of rows with points -> the exact nearest points: a fast filter, then distances from differences.

Points are in lanes of 16 of about the same length. A product is |y|^2 - 2 x y for a row x and a point y, which equals
|x - y|^2 - |x|^2 up to rounding: at most `rounding` (|x| + |y|)^2, and `tiny` where numbers vanish.
"""

import numpy as np

from eocc.kernels.compile import helper, kernel, minimum_kernel, summing_helper

LANE = 16  # points in a lane; a multiple of 4
# Rows this many times as long as the longest point are compared with every point: products would overflow.
LONGEST_ROW = 1e12


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


@helper
def insert(square, number, squares, numbers):
    """Insert a point into a list sorted by (square, number), unless it lies beyond its end or is padding, -1."""
    last = squares.shape[0] - 1
    if square > squares[last] or number < 0:
        return
    place = last + 1
    while place > 0 and (square < squares[place - 1] or (square == squares[place - 1] and number < numbers[place - 1])):
        place -= 1
    if place > last:
        return
    for t in range(last, place, -1):
        squares[t], numbers[t] = squares[t - 1], numbers[t - 1]
    squares[place], numbers[place] = square, number


@summing_helper
def compare_with_lane(row, points, ids, weights, squares, numbers):
    """Offer the points (16, d) of a lane to the lists (v, k) of the nearest under each weighting."""
    for t in range(weights.shape[0]):
        weight, near, found = weights[t], squares[t], numbers[t]
        for j in range(0, LANE, 4):  # four points at a time, whose sums do not wait for each other
            p, q, r, s = points[j], points[j + 1], points[j + 2], points[j + 3]
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for k in range(row.shape[0]):
                x, w = row[k], weight[k]
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
def limit_of(squares, least, unit, length):
    """Return the largest product that a point nearer than the last of either list can have."""
    limit = 0.0
    for t in range(least.shape[0]):
        limit = max(limit, squares[t, -1] / least[t])
    return limit * unit * unit - length * length


@helper
def nearest_in_lanes(lows, rows, points, ids, weights, least, unit, lengths, best, first, squares, numbers):
    """Fill squares and numbers (m, v, k) with the k nearest points of each row under each of v weightings."""
    # The lows (m, lanes) are those of the first weighting, in a unit of length. A squared distance under weighting t is
    # at least least[t] times that under the first, so the same lows bound it. Points are (lanes, 16, d).
    # `best` and `first` (k,) are scratch.
    k, n_lanes = squares.shape[2], points.shape[0]
    for i in range(rows.shape[0]):
        near, found, low = squares[i], numbers[i], lows[i]
        for t in range(k):
            best[t], first[t] = np.inf, -1
            for v in range(least.shape[0]):
                near[v, t], found[v, t] = np.inf, -1
        if not lengths[i] <= LONGEST_ROW:  # its products mean nothing
            for lane in range(n_lanes):
                low[lane] = -np.inf
        for lane in range(n_lanes):
            if low[lane] < best[k - 1]:
                insert(np.float64(low[lane]), lane, best, first)
        # The most promising lanes come first, so that the limit falls early; then all others below it.
        for t in range(k):
            lane = first[t]
            if lane >= 0:
                compare_with_lane(rows[i], points[lane], ids[lane], weights, near, found)
                low[lane] = np.nan  # done: not below any limit
        limit = limit_of(near, least, unit, lengths[i])
        for lane in range(n_lanes):
            if low[lane] <= limit:
                compare_with_lane(rows[i], points[lane], ids[lane], weights, near, found)
                limit = limit_of(near, least, unit, lengths[i])


@kernel
def nearest_by_products(
    left, rows, lengths, tiles, reach, rounding, tiny, points, ids, weights, least, unit, lows, room, best, first,
    squares, numbers,
):  # fmt: skip
    """Fill squares and numbers (m, v, k) with the k nearest points of each row; one call, without the interpreter."""
    # `left` (m, d + 1) are the rows in the unit of the products, and a column of ones. Scratch, allocated outside
    # because that compiles faster: lows (step, lanes) and room (step, points of a tile), best and first (k,).
    step, w = lows.shape[0], reach.shape[1]
    for start in range(0, left.shape[0], step):
        stop = min(start + step, left.shape[0])
        some, products = lengths[start:stop], room[: stop - start]
        for t in range(tiles.shape[0]):
            np.dot(left[start:stop], tiles[t], products)
            lane_minima(products, some, reach[t], rounding, tiny, t * w, lows)
        nearest_in_lanes(
            lows, rows[start:stop], points, ids, weights, least, unit, some, best, first, squares[start:stop],
            numbers[start:stop],
        )  # fmt: skip
