"""Why regions accept or reject a row: which is nearest, how far away it is, and what that distance consists of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.progress import track
from eocc.base.registry import FEW
from eocc.base.types import Matrix
from eocc.base.wording import counted, finite, format_number, glued, known_of, share
from eocc.entropic.regions.fuzzy import FuzzyModel
from eocc.entropic.regions.scores import BOUNDARY, Scores
from eocc.explain.explanation import Explanation, scored
from eocc.explain.fitted import TrainingRow, described, exemplars_of, prototype_labels, reach_of, training_row
from eocc.explain.reasons import LEAST_SHOWN, difference_reasons, least_usual
from eocc.measures.difference import PendingDifference, shared_out
from eocc.space.dissimilarity_space import distances_to

# The row of a medoid, computed again, differs from the centre by rounding only: training dissimilarities of order 1
# are exact to about 1e-10.
SAME_POINT = 1e-9


@dataclass(frozen=True)
class Place:
    """Where a row lies relative to one region.

    `distance` is the distance to the centre in the dissimilarity space, `extent` the extent of the region. `ratio` =
    distance / extent, `grade` is the membership in this region, `description` describes the `prototype`. With fewer
    prototypes than training rows, `n_prototypes` of the members are prototypes; if none is, `prototype` is the one of
    another region that is nearest to the centre.
    """

    region: int
    n_members: int
    extent: float
    distance: float
    ratio: float
    grade: float
    prototype: TrainingRow
    description: str
    n_prototypes: int | None = None

    def ratio_in_words(self) -> str:
        """Return how far the row lies from the region, in its extents."""
        if self.ratio < LEAST_SHOWN:
            return "at its centre"
        if self.ratio <= BOUNDARY:
            return f"at {self.ratio:.2f} of its extent"
        times = format_number(self.ratio)
        return f"at {times} times its extent" if times != "1" else "just outside its extent"

    def region_in_words(self) -> str:
        """Return the size of the region and its prototype."""
        size = counted(self.n_members, "training row") + known_of(self.n_members, self.n_prototypes)
        row = f"training row {self.prototype.name}{f' ({glued(self.description)})' if self.description else ''}"
        if self.n_prototypes == 0:
            named = f"the prototype nearest to its centre is in another region, {row}"
        else:
            named = f"{'prototype' if self.n_prototypes in (None, 1) else 'the one nearest to its centre'} is {row}"
        return f"{size}, extent {format_number(self.extent)}; {named}"


@dataclass(frozen=True)
class ProfileColumn:
    """The `amount` of one prototype in a squared ratio.

    `here` is the dissimilarity of the explained row to it, `there` the dissimilarity at the centre of the region.
    """

    row: int
    index: int
    name: str
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


@dataclass(frozen=True, repr=False)
class RegionExplanation(Explanation):
    """A decision by regions.

    `nearest` is the region of highest membership, `runner_up` the next one, None if there is only one region. A row is
    accepted within `reach` extents of a region: 1, unless the model is calibrated. The decision is made by the distance
    in the dissimilarity space, which `profile` splits into terms; `difference` is from the prototype of the nearest
    region, `exemplars` are its members most like the row, and `how_far_out` is the distance to it in extents.
    """

    reach: float
    nearest: Place
    runner_up: Place | None
    profile: Profile

    @property
    def certainty(self) -> str:
        """The p-value in words, or without one how far the nearest region is."""
        if self.p_value is not None:
            return super().certainty
        size, times = counted(self.nearest.n_members, "row"), format_number(self.how_far_out)
        group = f"the nearest group of normal rows (region {self.nearest.region}, {size})"
        if self.is_target:
            place = "at its centre" if self.how_far_out < LEAST_SHOWN else f"at {self.how_far_out:.2f} of the limit"
            return f"inside {group}, {place}"
        if times == "1":
            return f"just outside {group}"
        return f"outside {group}, {times} times as far from its centre as the limit"

    @property
    def decision(self) -> str:
        """The decision in words."""
        where = "inside region" if self.is_target and self.nearest.ratio <= BOUNDARY else "the nearest region is"
        limit = "" if self.reach == 1 else f" (the limit is {self.reach:.4g})"
        decision = f"{'accepted' if self.is_target else 'rejected'}: {where} {self.nearest.region}"
        return f"{decision}, {self.nearest.ratio_in_words()}{limit}"

    @property
    def compared_with(self) -> tuple[str, TrainingRow]:
        """The prototype of the nearest region."""
        place = "nearest to the centre of" if self.nearest.n_prototypes == 0 else "of"
        return f"prototype {place} region {self.nearest.region}", self.nearest.prototype

    @property
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""
        if self.nearest.n_prototypes == 0:
            return f"Region {self.nearest.region} has no prototype, so no row of it can be shown."
        return f"Most similar {self._row}s in region {self.nearest.region}:"

    def notes(self) -> list[str]:
        """Return the next region, and what the distance is made of."""
        other = self.runner_up
        found = [] if other is None else [f"The next region is {other.region}, {other.ratio_in_words()}."]
        return [*found, self._profile_in_words()]

    @property
    def detail(self) -> str:
        """All of it in words."""
        near, other = self.nearest, self.runner_up
        before = [f"Region {near.region}: {near.region_in_words()}."]
        before += [self._exemplars_in_words()] if self.exemplars else []
        if other is not None:
            before.append(f"Next is region {other.region}, {other.ratio_in_words()}: {other.region_in_words()}.")
        return self._text(before, f"training row {near.prototype.name}, the prototype", [self._profile_in_words()])

    @property
    def _row(self) -> str:
        return "training row" if self.nearest.n_prototypes is None else "prototype"

    def _profile_in_words(self) -> str:
        compared = counted(self.profile.n_columns, self._row)
        opening = f"The decision compares the dissimilarities to all {compared} with those of the region"
        if self.nearest.ratio < LEAST_SHOWN:
            return f"{opening}: they are the same."
        shares = ", ".join(
            f"{one.name} ({share(one.amount, self.profile.squared_ratio).strip()}: {format_number(one.here)} against "
            f"{format_number(one.there)})"
            for one in self.profile.columns
        )
        rows = "row" if len(self.profile.columns) == 1 else "rows"
        return f"{opening}; training {rows} {glued(shares)} contribute most to the squared distance."


def explain_by_regions(classifier: Any, patterns: Any) -> list[Explanation]:
    """Return why each pattern was accepted or rejected; docs/guides/explanations.md shows one."""
    rows, model, weights = classifier._embed(patterns), classifier.fuzzy_model_, classifier.weights_
    ratios = model.ratios(rows)
    scores = scored(classifier, Scores(ratios.min(axis=1), model.log_membership(rows)))
    # The nearest region and the next.
    ranked = np.argsort(ratios, axis=1, kind="stable")[:, :2]
    labels, prototypes = prototype_labels(classifier), prototypes_of(classifier, np.unique(ranked).tolist())
    by_column = least_usual(classifier, patterns, weights, rows)
    exemplars = exemplars_of(classifier, np.where(labels == ranked[:, :1], rows, np.inf))
    found: list[Explanation] = []
    parts = list(zip(scores, rows, ranked.tolist(), strict=True))
    for i, (said, row, numbers) in enumerate(track(f"explaining {counted(len(rows), 'row')}", parts)):
        nearest, *others = (_place(classifier, row, number, prototypes[number]) for number in numbers)
        prototype = classifier.prototypes_[nearest.prototype.column : nearest.prototype.column + 1]
        pair = patterns[i : i + 1], prototype
        comparison = PendingDifference(classifier.measure_, *pair, weights, classifier._feature_names)
        lead, reasons = "", by_column[i] if by_column else ()
        if not by_column:
            named = nearest.prototype.name, nearest.description, "typical of the nearest group"
            lead, reasons = difference_reasons(comparison.difference, *named)
        found.append(RegionExplanation(
            **said, comparison=comparison, reasons=reasons, lead=lead, exemplars=exemplars[i],
            reach=reach_of(classifier.threshold_), nearest=nearest, runner_up=others[0] if others else None,
            profile=_profile(classifier, row, nearest.region),
        ))  # fmt: skip
    return found


def prototypes_of(classifier: Any, numbers: Sequence[int]) -> dict[int, int]:
    """Return the column of the prototype of each of these regions.

    It is the representative of the region, if that lies at the centre and is a prototype. Otherwise it is the member
    nearest to the centre, or, if no member is a prototype, the nearest of all prototypes.
    """
    known, labels, found = classifier.prototype_indices_, prototype_labels(classifier), {}
    representatives = np.array([classifier.regions_[number].representative for number in numbers])
    columns = np.searchsorted(known, representatives).clip(max=len(known) - 1)
    rows = classifier._embed(classifier.prototypes_[columns])
    for i, number in enumerate(numbers):
        centre, column = classifier.fuzzy_model_.centres[[number]], int(columns[i])
        if known[column] != representatives[i] or distances_to(rows[[i]], centre)[0, 0] > SAME_POINT:
            own = np.flatnonzero(labels == number)
            candidates = own if len(own) else np.arange(len(known))
            gaps = distances_to(classifier._embed(classifier.prototypes_[candidates]), centre)
            column = int(candidates[np.argmin(gaps)])
        found[number] = column
    return found


def _place(classifier: Any, row: Matrix, number: int, column: int) -> Place:
    """Return where a row of the dissimilarity space lies relative to a region with the prototype of this column."""
    model, region = classifier.fuzzy_model_, classifier.regions_[number]
    ratio = float(model.ratios(row[None])[0, number])
    with np.errstate(over="ignore"):
        grade = float(np.exp(model.membership_function.log_grade(np.array([[ratio]]))[0, 0]))
    return Place(
        region=number, n_members=len(region.members), extent=float(region.extent), ratio=finite(ratio), grade=grade,
        distance=finite(distances_to(row[None], model.centres[[number]])[0, 0]),
        prototype=training_row(classifier, row, column),
        description=described(classifier, classifier.prototypes_, column),
        n_prototypes=None if classifier._is_whole else int((prototype_labels(classifier) == number).sum()),
    )  # fmt: skip


def profile_contributions(model: FuzzyModel, row: Matrix, number: int) -> Matrix:
    """Return the amount of each prototype j in (distance / extent)^2 of a row v in a region: they add up to it.

    The distance in the dissimilarity space is sqrt(sum_j (v_j - c_j)^2 / r), where c is the centre of the region.
    """
    with np.errstate(over="ignore"):
        squared = finite(np.float64(finite(model.ratios(row[None])[0, number])) ** 2)
    gaps = np.abs(row - model.centres[number])
    # Divided by the largest, so that the squares of tiny gaps do not vanish and those of huge gaps do not overflow.
    return shared_out(squared, (gaps / (gaps.max() or 1.0)) ** 2)


def _profile(classifier: Any, row: Matrix, number: int) -> Profile:
    amounts = profile_contributions(classifier.fuzzy_model_, row, number)
    greatest = np.argsort(-amounts, kind="stable")[:FEW]
    centre, near = classifier.fuzzy_model_.centres[number], [training_row(classifier, row, j) for j in greatest]
    columns = (
        ProfileColumn(one.row, one.index, one.name, float(amounts[j]), one.dissimilarity, float(centre[j]))
        for j, one in zip(greatest.tolist(), near, strict=True)
    )
    return Profile(float(amounts.sum()), tuple(columns), float(np.delete(amounts, greatest).sum()), len(amounts))
