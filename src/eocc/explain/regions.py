"""A row's place among the regions: which is nearest, how far away it is, and what that distance consists of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import finite
from eocc.measures.difference import description_of, shared_out
from eocc.measures.protocol import FittedMeasure
from eocc.regions.fuzzy import FuzzyModel, Region
from eocc.regions.scores import BOUNDARY
from eocc.space.dissimilarity_space import distances_to, offsets_from

N_EXEMPLARS = 3
N_COLUMNS = 3
# The row of a medoid, computed again, differs from the centre by rounding only: training dissimilarities of order 1
# are exact to about 1e-10.
SAME_POINT = 1e-9


class FittedClassifier(Protocol):
    """What explanations need of a fitted classifier."""

    measure_: FittedMeasure
    threshold_: float
    prototypes_: Any
    prototype_indices_: Indices
    training_indices_: Indices
    weights_: Matrix

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
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, if there are any."""

    def embed(self, patterns: Any) -> Matrix:
        """Return patterns in the dissimilarity space."""
        ...


@dataclass(frozen=True)
class TrainingRow:
    """A training row that is a prototype: its `row` in the X of the fit, and its `dissimilarity` from an explained row.

    `index` counts along the training rows, as `regions_` does, `column` along `prototypes_`. All three are equal
    unless some rows of X were outliers or held out, or there are fewer prototypes than training rows.
    """

    row: int
    index: int
    column: int
    dissimilarity: float


def is_whole(classifier: FittedClassifier) -> bool:
    """Return whether every training row is a prototype."""
    return len(classifier.prototype_indices_) == len(classifier.training_indices_)


def prototype_labels(classifier: FittedClassifier) -> Indices:
    """Return the region of every prototype."""
    return np.asarray(classifier.labels_[classifier.prototype_indices_])


def row_of(classifier: FittedClassifier, column: int) -> int:
    """Return the row of a prototype in the X of the fit."""
    return int(classifier.training_indices_[classifier.prototype_indices_[column]])


@dataclass(frozen=True)
class Place:
    """Where a row lies relative to one region.

    `distance` is the distance to the centre in the dissimilarity space, `extent` the extent of the region, on the
    `side` ("inner" or "outer") of the row if the sides differ. `ratio` = distance / extent, `grade` is the membership
    in this region, `description` describes the `prototype`.

    With fewer prototypes than training rows, `n_prototypes` of the members are prototypes. If none is, `prototype` is
    the one of another region that is nearest to the centre.
    """

    region: int
    n_members: int
    extent: float
    side: str | None
    distance: float
    ratio: float
    grade: float
    prototype: TrainingRow
    description: str
    n_prototypes: int | None = None


@dataclass(frozen=True)
class ProfileColumn:
    """The `amount` of one prototype in a squared ratio.

    `here` is the dissimilarity of the explained row to it, `there` the dissimilarity at the centre of the region.
    """

    row: int
    index: int
    amount: float
    here: float
    there: float


@dataclass(frozen=True)
class Profile:
    """The squared ratio (distance / extent)^2 as a sum over prototypes: the largest terms, and the `rest`."""

    squared_ratio: float
    columns: tuple[ProfileColumn, ...]
    rest: float
    n_columns: int


@dataclass(frozen=True)
class Prototype:
    """The prototype of a region: its column in the dissimilarity space, a description, and whether it is a member."""

    column: int
    description: str
    is_member: bool = True


def prototypes_of(classifier: FittedClassifier, numbers: Sequence[int]) -> dict[int, Prototype]:
    """Return the prototype of each of these regions.

    It is the representative of the region, if that lies at the centre and is a prototype. Otherwise it is the member
    nearest to the centre, or, if no member is a prototype, the nearest of all prototypes.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> clf = EntropicOneClassClassifier(search=None).fit(load_iris().data[:50])
    >>> prototypes_of(clf, [0])[0].column == clf.regions_[0].representative
    True
    """
    columns, labels = _columns_at_centre(classifier, numbers), prototype_labels(classifier)
    return {
        number: Prototype(
            column,
            description_of(classifier.measure_, classifier.prototypes_[column : column + 1], classifier.feature_names),
            bool(labels[column] == number),
        )
        for number, column in zip(numbers, columns, strict=True)
    }


def _columns_at_centre(classifier: FittedClassifier, numbers: Sequence[int]) -> list[int]:
    """Return the column of the prototype of each region."""
    known, labels = classifier.prototype_indices_, prototype_labels(classifier)
    representatives = np.array([classifier.regions_[number].representative for number in numbers])
    columns = np.searchsorted(known, representatives).clip(max=len(known) - 1)
    rows = classifier.embed(classifier.prototypes_[columns])
    found = []
    for i, number in enumerate(numbers):
        centre, own = classifier.fuzzy_model_.centres[[number]], np.flatnonzero(labels == number)
        if known[columns[i]] == representatives[i] and distances_to(rows[[i]], centre)[0, 0] <= SAME_POINT:
            found.append(int(columns[i]))
        else:
            candidates = own if len(own) else np.arange(len(known))
            near = distances_to(classifier.embed(classifier.prototypes_[candidates]), centre)
            found.append(int(candidates[np.argmin(near)]))
    return found


def place_in(classifier: FittedClassifier, row: Matrix, number: int, prototype: Prototype) -> Place:
    """Return where a row of the dissimilarity space lies relative to region `number`."""
    model, region = classifier.fuzzy_model_, classifier.regions_[number]
    ratio = float(model.ratios(row[None])[0, number])
    with np.errstate(over="ignore"):
        grade = float(np.exp(model.membership_function.log_grade(np.array([[ratio]]))[0, 0]))
    side, extent = _side(model, row, number, region.extent)
    own = np.flatnonzero(prototype_labels(classifier) == number)
    return Place(
        region=number,
        n_members=len(region.members),
        extent=extent,
        side=side,
        distance=finite(distances_to(row[None], model.centres[[number]])[0, 0]),
        ratio=finite(ratio),
        grade=grade,
        prototype=training_row(classifier, row, prototype.column),
        description=prototype.description,
        n_prototypes=None if is_whole(classifier) else len(own),
    )


def exemplars_among(classifier: FittedClassifier, row: Matrix, columns: Indices) -> tuple[TrainingRow, ...]:
    """Return the prototypes of these columns that are least dissimilar; of equal ones, the first."""
    nearest = columns[np.argsort(row[columns], kind="stable")[:N_EXEMPLARS]]
    return tuple(training_row(classifier, row, int(column)) for column in nearest)


def reach_of(threshold: float) -> float:
    """Return the largest accepted ratio, given the threshold of the margin (1 - ratio^2) / 2.

    >>> reach_of(0.0), round(reach_of(-1.5), 6)
    (1.0, 2.0)
    """
    return 1.0 if threshold == 0 else float(np.sqrt(max(BOUNDARY**2 - 2 * threshold, 0.0)))


def training_row(classifier: FittedClassifier, row: Matrix, column: int) -> TrainingRow:
    """Return the prototype of this column, given the dissimilarities of a row to all prototypes."""
    index = int(classifier.prototype_indices_[column])
    return TrainingRow(row_of(classifier, column), index, column, float(row[column]))


def profile_contributions(model: FuzzyModel, row: Matrix, number: int) -> Matrix:
    """Return the amount of each prototype j in (distance / extent)^2 of a row v in a region: they add up to it.

    The distance in the dissimilarity space is sqrt(sum_j (v_j - c_j)^2 / r), where c is the centre of the region.

    >>> from eocc.regions.memberships import Gaussian
    >>> from eocc.regions.tconorms import maximum
    >>> model = FuzzyModel(np.array([[0.0, 0.0]]), np.array([[0.5, 0.5]]), Gaussian(), maximum)
    >>> profile_contributions(model, np.array([0.6, 0.8]), 0)
    array([0.72, 1.28])
    """
    ratio = finite(model.ratios(row[None])[0, number])
    with np.errstate(over="ignore"):
        squared = finite(np.float64(ratio) ** 2)
    gaps = np.abs(row - model.centres[number])
    # Divided by the largest, so that the squares of tiny gaps do not vanish and those of huge gaps do not overflow.
    return shared_out(squared, (gaps / (gaps.max() or 1.0)) ** 2)


def profile_of(classifier: FittedClassifier, row: Matrix, number: int) -> Profile:
    """Return the prototypes with the largest amounts in the squared ratio."""
    amounts = profile_contributions(classifier.fuzzy_model_, row, number)
    greatest = np.argsort(-amounts, kind="stable")[:N_COLUMNS]
    centre, indices = classifier.fuzzy_model_.centres[number], classifier.prototype_indices_
    columns = tuple(
        ProfileColumn(row_of(classifier, j), int(indices[j]), float(amounts[j]), float(row[j]), float(centre[j]))
        for j in greatest.tolist()
    )
    return Profile(float(amounts.sum()), columns, float(np.delete(amounts, greatest).sum()), len(amounts))


def _side(model: FuzzyModel, row: Matrix, number: int, extent: float) -> tuple[str | None, float]:
    """Return the side of the region on which a row lies and the extent there; no side if both are equal."""
    inner, outer = model.widths[number].tolist()
    if inner == outer:
        return None, float(extent)
    inside = offsets_from(row[None], model.centres[[number]])[0, 0] < 0
    return ("inner", inner) if inside else ("outer", outer)
