"""A user's own measure: any object with a method `fit`, whose result has a method `prepare`."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from eocc.measures.base import LinearPrepared, n_columns_of
from eocc.measures.protocol import DOUBLE, FittedMeasure, Measure, Prepared

# What is not taken over.
KEPT = ("called", "fitted_class", "part_measures", "prepare")


class OwnFitted(FittedMeasure):
    """A fitted measure of a user's own, with the defaults of FittedMeasure for what it lacks."""

    def __init__(self, own: Any) -> None:
        self.own = own
        _take_over(self, own, FittedMeasure)

    @property
    def called(self) -> str:
        """The name of the user's class."""
        return type(self.own).__name__

    def prepare(self, patterns: Any, prototypes: Any = None) -> Prepared:
        """Prepare the pairs; the user's measure may also return the array d (n, r), or the components (u, n, r)."""
        prepared: Any = self.own.prepare(patterns, prototypes)
        if isinstance(prepared, np.ndarray):
            components = prepared if prepared.ndim == 3 else prepared[None]
            return LinearPrepared(np.ascontiguousarray(components, np.float64))
        return prepared  # type: ignore[no-any-return]


class OwnMeasure(Measure):
    """A measure of a user's own, with the defaults of Measure for what it lacks."""

    fitted_class: ClassVar = OwnFitted

    def __init__(self, own: Any) -> None:
        self.own = own
        _take_over(self, own, Measure)

    @property
    def called(self) -> str:
        """The name of the user's class."""
        return type(self.own).__name__

    def pair_bytes(self, patterns: Any) -> float:
        """Return a guess: one matrix per column, and d."""
        return DOUBLE * (1 + n_columns_of(patterns))


def _take_over(made: Any, own: Any, defaults: type) -> None:
    """Give an object the user's attributes in place of the defaults; what a user's fit returns is completed too."""
    for name in dir(defaults):
        if not name.startswith("_") and name not in KEPT and hasattr(own, name):
            value = getattr(own, name)
            setattr(made, name, partial(_completed, value) if name.startswith("fit") else value)


def _completed(fit: Callable[..., Any], *sides: Any) -> FittedMeasure:
    fitted = fit(*sides)
    return fitted if isinstance(fitted, FittedMeasure) else OwnFitted(fitted)
