"""The unit in which rows of numbers are measured: no square of a huge or tiny value overflows or vanishes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Matrix

# New patterns farther than this many times the training range are all equally far, so that squares stay
# finite. departure: far patterns
FARTHEST = 1e150
# A column that varies less than this beside its largest value does so by rounding.
CONSTANT = 1e-14
# Up to here a power of two is a normal number, and a product with it, which is quicker, what ldexp gives.
MOST_BY_PRODUCT = 1000


@dataclass(frozen=True, eq=False)
class Unit:
    """Rows are counted from `centre`, the middle of each column, in units of 2**exponent, which costs no digits.

    >>> unit = Unit.of(np.array([[0.0], [6.0]]))
    >>> unit.measure(np.array([[0.0], [6.0], [9.0]])).ravel()
    array([-0.75,  0.75,  1.5 ])
    """

    centre: Matrix
    exponent: int

    @classmethod
    def of(cls, rows: Matrix) -> "Unit":
        """Return the unit in which the training rows lie within 1 of their centre."""
        # Halves first: the range of a column may exceed the largest float, its middle does not.
        centre = rows.min(axis=0) / 2 + rows.max(axis=0) / 2
        return cls(centre, int(np.frexp(np.abs(rows - centre).max())[1]))

    def measure(self, rows: Matrix) -> Matrix:
        """Return the rows in this unit."""
        scaled = np.subtract(rows, self.centre, order="C", dtype=np.float64)
        with np.errstate(over="ignore"):
            if abs(self.exponent) <= MOST_BY_PRODUCT:
                scaled *= 2.0**-self.exponent
            else:
                np.ldexp(scaled, -self.exponent, out=scaled)
        return np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)

    def along(self, active: NDArray[np.bool_]) -> "Unit":
        """Return the unit of some of the columns."""
        return Unit(self.centre[active], self.exponent)

    def length(self, measured: float) -> float:
        """Return a distance measured in this unit in the rows' own."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(measured, self.exponent))

    def plain(self) -> "Unit":
        """Return the unit for rows that are all equal: the same centre, their own scale."""
        return Unit(self.centre, 0)


@dataclass(frozen=True, eq=False)
class StandardUnit(Unit):
    """Rows counted from `centre`, each column over `spreads`, its standard deviation in training.

    A column that never varied keeps its own scale. The exponent is 0, as columns may differ by any power.

    >>> unit = StandardUnit.of(np.array([[0.0, 7.0], [6.0, 7.0]]))
    >>> unit.measure(np.array([[0.0, 7.0], [9.0, 7.0]]))
    array([[-1.,  0.],
           [ 2.,  0.]])
    """

    spreads: Matrix

    @classmethod
    def of(cls, rows: Matrix) -> "StandardUnit":
        """Return the unit in which every column of the training rows has a standard deviation of 1."""
        centre = Unit.of(rows).centre
        apart = rows - centre
        reach = np.abs(apart).max(axis=0)
        exponents = np.frexp(reach)[1]  # each column by its own power of two: its squares are those of numbers below 1
        spreads = np.ldexp(np.ldexp(apart, -exponents).std(axis=0), exponents)
        is_constant = reach <= CONSTANT * np.abs(rows).max(axis=0)
        return cls(centre, 0, np.where(is_constant | (spreads == 0), 1.0, spreads))

    def measure(self, rows: Matrix) -> Matrix:
        """Return the rows in this unit."""
        with np.errstate(over="ignore"):
            scaled = np.subtract(rows, self.centre, order="C", dtype=np.float64)
            if self.exponent:
                np.ldexp(scaled, -self.exponent, out=scaled)
            scaled /= self.spreads
        return np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)

    def along(self, active: NDArray[np.bool_]) -> "StandardUnit":
        """Return the unit of some of the columns."""
        return StandardUnit(self.centre[active], self.exponent, self.spreads[active])

    def length(self, measured: float) -> float:
        """Return the distance itself: it is counted in standard deviations."""
        return measured

    def plain(self) -> "StandardUnit":
        """Return the unit for rows that are all equal: the same centre, their own scale."""
        return StandardUnit(self.centre, 0, np.ones_like(self.centre))
