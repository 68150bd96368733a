"""Why regions of one shape accept or reject a row: which columns take it out of the nearest one."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from eocc.base.registry import SOME
from eocc.base.threads import one_blas_thread
from eocc.base.types import ROUNDING, Indices, Matrix
from eocc.base.wording import counted, format_value, format_within, to_json
from eocc.ellipsoids.features import CATEGORIES, CONSTANT, FARTHEST, LEVELS, NUMBER, DataColumn, Placement
from eocc.explain import rules
from eocc.explain.by_regions import region_explanations
from eocc.explain.explanation import Explanation
from eocc.explain.reasons import LEAST_SHOWN, Reason


def explain_by_ellipsoids(classifier: Any, patterns: Any) -> list[Explanation]:
    """Return why a RegionClassifier accepts or rejects each pattern."""
    regions, columns = classifier.ellipsoids_.regions, rules.columns_of_model(classifier)
    squares = regions.squared_distances(classifier._embed(patterns))
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
    return np.asarray(solve_triangular(root, values, lower=True, check_finite=False))


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
