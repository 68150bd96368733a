"""Normal rows and known outliers -> how much more a row looks like an outlier.

The labelled surprise is a c + max(e, b). c is the surprise without labels. The evidence e is a weighted sum of columns:
for every weighting the log ratio of the distances to the nearest normal rows and to the nearest outliers, and where the
measure compares columns of numbers or categories, those of `Gaussians`. A logistic regression, drawn to a prior by a
ridge, finds the coefficients of the evidence. It does not see the surprise: rows are asked about because they are
surprising, so answered outliers cannot teach how much the surprise is worth.

Two rules keep outliers of new kinds visible: a is fixed, and b is the lower quartile of the evidence of normal rows, so
that to be unlike the known outliers counts no more than it does for an ordinary normal row.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy

from eocc.base.checks import Sizes, demand, numbers, real
from eocc.base.stored import Unstored, check_keys, declared, restored
from eocc.base.threads import BLOCK_SIZE, one_blas_thread
from eocc.base.types import HUGE, ROUNDING, TINY, Flags, Indices, Matrix
from eocc.kernels.gaussian import gaussian_columns
from eocc.surprise.comparison import Comparison, Nearest, Reference
from eocc.surprise.helpers import N_FOLDS
from eocc.surprise.neighbours import Standardisation, sum_columns

# The limit, in standard deviations, of a column by itself, of its log ratio and along the direction.
LARGEST_TERM = 3.0
# The outliers' mean and variance are those of the outliers and of this many more, at 0 and of variance 1.
MORE_OUTLIERS = 3.0
# The share of the identity in the covariance: at least this, and half the number of columns over that of rows.
LEAST_IDENTITY = 0.1
# With more columns than this, the covariance is the identity.
MOST_CORRELATED = 256
# A training row is left out of the covariance, which changes its square by this factor at most.
MOST_LEFT_OUT = 10.0


def numbers_of(reference: Reference, patterns: Any) -> Matrix:
    """Return patterns as columns of numbers (m, d), without those of weight 0; d = 0 if the measure has no columns.

    A category has one column of 0 and 1.
    """
    measure, active = reference.measure, reference.active
    if measure.coordinates is not None:
        return np.ascontiguousarray(measure.coordinates(patterns)[:, active])
    if measure.indicator_columns is None:
        return np.empty((len(patterns), 0))
    columns, weights = measure.indicator_columns(patterns)
    return np.ascontiguousarray(columns[:, active[weights]])


@dataclass(frozen=True, eq=False)
class Gaussians:
    """What a Gaussian of the normal rows and one of the outliers say of columns of numbers.

    Columns are standardised by the normal rows. The outliers' mean m is shrunk to 0, their variances to 1, so that few
    outliers say little. From these come three numbers for every row z, and 2 d more:

    - the *column ratio*: the sum over columns of log N(z_k; m_k, v_k) - log N(z_k; 0, 1), as in naive Bayes;
    - the *direction*: the projection on C^-1 m, Fisher's discriminant, where C is the shrunk covariance of the normal
      rows;
    - the *covariance*: log(1 + z' C^-1 z), in which a row is strange that breaks a correlation; a training row is left
      out;
    - every z_k and z_k^2, each within a limit.

    The normal rows' `centre` and `scale` (d,) and `precision` (d, d), (0, 0) for the identity, are those of `n_normal`
    rows. `mean` and `variance` (d,) are those of the outliers, standardised; `direction` (d,) is C^-1 m.
    """

    centre: Annotated[Matrix, numbers("l")]
    scale: Annotated[Matrix, numbers("l", "(0, inf)")]
    precision: Annotated[Matrix, numbers("p p")]
    n_normal: Unstored[int]
    mean: Annotated[Matrix, numbers("l")]
    variance: Annotated[Matrix, numbers("l", "(0, inf)")]
    direction: Annotated[Matrix, numbers("l")]

    def check_parts(self, sizes: Sizes) -> None:
        """Demand a precision of all columns or of none."""
        demand(sizes["p"] in (0, sizes["l"]), "gaussians.precision must be a matrix of all columns")

    def standardised(self, columns: Matrix) -> Matrix:
        """Return z."""
        with np.errstate(over="ignore"):
            return np.clip((columns - self.centre) / self.scale, -(HUGE**0.5), HUGE**0.5)

    def columns(self, z: Matrix, is_training: Flags) -> Matrix:
        """Return the column ratio, the direction, the covariance, then all z_k and all z_k^2: (m, 3 + 2 d)."""
        found = np.empty((len(z), 3))
        logs = -np.log(self.variance) / 2
        gaussian_columns(z, self.mean, self.variance, logs, self.direction, self.precision, LARGEST_TERM, found)
        ratio, along, square = found.T
        left_out = square / np.maximum(1 - square / self.n_normal, 1 / MOST_LEFT_OUT)
        square = np.log1p(np.where(is_training, left_out, square))
        along, single = (np.clip(part, -LARGEST_TERM, LARGEST_TERM) for part in (along, z))
        return np.column_stack([ratio, along, square, single, single**2])

    def of_outliers(self, z: Matrix) -> "Gaussians":
        """Return the same with the Gaussian of other outliers."""
        mean = z.sum(axis=0) / (len(z) + MORE_OUTLIERS)
        variance = (((z - mean) ** 2).sum(axis=0) + MORE_OUTLIERS) / (len(z) + MORE_OUTLIERS)
        with one_blas_thread():
            direction = self.precision @ mean if len(self.precision) else mean
        length = np.sqrt(max(float(direction @ mean), 0.0))  # the standard deviation of normal rows along it
        return replace(self, mean=mean, variance=variance, direction=direction / length if length else direction)

    def columns_left_out(self, z: Matrix, is_training: Flags) -> Matrix:
        """Return the columns of the outliers, each left out of their Gaussian."""
        found = np.empty((len(z), 3 + 2 * z.shape[1]))
        folds = np.arange(len(z)) % N_FOLDS
        for fold in range(min(len(z), N_FOLDS)):
            held = folds == fold
            found[held] = self.of_outliers(z[~held]).columns(z[held], is_training[held])
        return found


def fit_gaussians(normal: Matrix, outliers: Matrix) -> Gaussians:
    """Return the Gaussians of columns of normal rows (n, d) and of outliers; columns that do not vary count 0."""
    n, d = normal.shape
    centre, spread = normal.mean(axis=0), normal.std(axis=0)
    scale = np.where(spread > ROUNDING * spread.max(), spread, 1 / TINY)
    empty = np.zeros(0)
    known = Gaussians(centre, scale, np.empty((0, 0)), n, empty, empty, empty)
    identity = max(LEAST_IDENTITY, d / (2 * n))
    if d <= MOST_CORRELATED and identity < 1:
        z = known.standardised(normal)
        with one_blas_thread():
            covariance = (1 - identity) * (z.T @ z) / n + identity * np.eye(d)
            known = replace(known, precision=np.linalg.inv(covariance))
    return known.of_outliers(known.standardised(outliers))


# Neighbours of either kind whose distances are compared.
N_NEAR = 3
# Distances are at least this share of the mean neighbour distance: copies count finitely.
FLOOR = 0.01
# The coefficient of the surprise, and the prior coefficient of the other main columns.
OF_SURPRISE, PRIOR = 0.6, 0.1
# About this many outliers are needed to move a coefficient.
RIDGE = 5.0
# Single columns share this many units of variance.
SINGLE_UNITS = 4.0
# The evidence is at least that of this share of the normal rows.
LEAST_EVIDENCE = 0.25
# The regression uses at most this many normal rows.
MOST_NORMAL = 2000
# Tight enough that the coefficients of this convex problem do not depend on rounding on the way.
CONVERGED = {"ftol": 1e-14, "gtol": 1e-8, "maxiter": 10_000, "maxfun": 100_000}


class Labelled(NamedTuple):
    """Rows with what labels need of them: `surprises` (m,), `ratios` (m, v), columns of `numbers` (m, d).

    `is_training` (m,) says which rows are copies of a normal row.
    """

    surprises: Matrix
    ratios: Matrix
    numbers: Matrix
    is_training: Flags

    def some(self, index: Indices | Flags | slice) -> "Labelled":
        """Return some of the rows."""
        return Labelled._make(part[index] for part in self)


@dataclass(frozen=True, eq=False)
class LikelihoodRatio:
    """The labelled form of the surprise.

    `standardisation` and `coefficients` are those of the columns: the surprise; the ratio of distances for each
    weighting; and those of `gaussians`, if there are any. `least` is the least evidence.
    """

    gaussians: Gaussians | None
    standardisation: Standardisation
    # No coefficient is nearly as large; with a larger one the sum of the terms could overflow.
    coefficients: Annotated[Matrix, numbers("c", "[-1e40, 1e40]")]
    least: Annotated[float, real("[-1e300, 0]")]

    def amounts(self, rows: Labelled) -> Matrix:
        """Return what every column adds to the labelled surprise: (m, columns)."""
        amounts = self.standardisation.apply(_columns(rows, self.gaussians)) * self.coefficients
        evidence = sum_columns(amounts[:, 1:])
        is_low = evidence < self.least
        amounts[is_low, 1:] *= (self.least / evidence[is_low])[:, None]
        return amounts

    def of(self, rows: Labelled) -> Matrix:
        """Return the labelled surprise: higher = more like an outlier."""
        step = max(1, BLOCK_SIZE // len(self.coefficients))
        parts = [rows.some(slice(start, start + step)) for start in range(0, len(rows.surprises), step)]
        return np.concatenate([np.empty(0), *(sum_columns(self.amounts(part)) for part in parts)])


def _columns(rows: Labelled, gaussians: Gaussians | None) -> Matrix:
    single = [] if gaussians is None else [gaussians.columns(gaussians.standardised(rows.numbers), rows.is_training)]
    return np.column_stack([rows.surprises, rows.ratios, *single])


def labelled(
    surprises: Matrix, rows: Comparison, near: list[Nearest], to_outliers: Comparison, mean_distances: list[float]
) -> Labelled:
    """Return what the likelihood ratio needs of rows with these surprises and neighbours.

    A ratio is the mean log distance to the nearest normal rows, less that to the nearest outliers, for each weighting.
    """
    normal, ratios = rows.reference, []
    k = min(N_NEAR, *(max(1, len(kind.prototypes) - 1) for kind in (normal, to_outliers.reference)))
    for number, mean_distance in enumerate(mean_distances):
        both = near[number].distances[:, :k], to_outliers.nearest(number, k).distances
        logs = [sum_columns(np.log(np.clip(one, FLOOR * mean_distance, HUGE))) / k for one in both]
        ratios.append(logs[0] - logs[1])
    return Labelled(surprises, np.column_stack(ratios), numbers_of(normal, rows.patterns), rows.own >= 0)


def fit_likelihood_ratio(
    gaussians: Gaussians | None, normal: Labelled, outliers: Labelled, confirmed: Labelled | None = None
) -> LikelihoodRatio:
    """Return the model of normal rows and outliers, each left out of its own neighbours.

    `confirmed` rows are normal by an answer: each counts as much as an outlier, all other normal rows together as much
    as all outliers.
    """
    n, n_main = len(normal.surprises), 1 + normal.ratios.shape[1] + (3 if gaussians else 0)
    if n > MOST_NORMAL:  # evenly spaced in the order of their surprise
        order = np.argsort(normal.surprises, kind="stable")
        normal, n = normal.some(order[np.arange(MOST_NORMAL) * (n - 1) // (MOST_NORMAL - 1)]), MOST_NORMAL
    known = _columns(outliers, None)
    if gaussians is not None:
        z = gaussians.standardised(outliers.numbers)
        known = np.column_stack([known, gaussians.columns_left_out(z, outliers.is_training)])
    columns, m = np.vstack([_columns(normal, gaussians), known]), len(known)
    # The unit is the spread of both kinds, one column at a time to save copies. It is clipped: squares of far rows must
    # not overflow. The surprise keeps its 0, the average left-out training row, and the spread of the normal rows
    # alone: in a unit made coarse by far outliers, new kinds of outliers would vanish.
    limits, mean = (-(HUGE**0.5), HUGE**0.5), columns[:n].mean(axis=0)
    scale = np.maximum([np.clip(column, *limits).std() for column in columns.T], ROUNDING)
    if n_single := len(scale) - n_main:
        scale[n_main:] *= np.sqrt(n_single / 2 / SINGLE_UNITS)
    mean[0], scale[0] = 0.0, max(np.clip(columns[:n, 0], *limits).std(), ROUNDING)
    standardisation = Standardisation(mean, scale)
    if confirmed is not None:
        columns = np.vstack([columns, _columns(confirmed, gaussians)])
    columns, rest = standardisation.apply(columns), np.ones(len(columns) - n)
    is_outlier = np.concatenate([np.zeros(n), rest[:m], 0 * rest[m:]])
    share = np.concatenate([np.full(n, m / n), rest])
    coefficients = _fit_coefficients(columns[:, 1:], is_outlier, share, n_main - 1)
    evidence = sum_columns(columns[:n, 1:] * coefficients)
    least = min(float(np.quantile(evidence, LEAST_EVIDENCE)), 0.0)
    return LikelihoodRatio(gaussians, standardisation, np.append(OF_SURPRISE, coefficients), least)


def fit_labelled(
    normal: Labelled, outliers: Labelled, confirmed: Labelled | None, scored: Labelled
) -> tuple[LikelihoodRatio, Matrix]:
    """Return the model, and the labelled surprise of the normal rows as `scored`.

    Each row is scored by coefficients that were fitted without it: they fit the rows they were fitted to better than
    new ones. With many rows that makes no difference.
    """
    gaussians = fit_gaussians(normal.numbers, outliers.numbers) if normal.numbers.shape[1] else None
    model = fit_likelihood_ratio(gaussians, normal, outliers, confirmed)
    n = len(normal.surprises)
    if not N_FOLDS < n <= MOST_NORMAL:
        return model, model.of(scored)
    folds, found = np.empty(n, np.int64), np.empty(n)
    folds[np.argsort(normal.surprises, kind="stable")] = np.arange(n) % N_FOLDS
    for fold in range(N_FOLDS):
        held = folds == fold
        other = fit_likelihood_ratio(gaussians, normal.some(~held), outliers, confirmed)
        found[held] = other.of(scored.some(held))
    return model, found


def _fit_coefficients(columns: Matrix, is_outlier: Matrix, share: Matrix, n_main: int) -> Matrix:
    """Return the coefficients of a logistic regression of outliers against normal rows; rows weigh their `share`.

    Those of the main columns are at least 0. Single columns have a prior of 0 and either sign.
    """
    n_columns = columns.shape[1]
    prior = np.zeros(n_columns + 1)
    prior[:n_main] = PRIOR

    def loss(b: Matrix) -> tuple[float, Matrix]:
        odds, change = columns @ b[:-1] + b[-1], np.append((b - prior)[:-1], 0.0)
        losses = share * (np.logaddexp(0.0, odds) - is_outlier * odds)
        errors = share * (0.5 * (1 + np.tanh(odds / 2)) - is_outlier)
        slope = np.append(errors @ columns, errors.sum()) + RIDGE * change
        return float(losses.sum() + RIDGE / 2 * (change**2).sum()), slope

    bounds = [(0.0, None)] * n_main + [(None, None)] * (n_columns - n_main + 1)
    with one_blas_thread():  # the products are too small for several
        found = scipy.optimize.minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds, options=CONVERGED)
    return np.asarray(found.x[:-1])


def restored_ratio(state: Any, n_weightings: int, normal: Reference) -> LikelihoodRatio:
    """Return the likelihood ratio: of the surprise, v ratios of distances and, with Gaussians, 3 + 2 l columns."""
    check_keys("likelihood_ratio", state, declared(LikelihoodRatio))
    n_single = numbers_of(normal, normal.prototypes[[0]]).shape[1]
    gaussians, sizes = state["gaussians"], {"c": 1 + n_weightings + (3 + 2 * n_single if n_single else 0)}
    demand((gaussians is None) == (n_single == 0), "there must be gaussians if and only if there are columns")
    if gaussians is not None:
        gaussians = restored(Gaussians, gaussians, "gaussians", {"l": n_single}, n_normal=len(normal.prototypes))
    return restored(LikelihoodRatio, {**state, "gaussians": gaussians}, "likelihood_ratio", sizes)
