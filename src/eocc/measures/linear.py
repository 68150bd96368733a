"""Dissimilarities that are weighted sums of components: d = sum_k p_k C_k."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Matrix
from eocc.kernels.combination import combine


@dataclass(frozen=True, eq=False)
class LinearPrepared:
    """The components C (u, n, r), computed once. A measure without parameters has one component, d itself.

    >>> LinearPrepared(np.array([[[1.0, 2.0]], [[0.5, 0.25]]])).evaluate(np.array([1.0, 4.0]))
    array([[3., 3.]])
    >>> LinearPrepared(np.array([[[0.0, 0.5]]])).evaluate(np.empty(0))
    array([[0. , 0.5]])
    """

    components: Matrix

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return sum_k p_k C_k (n, r), summed in the order of the components."""
        out = np.empty(self.components.shape[1:]) if out is None else out
        combine(self.components, p if len(p) else np.ones(1), out)
        return out
