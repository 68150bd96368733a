"""Dissimilarities computed elsewhere."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Matrix
from eocc.measures.fixed import FixedPrepared


@dataclass(frozen=True, eq=False)
class PrecomputedRows:
    """Rows of a block of dissimilarities; `columns` are those that belong to the patterns themselves, if any."""

    block: Matrix
    columns: NDArray[np.int64]
    n_read: int

    def __len__(self) -> int:
        return len(self.block)

    def __getitem__(self, index: Any) -> "PrecomputedRows":
        return PrecomputedRows(self.block[index], self.columns[index], self.n_read)


@dataclass(frozen=True)
class Precomputed:
    """d(x, y) as given: fit on a square block, predict on a rectangular one with a column per row of that block.

    Divided by the largest training value. There are no parameters, so nothing to search for.

    >>> rows = Precomputed().read([[0, 2], [2, 0]])
    >>> Precomputed().fit(rows).prepare(rows).evaluate(np.empty(0))
    array([[0., 1.],
           [1., 0.]])
    """

    def read(self, X: Any) -> PrecomputedRows:
        """Return a block of nonnegative, finite numbers."""
        if hasattr(X, "toarray"):
            raise ValueError("precomputed dissimilarities must be a dense matrix, not a sparse one: use X.toarray()")
        try:
            block = np.array(X, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("precomputed dissimilarities must be a matrix of numbers") from None
        if block.ndim != 2 or block.size == 0:
            raise ValueError(f"precomputed dissimilarities must be a matrix, not of shape {block.shape}")
        if not np.isfinite(block).all():
            raise ValueError("precomputed dissimilarities hold NaN or infinity")
        if block.min() < 0:
            raise ValueError(f"precomputed dissimilarities must not be negative; the least is {block.min():g}")
        return PrecomputedRows(block, np.arange(len(block)), len(block))

    def fit(self, training: PrecomputedRows) -> "FittedPrecomputed":
        """Fix the divisor."""
        n_columns = training.block.shape[1]
        if training.n_read != n_columns:
            raise ValueError(
                f"to fit, precomputed dissimilarities must be square; this block has {n_columns} columns "
                f"for {training.n_read} rows"
            )
        block = training.block[:, training.columns]
        if np.abs(block.diagonal()).max() > 1e-9 * block.max():
            raise ValueError(
                f"precomputed dissimilarities must be 0 on the diagonal; found {block.diagonal().max():g}: "
                "are these similarities?"
            )
        if not np.allclose(block, block.T, rtol=1e-6, atol=1e-9 * block.max()):
            raise ValueError("precomputed training dissimilarities must be symmetric; use (d + d.T) / 2")
        largest = float(training.block[:, training.columns].max())
        return FittedPrecomputed(n_columns, largest if largest > 0 else 1.0)


@dataclass(frozen=True)
class FittedPrecomputed:
    """Precomputed dissimilarities with their divisor."""

    n_columns: int
    largest: float
    n_parameters: int = 0

    def prepare(self, patterns: PrecomputedRows, prototypes: PrecomputedRows | None = None) -> FixedPrepared:
        """Pick the prototypes' columns."""
        if patterns.block.shape[1] != self.n_columns:
            raise ValueError(
                f"this block has {patterns.block.shape[1]} columns; it needs {self.n_columns}, one per row of the fit"
            )
        columns = (patterns if prototypes is None else prototypes).columns
        return FixedPrepared(patterns.block[:, columns] / self.largest)
