"""Packed bits -> their Tanimoto dissimilarities."""

import numpy as np

from eocc.kernels.compile import inlined_kernel, kernel

PAIRS, QUADS, NIBBLES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
BYTES = np.uint64(0x0101010101010101)


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
