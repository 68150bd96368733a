"""Sequences -> their edit operations: short ones by lanes, one per prototype, long ones by the bits of words.

By lanes, the plain recursion serves one sequence against many: counts and most symbols are bytes, so 32 prototypes fit
into one vector register. By bits, a word holds 64 cells of the recursion, which is traced back through the bits: Hyyrö,
"A bit-vector algorithm for computing Levenshtein and Damerau edit distances" (2003), by blocks.

Ties between optimal alignments are broken like rapidfuzz's ``editops``, from the end: match common endings, then prefer
a deletion, then an insertion unless a substitution is cheaper. This choice depends on neighbouring cells only, so lanes
count the deletions forwards, together with the distance.
"""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import helper, kernel
from eocc.kernels.smallest import insert

LANES = 128  # four registers: hides the latency of the recursion
# Counts are bytes; and for longer sequences, whose rows exceed the first-level cache, bits are as fast.
LONGEST = 128
COUNT, NEXT = np.uint64(LANES), np.uint64(2 * LANES)  # from a cell's distances to its counts, to the next cell
WORD, ONE, LAST = 64, np.uint64(1), np.uint64(63)  # the cells of a word, its first bit, the place of its last


class Lanes(NamedTuple):
    """Short sequences side by side, longest first, in blocks of LANES: lane q of block b holds sequence members[b, q].

    Unused lanes are empty; their number is -1.
    """

    blocks: Any
    lengths: Any
    members: Any


@helper
def fill_row(pattern, symbols, number, old, new):
    """Fill row `number` of the recursion from the previous row, cell by cell along the pattern."""
    # A cell is one distance per lane, then one count of deletions per lane. Reading all values first, at unsigned
    # indices, lets the compiler vectorise the inner loop.
    for lane in range(LANES):
        new[lane], new[LANES + lane] = np.uint8(number), np.uint8(0)
    for i in range(pattern.shape[0]):
        symbol, cell = pattern[i], np.uint64(i) * NEXT
        for lane in range(LANES):
            here = cell + np.uint64(lane)
            diagonal, diagonal_count = old[here], old[here + COUNT]
            left, left_count = old[here + NEXT], old[here + NEXT + COUNT]
            deleted, deleted_count = np.uint8(new[here] + 1), np.uint8(new[here + COUNT] + 1)
            inserted = np.uint8(left + 1)
            matched = np.uint8(diagonal + (symbols[lane] != symbol))
            best = deleted if deleted < inserted else inserted
            best = best if best < matched else matched
            count = left_count if inserted == diagonal else diagonal_count
            count = deleted_count if deleted == best else count
            new[here + NEXT], new[here + NEXT + COUNT] = best, count


@helper
def find_endings(pattern, symbols, lengths, lanes, endings):
    """List the lanes with the same ending as the pattern, and its length; return the number of lanes."""
    found, n = 0, pattern.shape[0]
    for lane in range(LANES):
        shared, length = 0, int(lengths[lane])
        while shared < min(n, length) and pattern[n - 1 - shared] == symbols[length - 1 - shared, lane]:
            shared += 1
        if shared > 0:
            lanes[found], endings[found] = lane, shared
            found += 1
    return found


@helper
def align_block(pattern, symbols, lengths, rows, early, distances, deletions):
    """Fill the distance and the deletions of the pattern to each of a block of sequences, longest first."""
    # A lane whose sequence has ended continues over padding. rows[0] is row 0, where cell i holds i and i; rows[1] and
    # rows[2] are scratch. `early` (3, LANES) is scratch for the lanes with a common ending: lane, length of the ending,
    # deletions; they are read before the last cell.
    n_early = find_endings(pattern, symbols, lengths, early[0], early[1])
    last, still_open = 2 * LANES * pattern.shape[0], LANES
    row = rows[0]
    for j in range(int(lengths[0]) + 1):
        if j > 0:
            fill_row(pattern, symbols[j - 1], j, row, rows[1 + j % 2])
            row = rows[1 + j % 2]
        while still_open > 0 and lengths[still_open - 1] == j:
            still_open -= 1
            distances[still_open] = row[last + still_open]
            deletions[still_open] = row[last + LANES + still_open]
        for t in range(n_early):
            if lengths[early[0, t]] - early[1, t] == j:
                early[2, t] = row[last - 2 * LANES * early[1, t] + LANES + early[0, t]]
    for t in range(n_early):
        deletions[early[0, t]] = early[2, t]


@helper
def edit_block(pattern, symbols, lengths, room, shares):
    """Fill shares (3, LANES) with the insertions, deletions and substitutions over the longer length."""
    rows, early, counts = room
    align_block(pattern, symbols, lengths, rows, early, counts[0], counts[1])
    length = float(pattern.shape[0])
    for j in range(lengths.shape[0]):  # lengths are floats, so that the loop is vectorised
        other, deleted = lengths[j], np.float64(counts[1, j])
        longer = length if length > other else other
        longer = longer if longer > 1.0 else 1.0
        inserted = deleted + (other - length)
        shares[0, j], shares[1, j] = inserted / longer, deleted / longer
        shares[2, j] = (counts[0, j] - inserted - deleted) / longer


@kernel
def edit_rows(patterns, chosen, lanes, scratch, shares):
    """Fill shares[:, i] (3, r) with the edits from pattern i to all sequences in lanes, for each i in `chosen`."""
    # `patterns` is (symbols, starts): pattern i is symbols[starts[i] : starts[i + 1]]. `lanes` is (blocks, lengths,
    # members): sequences, longest first, come in `blocks` (n, longest, LANES); the members of unused lanes are -1.
    # `scratch` is the room (rows and early of align_block, and counts (2, LANES)), and the shares of a block.
    symbols, starts = patterns
    blocks, lengths, members = lanes
    room, own = scratch
    for i in chosen:
        pattern = symbols[starts[i] : starts[i + 1]]
        for b in range(blocks.shape[0]):
            edit_block(pattern, blocks[b], lengths[b], room, own)
            for lane in range(LANES):
                j = members[b, lane]
                if j >= 0:
                    shares[0, i, j], shares[1, i, j], shares[2, i, j] = own[0, lane], own[1, lane], own[2, lane]


@helper
def insert_lanes(shares, weights, members, near, indices, i):
    """Insert the weighted sum of the shares of each lane into the smallest so far of pattern i, but no unused lanes."""
    for lane in range(LANES):  # in the order of `combine`
        value = 0.0 + weights[0] * shares[0, lane]
        value += weights[1] * shares[1, lane]
        value += weights[2] * shares[2, lane]
        if value <= near[i, near.shape[1] - 1]:
            insert(value, members[lane], near, indices, i)


@kernel
def nearest_by_blocks(patterns, lanes, weightings, bounds, turns, scratch, near, indices):
    """Fill near and indices (v, m, k) with the nearest sequences to each pattern."""
    # `patterns`, `lanes` and `scratch` are as above. bounds[v, i, b] is a lower bound for pattern i and block b, and
    # `turns` are the blocks in the order of their bounds. A block is left out if its bounds under all weightings are
    # above the k-th smallest so far. Returns how many were compared.
    symbols, starts = patterns
    blocks, lengths, members = lanes
    room, shares = scratch
    compared, k = 0, near.shape[2]
    for i in range(turns.shape[0]):
        pattern = symbols[starts[i] : starts[i + 1]]
        for t in range(turns.shape[1]):
            b, is_near = turns[i, t], False
            for v in range(weightings.shape[0]):
                is_near = is_near or bounds[v, i, b] <= near[v, i, k - 1]
            if is_near:
                compared += 1
                edit_block(pattern, blocks[b], lengths[b], room, shares)
                for v in range(weightings.shape[0]):
                    insert_lanes(shares, weightings[v], members[b], near[v], indices[v], i)
    return compared


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
def fill_bits(own, before_up, before_down, up, down, n_words):
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
        more, less = fill_bits(marks[slots[sequence[j]]], up[j], down[j], up[j + 1], down[j + 1], n_words)
        distance += np.int64((more >> last) & ONE) - np.int64((less >> last) & ONE)
    while n > 0 and m > 0 and pattern[n - 1] == sequence[m - 1]:
        n, m = n - 1, m - 1
    return distance, count_deletions(up, down, n, m)


@kernel
def edit_pairs(patterns, chosen, sequences, numbers, scratch, shares):
    """Fill shares[:, i, j] (3, n, r) with the edits from pattern i to sequence j for i, j = chosen[t], numbers[t]."""
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
        distance, deleted = align_pair(pattern, sequence, slots, marks, up, down)
        inserted = deleted + sequence.shape[0] - pattern.shape[0]
        longer, own = max(pattern.shape[0], sequence.shape[0], 1), shares[:, chosen[t], numbers[t]]
        own[0], own[1], own[2] = inserted / longer, deleted / longer, (distance - inserted - deleted) / longer
