"""The surprises of left-out training rows -> the limit of the surprise, and a ratio that is 1 at the limit."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from eocc.base.checks import FITTED, real
from eocc.base.types import Matrix
from eocc.calibration.conformal import Calibration

# The smallest scale of a threshold, in units of the surprise: with ties the median row lies on the threshold.
LEAST_SCALE = 0.5


@dataclass(frozen=True, eq=False)
class Threshold:
    """The surprise above which a row is rejected, and the `scale` in which distances from it are measured.

    >>> Threshold(2.0, scale=1.0).ratios(np.array([1.0, 2.0, 12.0])).round(3)
    array([0.672, 1.   , 3.798])
    """

    value: Annotated[float, real(FITTED)]
    scale: Annotated[float, real("(0, 1e300]")]

    @classmethod
    def fit(cls, surprises: Matrix, rate: float) -> "Threshold":
        """Reject at most a share `rate` of the left-out training rows; half their distance from the median is 1."""
        value = -Calibration(np.sort(-surprises), rate).threshold
        return cls(value, max((value - float(np.median(surprises))) / 2, LEAST_SCALE))

    def ratios(self, surprises: Matrix) -> Matrix:
        """Return sqrt(log2(1 + exp((s - value) / scale))): 1 at the threshold, finite; like the paper's d / tau."""
        with np.errstate(over="ignore"):
            return np.asarray(np.sqrt(np.logaddexp(0.0, (surprises - self.value) / self.scale) / np.log(2.0)))
