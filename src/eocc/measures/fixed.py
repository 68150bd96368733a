"""Dissimilarities without parameters."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Matrix


@dataclass(frozen=True, eq=False)
class FixedPrepared:
    """The dissimilarities (n, r) themselves. p is empty.

    >>> FixedPrepared(np.array([[0.0, 0.5]])).evaluate(np.empty(0))
    array([[0. , 0.5]])
    """

    dissimilarities: Matrix

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return a copy, which the caller may change."""
        if out is None:
            return self.dissimilarities.copy()
        np.copyto(out, self.dissimilarities)
        return out
