"""The unit in which numbers are compared, so that no square of a huge or tiny value overflows or vanishes."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from eocc.base.checks import integer, numbers, real
from eocc.base.types import Matrix
from eocc.measures.protocol import FittedMeasure, Measure

# Rows farther out than this many training ranges are clipped, so that squares stay finite. departure: far patterns
FARTHEST = 1e150
# A column whose variation is below this share of its largest value varies only by rounding.
CONSTANT_SHARE = 1e-14
# A smaller divisor counts as 0: with it, the distance of a row so far out would be infinite.
LEAST_DIVISOR = 1e-150
# Doubles reach from 2**-1074 to 2**1024.
EXPONENTS = 1100


@dataclass(frozen=True, eq=False)
class Unit:
    """Rows minus `centre`, the middle of each column, divided by 2**exponent, which is exact."""

    centre: Annotated[Matrix, numbers("d")]
    exponent: Annotated[int, integer(-EXPONENTS, EXPONENTS)]

    @classmethod
    def of(cls, rows: Matrix) -> "Unit":
        """Return the unit in which the training rows lie within 1 of their centre."""
        # Halve first: the range of a column may exceed the largest float, its middle does not.
        centre = rows.min(axis=0) / 2 + rows.max(axis=0) / 2
        return cls(centre, int(np.frexp(np.abs(rows - centre).max())[1]))

    # What each column is divided by besides.
    divisors: ClassVar[Any] = 1.0

    def measure(self, rows: Matrix) -> Matrix:
        """Return the rows in this unit."""
        scaled = np.subtract(rows, self.centre, order="C", dtype=np.float64)
        with np.errstate(over="ignore"):
            # Up to this exponent a quotient equals ldexp, and is faster.
            if abs(self.exponent) <= 1000:
                scaled /= self.divisors * 2.0**self.exponent
            else:
                np.ldexp(scaled, -self.exponent, out=scaled)
        return np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)

    def restored(self, measured: Matrix) -> Matrix:
        """Return rows in this unit as rows of the data."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(measured * self.divisors, self.exponent) + self.centre)

    @property
    def factors(self) -> Matrix:
        """What each column, less its centre, is multiplied by."""
        return np.asarray(np.ldexp(np.ones(len(self.centre)) / self.divisors, -self.exponent))


@dataclass(frozen=True, eq=False)
class StandardUnit(Unit):
    """Rows minus `centre`, each column divided by `spreads`, its standard deviation in training.

    A constant column keeps its own scale. The exponent is 0.
    """

    spreads: Annotated[Matrix, numbers("d")]

    def __post_init__(self) -> None:
        if self.spreads.shape != self.centre.shape or not (self.spreads > 0).all():
            raise ValueError("a unit needs one positive standard deviation per column")

    @classmethod
    def of(cls, rows: Matrix) -> "StandardUnit":
        """Return the unit in which every column of the training rows has a standard deviation of 1."""
        centre = Unit.of(rows).centre
        apart = rows - centre
        reach = np.abs(apart).max(axis=0)
        exponents = np.frexp(reach)[1]  # scale each column by its own power of two, so that its squares are below 1
        spreads = np.ldexp(np.ldexp(apart, -exponents).std(axis=0), exponents)
        is_constant = reach <= CONSTANT_SHARE * np.abs(rows).max(axis=0)
        return cls(centre, 0, np.where(is_constant | (spreads == 0), 1.0, spreads))

    @property
    def divisors(self) -> Any:
        """The standard deviation of each column."""
        return self.spreads


@dataclass(frozen=True, eq=False)
class FittedInUnit(FittedMeasure):
    """A measure of numbers with its divisor delta, which is `largest` in the `unit`."""

    unit: Unit
    largest: Annotated[float, real(f"[{LEAST_DIVISOR}, inf)")]

    @property
    def n_parameters(self) -> int:
        """One weight per column."""
        return len(self.unit.centre)

    @property
    def delta(self) -> float:
        """The divisor in the unit of the data, or in standard deviations; 1 if all training patterns are equal."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(self.largest, self.unit.exponent))

    def divided(self, largest: float) -> Self:
        """Return the measure with that divisor, or without any scaling if it is as good as 0."""
        if largest >= LEAST_DIVISOR:
            return replace(self, largest=largest)
        return replace(self, unit=replace(self.unit, exponent=0), largest=1.0)


class MeasureInUnit(Measure):
    """A measure that is divided by its largest value in training at p = 1.

    Its method `unscaled` returns the fitted measure with its unit, and the divisor 1. Its fitted measure has a method
    `largest_of(training, prototypes)`, the largest d(x, y; 1) of a training pattern and a prototype, or of two training
    patterns if there are no prototypes.
    """

    def fit(self, training: Any) -> Any:
        """Fix the unit, and as delta the largest dissimilarity of two training patterns."""
        return self.fit_against(training, None)

    def fit_against(self: Any, training: Any, prototypes: Any) -> Any:
        """Fix the unit, and as delta the largest dissimilarity of a training pattern and a prototype."""
        unscaled = self.unscaled(training)
        return unscaled.divided(unscaled.largest_of(training, prototypes))
