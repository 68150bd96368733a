"""Distances to the nearest normal rows -> how surprising a row is.

The surprise is a weighted mean of two terms. The weighting p of the dissimilarity under which a row is more surprising
counts four times as much as the other. The terms are:

- the *profile*: the mean of log(distance to the k-th nearest training row) over k = 1, 2, 4, 8. Up to a constant and a
  factor it is the Kozachenko-Leonenko estimate of -log density, the self-information of the row. Hero's geometric
  entropy minimisation ranks rows by the same kind of quantity.
- the *local ratio*: (mean distance to the 4 nearest / mean local scale of these 4)^2. The local scale of a training row
  is its own mean distance to its 4 nearest. This is the paper's (d / tau)^2 with a region around every training row.

The c copies of a row among the training rows count as if they were spread up to the nearest other row, at distance D:
the k-th lies at D (k / (c + 1))^g. The median distance to the k-th nearest row grows as k^g; 1 / g is the dimension of
the data. So an odd object that occurs often is normal only as far as its mass fills the gap around it. If half of all
rows have copies, as among integers, the dimension is 0, and copies lie at distance 0.

A training row, or a copy of one, is left out of its own neighbours: of c equal training rows, c - 1 are neighbours. If
it carries more than a tenth of the variance of a column, it is left out of its own equalised weights too
(`eocc.space.weightings`). For the threshold and the p-values each training row is scored as a new row of a model
without it. To that model a row with copies is itself a copy, so c - 2 of the equal rows are its neighbours.

Each term is standardised by its mean and standard deviation over the training rows, each left out of its own
neighbours. Strings and integers have few different distances. There the unit of a term is at least what it changes by
if all distances of the median row grow by the smallest step between them. Rows with copies do not count in finding that
step, unless half of all rows have copies. docs/research/score.md describes how the terms and constants were chosen.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eocc.foundation.threads import BLOCK_SIZE
from eocc.foundation.types import Indices, Matrix
from eocc.kernels.smallest import TIED
from eocc.space.weightings import LeftOutWeights
from eocc.surprise.comparison import Comparison
from eocc.surprise.nearest import Nearest, nearest_in

# Rows at most this share of the median neighbour distance apart are copies: they differ by rounding.
SAME = 1e-9
# Neighbourhood sizes double up to this one.
LARGEST_SIZE = 8
# Neighbours that make up a local scale.
N_LOCAL = 4
# The shares of the profile and of the local ratio in the surprise.
SHARES = (0.8, 0.2)
# The share of the weighting under which a row is more surprising.
LARGER = 0.8
# Each local scale is mixed with this share of the mean one, so that a pair of near copies has no scale near 0.
SHRINKAGE = 0.1
# A term whose standard deviation over the training rows is below this varies by rounding only.
NO_SPREAD = 1e-9
# A distance is common if it is found at two successive of this many evenly spaced ranks, which lie at least so far
# apart: two rows that are present twice share a distance eight times.
N_RANKS, APART = 20, 8
# Fewer different rows than this are rather a few categories than a table that is repeated.
FEWEST_REPEATED = 10
# Limits that keep squares and sums finite.
LARGEST_RATIO = 1e120
LARGEST_TERM = 1e250


@dataclass(frozen=True, eq=False)
class Weighting:
    """The training rows under one weighting of the dissimilarity.

    `weights` (u,) are p, `local_scales` (r,) the mean distance of each prototype to its nearest few, `mean_distance`
    the mean of these distances over all prototypes. A row within `tolerance` of a prototype is a copy of it.
    `median_profile` (s,) holds the leave-one-out medians of the distance to the k-th nearest for each neighbourhood
    size k, `mean_ratio` the leave-one-out mean of the local ratio.
    """

    weights: Matrix
    local_scales: Matrix
    mean_distance: float
    tolerance: float
    median_profile: Matrix
    mean_ratio: float = 1.0

    def nearest(self, comparison: Comparison, number: int) -> Nearest:
        """Return as many neighbours as the terms need; this is weighting `number` of the comparison."""
        return comparison.nearest(number, self.n_nearest, self.n_local, self.local_scales, tolerance=self.tolerance)

    def nearest_in(self, rows: Matrix) -> Nearest:
        """Return the same from rows of dissimilarities."""
        return nearest_in(rows, self.n_nearest, self.n_local, self.local_scales, tolerance=self.tolerance)

    def spread_copies(self, near: Nearest) -> Nearest:
        """Return the neighbours with c copies at the distances gap * (k / (c + 1))^growth, k = 1 to c."""
        rows = np.flatnonzero((near.copies > 0) & np.isfinite(near.gaps))
        if self.growth == np.inf or not len(rows):
            return near
        distances, copies = near.distances.copy(), near.copies[rows, None]
        ranks = np.arange(1, distances.shape[1] + 1)
        moved = near.gaps[rows, None] * (ranks / (copies + 1)) ** self.growth
        distances[rows] = np.where(ranks <= copies, moved, distances[rows])
        return near._replace(distances=distances)

    def terms(self, near: Nearest) -> Matrix:
        """Return the profile and the local ratio of every row: (m, 2).

        The profile is the mean of log(distance + mean_distance), which is finite for copies too.
        """
        near = self.spread_copies(near)
        profile = sum_columns(np.log(self.profile(near) + self.mean_distance)) / len(self.sizes)
        return np.column_stack([profile, self.local_ratio(near) / self.mean_ratio])

    def profile(self, near: Nearest) -> Matrix:
        """Return the distances to the k-th nearest for each neighbourhood size k: (m, s)."""
        return np.take(near.distances, self.sizes - 1, axis=1)

    def local_ratio(self, near: Nearest) -> Matrix:
        """Return (mean distance to the nearest few / mean local scale of these)^2."""
        few = near.distances[:, : self.n_local]
        with np.errstate(over="ignore"):
            return np.asarray(np.minimum(sum_columns(few) / (few.shape[1] * near.scales), LARGEST_RATIO) ** 2)

    def changes(self, near: Nearest, step: float) -> Matrix:
        """Return how much the terms of the median row change if all its distances grow by a step: (2,)."""
        middle = np.median(self.spread_copies(near).distances, axis=0)
        scales, copies = np.full(2, np.median(near.scales)), np.zeros(2, np.int64)
        rows = Nearest(np.array([middle, middle + step]), scales, copies, gaps=np.full(2, np.inf))
        before, after = self.terms(rows)
        return np.asarray(after - before)

    @cached_property
    def growth(self) -> float:
        """The g of the median distance to the k-th nearest row, which is about proportional to k^g."""
        first, last = self.median_profile[[0, -1]].tolist()
        is_known = first > self.tolerance and len(self.sizes) > 1
        return float(np.log(last / first) / np.log(self.sizes[-1])) if is_known else np.inf

    @cached_property
    def sizes(self) -> Indices:
        """The neighbourhood sizes: of one prototype less, as a left-out training row has it."""
        return neighbourhood_sizes(len(self.local_scales) - 1)

    @property
    def n_nearest(self) -> int:
        """How many neighbours the terms need."""
        return n_nearest(len(self.local_scales))

    @cached_property
    def n_local(self) -> int:
        """The number of neighbours in a local scale."""
        return n_local(len(self.local_scales))


def neighbourhood_sizes(n: int) -> Indices:
    """Return the neighbourhood sizes k = 1, 2, 4, 8, at most half of n rows."""
    return 2 ** np.arange(max(1, min(n // 2, LARGEST_SIZE).bit_length()))


def n_local(n_prototypes: int) -> int:
    """Return the number of neighbours in a local scale: a left-out row has one prototype less."""
    return min(N_LOCAL, max(1, n_prototypes - 1))


def n_nearest(n_prototypes: int) -> int:
    """Return how many neighbours the terms need."""
    return max(int(neighbourhood_sizes(n_prototypes - 1)[-1]), n_local(n_prototypes))


def smallest_step(distances: Matrix) -> float:
    """Return the smallest difference between common distances, or between one and 0; 0 if there are none.

    >>> smallest_step(np.repeat([1.0, 2.0, 2.5], 30)), smallest_step(np.arange(90.0))
    (0.5, 0.0)
    """
    count = min(N_RANKS, len(distances) // APART)
    ranks = np.arange(count) * (len(distances) - 1) // max(1, count - 1)
    found = np.partition(distances, ranks)[ranks] if count else distances[:0]
    levels = found[1:][found[1:] <= found[:-1] * TIED]
    steps = np.diff(levels, prepend=0.0)
    return float(min(steps[steps > (TIED - 1) * levels], default=0.0))


def fit_weighting(among_prototypes: Comparison, number: int) -> tuple[Weighting, Matrix, Matrix]:
    """Return a weighting of the comparison, the terms of the prototypes, each left out, and their changes by a step."""
    reference = among_prototypes.reference
    m, k = n_local(len(reference)), n_nearest(len(reference))
    # The distances of the prototypes to their nearest that are no copies.
    near = among_prototypes.distances(number, k)
    near = near[:, :m] if (near[:, 0] > 0).all() else among_prototypes.distances(number, m, above=0.0)
    is_known = np.isfinite(near)
    tolerance = SAME * float(np.median(near[is_known])) if is_known.any() else 0.0
    if (near <= tolerance).any():
        near = among_prototypes.distances(number, m, above=tolerance)
        is_known = np.isfinite(near)
    mean = float(near[is_known].mean()) if is_known.any() else 1.0  # all rows are copies: any unit serves
    scales = np.where(is_known, near, mean).mean(axis=1)
    scales = (1 - SHRINKAGE) * scales + SHRINKAGE * scales.mean()
    weighting = Weighting(reference.weightings[number], scales, mean, tolerance, np.empty(0))
    found = weighting.nearest(among_prototypes, number)
    weighting = replace(weighting, median_profile=np.median(weighting.profile(found), axis=0))
    ratio = float(weighting.local_ratio(weighting.spread_copies(found)).mean()) or 1.0  # 0 where all rows are copies
    weighting = replace(weighting, mean_ratio=ratio)
    if number == 0:
        warn_if_repeated(found)
    # A clump of copies shares its distances, whatever they are. It is no step, unless half of all rows have copies.
    single = found.copies == 0
    common = near[single & is_known.all(axis=1)] if 2 * single.sum() > len(near) else near[is_known]
    # Without rows whose neighbours are equally far, distances have no steps.
    has_ties = (near[:, 1:] <= near[:, :-1] * TIED).any()
    step = smallest_step(common.ravel()) if has_ties else 0.0
    return weighting, weighting.terms(found), weighting.changes(found, step) if step else np.zeros(2)


def warn_if_repeated(near: Nearest) -> None:
    """Warn if FEWEST_REPEATED rows or more are all present equally often, three times or more: new ones may not be."""
    least, most = int(near.copies.min()), int(near.copies.max())
    if 2 <= least == most and len(near.copies) >= FEWEST_REPEATED * (least + 1):
        remedy = "if new rows are not, drop the copies, or far too many are rejected"
        warnings.warn(f"every row is present {least + 1} times, as if new rows were copies too; {remedy}", stacklevel=2)


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Columns of terms, less their `mean`, over their `scale`."""

    mean: Matrix
    scale: Matrix

    def apply(self, columns: Matrix) -> Matrix:
        """Return the standardised columns, all finite."""
        with np.errstate(over="ignore"):
            standard = columns - self.mean
            standard /= self.scale
            return np.clip(standard, -LARGEST_TERM, LARGEST_TERM, out=standard)


@dataclass(frozen=True, eq=False)
class Surprise:
    """The weighted mean of the standardised terms of all weightings.

    Copies of some prototypes have `left_out` weights of their own instead of the last weighting.
    """

    weightings: tuple[Weighting, ...]
    standardisation: Standardisation
    left_out: LeftOutWeights

    def shares(self, terms: Matrix) -> Matrix:
        """Return the share of each standardised term (m, 2 * weightings) in the surprise of its row, 1 in all."""
        shares = np.tile(SHARES, (len(terms), len(self.weightings)))
        if len(self.weightings) > 1:
            first, second = (sum_columns(terms[:, k : k + 2] * SHARES) for k in (0, 2))
            larger = np.where(first >= second, LARGER, 1 - LARGER)
            shares[:, :2] *= larger[:, None]
            shares[:, 2:] *= 1 - larger[:, None]
        return shares

    def nearest(self, comparison: Comparison) -> list[Nearest]:
        """Return the nearest prototypes of new rows under every weighting; copies of a prototype do not count it."""
        comparison.take_copies(self.weightings[0].tolerance)
        return self.nearest_left_out(comparison)

    def leave_twins_out(self, among_prototypes: Comparison) -> bool:
        """Score each prototype as a new row of a model without it; return whether that makes a difference.

        To that model a row with copies is a copy of another row, which does not count either.
        """
        tolerance, n = self.weightings[0].tolerance, len(among_prototypes.reference)
        return n > N_LOCAL + 1 and among_prototypes.leave_twins_out(tolerance)

    def nearest_left_out(self, comparison: Comparison) -> list[Nearest]:
        """Return the same where it is known of which prototypes the rows are copies."""
        near = [weighting.nearest(comparison, number) for number, weighting in enumerate(self.weightings)]
        rows, weights, power = self.left_out
        places = np.flatnonzero(np.isin(comparison.own, rows)) if len(rows) else rows
        step = max(1, BLOCK_SIZE // len(comparison.reference))
        for start in range(0, len(places), step):
            some = places[start : start + step]
            own = weights[np.searchsorted(rows, comparison.own[some])]
            found = self.weightings[-1].nearest_in(comparison.rows_by(some, own, power))
            for whole, part in zip(near[-1], found, strict=True):
                whole[some] = part
        return near

    def terms(self, near: Sequence[Nearest]) -> Matrix:
        """Return the standardised terms of new rows: (m, 2 * weightings)."""
        parts = [weighting.terms(found) for weighting, found in zip(self.weightings, near, strict=True)]
        return self.standardisation.apply(np.hstack(parts))

    def of_terms(self, terms: Matrix) -> Matrix:
        """Return the surprise: 0 for the average left-out training row, higher = less normal."""
        return sum_columns(terms * self.shares(terms))


def sum_columns(columns: Matrix) -> Matrix:
    """Return the sum of the columns, added in their order, so that it does not depend on the batch."""
    return np.asarray(sum(columns.T[1:], start=columns.T[0].copy()))


def fit_surprise(among_prototypes: Comparison, left_out: LeftOutWeights) -> tuple[Surprise, Matrix, Matrix]:
    """Return the model, the standardised terms of the prototypes, each left out, and their changes by a step."""
    n_weightings = len(among_prototypes.reference.weightings)
    known, terms, changes = zip(*(fit_weighting(among_prototypes, v) for v in range(n_weightings)), strict=True)
    columns, steps = np.hstack(terms), np.hstack(changes)
    scale = np.maximum(columns.std(axis=0), steps)
    scale = np.where(scale > NO_SPREAD, scale, 1.0)  # a term that does not vary keeps its unit
    standardisation = Standardisation(columns.mean(axis=0), scale)
    surprise = Surprise(known, standardisation, left_out)
    if len(left_out.rows):
        return surprise, surprise.terms(surprise.nearest_left_out(among_prototypes)), steps / scale
    return surprise, standardisation.apply(columns), steps / scale
