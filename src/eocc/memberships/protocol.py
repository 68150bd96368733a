"""What a membership function must offer."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class MembershipFunction(Protocol):
    """A grade that never rises with the distance; 1 at the representative itself."""

    def log_grade(self, ratio: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ln mu for ratio = d / tau. Logarithms rank where grades underflow to 0."""
        ...
