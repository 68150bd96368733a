"""The view that sees one impossible value: out of range, never seen, or missing.

Each cell of a table has a p-value among the n training cells of its column: (1 + the number of others that are at least
as strange) / n. The view is the largest of -log p over the columns.

- A *number* is as strange as it is far from the median, in units of the median deviation on its side of the median.
- A *category* is as strange as it is rare. A category of a single training row has no others, so it is as strange as
  one that was never seen: in a column of names or ids, no value is strange.
- A *gap* is as strange as gaps are rare in the column. The number of gaps of a row counts as one more column.

A cell beyond all others is stranger than 1 / n can say, and adds a little to -log p: log(its distance / the largest of
theirs), log(the count of the rarest category / its own), log n for the first gap, or the gaps that no other row has.
"""

from dataclasses import dataclass

import numpy as np

from eocc.base.types import ROUNDING, TINY, Flags, Indices, Matrix
from eocc.kernels.cells import MOST_BEYOND, Columns, cell_strangeness, strangest_cells
from eocc.space.prototypes.content import Words
from eocc.surprise.comparison import Comparison, Reference


@dataclass(frozen=True, eq=False)
class CellView:
    """The columns, as new rows are compared with them."""

    columns: Columns

    def of(self, rows: Comparison) -> Matrix:
        """Return the view of new rows."""
        found = np.empty(len(rows.patterns))
        strangest_cells(values_of(rows.reference, rows.patterns), self.columns, 0, found)
        return found

    def by_column(self, values: Matrix) -> Matrix:
        """Return -log p of every cell, and of the number of gaps: (m, u + 1)."""
        found = np.empty((len(values), values.shape[1] + 1))
        cell_strangeness(values, self.columns, found)
        return found


def values_of(reference: Reference, patterns: object) -> Matrix:
    """Return the cells of patterns as numbers or codes, NaN if missing, in the columns whose weights are not 0."""
    values = reference.measure.cell_values(patterns)
    return np.ascontiguousarray(values if reference.active.all() else values[:, reference.active])


def fit_cell(among: Comparison, keys: Words) -> tuple[CellView, Matrix] | None:
    """Return the view, and that of the prototypes, each left out; None unless they are rows of a table."""
    return cells_of(among.reference) if among.reference.measure.cell_values is not None else None


def cells_of(reference: Reference) -> tuple[CellView, Matrix]:
    """Return the view of the prototypes, and their numbers, each left out."""
    values, found = values_of(reference, reference.prototypes), np.empty(len(reference))
    is_gap, is_code = np.isnan(values), np.asarray(reference.measure.is_code)[reference.active]
    columns = [one[~gaps] if gaps.any() else one for one, gaps in zip(values.T.copy(), is_gap.T, strict=True)]
    numbers = [_numbers(np.empty(0) if code else one) for one, code in zip(columns, is_code, strict=True)]
    facts = np.array([fact for _, fact in numbers]).T.copy()
    made = []
    for left_out in (0, 1):
        pairs = zip(columns, numbers, is_code, strict=True)
        ranked = [_codes(one, left_out) if code else far for one, (far, _), code in pairs]
        starts = np.concatenate([[0], np.cumsum([len(one) for one in ranked])])
        made.append(Columns._make([is_code, starts, np.concatenate(ranked), *facts, *_gaps(is_gap, left_out)]))
    strangest_cells(values, made[1], 1, found)
    return CellView(made[0]), found


def _surprise(count: Indices, n: int, left_out: int, excess: Matrix | Indices) -> Matrix:
    """Return -log of the share of n training cells that are at least as strange, and the `excess` beyond all others.

    A left-out cell is among the `count`.
    """
    share = np.clip((count + 1 - left_out) / max(n, 1), TINY, 1.0)
    return np.asarray(np.clip(excess, 0.0, MOST_BEYOND) - np.log(share))


def _gaps(is_gap: Flags, left_out: int) -> tuple[Matrix, Matrix]:
    """Return -log p of a gap in each column (u,), and of every number of gaps in a row (u + 1,)."""
    (n, u), counts, known = is_gap.shape, is_gap.sum(axis=0), np.sort(is_gap.sum(axis=1))
    alone = np.where(counts == left_out, np.log(1.0 + n - counts), 0.0)
    number, most = np.arange(u + 1), known[-1 - left_out :][0]  # of the other rows
    of_number = _surprise(n - np.searchsorted(known, number), n, left_out, number - most)
    return _surprise(counts, n, left_out, alone), of_number


def _numbers(present: Matrix) -> tuple[Matrix, tuple[float, ...]]:
    """Return the distances of numbers from their median, ascending, and the median, units and least distance."""
    if not len(present):
        return present, (0.0, 1.0, 1.0, 1.0)
    rising = np.sort(present)
    middle, size = _median(rising), float(max(abs(rising[0]), abs(rising[-1]))) or 1.0
    with np.errstate(over="ignore"):
        apart = rising - middle
    low, high = np.searchsorted(apart, [-ROUNDING * size, ROUNDING * size], side="right")
    above, below = (_median(side) if len(side) else size for side in (apart[high:], -apart[:low]))
    far = np.maximum(apart / above, -apart / below)
    return np.sort(far, kind="stable"), (middle, above, below, ROUNDING * size / max(above, below))


def _median(rising: Matrix) -> float:
    middle = len(rising) // 2
    return float(rising[middle] if len(rising) % 2 else rising[middle - 1] / 2 + rising[middle] / 2)


def _codes(present: Matrix, left_out: int) -> Matrix:
    """Return -log p of each code, then of any other. The others of a training cell do not include itself."""
    codes = present.astype(np.int64)
    counts = np.append(np.bincount(codes), 0)
    others, own = np.sort(counts[codes] - 1), np.maximum(counts - left_out, 0)
    rarest = others[left_out] if len(others) > left_out else 0
    excess = np.log((1 + rarest) / (1 + own))
    return _surprise(np.searchsorted(others, own, side="right"), len(codes), left_out, excess)
