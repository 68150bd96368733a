"""The array types, and the limits of floating-point numbers, that all rooms share."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

# A difference below this share of the numbers is a rounding error.
ROUNDING = 1e-9
# The least divisor and argument of a logarithm, and the largest term of a sum; their roots are squared.
TINY, HUGE = 1e-300, 1e240
