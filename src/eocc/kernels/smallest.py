"""Rows of dissimilarities -> their smallest entries, and means over these; rows -> the nearest points."""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import helper, inlined_kernel, kernel
from eocc.kernels.distances import squares_by_columns

# Dissimilarities within this factor are equal up to rounding.
TIED = 1 + 1e-9


@inlined_kernel
def insert_value(value, smallest):
    """Insert a value into the smallest so far, ascending."""
    place = smallest.shape[0] - 1
    if value < smallest[place]:
        while place > 0 and value < smallest[place - 1]:
            smallest[place] = smallest[place - 1]
            place -= 1
        smallest[place] = value


@inlined_kernel
def insert(value, number, near, numbers, i):
    """Insert a value with its number into the smallest so far of row i, sorted by (value, number); -1 is padding."""
    # Row and place are indices, and there is one way out: to count the references of a slice, or those that an early
    # return leaves behind, would take longer than the insertion.
    last = near.shape[1] - 1
    place = last if number >= 0 else -1
    while place >= 0 and (value < near[i, place] or (value == near[i, place] and number < numbers[i, place])):
        if place < last:
            near[i, place + 1], numbers[i, place + 1] = near[i, place], numbers[i, place]
        near[i, place], numbers[i, place] = value, number
        place -= 1


@helper
def place_of_least(values):
    """Return the place of the least value, the first of equal ones."""
    # Not argmin: a kernel that uses it imports scipy.linalg when it is loaded, 0.2 s.
    least = 0
    for k in range(1, values.shape[0]):
        if values[k] < values[least]:
            least = k
    return least


@kernel
def smallest_entries(rows, least, values):
    """Fill `values` (m, k) with the k smallest entries above `least` of each row, in order; infinity if fewer."""
    for i in range(rows.shape[0]):
        row, near = rows[i], values[i]
        near[:] = np.inf
        for j in range(row.shape[0]):
            if row[j] > least:
                insert_value(row[j], near)


class LocalScales(NamedTuple):
    """The local scale of each prototype, `means` (r,): its mean distance to the m nearest that are no copies.

    `radii` and `following` (r,) are the distances to the m-th of these and to the next one. Copies are rows within the
    `tolerance`. A row that is left out does not count in the scales of others either: see `scale_without`.
    """

    means: Any
    radii: Any
    following: Any
    tolerance: Any


@inlined_kernel
def scale_without(scales, j, distance, m):
    """Return the local scale of prototype j without a row at this distance, whose place the next one takes."""
    if scales.tolerance < distance <= scales.radii[j] * TIED:
        return scales.means[j] + (scales.following[j] - distance) / m
    return scales.means[j]


@kernel
def mean_scales(rows, bounds, scales, m, is_left_out, means):
    """Fill `means` (n,) with the mean local scale of the prototypes j with rows[i, j] <= bounds[i], at least one."""
    # Row i does not count in these scales if it is left out.
    for i in range(rows.shape[0]):
        row, bound = rows[i], bounds[i]
        total, count = 0.0, 0
        for j in range(row.shape[0]):
            if row[j] <= bound:
                total += scale_without(scales, j, row[j], m) if is_left_out[i] else scales.means[j]
                count += 1
        means[i] = total / count


class Lists(NamedTuple):
    """The nearest points of each row, ascending: `distances` and `numbers` (m, k); infinity and -1 if there are fewer.

    Of listed points at the same distance, the one with the lower number comes first. Which of several points as far as
    the last one are listed is not specified. After a finite distance with number -1, the others are at least so far.
    """

    distances: Any
    numbers: Any


class Remaining(NamedTuple):
    """Which points count for row i: point j `counts`[j] times, once less if it is own[i], once less if it is twins[i].

    Both may be -1. Point j has the local scale of prototype first[j].
    """

    own: Any
    twins: Any
    counts: Any
    first: Any
    scales: Any


@kernel
def summarise_lists(lists, left, above, m, is_whole, near, means, is_short):
    """Fill `near` (n, k) with the k smallest distances above `above`, `means` with the mean scale of the m nearest."""
    # `lists` are distances and numbers (n, l) of the nearest points, ascending; `left` says which count. Points as near
    # as the m-th count too. `is_short` is set where the list may be too short to tell, never if it is complete. After a
    # number of -1, the distance is a bound of those that are not listed.
    distances, numbers, own, twins = lists.distances, lists.numbers, left.own, left.twins
    k, length = near.shape[1], distances.shape[1]
    for i in range(distances.shape[0]):
        filled, last = 0, 0
        for t in range(length):
            j = numbers[i, t]
            if j < 0:
                break
            last = t + 1
            if distances[i, t] > above:
                for _ in range(min(left.counts[j] - (j == own[i]) - (j == twins[i]), k - filled)):
                    near[i, filled] = distances[i, t]
                    filled += 1
        for t in range(filled, k):
            near[i, t] = np.inf
        limit, total, count = near[i, m - 1] * TIED, 0.0, 0
        for t in range(last):
            j = numbers[i, t]
            if above < distances[i, t] <= limit:
                more = left.counts[j] - (j == own[i]) - (j == twins[i])
                scale = left.scales.means[left.first[j]]
                if own[i] >= 0:
                    scale = scale_without(left.scales, left.first[j], distances[i, t], m)
                total += scale * more
                count += more
        means[i] = total / count
        end = distances[i, min(last, length - 1)]  # points that are not listed are at least as far
        is_short[i] = not is_whole and end < np.inf and (filled < k or end <= limit)


@kernel
def nearest_by_scan(rows, columns, room, squares, numbers):
    """Insert the k nearest points of each row into squares and numbers (m, k), filled with infinity and -1."""
    # `columns` (d, n) are those of the points, and `room` (n,) is for their squared distances.
    for i in range(rows.shape[0]):
        squares_by_columns(rows[i], columns, room)
        for j in range(room.shape[0]):
            if room[j] <= squares[i, squares.shape[1] - 1]:
                insert(room[j], j, squares, numbers, i)
