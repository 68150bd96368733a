"""What makes a row strange: its least usual values, or how it differs from the most similar normal row."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eocc.foundation.registry import listed
from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import format_number, format_own, format_value, format_within, shortened, to_json
from eocc.kernels.strangeness import UNSEEN, strangeness_of_rows
from eocc.measures.cells import Cells
from eocc.measures.difference import MOST_NAMED, Difference, ranked_contributions

# A value is compared with the values of this many normal rows, those most like the row in the other columns.
N_NEAR = 16
# Of more normal rows, this many are looked at, evenly spaced; fewer if there is a single column: all rows are near.
MOST_ROWS, MOST_ALONE = 4096, 256
# Tables of more cells, 32 MiB, are looked at in part, or block by block.
MOST_CELLS = 2**22
# Rows per task.
BLOCK_SIZE = 32
TINY = float(np.finfo(np.float64).tiny)
# Smaller shares would be shown as 0%.
LEAST_SHARE = 0.005
# The words that introduce edits.
EDITS = "To turn"
# The text names this many categories of the near rows.
MOST_CATEGORIES = 3


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


def column_reasons(
    measure: Any, patterns: Any, prototypes: Any, weights: Matrix, names: Sequence[str] | None
) -> list[tuple[Reason, ...]] | None:
    """Return the least usual values of each row, the strangest first; None if patterns are not rows of a table.

    Columns of weight 0 do not count.
    """
    if measure.cells is None:
        return None
    active = np.flatnonzero(weights > 0)
    if not len(active):
        return [()] * len(patterns)
    cells = measure.cells(patterns, looked_at(prototypes, len(active)), names)
    found, step = [], max(MOST_CELLS // (N_NEAR * len(active)), 1)
    for start in range(0, len(cells.rows), step):
        strange = strangest(cells, active, slice(start, start + step))
        for i, largest in enumerate(largest_of(strange.values), start):
            found.append(tuple(strange.reason(cells, i, k, share) for k, share in largest))
    return found


def looked_at(prototypes: Any, n_columns: int) -> Any:
    """Return the prototypes that are looked at: all, or some that are evenly spaced if there are very many."""
    n, most = len(prototypes), MOST_ALONE if n_columns == 1 else max(MOST_CELLS // n_columns, N_NEAR)
    most = min(most, MOST_ROWS)
    return prototypes[np.linspace(0, n - 1, most).astype(np.int64)] if n > most else prototypes


@dataclass(frozen=True, eq=False)
class Strangeness:
    """How strange the values of rows are in the active columns, from row `start` on: `values` (m, a).

    `near` (m, a, r) are the prototypes that are most like the row in the other columns; `ends` (m, a, 2) are those of
    them with the lowest and the highest number.
    """

    start: int
    active: Indices
    values: Matrix
    near: Indices
    ends: Indices

    def reason(self, cells: Cells, i: int, place: int, share: float) -> Reason:
        """Return the reason of row i for the active column at this place."""
        k, row = int(self.active[place]), i - self.start
        if not cells.is_code[k]:
            is_unseen = self.values[row, place] >= UNSEEN
            return _number_reason(cells, i, k, self.ends[row, place].tolist(), is_unseen, share)
        near = self.near[row, place]
        known = near[~np.isnan(cells.columns[k][near])].tolist()
        return _category_reason(cells, i, k, known, share)


def strangest(cells: Cells, active: Indices, some: slice = slice(None)) -> Strangeness:
    """Return how strange the values of some rows are in the active columns."""
    rows, columns = np.ascontiguousarray(cells.rows[some, active]), np.ascontiguousarray(cells.columns[active])
    is_code, spreads, n = cells.is_code[active], cells.spreads()[active], columns.shape[1]
    n_near = min(N_NEAR, max(1, n // 2)) if len(active) > 1 else max(1, n - 1)
    values, near, ends = np.empty(rows.shape), *(np.empty((*rows.shape, size), np.int64) for size in (n_near, 2))

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        strangeness_of_rows(rows[part], columns, is_code, spreads, values[part], near[part], ends[part])

    for_each_block(len(rows), BLOCK_SIZE, work)
    return Strangeness(some.start or 0, active, values, near, ends)


def largest_of(strangeness: Matrix) -> Iterator[list[tuple[int, float]]]:
    """Yield the places of the largest values of each row, with their shares of the sum of squares.

    UNSEEN counts as the most.
    """
    order = np.argsort(-strangeness, axis=1, kind="stable")[:, :MOST_NAMED]
    squares = np.minimum(strangeness, UNSEEN) ** 2
    shares = np.take_along_axis(squares, order, axis=1) / np.maximum(squares.sum(axis=1), TINY)[:, None]
    n_shown = np.maximum((shares > LEAST_SHARE).sum(axis=1), shares[:, 0] > 0)
    for places, parts, count in zip(order.tolist(), shares.tolist(), n_shown.tolist(), strict=True):
        yield list(zip(places[:count], parts[:count], strict=True))


def _number_reason(cells: Cells, i: int, k: int, ends: Sequence[int], is_unseen: bool, share: float) -> Reason:
    """Return the reason for a number, or a date, given the near rows of the lowest and the highest value."""
    column, place, name = cells.columns[k], cells.rows.item(i, k), cells.names[k]
    stands_out = not column.item(ends[0]) <= place <= column.item(ends[1])
    if is_unseen and not stands_out:
        return _gap_reason(cells, i, k, share)
    low, high = (cells.prototype_value(j, k) for j in ends)
    return range_reason(name, cells.value(i, k), low, high, share, "normal rows near it have {}", stands_out)


def _gap_reason(cells: Cells, i: int, k: int, share: float) -> Reason:
    """Return the reason for a number where the column has a gap: normal rows have lower and higher ones only."""
    column, place = cells.columns[k], cells.rows[i, k]
    ends = np.where(column < place, column, -np.inf).argmax(), np.where(column > place, column, np.inf).argmin()
    low, high = (cells.prototype_value(int(end), k) for end in ends)
    found = range_reason(cells.names[k], cells.value(i, k), low, high, share, "normal rows have {}", gap=True)
    return replace(found, low=None, high=None)


def range_reason(
    name: str, value: Any, low: Any, high: Any, share: float, text: str, stands_out: bool = True, gap: bool = False
) -> Reason:
    """Return the reason for a number or a date, given the ends of what normal rows have, or of a gap between them.

    The text says what they have; {} is the place of the range.
    """
    said, least, most = format_within(_extent(value, low, high), value, low, high)
    said, normal = format_own(value, said), f"up to {least} or from {most}" if gap else f"{least} to {most}"
    normal = least if least == most else normal
    words = f"{name} is {said}; {text.format(normal)}"
    return Reason(name, words, to_json(value), to_json(low), to_json(high), share, said, normal, stands_out)


def _extent(value: Any, low: Any, high: Any) -> float:
    """Return the range of the near values, or the distance from it if they are all the same; 0 for dates."""
    if isinstance(value, int | float) and isinstance(low, int | float):
        return float(high - low) or abs(float(value - low))
    return 0.0


def categories_in_words(counts: Counter[str]) -> str:
    """Return which categories rows have, the commonest first.

    >>> [categories_in_words(Counter(rows)) for rows in ("aabc", "aaaaabcd", "abcd")]
    ['a, b or c', 'mostly a', 'a, b and 2 more']
    """
    labels = [label for label, _ in counts.most_common()]
    if len(labels) <= MOST_CATEGORIES:
        return " or ".join([", ".join(labels[:-1]), labels[-1]] if len(labels) > 1 else labels) or "no value"
    return f"mostly {labels[0]}" if 2 * counts[labels[0]] > counts.total() else listed(labels, 2)


def _category_reason(cells: Cells, i: int, k: int, known: Sequence[int], share: float) -> Reason:
    value, name = cells.value(i, k), cells.names[k]
    counts = Counter(format_value(cells.prototype_value(j, k)) for j in known)
    said = format_value(value)
    normal = categories_in_words(counts)
    text = f"{name} is {said}; normal rows near it have {normal}"
    if not (cells.columns[k] == cells.rows[i, k]).any():
        text = f"{name} is {said}, which no normal row has; those near it have {normal}"
    return Reason(name, text, to_json(value), None, None, share, said, normal, said not in counts)


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
    least = 0.0 if edited else LEAST_SHARE * total  # without its smallest edit a row would not become the other
    shares = [(one.text, one.amount / total) for one in ranked if one.amount > least]
    reasons = [Reason(text, text, None, None, None, share) for text, share in shares]
    if not reasons:
        return f"Compared with {row}: no difference.", ()
    lead = {"pattern": f"{EDITS} it into {row}:", "prototype": f"{EDITS} {row}, into it:"}
    return lead.get(str(edited), f"Compared with {row}:"), tuple(reasons[:MOST_NAMED])
