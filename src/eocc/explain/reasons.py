"""What makes a row strange: its least usual values, or how it differs from the most similar normal row."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import format_within, shortened, to_json
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
# Smaller shares would be shown as 0%.
LEAST_SHARE = 0.005
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
    if not hasattr(measure, "cells"):
        return None
    active = np.flatnonzero(weights > 0)
    if not len(active):
        return [()] * len(patterns)
    n, most = len(prototypes), MOST_ALONE if len(active) == 1 else max(MOST_CELLS // len(active), N_NEAR)
    most = min(most, MOST_ROWS)
    if n > most:
        prototypes = prototypes[np.linspace(0, n - 1, most).astype(np.int64)]
    cells = measure.cells(patterns, prototypes, names)
    found, step = [], max(MOST_CELLS // (N_NEAR * len(active)), 1)
    for start in range(0, len(cells.rows), step):
        strangeness, near = strangest(cells, active, slice(start, start + step))
        found += [
            tuple(_column_reason(cells, start + i, int(active[k]), near[i, k], share) for k, share in _largest(one))
            for i, one in enumerate(strangeness)
        ]
    return found


def strangest(cells: Cells, active: Indices, some: slice = slice(None)) -> tuple[Matrix, Indices]:
    """Return the strangeness (m, a) of the values of some rows in the active columns, and the near prototypes."""
    rows, columns = np.ascontiguousarray(cells.rows[some, active]), np.ascontiguousarray(cells.columns[active])
    is_code, spreads, n = cells.is_code[active], cells.spreads()[active], columns.shape[1]
    n_near = min(N_NEAR, max(1, n // 2)) if len(active) > 1 else max(1, n - 1)
    strangeness, near = np.empty(rows.shape), np.empty((*rows.shape, n_near), np.int64)

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        strangeness_of_rows(rows[part], columns, is_code, spreads, strangeness[part], near[part])

    for_each_block(len(rows), BLOCK_SIZE, work)
    return strangeness, near


def _largest(strangeness: Matrix) -> list[tuple[int, float]]:
    """Return the places of the largest values, with their shares of the sum of squares; UNSEEN counts as the most."""
    squares = np.minimum(strangeness, UNSEEN) ** 2
    order = np.argsort(-strangeness, kind="stable")[:MOST_NAMED]
    shares = squares[order] / (squares.sum() or 1.0)
    n_shown = max((shares > LEAST_SHARE).sum(), int(shares[0] > 0))
    return list(zip(order[:n_shown].tolist(), shares[:n_shown].tolist(), strict=True))


def _column_reason(cells: Cells, i: int, k: int, near: Indices, share: float) -> Reason:
    values = cells.columns[k][near]
    is_known = values == values
    if not is_known.all():
        near, values = near[is_known], values[is_known]
    if cells.is_code[k]:
        return _category_reason(cells, i, k, near.tolist(), share)
    value, name = cells.value(i, k), cells.names[k]
    first, last = int(values.argmin()), int(values.argmax())
    low, high = cells.prototype_value(int(near[first]), k), cells.prototype_value(int(near[last]), k)
    extent = _extent(value, low, high)
    said, least, most = format_within(value, extent), format_within(low, extent), format_within(high, extent)
    normal = least if least == most else f"{least} to {most}"
    stands_out = not values[first] <= cells.rows[i, k] <= values[last]
    text = f"{name} is {said}; normal rows near it have {normal}"
    return Reason(name, text, to_json(value), to_json(low), to_json(high), share, said, normal, stands_out)


def _extent(value: Any, low: Any, high: Any) -> float:
    """Return the range of the near values, or the distance from it if they are all the same; 0 for dates."""
    if isinstance(value, int | float) and isinstance(low, int | float):
        return float(high - low) or abs(float(value - low))
    return 0.0


def _category_reason(cells: Cells, i: int, k: int, known: Sequence[int], share: float) -> Reason:
    value, name = cells.value(i, k), cells.names[k]
    counts = Counter(format_within(cells.prototype_value(j, k), 0.0) for j in known)
    labels, said = [label for label, _ in counts.most_common()], format_within(value, 0.0)
    normal = " or ".join([", ".join(labels[:-1]), labels[-1]] if len(labels) > 1 else labels) or "no value"
    normal = f"mostly {labels[0]}" if len(labels) > MOST_CATEGORIES else normal
    text = f"{name} is {said}; normal rows near it have {normal}"
    if not (cells.columns[k] == cells.rows[i, k]).any():
        text = f"{name} is {said}, which no normal row has; those near it have {normal}"
    return Reason(name, text, to_json(value), None, None, share, said, normal, said not in counts)


def difference_reasons(
    difference: Difference, row: str, description: str, role: str = "the most similar one"
) -> tuple[str, tuple[Reason, ...]]:
    """Return words that introduce the difference from a normal row, and its largest contributions as reasons.

    Those of the parts of a composite are named by part.
    """
    row = f"normal row {row}{f' ({shortened(description)})' if description else ''}, {role}"
    reasons = sorted(_contributions(difference), key=lambda reason: -reason.share)[:MOST_NAMED]
    if not reasons:
        return f"Compared with {row}: no difference.", ()
    edited = difference.details.get("edited")  # which of the two, if the reasons are edits
    lead = {"pattern": f"To turn it into {row}:", "prototype": f"To turn {row}, into it:"}
    return lead.get(str(edited), f"Compared with {row}:"), tuple(reasons)


def _contributions(difference: Difference) -> Iterator[Reason]:
    total = difference.dissimilarity
    for one in ranked_contributions(difference.contributions):
        if one.inner is None or not one.inner.contributions:
            yield Reason(one.text, one.text, None, None, None, one.amount / total)
            continue
        for each in _contributions(one.inner):
            text = f"{one.details['part']}: {each.text}"
            yield Reason(text, text, None, None, None, one.amount / total * each.share)
