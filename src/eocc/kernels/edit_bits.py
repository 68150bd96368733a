"""Long sequences -> their edit operations: 64 cells of the recursion per word, then a traceback through the bits.

Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances" (2003), by blocks. Ties are broken
as in ``edit_lanes``.
"""

import numpy as np

from eocc.kernels.compile import kernel

ONE, LAST = np.uint64(1), np.uint64(63)


@kernel
def mark_places(pattern, slots, marks):
    """Set bit i of marks[slots[s]] where pattern[i] = s; slot 0, for symbols not in the pattern, stays empty."""
    n_slots = 0
    for i in range(pattern.shape[0]):
        if slots[pattern[i]] == 0:
            n_slots += 1
            slots[pattern[i]] = n_slots
            marks[n_slots, :] = 0
        marks[slots[pattern[i]], i >> 6] |= ONE << np.uint64(i & 63)


@kernel
def fill_row(own, before_up, before_down, up, down, n_words):
    """Fill the differences along a row: a bit of `up` if the next cell is 1 more, of `down` if it is 1 less."""
    # Return the differences to the previous row, for the cells of the last word: (1 more, 1 less).
    carry_more, carry_less = ONE, np.uint64(0)
    more, less = ONE, np.uint64(0)
    for w in range(n_words):
        positive, negative = before_up[w], before_down[w]
        x = own[w] | carry_less
        same = (((x & positive) + positive) ^ positive) | x | negative
        more, less = negative | ~(same | positive), same & positive
        shifted_more, shifted_less = (more << ONE) | carry_more, (less << ONE) | carry_less
        carry_more, carry_less = more >> LAST, less >> LAST
        up[w], down[w] = shifted_less | ~(same | shifted_more), shifted_more & same
    return more, less


@kernel
def has_bit(row, i):
    """Return bit i of a row of words."""
    return (row[i >> 6] >> np.uint64(i & 63)) & ONE != 0


@kernel
def count_deletions(up, down, i, j):
    """Return the number of deletions on the path from cell i of row j back to the origin."""
    found = 0
    while i > 0 and j > 0:
        if has_bit(up[j], i - 1):
            found += 1
            i -= 1
        else:
            j -= 1
            if not has_bit(down[j], i - 1):
                i -= 1
    return found + i


@kernel
def align_pair(pattern, sequence, slots, marks, up, down):
    """Return (distance, deletions) from the pattern to the sequence; row 0 of `up` holds ones, of `down` zeros."""
    n, m = pattern.shape[0], sequence.shape[0]
    if n == 0:
        return m, 0
    n_words, last = (n + 63) >> 6, np.uint64((n - 1) & 63)
    distance = n
    for j in range(m):
        more, less = fill_row(marks[slots[sequence[j]]], up[j], down[j], up[j + 1], down[j + 1], n_words)
        distance += np.int64((more >> last) & ONE) - np.int64((less >> last) & ONE)
    while n > 0 and m > 0 and pattern[n - 1] == sequence[m - 1]:
        n, m = n - 1, m - 1
    return distance, count_deletions(up, down, n, m)


@kernel
def edit_pairs(patterns, chosen, sequences, numbers, scratch, counts):
    """Fill counts[:, t], distance and deletions, from pattern chosen[t] to sequence numbers[t]."""
    # `patterns` and `sequences` are (symbols, starts): number i is symbols[starts[i] : starts[i + 1]]. `scratch` is
    # (slots (zeros, one per symbol), marks (a row per slot), up and down (a row more than the longest sequence)).
    symbols, starts = patterns
    others, other_starts = sequences
    slots, marks, up, down = scratch
    up[0, :] = ~np.uint64(0)
    down[0, :] = 0
    marks[0, :] = 0
    pattern = symbols[:0]
    for t in range(chosen.shape[0]):
        if t == 0 or chosen[t] != chosen[t - 1]:
            for symbol in pattern:
                slots[symbol] = 0
            pattern = symbols[starts[chosen[t]] : starts[chosen[t] + 1]]
            mark_places(pattern, slots, marks)
        sequence = others[other_starts[numbers[t]] : other_starts[numbers[t] + 1]]
        counts[0, t], counts[1, t] = align_pair(pattern, sequence, slots, marks, up, down)
