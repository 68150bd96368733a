"""Dynamic time warping of one series against many, four at a time.

A cell waits for the one before it, so a pair by itself leaves the processor idle. Series of equal length therefore lie
side by side in groups of LANES: step j of lane l at j * LANES + l. Each lane's arithmetic is the same as alone.
"""

import numpy as np

from eocc.kernels.compile import kernel

LANES = 4  # doubles in a vector register; a group with fewer series costs as much as a full one


@kernel
def local_costs(point, weights, columns, first, costs):
    """Fill costs_t with sum_k weights_k (point_k - columns_k,first+t)^2, always in the order of k."""
    value, weight, column = point[0], weights[0], columns[0][first : first + costs.shape[0]]
    for t in range(costs.shape[0]):
        difference = value - column[t]
        costs[t] = weight * (difference * difference)
    for k in range(1, point.shape[0]):
        value, weight, column = point[k], weights[k], columns[k][first : first + costs.shape[0]]
        for t in range(costs.shape[0]):
            difference = value - column[t]
            costs[t] += weight * (difference * difference)


@kernel
def extend_paths(costs, above, own):
    """Fill own[t + LANES] with the cheapest way to each cell: from above, from before, or from both at once."""
    for t in range(costs.shape[0]):
        diagonal, vertical, horizontal = above[t], above[t + LANES], own[t]
        least = diagonal if diagonal < vertical else vertical
        least = least if least < horizontal else horizontal
        own[t + LANES] = least + costs[t]


@kernel
def warp_group(series, weights, band, columns, start, length, costs, above, own):
    """Return the row whose last LANES cells, up to (length + 1) * LANES, cost the paths to a group's ends.

    The group's series have `length` steps, from columns[:, start]. Cell j of a row is at (j + 1) * LANES; beyond the
    band the cells next to it are infinite, and no others are ever read. The band runs from `half` steps below the lower
    of the diagonals through the first and through the last cell to as many above the upper one.
    """
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
def warp_row(series, weights, band, columns, starts, members, first, largest, room, row):
    """Fill row[j] with sqrt(cost of the cheapest path from `series` to series j) / largest, for groups from `first` on.

    Group g holds the series members[g] (-1 where a lane is idle), at columns[:, starts[g] : starts[g + 1]]. `room`
    (3, LANES * (longest + 2)) is room to work in.
    """
    for g in range(first, members.shape[0]):
        length = (starts[g + 1] - starts[g]) // LANES
        ends = warp_group(series, weights, band, columns, starts[g], length, room[0], room[1], room[2])
        for lane in range(LANES):
            if members[g, lane] >= 0:
                row[members[g, lane]] = np.sqrt(ends[length * LANES + lane]) / largest
