"""The interface of a measure: fit once per training set, prepare once per set of pairs, evaluate once per p."""

from typing import Any, Protocol, runtime_checkable

from eocc.foundation.types import Flags, Indices, Matrix

_known: dict[tuple[type, type], bool] = {}


class _CheckedOnce(type(Protocol)):  # type: ignore[misc]
    """Looks once per class for the methods of a protocol, which takes longer than scoring a row of numbers."""

    def __instancecheck__(cls, instance: Any) -> bool:
        key = cls, type(instance)
        if key not in _known:
            _known[key] = super().__instancecheck__(instance)
        return _known[key]


class Prepared(Protocol):
    """Pairs of patterns and prototypes, with everything computed that does not depend on p."""

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return D (n, r), D_ij = d(pattern_i, prototype_j; p), written into `out` if it is given.

        Several threads may call this at the same time, each with its own p and `out`.
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
class ComparesRows(FittedMeasure, Protocol, metaclass=_CheckedOnce):
    """A fitted measure of rows of numbers that is a weighted Euclidean distance in some coordinates."""

    def coordinates(self, patterns: Matrix) -> Matrix:
        """Return the coordinates (n, u): d(x, y; p) = sqrt(sum_k p_k (x_k - y_k)^2) up to rounding."""


@runtime_checkable
class ComparesMixedRows(FittedMeasure, Protocol, metaclass=_CheckedOnce):
    """A fitted measure of rows of numbers and codes: d(x, y; p) = sum_k p_k c_k / u.

    c is the absolute difference, 0 or 1 for codes, and 0 for NaN.
    """

    @property
    def is_code(self) -> Flags:
        """Which columns hold codes of categories; the others hold numbers."""

    def encoded(self, patterns: Any, prototypes: Any) -> Matrix:
        """Return patterns as numbers and codes (m, u), gaps filled; a category has the code that prototypes give it."""


def compares_rows(measure: Any) -> bool:
    """Return whether a measure compares rows of numbers or codes, whose nearest an index finds."""
    return isinstance(measure, ComparesRows | ComparesMixedRows)


@runtime_checkable
class FindsNearest(FittedMeasure, Protocol, metaclass=_CheckedOnce):
    """A fitted measure that finds the nearest prototypes without comparing all pairs."""

    def nearest(self, patterns: Any, prototypes: Any, weightings: Matrix, k: int) -> "list[tuple[Matrix, Indices]]":
        """Return, for each row p of `weightings`, the distances (m, k) to the k nearest prototypes and their indices.

        They ascend; of prototypes at the same distance, the first comes first. The distances equal, bit for bit, those
        of `evaluate(p)`. There are at least k prototypes.
        """


@runtime_checkable
class HasCells(FittedMeasure, Protocol, metaclass=_CheckedOnce):
    """A fitted measure of the rows of a table."""

    @property
    def is_code(self) -> Flags:
        """Which columns hold codes of categories; the others hold numbers."""

    def cell_values(self, patterns: Any) -> Matrix:
        """Return the cells (n, u) as numbers or codes, NaN if missing; codes that training lacks are the highest."""


class Measure(Protocol):
    """A parametric dissimilarity d(x, y; p), p in [0, 1]^u, at most 1 on the training set for every p.

    This is all that your own measure needs. A measure of patterns that are not rows of numbers also has a method
    ``read(X)``, which returns ``eocc.measures.objects.Objects`` or raises a ValueError that says what is wrong.
    The measures of this package have more: see ``eocc.measures.base``.
    """

    def fit(self, training: Any) -> FittedMeasure:
        """Return the measure, normalised on the training patterns; leave the measure itself unchanged."""
