"""The interface of a measure: fit once per training set, prepare once per set of pairs, evaluate once per p."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from eocc.foundation.types import Flags, Indices, Matrix


class Prepared(Protocol):
    """Pairs of patterns and prototypes, with everything computed that does not depend on p."""

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return D (n, r), D_ij = d(pattern_i, prototype_j; p), written into `out` if it is given.

        Several threads may call this at the same time, each with its own p and `out`.
        """


@runtime_checkable
class FindsNearest(Prepared, Protocol):
    """Prepared pairs that find the nearest prototypes without computing all of D."""

    def nearest_and_means(self, p: Matrix, k: int, m: int, values: Matrix, own: Indices) -> tuple[Matrix, Matrix]:
        """Return the k <= 8 smallest entries of each row of D, sorted, and the mean of `values` over the m nearest.

        `values` has one number per prototype. Prototypes that tie with the m-th nearest count too. Entry own[i] of row
        i is left out; -1 leaves out none. The result equals, bit for bit, the one computed from D.
        """


class FittedMeasure(Protocol):
    """A measure whose normalisation was fixed on the training patterns."""

    @property
    def n_parameters(self) -> int:
        """The length u of p."""

    def prepare(self, patterns: Any, prototypes: Any = None) -> Prepared:
        """Compute what every p shares. Without prototypes, all pairs of the patterns are compared.

        A row of D must not depend on the other rows. Rounding may differ where there are no prototypes.
        """


@runtime_checkable
class ComparesRows(FittedMeasure, Protocol):
    """A fitted measure of rows of numbers, whose pairs are computed in blocks and never kept."""

    def along(self, active: Flags) -> "ComparesRows":
        """Return the measure restricted to some of the columns, on the same scale."""

    def against(self, prototypes: Matrix) -> Callable[[Matrix], FindsNearest]:
        """Return a function that prepares patterns against these prototypes."""


class Measure(Protocol):
    """A parametric dissimilarity d(x, y; p), p in [0, 1]^u, at most 1 on the training set for every p.

    This is all that your own measure needs. A measure of patterns that are not rows of numbers also has a method
    ``read(X)``, which returns ``eocc.measures.objects.Objects`` or raises a ValueError that says what is wrong.
    The measures of this package have more: see ``eocc.measures.base``.
    """

    def fit(self, training: Any) -> FittedMeasure:
        """Return the measure, normalised on the training patterns; leave the measure itself unchanged."""
