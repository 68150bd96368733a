"""The views that see what the neighbours do not: `far` clumps, `covariance` broken relations, `cell` impossible values.

A fitted view looks at new rows by `of(rows)`. A fit returns the view, and that of the prototypes, each left out; or
None if the view does not apply to them. Of the different prototypes, in the order of their content hashes, `first` are
the first that are equal to each, and `kinds` (n,) says which of them each prototype is.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy

from eocc.base.checks import FITTED, Sizes, demand, indices, numbers, real
from eocc.base.threads import one_blas_thread
from eocc.base.types import HUGE, ROUNDING, TINY, Indices, Matrix
from eocc.kernels.cells import MOST_BEYOND, Columns, cell_strangeness, strangest_cells
from eocc.kernels.gaussian import squared_projections
from eocc.surprise.comparison import Comparison, Reference
from eocc.surprise.neighbours import Standardisation, larger_first

# A quarter of the different rows are landmarks, but 8 to 64. The 2nd, 4th and 8th nearest count.
SHARE, FEWEST, N_LANDMARKS, LARGEST_SIZE = 1 / 4, 8, 64, 8


@dataclass(frozen=True, eq=False)
class FarView:
    """Sees clumps: a row with near copies among the normal rows, all of which are far from the others.

    The nearest neighbours of such a row are its near copies. Most of these are not among the landmarks, which are 64
    fixed training rows, at most a quarter. So the distances to the 2nd, 4th and 8th nearest landmark show how far away
    all other rows are. The view is the largest of their logs, each standardised over the training rows. Landmarks are
    chosen by their content: the order of the training rows does not matter.

    The `landmarks` (l,) are prototypes. `least` (v,) keeps logs of distances finite, one number per weighting. `mean`
    and `scale` (v * s,) standardise the logs of the s distances under each of v weightings.
    """

    landmarks: Annotated[Indices, indices("m", "r", rising=True)]
    least: Annotated[Matrix, numbers("v", "(0, inf)")]
    mean: Annotated[Matrix, numbers("f")]
    scale: Annotated[Matrix, numbers("f", "(0, inf)")]

    def check_parts(self, sizes: Sizes) -> None:
        """Demand as many landmarks and distances to them as a fit chooses, or chose in format 4."""
        n, per_weighting = len(self.landmarks), sizes["f"] / sizes["v"]
        demand(2 < n <= N_LANDMARKS, f"there must be 3 to {N_LANDMARKS} landmarks, not {n}")
        most = f"helpers.far.mean must have 1 to 4 numbers per weighting, not {per_weighting:g}"
        demand(per_weighting in range(1, 5), most)

    def of(self, rows: Comparison, logs: Matrix | None = None) -> Matrix:
        """Return the view of new rows, or of rows with these `logs` of distances."""
        logs = self.logs(rows, np.full(len(rows.patterns), -1)) if logs is None else logs
        logs = Standardisation(self.mean, self.scale).apply(logs)
        return larger_first(logs.reshape(len(logs), len(self.least), -1).max(axis=2))

    def logs(self, rows: Comparison, skipped: Indices) -> Matrix:
        """Return the logs of the distances to the nearest few landmarks (m, v * s), row i without skipped[i]."""
        sizes = 2 ** np.arange(1, 1 + len(self.mean) // len(self.least))
        ranks = np.minimum(sizes, (len(self.landmarks) - 1) // 2) - 1
        near = [rows.nearest_among(number, self.landmarks, ranks, skipped) for number in range(len(self.least))]
        return np.hstack([np.log(np.maximum(one, least)) for one, least in zip(near, self.least, strict=True)])


def fit_far(among: Comparison, first: Indices, kinds: Indices) -> tuple[FarView, Matrix] | None:
    """Return the view, and that of the prototypes, each left out; None for fewer than 32 different rows."""
    n_landmarks = min(N_LANDMARKS, int(SHARE * len(first)))
    if n_landmarks < FEWEST:
        return None
    chosen = np.argsort(first[:n_landmarks])
    landmarks = first[chosen]
    skipped = np.append(np.argsort(chosen), -1)[np.minimum(kinds, n_landmarks)]
    # No size is beyond half of the landmarks that a left-out one has.
    n_sizes = min((n_landmarks - 1) // 2, LARGEST_SIZE).bit_length() - 1
    v = len(among.reference.weightings)
    unit = np.ones(v * n_sizes)
    logs = FarView(landmarks, np.full(v, TINY), unit, unit).logs(among, skipped)
    # Rows that are equal under weights of 0 have no distance.
    least = ROUNDING * np.exp([np.median(one) for one in np.hsplit(logs, v)])
    logs = np.maximum(logs, np.repeat(np.log(least), logs.shape[1] // v))
    standard = Standardisation.of(logs)
    view = FarView(landmarks, least, standard.mean, standard.scale)
    return view, view.of(among, logs)


# The number of folds in which training rows are left out: equal rows share one, and different rows are spread evenly.
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class CovarianceView:
    """Sees values that do not go together: the Mahalanobis distance of rows of numbers.

    It is log((v - m)' C^-1 (v - m)) with the mean m and the covariance C of the training rows, in variance-equalised
    columns. C = (1 - r) S + r t I is shrunk as Ledoit and Wolf (2004) do: S is the covariance, t its mean variance. A
    training row is compared with the mean and the covariance of four fifths of the rows, without it and its copies.

    With more columns d than rows n, all of it is computed in the columns that hold the rows, and no matrix of size (d,
    d).

    The squared distance is a |x|^2 + b |B x|^2, x = v - m, with `mean` m (d,), `basis` B^T (d, r). a and b are `whole`
    and `inside`. They are 0 and 1, and B is triangular; or, with more columns than rows, 1 / (r t) and -1 / (r t).
    """

    mean: Annotated[Matrix, numbers("d")]
    basis: Annotated[Matrix, numbers("d b")]
    whole: Annotated[float, real("(-1, 1e300]")]
    inside: Annotated[float, real(FITTED)]

    def check_parts(self, sizes: Sizes) -> None:
        """Demand a basis of at most as many columns as there are columns or rows."""
        demand(0 < sizes["b"] <= max(sizes["d"], sizes["r"]), "helpers.covariance.basis must be a matrix")

    def of(self, rows: Comparison) -> Matrix:
        """Return the view of new rows."""
        columns = columns_of(rows.reference, rows.coordinates)
        squares = np.empty((len(columns), 2))
        apart = np.clip(columns - self.mean, -(HUGE**0.5), HUGE**0.5)
        squared_projections(apart, self.basis, self.whole == 0, squares)
        return np.log(np.maximum(self.whole * squares[:, 0] + self.inside * squares[:, 1], ROUNDING))


def columns_of(reference: Reference, coordinates: Matrix) -> Matrix:
    """Return rows of numbers in equalised columns, without those of weight 0."""
    weights = reference.weightings[-1]
    active = np.flatnonzero(weights)
    return np.ascontiguousarray(coordinates[:, active] * np.sqrt(weights[active]))


@one_blas_thread()
def fit_covariance(among: Comparison, kinds: Indices) -> tuple[CovarianceView, Matrix] | None:
    """Return the view of rows of numbers, and that of the prototypes, each left out; None unless they vary.

    The products of columns without a fold are the sum of those of the other folds. They are taken about the median,
    which is near most rows: they lose no digits to one row that is far away. With more columns than rows, the columns
    are turned into the fewest that hold the rows.
    """
    columns, folds = columns_of(among.reference, among.coordinates), kinds % N_FOLDS
    if folds.max() == 0 or not np.ptp(columns, axis=0).any():
        return None
    (n, d), centre = columns.shape, np.median(columns, axis=0)
    rows, span, found = columns - centre, None, np.empty(len(columns))
    if d > n:
        lengths, turned = np.linalg.eigh(rows @ rows.T)
        kept = lengths > ROUNDING**2 * lengths[-1]
        rows = turned[:, kept] * np.sqrt(lengths[kept])
        span = (columns - centre).T @ (turned[:, kept] / np.sqrt(lengths[kept]))
    held = [np.flatnonzero(folds == fold) for fold in range(folds.max() + 1)]
    products = [rows[own].T @ rows[own] for own in held]
    for fold, own in enumerate(held):
        others = np.asarray(sum(one for number, one in enumerate(products) if number != fold))
        mean, covariance, _ = _shrunk(rows[folds != fold], others, d)
        lower = np.linalg.cholesky(covariance)
        found[own] = (scipy.linalg.solve_triangular(lower, (rows[own] - mean).T, lower=True) ** 2).sum(axis=0)
    mean, covariance, ridge = _shrunk(rows, np.asarray(sum(products)), d)
    left_out = np.log(np.maximum(found, ROUNDING))
    if span is None:
        lower = np.linalg.cholesky(covariance)
        basis = np.ascontiguousarray(scipy.linalg.solve_triangular(lower, np.eye(d), lower=True).T)
        return CovarianceView(centre + mean, basis, 0.0, 1.0), left_out
    # Outside the span, the variance is the ridge.
    variances, axes = np.linalg.eigh(covariance)
    basis = span @ (axes * np.sqrt(np.maximum(1 - ridge / variances, 0.0)))
    return CovarianceView(centre + span @ mean, np.ascontiguousarray(basis), 1 / ridge, -1 / ridge), left_out


def _shrunk(rows: Matrix, products: Matrix, d: int) -> tuple[Matrix, Matrix, float]:
    """Return the mean of rows, their shrunk covariance, and the part r t of its diagonal; `products` are X^T X."""
    n, mean = len(rows), rows.mean(axis=0)
    products = products - n * np.outer(mean, mean)
    lengths = np.einsum("ij,ij->i", rows, rows) - 2 * (rows @ mean) + mean @ mean
    variance = float(lengths.sum()) / (n * d)
    square = float((products**2).sum()) / n**2
    apart = square / d - variance**2
    noise = (float((lengths**2).sum()) / n - square) / (n * d)
    share = min(max(noise, 0.0) / apart, 1.0) if apart > 0 else 1.0
    share = max(share, ROUNDING)  # columns that copy each other stay invertible
    ridge = share * variance or 1.0  # all rows may be equal
    return mean, (1 - share) * products / n + ridge * np.eye(len(mean)), ridge


@dataclass(frozen=True, eq=False)
class CellView:
    """Sees one impossible value: out of range, never seen, or missing.

    Each cell of a table has a p-value among the n training cells of its column: (1 + the number of others that are at
    least as strange) / n. The view is the largest of -log p over the columns.

    - A *number* is as strange as it is far from the median, in units of the median deviation on its side of the median.
    - A *category* is as strange as it is rare. A category of a single training row has no others, so it is as strange
      as one that was never seen: in a column of names or ids, no value is strange.
    - A *gap* is as strange as gaps are rare in the column. The number of gaps of a row counts as one more column.

    A cell beyond all others is stranger than 1 / n can say, and adds a little to -log p: log(its distance / the largest
    of theirs), log(the count of the rarest category / its own), log n for the first gap, or the gaps that no other row
    has.

    `columns` are those of the training rows, as new rows are compared with them.
    """

    columns: Columns

    def of(self, rows: Comparison) -> Matrix:
        """Return the view of new rows."""
        found, values = np.empty(len(rows.patterns)), rows.reference.measure.cell_values(rows.patterns)
        strangest_cells(np.ascontiguousarray(values[:, rows.reference.active]), self.columns, 0, found)
        return found

    def by_column(self, values: Matrix) -> Matrix:
        """Return -log p of every cell, and of the number of gaps: (m, u + 1)."""
        found = np.empty((len(values), values.shape[1] + 1))
        cell_strangeness(values, self.columns, found)
        return found


def cells_of(reference: Reference) -> tuple[CellView, Matrix]:
    """Return the view of the prototypes, and their numbers, each left out."""
    found, active = np.empty(len(reference.prototypes)), reference.active
    values = np.ascontiguousarray(reference.measure.cell_values(reference.prototypes)[:, active])
    is_gap, is_code = np.isnan(values), np.broadcast_to(reference.measure.is_code, active.shape)[active]
    columns = zip(values.T.copy(), is_gap.T, is_code, strict=True)
    fitted = [_fitted(one[~empty] if empty.any() else one, code) for one, empty, code in columns]
    facts, made = np.array([facts for *_, facts in fitted]).T.copy(), []
    (n, u), gaps, known = is_gap.shape, is_gap.sum(axis=0), np.sort(is_gap.sum(axis=1))
    for left_out in (0, 1):
        ranked = [column[left_out] for column in fitted]
        starts = np.cumsum([0, *map(len, ranked)])
        # -log p of a gap in each column, and of every number of gaps in a row; `most` are those of the other rows.
        alone = np.where(gaps == left_out, np.log(1.0 + n - gaps), 0.0)
        number, most = np.arange(u + 1), known[-1 - left_out :][0]
        of_number = _surprise(n - np.searchsorted(known, number), n, left_out, number - most)
        of_gaps = _surprise(gaps, n, left_out, alone), of_number
        made.append(Columns._make([is_code, starts, np.concatenate(ranked), *facts, *of_gaps]))
    strangest_cells(values, made[1], 1, found)
    return CellView(made[0]), found


def _surprise(count: Indices, n: int, left_out: int, excess: Matrix | Indices) -> Matrix:
    """Return -log of the share of n training cells that are at least as strange, and the `excess` beyond all others.

    A left-out cell is among the `count`.
    """
    share = np.clip((count + 1 - left_out) / max(n, 1), TINY, 1.0)
    return np.asarray(np.clip(excess, 0.0, MOST_BEYOND) - np.log(share))


# What `Columns` holds of a column: what is `ranked`, among the training cells and without the own one, and the median,
# units and least distance.
Fitted = tuple[Matrix, Matrix, tuple[float, float, float, float]]


def _fitted(present: Matrix, is_code: bool) -> Fitted:
    """Return it for a column with these values; of codes -log p of each, then of any other."""
    if is_code:
        codes = present.astype(np.int64)
        counts, found = np.append(np.bincount(codes), 0), []
        others = np.sort(counts[codes] - 1)  # those of a training cell do not include itself
        for left_out in (0, 1):
            own = np.maximum(counts - left_out, 0)
            rarest = others[left_out] if len(others) > left_out else 0
            excess = np.log((1 + rarest) / (1 + own))
            found.append(_surprise(np.searchsorted(others, own, side="right"), len(codes), left_out, excess))
        return found[0], found[1], (0.0, 1.0, 1.0, 1.0)
    if not len(present):
        return present, present, (0.0, 1.0, 1.0, 1.0)

    def median(rising: Matrix) -> float:
        middle = len(rising) // 2
        return float(rising[middle] if len(rising) % 2 else rising[middle - 1] / 2 + rising[middle] / 2)

    rising = np.sort(present)
    middle, size = median(rising), float(max(abs(rising[0]), abs(rising[-1]))) or 1.0
    with np.errstate(over="ignore"):
        apart = rising - middle
    low, high = np.searchsorted(apart, [-ROUNDING * size, ROUNDING * size], side="right")
    above, below = (median(side) if len(side) else size for side in (apart[high:], -apart[:low]))
    far = np.sort(np.maximum(apart / above, -apart / below), kind="stable")
    return far, far, (middle, above, below, ROUNDING * size / max(above, below))
