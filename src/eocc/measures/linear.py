"""Dissimilarities that are sums of components, each with a weight: d = sum_k p_k C_k."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Matrix
from eocc.kernels.combination import combine


@dataclass(frozen=True, eq=False)
class LinearPrepared:
    """The components C_k, (u, n, r), computed once; a candidate p costs their weighted sum.

    >>> pairs = LinearPrepared(np.array([[[1.0, 2.0]], [[0.5, 0.25]]]))
    >>> pairs.evaluate(np.array([1.0, 4.0]))
    array([[3., 3.]])
    """

    components: Matrix

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return sum_k p_k C_k, each entry summed in the order of the components."""
        out = np.empty(self.components.shape[1:]) if out is None else out
        combine(self.components, p, out)
        return out
