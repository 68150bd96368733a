"""Dissimilarities that are weighted sums of components: d = sum_k p_k C_k."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Matrix
from eocc.kernels.combination import combine


@dataclass(frozen=True, eq=False)
class LinearPrepared:
    """The components C (u, n, r). They are computed once; each p costs only their weighted sum.

    >>> pairs = LinearPrepared(np.array([[[1.0, 2.0]], [[0.5, 0.25]]]))
    >>> pairs.evaluate(np.array([1.0, 4.0]))
    array([[3., 3.]])
    """

    components: Matrix

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return sum_k p_k C_k (n, r), summed in the order of the components."""
        out = np.empty(self.components.shape[1:]) if out is None else out
        combine(self.components, p, out)
        return out
