"""New rows against held-out normal rows: whether the data have changed since the fit."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from eocc.base.markup import MOST_SHOWN, joined, table, tag
from eocc.base.printing import printable
from eocc.base.types import ROUNDING, Indices, Matrix
from eocc.base.wording import counted, format_number
from eocc.calibration.conformal import Calibration
from eocc.tables.table import Column, columns_of

# Drift is said if the p-value is at most this: without drift, for at most one batch in a hundred.
ALPHA = 0.01
# New rows are counted beyond these shares of the held-out rows, besides the rejected rows.
LEVELS = (0.1, 0.25, 0.5)
UNUSUAL, NORMAL = "unusual", "normal"
# Held-out rows are only roughly like new ones, so this share of all rows more or less beyond a level is no drift.
LEVEL_SLACK = 0.01
# Rows count as beyond a level only if they are farther out by this share of the margin of the median held-out row. So
# many rows that tie with a level, but for a small bias, are no drift.
SCORE_SLACK = 0.02


@dataclass(frozen=True)
class ColumnDrift:
    """A column, and the p-value of a test of it alone: it names the column, it does not decide whether there is drift.

    Numbers are compared by a two-sample Kolmogorov-Smirnov test, labels and missing values by a chi-square test. The
    p-value is approximate, 2 exp(-2 D^2 n m / (n + m)) for numbers, and rather too large than too small.
    """

    name: Hashable
    p_value: float


@dataclass(frozen=True)
class Drift:
    """Whether new rows differ from the training rows; `str` gives the sentence.

    `n_rejected` of `n_rows` new rows are rejected; `n_expected` are on average, without drift. `p_value` is valid for
    any number of rows. `columns` are those of a table, the most different first. `remark` says how unusual or normal
    the rows are, where that says more than the number of rejections.
    """

    p_value: float
    n_rows: int
    n_rejected: int
    n_expected: float
    columns: tuple[ColumnDrift, ...] = ()
    remark: str = ""

    @property
    def is_drift(self) -> bool:
        """Whether the p-value is at most 0.01."""
        return self.p_value <= ALPHA

    def __str__(self) -> str:
        expected = f"{format_number(100 * self.n_expected / self.n_rows)} % expected"
        opening = f"{self.n_rejected:,} of {counted(self.n_rows, 'row')} rejected, {expected}"
        odd = [printable(str(one.name)) for one in self.columns[:1] if one.p_value * len(self.columns) <= ALPHA]
        if self.is_drift:
            where = f", most of all in {odd[0]}" if odd else ""
            return f"{opening}{self.remark}: the new data differ from the training data{where}."
        if odd:
            return f"{opening}: no more unusual than the training data, but different in {odd[0]}."
        return f"{opening}: no sign that the new data differ from the training data."

    def _repr_html_(self) -> str:
        rows = [(one.name, format_number(one.p_value)) for one in self.columns[:MOST_SHOWN]]
        return joined([tag("p", self), *([table(("column", "p-value of it alone"), rows)] if rows else [])])


class DriftCounts:
    """Counts of new rows beyond some of the held-out rows, in memory that does not grow with the rows.

    If new and held-out rows are exchangeable, the number of new rows below the held-out row of a given rank has a
    beta-binomial distribution, for any number of either; not a binomial one, as all rows are ranked among the same
    held-out rows. One test counts rejected rows and gets half of the error; the others count rows beyond `LEVELS`.

    `sides` says whether the test looks for rows that are too unusual, too normal, or both.
    """

    def __init__(
        self, calibration: Calibration, threshold: float, prototypes: Any, names: Sequence[str], sides: Sequence[str]
    ) -> None:
        self._rate, self._threshold, self._names, self._sides = calibration.limit, threshold, names, sides
        self._columns = [_ColumnCounts(column) for column in columns_of(prototypes, names)]
        margins = calibration.margins
        self._n_held_out = n = len(margins)
        # Of rejected rows and of each level: ranks from 1 to n, and those that the tails are compared with.
        shares = [[self._rate, *LEVELS], [self._rate, *(level + LEVEL_SLACK for level in LEVELS)]]
        ranks, self._ranks = np.clip((np.array(shares) * (n + 1) + ROUNDING).astype(np.int64), 1, n)
        slack = SCORE_SLACK * max(0.0, float(np.median(margins)) - threshold)
        self._low, self._high = margins[ranks - 1] - slack, margins[n - ranks] + slack
        self._low[0] += slack  # of the rejected rows
        self._below, self._above = np.zeros((2, len(ranks)), np.int64)
        self._n_rows, self._n_rejected = 0, 0

    def add(self, margins: Matrix, patterns: Any) -> Self:
        """Count these rows too, given by their margins and as patterns of the measure; return self."""
        self._n_rows += len(margins)
        self._n_rejected += int((margins < self._threshold).sum())
        found = {column.name: column for column in columns_of(patterns, self._names)}
        for counts in self._columns:
            counts.new += counts.of(found[counts.name])
        self._below += (margins[:, None] < self._low).sum(axis=0)
        self._above += (margins[:, None] > self._high).sum(axis=0)
        return self

    def result(self) -> Drift:
        """Return the test of all rows counted."""

        def tail_of(count: int, k: int) -> float:
            return tail(count, int(self._ranks[k]), self._n_rows, self._n_held_out)

        rejected, remark = 2 * tail_of(int(self._below[0]), 0), ""
        found = {UNUSUAL: self._below, NORMAL: self._above}
        beyond = [(side, int(found[side][k]), k) for side in self._sides for k in range(1, 1 + len(LEVELS))]
        tails = [tail_of(count, k) for _, count, k in beyond]
        if (least := 2 * len(tails) * min(tails)) < rejected:
            side, count, k = beyond[int(np.argmin(tails))]
            level = LEVELS[k - 1]
            than = f"{100 * (1 - level):g} % of the training rows, {100 * level:g} % expected"
            remark = f"; {format_number(100 * count / self._n_rows)} % are more {side} than {than}"
        found_in = list[tuple[float, Hashable]]()  # -log p, which does not underflow, and the name of the column
        for one in self._columns:
            both = np.array([one.known, one.new])
            gaps = np.column_stack([both[:, :-1].sum(axis=1), both[:, -1]])
            of_values = kolmogorov_smirnov if one.is_number else chi_square
            found_in.append((max(chi_square(gaps), of_values(both[:, :-1])), one.name))
        found_in.sort(key=lambda one: one[0], reverse=True)
        columns = tuple(ColumnDrift(name, math.exp(-e)) for e, name in found_in)
        expected = round(self._rate * self._n_rows, 6)
        return Drift(min(1.0, rejected, least), self._n_rows, self._n_rejected, expected, columns, remark)


def tail(count: int, rank: int, n_new: int, n_known: int) -> float:
    """Return the probability that `count` or more of n_new values lie below the known value of this rank.

    All n_new + n_known values are exchangeable. Of the count + rank - 1 smallest, fewer than `rank` are then known
    values: a hypergeometric distribution.

    >>> round(tail(1, 1, 1, 19), 3), round(tail(2, 1, 2, 19), 5), tail(0, 5, 20, 99)
    (0.05, 0.00476, 1.0)
    """
    if count == 0:
        return 1.0
    first = count + rank - 1
    least = max(0, first - n_new)
    k = np.arange(least, min(first, n_known))
    # The log of how much more probable one known value more is: a sum of these is more exact than log-gammas.
    more = np.log((n_known - k) * (first - k)) - np.log((k + 1) * (n_new - first + k + 1))
    logs = np.append(0.0, np.cumsum(more))
    shares = np.exp(logs - logs.max())
    return float(min(1.0, shares[: max(0, rank - least)].sum() / shares.sum()))


class _ColumnCounts:
    """How many training rows and new rows fall into each bin of a column; the last bin is that of missing values.

    Numbers have one bin for each of up to 1,000 training values, and one for each gap between them. Labels of at least
    five training rows have one each; the first is for all others.
    """

    def __init__(self, column: Column) -> None:
        self.name, self.is_number = column.name, column.labels is None
        present, labels = np.sort(column.values[~np.isnan(column.values)]), column.labels or ()
        if self.is_number:
            self._cuts = np.unique(present[np.linspace(0, len(present) - 1, min(len(present), 1000)).astype(int)])
        else:
            many = np.flatnonzero(np.bincount(present.astype(np.int64), minlength=len(labels)) >= 5).tolist()
            self._bin = {labels[code]: number for number, code in enumerate(many, 1)}
        self.known = self.of(column)
        self.new = np.zeros_like(self.known)

    def of(self, column: Column) -> Indices:
        """Return how many rows fall into each bin."""
        is_missing = np.isnan(column.values)
        present = column.values[~is_missing]
        if self.is_number:
            places, count = np.searchsorted(self._cuts, present), 2 * len(self._cuts) + 1
            bins = 2 * places + (np.append(self._cuts, np.inf)[places] == present)
        else:
            of_label = np.array([self._bin.get(label, 0) for label in column.labels or ()], np.int64)
            bins, count = of_label[present.astype(np.int64)], len(self._bin) + 1
        return np.append(np.bincount(bins, minlength=count), int(is_missing.sum()))


def kolmogorov_smirnov(counts: Indices) -> float:
    """Return -log of the approximate p-value of two samples, counted in the same ordered bins (2, b).

    >>> round(kolmogorov_smirnov(np.array([[100, 0], [0, 100]])), 2), kolmogorov_smirnov(np.array([[9, 9], [3, 3]]))
    (99.31, 0.0)
    """
    sizes = counts.sum(axis=1)
    if not sizes.all():
        return 0.0
    largest = float(np.abs(np.diff(np.cumsum(counts, axis=1) / sizes[:, None], axis=0)).max())
    return max(0.0, 2 * largest**2 * float(np.prod(sizes / sizes.sum())) * float(sizes.sum()) - math.log(2))


def chi_square(counts: Indices) -> float:
    """Return -log of Chernoff's bound of the p-value of two samples, counted in the same bins (2, b).

    >>> round(chi_square(np.array([[100, 0], [0, 100]])), 1), chi_square(np.array([[9, 9], [3, 3]]))
    (96.9, 0.0)
    """
    counts = counts[:, counts.sum(axis=0) > 0]
    sizes, freedom = counts.sum(axis=1), counts.shape[1] - 1
    if not (sizes.all() and freedom):
        return 0.0
    expected = sizes[:, None] * (counts.sum(axis=0) / sizes.sum())
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return (statistic - freedom - freedom * math.log(statistic / freedom)) / 2 if statistic > freedom else 0.0
