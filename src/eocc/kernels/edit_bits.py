"""Sequences -> their edit operations: 64 cells of the recursion per word, then a traceback through the bits.

Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances" (2003), by blocks. Ties between
optimal alignments are broken like rapidfuzz's ``editops``, from the end: match common endings, then prefer a deletion,
then an insertion unless a substitution is cheaper.
"""

import numpy as np

from eocc.kernels.compile import helper, inlined_kernel, kernel

ONE, LAST, NONE = np.uint64(1), np.uint64(63), np.uint64(0)


@helper
def mark_places(symbols, start, stop, slots, marks):
    """Set bit i of marks[slots[s]] where symbol i of the pattern is s; slot 0, for all others, stays empty."""
    n_slots = 0
    for i in range(stop - start):
        symbol = symbols[start + i]
        if slots[symbol] == 0:
            n_slots += 1
            slots[symbol] = n_slots
            marks[n_slots, :] = 0
        marks[slots[symbol], i >> 6] |= ONE << np.uint64(i & 63)


@inlined_kernel
def distance_of(n, others, begin, m, slots, marks, bits):
    """Return the distance from the pattern of n symbols to the sequence of m symbols.

    A bit of up[:, j] is set if the next cell of row j of the recursion is 1 more, of down[:, j] if it is 1 less.
    """
    # 64 cells of all rows, then the next 64. `carries` are the differences of the last ones to the previous row.
    up, down, carries = bits
    distance = m
    for w in range((n + 63) >> 6):
        positive, negative, n_cells = ~NONE, NONE, min(n - 64 * w, 64)
        distance, last = 64 * w + n_cells, np.uint64(n_cells - 1)
        for j in range(m):
            carry_more, carry_less = (carries[j] & ONE, carries[j] >> ONE) if w > 0 else (ONE, NONE)
            x = marks[slots[others[begin + j]], w] | carry_less
            same = (((x & positive) + positive) ^ positive) | x | negative
            more, less = negative | ~(same | positive), same & positive  # the differences to the previous row
            shifted_more, shifted_less = (more << ONE) | carry_more, (less << ONE) | carry_less
            carries[j] = (more >> LAST) | ((less >> LAST) << ONE)
            positive, negative = shifted_less | ~(same | shifted_more), shifted_more & same
            up[w, j + 1], down[w, j + 1] = positive, negative
            distance += np.int64((more >> last) & ONE) - np.int64((less >> last) & ONE)
    return distance


@inlined_kernel
def count_deletions(up, down, i, j):
    """Return the number of deletions on the path from cell i of row j back to the origin."""
    found = 0
    while i > 0 and j > 0:  # without branches inside, which could not be predicted
        w, place = (i - 1) >> 6, np.uint64((i - 1) & 63)
        is_deleted, is_inserted = np.int64((up[w, j] >> place) & ONE), np.int64((down[w, j - 1] >> place) & ONE)
        found += is_deleted
        i -= is_deleted | (1 - is_inserted)
        j -= 1 - is_deleted
    return found + i


@kernel
def edit_shares(patterns, sequences, rows, columns, scratch, shares):
    """Fill shares[:, t]: insertions, deletions and substitutions from pattern rows[t] to sequence columns[t].

    They are divided by the longer length. Pairs of one pattern follow each other.
    """
    # `patterns` and `sequences` are (symbols, starts): number i is symbols[starts[i] : starts[i + 1]]. `scratch` is
    # (slots (zeros, one per symbol), marks (a row per slot), up and down (words, symbols of the longest sequence and
    # one more), carries (symbols of the longest sequence,)).
    symbols, starts = patterns
    others, other_starts = sequences
    slots, marks, up, down, carries = scratch
    up[:, 0], down[:, 0], marks[0, :] = ~NONE, NONE, NONE
    for t in range(rows.shape[0]):
        start, stop = starts[rows[t]], starts[rows[t] + 1]
        if t == 0 or rows[t] != rows[t - 1]:
            mark_places(symbols, start, stop, slots, marks)
        begin, end = other_starts[columns[t]], other_starts[columns[t] + 1]
        n, m = stop - start, end - begin
        distance = distance_of(n, others, begin, m, slots, marks, (up, down, carries))
        while stop > start and end > begin and symbols[stop - 1] == others[end - 1]:
            stop, end = stop - 1, end - 1
        deleted, longer = count_deletions(up, down, stop - start, end - begin), max(n, m, 1)
        inserted = deleted + m - n
        shares[0, t] = inserted / longer
        shares[1, t] = deleted / longer
        shares[2, t] = (distance - inserted - deleted) / longer
        if t == rows.shape[0] - 1 or rows[t] != rows[t + 1]:
            for place in range(start, start + n):
                slots[symbols[place]] = 0
