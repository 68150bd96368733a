"""Hamming dissimilarity of sequences of equal length, one weight per position."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eocc.foundation.checks import integer
from eocc.foundation.types import Matrix
from eocc.foundation.wording import shortened, to_json
from eocc.kernels.gower import gower_cross_dissimilarities
from eocc.measures.base import RegisteredFitted, RegisteredMeasure
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.objects import Objects
from eocc.measures.schema import DataSchema
from eocc.measures.sequences import are_sequences, read_sequences, sequence_schema


@dataclass(frozen=True, eq=False)
class PreparedHamming:
    """Symbols as codes: one row per pattern, and one row per position of the prototypes."""

    rows: Matrix
    prototype_columns: Matrix

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return the weighted share of positions that differ (n, r)."""
        out = np.empty((len(self.rows), self.prototype_columns.shape[1])) if out is None else out
        n_positions = self.rows.shape[1]
        is_code, absent = np.ones(n_positions, bool), np.zeros(n_positions)
        gower_cross_dissimilarities(self.rows, self.prototype_columns, is_code, absent, p, out)
        return out


@dataclass(frozen=True)
class FittedHamming(RegisteredFitted):
    """The Hamming dissimilarity of sequences of `n_parameters` symbols."""

    n_parameters: int
    stored: ClassVar = {"n_parameters": integer(1, 2**40)}

    def prepare(self, patterns: Any, prototypes: Any = None) -> PreparedHamming:
        """Encode the symbols of all sequences as numbers."""
        codes: dict[Any, int] = {}
        rows = self._encoded(patterns, codes)
        others = rows if prototypes is None else self._encoded(prototypes, codes)
        return PreparedHamming(rows, np.ascontiguousarray(others.T))

    def weight_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Return the positions."""
        return [f"position {k}" for k in range(self.n_parameters)]

    def difference(self, pair: Pair) -> Difference:
        """Return one contribution per position that differs: p_k / m."""
        contributions = tuple(
            Contribution(
                float(weight) / self.n_parameters,
                f"position {k}: {shortened(repr(here))}, {pair.called} {shortened(repr(there))}",
                {"position": k, "value": to_json(here), "prototype": to_json(there), "weight": float(weight)},
                group="position",
            )
            for k, (here, there, weight) in enumerate(
                zip(pair.pattern[0], pair.prototype[0], pair.weights, strict=True)
            )
            if {here: None} != {there: None}  # equal as keys of a dictionary, as in `prepare`
        )
        return Difference(pair.dissimilarity, contributions, "by position")

    def schema(self, prototypes: Any, names: Sequence[str] | None = None) -> DataSchema:
        """Return the schema of strings, or of lists of tokens."""
        return sequence_schema(prototypes)

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are strings or tuples of the right length."""
        return are_sequences(patterns) and all(len(one) == self.n_parameters for one in patterns)

    def _encoded(self, sequences: Any, codes: dict[Any, int]) -> Matrix:
        """Return one code per symbol (n, m); `codes` numbers the symbols in the order in which they occur."""
        odd = next((len(one) for one in sequences if len(one) != self.n_parameters), None)
        if odd is not None:
            raise ValueError(
                f"a sequence has {odd} symbols, the training sequences {self.n_parameters}; "
                "measure='string-edit' compares sequences of unequal length"
            )
        return np.array([[codes.setdefault(symbol, len(codes)) for symbol in one] for one in sequences], np.float64)


@dataclass(frozen=True)
class Hamming(RegisteredMeasure):
    """d(x, y; p) = sum_k p_k [x_k != y_k] / m for sequences of m symbols, one weight p_k per position.

    With all weights at 1 it is the share of positions that differ. Patterns are strings, or lists of hashable tokens,
    all of the same length.

    >>> fitted = Hamming().fit(["AB-12", "AB-99"])
    >>> fitted.prepare(["AB-12", "CB-19"], ["AB-12"]).evaluate(np.array([1.0, 1.0, 1.0, 1.0, 0.5]))
    array([[0. ],
           [0.3]])
    """

    fitted_class: ClassVar = FittedHamming
    stored_classes: ClassVar = (FittedHamming,)

    def read(self, X: Any) -> Objects:
        """Return X as strings, or as tuples of tokens."""
        sequences = read_sequences(X)
        for k, one in enumerate(sequences):
            if not one or len(one) != len(sequences[0]):
                raise ValueError(
                    f"X[{k}] has {len(one)} symbols, X[0] has {len(sequences[0])}; sequences must be of equal length, "
                    "at least 1; measure='string-edit' compares others"
                )
        return sequences

    def fit(self, training: Any) -> FittedHamming:
        """Fix the length of the sequences."""
        return FittedHamming(len(training[0]))
