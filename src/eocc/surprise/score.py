"""Dissimilarities to training patterns -> how surprising a pattern is, at several resolutions at once.

Two terms in every view p of the dissimilarity. The *ladder* asks how far the nearest 1, 2, 4 and 8 training patterns
lie: the first rung follows the shape of the data, the others what is common there. The *local ratio* is the paper's
(d / tau)^2 with a region round every training pattern: how far the nearest few lie, in units of how far they lie from
their own nearest. Both are brought to the units of left-out training patterns and averaged, the ratio with a fifth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from eocc.calibration.conformal import Calibration
from eocc.kernels.smallest import TIED, mean_within, smallest_entries
from eocc.measures.protocol import FindsNearest, Prepared
from eocc.space.representation import Representation

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]

# The ladder of neighbourhoods doubles up to here.
LARGEST_RUNG = 8
# The members of a local region.
N_LOCAL = 4
# How much the ladder and the local ratio count. These and the numbers above: docs/research.md.
SHARES = (0.8, 0.2)
# The share of the mean extent in every local one: a lone pair of near copies must not make a region of no size.
SHARED = 0.1
# Below this share of the largest dissimilarity two patterns are copies: products of rows err by as much.
SAME = 1e-9
# Terms that vary less among the training patterns, whose logarithms and ratios are of order 1, do so by rounding.
NO_SPREAD = 1e-9
# Beyond so many extents a pattern is as far as can be: the square stays finite.
FARTHEST = 1e120
# Sums of terms stay finite.
LARGEST_TERM = 1e250
# The least width of the border, in interquartile ranges of left-out patterns; of 1 where these are all alike.
LEAST_WIDTH = 0.1


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What a view knows of the training patterns: `extents` (r,) of their local regions, the `typical` extent.

    `ratio` is the mean local ratio of left-out training patterns, the unit of all others; `usual` (rungs,) are the
    medians of their distances on the ladder.
    """

    weights: Matrix
    extents: Matrix
    typical: float
    usual: Matrix
    ratio: float = 1.0

    def terms(self, prepared: Prepared) -> Matrix:
        """Return the ladder and the local ratio of every new pattern, prepared against the prototypes: (m, 2)."""
        near, extents = self._nearest(prepared)
        return np.column_stack([self.ladder(self.radii(near)), self.local_ratios(near, extents) / self.ratio])

    def among(self, rows: Matrix) -> tuple[Matrix, Matrix]:
        """Return the distances to the nearest few in every row of dissimilarities, and the local extent there.

        That is the mean extent of the nearest; who is as near as the last of them counts too.
        """
        near, extents = nearest(rows, self._n_few), np.empty(len(rows))
        mean_within(rows, near[:, n_local(len(self.extents)) - 1] * TIED, self.extents, extents)
        return near, extents

    def radii(self, near: Matrix) -> Matrix:
        """Return those of the nearest few that are on the ladder: the k-th, k = 1, 2, 4, 8."""
        return np.take(near, self._rungs - 1, axis=1)

    def ladder(self, radii: Matrix) -> Matrix:
        """Return the mean logarithm of the distances on the ladder.

        The typical extent is added to each, so that copies do not count without bound.
        """
        return np.asarray(sum_of(np.log(radii + self.typical)) / radii.shape[1])

    def local_ratios(self, near: Matrix, extents: Matrix) -> Matrix:
        """Return (mean distance to the nearest / mean extent of those)^2."""
        near = near[:, : n_local(len(self.extents))]
        with np.errstate(over="ignore"):
            return np.asarray(np.minimum(sum_of(near) / (near.shape[1] * extents), FARTHEST) ** 2)

    @property
    def _rungs(self) -> Indices:
        """The ladder: that of one prototype less, as a left-out training pattern has it."""
        return rungs(len(self.extents) - 1)

    @property
    def _n_few(self) -> int:
        """How many of the nearest the terms look at."""
        return max(int(self._rungs[-1]), n_local(len(self.extents)))

    def _nearest(self, prepared: Prepared) -> tuple[Matrix, Matrix]:
        if hasattr(prepared, "nearest_and_means"):  # isinstance(prepared, FindsNearest) takes its time, for every block
            known = cast(FindsNearest, prepared)
            return known.nearest_and_means(self.weights, self._n_few, n_local(len(self.extents)), self.extents)
        return self.among(np.ascontiguousarray(prepared.evaluate(self.weights), np.float64))


def rungs(n: int) -> Indices:
    """Return the ladder of neighbourhoods k = 1, 2, 4, 8, at most half of n patterns.

    >>> rungs(9), rungs(1), rungs(100)
    (array([1, 2, 4]), array([1]), array([1, 2, 4, 8]))
    """
    return 2 ** np.arange(max(1, min(n // 2, LARGEST_RUNG).bit_length()))


def nearest(rows: Matrix, k: int, least: float = -1.0) -> Matrix:
    """Return the k smallest entries above `least` of each row, in order; infinity where there are fewer.

    >>> nearest(np.array([[0.5, 0.1, 0.0, 0.1]]), 3, least=0.0)
    array([[0.1, 0.1, 0.5]])
    """
    values = np.empty((len(rows), k))
    smallest_entries(rows, least, values)
    return values


def n_local(n_prototypes: int) -> int:
    """Return the size of a local region: a left-out pattern has one neighbour less."""
    return min(N_LOCAL, max(1, n_prototypes - 1))


def surroundings_of(representation: Representation, weights: Matrix) -> tuple[Surroundings, Matrix]:
    """Return what a view knows, and the terms of every training pattern, left out of its own neighbours."""
    everyone = np.arange(len(representation.prototype_indices))
    prototypes = (
        representation
        if representation.is_whole
        else replace(representation, patterns=representation.prototypes, prototype_indices=everyone, is_whole=True)
    )
    rows = prototypes.left_out(weights)
    view = _local_regions(weights, rows)
    looked = partial(_first_look, view)
    found = looked(rows) if representation.is_whole else representation.each(weights, looked)
    radii, ratios = found[:, :-1], found[:, -1]
    view = replace(view, usual=np.median(radii, axis=0), ratio=float(ratios.mean()) or 1.0)  # 0: nothing but copies
    return view, np.column_stack([view.ladder(radii), ratios / view.ratio])


def _first_look(view: Surroundings, rows: Matrix) -> Matrix:
    """Return the distances on the ladder, and last the local ratio, of some left-out patterns."""
    near, extents = view.among(rows)
    return np.column_stack([view.radii(near), view.local_ratios(near, extents)])


def _local_regions(weights: Matrix, rows: Matrix) -> Surroundings:
    """Return the extents round the prototypes, from their dissimilarities among themselves."""
    largest = float(rows.max(where=np.isfinite(rows), initial=0.0))
    near = nearest(rows, n_local(len(rows)), SAME * largest)
    known = np.isfinite(near)
    # Where all training patterns are copies there is no extent, and any unit will do.
    typical = float(near[known].mean()) if known.any() else 1.0
    distinct = np.where(known, near, typical).mean(axis=1)
    extents = (1 - SHARED) * distinct + SHARED * distinct.mean()
    return Surroundings(weights, extents, typical, np.empty(0))


@dataclass(frozen=True, eq=False)
class Terms:
    """Columns of terms in units of left-out training patterns: less their `centre`, over their `spread`."""

    centre: Matrix
    spread: Matrix

    @classmethod
    def of(cls, columns: Matrix) -> "Terms":
        """Take the units from the terms of left-out training patterns; one that never varies keeps its own."""
        spread = columns.std(axis=0)
        return cls(columns.mean(axis=0), np.where(spread > NO_SPREAD, spread, 1.0))

    def measure(self, columns: Matrix) -> Matrix:
        """Return the terms in these units, never infinite."""
        with np.errstate(over="ignore"):
            measured = columns - self.centre
            measured /= self.spread
            return np.clip(measured, -LARGEST_TERM, LARGEST_TERM, out=measured)


@dataclass(frozen=True, eq=False)
class Surprise:
    """How surprising a pattern is: the weighted mean of the terms of all `views`, in units of left-out patterns."""

    views: tuple[Surroundings, ...]
    terms: Terms

    def columns(self, prepared: Prepared) -> Matrix:
        """Return the terms of new patterns, prepared against the prototypes, in their units."""
        return self.terms.measure(np.hstack([view.terms(prepared) for view in self.views]))

    def of(self, prepared: Prepared) -> Matrix:
        """Return the surprise of new patterns: 0 for the average left-out training pattern, higher = less normal."""
        return surprise_of(self.columns(prepared))


def surprise_of(terms: Matrix) -> Matrix:
    """Return the weighted mean of the terms of every pattern.

    >>> surprise_of(np.array([[1.0, 2.0, 3.0, 2.0]]))
    array([2.])
    """
    return sum_of(terms * shares(terms.shape[1]))


def shares(n_terms: int) -> Matrix:
    """Return how much each of the terms counts: ladder and local ratio of every view in turn, 1 in all.

    >>> shares(4)
    array([0.4, 0.1, 0.4, 0.1])
    """
    return np.tile(SHARES, n_terms // 2) / (n_terms // 2)


def sum_of(columns: Matrix) -> Matrix:
    """Return the sum of the columns, added in their order whatever the batch."""
    return np.asarray(sum(columns.T[1:], start=columns.T[0].copy()))


def learn_surprise(representation: Representation, views: Sequence[Matrix]) -> tuple[Surprise, Matrix]:
    """Return the model, and the terms of the training patterns, each left out, in their units."""
    known, columns = zip(*(surroundings_of(representation, p) for p in views), strict=True)
    terms = Terms.of(np.hstack(columns))
    return Surprise(known, terms), terms.measure(np.hstack(columns))


@dataclass(frozen=True, eq=False)
class Border:
    """Where surprise ends what is normal: `at`, in most cases two `width`s above the median of left-out targets.

    >>> border = Border(at=2.0, width=1.0)
    >>> border.ratios(np.array([1.0, 2.0, 12.0])).round(3)
    array([0.672, 1.   , 3.798])
    """

    at: float
    width: float

    @classmethod
    def of(cls, surprises: Matrix, rate: float) -> "Border":
        """Set the border so that at most a share of `rate` of left-out targets lies beyond."""
        at = -Calibration(np.sort(-surprises), rate).threshold
        low, middle, high = np.quantile(surprises, [0.25, 0.5, 0.75]).tolist()
        # A rate near one half has no room between the median and the border, and ties have no room at all.
        least = LEAST_WIDTH * (high - low) if high > low else LEAST_WIDTH
        return cls(at, max((at - middle) / 2, least))

    def ratios(self, surprises: Matrix) -> Matrix:
        """Return what stands for d / tau: sqrt(log2(1 + exp((s - at) / width))), 1 at the border, never infinite."""
        with np.errstate(over="ignore"):
            return np.asarray(np.sqrt(np.logaddexp(0.0, (surprises - self.at) / self.width) / np.log(2.0)))
