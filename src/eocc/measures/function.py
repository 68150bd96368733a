"""A user's own measure: any function of two objects, or an object with a method `fit`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from eocc.base.progress import track
from eocc.base.types import Matrix
from eocc.base.wording import counted
from eocc.measures.base import LinearPrepared, n_columns_of
from eocc.measures.objects import Objects, read_objects
from eocc.measures.protocol import FittedMeasure, Measure, Prepared, prepare


@dataclass(frozen=True)
class FunctionMeasure(Measure):
    """d(x, y) = f(x, y) / the largest training value, for any symmetric, nonnegative function of two objects.

    f is checked on a sample of the training patterns: it must return finite numbers >= 0, be symmetric, and return 0
    for a pattern and itself.

    >>> measure = FunctionMeasure(lambda a, b: abs(len(a) - len(b)))
    >>> measure.fit(Objects(["a", "bcd"])).prepare(Objects(["abcdef"]), Objects(["a", "bcd"])).evaluate(np.empty(0))
    array([[2.5, 1.5]])
    """

    function: Callable[[Any, Any], float]
    pair_floats: ClassVar = 2  # the table and its quotient

    def read(self, X: Any) -> Objects:
        """Return X, which may be any sequence of objects."""
        return read_objects(X, "objects")

    def fit(self, training: Sequence[Any]) -> "FittedFunction":
        """Check the function on a sample and find the largest training value."""
        return self.fit_against(training, None)

    def fit_against(self, training: Any, prototypes: Any) -> "FittedFunction":
        """Check the function on a sample and find the largest value against a prototype."""
        self._check_symmetry(training)
        table = prepare(FittedFunction(self.function, 1.0, []), training, prototypes).evaluate(np.empty(0))
        return FittedFunction(self.function, float(table.max()) or 1.0, [(training, prototypes, table)])

    def _check_symmetry(self, training: Sequence[Any]) -> None:
        # Ten training patterns are first compared both ways and with themselves.
        drawn = np.random.default_rng(0).permutation(len(training))[:10]
        sample = [training[i] for i in drawn.tolist()]
        forth = _table(self.function, sample, sample)
        if not np.allclose(forth, forth.T, rtol=1e-9, atol=1e-12):
            i, j = np.unravel_index(np.argmax(np.abs(forth - forth.T)), forth.shape)
            found = f"{forth[i, j]:g} one way and {forth[j, i]:g} the other"
            raise ValueError(f"the measure is not symmetric: {found}; use (f(a, b) + f(b, a)) / 2")
        if (own := forth.diagonal().max()) > 1e-6 * forth.max():
            hint = "is it a similarity? If s is at most 1, use 1 - s"
            raise ValueError(f"the measure of a pattern and itself must be 0; it is {own:g}: {hint}")


@dataclass(frozen=True, eq=False)
class FittedFunction(FittedMeasure):
    """A function of two objects with its divisor, and the table of the training pairs until it is used."""

    function: Callable[[Any, Any], float]
    largest: float
    computed: list[tuple[Sequence[Any], Sequence[Any] | None, Matrix]]
    n_parameters: int = 0
    is_costly: ClassVar = True

    def prepare(self, patterns: Sequence[Any], prototypes: Sequence[Any] | None = None) -> LinearPrepared:
        """Call the function for every pair; among the patterns themselves, only once per pair.

        The table of the training pairs, from which `fit` found the largest value, is used once and then dropped.
        """
        known = self.knows(patterns, prototypes)
        table = self.computed.pop()[2] if known else _table(self.function, patterns, prototypes)
        return LinearPrepared(table[None] / self.largest)

    def knows(self, patterns: Any, prototypes: Any) -> bool:
        """Return whether `fit` has computed these pairs and they were not used yet."""
        return any(known is patterns and against is prototypes for known, against, _ in self.computed)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return FittedFunction, (self.function, self.largest, [])  # a copy of the patterns would not find the table


def _table(function: Callable[[Any, Any], float], rows: Sequence[Any], columns: Sequence[Any] | None) -> Matrix:
    table = np.empty((len(rows), len(rows if columns is None else columns)))
    for i, a in enumerate(track(f"comparing {counted(len(rows), 'row')}", rows)):
        if columns is not None:
            table[i] = [_value(function, a, b) for b in columns]
            continue
        for j in range(i + 1):
            table[i, j] = table[j, i] = _value(function, a, rows[j])
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


# What is not taken over.
KEPT = ("called", "fitted_class", "measures", "prepare")


class _Own:
    """An object of a user, whose attributes replace the defaults; what a user's fit returns is completed too."""

    def __init__(self, own: Any) -> None:
        self.own, self.called = own, type(own).__name__
        for name in dir(type(self)):
            if not name.startswith("_") and name not in KEPT and hasattr(own, name):
                value = getattr(own, name)
                setattr(self, name, partial(_completed, value) if name.startswith("fit") else value)


class OwnFitted(_Own, FittedMeasure):
    """A fitted measure of a user's own, with the defaults of FittedMeasure for what it lacks."""

    def prepare(self, patterns: Any, prototypes: Any = None) -> Prepared:
        """Prepare the pairs; the user's measure may also return the array d (n, r), or the components (u, n, r)."""
        prepared: Any = self.own.prepare(patterns, prototypes)
        if isinstance(prepared, np.ndarray):
            components = prepared if prepared.ndim == 3 else prepared[None]
            return LinearPrepared(np.ascontiguousarray(components, np.float64))
        return prepared  # type: ignore[no-any-return]


class OwnMeasure(_Own, Measure):
    """A measure of a user's own, with the defaults of Measure for what it lacks."""

    fitted_class: ClassVar = OwnFitted

    def pair_bytes(self, patterns: Any) -> float:
        """Return a guess: one matrix per column, and d."""
        return 8.0 * (1 + n_columns_of(patterns))


def _completed(fit: Callable[..., Any], *sides: Any) -> FittedMeasure:
    fitted = fit(*sides)
    return fitted if isinstance(fitted, FittedMeasure) else OwnFitted(fitted)
