"""The array types that all rooms share."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
