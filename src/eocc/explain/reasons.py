"""What makes a row strange: its least usual values, or how it differs from the most similar normal row."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eocc.base.registry import FEW, listed
from eocc.base.threads import for_each_block
from eocc.base.types import Indices, Matrix
from eocc.base.wording import format_number, format_own, format_value, format_within, shortened, to_json
from eocc.kernels.strangeness import MOST, UNSEEN, strangeness_of_rows
from eocc.measures.composite import FittedComposite, RecordPart
from eocc.measures.difference import MOST_NAMED, Cells, Difference, Pair, ranked_contributions

# A value is compared with the values of this many normal rows, those most like the row in the other columns.
N_NEAR = 16
# Of more normal rows, this many are looked at, evenly spaced.
MOST_ROWS = 4096
# Tables of more cells, 32 MiB, are looked at in part, or block by block.
MOST_CELLS = 2**22
# Smaller shares would be shown as 0%, smaller numbers as 0.00.
LEAST_SHOWN = 0.005
# The words that introduce edits.
EDITS = "To turn"


@dataclass(frozen=True)
class Reason:
    """One thing that makes a row strange, and its `share` of all that does, from 0 to 1.

    For a table, `name` is the column, `value` its value, and `low` and `high` the range of the normal rows that are
    most like the row in the other columns; these are None for categories. `said` and `normal` are the value and the
    range in words. `stands_out` says that none of these rows has such a value. For other data, `name` and `text` say
    what differs from the most similar normal row.
    """

    name: str
    text: str
    value: Any
    low: Any
    high: Any
    share: float
    said: str = ""
    normal: str = ""
    stands_out: bool = True

    @property
    def short(self) -> str:
        """The text without what the range is, for the second reason and the third."""
        return f"{self.name} is {self.said}, not {self.normal}" if self.normal else self.text


@dataclass(frozen=True, eq=False)
class Strangeness:
    """How strange the values of rows are in the active columns: `values` (m, a).

    `near` (m, a, r) are the prototypes that are most like the row in the other columns; `ends` (m, a, 2) are those of
    them with the lowest and the highest number.
    """

    active: Indices
    values: Matrix
    near: Indices
    ends: Indices

    def reason(self, cells: Cells, i: int, place: int, share: float) -> Reason:
        """Return the reason of row i for the active column at this place."""
        k = int(self.active[place])
        if not cells.is_code[k]:
            return _number_reason(cells, i, k, self.ends[i, place].tolist(), self.values[i, place] >= UNSEEN, share)
        value, name, near = cells.value(i, k), cells.names[k], self.near[i, place]
        known = near[~np.isnan(cells.columns[k][near])].tolist()
        counts = Counter(format_value(cells.prototype_value(j, k)) for j in known)
        said, normal = format_value(value), categories_in_words(counts)
        text = f"{name} is {said}; normal rows near it have {normal}"
        if not (cells.columns[k] == cells.rows[i, k]).any():
            text = f"{name} is {said}, which no normal row has; those near it have {normal}"
        return Reason(name, text, to_json(value), None, None, share, said, normal, said not in counts)


def strangest(cells: Cells, active: Indices) -> Strangeness:
    """Return how strange the values of rows are in the active columns."""
    rows, columns = np.ascontiguousarray(cells.rows[:, active]), np.ascontiguousarray(cells.columns[active])
    is_code, spreads, n = cells.is_code[active], cells.spreads()[active], columns.shape[1]
    n_near = min(N_NEAR, max(1, n // 2)) if len(active) > 1 else max(1, n - 1)
    values, near, ends = np.empty(rows.shape), *(np.empty((*rows.shape, size), np.int64) for size in (n_near, 2))

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        strangeness_of_rows(rows[part], columns, is_code, spreads, values[part], near[part], ends[part])

    for_each_block(len(rows), 32, work)
    return Strangeness(active, values, near, ends)


def largest_of(strangeness: Matrix) -> Iterator[list[tuple[int, float]]]:
    """Yield the places of the largest values of each row, with their shares of the sum of squares.

    UNSEEN counts as the most.
    """
    order = np.argsort(-strangeness, axis=1, kind="stable")[:, :MOST_NAMED]
    squares = np.minimum(strangeness, UNSEEN) ** 2
    shares = np.take_along_axis(squares, order, axis=1) / np.maximum(squares.sum(axis=1), 1e-300)[:, None]
    n_shown = np.maximum((shares > LEAST_SHOWN).sum(axis=1), shares[:, 0] > 0)
    for places, parts, count in zip(order.tolist(), shares.tolist(), n_shown.tolist(), strict=True):
        yield list(zip(places[:count], parts[:count], strict=True))


def _number_reason(cells: Cells, i: int, k: int, ends: Sequence[int], is_unseen: bool, share: float) -> Reason:
    column, place, name = cells.columns[k], cells.rows.item(i, k), cells.names[k]
    stands_out = not column.item(ends[0]) <= place <= column.item(ends[1])
    if is_unseen and not stands_out:  # in a gap: normal rows have lower and higher ones only
        below, above = np.where(column < place, column, -np.inf), np.where(column > place, column, np.inf)
        low, high = (cells.prototype_value(int(end), k) for end in (below.argmax(), above.argmin()))
        found = range_reason(name, cells.value(i, k), low, high, share, "normal rows have {}", gap=True)
        return replace(found, low=None, high=None)
    low, high = (cells.prototype_value(j, k) for j in ends)
    return range_reason(name, cells.value(i, k), low, high, share, "normal rows near it have {}", stands_out)


def range_reason(
    name: str, value: Any, low: Any, high: Any, share: float, text: str, stands_out: bool = True, gap: bool = False
) -> Reason:
    """Return the reason for a number or a date, given the ends of what normal rows have, or of a gap between them.

    The text says what they have; {} is the place of the range.
    """
    are_numbers = isinstance(value, int | float) and isinstance(low, int | float)  # not dates
    extent = float(high - low) or abs(float(value - low)) if are_numbers else 0.0
    said, least, most = format_within(extent, value, low, high)
    said, normal = format_own(value, said), f"up to {least} or from {most}" if gap else f"{least} to {most}"
    normal = least if least == most else normal
    words = f"{name} is {said}; {text.replace('{}', normal)}"
    return Reason(name, words, to_json(value), to_json(low), to_json(high), share, said, normal, stands_out)


def categories_in_words(counts: Counter[str]) -> str:
    """Return which categories rows have, the commonest first.

    >>> [categories_in_words(Counter(rows)) for rows in ("aabc", "aaaaabcd", "abcd")]
    ['a, b or c', 'mostly a', 'a, b and 2 more']
    """
    labels = [label for label, _ in counts.most_common()]
    if len(labels) <= FEW:
        return " or ".join([", ".join(labels[:-1]), labels[-1]] if len(labels) > 1 else labels) or "no value"
    return f"mostly {labels[0]}" if 2 * counts[labels[0]] > counts.total() else listed(labels, 2)


def difference_reasons(
    difference: Difference, row: str, description: str, role: str = "the most similar one", otherwise: str = ""
) -> tuple[str, tuple[Reason, ...]]:
    """Return words that introduce the difference from a normal row, and its largest contributions as reasons.

    If the measure gives only a number, the words are `otherwise`, or how far away the row is.
    """
    if not difference.contributions:
        return otherwise or f"Normal row {row}, {role}, is {format_number(difference.dissimilarity)} away.", ()
    row = f"normal row {row}{f' ({shortened(description)})' if description else ''}, {role}"
    ranked, total = ranked_contributions(difference.contributions), difference.dissimilarity
    edited = difference.details.get("edited")  # which of the two, if the reasons are edits
    least = 0.0 if edited else LEAST_SHOWN * total  # without its smallest edit a row would not become the other
    shares = [(one.text, one.amount / total) for one in ranked if one.amount > least]
    reasons = [Reason(text, text, None, None, None, share) for text, share in shares]
    if not reasons:
        return f"Compared with {row}: no difference.", ()
    lead = {"pattern": f"{EDITS} it into {row}:", "prototype": f"{EDITS} {row}, into it:"}
    return lead.get(str(edited), f"Compared with {row}:"), tuple(reasons[:MOST_NAMED])


def least_usual(classifier: Any, patterns: Any, weights: Matrix, distances: Matrix) -> list[tuple[Reason, ...]] | None:
    """Return the least usual columns and parts of each pattern, the strangest first; None if it has neither.

    `distances` (m, n) are those from the prototypes, infinite for a prototype that is the pattern itself.
    """
    measure, prototypes, names = classifier.measure_, classifier.prototypes_, classifier._feature_names
    tables, wholes, found = list[RecordPart](), list[RecordPart](), list[tuple[Reason, ...]]()
    if isinstance(measure, FittedComposite):
        parts = measure.parts(weights)
        tables = [part for part in parts if part.measure.cells is not None]
        wholes = [part for part in parts if part.weight > 0 and part.measure.cells is None]
        weights = np.concatenate([[], *(part.weight * part.own for part in tables)])
    elif measure.cells is None:
        return None
    active = np.flatnonzero(weights > 0)
    if not (len(active) or wholes):
        return [()] * len(patterns)
    n, known = max(len(active), 1), prototypes
    # If there is a single column, all rows are near, and 256 are enough.
    most, step = min(256 if n == 1 else max(MOST_CELLS // n, N_NEAR), MOST_ROWS), max(MOST_CELLS // (N_NEAR * n), 1)
    if len(prototypes) > most:
        known = prototypes[np.linspace(0, len(prototypes) - 1, most).astype(np.int64)]
    for start in range(0, len(patterns), step):
        rows = patterns[start : start + step]
        of_parts: list[list[tuple[float, int]]] = [[] for _ in range(len(rows))]
        for i, apart in enumerate(distances[start : start + step] if wholes else ()):
            near = np.argsort(apart, kind="stable")[: min(N_NEAR, max(1, len(apart) // 2))]
            near = near[np.isfinite(apart[near])]
            of_parts[i] = [part_strangeness(part, rows[i : i + 1], prototypes, near) for part in wholes]
        values = np.array([[value for value, _ in row] for row in of_parts]).reshape(len(rows), len(wholes))
        if len(active):
            cells = _joined_cells(tables, rows, known) if tables else measure.cells(rows, known, names)
            strange = strangest(cells, active)
            values = np.hstack([strange.values, values])
        for i, largest in enumerate(largest_of(values)):
            reasons = []
            for place, share in largest:
                if place < len(active):
                    reasons.append(strange.reason(cells, i, place, share))
                else:
                    part, (_, other) = wholes[place - len(active)], of_parts[i][place - len(active)]
                    reasons.append(_part_reason(part, rows[i : i + 1], prototypes[other : other + 1], share))
            found.append(tuple(reasons))
    return found


def _joined_cells(tables: Sequence[RecordPart], patterns: Any, prototypes: Any) -> Cells:
    """Return the columns of all parts that are tables; those of a part with several are called "part: column"."""
    found = [part.measure.cells(patterns.parts[part.name], prototypes.parts[part.name]) for part in tables]
    names = [
        f"{part.name}: {name}" if len(cells.names) > 1 else str(part.name)
        for part, cells in zip(tables, found, strict=True)
        for name in cells.names
    ]
    owners = [(cells, k) for cells in found for k in range(len(cells.names))]
    return Cells(
        tuple(names), np.hstack([cells.rows for cells in found]), np.vstack([cells.columns for cells in found]),
        np.concatenate([cells.is_code for cells in found]),
        lambda i, k: owners[k][0].value(i, owners[k][1]), lambda j, k: owners[k][0].prototype_value(j, owners[k][1]),
    )  # fmt: skip


def part_strangeness(part: RecordPart, pattern: Any, prototypes: Any, near: Indices) -> tuple[float, int]:
    """Return how strange a part without columns is, and the near prototype that is most like it in this part.

    It is by how much its median distance from the near prototypes exceeds the median distance among these, over the
    standard deviation of the latter, or a tenth of their median, if that is larger.
    """
    rows = prototypes.parts[part.name][near]
    here = part.measure.prepare(pattern.parts[part.name], rows).evaluate(part.own)[0]
    among = part.measure.prepare(rows).evaluate(part.own)[np.triu_indices(len(near), 1)]
    usual, spread = (float(np.median(among)), float(among.std())) if len(among) else (0.0, 0.0)
    excess, scale = max(float(np.median(here)) - usual, 0.0), max(spread, 0.1 * usual)
    strangeness = min(excess / scale, MOST) if scale > 0 else UNSEEN * (excess > 0)
    return strangeness, int(near[here.argmin()])


def _part_reason(part: RecordPart, pattern: Any, prototype: Any, share: float) -> Reason:
    here, there = (one.parts[part.name] for one in (pattern, prototype))
    said, normal = (shortened(part.measure.describe(one, None)) for one in (here, there))
    text = f"{part.name} is {said}; the most similar normal row near it has {normal}"
    if said == normal:
        ranked = ranked_contributions(Pair(part.measure, here, there, part.own).difference.contributions)
        text = f"{part.name}: {ranked[0].text}" if ranked else text
    return Reason(str(part.name), text, said, None, None, share, said, normal)
