"""What the measures of this package have beyond the protocol: storage, cost, file schema, explanations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eocc.foundation.checks import Check
from eocc.foundation.threads import in_blocks
from eocc.foundation.types import Matrix
from eocc.kernels.combination import combine
from eocc.measures.difference import Difference, Pair, number_difference, printed
from eocc.measures.objects import Objects
from eocc.measures.schema import DataSchema

DOUBLE = 8.0
# The number of patterns whose sizes are averaged.
N_SIZED = 100


class RegisteredMeasure:
    """Defaults for a measure of this package.

    `stored` maps each constructor argument to a check of its value, and `fitted_class` is the class that `fit` returns.
    `stored_classes` are further classes that a model file may name; each has its own `stored`.
    """

    stored: ClassVar[Mapping[str, Check]] = {}
    fitted_class: ClassVar[type]
    stored_classes: ClassVar[tuple[type, ...]] = ()
    # Whether X holds dissimilarities instead of patterns.
    is_pairwise: ClassVar[bool] = False
    # How many floats are held per pair while pairs are prepared; 0 if pairs are computed in blocks, never kept.
    pair_floats: ClassVar[int] = 1

    def fit(self, training: Any) -> Any:
        """Return the fitted measure; this one learns nothing from the training patterns."""
        return self.fitted_class()

    def pair_bytes(self, patterns: Any) -> float:
        """Return the bytes held per pair while pairs are prepared."""
        return DOUBLE * self.pair_floats


class RegisteredFitted:
    """Defaults for a fitted measure of this package."""

    stored: ClassVar[Mapping[str, Check]] = {}
    # Whether a pair takes so long to compare that a cluster is worth it.
    is_costly: ClassVar[bool] = False
    # The kind of data in a file that can be scored, one of eocc.measures.KINDS; "" if there is none.
    kind: ClassVar[str] = ""
    # What an entry of p weighs: one name per entry, or a noun that is numbered.
    weighs: ClassVar[str | tuple[str, ...]] = "weight"
    # The classes that patterns in Objects may have; any if there are none.
    pattern_classes: ClassVar[tuple[type, ...]] = ()
    n_parameters: Any

    def weight_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Return what each entry of p weighs; `names` are the names of the columns, if known."""
        if isinstance(self.weighs, tuple):
            return list(self.weighs)
        return [f"{self.weighs} {k}" for k in range(self.n_parameters)]

    def difference(self, pair: Pair) -> Difference:
        """Return contributions that add up to the dissimilarity of the pair, if the measure has any."""
        return number_difference(pair)

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return a few words on a pattern, which is given as patterns of length 1."""
        return printed(pattern)

    def schema(self, prototypes: Any, names: Sequence[str] | None = None) -> DataSchema:
        """Return what a file must hold to be scored; `names` are the names of the columns, if known."""
        if not self.kind:
            raise ValueError(f"a model with {type(self).__name__} cannot score files; score in Python")
        return DataSchema(self.kind)

    def check_patterns(self, patterns: Any) -> None:
        """Raise a ValueError unless the patterns of a model file are what the measure can compare."""
        if not self.accepts(patterns):
            raise ValueError(f"the training patterns are not what {type(self).__name__} compares")

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns have the right types and shapes."""
        known = self.pattern_classes
        return not known or (type(patterns) is Objects and all(type(pattern) in known for pattern in patterns))

    def comparison_work(self, patterns: Any) -> int:
        """Return about how many table cells it takes to compare the first pattern with all.

        0 means that comparing takes no longer than reading the patterns.
        """
        return 0

    def knows(self, patterns: Any, prototypes: Any) -> bool:
        """Return whether `prepare` already has the dissimilarities of these pairs."""
        return False

    def mirrored(self, components: Matrix, patterns: Any, prototypes: Any) -> Matrix:
        """Return the components (u, r, n) of prototypes against patterns from those of patterns against prototypes."""
        return np.ascontiguousarray(components.transpose(0, 2, 1))


@dataclass(frozen=True, eq=False)
class LinearPrepared:
    """The components C (u, n, r), computed once. A measure without parameters has one component, d itself.

    >>> LinearPrepared(np.array([[[1.0, 2.0]], [[0.5, 0.25]]])).evaluate(np.array([1.0, 4.0]))
    array([[3., 3.]])
    >>> LinearPrepared(np.array([[[0.0, 0.5]]])).evaluate(np.empty(0))
    array([[0. , 0.5]])
    """

    components: Matrix

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return sum_k p_k C_k (n, r), summed in the order of the components."""
        out = np.empty(self.components.shape[1:]) if out is None else out
        weights = p if len(p) else np.ones(1)
        in_blocks(out, lambda some: combine(self.components, weights, some.start, out[some]))
        return out


def neutral_weights(measure: Any) -> Matrix:
    """Return the p without a search: what the measure says, otherwise all ones."""
    return np.array(getattr(measure, "neutral_weights", np.ones(measure.n_parameters)))


def n_columns_of(patterns: Any) -> int:
    """Return the size of a pattern: the columns of a table, else the mean size of some patterns.

    >>> n_columns_of(np.zeros((5, 3))), n_columns_of(["oak", "larch"])
    (3, 4)
    """
    if isinstance(known := getattr(patterns, "block", patterns), np.ndarray):
        return int(known.shape[1])
    if hasattr(patterns, "parts"):
        return sum(map(n_columns_of, patterns.parts.values()))
    if hasattr(patterns, "columns"):
        return len(patterns.columns)
    some = [patterns[i] for i in range(0, len(patterns), -(-len(patterns) // N_SIZED))]
    return max(1, round(sum(map(_size, some)) / len(some)))


def _size(pattern: Any) -> int:
    if isinstance(pattern, np.ndarray):
        return int(pattern.size)
    return int(getattr(pattern, "n_vertices", 0)) or (len(pattern) if hasattr(pattern, "__len__") else 1)


def pair_bytes_of(measure: Any, patterns: Any) -> float:
    """Return the bytes that a measure holds per pair; a guess for a measure without a method `pair_bytes`."""
    if hasattr(measure, "pair_bytes"):
        return float(measure.pair_bytes(patterns))
    return DOUBLE * (1 + n_columns_of(patterns))
