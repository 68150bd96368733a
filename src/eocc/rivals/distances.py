"""The metrics of rivals behind one interface: fit to the training patterns, then compute distances to them."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from eocc.foundation.types import Matrix
from eocc.measures.auto import is_pairwise, resolve_measure
from eocc.measures.precomputed import PrecomputedRows
from eocc.measures.protocol import FittedMeasure, Measure


class Metric(Protocol):
    """Distances between patterns."""

    @property
    def is_pairwise(self) -> bool:
        """Whether X holds distances."""
        ...

    @property
    def takes_rows(self) -> bool:
        """Whether patterns are rows of numbers, which scikit-learn validates."""
        ...

    def read(self, X: Any) -> Any:
        """Return the user's X as patterns; not called where `takes_rows`."""
        ...

    def fit(self, training: Any) -> "Metric":
        """Fit the scale of the metric."""
        ...

    def distances(self, patterns: Any, prototypes: Any) -> Matrix:
        """Return the distances, patterns x prototypes; each row is independent of the others."""
        ...


@dataclass(frozen=True)
class EuclideanRows:
    """The Euclidean distance in the unit of the data."""

    is_pairwise: bool = False
    takes_rows: bool = True

    def read(self, X: Any) -> Any:
        """Return X."""
        return X

    def fit(self, training: Any) -> "EuclideanRows":
        """Return the metric itself: it has no scale."""
        return self

    def distances(self, patterns: Matrix, prototypes: Matrix) -> Matrix:
        """Return the distances from differences; a matrix product would round differently in other batches."""
        return np.asarray(cdist(patterns, prototypes))


@dataclass(frozen=True)
class Blocks:
    """Precomputed distances in their own unit; the measure reads and checks them."""

    measure: Any
    is_pairwise: bool = True
    takes_rows: bool = False

    def read(self, X: Any) -> PrecomputedRows:
        """Return a block of distances."""
        block: PrecomputedRows = self.measure.read(X)
        return block

    def fit(self, training: PrecomputedRows) -> "Blocks":
        """Check that the block is square, symmetric and zero on its diagonal."""
        self.measure.fit(training)
        return self

    def distances(self, patterns: PrecomputedRows, prototypes: PrecomputedRows) -> Matrix:
        """Return the block's columns of the prototypes."""
        given, wanted = patterns.block.shape[1], prototypes.block.shape[1]
        if given != wanted:
            raise ValueError(f"this block has {given} columns; it needs {wanted}, one per row of the fit")
        # Else one row and many would lie differently in memory, and be summed in another order.
        return np.ascontiguousarray(patterns.block[:, prototypes.columns])


@dataclass(frozen=True)
class Measured:
    """A measure of `eocc.measures` with all weights 1: at most 1 between training patterns."""

    measure: Measure
    fitted: FittedMeasure | None = None
    is_pairwise: bool = False

    @property
    def takes_rows(self) -> bool:
        """Whether patterns are rows of numbers."""
        return not hasattr(self.measure, "read")

    def read(self, X: Any) -> Any:
        """Return X as the measure reads it."""
        return self.measure.read(X)  # type: ignore[attr-defined]  # only where takes_rows is False

    def fit(self, training: Any) -> "Measured":
        """Fit the measure."""
        return replace(self, fitted=self.measure.fit(training))

    def distances(self, patterns: Any, prototypes: Any) -> Matrix:
        """Return the measure's dissimilarities."""
        assert self.fitted is not None
        return self.fitted.prepare(patterns, prototypes).evaluate(np.ones(self.fitted.n_parameters))


def resolve_metric(metric: Any) -> Metric:
    """Return the metric of that name, or of that measure.

    >>> resolve_metric("euclidean").distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[5.]])
    """
    if isinstance(metric, str) and metric == "euclidean":
        return EuclideanRows()
    measure = resolve_measure(metric)
    return Blocks(measure) if is_pairwise(measure) else Measured(measure)
