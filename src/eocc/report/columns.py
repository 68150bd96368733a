"""The columns of a table: what is normal in each, where the values of rows lie, and what is new in the data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eocc.base.registry import FEW, MANY, listed
from eocc.base.types import Matrix
from eocc.base.wording import format_value, shortened
from eocc.classifiers.base import OneClassClassifier
from eocc.explain.explanation import Explanation
from eocc.explain.facts import number_columns
from eocc.explain.reasons import Reason
from eocc.explain.rules import known_ends
from eocc.tables.table import BOOLEAN, NUMBER, Column, Table

# The normal range of a column leaves this share of the training rows out at each end.
TAIL = 0.025
# Values this far from the histogram, in its widths, are drawn at this place, as an arrow.
FARTHEST = 1.5
# A chart shows this many categories, and one bar for all others.
MOST_LABELS = 12


@dataclass(frozen=True, eq=False)
class Axis:
    """How one column is drawn: a histogram of the normal rows between 0 and 1, or one bar per category.

    `column` shows what is normal: the training rows, unless the model keeps none. `known` are categories that training
    rows have, even if none of the rows in `column` has them. `training` and `new` hold the values of the rows.
    """

    column: Column
    known: Sequence[str]
    training: Column
    new: Column | None

    @cached_property
    def is_number(self) -> bool:
        """Whether the values have an order: numbers and dates."""
        return self.column.labels is None and self.column.kind != BOOLEAN and bool(len(self._values))

    @cached_property
    def _values(self) -> Matrix:
        return self.column.values[~np.isnan(self.column.values)]

    @cached_property
    def range(self) -> tuple[float, float]:
        """The normal range: values of training rows, so that integers stay integers."""
        low = np.quantile(self._values, TAIL, method="lower")
        return float(low), float(np.quantile(self._values, 1 - TAIL, method="higher"))

    @cached_property
    def is_logarithmic(self) -> bool:
        """Whether the axis is logarithmic, as for amounts of money: positive, over a factor of 20, and skewed."""
        (low, high), middle, least = self.range, float(np.median(self._values)), float(self._values.min())
        return self.column.kind == NUMBER and least > 0 and high > 20 * low and high - middle > 3 * (middle - low)

    def _scaled(self, values: Any) -> Any:
        """Return values on the axis; divided by the largest, so that differences of huge ones stay finite."""
        return np.log(np.maximum(values, 1e-300)) if self.is_logarithmic else values / self._largest

    @cached_property
    def _largest(self) -> float:
        return float(np.abs(self._values).max()) or 1.0

    @cached_property
    def _ends(self) -> tuple[float, float]:
        scaled = self._scaled(self._values)
        first, last = float(scaled.min()), float(scaled.max())
        return (first, last) if first < last else (first - 0.5, last + 0.5)

    def place(self, column: Column, index: int) -> float | None:
        """Return where a value lies: the histogram reaches from 0 to 1; or the bar of a category, -1 if it is new."""
        value = float(column.values[index])
        if np.isnan(value):
            return None
        if self.is_number and column.labels is None:
            return self.place_of(value)
        place = self._ranks.get(format_value(column.cell(index)), -1)
        return min(place, self._n_bars)  # categories without a bar of their own share the last one

    def place_of(self, value: float) -> float:
        """Return where a number lies."""
        first, last = self._ends
        return round(min(max((float(self._scaled(value)) - first) / (last - first), -FARTHEST), 1 + FARTHEST), 3)

    @cached_property
    def shares(self) -> list[tuple[str, float]]:
        """All categories with their shares of the normal rows that have one, the commonest first, then by name."""
        counts = Counter(format_value(cell) for cell in self.column.cells() if cell is not None)
        counts.update(dict.fromkeys(map(format_value, self.known), 0))
        ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        return [(label, count / max(counts.total(), 1)) for label, count in ranked]

    @cached_property
    def _ranks(self) -> dict[str, int]:
        return {label: rank for rank, (label, _) in enumerate(self.shares)}

    @property
    def _n_bars(self) -> int:
        return len(self.shares) if len(self.shares) == MOST_LABELS + 1 else min(len(self.shares), MOST_LABELS)

    @property
    def words(self) -> str:
        """What is normal, in words."""
        if self.is_number:
            low, high = (format_value(self.column.given(value)) for value in self.range)
            return f"always {low}" if low == high else f"{low} to {high}"
        return listed([f"{label} {share:.0%}" for label, share in self.shares[:FEW]]) or "always missing"

    def to_dict(self) -> dict[str, Any]:
        """Return what the script draws."""
        shown: dict[str, Any] = {"name": str(self.column.name), "usual": self.words}
        if self.is_number:
            counts, _ = np.histogram(self._scaled(self._values), 24, range=self._ends)
            band = list(map(self.place_of, self.range))
            return {**shown, "band": band, "counts": counts.tolist(), "log": self.is_logarithmic or None}
        bars, more = self.shares[: self._n_bars], len(self.shares) - self._n_bars
        rest = f"{more} others" if more else None
        shares = [[shortened(label), round(share, 4)] for label, share in bars]
        shares += [] if rest is None else [[rest, round(1 - sum(share for _, share in bars), 4)]]
        return {**shown, "shares": shares, "rest": rest}


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the data by name; none for data that are no table. Of very many, only some have `axes`.

    `constant` and `beyond` are sentences, or nothing: on columns with the same value in every training row, and on
    values of new rows that are beyond those of all training rows.
    """

    row_name: str
    names: Sequence[str] = ()
    axes: Sequence[Axis] = ()
    constant: Sequence[str] = ()
    beyond: Sequence[str] = ()

    @property
    def normal(self) -> list[dict[str, Any]]:
        """What is normal in each shown column, for the bars of the page."""
        return [axis.to_dict() for axis in self.axes]

    def values(self, index: int, is_new: bool) -> dict[str, Any]:
        """Return the values of one row in the shown columns, in words and as places; None if missing."""
        columns = [axis.training if axis.new is None or not is_new else axis.new for axis in self.axes]
        cells = [column.cell(index) for column in columns]
        return {
            "values": [None if cell is None else shortened(format_value(cell)) for cell in cells],
            "places": [axis.place(column, index) for axis, column in zip(self.axes, columns, strict=True)],
        }

    def places_near(self, reason: Reason) -> list[float] | None:
        """Return where the range of the near normal rows lies, if the reason has one."""
        axis = next((axis for axis in self.axes if axis.column.name == reason.name), None)
        ends = [end for end in (reason.low, reason.high) if isinstance(end, float)]
        return list(map(axis.place_of, ends)) if axis is not None and axis.is_number and len(ends) == 2 else None


def columns_of(classifier: OneClassClassifier, new: Any, explained: Sequence[Explanation]) -> Columns:
    """Return the columns of a table of numbers or records, and of `new` patterns; none for other data."""
    names, training, reading = number_columns(classifier), classifier.prototypes_, classifier.reading_
    row_name = "training row" if classifier._is_whole else "prototype"
    if not names and not isinstance(training, Table):
        return Columns(row_name)

    def given(rows: Any) -> list[Column]:
        if isinstance(rows, Table):
            found = {column.name: column for column in rows.columns}
            return [found[name].changed(name=str(name)) for name in training.names]
        return [Column(name, NUMBER, rows[:, k]) for k, name in enumerate(names)]

    known, reference, ends = given(training), given(classifier._reference_rows), known_ends(classifier)
    kept = [] if new is None else given(new)
    if reading is None and classifier._is_whole:
        numbers = [one for one in known if one.labels is None and not np.isnan(one.values).all()]
        ends = {str(one.name): (float(np.nanmin(one.values)), float(np.nanmax(one.values))) for one in numbers}
    counts = Counter(reason.name for one in explained for reason in one.reasons)
    # Of very many columns, those named most often as reasons.
    shown = sorted(sorted(range(len(known)), key=lambda k: -counts[str(known[k].name)])[:MANY])
    labels = {} if reading is None else {str(one.name): one.labels for one in reading.columns}
    axes = [
        Axis(reference[k], labels.get(str(reference[k].name), ()), known[k], kept[k] if kept else None) for k in shown
    ]
    constant, beyond = list[str](), list[str]()
    alike = [str(column.name) for column in reference if len(np.unique(column.values)) == 1]
    if alike and len(reference[0]) > 1:
        have = f"{listed(alike)} {'has' if len(alike) == 1 else 'have'} the same value in every"
        constant = [f"{have} {row_name}, so any other value looks unusual."]
    outside = Counter[str]()
    for column in (one for one in kept if str(one.name) in ends and one.labels is None):
        low, high = ends[str(column.name)]
        outside[str(column.name)] = int(((column.values < low) | (column.values > high)).sum())
    ranked = sorted((-count, name) for name, count in outside.items() if count)
    if ranked:
        words = listed(f"{name} ({-count:,})" for count, name in ranked)
        beyond = [f"Values beyond those of all training rows, rows by column: {words}."]
    return Columns(row_name, [str(column.name) for column in known], axes, constant, beyond)
