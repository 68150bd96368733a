"""The first view: a row in an empty place. Distances to the nearest normal rows -> how surprising a row is.

- The *profile*: the mean of log(distance to the k-th nearest training row) over k = 1, 2, 4, 8. Up to a constant and a
  factor it is the Kozachenko-Leonenko estimate of -log density; Hero's geometric entropy minimisation ranks alike.
- The *local ratio*: (mean distance to the 4 nearest / mean local scale of these 4)^2. The local scale of a training row
  is its own mean distance to its 4 nearest. This is the paper's (d / tau)^2 with a region around every training row.

A training row, or a copy of one, is left out of its own neighbours: of c equal training rows, c - 1 are neighbours.
docs/research/score.md has the definition and says how the terms and constants were chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from eocc.base.checks import Sizes, demand, numbers, real
from eocc.base.stored import check_keys, declared, restored
from eocc.base.threads import BLOCK_SIZE
from eocc.base.types import HUGE, ROUNDING, Indices, Matrix
from eocc.kernels.smallest import LocalScales
from eocc.space.representation import LeftOutWeights
from eocc.surprise.comparison import Comparison, Nearest, nearest_in

# Neighbourhood sizes double up to this one.
LARGEST_SIZE = 8
# Neighbours that make up a local scale.
N_LOCAL = 4
# The shares of the profile and of the local ratio in the view.
SHARES = (0.8, 0.2)
# The share of the weighting under which a row is more surprising.
LARGER = 0.8


@dataclass(frozen=True, eq=False)
class Weighting:
    """The training rows under one weighting of the dissimilarity.

    `weights` (u,) are p, `local_scales` (r,) the mean distance of each prototype to its nearest few, `mean_distance`
    the mean of these distances over all prototypes. `local_radii` and `next_distances` (r,) are the distances to the
    last of these few and to the next one, 0 if there is none. A row within `tolerance` of a prototype is a copy of it.
    `median_profile` (s,) holds the leave-one-out medians of the distance to the k-th nearest for each neighbourhood
    size k, `mean_ratio` the leave-one-out mean of the local ratio.
    """

    weights: Annotated[Matrix, numbers("u", "[0, 1]")]
    local_scales: Annotated[Matrix, numbers("r", "(0, inf)")]
    local_radii: Annotated[Matrix, numbers("r", "[0, inf)")]
    next_distances: Annotated[Matrix, numbers("r", "[0, inf)")]
    mean_distance: Annotated[float, real("(0, inf)")]
    tolerance: Annotated[float, real("[0, inf)")]
    median_profile: Annotated[Matrix, numbers("s", "[0, inf)")]
    # No mean over the training rows is nearly as small; a smaller one would overflow the largest ratio.
    mean_ratio: Annotated[float, real("[1e-60, inf)")] = 1.0

    @cached_property
    def needed(self) -> tuple[int, int, LocalScales]:
        """The number of neighbours that the terms need, and that of those in a local scale, with all local scales."""
        others = len(self.local_scales) - 1
        n_local = min(N_LOCAL, max(1, others))
        scales = LocalScales(self.local_scales, self.local_radii, self.next_distances, self.tolerance)
        return max(int(neighbourhood_sizes(others)[-1]), n_local), n_local, scales

    def terms(self, near: Nearest) -> Matrix:
        """Return the profile and the local ratio of every row: (m, 2).

        The profile is the mean of log(distance + mean_distance), which is finite for copies too. The local ratio is
        (mean distance to the nearest few / mean local scale of these)^2, in units of `mean_ratio`.
        """
        sizes, few = neighbourhood_sizes(len(self.local_scales) - 1), near.distances[:, : self.needed[1]]
        with np.errstate(over="ignore"):
            ratio = np.minimum((sum_columns(few) / (few.shape[1] * near.scales)) ** 2, HUGE)
        logs = np.log(np.take(near.distances, sizes - 1, axis=1) + self.mean_distance)
        return np.column_stack([sum_columns(logs) / len(sizes), ratio / self.mean_ratio])


def neighbourhood_sizes(n: int) -> Indices:
    """Return the neighbourhood sizes k = 1, 2, 4, 8, at most half of the n other rows."""
    return 2 ** np.arange(max(1, min(n // 2, LARGEST_SIZE).bit_length()))


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Columns of terms, less their `mean`, over their `scale`."""

    mean: Annotated[Matrix, numbers("c")]
    scale: Annotated[Matrix, numbers("c", "(0, inf)")]

    @classmethod
    def of(cls, columns: Matrix) -> "Standardisation":
        """Return the mean and the standard deviation of each column; a column that does not vary keeps its unit."""
        scale = columns.std(axis=0)
        return cls(columns.mean(axis=0), np.where(scale > ROUNDING, scale, 1.0))

    def apply(self, columns: Matrix) -> Matrix:
        """Return the standardised columns, all finite."""
        with np.errstate(over="ignore"):
            standard = columns - self.mean
            standard /= self.scale
            return np.clip(standard, -HUGE, HUGE, out=standard)


def larger_first(values: Matrix) -> Matrix:
    """Return 0.8 times the larger of the values (m, v) under the first and the last weighting, plus 0.2 the smaller."""
    first, second = values[:, 0], values[:, -1]
    return np.asarray(LARGER * np.maximum(first, second) + (1 - LARGER) * np.minimum(first, second))


@dataclass(frozen=True, eq=False)
class NeighboursView:
    """The weighted mean of the standardised terms of all weightings.

    Copies of some prototypes have `left_out` weights of their own instead of the last weighting.
    """

    weightings: tuple[Weighting, ...]
    standardisation: Standardisation
    left_out: LeftOutWeights

    def leave_twins_out(self, among_prototypes: Comparison) -> bool:
        """Score each prototype as a new row of a model without it; return whether that makes a difference.

        To that model a row with copies is a copy of another row, its twin, which does not count either.
        """
        if len(among_prototypes.reference.prototypes) <= N_LOCAL + 1:
            return False
        among_prototypes.twins = among_prototypes.copies([weighting.tolerance for weighting in self.weightings])
        return bool((among_prototypes.twins >= 0).any())

    def nearest(self, comparison: Comparison) -> list[Nearest]:
        """Return the nearest prototypes under every weighting; prototypes, and copies of one, do not count it."""
        if len(comparison.reference.prototypes) > 1 and not (comparison.own >= 0).any():
            comparison.own = comparison.copies([weighting.tolerance for weighting in self.weightings])
        near = [comparison.nearest(number, *one.needed) for number, one in enumerate(self.weightings)]
        rows, weights, power = self.left_out
        places = np.flatnonzero(np.isin(comparison.own, rows)) if len(rows) else rows
        step = max(1, BLOCK_SIZE // len(comparison.reference.prototypes))
        for start in range(0, len(places), step):
            some = places[start : start + step]
            own = weights[np.searchsorted(rows, comparison.own[some])]
            rows_by = comparison.rows_by(some, own, power)
            # The row is in the local scales of few others: it is far away under the last weighting.
            found = nearest_in(rows_by, *self.weightings[-1].needed, np.zeros(len(some), bool))
            for whole, part in zip(near[-1], found, strict=True):
                whole[some] = part
        return near

    def by_weighting(self, near: Sequence[Nearest]) -> Matrix:
        """Return the weighted mean of the standardised terms under each weighting (m, v): higher = less normal."""
        terms = np.hstack([weighting.terms(found) for weighting, found in zip(self.weightings, near, strict=True)])
        terms = self.standardisation.apply(terms)
        return np.column_stack([sum_columns(terms[:, k : k + 2] * SHARES) for k in range(0, terms.shape[1], 2)])


def sum_columns(columns: Matrix) -> Matrix:
    """Return the sum of the columns, added in their order, so that it does not depend on the batch."""
    return np.asarray(sum(columns.T[1:], start=columns.T[0].copy()))


def fit_neighbours(among_prototypes: Comparison, left_out: LeftOutWeights) -> NeighboursView:
    """Return the view of the prototypes, each left out."""
    reference, known, terms = among_prototypes.reference, [], []
    m = min(N_LOCAL, max(1, len(reference.prototypes) - 1))
    for number, weights in enumerate(reference.weightings):
        # The distances of the prototypes to their nearest that are no copies: these differ by rounding.
        near = among_prototypes.nearest(number, m + 1, above=0.0).distances
        known_few = near[:, :m][np.isfinite(near[:, :m])]
        tolerance = ROUNDING * float(np.median(known_few)) if len(known_few) else 0.0
        if (near <= tolerance).any():
            near = among_prototypes.nearest(number, m + 1, above=tolerance).distances
        near, following = near[:, :m], near[:, m]
        is_known = np.isfinite(near)
        mean = float(near[is_known].mean()) if is_known.any() else 1.0  # all rows are copies: any unit serves
        scales = np.where(is_known, near, mean).mean(axis=1)
        radii, following = np.where(np.isfinite(following), [near[:, -1], following], 0.0)
        weighting = Weighting(weights, scales, radii, following, mean, tolerance, np.empty(0))
        found = among_prototypes.nearest(number, *weighting.needed)
        mean_ratio = float(weighting.terms(found)[:, 1].copy().mean()) or 1.0  # 0 where all rows are copies
        medians = np.median(found.distances[:, neighbourhood_sizes(len(reference.prototypes) - 1) - 1], axis=0)
        known.append(replace(weighting, median_profile=medians, mean_ratio=mean_ratio))
        terms.append(known[-1].terms(found))
    return NeighboursView(tuple(known), Standardisation.of(np.hstack(terms)), left_out)


def restored_neighbours(state: Any, sizes: Sizes) -> NeighboursView:
    """Return the view that a model file describes; the sizes get the numbers of neighbourhoods and of weightings."""
    stored, sizes["s"] = state["weightings"], len(neighbourhood_sizes(sizes["r"] - 1))
    if type(stored) is dict and isinstance(scales := stored.get("local_scales"), np.ndarray):
        # In files of format 3, training rows count in the local scales of others when they are left out.
        stored = {"local_radii": np.zeros_like(scales), "next_distances": np.zeros_like(scales), **stored}
    check_keys("weightings", stored, declared(Weighting))
    for name, one in stored.items():
        is_right = type(one) is np.ndarray and one.dtype == np.float64 and one.ndim > 0
        demand(is_right, f"weightings.{name} must be numbers, stored as doubles")
    lengths = {len(one) for one in stored.values()}
    demand(len(lengths) == 1, "weightings must hold arrays of one length")
    rows = ({name: one[k] if one.ndim > 1 else one[k].item() for name, one in stored.items()} for k in range(*lengths))
    weightings = tuple(restored(Weighting, row, "weightings", sizes) for row in rows)
    v = sizes["v"] = len(weightings)
    demand(0 < v <= 2, f"there must be 1 to 2 weightings, as given and variance-equalised, not {v}")
    standardisation = restored(Standardisation, state["standardisation"], "standardisation", {"c": 2 * v})
    return NeighboursView(weightings, standardisation, restored(LeftOutWeights, state["left_out"], "left_out", sizes))
