"""One series against many -> their dynamic time warping distances, four at a time.

A cell depends on the previous one, so a single pair cannot be vectorised. Series of equal length are therefore stored
in groups of LANES: step j of lane l at j * LANES + l. Each lane gives the same result as a single pair.
"""

import numpy as np

from eocc.kernels.compile import kernel

LANES = 4  # doubles in a vector register


@kernel
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


@kernel
def extend_paths(costs, above, own):
    """Fill own[t + LANES] with the cost of the cheapest path to each cell: from above, from the left or diagonally."""
    for t in range(costs.shape[0]):
        diagonal, vertical, horizontal = above[t], above[t + LANES], own[t]
        least = diagonal if diagonal < vertical else vertical
        least = least if least < horizontal else horizontal
        own[t + LANES] = least + costs[t]


@kernel
def warp_group(series, weights, band, columns, start, length, costs, above, own):
    """Return the row whose last LANES cells, up to (length + 1) * LANES, hold the costs of the complete paths."""
    # The series of the group have `length` steps, from columns[:, start]. Cell j of a row is at (j + 1) * LANES. The
    # cells next to the band are infinite, and no others are read. The band extends `half` steps beyond the two
    # diagonals through the first and through the last cell.
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
    """Fill row[j] with sqrt(cost of the cheapest path to series j) / largest, for the groups from `first` on."""
    # Group g holds the series members[g] (-1 for an unused lane), at columns[:, starts[g] : starts[g + 1]]. `room`
    # (3, LANES * (longest + 2)) is scratch.
    for g in range(first, members.shape[0]):
        length = (starts[g + 1] - starts[g]) // LANES
        ends = warp_group(series, weights, band, columns, starts[g], length, room[0], room[1], room[2])
        for lane in range(LANES):
            if members[g, lane] >= 0:
                row[members[g, lane]] = np.sqrt(ends[length * LANES + lane]) / largest
