"""A Gaussian membership, wider on the side where a region's members lie wider."""

from dataclasses import dataclass

from eocc.foundation.types import Matrix
from eocc.regions.memberships.gaussian import Gaussian


@dataclass(frozen=True)
class TwoSided(Gaussian):
    """A Gaussian whose width on a side is tau times the members' mean distance there over that on both sides.

    The outer side holds the patterns that are, on average over the prototypes, less similar to them than the
    representative is; the inner side those that are more similar. A side without members has width tau.

    >>> import numpy as np
    >>> TwoSided().widths(np.array([0.0, 1.0, 3.0]), np.array([0.0, -0.1, 0.3]), extent=2.0)
    (1.0, 3.0)
    """

    def widths(self, distances: Matrix, offsets: Matrix, extent: float) -> tuple[float, float]:
        """Return (inner, outer) width."""
        apart = distances > 0
        if not apart.any():
            return extent, extent
        unit = extent / float(distances[apart].mean())
        inner, outer = (distances[apart & side] for side in (offsets < 0, offsets >= 0))
        return (
            unit * float(inner.mean()) if len(inner) else extent,
            unit * float(outer.mean()) if len(outer) else extent,
        )
