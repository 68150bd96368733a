"""A search of points among themselves -> what it says of the nearest of other points, most of which are the same."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eocc.base.types import ROUNDING, Flags, Indices, Matrix

# Below this share of known points all are searched anew. It changes times, not results; the value was not tuned.
MOSTLY_KNOWN = 0.75
# Points in another unit are off by this share of the largest: the rounding of a few operations.
UNIT_ERROR = 1e-14
# The square of a smaller floor loses digits.
LEAST_FLOOR = 1e-140


class Known(NamedTuple):
    """What is known of the nearest points of each of n points, so that few others need to be compared with it.

    Points other than those listed in `near` (n, l), -1 for none, and those that are `is_new` (n,), are at least floors
    (v, n) away under each weighting.
    """

    near: Indices
    floors: Matrix
    is_new: Flags


class Searched(NamedTuple):
    """A search of points (n, d) among themselves, under weightings (v, d); `rows` are the points before any scaling.

    It listed the points `near` (n, v k); under each weighting the others are at least floors (v, n) away.
    """

    rows: Matrix
    points: Matrix
    weightings: Matrix
    near: NDArray[np.int32]
    floors: Matrix

    def known(self, rows: Matrix, points: Matrix, weightings: Matrix) -> Known | None:
        """Return what this search knows of the nearest of other points under other weightings; None if too little."""
        n = len(self.points)
        if weightings.shape != self.weightings.shape:
            return None
        places = distinct_points(np.vstack([self.rows, rows]))[1][n:]
        old, kept = places[places < n], np.flatnonzero(places < n)
        if len(kept) < MOSTLY_KNOWN * len(points):
            return None
        # The unit of the points may have changed: a linear map of every column leads from the old points to the new,
        # up to rounding. It changes a squared distance by the least ratio of the weights, or more.
        before, now, columns = self.points[old], points[kept], np.arange(points.shape[1])
        low, high = before.argmin(axis=0), before.argmax(axis=0)
        spans = before[high, columns] - before[low, columns]
        slopes = np.where(spans > 0, (now[high, columns] - now[low, columns]) / np.where(spans > 0, spans, 1.0), 1.0)
        error = UNIT_ERROR * np.abs(now).max(axis=0)
        expected = (before - before[low, columns]) * slopes + now[low, columns]
        is_same = (np.abs(now - expected) <= error).all(axis=1)
        old, kept = old[is_same], kept[is_same]
        if len(kept) < MOSTLY_KNOWN * len(points):
            return None
        is_new = np.ones(len(points), bool)
        is_new[kept] = False
        numbers, near = np.full(n, -1), np.full((len(points), self.near.shape[1]), -1)
        numbers[old] = kept
        near[kept] = np.where(self.near[old] >= 0, numbers[self.near[old]], -1)
        near.sort(axis=1)
        near[:, 1:][near[:, 1:] == near[:, :-1]] = -1
        floors = np.zeros((len(weightings), len(points)))
        for floor, own, p, q in zip(floors, self.floors, self.weightings, weightings, strict=True):
            floor[kept] = (1 - ROUNDING) * np.sqrt(ratios(p, q * slopes**2)[0]) * own[old] - 4 * np.sqrt(
                (q * error**2).sum()
            )
        floors[floors < LEAST_FLOOR] = 0.0
        return Known(near, floors, is_new)


def distinct_points(rows: Matrix) -> tuple[Indices, Indices, Indices]:
    """Return the first row of each different one, in their order; which of these each row is; and how often each is."""
    # As bytes, in which 0.0 and -0.0 differ.
    bits = np.ascontiguousarray(rows + 0.0).view(f"V{8 * rows.shape[1]}").ravel()
    _, first, inverse, counts = np.unique(bits, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[inverse], counts[order]


def ratios(first: Matrix, second: Matrix) -> tuple[float, float]:
    """Return the least and the greatest ratio of a squared distance under `second` to that under `first`."""
    active = first > 0
    if (second[~active] > 0).any() or not active.any():
        return 0.0, np.inf
    found = second[active] / first[active]
    return float(found.min()), float(found.max())
