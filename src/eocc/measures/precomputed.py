"""Dissimilarities computed elsewhere; and how two batches of patterns are joined."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from eocc.base.checks import indices, integer, numbers, real
from eocc.base.types import Indices, Matrix
from eocc.measures.base import LinearPrepared
from eocc.measures.objects import Objects
from eocc.measures.protocol import FittedMeasure, Measure
from eocc.tables.table import Table, join_tables


@dataclass(frozen=True, eq=False)
class PrecomputedRows:
    """Rows of a block of dissimilarities; `columns` are those of the patterns themselves."""

    block: Annotated[Matrix, numbers("n d")]
    columns: Annotated[Indices, indices("c")]
    n_read: Annotated[int, integer(1, 2**40)]

    def __len__(self) -> int:
        return len(self.block)

    def __getitem__(self, index: Any) -> "PrecomputedRows":
        return PrecomputedRows(self.block[index], self.columns[index], self.n_read)


@dataclass(frozen=True)
class FittedPrecomputed(FittedMeasure):
    """Precomputed dissimilarities with their divisor."""

    n_columns: Annotated[int, integer(1, 2**40)]
    largest: Annotated[float, real("(0, inf)")]
    container: ClassVar = PrecomputedRows

    def prepare(self, patterns: PrecomputedRows, prototypes: PrecomputedRows | None = None) -> LinearPrepared:
        """Pick the prototypes' columns."""
        if (given := patterns.block.shape[1]) != self.n_columns:
            raise ValueError(f"this block has {given} columns; it needs {self.n_columns}, one per training row")
        columns = (patterns if prototypes is None else prototypes).columns
        return LinearPrepared(patterns.block[:, columns][None] / self.largest)

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return "": only dissimilarities are known."""
        return ""

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are rows of a block with a column per training row."""
        block, columns = patterns.block, patterns.columns
        is_block = block.shape == (len(columns), self.n_columns) and bool((block >= 0).all())
        return is_block and bool(((columns >= 0) & (columns < self.n_columns)).all())


@dataclass(frozen=True)
class Precomputed(Measure):
    """d(x, y) as given, divided by the largest training value. No parameters.

    Fit on a square block; predict on a rectangular one, with one column per row of the training block. With
    rescale=False the dissimilarities are not divided; in training they must then lie in [0, 1].

    >>> rows = Precomputed().read([[0, 2], [2, 0]])
    >>> Precomputed().fit(rows).prepare(rows).evaluate(np.empty(0))
    array([[0., 1.],
           [1., 0.]])
    """

    rescale: bool = True
    fitted_class: ClassVar = FittedPrecomputed
    stored_classes: ClassVar = (PrecomputedRows,)
    is_pairwise: ClassVar = True
    pair_floats: ClassVar = 2  # the block and its quotient

    def read(self, X: Any) -> PrecomputedRows:
        """Return X as a block of nonnegative, finite numbers."""
        if hasattr(X, "toarray"):
            raise ValueError("precomputed dissimilarities must be a dense matrix, not a sparse one: use X.toarray()")
        try:
            block = np.array(X, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("precomputed dissimilarities must be a matrix of numbers") from None
        if block.ndim != 2 or block.size == 0:
            raise ValueError(f"precomputed dissimilarities must be a matrix, not of shape {block.shape}")
        if not np.isfinite(block).all():
            raise ValueError("precomputed dissimilarities must not hold NaN or infinity")
        if block.min() < 0:
            raise ValueError(f"precomputed dissimilarities must not be negative; the smallest is {block.min():g}")
        return PrecomputedRows(block, np.arange(len(block)), len(block))

    def fit(self, training: PrecomputedRows) -> FittedPrecomputed:
        """Fix the divisor."""
        n_columns = training.block.shape[1]
        if training.n_read != n_columns:
            shape = f"{n_columns} columns for {training.n_read} rows"
            raise ValueError(f"to fit, precomputed dissimilarities must be square; this block has {shape}")
        block = training.block[:, training.columns]
        if (found := block.diagonal().max()) > 1e-9 * block.max():
            hint = "are these similarities?"
            raise ValueError(f"precomputed dissimilarities must be 0 on the diagonal; found {found:g}: {hint}")
        if not np.allclose(block, block.T, rtol=1e-6, atol=1e-9 * block.max()):
            raise ValueError("precomputed training dissimilarities must be symmetric; use (d + d.T) / 2")
        if not self.rescale and block.max() > 1:
            raise ValueError(f"with rescale=False dissimilarities must lie in [0, 1]; the largest is {block.max():g}")
        return FittedPrecomputed(n_columns, (float(block.max()) if self.rescale else 1.0) or 1.0)


def joined(first: Any, second: Any) -> Any:
    """Return the patterns of both batches, which one measure read: the first batch, then the second.

    >>> list(joined(Objects(["oak"]), Objects(["elm", "ash"])))
    ['oak', 'elm', 'ash']
    """
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second])
    if isinstance(first, Objects):
        return Objects([*first, *second])
    if isinstance(first, Table):
        return join_tables([first, second])
    if hasattr(first, "parts"):
        return type(first)({name: joined(part, second.parts[name]) for name, part in first.parts.items()})
    assert isinstance(first, PrecomputedRows)
    return PrecomputedRows(
        np.concatenate([first.block, second.block]), np.concatenate([first.columns, second.columns]), first.n_read
    )
