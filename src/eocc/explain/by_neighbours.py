"""Why the surprise of a row is low or high: its nearest rows, or what another view saw, which then speaks first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from eocc.base.types import Flags, Matrix
from eocc.base.wording import all_finite, counted, finite, format_number, format_value, format_within, share, to_json
from eocc.entropic.rules import Scores, log_grades
from eocc.explain import reasons
from eocc.explain.explanation import Explanation, TrainingRow, described, exemplars_of, scored, training_row
from eocc.explain.facts import given_columns
from eocc.explain.reasons import Reason, range_reason
from eocc.measures.difference import MOST_NAMED, Cells, Difference, Pair
from eocc.surprise.comparison import Comparison, Nearest, Reference
from eocc.surprise.helpers import CellView, CovarianceView, FarView, cells_of, columns_of
from eocc.surprise.model import NEIGHBOURS, SurpriseModel
from eocc.surprise.neighbours import Weighting, neighbourhood_sizes

# The middle share of the normal rows that is shown for a value within their range.
MIDDLE = (0.01, 0.99)
# What a view saw: words that introduce the reasons, and the reasons, the main one first.
Seen = tuple[str, tuple[Reason, ...]]


@dataclass(frozen=True)
class Neighbourhood:
    """The nearest training rows of a row under one weighting of the dissimilarity.

    The `sizes[i]` nearest lie within `distances[i]`; in the median over left-out training rows, within `medians[i]`.
    The nearest `n_local` lie `local_ratio` times as far away as they lie from their own nearest. `difference` is from
    the `neighbour`, the nearest of all.
    """

    sizes: tuple[int, ...]
    distances: tuple[float, ...]
    medians: tuple[float, ...]
    n_local: int
    local_ratio: float
    neighbour: TrainingRow
    comparison: Pair = field(compare=False)

    @property
    def difference(self) -> Difference:
        """What makes the row differ from the neighbour."""
        return self.comparison.difference


@dataclass(frozen=True)
class OutlierComparison:
    """What the comparison with `n_known` outliers adds to the surprise, and the nearest of them by `index`."""

    amount: float
    n_known: int
    index: int
    dissimilarity: float


@dataclass(frozen=True, repr=False)
class NeighbourExplanation(Explanation):
    """A decision by the surprise among the nearest training rows.

    A row with a `surprise` above `threshold` is rejected. Of `n_left_out` training rows, each left out of its own
    neighbours, (n_left_out + 1) * `p_value` - 1 are at least as surprising; these are all `n_training` rows, or a part
    of them that is evenly spaced in the order of their surprise. `views` are the numbers of the views by name, in
    standard units less their handicaps; the largest is the surprise, if there are no labels. There is one of
    `neighbourhoods` for the given weights and, unless it would be the same, one for the variance-equalised weights.
    `outliers` is None if no outliers are known. `answered` is what answers on similar rows add to the surprise.
    `n_prototypes` is None if every training row is a prototype.
    """

    surprise: float
    threshold: float
    neighbourhoods: tuple[Neighbourhood, ...]
    views: dict[str, float]
    outliers: OutlierComparison | None
    answered: float = 0.0
    n_prototypes: int | None = None

    @property
    def certainty(self) -> str:
        """The p-value in words, and whether an answer or known outliers decide."""
        decide = self.outliers is not None and not self.is_target and 2 * self.outliers.amount > self.surprise
        rarity = super().certainty
        if self.is_target and self.surprise - self.answered > self.threshold:
            return f"{rarity}, because a similar row was answered as normal"
        return f"{rarity}, and similar to known outliers" if decide else rarity

    @property
    def decision(self) -> str:
        """The decision in words."""
        said = "accepted" if self.is_target else "rejected"
        return f"{said}: {format_number(self.how_far_out)} times as far out as the limit"

    @property
    def compared_with(self) -> tuple[str, TrainingRow]:
        """The nearest training row."""
        return f"nearest {self._row} {self.exemplars[0].name}", self.exemplars[0]

    @property
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""
        return f"Nearest {self._row}{'' if len(self.exemplars) == 1 else 's'}:"

    def notes(self) -> list[str]:
        """Return the distances and the sum, one paragraph each."""
        return [self._distances_in_words(), self._sum_in_words()]

    @property
    def _row(self) -> str:
        return "training row" if self.n_prototypes is None else "prototype"

    def _distances_in_words(self) -> str:
        near = self.neighbourhoods[0]
        distances, medians = (", ".join(map(format_number, values)) for values in (near.distances, near.medians))
        rows, they = f"{', '.join(map(str, near.sizes))} nearest {self._row}s lie", "these lie"
        if len(near.sizes) == 1:
            rows, they = f"nearest {self._row} lies", "it lies"
        profile = f"Its {rows} within {distances}; for a typical training row {they} within {medians}."
        lies, own = ("nearest lies", "its") if near.n_local == 1 else (f"{near.n_local} nearest lie", "their")
        times = f"{format_number(near.local_ratio)} times as far from it as from {own} own nearest"
        for equalised in self.neighbourhoods[1:]:
            times += f"; with variance-equalised weights, {format_number(equalised.local_ratio)} times"
            found = equalised.difference
            greatest = max(found.contributions, key=lambda one: one.amount, default=None)
            if greatest is not None and greatest.amount > 0:
                times += f", mostly by {greatest.text} ({share(greatest.amount, found.dissimilarity).strip()})"
        return f"{profile} Its {lies} {times}."

    @property
    def loudest(self) -> list[str]:
        """The names of the views, that of the largest number first."""
        return sorted(self.views, key=lambda name: -self.views[name])

    @property
    def decided_by(self) -> str:
        """The name of the view with the largest number."""
        return self.loudest[0]

    def _sum_in_words(self) -> str:
        views = ", ".join(f"{name} {format_number(value)}" for name, value in self.views.items())
        text = f"Surprise {format_number(self.surprise)}, limit {format_number(self.threshold)}. "
        text += f"The largest view counts: {views}." if len(self.views) > 1 else f"Its only view: {views}."
        if self.outliers is not None:
            own = self.surprise - self.outliers.amount - self.answered
            text += f" With labels it counts {format_number(own)}."
            known, amount = counted(self.outliers.n_known, "known outlier"), format_number(self.outliers.amount)
            nearest = f"the nearest at dissimilarity {format_number(self.outliers.dissimilarity)}"
            text += f" The comparison with {known}, {nearest}, adds {amount}."
        return f"{text} Answers on similar rows add {format_number(self.answered)}." if self.answered else text


def explain_by_neighbours(classifier: Any, patterns: Any) -> list[Explanation]:
    """Return why each pattern was accepted or rejected; docs/guides/explanations.md shows one."""
    model: SurpriseModel = classifier.surprise_model_
    rows, near = model.compare(patterns)
    view, views = model.neighbours, all_finite(model.views(rows, near)).tolist()
    surprises = model.surprises(patterns, (rows, near))
    answered = np.zeros(len(patterns)) if model.correction is None else model.correction.of(rows.patterns)
    ratios = model.threshold.ratios(surprises)
    scores = Scores(ratios, log_grades(classifier.membership_function_, ratios))
    # Infinite where a row is the prototype itself, or a copy of it: such a row is compared with the others.
    distances = [rows.rows(weighting.weights) for weighting in view.weightings]
    by_weighting = map(partial(_neighbourhoods, classifier, patterns), view.weightings, near, distances)
    outliers, largest = _outlier_comparisons(model, rows, near), view.by_weighting(near).argmax(axis=1)
    active, exemplars = sum(one.weights for one in view.weightings), exemplars_of(classifier, distances[0])
    by_column = reasons.least_usual(classifier, patterns, np.asarray(active), distances[0])
    numbers = (all_finite(one).tolist() for one in (surprises, answered))
    columns = zip(scored(classifier, scores), *numbers, zip(*by_weighting, strict=True), strict=True)
    found, given = list[Explanation](), [place for place, _ in given_columns(classifier, patterns).values()]
    for i, (said, surprise, answer, near_rows) in enumerate(columns):
        explanation = NeighbourExplanation(
            **said, comparison=near_rows[0].comparison, exemplars=exemplars[i], reasons=(), lead="", surprise=surprise,
            threshold=model.threshold.value, neighbourhoods=near_rows,
            views=dict(zip(model.names, views[i], strict=True)), outliers=outliers[i], answered=answer,
            n_prototypes=None if classifier._is_whole else len(classifier.prototypes_),
        )  # fmt: skip
        by_row = by_column[i] if by_column else None
        seen = _first_to_speak(explanation, by_row, classifier, rows, i, given, distances[0][i])
        seen = seen or (_compared(classifier, near_rows[largest[i]]) if by_row is None else ("", by_row))
        found.append(replace(explanation, lead=seen[0], reasons=seen[1]))
    return found


def _first_to_speak(
    explanation: NeighbourExplanation, by_row: tuple[Reason, ...] | None, classifier: Any, rows: Comparison, i: int,
    given: Sequence[int], distances: Matrix,
) -> Seen | None:  # fmt: skip
    """Return what the largest view above the limit saw in row i, and then the reasons `by_row`; None if these say all.

    The neighbours say it by a value that stands out. If none does, the next view may. `given` are the places of the
    columns of the data, without further parts of dates, and `distances` those of the row from all prototypes.
    """
    of_views, names, reference, own = explanation.views, classifier._feature_names, rows.reference, int(rows.own[i])
    # The limit of a model with labels is that of another sum: 2 is about the limit without them.
    limit = explanation.threshold if explanation.outliers is None else 2.0
    loud = [name for name in explanation.loudest if of_views[name] > limit and not explanation.is_target]
    if own >= 0 and loud:  # a training row is compared with the others
        others = reference.prototypes[np.delete(np.arange(len(reference.prototypes)), own)]
        reference = Reference(reference.measure, others, reference.weightings)
    for name in loud:
        if name == NEIGHBOURS and (not by_row or by_row[0].stands_out):
            return None
        view, seen = classifier.surprise_model_.helpers.get(name), None
        if isinstance(view, CellView):
            view = cells_of(reference)[0] if own >= 0 else view
            seen = _cells_seen(view, reference, rows.patterns[i : i + 1], names, given)
        elif isinstance(view, CovarianceView):
            seen = _covariance_seen(view, reference, rows, i, names)
        elif isinstance(view, FarView):
            seen = _clump_seen(view, rows, distances)
        if seen is not None:
            (lead, first), known = seen, {one.name for one in seen[1]}
            others = tuple(one for one in by_row or () if one.name not in known)
            if first and others:  # the shares fall, and add up to what they do alone
                left = 1 - sum(one.share for one in by_row or () if one.name in known)
                others = tuple(replace(one, share=one.share / max(left, one.share)) for one in others)
                part = min(1.0, first[-1].share / others[0].share)
                first = tuple(replace(one, share=one.share / (1 + part)) for one in first)
                others = tuple(replace(one, share=one.share * part / (1 + part)) for one in others)
            return lead, (*first, *others)[:MOST_NAMED]
    return None


def _compared(classifier: Any, near: Neighbourhood) -> Seen:
    name, (far, usual) = near.neighbour.name, (format_number(one[0]) for one in (near.distances, near.medians))
    text = f"The most similar normal row, {name}, is {far} away; normal rows usually have one within {usual}."
    description = described(classifier, classifier.prototypes_, near.neighbour.column)
    return reasons.difference_reasons(near.difference, name, description, otherwise=text)


def _neighbourhoods(
    classifier: Any, patterns: Any, weighting: Weighting, near: Nearest, distances: Matrix
) -> list[Neighbourhood]:
    sizes = neighbourhood_sizes(len(weighting.local_scales) - 1)
    profiles, squares = all_finite(near.distances[:, sizes - 1]), replace(weighting, mean_ratio=1.0).terms(near)[:, 1]
    ratios, found = np.sqrt(squares).tolist(), list[Neighbourhood]()
    measure, weights, names = classifier.measure_, weighting.weights, classifier._feature_names
    medians = tuple(weighting.median_profile.tolist())
    for i, column in enumerate(distances.argmin(axis=1).tolist()):
        prototype = classifier.prototypes_[column : column + 1]
        neighbour = training_row(classifier, distances[i], column)
        comparison = Pair(measure, patterns[i : i + 1], prototype, weights, names, "neighbour")
        profile = tuple(sizes.tolist()), tuple(profiles[i].tolist()), medians
        found.append(Neighbourhood(*profile, weighting.needed[1], ratios[i], neighbour, comparison))
    return found


def _outlier_comparisons(model: SurpriseModel, rows: Comparison, near: list[Nearest]) -> list[OutlierComparison | None]:
    if model.outliers is None or model.likelihood_ratio is None:
        return [None] * len(rows.patterns)
    amounts = model.likelihood_ratio.amounts(model.labelled(rows, near))[:, 1:].sum(axis=1)
    distances = Comparison(model.outliers, rows.patterns, length=0).rows(model.normal.weightings[0])
    return [
        OutlierComparison(finite(amount), len(row), int(row.argmin()), finite(row.min()))
        for amount, row in zip(amounts, distances, strict=True)
    ]


def _cells_seen(
    view: CellView, reference: Reference, pattern: Any, names: Sequence[str] | None, given: Sequence[int]
) -> Seen:
    measure: Any = reference.measure
    # The number of gaps comes first: it says more than any one of them.
    values = np.ascontiguousarray(measure.cell_values(pattern)[:, reference.active])
    strangeness = np.roll(view.by_column(values), 1, axis=1)
    cells = measure.cells(pattern, reference.prototypes, names)
    columns = [None, *np.flatnonzero(reference.active).tolist()]
    (largest,) = reasons.largest_of(strangeness)
    is_gap = np.isnan(cells.rows[0])
    # Several gaps are one reason, a single one is its column: the others among these cells count to it.
    is_block = is_gap.sum() > 1 and 0 in dict(largest)
    gaps = [place for place, k in enumerate(columns) if k is None or is_gap[k]]
    if is_block or is_gap.sum() == 1:
        strangeness[0, gaps[0 if is_block else -1]] = np.linalg.norm(strangeness[0, gaps])
        strangeness[0, gaps[1:] if is_block else gaps[:-1]] = 0.0
        (largest,) = reasons.largest_of(strangeness)
    return "", tuple(_cell_reason(cells, columns[place], share, given) for place, share in largest)


def _cell_reason(cells: Cells, k: int | None, share: float, given: Sequence[int]) -> Reason:
    """Return the reason for the cell in column k; None is the number of gaps in the `given` columns."""
    if k is None:
        here, *counts = np.isnan(np.vstack([cells.rows, cells.columns.T])[:, given]).sum(axis=1).tolist()
        most = max(counts)
        normal = "" if here <= most else f"at most {most}" if most else "none"
        others = f"normal rows have {normal}" if normal else f"{_how_many(np.array(counts) >= here, 'lack')} as many"
        text = f"{here} of {len(given)} values are missing; {others}"
        return Reason("missing values", text, here, 0, most, share, str(here), normal)
    column, value, name = cells.columns[k], cells.value(0, k), cells.names[k]
    known = column[~np.isnan(column)]
    said = format_value(value)
    if value is None or value != value:  # NaN
        return Reason(name, f"{name} is missing; {_how_many(np.isnan(column), 'lack')} it", None, None, None, share,
                      "missing")  # fmt: skip
    if cells.is_code[k]:
        text = f"{name} is {said}; {_how_many(column == cells.rows[0, k], 'have')} it"
        common = Counter(format_value(cells.prototype_value(int(j), k)) for j in np.flatnonzero(~np.isnan(column)))
        return Reason(name, text, to_json(value), None, None, share, said, reasons.categories_in_words(common))
    order = np.flatnonzero(~np.isnan(column))[np.argsort(known, kind="stable")]
    is_outside = not known.min() <= cells.rows[0, k] <= known.max()
    shares = (0.0, 1.0) if is_outside else MIDDLE
    ends = [cells.prototype_value(int(order[round(part * (len(order) - 1))]), k) for part in shares]
    rows = "normal rows" if is_outside else "98 % of normal rows"
    everyone = "all " if ends[0] == ends[1] and is_outside else ""
    return range_reason(name, value, ends[0], ends[1], share, f"{everyone}{rows} have {{}}", is_outside)


def _how_many(has_it: Flags, verb: str) -> str:
    count, one = int(has_it.sum()), {"have": "has", "lack": "lacks"}[verb]
    some = f"{count:,} of {len(has_it):,} normal rows {one if count == 1 else verb}"
    return some if count else f"no normal row {one}"


def _covariance_seen(
    view: CovarianceView, reference: Reference, rows: Comparison, i: int, names: Sequence[str] | None
) -> Seen | None:
    """Return the value that goes least with the others, and the column that says so most.

    Given the other columns, x_k is expected at x_k - (P x)_k / P_kk, with the inverse covariance P. Column j moves this
    expectation by -P_kj x_j / P_kk.
    """
    x = columns_of(reference, rows.coordinates[i : i + 1])[0] - view.mean
    inside = view.basis @ (view.basis.T @ x)
    diagonal = view.whole + view.inside * (view.basis**2).sum(axis=1)
    apart = (view.whole * x + view.inside * inside) / np.sqrt(diagonal)
    k = int(np.abs(apart).argmax())
    row = view.inside * (view.basis @ view.basis[k])
    row[k] = 0.0
    j = int(np.abs(row * x).argmax())
    measure: Any = reference.measure
    cells = measure.cells(rows.patterns[i : i + 1], reference.prototypes, names)
    here, there = (int(np.flatnonzero(reference.weightings[-1])[place]) for place in (k, j))
    alike = np.argsort(np.abs(cells.columns[there] - cells.rows[0, there]), kind="stable")[: reasons.N_NEAR]
    ordered = alike[np.argsort(cells.columns[here][alike], kind="stable")]
    is_inside = cells.columns[here][ordered[0]] <= cells.rows[0, here] <= cells.columns[here][ordered[-1]]
    if is_inside or k == j:
        return None
    low, high = (cells.prototype_value(int(end), here) for end in ordered[[0, -1]])
    found = range_reason(cells.names[here], cells.value(0, here), low, high, 1.0, "normal rows have {}")
    spread = float(np.ptp([cells.prototype_value(int(one), there) for one in alike]))
    (at,) = format_within(spread, cells.value(0, there))
    name, partner = cells.names[here], cells.names[there]
    low_end, high_end = np.nanquantile(cells.columns, MIDDLE, axis=1)
    is_usual = bool(((low_end <= cells.rows[0]) & (cells.rows[0] <= high_end)).all())  # in every column
    alone = "No single value is unusual, but " if is_usual else ""
    together = f"{alone}{name} and {partner} do not go together"
    text = f"{together}: at {partner} {at} normal rows have {name} {found.normal}; here {found.said}"
    return "", (replace(found, text=text),)


def _clump_seen(view: FarView, rows: Comparison, distances: Matrix) -> Seen | None:
    far = float(np.sort(distances[view.landmarks])[min(len(view.landmarks) // 4, len(view.landmarks) - 1)])
    count = int((distances <= far / 2).sum())
    if not 0 < count < len(distances) / 2:
        return None
    near = f"{counted(count, 'training row')} that {'is' if count == 1 else 'are'}"
    copies = "far from all others" if count == 1 else "near copies of each other and far from all others"
    return f"Its only near {'row is' if count == 1 else 'rows are'} {near} {copies}.", ()
