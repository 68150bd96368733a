"""How much a value of a table differs from the training values of its column, on average."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eocc.foundation.checks import array_of, real
from eocc.foundation.types import Matrix

# A column keeps the mean differences from at most this many of its training values.
MOST_POINTS = 128


@dataclass(frozen=True, eq=False)
class MeanDifference:
    """The mean of c(x, t) over the training values t of a column, as a function of an encoded value x.

    `curve` (2, m) holds encoded training values, which rise, and the means there. Between them it is linear: exact if
    all distinct values are there. Beyond them it grows by the distance. `between` is its mean over the training values,
    the mean difference of two of them. Without training values it is 0.
    """

    curve: Matrix
    between: float
    stored: ClassVar = {"curve": array_of(np.float64, 2), "between": real(0, 1)}

    def __post_init__(self) -> None:
        if len(self.curve) != 2 or not (np.diff(self.curve[0]) > 0).all():
            raise ValueError("a mean difference needs values that rise, and a mean for each")

    @classmethod
    def of_numbers(cls, values: Matrix) -> "MeanDifference":
        """Fit c = |x - t|: by cumulative sums of the sorted values."""
        points, counts = np.unique(values, return_counts=True)
        if not len(points):
            return cls(np.zeros((2, 1)), 0.0)
        below, sums = np.cumsum(counts), np.cumsum(counts * points)
        means = np.clip((points * (2 * below - below[-1]) + sums[-1] - 2 * sums) / below[-1], 0.0, 1.0)
        kept = np.unique(np.searchsorted(below, np.linspace(0, below[-1], MOST_POINTS)))
        kept = kept if len(points) > MOST_POINTS else np.arange(len(points))
        return cls(np.array([points[kept], means[kept]]), float(counts @ means / below[-1]))

    @classmethod
    def of_codes(cls, codes: Matrix, n_codes: int) -> "MeanDifference":
        """Fit c = 0 for the same code, 1 for another: the share of other codes. The last one is any unknown code."""
        shares = np.bincount(codes.astype(np.int64), minlength=n_codes + 1) / max(len(codes), 1)
        return cls(np.array([np.arange(n_codes + 1.0), 1 - shares]), float(shares @ (1 - shares)))

    def at(self, values: Matrix) -> Matrix:
        """Return the mean differences of encoded values; `between` for missing ones."""
        points, means = self.curve
        inside = np.clip(values, points[0], points[-1])
        found = np.interp(inside, points, means) + np.abs(values - inside)
        return np.where(np.isnan(values), self.between, found)
