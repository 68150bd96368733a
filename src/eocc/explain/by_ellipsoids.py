"""Why regions of one shape accept or reject a row: which is nearest, and which columns take the row out of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.registry import SOME
from eocc.base.types import Indices, Matrix
from eocc.base.wording import counted, finite, format_number, format_value, format_within, to_json
from eocc.ellipsoids.features import CATEGORIES, CONSTANT, FARTHEST, LEVELS, NUMBER, DataColumn, Placement
from eocc.explain.explanation import Explanation, scored
from eocc.explain.fitted import TrainingRow, described, exemplars_of, reach_of, training_row
from eocc.explain.reasons import LEAST_SHOWN, Reason, difference_reasons, least_usual
from eocc.explain.rules import N_WIDTHS, centre_features, columns_of_model, content_in_words, moments_in_words
from eocc.measures.difference import PendingDifference


@dataclass(frozen=True, repr=False)
class EllipsoidExplanation(Explanation):
    """A decision by regions of one shape.

    `region` is the one with the largest share of the membership, `distance` the distance from its centre in widths, and
    `limit` the largest `how_far_out` that is accepted. `runner_up` is the next region with its distance, None if there
    is only one. If `keeps_rows` is false, the row is compared with the centre of the region, and the training row is
    the one nearest to it.
    """

    region: int
    n_members: int
    distance: float
    limit: float
    runner_up: tuple[int, float] | None
    prototype: TrainingRow
    keeps_rows: bool

    @property
    def decision(self) -> str:
        """The decision in words."""
        what = "accepted" if self.is_target else "rejected"
        far, limit = format_number(self.how_far_out), format_number(self.limit)
        return f"{what}: {far} widths from the regions (the limit is {limit}), nearest to region {self.region}"

    @property
    def compared_with(self) -> tuple[str, TrainingRow]:
        """The centre of the nearest region, or the training row nearest to it."""
        where = f"centre of region {self.region}"
        return f"training row at the {where}," if self.keeps_rows else f"{where}, near training row", self.prototype

    @property
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""
        if not self.exemplars:
            return f"The training row nearest to the centre of region {self.region} is {self.prototype.name}."
        return f"Most similar training rows in region {self.region}:"

    def notes(self) -> list[str]:
        """Return where the row lies relative to the regions."""
        size, far = counted(self.n_members, "training row"), format_number(self.distance)
        found = [f"The nearest region is {self.region}, of {size}; its centre is {far} widths away."]
        if self.runner_up is not None:
            other, apart = self.runner_up
            found.append(f"The next region is {other}, at {format_number(apart)} widths.")
        return found

    @property
    def detail(self) -> str:
        """All of it in words."""
        near = [self._exemplars_in_words()] if self.exemplars else []
        return self._text([*self.notes(), *near], " ".join([self.compared_with[0], self.prototype.name]), [])


def explain_by_ellipsoids(classifier: Any, patterns: Any) -> list[Explanation]:
    """Return why each pattern was accepted or rejected."""
    regions, columns = classifier.ellipsoids_.regions, columns_of_model(classifier)
    measure, prototypes, weights = classifier.measure_, classifier.prototypes_, classifier.weights_
    squares = regions.squared_distances(classifier._embed(patterns))
    ranked, distances = np.argsort(squares / 2 - regions.log_weights, axis=1, kind="stable")[:, :2], np.sqrt(squares)
    dissimilarities = measure.prepare(patterns, prototypes).evaluate(weights)
    near: list[tuple[TrainingRow, ...]] = [()] * len(patterns)
    if columns:
        by_part = _column_reasons(classifier, columns, patterns, ranked[:, 0])
    else:
        by_part = least_usual(classifier, patterns, weights, dissimilarities)
        near = exemplars_of(classifier, np.where(classifier.labels_ == ranked[:, :1], dissimilarities, np.inf))
    found: list[Explanation] = []
    scores = scored(classifier, classifier._score_patterns(patterns))
    for i, (said, (region, *others)) in enumerate(zip(scores, ranked.tolist(), strict=True)):
        column = classifier.regions_[region].representative
        comparison = PendingDifference(
            measure, patterns[i : i + 1], prototypes[column : column + 1], weights, classifier._feature_names,
            "prototype" if classifier._keeps_training_rows else "centre",
        )  # fmt: skip
        row = training_row(classifier, dissimilarities[i], column)
        lead, reasons = "", by_part[i] if by_part else ()
        if by_part is None:
            named = row.name, described(classifier, prototypes, column), "typical of the nearest region"
            lead, reasons = difference_reasons(comparison.difference, *named)
        found.append(EllipsoidExplanation(
            **said, comparison=comparison, exemplars=near[i], reasons=reasons, lead=lead, region=region,
            n_members=classifier.regions_[region].n_members, distance=finite(distances[i, region]),
            limit=reach_of(classifier.threshold_), prototype=row, keeps_rows=classifier._keeps_training_rows,
            runner_up=(others[0], finite(distances[i, others[0]])) if others else None,
        ))  # fmt: skip
    return found


def _column_reasons(
    classifier: Any, columns: list[DataColumn], patterns: Any, regions: Indices
) -> list[tuple[Reason, ...]] | None:
    """Return the columns that take each row out of its region, with shares that add up to 1."""
    model, cells, reading = classifier.ellipsoids_, _cells(classifier, patterns), classifier.reading_
    features = np.clip(model.filled(classifier.features_.of(patterns)), -FARTHEST, FARTHEST)
    centres, found = centre_features(classifier)[regions], []
    # The least value that a range may show: 0 for columns that are never negative.
    known = () if reading is None else reading.columns
    floors = {str(one.name): 0.0 for one in known if one.low is not None and one.low >= 0}
    for i, row in enumerate(features):
        steps, rest = freed_columns(model.placement, columns, row - centres[i])
        reasons = []
        for step in steps:
            column, name = columns[step.column], columns[step.column].name
            least = floors.get(name, -np.inf)
            reasons.append(_reason(column, row, step, centres[i], cells(i, name), least, len(columns) > 1))
        if reasons and rest > 0 and len(reasons) < len(columns):
            name = counted(len(columns) - len(reasons), "other column")
            reasons.append(Reason(name, name, None, None, None, rest, "", "", stands_out=False))
        found.append(tuple(reasons))
    return found


@dataclass(frozen=True, eq=False)
class FreedColumn:
    """A column that takes a row out of its region: its share, and where its first feature should be, with a width."""

    column: int
    share: float
    gap: float
    width: float


def freed_columns(placement: Placement, columns: list[DataColumn], gaps: Matrix) -> tuple[list[FreedColumn], float]:
    """Return the columns that take a row out of a region, and the share of all others, given its features' `gaps`.

    Columns are freed one after another: each time the one whose squared distance from the centre falls most if it takes
    the value that the columns not yet freed suggest. These falls add up to the squared distance.
    """
    scale = float(np.abs(gaps).max()) or 1.0
    gaps = gaps / scale  # so that squares of far rows stay finite
    pulls, widths = placement.pull(gaps[None])[0], placement.widths**-2
    total, left, freed, steps = float(gaps @ pulls), pulls, np.empty(0, np.int64), list[FreedColumn]()
    if total <= 0:
        return [], 0.0
    blocks = {k: placement.pull_of(one.places)[one.places] for k, one in enumerate(columns) if len(one.places) > 1}
    remaining, spent = list(range(len(columns))), 0.0
    while remaining and len(steps) < SOME:
        # Of the features that are left, given those that are free.
        across = placement.pull_of(freed)
        back = np.linalg.pinv(across[freed], hermitian=True) if len(freed) else None
        solved = None if back is None else back @ np.column_stack([pulls[freed], across.T])
        left = pulls if solved is None else pulls - across @ solved[:, 0]
        inverse = widths if solved is None else np.maximum(widths - (across * solved[:, 1:].T).sum(axis=1), 1e-300)
        falls = []
        for k in remaining:
            places = columns[k].places
            if k not in blocks:
                falls.append(float(left[places[0]] ** 2 / inverse[places[0]]))
                continue
            block = blocks[k] if solved is None else blocks[k] - across[places] @ solved[:, 1:][:, places]
            falls.append(float(left[places] @ np.linalg.pinv(block, hermitian=True) @ left[places]))
        best = int(np.argmax(falls))
        share = min(falls[best] / total, 1 - spent)
        if share < LEAST_SHOWN:
            break
        k = remaining.pop(best)
        place, spent = columns[k].places[0], spent + share
        width = float(inverse[place] ** -0.5)
        steps.append(FreedColumn(k, share, float(left[place] / inverse[place]) * scale, width))
        freed = np.concatenate([freed, columns[k].places])
    return sorted(steps, key=lambda step: -step.share), max(1 - spent, 0.0)


def _cells(classifier: Any, patterns: Any) -> Any:
    """Return a function (row, name of a column) -> the value in the data."""
    if isinstance(patterns, np.ndarray):
        places = {name: k for k, name in enumerate(classifier.measure_.weight_names(classifier._feature_names))}
        return lambda i, name: None if np.isnan(patterns[i, places[name]]) else float(patterns[i, places[name]])
    known = {str(column.name): column for column in patterns.columns}
    return lambda i, name: known[name].cell(i)


def _reason(
    column: DataColumn, row: Matrix, step: FreedColumn, centre: Matrix, value: Any, floor: float, has_others: bool
) -> Reason:
    """Return the reason for a column of one row; a range begins at the `floor` or above it."""
    said, by_others = format_value(value), "by its other values it should be" if has_others else "the region has"
    suggested, low, high = float(row[column.places[0]] - step.gap), None, None
    middle, apart = column.value(suggested), N_WIDTHS * step.width / column.factor
    if column.kind == NUMBER and value is not None:
        low, high = max(middle - apart, floor), max(middle + apart, floor)
        said, least, most = format_within(2 * apart, float(value), low, high)
        normal, stands_out = f"{least} to {most}", not low <= value <= high
    elif column.kind in (CATEGORIES, LEVELS, CONSTANT):
        normal = content_in_words(column, centre, suggested)
        stands_out = normal != said and (value is not None or column.kind == LEVELS)
        if column.kind == CATEGORIES:
            by_others, stands_out = "the region has", value is not None and not normal.startswith(f"{said} ")
        elif column.kind == CONSTANT:
            by_others = "all normal rows have"
    else:
        normal = " to ".join(moments_in_words(column, 2 * apart, middle - apart, middle + apart))
        stands_out = value is not None and abs(step.gap) > N_WIDTHS * step.width
    text = f"{column.name} is {said}; {by_others} {normal}"
    return Reason(
        column.name, text, to_json(value), to_json(low), to_json(high), step.share, said, normal, bool(stands_out)
    )
