"""Tanimoto dissimilarity of binary fingerprints."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.checks import array_of, integer
from eocc.foundation.registry import listed
from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Flags, Indices
from eocc.foundation.wording import counted
from eocc.kernels.fingerprints import count_row_bits, tanimoto_rows
from eocc.measures.base import LinearPrepared
from eocc.measures.difference import Difference, Pair
from eocc.measures.protocol import FittedMeasure, Measure
from eocc.measures.schema import DataSchema, rows_schema
from eocc.measures.sets import unshared_difference

PATTERNS_PER_TASK = 64  # patterns per task
WORD = 64


@dataclass(frozen=True)
class FittedTanimoto(FittedMeasure):
    """The Tanimoto dissimilarity of fingerprints of `n_bits` bits."""

    n_bits: int
    n_parameters: int = 0
    stored: ClassVar = {"n_bits": integer(1, 2**40)}

    def prepare(self, patterns: Flags, prototypes: Flags | None = None) -> LinearPrepared:
        """Count the common bits of all pairs."""
        left = self._packed(patterns)
        right = left if prototypes is None else self._packed(prototypes)
        out = np.empty((len(patterns), len(right[0])))

        def fill(start: int, stop: int) -> None:
            tanimoto_rows(left[0][start:stop], left[1][start:stop], *right, out[start:stop])

        for_each_block(len(out), PATTERNS_PER_TASK, fill, f"comparing {counted(len(out), 'fingerprint')}")
        return LinearPrepared(out[None])

    def difference(self, pair: Pair) -> Difference:
        """Return what the bits set in only one of the rows add: 1 / |a or b| each. Shared bits add nothing."""
        return unshared_difference(pair, _ones(pair.pattern), _ones(pair.prototype), "bit")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return how many bits are set, and the first of them, for example "2 of 4 bits: 0, 2"."""
        ones = _ones(pattern)
        return f"{len(ones)} of {self.n_bits} bits" + (f": {listed(map(str, ones), 6)}" if ones else "")

    def schema(self, prototypes: Any, names: Sequence[str] | None = None) -> DataSchema:
        """Return one number per bit."""
        return rows_schema(self.n_bits, names)

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are rows of that many booleans."""
        return array_of(np.bool_, 2)(patterns) and patterns.shape[1] == self.n_bits

    def _packed(self, rows: Flags) -> tuple[NDArray[np.uint64], Indices]:
        """Return the rows packed into words, with zeros after the last bit, and the number of ones per row."""
        if rows.shape[1] != self.n_bits:
            raise ValueError(f"X has {rows.shape[1]} bits per row; the training rows had {self.n_bits}")
        packed = np.packbits(rows, axis=1)
        words = np.pad(packed, ((0, 0), (0, -packed.shape[1] % (WORD // 8)))).view(np.uint64)
        counts = np.empty(len(rows), np.int64)
        count_row_bits(words, counts)
        return words, counts


@dataclass(frozen=True)
class Tanimoto(Measure):
    """d(a, b) = 1 - |a and b| / |a or b| for rows of bits; two rows of zeros have d = 0. No parameters.

    Patterns are the rows of a 2-D array of booleans, or of zeros and ones.

    >>> X = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 0]], dtype=bool)
    >>> Tanimoto().fit(X).prepare(X).evaluate(np.empty(0))
    array([[0.        , 0.66666667, 1.        ],
           [0.66666667, 0.        , 1.        ],
           [1.        , 1.        , 0.        ]])
    """

    fitted_class: ClassVar = FittedTanimoto

    def read(self, X: Any) -> Flags:
        """Return a copy of X as booleans."""
        if hasattr(X, "toarray"):
            raise ValueError("X must be a dense array of bits: pass X.toarray()")
        rows = _array(X)
        if rows.ndim != 2 or rows.shape[1] == 0:
            raise ValueError(f"X must be 2-D, one row of bits per pattern, not of shape {rows.shape}")
        if len(rows) == 0:
            raise ValueError("X holds no fingerprints; at least 1 is required")
        is_bit = np.asarray((rows == 0) | (rows == 1), bool)
        if not is_bit.all():
            i, j = np.argwhere(~is_bit)[0]
            raise ValueError(f"X must hold only 0 and 1, but X[{i}, {j}] is {rows[i, j]}; write X > threshold")
        return np.asarray(rows == 1, bool)

    def fit(self, training: Flags) -> FittedTanimoto:
        """Fix the number of bits."""
        return FittedTanimoto(training.shape[1])


def _ones(pattern: Any) -> list[int]:
    return [int(bit) for bit in np.flatnonzero(pattern[0])]


def _array(X: Any) -> NDArray[Any]:
    """Return X as an array of numbers or booleans."""
    try:
        rows = np.asarray(X)
    except ValueError:
        raise ValueError("X must hold rows of bits, all of one length") from None
    try:
        return rows if rows.dtype.kind in "biuf" else rows.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold only 0 and 1: {error}") from None
