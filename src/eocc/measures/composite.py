"""Records with parts of several kinds: a measure for each part, a weight for each measure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from eocc.base.checks import Check, hashable, mapping
from eocc.base.types import Matrix
from eocc.base.wording import format_number
from eocc.measures import MEASURES
from eocc.measures.auto import resolve_measure
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.protocol import FittedMeasure, Measure, Prepared, prepare


@dataclass(frozen=True, eq=False)
class Records:
    """The parts of all records, each as read by its measure."""

    parts: Annotated[dict[str, Any], Check("a dictionary of parts", lambda value: type(value) is dict and value)]

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    def __getitem__(self, index: Any) -> "Records":
        return Records({name: part[index] for name, part in self.parts.items()})


class RecordPart(NamedTuple):
    """A part of records by name: its fitted measure, its `weight`, and the measure's `own` parameters."""

    name: str
    measure: Any
    weight: float
    own: Matrix


@dataclass(frozen=True, eq=False)
class FittedComposite(FittedMeasure):
    """A composite with the fitted measure of every part."""

    measures: Annotated[dict[str, Any], mapping(hashable, Check("a fitted measure", lambda one: is_known(one, True)))]

    @property
    def n_parameters(self) -> int:
        """One weight per part, then the parts' own parameters."""
        return len(self.measures) + sum(int(measure.n_parameters) for measure in self.measures.values())

    @property
    def parameter_names(self) -> list[str]:
        """What each entry of p weighs: a part, or part[k], the k-th parameter of the part's own measure."""
        own = [f"{name}[{k}]" for name, measure in self.measures.items() for k in range(measure.n_parameters)]
        return [*self.measures, *own]

    def prepare(self, patterns: Records, prototypes: Records | None = None) -> "PreparedComposite":
        """Prepare every part."""
        against = {} if prototypes is None else prototypes.parts
        pairs = _each(self.measures, lambda name, one: prepare(one, patterns.parts[name], against.get(name)))
        return PreparedComposite(self, list(pairs.values()))

    def parts(self, p: Matrix) -> list[RecordPart]:
        """Return the parts with their shares of p."""
        counts = [measure.n_parameters for measure in self.measures.values()]
        own = np.split(p[len(counts) :], np.cumsum(counts)[:-1])
        return list(map(RecordPart, self.measures, self.measures.values(), p.tolist(), own))

    def weight_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Return `parameter_names`."""
        return self.parameter_names

    def difference(self, pair: Pair) -> Difference:
        """Return w_k d_k / K for each of the K parts; `inner` holds contributions that add up to d_k."""
        contributions = []
        for name, part, weight, own in self.parts(pair.weights):
            inner = Pair(part, pair.pattern.parts[name], pair.prototype.parts[name], own, None, pair.called).difference
            amount = weight * inner.dissimilarity / len(self.measures)
            text = f"{name}, of weight {format_number(weight)}"
            contributions.append(Contribution(amount, text, {"part": str(name), "weight": weight}, inner=inner))
        return Difference(pair.dissimilarity, tuple(contributions), "by part")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return a few words on each part."""
        described = {name: part.describe(pattern.parts[name], None) for name, part in self.measures.items()}
        return "; ".join(f"{name}: {text}" for name, text in described.items() if text)

    def check_patterns(self, patterns: Any) -> None:
        """Raise a ValueError unless every part is what its measure can compare, and all have the same length."""
        if type(patterns) is not Records or list(patterns.parts) != list(self.measures):
            raise ValueError("the parts of the training patterns are not those of the measure")
        for name, part in patterns.parts.items():
            self.measures[name].check_patterns(part)
        if len({len(part) for part in patterns.parts.values()}) != 1:
            raise ValueError("the parts of the training patterns differ in length")

    def comparison_work(self, patterns: Any) -> int:
        """Return the sum over the parts."""
        return sum(part.comparison_work(patterns.parts[name]) for name, part in self.measures.items())


@dataclass(frozen=True, eq=False)
class Composite(Measure):
    """d(x, y; p) = sum_k w_k d_k(x_k, y_k; p_k) / (number of parts), p = (w_1, ..., w_K, p_1, ..., p_K).

    `measures` maps the name of each part to its measure: an object, a name, or a function of two objects. Records are
    mappings with those names, or a frame with those columns. The weights that a search finds show which parts of the
    record matter.

    >>> measure = Composite({"size": "euclidean", "name": lambda a, b: abs(len(a) - len(b))})
    >>> records = measure.read([{"size": 1.0, "name": "oak"}, {"size": 3.0, "name": "elderberry"}])
    >>> fitted = measure.fit(records)
    >>> fitted.n_parameters, fitted.prepare(records).evaluate(np.array([1.0, 0.5, 1.0]))[0, 1].item()
    (3, 0.75)
    """

    measures: Annotated[Mapping[str, Any], mapping(hashable, Check("a measure", lambda one: is_known(one)))]
    fitted_class: ClassVar = FittedComposite
    stored_classes: ClassVar = (Records,)

    def __post_init__(self) -> None:
        if not isinstance(self.measures, Mapping) or not self.measures:
            raise ValueError("a composite needs a mapping from the names of its parts to their measures")
        object.__setattr__(self, "measures", _each(self.measures, lambda _, measure: resolve_measure(measure)))

    def read(self, X: Any) -> Records:
        """Split records into their parts, each read by its own measure."""
        if isinstance(X, Records):
            return X
        column = _columns(X, list(self.measures))
        return Records(_each(self.measures, lambda name, measure: (measure.read or _rows)(column(name))))

    def fit(self, training: Records) -> FittedComposite:
        """Fit the measure of every part."""
        return FittedComposite({name: measure.fit(training.parts[name]) for name, measure in self.measures.items()})

    def fit_against(self, training: Records, prototypes: Records) -> FittedComposite:
        """Fit the measure of every part, against the prototypes if it can."""
        sides = {name: (training.parts[name], prototypes.parts[name]) for name in self.measures}
        return FittedComposite({name: one.fit_against(*sides[name]) for name, one in self.measures.items()})

    def pair_bytes(self, patterns: Records) -> float:
        """Return the sum over the parts, and one matrix for their sum."""
        return 8.0 + sum(float(measure.pair_bytes(patterns.parts[name])) for name, measure in self.measures.items())


def is_known(value: Any, is_fitted: bool = False) -> bool:
    """Return whether the value is a measure of the library, or a fitted one."""
    kinds = (Composite, *MEASURES.values())
    known = [kind.fitted_class for kind in kinds] if is_fitted else kinds
    return type(value) in known or (not is_fitted and isinstance(value, str) and value in MEASURES)


def _each(parts: Mapping[str, Any], work: Callable[[str, Any], Any]) -> dict[str, Any]:
    """Return work(name, part) of every part; an error names the part."""
    found = {}
    for name, part in parts.items():
        try:
            found[name] = work(name, part)
        except (TypeError, ValueError) as error:
            raise ValueError(f"part {name!r}: {error}") from None
    return found


def _columns(X: Any, names: list[str]) -> Callable[[str], list[Any]]:
    """Return a function from a part's name to its values in all records."""
    if hasattr(X, "columns"):  # a frame
        for missing in (name for name in names if name not in list(X.columns)):
            raise ValueError(f"the frame has no column {missing!r}; it has {', '.join(map(repr, X.columns))}")
        return lambda name: list(X[name])
    if isinstance(X, str | Mapping) or not isinstance(X, Sequence):
        raise ValueError(f"records must be a sequence of mappings or a frame, not {type(X).__name__}")
    if len(X) == 0:
        raise ValueError("X holds no records; at least 1 is required")
    for number, record in enumerate(X):
        for absent in (name for name in names if not isinstance(record, Mapping) or name not in record):
            raise ValueError(f"record {number} has no part {absent!r}")
    return lambda name: [record[name] for record in X]


def _rows(values: list[Any]) -> Matrix:
    rows = np.array(values, dtype=np.float64)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError("expected rows of finite numbers")
    return np.ascontiguousarray(rows)


@dataclass(frozen=True, eq=False)
class PreparedComposite:
    """The pairs of every part."""

    measure: FittedComposite
    pairs: list[Prepared]

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return the weighted mean over the parts, each summed in their order."""
        total: Matrix | None = None
        for part, pairs in zip(self.measure.parts(p), self.pairs, strict=True):
            value, weight = np.asarray(pairs.evaluate(part.own)), part.weight / len(self.pairs)
            total = np.multiply(weight, value, out=out) if total is None else np.add(total, weight * value, out=total)
        assert total is not None
        return total
