"""What explanations need of a fitted classifier, and what they call its training rows, columns and weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from eocc.calibration.conformal import Calibration
from eocc.foundation.types import Indices, Matrix
from eocc.measures.protocol import FittedMeasure
from eocc.measures.schema import DataSchema
from eocc.regions.fuzzy import FuzzyModel, Region
from eocc.regions.scores import BOUNDARY

N_EXEMPLARS = 3


class FittedClassifier(Protocol):
    """What explanations need of a fitted classifier."""

    measure_: FittedMeasure
    threshold_: float
    prototypes_: Any
    prototype_indices_: Indices
    training_indices_: Indices
    _row_names_: Sequence[str] | None
    weights_: Matrix
    calibration_: Calibration | None

    @property
    def labels_(self) -> Indices:
        """The region of each training row."""

    @property
    def regions_(self) -> list[Region]:
        """The regions."""

    @property
    def fuzzy_model_(self) -> FuzzyModel:
        """Their centres and widths."""

    @property
    def _n_training(self) -> int:
        """The number of training rows."""

    @property
    def _is_whole(self) -> bool:
        """Whether every training row is a prototype."""

    @property
    def _feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, if there are any."""

    def _embed(self, patterns: Any) -> Matrix:
        """Return patterns in the dissimilarity space."""
        ...


@dataclass(frozen=True)
class TrainingRow:
    """A training row that is a prototype: its `row` in the X of the fit, and its `dissimilarity` from an explained row.

    `name` is its id, if the model keeps ids, or else its number `row`. `index` counts along `training_indices_`, as
    `regions_` does, `column` along `prototypes_`. Row, index and column are equal unless some rows of X were outliers
    or held out, or there are fewer prototypes than training rows.
    """

    row: int
    index: int
    column: int
    dissimilarity: float
    name: str


def training_row(classifier: FittedClassifier, row: Matrix, column: int) -> TrainingRow:
    """Return the prototype of this column, given the dissimilarities of a row to all prototypes."""
    index = int(classifier.prototype_indices_[column])
    number, name = int(classifier.training_indices_[index]), training_name(classifier, index)
    return TrainingRow(number, index, column, float(row[column]), name)


def training_name(classifier: FittedClassifier, index: int) -> str:
    """Return the id of a training row, or its number in the X of the fit; `index` counts along `training_indices_`."""
    names = classifier._row_names_
    return str(int(classifier.training_indices_[index])) if names is None else names[index]


def exemplars_of(classifier: FittedClassifier, rows: Matrix) -> list[tuple[TrainingRow, ...]]:
    """Return the least dissimilar prototypes of each row, given the dissimilarities (m, n); of equal ones, the first.

    Those at infinity do not count.
    """
    limits = np.partition(rows, N_EXEMPLARS - 1, axis=1)[:, N_EXEMPLARS - 1] if rows.shape[1] > N_EXEMPLARS else np.inf
    numbers, columns = np.nonzero(rows <= np.expand_dims(limits, -1))
    starts = np.searchsorted(numbers, np.arange(len(rows) + 1)).tolist()
    near, numbered, found = rows[numbers, columns].tolist(), columns.tolist(), []
    for row, (start, stop) in zip(rows, pairwise(starts), strict=True):
        order = sorted(range(start, stop), key=near.__getitem__)[:N_EXEMPLARS]
        found.append(tuple(training_row(classifier, row, numbered[k]) for k in order if near[k] < np.inf))
    return found


def prototype_labels(classifier: FittedClassifier) -> Indices:
    """Return the region of every prototype."""
    return np.asarray(classifier.labels_[classifier.prototype_indices_])


def reach_of(threshold: float) -> float:
    """Return the largest accepted ratio, given the threshold of the margin (1 - ratio^2) / 2."""
    return 1.0 if threshold == 0 else float(np.sqrt(max(BOUNDARY**2 - 2 * threshold, 0.0)))


def described(classifier: FittedClassifier, patterns: Any, index: int) -> str:
    """Return one pattern in a few words; "" if the measure has none."""
    return classifier.measure_.describe(patterns[index : index + 1], classifier._feature_names)


def schema_of(classifier: FittedClassifier) -> DataSchema:
    """Return the kind and the columns of the data; the kind is "" if the measure does not say."""
    try:
        return classifier.measure_.schema(classifier.prototypes_, classifier._feature_names)
    except ValueError:  # no file can hold such data
        return DataSchema("")


def number_columns(classifier: FittedClassifier) -> list[str]:
    """Return the names of the columns of a table of numbers, each of which has its weight; [] for other data."""
    schema = schema_of(classifier)
    is_weighted = len(schema.columns) == len(classifier.weights_)
    return weight_names(classifier) if schema.kind == "numbers" and is_weighted else []


def weight_names(classifier: FittedClassifier) -> list[str]:
    """Return what each weight of the dissimilarity belongs to: a column, a kind of edit, or just a number."""
    return classifier.measure_.weight_names(classifier._feature_names)
