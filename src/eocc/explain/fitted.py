"""What explanations call the training rows, columns and weights of a fitted classifier."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.registry import FEW
from eocc.base.types import Indices, Matrix
from eocc.entropic.rules import BOUNDARY


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


def training_row(classifier: Any, row: Matrix, column: int) -> TrainingRow:
    """Return the prototype of this column, given the dissimilarities of a row to all prototypes."""
    index = int(classifier.prototype_indices_[column])
    number, name = int(classifier.training_indices_[index]), training_name(classifier, index)
    return TrainingRow(number, index, column, float(row[column]), name)


def training_name(classifier: Any, index: int) -> str:
    """Return the id of a training row, or its number in the X of the fit; `index` counts along `training_indices_`."""
    names = classifier._row_names_
    return str(int(classifier.training_indices_[index])) if names is None else str(names[index])


def exemplars_of(classifier: Any, rows: Matrix) -> list[tuple[TrainingRow, ...]]:
    """Return the least dissimilar prototypes of each row, given the dissimilarities (m, n); of equal ones, the first.

    Those at infinity do not count.
    """
    found = []
    for row in rows:
        near = np.flatnonzero(row <= np.partition(row, FEW - 1)[FEW - 1]) if len(row) > FEW else np.arange(len(row))
        order = near[np.argsort(row[near], kind="stable")[:FEW]].tolist()
        found.append(tuple(training_row(classifier, row, k) for k in order if row[k] < np.inf))
    return found


def prototype_labels(classifier: Any) -> Indices:
    """Return the region of every prototype."""
    return np.asarray(classifier.labels_[classifier.prototype_indices_])


def reach_of(threshold: float) -> float:
    """Return the largest accepted ratio, given the threshold of the margin (1 - ratio^2) / 2."""
    return 1.0 if threshold == 0 else float(np.sqrt(max(BOUNDARY**2 - 2 * threshold, 0.0)))


def described(classifier: Any, patterns: Any, index: int) -> str:
    """Return one pattern in a few words; "" if the measure has none."""
    return str(classifier.measure_.describe(patterns[index : index + 1], classifier._feature_names))


def number_columns(classifier: Any) -> list[str]:
    """Return the names of the columns of a table of numbers, each of which has its weight; [] for other data."""
    are_numbers = classifier.measure_.kind_of_data(classifier.prototypes_) == "numbers"
    is_weighted = are_numbers and len(classifier.weights_) == classifier.prototypes_.shape[1]
    return weight_names(classifier) if is_weighted else []


def weight_names(classifier: Any) -> list[str]:
    """Return what each weight of the dissimilarity belongs to: a column, a kind of edit, or just a number."""
    return list(classifier.measure_.weight_names(classifier._feature_names))
