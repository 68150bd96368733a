"""Targets and known non-targets -> how much more a pattern looks like these than like those.

What labels add to the surprise: ratios of distances to the nearest of either kind, for every view; and ratios of
densities along every single weight of the dissimilarity. A logistic regression that starts from equal shares, with
coefficients >= 0, puts them together with the terms of surprise.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from eocc.kernels.density import finite_squares, kernel_sums
from eocc.measures.protocol import Prepared
from eocc.surprise.score import FARTHEST, NO_SPREAD, Surprise, Surroundings, Terms, nearest, sum_of

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]

# Patterns of either kind whose distances are compared.
N_NEAR = 3
# Distances below this share of a view's typical extent count as that: copies have a limit; the far end is as wide.
FLOOR, CEILING = 0.01, 1e7
# Few non-targets leave all coefficients near PRIOR, an equal sum; it takes about RIDGE of them to move these.
RIDGE, PRIOR = 10.0, 0.1
# Labels may weaken what is known without them, not silence it: a score that never varies would rank nothing.
LEAST = 0.01
# A density has so much of one kernel everywhere, and a width so much of the targets' spread: logarithms stay finite.
BACKGROUND, LEAST_WIDTH = 0.05, 0.05
# The others' spread along a weight counts for at least so much of the targets'.
LEAST_SPREAD = 0.1
# The loss is convex: so tight, the coefficients are the same whatever rounds on the way.
CONVERGED = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000}
# A weight whose dissimilarities are this small beside the largest's tells nothing but rounding.
SILENT = 1e-6


class Compared(Protocol):
    """Patterns against those of one kind, as a `Representation` has them."""

    def each(self, p: Matrix, function: Callable[[Matrix], Matrix]) -> Matrix:
        """Return what `function` makes of the rows of dissimilarities at p, infinite where a pattern meets itself."""
        ...


@dataclass(frozen=True, eq=False)
class NewPatterns:
    """Patterns that are none of those they are `prepared` against."""

    prepared: Prepared

    def each(self, p: Matrix, function: Callable[[Matrix], Matrix]) -> Matrix:
        """Return what `function` makes of the rows of dissimilarities at p."""
        return function(np.ascontiguousarray(self.prepared.evaluate(p), np.float64))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Patterns against the targets and against the known others."""

    to_targets: Compared
    to_others: Compared


@dataclass(frozen=True, eq=False)
class Densities:
    """Kernel densities of targets and of others along single weights e_k: `weights` k, and `widths` (2, l)."""

    weights: Indices
    widths: Matrix

    def columns(self, pairs: Pairs, n_parameters: int) -> Matrix:
        """Return log(density of others / density of targets) along all weights together, then along each."""
        units, ratios = np.eye(n_parameters), []
        for k, (to_targets, to_others) in zip(self.weights, self.widths.T.tolist(), strict=True):
            targets = pairs.to_targets.each(units[k], partial(_log_density, width=to_targets))
            ratios.append(pairs.to_others.each(units[k], partial(_log_density, width=to_others)) - targets)
        return np.column_stack([sum_of(np.column_stack(ratios)), *ratios])


def _log_density(distances: Matrix, width: float) -> Matrix:
    """Return the logarithm of a kernel density, up to a constant; an infinite distance counts for nothing."""
    sums = np.empty(len(distances))
    kernel_sums(distances, width, sums)
    return np.asarray(np.log((sums + BACKGROUND) / (distances.shape[1] * width)))


def learn_densities(targets: Compared, others: Compared, counts: tuple[int, int], p: Matrix) -> Densities:
    """Return those of targets among targets and of others among others, of which there are so many.

    Take Silverman's widths from the dissimilarities of either kind among themselves; std = rms / sqrt 2.

    A weight that is 0 in p, or that tells nothing of the targets, has no densities.
    """
    spreads = np.zeros((len(p), 2))
    for k in np.flatnonzero(p):
        spreads[k] = [_spread(kind.each(np.eye(len(p))[k], _squares)) for kind in (targets, others)]
    kept = np.flatnonzero(spreads[:, 0] > SILENT * spreads[:, 0].max(initial=0.0))
    own, other = spreads[kept].T
    widths = [_width(own, counts[0]), _width(np.maximum(other, LEAST_SPREAD * own), counts[1])]
    return Densities(kept, np.array(widths) + LEAST_WIDTH * own)


def _squares(distances: Matrix) -> Matrix:
    """Return the sum of squares of the finite distances in each row, and their number."""
    sums = np.empty((len(distances), 2))
    finite_squares(distances, sums)
    return sums


def _spread(squares: Matrix) -> float:
    total, count = squares.sum(axis=0).tolist()
    return math.sqrt(total / count / 2) if count else 0.0


def _width(spread: Matrix, count: int) -> Matrix:
    return np.asarray(1.06 * spread * max(count, 2) ** -0.2)


@dataclass(frozen=True, eq=False)
class Contrast:
    """What labels add: `units` of all columns, `coefficients` >= 0 of each, `densities` along single weights.

    The columns are the terms of surprise, a ratio of distances for every view, and those of the densities; where
    distances to the others cannot be known, the terms of surprise alone.
    """

    densities: Densities
    units: Terms
    coefficients: Matrix

    def of(self, surprise: Surprise, terms: Matrix, pairs: Pairs | None) -> Matrix:
        """Return the surprise of new patterns, whose `terms` are known, in the light of the labels."""
        columns = self.units.measure(contrast_columns(surprise.views, self.densities, terms, pairs))
        return weighted_sum(columns, self.coefficients)


def weighted_sum(columns: Matrix, coefficients: Matrix) -> Matrix:
    """Return the sum of the columns times their coefficients, added in their order whatever the batch."""
    return sum_of(columns * coefficients)


def contrast_columns(
    views: tuple[Surroundings, ...], densities: Densities, terms: Matrix, pairs: Pairs | None
) -> Matrix:
    """Return all columns of some patterns: (m, terms + views + 1 + densities)."""
    if pairs is None:
        return terms
    columns = [terms, *(_log_ratio(pairs, view) for view in views)]
    if len(densities.weights):
        columns.append(densities.columns(pairs, len(views[0].weights)))
    return np.column_stack(columns)


def _log_ratio(pairs: Pairs, view: Surroundings) -> Matrix:
    """Return the mean logarithm of the distances to the nearest targets, less that of the nearest others."""
    targets, others = (kind.each(view.weights, _few_nearest) for kind in (pairs.to_targets, pairs.to_others))
    k = min(targets.shape[1], others.shape[1])
    low, high = FLOOR * view.typical, CEILING * view.typical
    return np.asarray(np.subtract(*(np.log(np.clip(few[:, :k], low, high)).mean(axis=1) for few in (targets, others))))


def _few_nearest(rows: Matrix) -> Matrix:
    return nearest(rows, min(N_NEAR, max(1, rows.shape[1] - 1)))


@dataclass(frozen=True, eq=False)
class Examples:
    """Patterns of one kind: their terms of surprise, and their pairs where these can be known."""

    terms: Matrix
    pairs: Pairs | None


def learn_contrast(
    surprise: Surprise, targets: Examples, others: Examples, more_targets: Examples | None
) -> tuple[Contrast, Matrix]:
    """Return the model, and the surprise of the training targets in its light; targets and others are each left out.

    `more_targets` are known targets that surprise has not seen.
    """
    densities = Densities(np.empty(0, np.int64), np.empty((2, 0)))
    if targets.pairs is not None and others.pairs is not None:
        counts = len(surprise.views[0].extents), len(others.terms)
        densities = learn_densities(targets.pairs.to_targets, others.pairs.to_others, counts, surprise.views[0].weights)
    groups = [targets, others] if more_targets is None else [targets, others, more_targets]
    columns = np.vstack([contrast_columns(surprise.views, densities, group.terms, group.pairs) for group in groups])
    n_targets, n_single = len(targets.terms), len(densities.weights)
    units = _units(columns[: n_targets + len(others.terms)], n_targets, n_single)
    columns = units.measure(columns)
    least = np.where(np.arange(columns.shape[1]) < targets.terms.shape[1], LEAST, 0.0)
    kinds = np.repeat([0.0, 1.0, 0.0][: len(groups)], [len(group.terms) for group in groups])
    coefficients = _coefficients(columns, kinds, least, n_single)
    return Contrast(densities, units, coefficients), weighted_sum(columns[:n_targets], coefficients)


def _units(both: Matrix, n_targets: int, n_single: int) -> Terms:
    """Return units for all columns of targets and others; single weights share one unit of variance between them."""
    # Squares of what is far beyond must not overflow. A column at a time: all would be copied several times.
    spread = np.array([np.clip(column, -FARTHEST, FARTHEST).std() for column in both.T])
    spread = np.maximum(spread, NO_SPREAD)
    if n_single:
        spread[-n_single:] *= math.sqrt(n_single)
    return Terms(both[:n_targets].mean(axis=0), spread)


def _coefficients(columns: Matrix, kinds: Matrix, least: Matrix, n_single: int) -> Matrix:
    """Return the coefficients, `least` or more, of a logistic regression of others, of kind 1, against targets, 0.

    Either kind weighs as much as there are others in all. The prior is PRIOR for all but the single weights, 0 there.
    """
    n_columns = columns.shape[1]
    share = np.where(kinds == 1, 1.0, kinds.sum() / (kinds == 0).sum())
    prior = np.zeros(n_columns + 1)
    prior[: n_columns - n_single] = PRIOR

    def loss(b: Matrix) -> tuple[float, Matrix]:
        odds, change = columns @ b[:-1] + b[-1], np.append((b - prior)[:-1], 0.0)
        wrong = share * (np.logaddexp(0.0, odds) - kinds * odds)
        errors = share * (0.5 * (1 + np.tanh(odds / 2)) - kinds)
        slope = np.append(errors @ columns, errors.sum()) + RIDGE * change
        return float(wrong.sum() + RIDGE / 2 * (change**2).sum()), slope

    bounds = [(bound, None) for bound in least] + [(None, None)]
    found = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds, options=CONVERGED)
    return np.asarray(found.x[:-1])
