"""Edit operations of one short sequence against many at a time: the plain recursion, a lane per prototype.

Counts and symbols are bytes, so 32 prototypes fit one vector register. An optimal alignment is read from its end
backwards, and on ties goes the way rapidfuzz's ``editops`` goes: common endings matched first, then a deletion
wherever one is optimal, then an insertion where a substitution would cost more or a match as much. Which way it goes
depends on the neighbouring cells alone, so the deletions on the way are counted forwards, beside the distance.
"""

import numpy as np

from eocc.kernels.compile import kernel

LANES = 128  # four registers: enough work to hide that each cell waits for the one before
# Counts are bytes; and rows of longer sequences outgrow the first-level cache, where edit_bits is as fast.
LONGEST = 128
COUNT, NEXT = np.uint64(LANES), np.uint64(2 * LANES)  # from a cell's distances to its counts, to the next cell


@kernel
def fill_row(pattern, symbols, number, old, new):
    """Fill row `number` of the recursion from the row before, cell by cell along the pattern.

    A cell is a distance per lane, then a count of deletions per lane. Everything is read before anything is chosen,
    at unsigned places: so written, the inner loop runs 32 lanes at a time.
    """
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
def ending(pattern, symbols, length, lane):
    """Return how many symbols at the end of the pattern and of the lane's sequence are the same."""
    shared, most = 0, min(pattern.shape[0], length)
    while shared < most and pattern[pattern.shape[0] - 1 - shared] == symbols[length - 1 - shared, lane]:
        shared += 1
    return shared


@kernel
def find_endings(pattern, symbols, lengths, lanes, endings):
    """List the lanes that end as the pattern does, and by how many symbols; return how many lanes there are."""
    found = 0
    if pattern.shape[0] == 0:
        return found
    own = pattern[pattern.shape[0] - 1]
    for lane in range(LANES):
        if lengths[lane] > 0 and symbols[lengths[lane] - 1, lane] == own:
            lanes[found], endings[found] = lane, ending(pattern, symbols, lengths[lane], lane)
            found += 1
    return found


@kernel
def align_block(pattern, symbols, lengths, order, rows, early, distances, deletions):
    """Fill the distance and the deletions of the pattern to each of a block of sequences, longest first.

    Lane l's go to place order[l]. A lane whose sequence has ended goes on over padding, unread. rows[0] is row 0,
    where cell i holds i and i; rows[1] and rows[2] are room for two more. `early` (3, LANES) is room for the lanes
    that end as the pattern does: lane, symbols shared, deletions; they are read off before their last cell.
    """
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
    """Fill distances[places[t], order[q]] and deletions[places[t], order[q]] from pattern chosen[t] to sequence q.

    Pattern i is patterns[starts[i] : starts[i + 1]]; sequences, longest first, come in `blocks` (n, longest, LANES).
    """
    for t in range(chosen.shape[0]):
        pattern, i = patterns[starts[chosen[t]] : starts[chosen[t] + 1]], places[t]
        for b in range(blocks.shape[0]):
            own = slice(b * LANES, (b + 1) * LANES)
            align_block(pattern, blocks[b], lengths[own], order[own], rows, early, distances[i], deletions[i])


@kernel
def translate(pattern, slots, copy):
    """Fill `copy` with the pattern in numbers 1, 2, ... of its own, by first appearance; leave them in `slots`."""
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
    """Do as edit_rows, where a byte cannot tell all symbols apart: it can those of one pattern, and 0 is any other.

    `slots` (zeros, one per symbol), `copy` (LONGEST,) and `block` (longest, LANES) are room to work in.
    """
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
    """Fill shares (3, n, r): insertions, deletions and substitutions, divided by the longer of the two lengths.

    Lengths are floats, as are the shares: so written, the loop runs four pairs at a time.
    """
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
