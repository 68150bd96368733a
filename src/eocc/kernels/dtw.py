"""One series against many -> their dynamic time warping distances, four at a time.

A cell depends on the previous one, so a single pair cannot be vectorised. Series of equal length are therefore stored
in groups of LANES: step j of lane l at j * LANES + l. Each lane gives the same result as a single pair.
"""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import helper, kernel
from eocc.kernels.smallest import insert

LANES = 4  # doubles in a vector register


class Groups(NamedTuple):
    """Series in groups of up to LANES of equal length, shortest first; a member of -1 is an unused lane."""

    columns: Any
    starts: Any
    members: Any


@helper
def local_costs(point, weights, columns, first, costs):
    """Fill costs_t with sum_k weights_k (point_k - columns_k,first+t)^2, summed in the order of k."""
    value, weight, column = point[0], weights[0], columns[0][first : first + costs.shape[0]]
    for t in range(costs.shape[0]):
        difference = value - column[t]
        costs[t] = weight * (difference * difference)
    for k in range(1, point.shape[0]):
        value, weight, column = point[k], weights[k], columns[k][first : first + costs.shape[0]]
        for t in range(costs.shape[0]):
            difference = value - column[t]
            costs[t] += weight * (difference * difference)


@helper
def extend_paths(costs, above, own):
    """Fill own[t + LANES] with the cost of the cheapest path to each cell: from above, from the left or diagonally."""
    for t in range(costs.shape[0]):
        diagonal, vertical, horizontal = above[t], above[t + LANES], own[t]
        least = diagonal if diagonal < vertical else vertical
        least = least if least < horizontal else horizontal
        own[t + LANES] = least + costs[t]


@helper
def warp_group(series, weights, band, columns, start, length, room):
    """Return the row whose last LANES cells, up to (length + 1) * LANES, hold the costs of the complete paths."""
    # The series of the group have `length` steps, from columns[:, start]. Cell j of a row is at (j + 1) * LANES. The
    # cells next to the band are infinite, and no others are read. The band extends `half` steps beyond the two
    # diagonals through the first and through the last cell. `room` (3, LANES * (longest + 2)) is scratch.
    costs, above, own = room[0], room[1], room[2]
    n = series.shape[0]
    half = int(np.rint(band * max(n, length)))
    below, beyond = half + max(0, n - length), half + max(0, length - n)
    above[:LANES] = 0.0
    above[LANES : (min(length, beyond + 1) + 1) * LANES] = np.inf
    for i in range(n):
        low, high = max(0, i - below) * LANES, min(length, i + beyond + 1) * LANES
        local_costs(series[i], weights, columns, start + low, costs[low:high])
        own[low : low + LANES] = np.inf
        extend_paths(costs[low:high], above[low : high + LANES], own[low : high + LANES])
        own[high + LANES : high + 2 * LANES] = np.inf
        above, own = own, above
    return above


@kernel
def warp_groups(series, weights, band, groups, chosen, largest, room, found):
    """Fill found[t] (LANES,) with sqrt(cost of the cheapest path) / largest to the series of group chosen[t]."""
    # `groups` is (columns, starts): group g is columns[:, starts[g] : starts[g + 1]].
    columns, starts = groups
    for t in range(chosen.shape[0]):
        start, length = starts[chosen[t]], (starts[chosen[t] + 1] - starts[chosen[t]]) // LANES
        ends = warp_group(series, weights, band, columns, start, length, room)
        for lane in range(LANES):
            found[t, lane] = np.sqrt(ends[length * LANES + lane]) / largest


@helper
def fill_envelope(series, length, band, low, high):
    """Fill low_jk and high_jk with the least and the largest value that step j of another series may meet."""
    # The steps of the series that the band admits; the first and the last step meet each other.
    n = series.shape[0]
    half = int(np.rint(band * max(n, length)))
    below, beyond = half + max(0, n - length), half + max(0, length - n)
    for j in range(length):
        first = n - 1 if j == length - 1 else max(0, j - beyond)
        last = 0 if j == 0 else min(n - 1, j + below)
        for k in range(series.shape[1]):
            least = most = series[last, k]
            for i in range(min(first, last), max(first, last) + 1):
                least, most = min(least, series[i, k]), max(most, series[i, k])
            low[j, k], high[j, k] = least, most


@kernel
def bound_groups(series, weightings, band, groups, low, high, totals, bounds):
    """Fill bounds[v, g] with a lower bound of the cost of any path from the series to a series of group g."""
    # Every step of the other series costs at least its distance from the envelope (Keogh's bound). `low` and `high`
    # (longest, channels) and `totals` (LANES,) are scratch.
    columns, starts = groups
    known = -1
    for g in range(starts.shape[0] - 1):
        length = (starts[g + 1] - starts[g]) // LANES
        if length != known:  # groups of equal length follow each other
            fill_envelope(series, length, band, low, high)
            known = length
        for v in range(weightings.shape[0]):
            for lane in range(LANES):
                totals[lane] = 0.0
            for k in range(series.shape[1]):
                weight, column = weightings[v, k], columns[k]
                for j in range(length):
                    bottom, top, place = low[j, k], high[j, k], starts[g] + j * LANES
                    for lane in range(LANES):
                        value = column[place + lane]
                        outside = max(value - top, bottom - value, 0.0)
                        totals[lane] += weight * (outside * outside)
            least = totals[0]
            for lane in range(1, LANES):
                least = min(least, totals[lane])
            bounds[v, g] = least


@kernel
def nearest_in_groups(series, weightings, factors, scales, groups, lowest, room, nearest):
    """Put the nearest series of all groups into `nearest`, distances and numbers (v, k); return how many were compared.

    Groups come in the order of their bounds. One is left out if its bounds are above the k-th smallest so far.
    """
    # `scales` is (band, largest); `groups` are those above;
    # `lowest` is the bounds (v, groups) and their order. Distances under weighting v are factors[v] times those at
    # weightings[v], or at weightings[0] if there is only one.
    (band, largest), (columns, starts, members) = scales, groups
    (bounds, turns), (near, numbers) = lowest, nearest
    compared, ends = 0, room[0]
    for g in turns:
        is_near = False
        for v in range(factors.shape[0]):
            is_near = is_near or bounds[v, g] <= near[v, near.shape[1] - 1]
        if not is_near:
            continue
        compared, length = compared + 1, (starts[g + 1] - starts[g]) // LANES
        for v in range(factors.shape[0]):
            if v < weightings.shape[0]:
                ends = warp_group(series, weightings[v], band, columns, starts[g], length, room)
            for lane in range(LANES):
                distance = np.sqrt(ends[length * LANES + lane]) / largest
                insert(factors[v] * distance, members[g, lane], near, numbers, v)
    return compared
