"""Rows -> their distances: Euclidean from a Gram matrix (fast) or from differences (exact), Tanimoto of packed bits."""

import numpy as np

from eocc.kernels.compile import contracting_kernel, inlined_kernel, kernel, summing_kernel

# A squared distance g_ii + g_jj - 2 g_ij below this share of g_ii + g_jj has lost too many digits and is computed again
# from differences. Above it, the relative error of the root is about 1e-10, because that of the product is about 1e-16.
CANCELLATION = 1e-6
# Distances are rounded to 36 bits, a relative error of 1e-11, so that those that differ by rounding only are ties,
# which endpoints break on every processor alike. departure: ties
SPARE_BITS = 16
TILE = 64  # 32 KiB of doubles: a tile fits into the first-level cache
# Masks of every second bit, of every second pair, of every second group of 4, and of the first of 8.
PAIRS, QUADS, NIBBLES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
BYTES = np.uint64(0x0101010101010101)


@summing_kernel
def row_distance(a, b):
    """Return ||a - b||_2, summed in a fixed order."""
    total = 0.0
    for k in range(a.shape[0]):
        difference = a[k] - b[k]
        total += difference * difference
    return np.sqrt(total)


@kernel
def spread_copies(number, n_distinct, matrix):
    """Turn the distances of the distinct rows, (u, u) at the beginning of `matrix`, into those of all rows, (n, n)."""
    # number[i] <= i is the distinct row that row i equals. From the last row up, nothing is overwritten before it is
    # read, except within the row itself, which is copied.
    n, u, flat = number.shape[0], n_distinct, matrix.reshape(-1)
    for i in range(n - 1, -1, -1):
        row = flat[number[i] * u : (number[i] + 1) * u].copy()
        for j in range(n):
            flat[i * n + j] = row[number[j]]


@kernel
def mirror(matrix):
    """Copy the upper triangle onto the lower one, tile by tile."""
    n = matrix.shape[0]
    for top in range(0, n, TILE):
        bottom = min(top + TILE, n)
        for left in range(top, n, TILE):
            for j in range(left, min(left + TILE, n)):
                for i in range(top, min(bottom, j)):
                    matrix[j, i] = matrix[i, j]


@kernel
def distances_from_gram(rows, scale, cancellation, gram, norms):
    """Turn the upper triangle of `gram` = rows rows^T, in place, into ||rows_i - rows_j|| * scale."""
    # Squares below the share `cancellation` of the norms are computed again. `norms` (n,) is scratch.
    n = rows.shape[0]
    for i in range(n):
        norms[i] = gram[i, i]
    for i in range(n):
        # Slices and plain conditionals, so that the loop is vectorised.
        inner, other = gram[i, i + 1 :], norms[i + 1 :]
        own = norms[i]
        cancelled = 0
        for j in range(inner.shape[0]):
            size = own + other[j]
            square = size - 2.0 * inner[j]
            cancelled += 1 if square <= cancellation * size else 0
            square = square if square > 0.0 else 0.0
            inner[j] = np.sqrt(square) * scale
        if cancelled > 0:  # the entries that lost their digits
            for j in range(i + 1, n):
                if (gram[i, j] / scale) ** 2 <= cancellation * (own + norms[j]):
                    gram[i, j] = row_distance(rows[i], rows[j]) * scale
        gram[i, i] = 0.0
    mirror(gram)


@kernel
def cross_distances(left, right, scale, out):
    """Fill out_ij with ||left_i - right_j|| * scale; a row gives the same numbers in every batch."""
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            out[i, j] = row_distance(left[i], right[j]) * scale


@contracting_kernel
def squares_by_columns(row, columns, squares):
    """Fill `squares` with ||row - r_j||^2 for all r_j, given by their `columns`, summed in the order of the columns."""
    for j in range(squares.shape[0]):
        squares[j] = 0.0
    first = 0
    while first + 4 <= row.shape[0]:  # four columns per pass, to load and store the squares less often
        a, b, c, d = columns[first], columns[first + 1], columns[first + 2], columns[first + 3]
        x, y, z, w = row[first], row[first + 1], row[first + 2], row[first + 3]
        for j in range(squares.shape[0]):
            square = squares[j] + (x - a[j]) * (x - a[j])
            square += (y - b[j]) * (y - b[j])
            square += (z - c[j]) * (z - c[j])
            squares[j] = square + (w - d[j]) * (w - d[j])
        first += 4
    for k in range(first, row.shape[0]):
        value, column = row[k], columns[k]
        for j in range(squares.shape[0]):
            squares[j] += (value - column[j]) * (value - column[j])


@kernel
def cross_distances_by_columns(left, right_columns, scale, out):
    """Fill out_ij with ||left_i - right_j|| * scale; `right_columns` is right^T, faster for many prototypes."""
    for i in range(left.shape[0]):
        row = out[i]
        squares_by_columns(left[i], right_columns, row)
        for j in range(row.shape[0]):
            row[j] = np.sqrt(row[j]) * scale


@kernel
def sums_among(distances, members, sums):
    """Fill `sums` with the sum of each member's distances to all members; return the largest distance."""
    largest = 0.0
    for i in range(members.shape[0]):
        row, total = distances[members[i]], 0.0
        for j in range(members.shape[0]):
            total += row[members[j]]
            largest = max(largest, row[members[j]])
        sums[i] = total
    return largest


@kernel
def pairs_among(distances, members, pairs):
    """Fill `pairs` with the distances of all pairs of members, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
    count = 0
    for i in range(members.shape[0]):
        row = distances[members[i]]
        for j in range(i + 1, members.shape[0]):
            pairs[count] = row[members[j]]
            count += 1


@kernel
def edge_lengths(rows, edges, scale, lengths):
    """Fill `lengths` with ||rows_a - rows_b|| * scale for every edge (a, b), from differences."""
    for e in range(edges.shape[0]):
        lengths[e] = row_distance(rows[edges[e, 0]], rows[edges[e, 1]]) * scale


@kernel
def drop_spare_bits(bits):
    """Round nonnegative numbers, given as their bits, to 36 bits."""
    half, mask = 1 << (SPARE_BITS - 1), -(1 << SPARE_BITS)
    for i in range(bits.shape[0]):
        bits[i] = (bits[i] + half) & mask


@kernel
def combine(components, weights, start, out):
    """Fill row i of `out` with sum_k weights_k components_k,start+i,j, summed in the order of k."""
    for i in range(out.shape[0]):
        row = out[i]
        for j in range(row.shape[0]):
            row[j] = 0.0
        for k in range(components.shape[0]):
            weight, part = weights[k], components[k, start + i]
            for j in range(row.shape[0]):
                row[j] += weight * part[j]


@inlined_kernel
def count_bits(word):
    """Return the number of ones in a word; the compiler turns this form into one instruction."""
    word -= (word >> np.uint64(1)) & PAIRS
    word = (word & QUADS) + ((word >> np.uint64(2)) & QUADS)
    word = (word + (word >> np.uint64(4))) & NIBBLES
    return (word * BYTES) >> np.uint64(56)


@kernel
def tanimoto_rows(left, left_counts, right, right_counts, out):
    """Fill out_ij with 1 - |left_i and right_j| / |left_i or right_j|, 0 for two empty rows."""
    for i in range(left.shape[0]):
        row = left[i]
        for j in range(right.shape[0]):
            other = right[j]
            total = np.uint64(0)
            for k in range(row.shape[0]):
                total += count_bits(row[k] & other[k])
            common = np.int64(total)
            union = left_counts[i] + right_counts[j] - common
            out[i, j] = (union - common) / max(union, 1)
