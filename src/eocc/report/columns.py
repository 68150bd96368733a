"""The columns of a table: what is normal in each, where the values of rows lie, and what is new in the data."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eocc.base.registry import FEW, MANY, listed
from eocc.base.types import Matrix
from eocc.base.wording import counted, format_value, shortened
from eocc.classifiers.base import OneClassClassifier
from eocc.explain import Explanation, Reason
from eocc.explain.facts import known_columns, new_labels
from eocc.explain.fitted import number_columns
from eocc.tables.reading import Reading
from eocc.tables.table import BOOLEAN, NUMBER, Column, Table

# The normal range of a column leaves this share of the training rows out at each end.
TAIL = 0.025
N_BINS = 24
# Positive numbers have a logarithmic axis if they spread over this factor, and the upper half of the normal range is
# this many times as wide as the lower one.
LEAST_FACTOR, LEAST_SKEW = 20.0, 3.0
# Values this far from the histogram, in its widths, are drawn at this place, as an arrow.
FARTHEST = 1.5
# What rows are called if the model keeps all of them.
TRAINING_ROW = "training row"
# A chart shows this many categories, and one bar for all others.
MOST_LABELS = 12


@dataclass(frozen=True, eq=False)
class Axis:
    """How one column is drawn: a histogram of the normal rows between 0 and 1, or one bar per category.

    `known` are categories that training rows have, even if none of the rows in `column` has them.
    """

    column: Column
    known: Sequence[str] = ()

    @cached_property
    def is_number(self) -> bool:
        """Whether the values have an order: numbers and dates."""
        return self.column.labels is None and self.column.kind != BOOLEAN and bool(len(self._known))

    @cached_property
    def _known(self) -> Matrix:
        return self.column.values[~np.isnan(self.column.values)]

    @cached_property
    def range(self) -> tuple[float, float]:
        """The normal range: values of training rows, so that integers stay integers."""
        return float(np.quantile(self._known, TAIL, method="lower")), float(
            np.quantile(self._known, 1 - TAIL, method="higher")
        )

    @cached_property
    def is_logarithmic(self) -> bool:
        """Whether the axis is logarithmic, as for amounts of money."""
        (low, high), middle, least = self.range, float(np.median(self._known)), float(self._known.min())
        is_wide = self.column.kind == NUMBER and least > 0 and high > LEAST_FACTOR * low
        return is_wide and high - middle > LEAST_SKEW * (middle - low)

    def _scaled(self, values: Any) -> Any:
        """Return values on the axis; divided by the largest, so that differences of huge ones stay finite."""
        return np.log(np.maximum(values, 1e-300)) if self.is_logarithmic else values / self._largest

    @cached_property
    def _largest(self) -> float:
        return float(np.abs(self._known).max()) or 1.0

    @cached_property
    def _ends(self) -> tuple[float, float]:
        scaled = self._scaled(self._known)
        first, last = float(scaled.min()), float(scaled.max())
        return (first, last) if first < last else (first - 0.5, last + 0.5)

    def place(self, column: Column, index: int) -> float | None:
        """Return where a value lies: the histogram reaches from 0 to 1; or the bar of a category, -1 if it is new."""
        value = float(column.values[index])
        if np.isnan(value):
            return None
        if self.is_number and column.labels is None:
            return self.place_of(value)
        # Categories without a bar of their own share the last one.
        return self._bars.get(format_value(column.cell(index)), -1)

    def place_of(self, value: float) -> float:
        """Return where a number lies."""
        first, last = self._ends
        return round(min(max((float(self._scaled(value)) - first) / (last - first), -FARTHEST), 1 + FARTHEST), 3)

    @cached_property
    def _bars(self) -> dict[str, int]:
        """The bar of each category; the last one is for all that have none of their own."""
        return dict.fromkeys(self.categories, len(self.shares)) | {one[0]: bar for bar, one in enumerate(self.shares)}

    @cached_property
    def categories(self) -> Counter[str]:
        """How many normal rows have each category."""
        found = Counter(format_value(cell) for cell in self.column.cells() if cell is not None)
        found.update(dict.fromkeys(map(format_value, self.known), 0))
        return found

    @cached_property
    def shares(self) -> list[tuple[str, float]]:
        """The commonest categories with their shares of the normal rows that have one."""
        total = self.categories.total()
        # Of equally common ones, the first in the alphabet.
        ranked = sorted(self.categories.items(), key=lambda one: (-one[1], one[0]))
        most = len(ranked) if len(ranked) == MOST_LABELS + 1 else MOST_LABELS
        return [(label, count / total) for label, count in ranked[:most]]

    @property
    def words(self) -> str:
        """What is normal, in words."""
        if self.is_number:
            low, high = (self.text(value) for value in self.range)
            return f"always {low}" if low == high else f"{low} to {high}"
        return listed([f"{label} {share:.0%}" for label, share in self.shares[:FEW]]) or "always missing"

    def text(self, value: float) -> str:
        """Return a number of the column in words."""
        return format_value(self.column.given(value))

    def to_dict(self) -> dict[str, Any]:
        """Return what the script draws."""
        shown: dict[str, Any] = {"name": str(self.column.name), "usual": self.words}
        if self.is_number:
            counts, _ = np.histogram(self._scaled(self._known), N_BINS, range=self._ends)
            band = list(map(self.place_of, self.range))
            return {**shown, "band": band, "counts": counts.tolist(), "log": self.is_logarithmic or None}
        shares, more = (
            [(shortened(label), part) for label, part in self.shares],
            len(self.categories) - len(self.shares),
        )
        rest = f"{more} others" if more else None
        shares += [] if rest is None else [(rest, 1 - sum(share for _, share in self.shares))]
        return {**shown, "shares": [[label, round(share, 4)] for label, share in shares], "rest": rest}


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of training rows and of new rows; none for data that are no table.

    `reference` shows what is normal: the training rows, unless the model keeps none. `shown` are the columns whose
    values the page shows: all, unless there are very many. `row_name` says what the training rows are called:
    prototypes, if the model does not keep all. `reading` says which values the training rows had, kept or not.
    """

    names: list[str]
    training: Sequence[Column]
    reference: Sequence[Column]
    new: Sequence[Column] | None
    shown: list[int]
    row_name: str
    reading: Reading | None = None
    patterns: Any = None

    @cached_property
    def axes(self) -> list[Axis]:
        """How the shown columns are drawn."""
        known = {} if self.reading is None else {str(one.name): one.labels for one in self.reading.columns}
        names = [self.names[k] for k in self.shown]
        return [
            Axis(self.reference[k].changed(name=name), known.get(name, ()))
            for k, name in zip(self.shown, names, strict=True)
        ]

    @property
    def normal(self) -> list[dict[str, Any]]:
        """What is normal in each shown column, for the bars of the page."""
        return [axis.to_dict() for axis in self.axes]

    def values(self, index: int, is_new: bool) -> dict[str, Any]:
        """Return the values of one row in the shown columns, in words and as places; None if missing."""
        columns = self.new if is_new and self.new is not None else self.training
        some = [columns[k] for k in self.shown]
        texts = [None if cell is None else shortened(format_value(cell)) for cell in (c.cell(index) for c in some)]
        return {"values": texts, "places": [axis.place(one, index) for axis, one in zip(self.axes, some, strict=True)]}

    def places_near(self, reason: Reason) -> list[float] | None:
        """Return where the range of the near normal rows lies, if the reason has one."""
        axis, ends = self._by_name.get(reason.name), (reason.low, reason.high)
        is_range = all(isinstance(end, float) for end in ends)
        return list(map(axis.place_of, ends)) if axis is not None and axis.is_number and is_range else None

    @cached_property
    def _by_name(self) -> dict[str, Axis]:
        return {str(axis.column.name): axis for axis in self.axes}

    def problems(self) -> list[str]:
        """Return what may be wrong with the training rows, one sentence each."""
        said = []
        constant = [name for name, column in self._pairs() if len(np.unique(column.values)) == 1]
        if constant and len(self.reference[0].values) > 1:
            have = "has" if len(constant) == 1 else "have"
            said.append(
                f"{listed(constant)} {have} the same value in every {self.row_name}, so any other value looks unusual."
            )
        return said + _gaps(self._pairs(), self.row_name)

    def news(self) -> list[str]:
        """Return what new rows have that no training row has, and their gaps, one sentence each."""
        categories, beyond = list[str](), list[tuple[int, str]]()
        for known, column, is_new in new_labels(self.reading, self.patterns):
            codes = np.unique(column.codes).tolist()
            used = [format_value(column.labels[code]) for code in codes if column.labels and is_new[code]]
            categories += [f"{known.name} ({listed(sorted(used), FEW)})"] if used else []
        for name, low, high, values in self._with_ends():
            n_out = int(((values < low) | (values > high)).sum())
            beyond += [(-n_out, f"{name} ({n_out:,})")] if n_out else []
        words = listed([text for _, text in sorted(beyond)])
        said = [f"New categories: {listed(categories)}."] if categories else []
        said += [f"Values beyond those of all training rows, rows by column: {words}."] if beyond else []
        return said + _gaps(list(zip(self.names, self.new or (), strict=self.new is not None)), "new row")

    def _with_ends(self) -> Iterator[tuple[str, float, float, Matrix]]:
        """Yield the new numbers and dates of columns whose least and largest training value the model knows."""
        for known, column in known_columns(self.reading, self.patterns):
            if known.low is not None and known.high is not None and column.labels is None:
                yield str(known.name), known.low, known.high, column.values
        if self.reading is None and self.row_name == TRAINING_ROW:
            for name, rows, new in zip(self.names, self.training, self.new or (), strict=self.new is not None):
                if rows.labels is None and new.labels is None and not np.isnan(rows.values).all():
                    yield name, float(np.nanmin(rows.values)), float(np.nanmax(rows.values)), new.values

    def _pairs(self) -> list[tuple[str, Column]]:
        return list(zip(self.names, self.reference, strict=True))


def _gaps(columns: Sequence[tuple[str, Column]], kind: str) -> list[str]:
    """Return in how many rows, and in which columns, values are missing."""
    if not columns:
        return []
    has_gap, counts = np.zeros(len(columns[0][1].values), bool), Counter[str]()
    for name, column in columns:
        gaps = np.isnan(column.values)
        has_gap |= gaps
        counts[name] += int(gaps.sum())
    most = [f"{name} ({count:,})" for name, count in counts.most_common() if count]
    return [f"Gaps in {has_gap.sum():,} of {counted(len(has_gap), kind)}: {listed(most)}."] if most else []


def columns_of(classifier: OneClassClassifier, new: Any, explained: Sequence[Explanation]) -> Columns:
    """Return the columns of a table of numbers or records, and of `new` patterns; none for other data."""
    names, training, reading = number_columns(classifier), classifier.prototypes_, classifier.reading_
    row_name = TRAINING_ROW if classifier._is_whole else "prototype"
    if names:
        kept = None if new is None else _number_columns(names, new)
        rows, reference = (_number_columns(names, part) for part in (training, classifier._reference_rows))
        return Columns(names, rows, reference, kept, _shown(explained, names), row_name, reading, new)
    if isinstance(training, Table):
        names, reference = [str(name) for name in training.names], classifier._reference_rows.columns
        given = {} if new is None else {column.name: column for column in new.columns}
        kept = None if new is None else [given[name] for name in training.names]
        return Columns(names, training.columns, reference, kept, _shown(explained, names), row_name, reading, new)
    return Columns([], [], [], None, [], row_name)


def _shown(explained: Sequence[Explanation], names: list[str]) -> list[int]:
    """Return the columns to show: those named most often as reasons, if there are very many."""
    counts = Counter(reason.name for one in explained for reason in one.reasons)
    order = sorted(range(len(names)), key=lambda k: -counts[names[k]])
    return sorted(order[:MANY])


def _number_columns(names: list[str], rows: Matrix) -> list[Column]:
    return [Column(name, NUMBER, rows[:, k]) for k, name in enumerate(names)]
