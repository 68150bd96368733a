"""The smallest entries of every row of a matrix, and what belongs to them."""

import numpy as np

from eocc.kernels.compile import kernel


@kernel
def smallest_entries(rows, least, values):
    """Fill `values` (m, k) with the k smallest entries of each row, in order.

    Only finite entries above `least` count; where there are fewer than k, infinity fills up.
    """
    k = values.shape[1]
    for i in range(rows.shape[0]):
        row, near = rows[i], values[i]
        for t in range(k):
            near[t] = np.inf
        farthest = np.inf
        for j in range(row.shape[0]):
            value = row[j]
            if value < farthest:
                if value > least:
                    t = k - 1
                    while t > 0 and near[t - 1] > value:
                        near[t] = near[t - 1]
                        t -= 1
                    near[t] = value
                    farthest = near[k - 1]


@kernel
def mean_within(rows, bounds, values, means):
    """Fill `means` (m,) with the mean of values[j] over the entries rows[i, j] <= bounds[i]: at least one is."""
    for i in range(rows.shape[0]):
        row, bound = rows[i], bounds[i]
        total, count = 0.0, 0
        for j in range(row.shape[0]):
            if row[j] <= bound:
                total += values[j]
                count += 1
        means[i] = total / count


@kernel
def order_statistics(rows, places, room, out):
    """Fill out[i, t] with the entry of rank places[t] (0 the least) of row i; `places` rise, `room` (r,) is to work in.

    The highest rank is sought first, by parting the row round a pivot again and again; the others lie to its left.
    """
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            room[j] = rows[i, j]
        last = rows.shape[1] - 1
        for t in range(places.shape[0] - 1, -1, -1):
            rank = places[t]
            low, high = 0, last
            while low < high:
                a, b, c = room[low], room[(low + high) // 2], room[high]
                pivot = max(min(a, b), min(max(a, b), c))
                left, right = low, high
                while left <= right:
                    while room[left] < pivot:
                        left += 1
                    while room[right] > pivot:
                        right -= 1
                    if left <= right:
                        room[left], room[right] = room[right], room[left]
                        left += 1
                        right -= 1
                if rank <= right:
                    high = right
                elif rank >= left:
                    low = left
                else:
                    break
            out[i, t] = room[rank]
            last = rank
