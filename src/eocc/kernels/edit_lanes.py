"""One short sequence against many -> their edit operations, by the plain recursion, one lane per prototype.

Counts and symbols are bytes, so 32 prototypes fit into one vector register. Ties between optimal alignments are broken
like rapidfuzz's ``editops``, from the end: match common endings, then prefer a deletion, then an insertion unless a
substitution is cheaper. This choice depends on neighbouring cells only, so the deletions are counted forwards, together
with the distance.
"""

import numpy as np

from eocc.kernels.compile import kernel

LANES = 128  # four registers: hides the latency of the recursion
# Counts are bytes; and for longer sequences, whose rows exceed the first-level cache, edit_bits is as fast.
LONGEST = 128
COUNT, NEXT = np.uint64(LANES), np.uint64(2 * LANES)  # from a cell's distances to its counts, to the next cell


@kernel
def fill_row(pattern, symbols, number, old, new):
    """Fill row `number` of the recursion from the previous row, cell by cell along the pattern."""
    # A cell is one distance per lane, then one count of deletions per lane. Reading all values first, at unsigned
    # indices, lets the compiler vectorise the inner loop.
    for lane in range(LANES):
        new[lane], new[LANES + lane] = np.uint8(number), np.uint8(0)
    for i in range(pattern.shape[0]):
        symbol, cell = np.uint8(pattern[i]), np.uint64(i) * NEXT
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


@kernel
def find_endings(pattern, symbols, lengths, lanes, endings):
    """List the lanes with the same ending as the pattern, and its length; return the number of lanes."""
    found, n = 0, pattern.shape[0]
    for lane in range(LANES):
        shared, length = 0, lengths[lane]
        while shared < min(n, length) and pattern[n - 1 - shared] == symbols[length - 1 - shared, lane]:
            shared += 1
        if shared > 0:
            lanes[found], endings[found] = lane, shared
            found += 1
    return found


@kernel
def align_block(pattern, symbols, lengths, order, rows, early, distances, deletions):
    """Fill the distance and the deletions of the pattern to each of a block of sequences, longest first."""
    # Results of lane l go to index order[l]. A lane whose sequence has ended continues over padding. rows[0] is row 0,
    # where cell i holds i and i; rows[1] and rows[2] are scratch. `early` (3, LANES) is scratch for the lanes with a
    # common ending: lane, length of the ending, deletions; they are read before the last cell.
    n_early = find_endings(pattern, symbols, lengths, early[0], early[1])
    last, still_open = 2 * LANES * pattern.shape[0], LANES
    row = rows[0]
    for j in range(lengths[0] + 1):
        if j > 0:
            fill_row(pattern, symbols[j - 1], j, row, rows[1 + j % 2])
            row = rows[1 + j % 2]
        while still_open > 0 and lengths[still_open - 1] == j:
            still_open -= 1
            distances[order[still_open]] = row[last + still_open]
            deletions[order[still_open]] = row[last + LANES + still_open]
        for t in range(n_early):
            if lengths[early[0, t]] - early[1, t] == j:
                early[2, t] = row[last - 2 * LANES * early[1, t] + LANES + early[0, t]]
    for t in range(n_early):
        deletions[order[early[0, t]]] = early[2, t]


@kernel
def edit_rows(patterns, starts, chosen, places, blocks, lengths, order, rows, early, distances, deletions):
    """Fill distances[places[t], order[q]] and deletions[places[t], order[q]] from pattern chosen[t] to sequence q."""
    # Pattern i is patterns[starts[i] : starts[i + 1]]; sequences, longest first, come in `blocks` (n, longest, LANES).
    for t in range(chosen.shape[0]):
        pattern, i = patterns[starts[chosen[t]] : starts[chosen[t] + 1]], places[t]
        for b in range(blocks.shape[0]):
            own = slice(b * LANES, (b + 1) * LANES)
            align_block(pattern, blocks[b], lengths[own], order[own], rows, early, distances[i], deletions[i])


@kernel
def translate(pattern, slots, copy):
    """Fill `copy` and `slots` with numbers 1, 2, ... for the symbols of the pattern, by first appearance."""
    n_slots = 0
    for i in range(pattern.shape[0]):
        if slots[pattern[i]] == 0:
            n_slots += 1
            slots[pattern[i]] = n_slots
        copy[i] = slots[pattern[i]]


@kernel
def edit_rows_of_many_symbols(
    patterns, starts, chosen, places, blocks, lengths, order, rows, early, distances, deletions, slots, copy, block
):
    """Do the same with more symbols than a byte can hold: symbols of the pattern are renumbered, all others are 0."""
    # `slots` (zeros, one per symbol), `copy` (LONGEST,) and `block` (longest, LANES) are scratch.
    for t in range(chosen.shape[0]):
        pattern, i = patterns[starts[chosen[t]] : starts[chosen[t] + 1]], places[t]
        translate(pattern, slots, copy)
        for b in range(blocks.shape[0]):
            own = slice(b * LANES, (b + 1) * LANES)
            for j in range(lengths[b * LANES]):
                for lane in range(LANES):
                    block[j, lane] = slots[blocks[b, j, lane]]
            align_block(
                copy[: pattern.shape[0]], block, lengths[own], order[own], rows, early, distances[i], deletions[i]
            )
        for symbol in pattern:
            slots[symbol] = 0


@kernel
def fill_shares(distances, deletions, lengths, prototype_lengths, shares):
    """Fill shares (3, n, r): insertions, deletions and substitutions, divided by the longer of the two lengths."""
    # Lengths are floats, so that the loop is vectorised.
    for i in range(lengths.shape[0]):
        inserted_row, deleted_row, substituted_row = shares[0, i], shares[1, i], shares[2, i]
        distance_row, deletion_row, length = distances[i], deletions[i], lengths[i]
        for j in range(prototype_lengths.shape[0]):
            other = prototype_lengths[j]
            longer = length if length > other else other
            longer = longer if longer > 1.0 else 1.0
            deleted = np.float64(deletion_row[j])
            inserted = deleted + (other - length)
            inserted_row[j] = inserted / longer
            deleted_row[j] = deleted / longer
            substituted_row[j] = (distance_row[j] - inserted - deleted) / longer
