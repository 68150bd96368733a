"""Strings and token lists: the edits of the very alignment that the measure counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.wording import shortened, span
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.strings import FittedStringEdit

# The place of each operation's weight in p = (insertion, deletion, substitution).
WEIGHT = {"insert": 0, "delete": 1, "substitute": 2}


VERB = {"insert": "insert", "delete": "delete", "substitute": "replace"}


@dataclass(frozen=True)
class Edit:
    """One operation: `kind`, the place in the pattern and in the prototype where it happens, counted from 0."""

    kind: str
    place: int
    prototype_place: int


def edit_operations(pattern: Sequence[Any], prototype: Sequence[Any]) -> list[Edit]:
    """Return the edits, in order, of the alignment that `StringEdit` counts.

    What both begin with stays, then what both end with. What is left is read from its end backwards: a deletion
    wherever one is optimal, then an insertion where the prototype without its last symbol is nearer to the pattern
    than to the pattern without its last one, else a substitution or a match.

    >>> [(edit.kind, edit.place, edit.prototype_place) for edit in edit_operations("oaks", "oar")]
    [('substitute', 2, 2), ('delete', 3, 3)]
    """
    codes: dict[Any, int] = {}  # tokens are alike where a dictionary finds them so, as in the measure
    own, other = ([codes.setdefault(symbol, len(codes)) for symbol in symbols] for symbols in (pattern, prototype))
    start = _common(own, other)
    end = _common(own[start:][::-1], other[start:][::-1])
    own, other = own[start : len(own) - end], other[start : len(other) - end]
    distances = _distances(own, other)
    i, j = len(own), len(other)
    edits: list[Edit] = []
    while i > 0 or j > 0:
        kind = _last_step(distances, i, j)
        i, j = i - (kind != "insert"), j - (kind != "delete")
        if kind != "substitute" or own[i] != other[j]:
            edits.append(Edit(kind, start + i, start + j))
    return edits[::-1]


def string_difference(measure: FittedStringEdit, pair: Pair) -> Difference:
    """Return a contribution per run of edits of one kind: its weight times its length, over the longer length."""
    pattern, prototype = pair.pattern[0], pair.prototype[0]
    edits = edit_operations(pattern, prototype)
    longest = max(len(pattern), len(prototype), 1)
    contributions = tuple(
        Contribution(
            float(pair.weights[WEIGHT[run[0].kind]]) * len(run) / longest,
            _words(run, pattern, prototype),
            {
                "operation": run[0].kind,
                "positions": [edit.place for edit in run],
                "prototype_positions": [edit.prototype_place for edit in run],
                "from": _piece(pattern, run, "insert", "place"),
                "to": _piece(prototype, run, "delete", "prototype_place"),
            },
            group=VERB[run[0].kind],
        )
        for run in _runs(edits)
    )
    return Difference(pair.dissimilarity, contributions, f"by edits that turn the pattern into the {pair.called}")


def string_description(measure: FittedStringEdit, pattern: Any, names: Sequence[str] | None) -> str:
    """Return the string in quotes, or the tokens, shortened.

    >>> string_description(FittedStringEdit(), ["AB-1234"], None)
    "'AB-1234'"
    """
    return shortened(repr(pattern[0]))


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many symbols two sequences begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _distances(pattern: Sequence[int], prototype: Sequence[int]) -> NDArray[np.int64]:
    """Return the edit distances of all prefixes: entry (j, i) from pattern[:i] to prototype[:j]."""
    own, steps = np.array(pattern, np.int64), np.arange(len(pattern) + 1)
    rows = [steps]
    for j, symbol in enumerate(prototype, 1):
        before = rows[-1]
        entered = np.concatenate([[j], np.minimum(before[:-1] + (own != symbol), before[1:] + 1)])
        # Deletions along the row: the least, over the cells before, of their value plus the steps from there.
        rows.append(np.minimum.accumulate(entered - steps) + steps)
    return np.array(rows)


def _last_step(distances: NDArray[np.int64], i: int, j: int) -> str:
    """Return the kind of the last step of the way to cell i of row j; a match counts as a substitution."""
    if j == 0 or (i > 0 and distances[j, i] == distances[j, i - 1] + 1):
        return "delete"
    if i == 0 or distances[j - 1, i] < distances[j - 1, i - 1]:
        return "insert"
    return "substitute"


def _runs(edits: Sequence[Edit]) -> list[list[Edit]]:
    """Return the edits in runs of one kind without a match between."""

    def run_of(numbered: tuple[int, Edit]) -> tuple[Any, ...]:
        number, edit = numbered
        # Along a run the places in both rise by 1 with every edit, or stay, as the kind of edit has it.
        return (
            edit.kind,
            edit.place - number * (edit.kind != "insert"),
            edit.prototype_place - number * (edit.kind != "delete"),
        )

    return [[edit for _, edit in run] for _, run in groupby(enumerate(edits), run_of)]


def _piece(sequence: Sequence[Any], run: Sequence[Edit], absent: str, place: str) -> str:
    """Return what a run of edits takes from a sequence, as text; nothing for the kind that takes nothing from it."""
    if run[0].kind == absent:
        return ""
    first = getattr(run[0], place)
    piece = sequence[first : first + len(run)]
    return piece if isinstance(piece, str) else " ".join(map(str, piece))


def _words(run: Sequence[Edit], pattern: Any, prototype: Any) -> str:
    taken = repr(shortened(_piece(pattern, run, "insert", "place")))
    given = repr(shortened(_piece(prototype, run, "delete", "prototype_place")))
    first = run[0].place
    where = f"at {span(first, first + len(run) - 1, 'position')}"
    if run[0].kind == "insert":
        return f"insert {given} at the end" if first == len(pattern) else f"insert {given} before position {first}"
    return f"delete {taken} {where}" if run[0].kind == "delete" else f"replace {taken} by {given} {where}"
