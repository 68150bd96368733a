"""A pattern's neighbourhoods of several sizes: how far its nearest prototypes lie, and what surprises in that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eocc.calibration.conformal import Calibration
from eocc.explain.differences import Difference, difference_of
from eocc.explain.regions import FittedClassifier, TrainingPattern, is_whole, training_pattern
from eocc.foundation.wording import counted, finite, format_number, share, wrapped
from eocc.measures.protocol import Prepared
from eocc.regions.fuzzy import BOUNDARY
from eocc.surprise.likelihood_ratio import Contrast, NewPatterns, Pairs, contrast_columns, weighted_sum
from eocc.surprise.model import Scores, SurpriseModel
from eocc.surprise.score import Surroundings, n_local, shares, surprise_of

Matrix = NDArray[np.float64]

LADDER, LOCAL = "ladder", "local ratio"
AGAINST_OTHERS, ALL_DENSITIES, DENSITY = "ratio to non-targets", "densities", "density"
# The text names the distances of so many neighbourhoods; hundreds of training patterns have more.
MOST_RUNGS = 5
# Below this share of the border a ratio would be 0.00 with two decimals.
LEAST_RATIO = 0.005
EQUALLY = "with every weight made equally telling"


class FittedBySurprise(FittedClassifier, Protocol):
    """What explanations ask of a classifier that decides by neighbourhoods of several sizes."""

    surprise_model_: SurpriseModel
    calibration_: Calibration

    def _verdicts(self, patterns: Any, prepared: Prepared | None = None) -> Scores: ...


@dataclass(frozen=True)
class Rung:
    """The `n_nearest` prototypes lie within `distance`; those of left-out training patterns, in the median, `usual`."""

    n_nearest: int
    distance: float
    usual: float


@dataclass(frozen=True)
class LocalRatio:
    """The `n_nearest` lie at `distance` in the mean, `ratio` times as far as they lie from their own nearest."""

    n_nearest: int
    distance: float
    ratio: float


@dataclass(frozen=True)
class Equalised:
    """The same with every weight made equally telling: `neighbour` is the nearest so, `difference` that from it."""

    ladder: tuple[Rung, ...]
    local: LocalRatio | None
    neighbour: TrainingPattern
    difference: Difference


@dataclass(frozen=True)
class Term:
    """What adds an `amount` to the surprise: the ladder or the local ratio in a view, or a comparison with non-targets.

    The `value` is in standard deviations above the average left-out training pattern; in a comparison, above the
    average target. `view` is 0 at the weights p, 1 where each is made equally telling; None for a density along single
    weights, whose number in p is `weight`.
    """

    kind: str
    view: int | None
    weight: int | None
    value: float
    amount: float


@dataclass(frozen=True)
class NonTargets:
    """What the comparison with known non-targets adds to the surprise, and the nearest of them by `index`.

    The figures are None where dissimilarities to them cannot be known; they then weigh the other terms only.
    """

    amount: float
    n_known: int | None
    index: int | None
    dissimilarity: float | None


@dataclass(frozen=True)
class Neighbourhoods:
    """What a decision at several resolutions went by.

    `ratio` is how far the pattern lies out: 1 at the border of what is normal, where the `surprise` is that of the
    `border`. Of `n_left_out` training patterns, each left out in turn, (n_left_out + 1) * `p_value` - 1 lie as far out
    or farther; about a share of `rate` of new targets lies beyond the border. `ladder` and `local` are distances at the
    weights p, `local` None where the training patterns are copies, which keep no distance; `equalised` is None where
    all weights are equally telling already. The amounts of all `terms` add up to the surprise. `non_targets` is None
    where none are known. `n_prototypes` is how many there are where they are fewer than the training patterns: then
    distances are those to prototypes.
    """

    ratio: float
    p_value: float
    rate: float
    n_left_out: int
    surprise: float
    border: float
    ladder: tuple[Rung, ...]
    local: LocalRatio | None
    equalised: Equalised | None
    terms: tuple[Term, ...]
    non_targets: NonTargets | None
    n_prototypes: int | None = None

    @property
    def n_farther(self) -> int:
        """How many left-out training patterns lie as far out or farther."""
        return round(self.p_value * (self.n_left_out + 1)) - 1

    @property
    def place(self) -> str:
        """How far out the pattern lies, in words."""
        if self.ratio < LEAST_RATIO:
            return "far inside the border of what is normal"
        within = self.ratio <= BOUNDARY
        times = f"{self.ratio:.2f}" if within else format_number(self.ratio)
        if float(times) == 1:
            return f"just {'inside' if within else 'beyond'} the border of what is normal"
        return f"at {times} {'of' if within else 'times'} the border of what is normal"

    def rarity(self) -> str:
        """Return the p-value in words."""
        if self.n_left_out == 1:
            return f"With 1 training pattern, the p-value is {format_number(self.p_value)}."
        several = f"{self.n_farther:,} {'lies' if self.n_farther == 1 else 'lie'} as far out or farther"
        found = several if self.n_farther else "none lies as far out"
        p_value = format_number(self.p_value)
        return f"Of {self.n_left_out:,} training patterns, each left out in turn, {found}: p-value {p_value}."

    def lines(self) -> list[str]:
        """Return what decided, line by line."""
        if self.local is None:
            them = self._known_as if (self.n_prototypes or self.n_left_out) == 1 else f"{self._known_as}s"
            return wrapped(f"What decides is how far it lies from the {them}. {self._sum()}.", 2)
        lone = self.local.n_nearest == 1
        lies = "nearest lies" if lone else f"{self.local.n_nearest} nearest lie"
        own = f"as far from it as from {'its' if lone else 'their'} own nearest"
        ratio = f"Its {lies} {format_number(self.local.ratio)} times {own}{self._equalised()}."
        return [*wrapped(f"What decides: {self._ladder()} {ratio}", 2), *wrapped(f"{self._sum()}{self._balance()}.", 2)]

    @property
    def _known_as(self) -> str:
        return "training pattern" if self.n_prototypes is None else "prototype"

    def _ladder(self) -> str:
        counts, distances, usual = _columns(self.ladder)
        if len(self.ladder) == 1:
            one = "one" if self.n_prototypes is None else "training pattern"
            return f"its nearest {self._known_as} lies within {distances}, that of a usual {one} within {usual}."
        return (
            f"its nearest {counts} {self._known_as}s lie within {distances}, those of a usual training pattern within "
            f"{usual}."
        )

    def _equalised(self) -> str:
        """Return the local ratio in the other view, and what sets the pattern apart there."""
        other = self.equalised
        if other is None or other.local is None:
            return ""
        text = f"; {EQUALLY}, {format_number(other.local.ratio)} times"
        greatest = max(other.difference.contributions, key=lambda one: one.amount, default=None)
        if greatest is None or not greatest.amount > 0:
            return text
        part = share(greatest.amount, other.difference.dissimilarity).strip()
        return f"{text}, most by {greatest.text} ({part})"

    def _sum(self) -> str:
        return f"Surprise {format_number(self.surprise)}, border at {format_number(self.border)}"

    def _balance(self) -> str:
        """Return what the surprise is made of, in words."""
        if self.non_targets is not None:
            return self._contrast(self.non_targets)
        parts = zip(shares(len(self.terms)), self.terms, strict=True)
        own = [f"{100 * part:.3g}% of {format_number(term.value)}" for part, term in parts]
        text = f": in standard deviations above left-out training patterns, {own[0]} (distances) and {own[1]} (ratio)"
        return f"{text}, and {own[2]} and {own[3]} {EQUALLY}" if len(own) > 2 else text

    def _contrast(self, others: NonTargets) -> str:
        weighed = "by these, weighed so as to tell known non-targets best"
        if others.n_known is None or others.dissimilarity is None:
            return f", {weighed}"
        known = counted(others.n_known, "known non-target")
        where = f"the nearest at dissimilarity {format_number(others.dissimilarity)}"
        return (
            f": {format_number(self.surprise - others.amount)} {weighed}, and {format_number(others.amount)} "
            f"by the comparison with {known}, {where}"
        )


def _columns(ladder: tuple[Rung, ...]) -> tuple[str, str, str]:
    """Return the counts, distances and usual distances of the first rung, the last, and some between."""
    chosen = np.unique(np.linspace(0, len(ladder) - 1, MOST_RUNGS).round().astype(int))
    rungs = [ladder[place] for place in chosen]
    counts, distances, usual = zip(*((rung.n_nearest, rung.distance, rung.usual) for rung in rungs), strict=True)
    return ", ".join(map(str, counts)), ", ".join(map(format_number, distances)), ", ".join(map(format_number, usual))


def neighbourhoods_of(
    classifier: FittedBySurprise, patterns: Any, prepared: Prepared, verdicts: Scores, names: Sequence[str] | None
) -> list[Neighbourhoods]:
    """Return what decided on every pattern, prepared against the prototypes."""
    model, calibration = classifier.surprise_model_, classifier.calibration_
    view = model.surprise.views[0]
    rows = np.ascontiguousarray(prepared.evaluate(view.weights), np.float64)
    values = model.surprise.columns(prepared)
    p_values = calibration.p_values(verdicts.margins)
    equalised = _equalised(classifier, patterns, prepared, names)
    surprises, terms, non_targets = _balances(classifier, patterns, prepared, values)
    knows_extents = _knows_extents(classifier, view)
    return [
        Neighbourhoods(
            ratio=finite(verdicts.ratios[i]),
            p_value=float(p_values[i]),
            rate=float(calibration.rate),
            n_left_out=len(calibration.margins),
            surprise=finite(surprises[i]),
            border=float(model.border.at),
            ladder=_ladder(view, rows[i]),
            local=_local(view, rows[i]) if knows_extents else None,
            equalised=equalised[i],
            terms=terms[i],
            non_targets=non_targets[i],
            n_prototypes=None if is_whole(classifier) else rows.shape[1],
        )
        for i in range(len(rows))
    ]


def _ladder(view: Surroundings, row: Matrix) -> tuple[Rung, ...]:
    near, _ = view.among(row[None])
    radii = view.radii(near)[0]
    return tuple(Rung(2**k, finite(radii[k]), float(view.usual[k])) for k in range(len(radii)))


def _knows_extents(classifier: FittedBySurprise, view: Surroundings) -> bool:
    """Return whether the prototypes keep a distance; of copies, or a lone one, extents are but a unit."""
    if (view.extents != 1.0).any():
        return True
    prototypes = classifier.prototypes_
    return bool(classifier.measure_.prepare(prototypes[:1], prototypes).evaluate(view.weights).any())


def _local(view: Surroundings, row: Matrix) -> LocalRatio:
    near = np.sort(row)[: n_local(len(row))]
    return LocalRatio(len(near), finite(near.mean()), float(np.sqrt(view.local_ratios(*view.among(row[None]))[0])))


def _equalised(
    classifier: FittedBySurprise, patterns: Any, prepared: Prepared, names: Sequence[str] | None
) -> list[Equalised | None]:
    """Return every pattern's neighbourhoods in the second view, if there is one."""
    views = classifier.surprise_model_.surprise.views
    if len(views) == 1:
        return [None] * len(patterns)
    view, measure, prototypes = views[1], classifier.measure_, classifier.prototypes_
    knows_extents = _knows_extents(classifier, view)
    found: list[Equalised | None] = []
    for i, row in enumerate(np.ascontiguousarray(prepared.evaluate(view.weights), np.float64)):
        nearest, pattern = int(row.argmin()), patterns[i : i + 1]
        neighbour = prototypes[nearest : nearest + 1]
        difference = difference_of(measure, pattern, neighbour, view.weights, names, "neighbour")
        known = training_pattern(classifier, row, nearest)
        local = _local(view, row) if knows_extents else None
        found.append(Equalised(_ladder(view, row), local, known, difference))
    return found


Balances = tuple[Matrix, list[tuple[Term, ...]], list[NonTargets | None]]


def _balances(classifier: FittedBySurprise, patterns: Any, prepared: Prepared, values: Matrix) -> Balances:
    """Return the surprise of all patterns, the terms it is made of, and what known non-targets have to do with it."""
    model = classifier.surprise_model_
    if model.contrast is None:
        terms = [_terms(model.surprise.views, value, value * shares(len(value))) for value in values]
        return surprise_of(values), terms, [None] * len(values)
    pairs = _pairs(classifier, patterns, prepared)
    columns = contrast_columns(model.surprise.views, model.contrast.densities, values, pairs)
    measured = model.contrast.units.measure(columns)
    amounts = measured * model.contrast.coefficients
    values = np.hstack([values, measured[:, values.shape[1] :]])
    terms = [
        _terms(model.surprise.views, value, amount, model.contrast)
        for value, amount in zip(values, amounts, strict=True)
    ]
    others = _non_targets(pairs, model.surprise.views[0], amounts[:, 2 * len(model.surprise.views) :])
    return weighted_sum(measured, model.contrast.coefficients), terms, others


def _pairs(classifier: FittedBySurprise, patterns: Any, prepared: Prepared) -> Pairs | None:
    others = classifier.surprise_model_.others
    if others is None:
        return None
    return Pairs(NewPatterns(prepared), NewPatterns(classifier.measure_.prepare(patterns, others)))


def _non_targets(pairs: Pairs | None, view: Surroundings, amounts: Matrix) -> list[NonTargets | None]:
    """Return the nearest known non-target of every pattern, and what the `amounts` of the comparison add up to."""
    if pairs is None:
        return [NonTargets(0.0, None, None, None) for _ in amounts]
    to_others = pairs.to_others.each(view.weights, np.array)
    places = to_others.argmin(axis=1)
    return [
        NonTargets(finite(amount.sum()), len(row), int(place), finite(row[place]))
        for amount, row, place in zip(amounts, to_others, places, strict=True)
    ]


def _terms(
    views: tuple[Surroundings, ...], values: Matrix, amounts: Matrix, contrast: Contrast | None = None
) -> tuple[Term, ...]:
    """Name the terms, in the order of their columns."""
    named = _named(len(views), [] if contrast is None else contrast.densities.weights.tolist())
    # Where non-targets cannot be compared with, the first of them are all.
    return tuple(
        Term(*name, finite(value), finite(amount)) for name, value, amount in zip(named, values, amounts, strict=False)
    )


def _named(n_views: int, weights: list[int]) -> list[tuple[str, int | None, int | None]]:
    """Return kind, view and weight of every column that surprise and contrast may have.

    >>> _named(1, [0])[:2], [kind for kind, _, _ in _named(1, [0])[2:]]
    ([('ladder', 0, None), ('local ratio', 0, None)], ['ratio to non-targets', 'densities', 'density'])
    """
    own: list[tuple[str, int | None, int | None]] = [
        (kind, v, None) for v in range(n_views) for kind in (LADDER, LOCAL)
    ]
    together: list[tuple[str, int | None, int | None]] = [(ALL_DENSITIES, None, None)] if weights else []
    return [
        *own,
        *((AGAINST_OTHERS, v, None) for v in range(n_views)),
        *together,
        *((DENSITY, None, k) for k in weights),
    ]
