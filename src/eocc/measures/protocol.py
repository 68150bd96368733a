"""The interface of a measure: fit once per training set, prepare once per set of pairs, evaluate once per p.

`Measure` and `FittedMeasure` hold everything that the package asks of a measure, with a default for all but
`Measure.fit` and `FittedMeasure.prepare`. A default of None means that there is nothing of the kind. Objects of a user
that have these two methods, and any others of them, get the defaults from `eocc.measures.function`.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from eocc.base.checks import demand
from eocc.base.threads import cluster_in_use
from eocc.base.types import Matrix
from eocc.base.wording import shortened
from eocc.measures.difference import Difference, Pair
from eocc.measures.objects import Objects


class Prepared(Protocol):
    """Pairs of patterns and prototypes, with everything computed that does not depend on p."""

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return D (n, r), D_ij = d(pattern_i, prototype_j; p), written into `out` if it is given.

        Several threads may call this at the same time, each with its own p and `out`.
        """


class _Named:
    # The name of the measure in messages.
    called: str
    # The measures of the parts of a record, by name.
    measures: Any = None

    def __init_subclass__(cls) -> None:
        cls.called = cls.__name__


class FittedMeasure(_Named):
    """A measure whose normalisation was fixed on the training patterns."""

    # The length u of p.
    n_parameters: Any = 0
    # Whether a pair takes so long to compare that a cluster is worth it.
    is_costly: ClassVar[bool] = False
    # The kind of data in a file that can be scored, one of eocc.measures.KINDS; "" if there is none.
    kind: ClassVar[str] = ""
    # What an entry of p weighs: one name per entry, or a noun that is numbered.
    weighs: ClassVar[str | tuple[str, ...]] = ""
    # The classes that patterns in Objects may have, or that of other patterns, as a whole; any if there are none.
    pattern_classes: ClassVar[tuple[type, ...]] = ()
    container: ClassVar[type | None] = None
    # The names of the columns of a table that the measure itself has read.
    names: Any = ()
    # Whether missing numbers of new rows are allowed; `filled(patterns)` returns rows without gaps.
    fills_gaps: ClassVar[bool] = False
    # The other attributes are methods that some measures have.
    # accepts(patterns): whether patterns of the right classes in a model file have the right types and shapes.
    accepts: Any = None
    # Rows of a table: its values by column, and a column of 0 and 1 per category.
    cells: Any = None
    indicator_columns: Any = None
    # cell_values(patterns): the cells (n, u) of a table as numbers or codes, NaN if missing; codes that training lacks
    # are the highest. `is_code` (u,) says which columns hold codes; False means none.
    cell_values: Any = None
    is_code: Any = False
    # coordinates(patterns): rows of numbers (n, u) with d(x, y; p) = sqrt(sum_k p_k (x_k - y_k)^2) up to rounding.
    coordinates: Any = None
    # encoded(patterns, prototypes): rows of numbers and codes (m, u), gaps filled, with d(x, y; p) = sum_k p_k c_k / u.
    # c is the absolute difference, 0 or 1 for codes, and 0 for NaN. A category has the code that prototypes give it.
    encoded: Any = None
    # nearest(patterns, prototypes, weightings, k): for each row p of `weightings`, the distances (m, k) to the nearest
    # prototypes and their indices, found without comparing all pairs. They ascend; of prototypes at the same distance,
    # the first comes first. The distances equal, bit for bit, those of evaluate(p). There are at least k prototypes.
    nearest: Any = None

    def neutral_weights(self) -> Matrix:
        """Return the p without a search."""
        return np.ones(self.n_parameters)

    def prepare(self, patterns: Any, prototypes: Any = None) -> Prepared:
        """Compute what every p shares. Without prototypes, all pairs of the patterns are compared.

        A row of D must not depend on the other rows. Rounding may differ where there are no prototypes.
        """
        raise NotImplementedError

    def weight_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Return what each entry of p weighs; `names` are the names of the columns, if known."""
        if isinstance(self.weighs, tuple):
            return list(self.weighs)
        return [f"{self.weighs} {k}" if self.weighs else f"weight {k + 1}" for k in range(self.n_parameters)]

    def difference(self, pair: Pair) -> Difference:
        """Return contributions that add up to the dissimilarity of the pair, if the measure has any."""
        return Difference(pair.dissimilarity, (), "the measure gives only this number, not its parts")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return a few words on a pattern, which is given as patterns of length 1; "" if there is nothing to say."""
        return shortened(" ".join(repr(pattern[0]).split()))

    def kind_of_data(self, prototypes: Any) -> str:
        """Return the kind of data in a file that can be scored, one of eocc.measures.KINDS; "" if there is none."""
        return self.kind

    def check_patterns(self, patterns: Any) -> None:
        """Raise a ValueError unless the patterns of a model file, at least one, are what the measure can compare."""
        known = self.pattern_classes
        is_right = (Objects if known else self.container) in (None, type(patterns))
        is_right = is_right and not (known and any(type(pattern) not in known for pattern in patterns))
        is_right = is_right and (self.accepts is None or self.accepts(patterns))
        demand(is_right, f"the training patterns are not what {self.called} compares")
        demand(len(patterns) > 0, "there are no training rows to compare with")

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


class Measure(_Named):
    """A parametric dissimilarity d(x, y; p), p in [0, 1]^u, at most 1 on the training set for every p."""

    # Further classes that a model file may name.
    stored_classes: ClassVar[tuple[type, ...]] = ()
    # What `fit` returns.
    fitted_class: ClassVar[type[Any]] = FittedMeasure
    # read(X) returns X as patterns, or raises a ValueError that says what is wrong. None: patterns are rows of numbers.
    read: Any = None
    # Whether `read` takes tables with columns of any kind, and what the columns hold, by name, where the user says so.
    reads_tables: ClassVar[bool] = False
    kinds: Any = None
    # Whether X holds dissimilarities instead of patterns.
    is_pairwise: ClassVar[bool] = False
    # How many floats are held per pair while pairs are prepared; 0 if pairs are computed in blocks, never kept.
    pair_floats: ClassVar[int] = 1

    def fit(self, training: Any) -> Any:
        """Return the measure, normalised on the training patterns; leave the measure itself unchanged."""
        return self.fitted_class()

    def fit_roughly(self, training: Any) -> Any:
        """Return the fitted measure; its divisor may be any, as long as it takes little time to find."""
        return self.fit(training)

    def fit_against(self, training: Any, prototypes: Any) -> Any:
        """Return the fitted measure; a divisor need only count pairs of a training pattern and a prototype."""
        return self.fit(training)

    def pair_bytes(self, patterns: Any) -> float:
        """Return the bytes held per pair while pairs are prepared."""
        return 8.0 * self.pair_floats


def prepare(measure: FittedMeasure, patterns: Any, prototypes: Any = None) -> Prepared:
    """Return measure.prepare(patterns, prototypes), computed on the cluster in use if pairs are expensive."""
    cluster = cluster_in_use.get()
    if cluster is None:
        return measure.prepare(patterns, prototypes)
    prepared: Prepared = cluster.prepare(measure, patterns, prototypes)
    return prepared
