"""What a dissimilarity must offer: freeze once per fit, prepare once per set of pairs, evaluate per p."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class Prepared(Protocol):
    """The pairs patterns x prototypes, with everything done that does not depend on p."""

    def evaluate(self, p: NDArray[np.float64], out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return D, D_ij = d(pattern_i, prototype_j; p); in `out`, if given, to save memory.

        Several threads may call this at once, each with its own p and out.
        """
        ...


@runtime_checkable
class FindsNearest(Prepared, Protocol):
    """Prepared pairs that know their nearest without all of D; those of other measures are found in D."""

    def nearest_and_means(
        self, p: NDArray[np.float64], k: int, m: int, values: NDArray[np.float64], own: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the k <= 8 smallest entries of each row of D, in order, and the mean of `values` over the m nearest.

        `values` has a number for each prototype; prototypes that tie with the last of the m count too. Entry own[i] of
        row i is left out, unless that is -1. The result equals, bit for bit, that computed from D.
        """
        ...


class FittedMeasure(Protocol):
    """A measure whose normalisation was fixed on the training patterns."""

    @property
    def n_parameters(self) -> int:
        """The length u of p."""
        ...

    def prepare(self, patterns: Any, prototypes: Any = None) -> Prepared:
        """Do once what every p shares.

        Without prototypes the pairs are those of the patterns among themselves. A row of D must not depend on the
        rows beside it, but for rounding where there are no prototypes.
        """
        ...


class Measure(Protocol):
    """A parametric dissimilarity d(x, y; p), p in [0, 1]^u, at most 1 on the training set for every p.

    A measure of patterns that are not rows of numbers has a method ``read`` too: it takes what the user passes as X and
    returns ``eocc.measures.objects.Patterns``, or raises a ValueError that says what is wrong with it.
    """

    def fit(self, training: Any) -> FittedMeasure:
        """Fix on the training patterns whatever normalises the measure; leave the measure itself as it is."""
        ...
