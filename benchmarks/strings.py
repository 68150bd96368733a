"""Speed of the string measure, as ratios against rapidfuzz's cdist in one run, one thread each.

cdist gives the distance alone; ours gives insertions, deletions and substitutions, normalised. cdist gets two lists, so
that it computes all pairs as we must: insertions and deletions differ both ways.
"""

import random
import string
from functools import partial

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein
from timing import least_seconds, table

from eocc.measures.strings import StringEdit


def words(n, mean_length, alphabet=string.ascii_lowercase, seed=0):
    rng = random.Random(seed)
    lengths = [max(1, round(rng.gauss(mean_length, mean_length / 4))) for _ in range(n)]
    return ["".join(rng.choices(alphabet, k=length)) for length in lengths]


def row(n, mean_length, repeats, alphabet=string.ascii_lowercase):
    left, right = words(n, mean_length, alphabet), words(n, mean_length, alphabet, seed=1)
    fitted = StringEdit().fit(left)
    ours = partial(fitted.prepare, left, right)
    theirs = partial(process.cdist, left, right, scorer=Levenshtein.distance, workers=1)
    assert_equal_work(ours(), theirs(), left, right)
    mine, cdist = least_seconds([ours, theirs], repeats)
    return [
        f"{n} x {n} strings of about {mean_length} from {len(alphabet)} symbols / rapidfuzz cdist",
        "2",
        f"{mine / cdist:.2f}",
        f"{mine / n**2 * 1e9:.0f} ns",
        f"{cdist / n**2 * 1e9:.0f} ns",
    ]


def editops_row(n=100, mean_length=8):
    strings = words(n, mean_length)
    ours = partial(StringEdit().fit(strings).prepare, strings)

    def theirs():
        return [[Levenshtein.editops(a, b) for b in strings] for a in strings]

    mine, loop = least_seconds([ours, theirs], 5)
    what = f"{n} x {n} strings of about {mean_length} / rapidfuzz editops in a loop"
    return [what, "", f"1/{loop / mine:.0f}", f"{mine / n**2 * 1e9:.0f} ns", f"{loop / n**2 * 1e9:.0f} ns"]


def assert_equal_work(prepared, distances, left, right):
    longer = np.maximum.outer([len(a) for a in left], [len(b) for b in right])
    assert np.array_equal(np.rint(prepared.evaluate(np.ones(3)) * longer), distances)


def main():
    hanzi = "".join(map(chr, range(0x4E00, 0x4E00 + 3000)))
    rows = [row(1000, 8, 20), row(1000, 20, 10), row(1000, 40, 5), row(200, 200, 10), row(60, 1000, 5)]
    rows.append(row(500, 20, 10, hanzi))
    print(table([["what", "must", "measured", "ours per pair", "theirs"], *rows, editops_row()]))


if __name__ == "__main__":
    main()
