"""Cells of a table -> how strange each is among the training cells of its column.

-log p of a cell is log(n / (c + 1)), at least 0, if c of n training cells are at least as strange. A training cell,
which is left out, is itself among them: log(n / c).
"""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import helper, kernel

# The most that a number beyond the range of the other cells adds. A column that is constant but for one row has no
# range; without this limit, such rows outrank all others (AUC on AR 0.766, with it 0.784).
MOST_BEYOND = 3.0


class Columns(NamedTuple):
    """How strange the values of u columns are.

    For a column of numbers, ranked[starts[k]:starts[k + 1]] are the distances of the training cells from `middles`, in
    units of `above` or `below`, ascending; `least` is the smallest distance that is no rounding error. For a column of
    codes, ranked[starts[k]:starts[k + 1]] is -log p of each code, followed by that of a code that training does not
    have. `gaps` (u,) is -log p of a gap, `counts` (u + 1,) that of a number of gaps in a row.
    """

    is_code: Any
    starts: Any
    ranked: Any
    middles: Any
    above: Any
    below: Any
    least: Any
    gaps: Any
    counts: Any


@helper
def distance_from_middle(value, k, columns):
    """Return the distance of a number from the median of column k, in units of the deviation on its side."""
    apart = value - columns.middles[k]
    return apart / columns.above[k] if apart >= 0 else -apart / columns.below[k]


@helper
def strangeness_of_distance(far, k, columns, left_out):
    """Return -log p of a number at this distance from the median."""
    low, last, n = columns.starts[k], columns.starts[k + 1], columns.starts[k + 1] - columns.starts[k]
    high = last
    while low < high:
        middle = (low + high) // 2
        if columns.ranked[middle] < far:
            low = middle + 1
        else:
            high = middle
    found = np.log(n / min(last - low + 1.0 - left_out, n))
    if low == last - left_out and n > left_out:  # beyond the range of the other cells
        largest = max(columns.ranked[last - 1 - left_out], columns.least[k])
        found += min(np.log(max(far, largest) / largest), MOST_BEYOND)
    return found


@helper
def strangeness_of_code(value, k, columns):
    """Return -log p of a code."""
    first, last = columns.starts[k], columns.starts[k + 1]
    return columns.ranked[first + int(value)] if value < last - first - 1 else columns.ranked[last - 1]


@kernel
def cell_strangeness(values, columns, out):
    """Fill out[i, k] with -log p of the cell values[i, k] of a new row, and the last column with that of its gaps."""
    u = values.shape[1]
    for i in range(values.shape[0]):
        gaps = 0
        for k in range(u):
            value = values[i, k]
            if np.isnan(value):
                out[i, k] = columns.gaps[k]
                gaps += 1
            elif columns.is_code[k]:
                out[i, k] = strangeness_of_code(value, k, columns)
            elif columns.starts[k] == columns.starts[k + 1]:
                out[i, k] = 0.0
            else:
                out[i, k] = strangeness_of_distance(distance_from_middle(value, k, columns), k, columns, 0)
        out[i, u] = columns.counts[gaps]


@kernel
def strangest_cells(values, columns, left_out, out):
    """Fill out[i] with the largest -log p of a row; left_out is 1 if the rows are the training rows, else 0."""
    for i in range(values.shape[0]):
        gaps, most, p = 0, 0.0, 1.0
        for k in range(values.shape[1]):
            value, first, last = values[i, k], columns.starts[k], columns.starts[k + 1]
            found = 0.0
            if np.isnan(value):
                found = columns.gaps[k]
                gaps += 1
            elif columns.is_code[k]:
                found = strangeness_of_code(value, k, columns)
            elif last > first:
                far = distance_from_middle(value, k, columns)
                # Most cells are nearer than the one that would be as strange as the strangest so far.
                place = int(last + 1 - left_out - p * (last - first))
                if place < first or far > columns.ranked[min(place, last - 1)] or place >= last - 1:
                    found = strangeness_of_distance(far, k, columns, left_out)
            if found > most:
                most, p = found, np.exp(-found)
        out[i] = max(most, columns.counts[gaps])
