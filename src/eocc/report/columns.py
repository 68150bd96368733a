"""The columns of a table: what is normal in each, the values of rows, and what is wrong with the data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eocc.classifiers.base import OneClassClassifier
from eocc.explain import Explanation
from eocc.explain.fitted import number_columns
from eocc.foundation.registry import listed
from eocc.foundation.types import Matrix
from eocc.foundation.wording import counted, format_value, shortened
from eocc.tables.table import NUMBER, Column, Table

# The normal range of a column leaves this share of the training rows out at each end.
TAIL = 0.025
N_BINS = 24
# The page shows the values of up to this many columns.
MOST_COLUMNS = 60
MOST_LABELS = 40
# Messages name this many columns.
MOST_NAMED = 5


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of training rows and of new rows; none for data that are no table.

    `reference` shows what is normal: the training rows, unless the model keeps none. `shown` are the columns whose
    values the page shows: all, unless there are very many. `row_name` says what the training rows are called:
    prototypes, if the model does not keep all.
    """

    names: list[str]
    training: Sequence[Column]
    reference: Sequence[Column]
    new: Sequence[Column] | None
    shown: list[int]
    row_name: str

    @cached_property
    def normal(self) -> list[dict[str, Any]]:
        """What is normal in each shown column, for the bars of the page."""
        return [_normal(self.names[k], self.reference[k]) for k in self.shown]

    def values(self, index: int, is_new: bool) -> list[Any]:
        """Return the values of one row in the shown columns, numbers with five digits; None if missing."""
        columns = self.new if is_new and self.new is not None else self.training
        return [_value(columns[k], index) for k in self.shown]

    def problems(self) -> list[str]:
        """Return what may be wrong with the data, one sentence each."""
        said = []
        constant = [name for name, column in self._training() if len(np.unique(column.values)) == 1]
        if constant and len(self.reference[0].values) > 1:
            have = "has" if len(constant) == 1 else "have"
            said.append(
                f"{listed(constant, MOST_NAMED)} {have} the same value in every {self.row_name}, so any other value "
                "looks unusual."
            )
        said += _gaps(self._training(), self.row_name)
        if self.new is not None:
            pairs = list(zip(self.names, self.new, strict=True))
            said += [*_gaps(pairs, "new row"), *self._unknown_labels(), *self._outside()]
        return said

    def _training(self) -> list[tuple[str, Column]]:
        return list(zip(self.names, self.reference, strict=True))

    def _unknown_labels(self) -> list[str]:
        found = []
        for name, column, new in zip(self.names, self.reference, self.new or (), strict=True):
            if column.labels is not None and new.labels is not None:
                seen = {column.labels[int(k)] for k in np.unique(column.values[~np.isnan(column.values)])}
                used = {new.labels[int(k)] for k in np.unique(new.values[~np.isnan(new.values)])}
                if used - seen:
                    found.append(f"{name} ({listed(sorted(map(str, used - seen)), 3)})")
        return [f"New rows have categories that no {self.row_name} has: {listed(found, MOST_NAMED)}."] if found else []

    def _outside(self) -> list[str]:
        found = []
        for name, column, new in zip(self.names, self.reference, self.new or (), strict=True):
            if _is_number(column) and _is_number(new) and not np.isnan(column.values).all():
                low, high = np.nanmin(column.values), np.nanmax(column.values)
                n_out = int(((new.values < low) | (new.values > high)).sum())
                if n_out:
                    found.append((-n_out, f"{name} ({n_out:,})"))
        words = listed([text for _, text in sorted(found)], MOST_NAMED)
        return [f"New rows with a value beyond those of all {self.row_name}s, by column: {words}."] if found else []


def _gaps(columns: Sequence[tuple[str, Column]], kind: str) -> list[str]:
    """Return in how many rows, and in which columns, values are missing."""
    if not columns:
        return []
    gaps = np.isnan([column.values for _, column in columns])
    if not gaps.any():
        return []
    counts, n_rows = gaps.sum(axis=1), int(gaps.any(axis=0).sum())
    most = [f"{columns[k][0]} ({counts[k]:,})" for k in np.argsort(-counts, kind="stable") if counts[k]]
    return [f"Gaps in {n_rows:,} of {counted(gaps.shape[1], kind)}: {listed(most, MOST_NAMED)}."]


def columns_of(classifier: OneClassClassifier, new: Any, explained: Sequence[Explanation]) -> Columns:
    """Return the columns of a table of numbers or records, and of `new` patterns; none for other data."""
    names, training = number_columns(classifier), classifier.prototypes_
    row_name = "training row" if classifier._is_whole else "prototype"
    if names:
        kept = None if new is None else _number_columns(names, new)
        rows, reference = (_number_columns(names, part) for part in (training, classifier._reference_rows))
        return Columns(names, rows, reference, kept, _shown(explained, names), row_name)
    if isinstance(training, Table):
        names = [str(name) for name in training.names]
        given = {} if new is None else {column.name: column for column in new.columns}
        kept = None if new is None else [given[name] for name in training.names]
        return Columns(names, training.columns, training.columns, kept, _shown(explained, names), row_name)
    return Columns([], [], [], None, [], row_name)


def _shown(explained: Sequence[Explanation], names: list[str]) -> list[int]:
    """Return the columns to show: those named most often as reasons, if there are very many."""
    counts = Counter(reason.name for one in explained for reason in one.reasons)
    order = sorted(range(len(names)), key=lambda k: -counts[names[k]])
    return sorted(order[:MOST_COLUMNS])


def _number_columns(names: list[str], rows: Matrix) -> list[Column]:
    return [Column(name, NUMBER, rows[:, k]) for k, name in enumerate(names)]


def _value(column: Column, index: int) -> Any:
    value = column.values[index]
    if np.isnan(value):
        return None
    return rounded(value) if _is_number(column) else shortened(format_value(column.cell(index)))


def rounded(value: Any) -> Any:
    """Return a number with five digits; anything else as it is."""
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _is_number(column: Column) -> bool:
    return column.labels is None and column.kind == NUMBER


def _normal(name: str, column: Column) -> dict[str, Any]:
    values = column.values[~np.isnan(column.values)]
    if not _is_number(column) or not len(values):
        labels = [format_value(column.cell(int(k))) for k in np.flatnonzero(~np.isnan(column.values))]
        called, counts = np.unique(np.array(labels, dtype=object).astype(str), return_counts=True)
        most = np.argsort(-counts, kind="stable")[:MOST_LABELS]
        shares = {str(called[k]): round(float(counts[k]) / len(labels), 4) for k in most}
        return {"name": name, "shares": shares}
    low, high = np.quantile(values, (TAIL, 1 - TAIL))
    counts, edges = np.histogram(values, N_BINS)
    return {
        "name": name,
        "low": rounded(low),
        "high": rounded(high),
        "ends": [rounded(edges[0]), rounded(edges[-1])],
        "counts": counts.tolist(),
    }
