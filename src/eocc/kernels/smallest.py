"""Rows of dissimilarities -> their smallest entries, and means over these."""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import inlined_kernel, kernel, minimising_kernel

GROUPS = 8  # two vector registers of doubles
# Dissimilarities within this factor are equal up to rounding.
TIED = 1 + 1e-9


@minimising_kernel
def bound_of_eight(row):
    """Return an upper bound of the 8 smallest entries: the largest of the minima of 8 groups of columns."""
    # Columns 0, 8, 16, ... form a group, and so on; those beyond the last multiple of 8 are ignored. With fewer than 8
    # columns the bound is infinity. The minima are separate variables, so that they stay in registers.
    a = b = c = d = e = f = g = h = np.inf
    for start in range(0, row.shape[0] - GROUPS + 1, GROUPS):
        part = row[start : start + GROUPS]
        a = part[0] if part[0] < a else a
        b = part[1] if part[1] < b else b
        c = part[2] if part[2] < c else c
        d = part[3] if part[3] < d else d
        e = part[4] if part[4] < e else e
        f = part[5] if part[5] < f else f
        g = part[6] if part[6] < g else g
        h = part[7] if part[7] < h else h
    return max(max(max(a, b), max(c, d)), max(max(e, f), max(g, h)))


@inlined_kernel
def sort_first(few, near):
    """Fill `near` with the smallest of a few numbers, ascending; infinity if there are fewer."""
    for t in range(near.shape[0]):
        near[t] = np.inf
    for j in range(few.shape[0]):
        value = few[j]
        for t in range(near.shape[0]):
            value, near[t] = max(value, near[t]), min(value, near[t])


@inlined_kernel
def sift_above(row, least, kept):
    """Write the entries of `row` above `least` to `kept`, in their order; return their number."""
    # The loop has no branch, which would be unpredictable, so `kept` needs one extra element.
    count = 0
    for j in range(row.shape[0]):
        kept[count] = row[j]
        count += row[j] > least
    return count


@kernel
def smallest_entries(rows, least, values):
    """Fill `values` (m, k) with the k smallest entries of each row, in order."""
    # Only entries above `least` count; infinity is used if there are fewer than k. The entries up to an upper bound of
    # the k-th are collected and sorted.
    k = values.shape[1]
    above, few = np.empty(rows.shape[1] + 1), np.empty(rows.shape[1] + 1)
    for i in range(rows.shape[0]):
        row = rows[i]
        if least >= 0:
            row = above[: sift_above(row, least, above)]
        bound = bound_of_eight(row) if k <= GROUPS else np.inf
        count = 0
        for j in range(row.shape[0]):
            few[count] = row[j]
            count += row[j] <= bound
        sort_first(few[:count], values[i])


@kernel
def mean_within(rows, bounds, values, means):
    """Fill `means` (m,) with the mean of values[j] over the entries rows[i, j] <= bounds[i], at least one."""
    for i in range(rows.shape[0]):
        row, bound = rows[i], bounds[i]
        total, count = 0.0, 0
        for j in range(row.shape[0]):
            if row[j] <= bound:
                total += values[j]
                count += 1
        means[i] = total / count


class Lists(NamedTuple):
    """The nearest points of each row, ascending: `distances` and `numbers` (m, k); infinity and -1 if there are fewer.

    Of listed points at the same distance, the one with the lower number comes first. Which of several points as far as
    the last one are listed is not specified.
    """

    distances: Any
    numbers: Any


class Remaining(NamedTuple):
    """Which points count for row i: point j `counts`[j] times, once less if it is own[i], once less if it is twins[i].

    Both may be -1. Point j has the value values[first[j]].
    """

    own: Any
    twins: Any
    counts: Any
    first: Any
    values: Any


@kernel
def summarise_lists(lists, left, above, m, is_whole, near, means, is_short):
    """Fill `near` (n, k) with the k smallest distances above `above`, `means` with the mean value of the m nearest."""
    # `lists` are distances and numbers (n, l) of the nearest points, ascending; `left` says which count. Points as near
    # as the m-th count too. `is_short` is set where the list may be too short to tell, never if it is complete.
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
                total += left.values[left.first[j]] * more
                count += more
        means[i] = total / count
        end = distances[i, min(last, length - 1)]  # points that are not listed are at least as far
        is_short[i] = not is_whole and end < np.inf and (filled < k or end <= limit)
