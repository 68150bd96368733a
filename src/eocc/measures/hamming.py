"""Hamming dissimilarity of sequences of equal length, one weight per position."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eocc.foundation.checks import integer
from eocc.foundation.types import Matrix
from eocc.foundation.wording import shortened, to_json
from eocc.measures.cells import Cells
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.objects import Objects
from eocc.measures.strings import FittedSequences, Sequences
from eocc.measures.tables import MixedRows


@dataclass(frozen=True)
class FittedHamming(FittedSequences):
    """The Hamming dissimilarity of sequences of `n_parameters` symbols."""

    n_parameters: int
    stored: ClassVar = {"n_parameters": integer(1, 2**40)}
    weighs: ClassVar = "position"

    def prepare(self, patterns: Any, prototypes: Any = None) -> MixedRows:
        """Encode the symbols of all sequences as numbers."""
        codes: dict[Any, int] = {}
        rows = self._encoded(patterns, codes)
        columns = np.ascontiguousarray((rows if prototypes is None else self._encoded(prototypes, codes)).T)
        return MixedRows(rows, columns, np.ones(self.n_parameters, bool))

    def difference(self, pair: Pair) -> Difference:
        """Return one contribution per position that differs: p_k / m."""
        contributions = []
        symbols = zip(pair.pattern[0], pair.prototype[0], pair.weights.tolist(), strict=True)
        for k, (here, there, weight) in enumerate(symbols):
            if {here: None} != {there: None}:  # equal as keys of a dictionary, as in `prepare`
                text = f"position {k}: {shortened(repr(here))}, {pair.called} {shortened(repr(there))}"
                details = {"position": k, "value": to_json(here), "prototype": to_json(there), "weight": weight}
                contributions.append(Contribution(weight / self.n_parameters, text, details, group="position"))
        return Difference(pair.dissimilarity, tuple(contributions), "by position")

    def cells(self, patterns: Any, prototypes: Any, names: Sequence[str] | None = None) -> Cells:
        """Return the symbols as codes."""
        pairs = self.prepare(patterns, prototypes)
        return Cells(
            tuple(self.weight_names()), pairs.rows, pairs.prototype_columns, pairs.is_code,
            lambda i, k: shortened(repr(patterns[i][k])), lambda j, k: shortened(repr(prototypes[j][k])),
        )  # fmt: skip

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are strings or tuples of the right length."""
        return super().accepts(patterns) and all(len(one) == self.n_parameters for one in patterns)

    def _encoded(self, sequences: Any, codes: dict[Any, int]) -> Matrix:
        """Return one code per symbol (n, m); `codes` numbers the symbols in the order in which they occur."""
        odd = next((len(one) for one in sequences if len(one) != self.n_parameters), None)
        if odd is not None:
            lengths = f"a sequence has {odd} symbols, the training sequences {self.n_parameters}"
            raise ValueError(f"{lengths}; measure='string-edit' compares sequences of unequal length")
        return np.array([[codes.setdefault(symbol, len(codes)) for symbol in one] for one in sequences], np.float64)


@dataclass(frozen=True)
class Hamming(Sequences):
    """d(x, y; p) = sum_k p_k [x_k != y_k] / m for sequences of m symbols, one weight p_k per position.

    With all weights at 1 it is the share of positions that differ. Patterns are strings, or lists of hashable tokens,
    all of the same length.

    >>> fitted = Hamming().fit(["AB-12", "AB-99"])
    >>> fitted.prepare(["AB-12", "CB-19"], ["AB-12"]).evaluate(np.array([1.0, 1.0, 1.0, 1.0, 0.5]))
    array([[0. ],
           [0.3]])
    """

    fitted_class: ClassVar = FittedHamming

    def read(self, X: Any) -> Objects:
        """Return X as strings, or as tuples of tokens."""
        sequences = super().read(X)
        for k, one in enumerate(sequences):
            if not one or len(one) != len(sequences[0]):
                lengths = f"X[{k}] has {len(one)} symbols, X[0] has {len(sequences[0])}"
                wanted = "sequences must be of equal length, at least 1; measure='string-edit' compares others"
                raise ValueError(f"{lengths}; {wanted}")
        return sequences

    def fit(self, training: Any) -> FittedHamming:
        """Fix the length of the sequences."""
        return FittedHamming(len(training[0]))
