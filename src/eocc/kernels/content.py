"""Rows of 64-bit words -> a hash of each row, and the key by which rows are chosen.

Only operations that every machine rounds alike are used, so the same rows give the same hashes and keys everywhere.
"""

import numpy as np

from eocc.kernels.compile import inlined_kernel, kernel

# The golden ratio as a fraction of 2^64, and the multipliers of splitmix64 (Steele, Lea and Flood 2014).
GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# The bits of -0.0, which counts as 0.0.
MINUS_ZERO, ZERO = np.uint64(2**63), np.uint64(0)
# The lowest bits of a hash name its cell, the others are the random number of the row.
CELL_BITS = 20
CELL_MASK, CELL_SHIFT = np.uint64(2**CELL_BITS - 1), np.uint64(CELL_BITS)
STEP = 2.0 ** (CELL_BITS - 64)
HALF_ROOT, LOG_2 = 0.7071067811865476, 0.6931471805599453
# 1, 1/3, 1/5, ...: enough terms of the series of atanh for all digits of a double.
ODD_FRACTIONS = 1.0 / np.arange(1.0, 25.0, 2.0)


@inlined_kernel
def mix(word):
    """Return the word with its bits mixed, as splitmix64 does."""
    word = (word ^ (word >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return word ^ (word >> np.uint64(31))


@kernel
def row_hashes(words):
    """Return 64 mixed bits (n,) of each row of `words` (n, d)."""
    hashes = np.empty(words.shape[0], np.uint64)
    for i in range(words.shape[0]):
        state = ZERO
        for k in range(words.shape[1]):
            word = words[i, k]
            state = mix((state ^ (ZERO if word == MINUS_ZERO else word)) + GOLDEN)
        hashes[i] = state
    return hashes


@inlined_kernel
def minus_log(u):
    """Return -log(u) for u in (0, 1)."""
    # -log(m 2^-e) = e log 2 - 2 atanh(s), s = (m - 1) / (m + 1), with m between the roots of 1/2 and 2.
    exponent = 0.0
    while u < HALF_ROOT:
        u *= 2.0
        exponent += 1.0
    s = (u - 1.0) / (u + 1.0)
    square, total = s * s, 0.0
    for k in range(ODD_FRACTIONS.shape[0] - 1, -1, -1):
        total = total * square + ODD_FRACTIONS[k]
    return exponent * LOG_2 - 2.0 * s * total


@kernel
def content_keys(hashes, counts, keys):
    """Fill `keys` (n,) with -log(u) / count of the cell, where u in (0, 1) comes from the other bits of the hash."""
    for i in range(hashes.shape[0]):
        u = (np.float64(hashes[i] >> CELL_SHIFT) + 0.5) * STEP
        keys[i] = minus_log(u) / counts[hashes[i] & CELL_MASK]
