"""Why regions accept or reject a row: which is nearest, how far away it is, and what takes the row out of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy

from eocc.base.registry import SOME
from eocc.base.threads import one_blas_thread
from eocc.base.types import ROUNDING, Indices, Matrix
from eocc.base.wording import counted, finite, format_number, format_value, format_within, to_json
from eocc.ellipsoids.features import CATEGORIES, CONSTANT, FARTHEST, LEVELS, NUMBER, DataColumn, Placement
from eocc.explain import explanation, rules
from eocc.explain.explanation import Explanation, TrainingRow, prototype_labels, reach_of, training_row
from eocc.explain.reasons import LEAST_SHOWN, Reason, difference_reasons, least_usual
from eocc.measures.difference import Pair


@dataclass(frozen=True, repr=False)
class RegionExplanation(Explanation):
    """A decision by regions.

    `region` is the nearest one, `distance` the distance from its centre in the `unit` of the classifier, the extents of
    the region or the widths of all regions, and `limit` the largest `how_far_out` that is accepted. `runner_up` is the
    next region with its distance, None if there is only one. `prototype` is the training row nearest to the centre of
    the region; if `keeps_rows` is false, the row is compared with the centre itself.
    """

    region: int
    n_members: int
    distance: float
    unit: str
    limit: float
    runner_up: tuple[int, float] | None
    prototype: TrainingRow
    keeps_rows: bool

    @property
    def certainty(self) -> str:
        """The p-value in words, or without one how far the nearest region is."""
        if self.p_value is not None:
            return super().certainty
        size, times = counted(self.n_members, "row"), format_number(self.how_far_out)
        group = f"the nearest group of normal rows (region {self.region}, {size})"
        if self.is_target:
            place = "at its centre" if self.how_far_out < LEAST_SHOWN else f"at {self.how_far_out:.2f} of the limit"
            return f"inside {group}, {place}"
        if times == "1":
            return f"just outside {group}"
        return f"outside {group}, {times} times as far from its centre as the limit"

    @property
    def decision(self) -> str:
        """The decision in words."""
        what, far = "accepted" if self.is_target else "rejected", format_number(self.how_far_out)
        limit = f"the limit is {format_number(self.limit)}"
        return f"{what}: {far} {self.unit} from the regions ({limit}), nearest to region {self.region}"

    @property
    def compared_with(self) -> tuple[str, TrainingRow]:
        """The centre of the nearest region, or the training row nearest to it."""
        where, row = f"centre of region {self.region}", f"training row {self.prototype.name}"
        return f"{row} at the {where}" if self.keeps_rows else f"{where}, near {row}", self.prototype

    @property
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""
        if not self.exemplars:
            return f"The training row nearest to the centre of region {self.region} is {self.prototype.name}."
        return f"Most similar training rows in region {self.region}:"

    def notes(self) -> list[str]:
        """Return where the row lies relative to the regions."""
        size, far = counted(self.n_members, "training row"), format_number(self.distance)
        found = [f"The nearest region is {self.region}, of {size}; its centre is {far} {self.unit} away."]
        if self.runner_up is not None:
            other, apart = self.runner_up
            found.append(f"The next region is {other}, at {format_number(apart)} {self.unit}.")
        return found


def explain_by_regions(classifier: Any, patterns: Any) -> list[Explanation]:
    """Return why an EntropicOneClassClassifier accepts or rejects each pattern; docs/guides/explanations.md."""
    rows = classifier._embed(patterns)
    ratios = classifier.fuzzy_model_.ratios(rows)
    ranked = np.argsort(ratios, axis=1, kind="stable")[:, :2]
    centres = rules.prototypes_of(classifier, np.unique(ranked).tolist())
    return region_explanations(classifier, patterns, rows, (ranked, ratios, centres))


def region_explanations(
    classifier: Any, patterns: Any, rows: Matrix, places: tuple[Indices, Matrix, Any],
    by_column: Sequence[tuple[Reason, ...]] | None = None,
) -> list[Explanation]:  # fmt: skip
    """Return the explanations of patterns, given their dissimilarities from the prototypes (`rows`).

    `places` are the two nearest regions of each pattern, its distances from all regions, and the column of the
    prototype of each region. Unless reasons `by_column` are given, each pattern is compared with the members of the
    nearest region, and, if its values have no reasons, with the prototype of that region.
    """
    (ranked, distances, centres), keeps_rows = places, classifier._keeps_training_rows
    near: list[tuple[TrainingRow, ...]] = [()] * len(patterns)
    if by_column is None:
        by_column = least_usual(classifier, patterns, classifier.weights_, rows)
        is_own = prototype_labels(classifier) == ranked[:, :1]
        near = explanation.exemplars_of(classifier, np.where(is_own, rows, np.inf))
    scores, found = explanation.scored(classifier, classifier._score_patterns(patterns)), list[Explanation]()
    for i, (said, (region, *others)) in enumerate(zip(scores, ranked.tolist(), strict=True)):
        column = centres[region]
        prototype = training_row(classifier, rows[i], column)
        comparison = Pair(
            classifier.measure_, patterns[i : i + 1], classifier.prototypes_[column : column + 1], classifier.weights_,
            classifier._feature_names, "prototype" if keeps_rows else "centre",
        )  # fmt: skip
        lead, reasons = "", by_column[i] if by_column else ()
        if by_column is None:
            named = prototype.name, explanation.described(classifier, classifier.prototypes_, column)
            lead, reasons = difference_reasons(comparison.difference, *named, "typical of the nearest region")
        found.append(RegionExplanation(
            **said, comparison=comparison, exemplars=near[i], reasons=reasons, lead=lead, region=region,
            n_members=classifier.regions_[region].n_members, distance=finite(distances[i, region]),
            unit=classifier._unit, limit=reach_of(classifier.threshold_), prototype=prototype, keeps_rows=keeps_rows,
            runner_up=(others[0], finite(distances[i, others[0]])) if others else None,
        ))  # fmt: skip
    return found


def explain_by_ellipsoids(classifier: Any, patterns: Any) -> list[Explanation]:
    """Return why a RegionClassifier accepts or rejects each pattern."""
    regions, columns = classifier.ellipsoids_.regions, rules.columns_of_model(classifier)
    squares = ((classifier._embed(patterns)[:, None, :] - regions.centres) ** 2).sum(axis=2)  # in widths
    ranked = np.argsort(squares / 2 - regions.log_weights, axis=1, kind="stable")[:, :2]
    rows = classifier.measure_.prepare(patterns, classifier.prototypes_).evaluate(classifier.weights_)
    with one_blas_thread():  # the matrices are small
        by_column = _column_reasons(classifier, columns, patterns, ranked[:, 0]) if columns else None
    places = ranked, np.sqrt(squares), [region.representative for region in classifier.regions_]
    return region_explanations(classifier, patterns, rows, places, by_column)


def _column_reasons(
    classifier: Any, columns: list[DataColumn], patterns: Any, regions: Indices
) -> list[tuple[Reason, ...]]:
    model, names = classifier.ellipsoids_, classifier._feature_names
    cells = classifier.measure_.cells(patterns, classifier.prototypes_, names)
    places = {str(name): k for k, name in enumerate(cells.names)}
    features = np.clip(model.filled(classifier.features_.of(patterns)), -FARTHEST, FARTHEST)
    centres, found = rules.centre_features(classifier)[regions], []
    ends, placement = rules.ends_of(classifier), model.placement
    blocks = {k: _block(placement, one.places) for k, one in enumerate(columns) if len(one.places) > 1}
    pull_of = cache(lambda k: placement.pull_of(columns[k].places))
    for i, row in enumerate(features):
        steps, rest = freed_columns(placement, columns, row - centres[i], blocks, pull_of)
        reasons = []
        for step in steps:
            column = columns[step.column]
            value = cells.value(i, places[column.name])
            # A range of a column that is never negative begins at 0 or above it.
            floor = 0.0 if ends.get(column.name, rules.EVERY)[0] >= 0 else -np.inf
            reasons.append(_reason(column, row, step, centres[i], value, floor, len(columns) > 1))
        if reasons and len(reasons) < len(columns):
            name = counted(len(columns) - len(reasons), "other column")
            reasons.append(Reason(name, name, None, None, None, rest, "", "", stands_out=False))
        found.append(tuple(reasons))
    return found


class FreedColumn(NamedTuple):
    """A column that takes a row out of its region: its share, and where its first feature should be, with a width."""

    column: int
    share: float
    gap: float
    width: float


def freed_columns(
    placement: Placement, columns: list[DataColumn], gaps: Matrix, blocks: dict[int, Matrix],
    pull_of: Callable[[int], Matrix],
) -> tuple[list[FreedColumn], float]:  # fmt: skip
    """Return the columns that take a row out of a region, and the share of all others, given its features' `gaps`.

    Columns are freed one after another: each time the one whose squared distance from the centre falls most if it takes
    the value that the columns not yet freed suggest. These falls add up to the squared distance. `pull_of(k)` are the
    columns of Sigma^-1 of data column k, and `blocks` the part of them of its own features, if it has several. After
    some steps, Sigma^-1 of the features that are left is Sigma^-1 - across across'.
    """
    scale = float(np.abs(gaps).max()) or 1.0
    gaps = gaps / scale  # so that squares of far rows stay finite
    left, inverse, across = placement.pull(gaps[None])[0], placement.widths**-2, np.empty((len(gaps), 0))
    total, spent, steps, least = float(gaps @ left), 0.0, dict[int, FreedColumn](), ROUNDING * inverse
    if total <= 0:
        return [], 0.0
    firsts = np.array([column.places[0] for column in columns])
    while len(steps) < min(SOME, len(columns)):
        falls = left[firsts] ** 2 / inverse[firsts]
        roots = {}
        for k in blocks.keys() - steps.keys():
            places = columns[k].places
            roots[k] = np.linalg.cholesky(blocks[k] - across[places] @ across[places].T)
            falls[k] = (_solved(roots[k], left[places]) ** 2).sum()
        falls[list(steps)] = -1.0
        best = int(np.argmax(falls >= (1 - ROUNDING) * falls.max()))  # the first of equal ones
        share, place, places = min(float(falls[best]) / total, 1 - spent), firsts[best], columns[best].places
        if share < LEAST_SHOWN:
            break
        width, spent = float(inverse[place] ** -0.5), spent + share
        steps[best] = FreedColumn(best, share, float(left[place] / inverse[place]) * scale, width)
        root = roots.get(best, np.sqrt(inverse[[places]]))
        more = _solved(root, (pull_of(best) - across @ across[places].T).T).T
        left = left - more @ _solved(root, left[places])
        inverse, across = np.maximum(inverse - (more**2).sum(axis=1), least), np.hstack([across, more])
    return sorted(steps.values(), key=lambda step: -step.share), max(1 - spent, 0.0)


def _solved(root: Any, values: Matrix) -> Matrix:
    """Return root^-1 values, given a lower triangular root."""
    return np.asarray(scipy.linalg.solve_triangular(root, values, lower=True, check_finite=False))


def _block(placement: Placement, places: Indices) -> Matrix:
    """Return Sigma^-1 of some features; the diagonal is a little larger, so that rounding leaves it positive."""
    own = replace(placement, origin=placement.origin[places], axes=placement.axes[places])
    found = own.pull_of(np.arange(len(places)))
    return np.asarray(found + ROUNDING * found.trace() * np.eye(len(places)))


def _reason(
    column: DataColumn, row: Matrix, step: FreedColumn, centre: Matrix, value: Any, floor: float, has_others: bool
) -> Reason:
    """Return the reason for a column of one row; a range begins at the `floor` or above it."""
    value = None if value is None or value != value else value  # NaN
    said, by_others = format_value(value), "by its other values it should be" if has_others else "the region has"
    suggested, low, high = float(row[column.places[0]] - step.gap), None, None
    middle, apart = column.value(suggested), rules.N_WIDTHS * step.width / column.factor
    if column.kind == NUMBER and value is not None:
        low, high = max(middle - apart, floor), max(middle + apart, floor)
        said, least, most = format_within(2 * apart, float(value), low, high)
        normal, stands_out = f"{least} to {most}", not low <= value <= high
    elif column.kind in (CATEGORIES, LEVELS, CONSTANT):
        normal = rules.content_in_words(column, centre, suggested)
        stands_out = normal != said and (value is not None or column.kind == LEVELS)
        if column.kind == CATEGORIES:
            by_others, stands_out = "the region has", value is not None and not normal.startswith(f"{said} ")
        elif column.kind == CONSTANT:
            by_others = "all normal rows have"
    else:
        normal = " to ".join(rules.moments_in_words(column, 2 * apart, middle - apart, middle + apart))
        stands_out = value is not None and abs(step.gap) > rules.N_WIDTHS * step.width
    text = f"{column.name} is {said}; {by_others} {normal}"
    return Reason(
        column.name, text, to_json(value), to_json(low), to_json(high), step.share, said, normal, bool(stands_out)
    )
