"""Normal rows and known outliers -> how much more a row looks like an outlier.

Labels add columns to the terms of the surprise: for every weighting the log ratio of the distances to the nearest
normal rows and to the nearest outliers; and along every single weight of the dissimilarity the log ratio of two kernel
densities. A logistic regression with coefficients >= 0, which starts from equal coefficients, combines all columns.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from eocc.foundation.blas import one_blas_thread
from eocc.foundation.types import Indices, Matrix
from eocc.surprise.comparison import FullComparison, Nearest
from eocc.surprise.score import LARGEST_RATIO, NO_SPREAD, Standardisation, Surprise, Weighting, sum_columns

# Neighbours of either kind whose distances are compared.
N_NEAR = 3
# Distances are clipped to these multiples of the mean neighbour distance, so that copies and far rows count finitely.
FLOOR, CEILING = 0.01, 1e7
# With few outliers all coefficients stay near PRIOR; about RIDGE outliers are needed to move them.
RIDGE, PRIOR = 10.0, 0.1
# The least coefficient of a term of the surprise: labels may weaken it but not remove it.
LEAST_COEFFICIENT = 0.01
# Every density contains this share of one kernel, and its width this share of the normal rows' spread.
BACKGROUND, LEAST_WIDTH = 0.05, 0.05
# The outliers' spread along a weight counts as at least this share of the normal rows'.
LEAST_SPREAD = 0.1
# Tight enough that the coefficients of this convex problem do not depend on rounding on the way.
CONVERGED = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000}
# A weight along which normal rows spread less than this share of the largest spread is not informative.
UNINFORMATIVE = 1e-6


@dataclass(frozen=True, eq=False)
class BothKinds:
    """The same rows compared with the normal rows and with the outliers; `near` are the nearest normal rows."""

    to_normal: FullComparison
    near: Sequence[Nearest]
    to_outliers: FullComparison


@dataclass(frozen=True, eq=False)
class Densities:
    """Kernel densities of both kinds along single `weights` (l,), with `widths` (2, l): normal rows, then outliers."""

    weights: Indices
    widths: Matrix

    def columns(self, rows: BothKinds) -> Matrix:
        """Return log(density of outliers / density of normal rows): the sum over all weights, then each: (m, 1 + l)."""
        ratios = []
        for k, (normal_width, outlier_width) in zip(self.weights.tolist(), self.widths.T.tolist(), strict=True):
            normal = _log_density(rows.to_normal, k, normal_width)
            ratios.append(_log_density(rows.to_outliers, k, outlier_width) - normal)
        return np.column_stack([sum_columns(np.column_stack(ratios)), *ratios])


def _log_density(comparison: FullComparison, weight: int, width: float) -> Matrix:
    """Return the log of a kernel density, up to a constant."""
    sums = comparison.kernel_sums(weight, width) + BACKGROUND
    return np.asarray(np.log(sums / (len(comparison.reference) * width)))


def fit_densities(normal: FullComparison, outliers: FullComparison, p: Matrix) -> Densities:
    """Return the densities of the normal rows and of the outliers, from each kind's distances among themselves.

    The widths are Silverman's, with the standard deviation taken from the mean squared distance, rms / sqrt 2.
    Weights that are 0 in p, or along which the normal rows do not vary, have no densities.
    """
    spreads = np.zeros((len(p), 2))
    for k in np.flatnonzero(p).tolist():
        spreads[k] = normal.spread(k), outliers.spread(k)
    kept = np.flatnonzero(spreads[:, 0] > UNINFORMATIVE * spreads[:, 0].max(initial=0.0))
    own, other = spreads[kept].T
    counts = len(normal.reference), len(outliers.reference)
    widths = [_width(own, counts[0]), _width(np.maximum(other, LEAST_SPREAD * own), counts[1])]
    return Densities(kept, np.array(widths) + LEAST_WIDTH * own)


def _width(spread: Matrix, count: int) -> Matrix:
    return np.asarray(1.06 * spread * max(count, 2) ** -0.2)


@dataclass(frozen=True, eq=False)
class LikelihoodRatio:
    """The labelled form of the surprise: standardised columns times `coefficients` >= 0.

    The columns are the terms of the surprise, a log ratio of distances for each weighting, and those of `densities`.
    """

    densities: Densities
    standardisation: Standardisation
    coefficients: Matrix

    def columns(self, surprise: Surprise, terms: Matrix, rows: BothKinds) -> Matrix:
        """Return the standardised columns of rows whose `terms` are known: (m, terms + weightings + 1 + densities)."""
        return self.standardisation.apply(_columns(surprise.weightings, self.densities, terms, rows))

    def of_columns(self, columns: Matrix) -> Matrix:
        """Return the surprise that the labels give: higher = more like an outlier."""
        return sum_columns(columns * self.coefficients)


def _columns(weightings: tuple[Weighting, ...], densities: Densities, terms: Matrix, rows: BothKinds) -> Matrix:
    ratios = [_log_distance_ratio(rows, number, weighting) for number, weighting in enumerate(weightings)]
    return np.column_stack([terms, *ratios, *([densities.columns(rows)] if len(densities.weights) else [])])


def _log_distance_ratio(rows: BothKinds, number: int, weighting: Weighting) -> Matrix:
    """Return the mean log distance to the nearest normal rows, less that to the nearest outliers."""
    references = rows.to_normal.reference, rows.to_outliers.reference
    k = min(N_NEAR, *(max(1, len(reference) - 1) for reference in references))
    low, high = FLOOR * weighting.mean_distance, CEILING * weighting.mean_distance
    outliers = rows.to_outliers.nearest(number, k, k, np.zeros(len(references[1]))).distances
    few = rows.near[number].distances[:, :k], outliers
    normal, outlying = (np.log(np.clip(near, low, high)).mean(axis=1) for near in few)
    return np.asarray(normal - outlying)


def fit_likelihood_ratio(
    surprise: Surprise, normal_terms: Matrix, normal: BothKinds, outlier_terms: Matrix, outliers: BothKinds
) -> tuple[LikelihoodRatio, Matrix]:
    """Return the model, and the surprise that it gives the normal training rows; rows of both kinds are left out."""
    weightings, n = surprise.weightings, len(normal_terms)
    densities = fit_densities(normal.to_normal, outliers.to_outliers, weightings[0].weights)
    groups = ((normal_terms, normal), (outlier_terms, outliers))
    columns = np.vstack([_columns(weightings, densities, terms, rows) for terms, rows in groups])
    standardisation = _standardisation(columns, n, len(densities.weights))
    columns = standardisation.apply(columns)
    least = np.where(np.arange(columns.shape[1]) < normal_terms.shape[1], LEAST_COEFFICIENT, 0.0)
    is_outlier = np.repeat([0.0, 1.0], [n, len(outlier_terms)])
    coefficients = _fit_coefficients(columns, is_outlier, least, len(densities.weights))
    model = LikelihoodRatio(densities, standardisation, coefficients)
    return model, model.of_columns(columns[:n])


def _standardisation(columns: Matrix, n_normal: int, n_single: int) -> Standardisation:
    """Return the normal rows' means and the spread of both kinds; single weights share one unit of variance."""
    # One column at a time saves copies; clipped, so that squares of far rows do not overflow.
    scale = np.array([np.clip(column, -LARGEST_RATIO, LARGEST_RATIO).std() for column in columns.T])
    scale = np.maximum(scale, NO_SPREAD)
    if n_single:
        scale[-n_single:] *= math.sqrt(n_single)
    return Standardisation(columns[:n_normal].mean(axis=0), scale)


def _fit_coefficients(columns: Matrix, is_outlier: Matrix, least: Matrix, n_single: int) -> Matrix:
    """Return the coefficients, `least` or more, of a logistic regression of outliers against normal rows.

    Both kinds weigh as much as there are outliers. The prior is PRIOR, and 0 for the densities along single weights.
    """
    n_columns = columns.shape[1]
    share = np.where(is_outlier == 1, 1.0, is_outlier.sum() / (is_outlier == 0).sum())
    prior = np.zeros(n_columns + 1)
    prior[: n_columns - n_single] = PRIOR

    def loss(b: Matrix) -> tuple[float, Matrix]:
        odds, change = columns @ b[:-1] + b[-1], np.append((b - prior)[:-1], 0.0)
        losses = share * (np.logaddexp(0.0, odds) - is_outlier * odds)
        errors = share * (0.5 * (1 + np.tanh(odds / 2)) - is_outlier)
        slope = np.append(errors @ columns, errors.sum()) + RIDGE * change
        return float(losses.sum() + RIDGE / 2 * (change**2).sum()), slope

    bounds = [(bound, None) for bound in least] + [(None, None)]
    with one_blas_thread():  # the products are too small for several
        found = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds, options=CONVERGED)
    return np.asarray(found.x[:-1])
