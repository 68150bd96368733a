"""What the measures of this package have beyond the protocol: storage, cost, file schema, explanations."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from eocc.foundation.checks import Check
from eocc.foundation.wording import shortened
from eocc.measures.difference import Difference, Pair, number_difference
from eocc.measures.schema import DataSchema

DOUBLE = 8.0


class RegisteredMeasure:
    """Defaults for a measure of this package.

    `stored` maps each constructor argument to a check of its value, and `fitted_class` is the class that `fit` returns.
    `stored_classes` are all classes besides the measure itself that a model file names; each has its own `stored`.
    """

    stored: ClassVar[Mapping[str, Check]] = {}
    fitted_class: ClassVar[type]
    stored_classes: ClassVar[tuple[type, ...]]
    # Whether X holds dissimilarities instead of patterns.
    is_pairwise: ClassVar[bool] = False

    def pair_bytes(self, patterns: Any) -> float:
        """Return the bytes held per pair while pairs are prepared; 0 if pairs are computed in blocks, never kept."""
        return DOUBLE


class RegisteredFitted:
    """Defaults for a fitted measure of this package."""

    stored: ClassVar[Mapping[str, Check]] = {}
    # Whether a pair takes so long to compare that a cluster is worth it.
    is_costly: ClassVar[bool] = False
    n_parameters: Any

    @property
    def knows_training_only(self) -> bool:
        """Whether new patterns can be compared with training patterns only, not with one another."""
        return False

    def weight_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Return what each entry of p weighs; `names` are the names of the columns, if known."""
        return [f"weight {k + 1}" for k in range(self.n_parameters)]

    def difference(self, pair: Pair) -> Difference:
        """Return contributions that add up to the dissimilarity of the pair, if the measure has any."""
        return number_difference(pair)

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return a few words on a pattern, which is given as patterns of length 1."""
        return shortened(" ".join(repr(pattern[0]).split()))

    def schema(self, prototypes: Any, names: Sequence[str] | None = None) -> DataSchema:
        """Return what a file must hold to be scored; `names` are the names of the columns, if known."""
        raise ValueError(f"a model with {type(self).__name__} cannot score files; score in Python")

    def check_patterns(self, patterns: Any) -> None:
        """Raise a ValueError unless the patterns of a model file are what the measure can compare."""
        if not self.accepts(patterns):
            raise ValueError(f"the training patterns are not what {type(self).__name__} compares")

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns have the right types and shapes."""
        return True

    def comparison_work(self, patterns: Any) -> int:
        """Return about how many table cells it takes to compare the first pattern with all.

        0 means that comparing takes no longer than reading the patterns.
        """
        return 0
