"""A pattern's place among the decision regions: which is nearest, how far, and what that distance is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eocc.explanations.differences import description_of
from eocc.explanations.differences.difference import shared_out
from eocc.explanations.wording import finite
from eocc.measures import FrozenMeasure
from eocc.regions import BOUNDARY, FuzzyModel, Region
from eocc.space import distances_to, offsets_from

Matrix = NDArray[np.float64]

N_EXEMPLARS = 3
N_COLUMNS = 3
# A medoid's own row, computed anew, differs from the centre by rounding only: the product that gave the training
# dissimilarities, of order 1, is good to about 1e-10.
SAME_POINT = 1e-9


class FittedClassifier(Protocol):
    """What explanations ask of a fitted classifier."""

    measure_: FrozenMeasure
    threshold_: float
    prototypes_: Any
    training_indices_: NDArray[np.int64]
    weights_: Matrix
    regions_: list[Region]
    fuzzy_model_: FuzzyModel

    def _read(self, X: Any, *, reset: bool) -> Any: ...

    def _embed(self, patterns: Any) -> Matrix: ...


@dataclass(frozen=True)
class TrainingPattern:
    """A training pattern: its `row` in the X of the fit, and its `index` among those trained on, as in `regions_`.

    The two are the same but where `fit` held some rows out to validate. `dissimilarity` is that to the explained
    pattern.
    """

    row: int
    index: int
    dissimilarity: float


@dataclass(frozen=True)
class Place:
    """Where a pattern lies with regard to one region.

    `distance` is that in the dissimilarity space, `extent` the region's on the `side` ("inner" or "outer") where the
    pattern lies if that matters, `ratio` = distance / extent, `grade` the membership in this region. The `exemplars`
    are the members least dissimilar from the pattern, or, where the nearest training patterns decide, these;
    `description` tells the prototype in a few words.
    """

    region: int
    n_members: int
    extent: float
    side: str | None
    distance: float
    ratio: float
    grade: float
    prototype: TrainingPattern
    exemplars: tuple[TrainingPattern, ...]
    description: str


@dataclass(frozen=True)
class ProfileColumn:
    """What one training pattern adds to the squared ratio of a place: by the dissimilarities `here` and `there`.

    `here` is the pattern's dissimilarity to it, `there` that of the region's representative.
    """

    row: int
    index: int
    amount: float
    here: float
    there: float


@dataclass(frozen=True)
class Profile:
    """The squared ratio (distance / extent)^2 as a sum over training patterns: the greatest terms, and the `rest`."""

    squared_ratio: float
    columns: tuple[ProfileColumn, ...]
    rest: float
    n_columns: int


@dataclass(frozen=True)
class Prototype:
    """The member that stands for a region: its index among the training patterns, and a few words on it."""

    index: int
    description: str


def prototypes_of(
    classifier: FittedClassifier, numbers: Sequence[int], names: Sequence[str] | None
) -> dict[int, Prototype]:
    """Return the prototype of each of these regions: its medoid, or the member nearest to another representative.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> clf = EntropicOneClassClassifier().fit(load_iris().data[:50])
    >>> prototypes_of(clf, [0], None)[0].index == clf.regions_[0].representative
    True
    """
    representatives = np.array([classifier.regions_[number].representative for number in numbers])
    rows = classifier._embed(classifier.prototypes_[representatives])
    found = {}
    for number, row in zip(numbers, rows, strict=True):
        index = _member_at_centre(classifier, number, row)
        found[number] = Prototype(
            index, description_of(classifier.measure_, classifier.prototypes_[index : index + 1], names)
        )
    return found


def _member_at_centre(classifier: FittedClassifier, number: int, row: Matrix) -> int:
    """Return the region's representative, whose row this is, if it is the centre; else the member nearest to that."""
    region, centre = classifier.regions_[number], classifier.fuzzy_model_.centres[[number]]
    if distances_to(row[None], centre)[0, 0] <= SAME_POINT:
        return int(region.representative)
    rows = classifier._embed(classifier.prototypes_[region.members])
    return int(region.members[np.argmin(distances_to(rows, centre)[:, 0])])


def place_in(classifier: FittedClassifier, row: Matrix, number: int, prototype: Prototype) -> Place:
    """Return where a row of the dissimilarity space lies with regard to region `number`."""
    model, region = classifier.fuzzy_model_, classifier.regions_[number]
    ratio = float(model.ratios(row[None])[0, number])
    with np.errstate(over="ignore"):
        grade = float(np.exp(model.membership_function.log_grade(np.array([[ratio]]))[0, 0]))
    side, extent = _side(model, row, number, region.extent)
    return Place(
        region=number,
        n_members=len(region.members),
        extent=extent,
        side=side,
        distance=finite(distances_to(row[None], model.centres[[number]])[0, 0]),
        ratio=finite(ratio),
        grade=grade,
        prototype=training_pattern(classifier, row, prototype.index),
        exemplars=exemplars_among(classifier, row, region.members),
        description=prototype.description,
    )


def exemplars_among(
    classifier: FittedClassifier, row: Matrix, members: NDArray[np.int64]
) -> tuple[TrainingPattern, ...]:
    """Return those of the members that are least dissimilar from the pattern of this row, ties to the earlier one."""
    nearest = members[np.argsort(row[members], kind="stable")[:N_EXEMPLARS]]
    return tuple(training_pattern(classifier, row, int(member)) for member in nearest)


def reach_of(threshold: float) -> float:
    """Return up to which distance / extent a pattern is accepted whose margin (1 - ratio^2) / 2 must reach a threshold.

    >>> reach_of(0.0), round(reach_of(-1.5), 6)
    (1.0, 2.0)
    """
    return 1.0 if threshold == 0 else float(np.sqrt(max(BOUNDARY**2 - 2 * threshold, 0.0)))


def training_pattern(classifier: FittedClassifier, row: Matrix, index: int) -> TrainingPattern:
    """Return a training pattern with its dissimilarity to the pattern of this row."""
    return TrainingPattern(int(classifier.training_indices_[index]), index, float(row[index]))


def profile_contributions(model: FuzzyModel, row: Matrix, number: int) -> Matrix:
    """Return what each training pattern j adds to (distance / extent)^2 of a row v in a region: they add up to it.

    The distance in the dissimilarity space is sqrt(sum_j (v_j - c_j)^2 / n), c the region's centre.

    >>> from eocc.memberships import Gaussian
    >>> from eocc.tconorms import maximum
    >>> model = FuzzyModel(np.array([[0.0, 0.0]]), np.array([[0.5, 0.5]]), Gaussian(), maximum)
    >>> profile_contributions(model, np.array([0.6, 0.8]), 0)
    array([0.72, 1.28])
    """
    ratio = finite(model.ratios(row[None])[0, number])
    with np.errstate(over="ignore"):
        squared = finite(np.float64(ratio) ** 2)
    gaps = np.abs(row - model.centres[number])
    # Scaled by the largest: squares of the tiny gaps between near copies must not vanish, nor of huge ones overflow.
    return shared_out(squared, (gaps / (gaps.max() or 1.0)) ** 2)


def profile_of(classifier: FittedClassifier, row: Matrix, number: int) -> Profile:
    """Return the training patterns that add most to the squared ratio."""
    amounts = profile_contributions(classifier.fuzzy_model_, row, number)
    greatest = np.argsort(-amounts, kind="stable")[:N_COLUMNS]
    centre = classifier.fuzzy_model_.centres[number]
    columns = tuple(
        ProfileColumn(int(classifier.training_indices_[j]), int(j), float(amounts[j]), float(row[j]), float(centre[j]))
        for j in greatest
    )
    rest = float(np.delete(amounts, greatest).sum())
    return Profile(float(amounts.sum()), columns, rest, len(amounts))


def _side(model: FuzzyModel, row: Matrix, number: int, extent: float) -> tuple[str | None, float]:
    """Return the side of the region a row lies on and the extent there; no side where both are alike."""
    inner, outer = model.widths[number].tolist()
    if inner == outer:
        return None, float(extent)
    inside = offsets_from(row[None], model.centres[[number]])[0, 0] < 0
    return ("inner", inner) if inside else ("outer", outer)
