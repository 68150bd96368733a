"""Scored rows, part by part -> what a job acts on: counts, discoveries, drift, new categories, gaps, bad cells."""

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.base.checks import number
from eocc.base.estimator import check_is_fitted
from eocc.base.printing import warn_user
from eocc.base.types import Flags
from eocc.calibration.conformal import DEFAULT_FALSE_DISCOVERIES, Discoveries, DiscoveryCounts
from eocc.calibration.drift import NORMAL, UNUSUAL, Drift, DriftCounts
from eocc.entropic.rules import Scores
from eocc.explain.facts import given_columns, known_columns, number_columns
from eocc.formats import model_file

# The version of what `Summary.to_dict` returns: docs/reference/summary.md.
SCHEMA = 1
# Of new categories and of rows with bad cells, at most this many are named; all are counted.
MOST_NAMED = 20


@dataclass(frozen=True)
class Summary:
    """What became of some rows. `to_dict` returns what ``eocc score --summary`` writes: docs/reference/summary.md.

    `n_accepted` of `n_rows` rows are accepted. Rows with a cell that cannot be read, `bad_cells`, are rejected. The
    `drift` and the `discoveries` are None unless the model is calibrated, `drift` also if no row can be read.
    `new_categories` are by column: how many rows have one that no training row has, and the first of them. `gaps` are
    by column too; `n_incomplete` rows have gaps, and `n_empty` have no values at all.
    """

    n_rows: int
    n_accepted: int
    drift: Drift | None = None
    discoveries: Discoveries | None = None
    new_categories: Mapping[Hashable, tuple[int, list[str]]] = field(default_factory=dict)
    gaps: Mapping[Hashable, int] = field(default_factory=dict)
    n_incomplete: int = 0
    n_empty: int = 0
    bad_cells: Sequence[tuple[Any, str]] = ()
    classifier: Any = field(default=None, repr=False, compare=False)

    @property
    def n_rejected(self) -> int:
        """The number of rows that are not accepted."""
        return self.n_rows - self.n_accepted

    def to_dict(self, data: Sequence[str] = (), notes: Sequence[str] = ()) -> dict[str, Any]:
        """Return the summary as numbers, texts, lists and dicts; `data` are the files, `notes` were printed."""
        drift, found, bad = self.drift, self.discoveries, self.bad_cells
        calibration = self.classifier.calibration_
        return {
            "schema": SCHEMA,
            "eocc_version": version("eocc"),
            "model": {
                "id": model_file.identity(self.classifier), "method": type(self.classifier).__name__,
                "training_rows": int(self.classifier._n_training),
                "false_alarm_rate": calibration and float(calibration.rate),
            },
            "data": list(data),
            "rows": self.n_rows,
            "accepted": self.n_accepted,
            "rejected": self.n_rejected,
            "rejected_by_chance": drift and float(drift.n_expected),
            "discoveries": found
            and {"rate": found.rate, "count": found.count, "p_value_limit": found.limit, "remark": found.remark},
            "drift": drift
            and {
                "is_drift": drift.is_drift, "p_value": drift.p_value, "sentence": str(drift),
                "columns": [{"name": str(one.name), "p_value": one.p_value} for one in drift.columns],
            },
            "new_categories": [
                {"column": str(name), "rows": n_rows, "values": values}
                for name, (n_rows, values) in self.new_categories.items()
            ],
            "gaps": {
                "rows": self.n_incomplete, "empty_rows": self.n_empty,
                "columns": [{"name": str(name), "rows": count} for name, count in self.gaps.items()],
            },
            "bad_cells": {
                "rows": len(bad),
                "first": [{"row": str(row), "reason": why} for row, why in bad[:MOST_NAMED]],
            },
            "notes": list(notes),
        }  # fmt: skip


class Counting:
    """Counts scored rows, part by part, in memory that does not grow with them; `bad` rows are added by the caller.

    `drift` counts those of a calibrated model; it is None for any other.
    """

    def __init__(self, classifier: Any) -> None:
        self._classifier, self._calibration = classifier, classifier.calibration_
        self.drift = self._discoveries = None
        if self._calibration is not None:
            # Training rows look too normal to a model that does not leave them out.
            sides = (UNUSUAL, NORMAL) if classifier._scores_left_out else (UNUSUAL,)
            columns = number_columns(classifier) if classifier._keeps_training_rows else []  # centres say little of one
            threshold, prototypes = classifier.threshold_, classifier.prototypes_
            self.drift = DriftCounts(self._calibration, threshold, prototypes, columns, sides)
            self._discoveries = DiscoveryCounts(self._calibration)
        self.n_rows, self._n_accepted, self._n_incomplete, self._n_empty = 0, 0, 0, 0
        self._new, self._gaps = dict[Hashable, tuple[int, list[str]]](), dict[Hashable, int]()
        self.bad = list[tuple[Any, str]]()  # the names of rows with a bad cell, and why
        # Which of the rows added last lack some values, and which all.
        self.have_gaps = self.are_empty = np.zeros(0, bool)
        # The columns that `add` returns; `p_value` is for calibrated models.
        self.names = ["decision", "membership", "score", "how_far_out", *([] if self.drift is None else ["p_value"])]

    def add(self, patterns: Any, scores: Scores) -> dict[str, NDArray[Any]]:
        """Count rows, as the measure reads them, and return their columns `names`."""
        is_accepted = scores.margins - self._classifier.threshold_ >= 0
        self.n_rows, self._n_accepted = self.n_rows + len(is_accepted), self._n_accepted + int(is_accepted.sum())
        found = [np.where(is_accepted, 1, -1), np.exp(scores.log_memberships), scores.log_memberships, scores.ratios]
        columns, counts = given_columns(self._classifier, patterns), np.zeros(len(patterns), np.int64)
        for name, (_, values) in columns.items():
            if (is_gap := np.isnan(values)).any():
                self._gaps[name] = self._gaps.get(name, 0) + int(is_gap.sum())
                counts += is_gap
        self.have_gaps, self.are_empty = counts > 0, (counts == len(columns)) & bool(columns)
        self._n_incomplete += int(self.have_gaps.sum())
        self._n_empty += int(self.are_empty.sum())
        if self.drift is not None and self._discoveries is not None:
            self.drift.add(scores.margins, patterns)
            p_values = self._calibration.p_values(scores.margins)
            self._discoveries.add(p_values[~self.are_empty])  # rows without values are broken, not discovered
            found.append(p_values)
        for known, column, is_new in known_columns(self._classifier.reading_, patterns):
            codes = () if is_new is None else column.codes[is_new[column.codes]]
            if len(codes):
                n_rows, before = self._new.get(known.name, (0, []))
                more = (str((column.labels or ())[code]) for code in np.unique(codes).tolist())
                self._new[known.name] = n_rows + len(codes), list(dict.fromkeys([*before, *more]))[:MOST_NAMED]
        return dict(zip(self.names, found, strict=True))

    def summary(self, rate: float) -> Summary:
        """Return the summary of all rows; `rate` is the false discovery rate."""
        return Summary(
            self.n_rows + len(self.bad), self._n_accepted,
            None if self.drift is None or not self.n_rows else self.drift.result(),
            None if self._discoveries is None else self._discoveries.result(rate),
            self._new, self._gaps, self._n_incomplete, self._n_empty, tuple(self.bad), self._classifier,
        )  # fmt: skip


class Summarises:
    """What a classifier says about many rows as a whole: drift, discoveries, a summary."""

    def drift(self: Any, X: Any) -> Drift:
        """Return whether the rows of X, as a whole, differ from the training rows: a test, and a sentence.

        The p-value is valid for any number of rows; see docs/guides/false_alarms.md. The model must be calibrated.
        """
        self._calibrated()  # or an error
        counts: Any = Counting(self).drift
        patterns = self._read(X)
        found: Drift = counts.add(self._score_read(patterns).margins, patterns).result()
        return found

    def discoveries(self: Any, X: Any, rate: float = DEFAULT_FALSE_DISCOVERIES) -> Flags:
        """Return which rows of X are discoveries: on average at most a share `rate` of them are normal rows.

        Benjamini-Hochberg on the p-values of the rows of X with any value; the others are no discoveries: see
        docs/guides/from_p_values_to_decisions.md. A warning says if the training rows are too few to find a single row.
        """
        self._calibrated()  # or an error
        counting, patterns = Counting(self), self._read(X)
        p_values = counting.add(patterns, self._score_read(patterns))["p_value"]
        found: Any = counting.summary(rate).discoveries
        if found.remark:
            warn_user(found.remark)
        return np.asarray(found.among(p_values) & ~counting.are_empty)

    def summary(self: Any, X: Any, rate: float = DEFAULT_FALSE_DISCOVERIES) -> Summary:
        """Return what became of the rows of X: counts, discoveries, drift, new categories, gaps.

        `summary.to_dict()` is what ``eocc score --summary`` writes: docs/reference/summary.md. `rate` is the false
        discovery rate.
        """
        check_is_fitted(self)
        number("(0, 1)")("rate", rate)
        counting, patterns = Counting(self), self._read(X)
        counting.add(patterns, self._score_read(patterns))
        return counting.summary(rate)

    def _html_repr(self) -> str:
        """Return what a notebook shows, without the names of the columns of `transform`, one per prototype."""
        shown: Any = copy(self)
        shown.get_feature_names_out = None  # it cannot be called, so it is left out
        return str(super(Summarises, shown)._html_repr())  # type: ignore[misc]
