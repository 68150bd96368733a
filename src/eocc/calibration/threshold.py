"""The surprises of left-out training rows -> the limit of the surprise, and a ratio that is 1 at the limit."""

from dataclasses import dataclass

import numpy as np

from eocc.calibration.conformal import Calibration
from eocc.foundation.types import Matrix

# The smallest scale of a threshold: this share of the interquartile range, or this value where that is 0.
LEAST_SCALE = 0.1
# The limit is at least this share of a step above the median row: if one of the four neighbourhood distances grows by
# a step, the surprise grows by about so much.
LEAST_STEP = 0.25


@dataclass(frozen=True, eq=False)
class Threshold:
    """The surprise above which a row is rejected, and the `scale` in which distances from it are measured.

    >>> Threshold(2.0, scale=1.0).ratios(np.array([1.0, 2.0, 12.0])).round(3)
    array([0.672, 1.   , 3.798])
    """

    value: float
    scale: float

    @classmethod
    def fit(cls, surprises: Matrix, rate: float, step: float = 0.0) -> "Threshold":
        """Reject at most a share `rate` of the left-out training rows; half their distance from the median is 1.

        The threshold is at least a quarter of a step above the median, and the scale is at least as large: among many
        ties the median row would lie on the threshold.
        """
        value = -Calibration(np.sort(-surprises), rate).threshold
        low, middle, high = np.quantile(surprises, [0.25, 0.5, 0.75]).tolist()
        if step:
            value = max(value, middle + LEAST_STEP * step)
        # With a rate near one half, or with ties, median and threshold coincide.
        least = LEAST_SCALE * (high - low) if high > low else LEAST_SCALE
        return cls(value, max((value - middle) / 2, least, LEAST_STEP * step))

    def ratios(self, surprises: Matrix) -> Matrix:
        """Return sqrt(log2(1 + exp((s - value) / scale))): 1 at the threshold, finite; like the paper's d / tau."""
        with np.errstate(over="ignore"):
            return np.asarray(np.sqrt(np.logaddexp(0.0, (surprises - self.value) / self.scale) / np.log(2.0)))
