"""Passes over a source: rows in files or chunks, which must be the same in every pass."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from zlib import adler32

import numpy as np

from eocc.foundation.progress import stage
from eocc.foundation.threads import in_order
from eocc.foundation.types import Matrix
from eocc.scale.passes import READING, Part
from eocc.streaming.source import Rows, Source

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """`minimum`, `maximum`, `mean` and standard deviation (`spread`) of every column over `n_rows` rows."""

    n_rows: int
    minimum: Matrix
    maximum: Matrix
    mean: Matrix
    spread: Matrix

    @classmethod
    def of(cls, rows: Matrix) -> "ColumnStatistics":
        """Return the statistics of rows, at least one."""
        columns = np.ascontiguousarray(rows.T)  # several times as fast as along the rows
        with np.errstate(over="ignore", invalid="ignore"):
            mean, spread = columns.mean(axis=1), columns.std(axis=1)
        return cls(len(rows), columns.min(axis=1), columns.max(axis=1), mean, spread)

    def merge(self, other: "ColumnStatistics") -> "ColumnStatistics":
        """Return the statistics of the rows of both."""
        n = self.n_rows + other.n_rows
        share = other.n_rows / n
        with np.errstate(over="ignore", invalid="ignore"):
            gap = other.mean - self.mean
            variance = (1 - share) * self.spread**2 + share * other.spread**2 + share * (1 - share) * gap**2
            mean = self.mean + share * gap
        lowest, highest = np.minimum(self.minimum, other.minimum), np.maximum(self.maximum, other.maximum)
        return ColumnStatistics(n, lowest, highest, mean, np.sqrt(variance))


@dataclass
class _Seen:
    """What a pass saw: the number of rows, and a checksum of their values."""

    n_rows: int = 0
    checksum: int = 1

    def add(self, rows: Rows, checksum: int) -> None:
        """Take some rows into account."""
        self.n_rows += len(rows.values)
        self.checksum = adler32(checksum.to_bytes(4, "little"), self.checksum)


class StreamPasses:
    """Passes over a source on `count` threads; `statistics` of all rows are there after the first pass."""

    statistics: ColumnStatistics

    def __init__(self, source: Source, count: int) -> None:
        self._source, self._count = source, count
        self._first: _Seen | None = None

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if the source knows it or has been read."""
        return self._source.n_rows if self._first is None else self._first.n_rows

    @property
    def n_columns(self) -> int | None:
        """The number of columns, known after the first pass."""
        return None if self._first is None else len(self.statistics.mean)

    def fold(
        self, work: Callable[[Part], Result], join: Callable[[Result, Result], Result], name: str = READING
    ) -> Result:
        """Return the results of all parts, joined in order; raise a ValueError if the rows are not those of before."""
        is_first = self._first is None

        def worked(rows: Rows) -> tuple[Rows, Result, int, ColumnStatistics | None]:
            statistics = ColumnStatistics.of(rows.values.patterns) if is_first else None
            return rows, work(Part(rows.values.patterns, rows.numbers)), adler32(rows.values.patterns), statistics

        seen, results, known = _Seen(), list[Result](), list[ColumnStatistics]()
        n_known = self.n_rows
        with stage(name, n_known or 1) as report:  # one step: a file says how much of it has been read
            for rows, result, checksum, statistics in in_order(worked, self._source.rows(), self._count):
                seen.add(rows, checksum)
                results = [join(results[0], result) if results else result]
                if statistics is not None:
                    known = [known[0].merge(statistics) if known else statistics]
                if n_known:
                    report(seen.n_rows)
        if known:
            self.statistics = known[0]
        self._check(seen)
        return results[0]

    def _check(self, seen: _Seen) -> None:
        if not seen.n_rows:
            raise ValueError(f"the source holds no rows{self._source.in_words()}; at least 1 is required")
        first = self._first = self._first or seen
        changed = "" if seen.checksum == first.checksum else "it has other values"
        if seen.n_rows != first.n_rows:
            changed = f"it had {first.n_rows} rows, then {seen.n_rows}"
        if changed:
            raise ValueError(f"the source changed while it was read: {changed}; try again when nothing writes to it")
