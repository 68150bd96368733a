"""Tanimoto dissimilarity of binary fingerprints."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.threads import for_each_block
from eocc.kernels.fingerprints import count_row_bits, tanimoto_rows
from eocc.measures.fixed import FixedPrepared

Bits = NDArray[np.bool_]

BLOCK = 64  # patterns to a piece of work
WORD = 64


@dataclass(frozen=True)
class Tanimoto:
    """d(a, b) = 1 - |a and b| / |a or b| for rows of bits; two rows without a one are 0 apart. No parameters.

    Patterns are the rows of a 2-D array of booleans, or of zeros and ones.

    >>> X = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 0]], dtype=bool)
    >>> Tanimoto().fit(X).prepare(X).evaluate(np.empty(0))
    array([[0.        , 0.66666667, 1.        ],
           [0.66666667, 0.        , 1.        ],
           [1.        , 1.        , 0.        ]])
    """

    def read(self, X: Any) -> Bits:
        """Return a copy of X as booleans."""
        rows = _array(X)
        if rows.ndim != 2 or rows.shape[1] == 0:
            raise ValueError(f"X must be 2-D, a row of bits per pattern, not of shape {rows.shape}")
        if len(rows) == 0:
            raise ValueError("X holds no fingerprints; at least 1 is required")
        is_bit = np.asarray((rows == 0) | (rows == 1), bool)
        if not is_bit.all():
            i, j = np.argwhere(~is_bit)[0]
            raise ValueError(f"X must hold 0 and 1 only, but X[{i}, {j}] is {rows[i, j]}; write X > threshold")
        return np.asarray(rows == 1, bool)

    def fit(self, training: Bits) -> "FittedTanimoto":
        """Fix the number of bits."""
        return FittedTanimoto(training.shape[1])


def _array(X: Any) -> NDArray[Any]:
    """Return X as an array of numbers or booleans."""
    if hasattr(X, "toarray"):
        raise ValueError("X must be a dense array of bits: pass X.toarray()")
    try:
        rows = np.asarray(X)
    except ValueError:
        raise ValueError("X must hold rows of bits, all of one length") from None
    try:
        return rows if rows.dtype.kind in "biuf" else rows.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold 0 and 1 only: {error}") from None


@dataclass(frozen=True)
class FittedTanimoto:
    """The Tanimoto dissimilarity of fingerprints of `n_bits` bits."""

    n_bits: int
    n_parameters: int = 0

    def prepare(self, patterns: Bits, prototypes: Bits | None = None) -> FixedPrepared:
        """Count the common bits of all pairs: whole numbers but for one division."""
        left = self._packed(patterns)
        right = left if prototypes is None else self._packed(prototypes)
        out = np.empty((len(patterns), len(right[0])))

        def fill(start: int, stop: int) -> None:
            tanimoto_rows(left[0][start:stop], left[1][start:stop], *right, out[start:stop])

        for_each_block(len(out), BLOCK, fill)
        return FixedPrepared(out)

    def _packed(self, rows: Bits) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the rows packed in words, zeros after the last bit; and the ones in each row."""
        if rows.shape[1] != self.n_bits:
            raise ValueError(f"X has {rows.shape[1]} bits a row, but {self.n_bits} were trained on")
        whole = np.zeros((len(rows), -(-self.n_bits // WORD) * (WORD // 8)), np.uint8)
        packed = np.packbits(rows, axis=1)
        whole[:, : packed.shape[1]] = packed
        words, counts = whole.view(np.uint64), np.empty(len(rows), np.int64)
        count_row_bits(words, counts)
        return words, counts
