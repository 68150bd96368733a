"""How the text of a training table writes numbers and dates, so that new tables are read in the same way."""

import math
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eocc.measures.columns import holds_text, judged, read_table, with_columns
from eocc.measures.schema import DATE, NUMBER
from eocc.measures.spelling import PLAIN, Spelling, date_of, number_of, unit_of
from eocc.measures.spelling import spelling_of as spelling_of_cells


@dataclass(frozen=True)
class TextFormat:
    """The spelling, and the currency or percent sign of the columns ("" for none) that need it to be read."""

    spelling: Spelling = PLAIN
    units: Mapping[Hashable, str] = field(default_factory=dict)

    def plain(self, X: Any) -> Any:
        """Return a frame or dicts with numbers as 1234.5 and dates as 2031-12-01 in these columns; warn of other signs.

        >>> TextFormat(Spelling(","), {"load": "€"}).plain([{"load": "1.234,5 €"}, {"load": None}])
        [{'load': '1234.5'}, {'load': None}]
        """
        if not self.units:
            return X
        if isinstance(X, Sequence) and all(isinstance(row, Mapping) for row in X):
            for name in self.units:
                self._check_unit(name, [row.get(name) for row in X])
            return [{name: self._cell(name, cell) for name, cell in row.items()} for row in X]
        return self._frame(X) if hasattr(type(X), "columns") else X

    def _frame(self, X: Any) -> Any:
        import narwhals.stable.v2 as nw

        frame = nw.from_native(X, eager_only=True)
        texts = [one for one in frame.iter_columns() if one.name in self.units and one.dtype in (nw.String, nw.Object)]
        for one in texts:
            self._check_unit(one.name, one.to_list())
        return with_columns(
            X, {one.name: ([self._cell(one.name, cell) for cell in one.to_list()], one.dtype) for one in texts}
        )

    def _cell(self, name: Hashable, cell: Any) -> Any:
        if name not in self.units or not isinstance(cell, str):
            return cell
        text = cell.strip()
        number, day = number_of(text, self.spelling), date_of(text, self.spelling)
        if number is not None and math.isfinite(number):
            return repr(number)
        return cell if day is None else day.isoformat()

    def _check_unit(self, name: Hashable, cells: Sequence[Any]) -> None:
        texts = {cell.strip() for cell in cells if isinstance(cell, str)}
        found = {unit_of(text, self.spelling) for text in texts if number_of(text, self.spelling) is not None}
        for unit in sorted(found - {self.units[name]}):
            warnings.warn(difference_in_unit(name, unit, self.units[name]), UserWarning, stacklevel=5)


def difference_in_unit(name: Hashable, found: str, trained: str) -> str:
    """Return a sentence about a sign that differs from the one in training; "" if it does not."""
    here, there = (f"with {unit}" if unit else "without a sign" for unit in (found, trained))
    return "" if found == trained else f"column {name!r} has numbers {here}, but {there} in training"


def text_format_of(X: Any) -> TextFormat:
    """Return how a frame, or dicts, writes numbers and dates; warn of text that is nearly numbers or dates."""
    columns = [column for column in read_table(X).columns if holds_text(column)]
    spelling = spelling_of_cells([column.labels or () for column in columns])
    units = dict[Hashable, str]()
    for column in columns:
        found = judged(column, spelling)
        if found.fault:
            convert = f"correct it, make it None, or convert the column to {found.wanted}s"
            remedy = convert if found.odd else "write all in one unit"
            said = f"column {column.name!r} counts as text because {found.why()}; {remedy}"
            warnings.warn(said, UserWarning, stacklevel=5)
        elif found.kind in (NUMBER, DATE) and (found.unit or spelling != PLAIN):
            units[column.name] = found.unit
    return TextFormat(spelling if units else PLAIN, units)
