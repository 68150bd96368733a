"""Any function of two objects as a measure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.foundation.types import Matrix
from eocc.measures.fixed import FixedPrepared
from eocc.measures.objects import Objects, read_objects

# So many training patterns are compared both ways and with themselves before the rest is.
SAMPLE = 10
# What is this small beside the largest value is 0 but for rounding.
ROUNDING = 1e-6


@dataclass(frozen=True)
class FunctionMeasure:
    """d(x, y) = f(x, y) / the largest training value, for any symmetric, nonnegative function of two objects.

    On a sample of the training patterns f is checked: numbers, finite, not negative, the same both ways, and 0 of a
    pattern and itself.

    >>> measure = FunctionMeasure(lambda a, b: abs(len(a) - len(b)))
    >>> measure.fit(Objects(["a", "bcd"])).prepare(Objects(["abcdef"]), Objects(["a", "bcd"])).evaluate(np.empty(0))
    array([[2.5, 1.5]])
    """

    function: Callable[[Any, Any], float]

    def read(self, X: Any) -> Objects:
        """Take any sequence of objects."""
        return read_objects(X, "objects")

    def fit(self, training: Sequence[Any]) -> "FittedFunction":
        """Check the function on a sample and find the largest training value."""
        self._check_symmetry(training)
        return FittedFunction.of_table(self.function, training, None, _symmetric_table(self.function, training))

    def fit_against(self, training: Sequence[Any], prototypes: Sequence[Any]) -> "FittedFunction":
        """Check the function on a sample and find the largest value against a prototype."""
        self._check_symmetry(training)
        return FittedFunction.of_table(self.function, training, prototypes, _table(self.function, training, prototypes))

    def _check_symmetry(self, training: Sequence[Any]) -> None:
        drawn = np.random.default_rng(0).permutation(len(training))[:SAMPLE]
        sample = [training[i] for i in drawn.tolist()]
        forth = _table(self.function, sample, sample)
        if not np.allclose(forth, forth.T, rtol=1e-9, atol=1e-12):
            i, j = np.unravel_index(np.argmax(np.abs(forth - forth.T)), forth.shape)
            raise ValueError(
                f"the measure is not symmetric: {forth[i, j]:g} one way and {forth[j, i]:g} the other; "
                "use (f(a, b) + f(b, a)) / 2"
            )
        if forth.diagonal().max() > ROUNDING * forth.max():
            raise ValueError(
                f"the measure of a pattern and itself must be 0; it is {forth.diagonal().max():g}: "
                "is it a similarity? of one up to 1 use 1 - s"
            )


@dataclass(frozen=True, eq=False)
class FittedFunction:
    """A function of two objects with its divisor."""

    function: Callable[[Any, Any], float]
    largest: float
    computed: list[tuple[Sequence[Any], Sequence[Any] | None, Matrix]]
    n_parameters: int = 0

    @classmethod
    def of_table(
        cls,
        function: Callable[[Any, Any], float],
        training: Sequence[Any],
        prototypes: Sequence[Any] | None,
        table: Matrix,
    ) -> "FittedFunction":
        """Divide by the largest of the values of the training patterns against each other or the prototypes."""
        largest = float(table.max())
        return cls(function, largest if largest > 0 else 1.0, [(training, prototypes, table)])

    def prepare(self, patterns: Sequence[Any], prototypes: Sequence[Any] | None = None) -> FixedPrepared:
        """Call the function for every pair; once for each of the patterns among themselves.

        The training pairs were computed to find the largest: their table is used once and not kept.
        """
        if self.knows(patterns, prototypes):
            return FixedPrepared(self.computed.pop()[2] / self.largest)
        if prototypes is None:
            return FixedPrepared(_symmetric_table(self.function, patterns) / self.largest)
        return FixedPrepared(_table(self.function, patterns, prototypes) / self.largest)

    def knows(self, patterns: Sequence[Any], prototypes: Sequence[Any] | None) -> bool:
        """Whether the values of these pairs were computed for the largest, and not used yet."""
        return any(known is patterns and against is prototypes for known, against, _ in self.computed)


def _table(function: Callable[[Any, Any], float], rows: Sequence[Any], columns: Sequence[Any]) -> Matrix:
    return np.array([[_value(function, a, b) for b in columns] for a in rows])


def _symmetric_table(function: Callable[[Any, Any], float], patterns: Sequence[Any]) -> Matrix:
    table = np.zeros((len(patterns), len(patterns)))
    for i, a in enumerate(patterns):
        for j in range(i + 1):
            table[i, j] = table[j, i] = _value(function, a, patterns[j])
    return table


def _value(function: Callable[[Any, Any], float], a: Any, b: Any) -> float:
    value = function(a, b)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"the measure must return a number; it returned {value!r}") from None
    if not 0 <= number < np.inf:
        raise ValueError(f"the measure must return a finite number >= 0; it returned {number:g}")
    return number
