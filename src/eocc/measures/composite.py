"""Records with parts of several kinds: a measure for each part, a weight for each measure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from eocc.foundation.checks import hashable, mapping
from eocc.foundation.types import Matrix
from eocc.foundation.wording import format_number
from eocc.measures import MEASURES
from eocc.measures.base import RegisteredFitted, RegisteredMeasure
from eocc.measures.difference import Contribution, Difference, Pair, description_of, difference_of
from eocc.measures.protocol import FittedMeasure, Measure, Prepared
from eocc.measures.sizes import pair_bytes_of


@dataclass(frozen=True, eq=False)
class Records:
    """The parts of all records, each as read by its measure."""

    parts: dict[str, Any]
    stored: ClassVar = {"parts": lambda value: type(value) is dict and len(value) > 0}

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    def __getitem__(self, index: Any) -> "Records":
        return Records({name: part[index] for name, part in self.parts.items()})


@dataclass(frozen=True, eq=False)
class FittedComposite(RegisteredFitted):
    """A composite with the fitted measure of every part."""

    measures: dict[str, FittedMeasure]
    stored: ClassVar = {"measures": mapping(hashable, lambda value: type(value) in _fitted_classes())}

    @property
    def n_parameters(self) -> int:
        """One weight per part, then the parts' own parameters."""
        return len(self.measures) + sum(measure.n_parameters for measure in self.measures.values())

    @property
    def parameter_names(self) -> list[str]:
        """What each entry of p weighs: a part, or part[k], the k-th parameter of the part's own measure."""
        own = [f"{name}[{k}]" for name, measure in self.measures.items() for k in range(measure.n_parameters)]
        return [*self.measures, *own]

    @property
    def knows_training_only(self) -> bool:
        """Whether this holds for one of the parts."""
        return any(getattr(part, "knows_training_only", False) for part in self.measures.values())

    def prepare(self, patterns: Records, prototypes: Records | None = None) -> "PreparedComposite":
        """Prepare every part."""

        def prepared(name: str, measure: FittedMeasure) -> Prepared:
            return measure.prepare(patterns.parts[name], None if prototypes is None else prototypes.parts[name])

        parts = [
            _of_part(name, lambda name=name, measure=measure: prepared(name, measure))  # type: ignore[misc]
            for name, measure in self.measures.items()
        ]
        return PreparedComposite(parts, [measure.n_parameters for measure in self.measures.values()])

    def weight_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Return `parameter_names`."""
        return self.parameter_names

    def difference(self, pair: Pair) -> Difference:
        """Return w_k d_k / K for each of the K parts; `inner` holds contributions that add up to d_k."""
        contributions = []
        for number, (name, own_weights) in enumerate(self._own_weights(pair.weights)):
            pattern, prototype = pair.pattern.parts[name], pair.prototype.parts[name]
            inner = difference_of(self.measures[name], pattern, prototype, own_weights, None, pair.called)
            weight = float(pair.weights[number])
            amount = weight * inner.dissimilarity / len(self.measures)
            text = f"{name}, of weight {format_number(weight)}"
            contributions.append(Contribution(amount, text, {"part": str(name), "weight": weight}, inner=inner))
        return Difference(pair.dissimilarity, tuple(contributions), "by part")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return a few words on each part.

        >>> composite = Composite({"size": "euclidean", "name": "string-edit"})
        >>> records = composite.read([{"size": 1.5, "name": "oak"}])
        >>> composite.fit(records).describe(records)
        "size: feature 0 = 1.5; name: 'oak'"
        """
        described = {name: description_of(part, pattern.parts[name]) for name, part in self.measures.items()}
        return "; ".join(f"{name}: {text}" for name, text in described.items() if text)

    def check_patterns(self, patterns: Any) -> None:
        """Raise a ValueError unless every part is what its measure can compare, and all have the same length."""
        if type(patterns) is not Records or list(patterns.parts) != list(self.measures):
            raise ValueError("the parts of the training patterns are not those of the measure")
        for name, part in patterns.parts.items():
            own: Any = self.measures[name]
            if hasattr(own, "check_patterns"):  # a user's own measure has none
                own.check_patterns(part)
        if len({len(part) for part in patterns.parts.values()}) != 1:
            raise ValueError("the parts of the training patterns differ in length")

    def comparison_work(self, patterns: Any) -> int:
        """Return the sum over the parts."""
        parts: dict[str, Any] = dict(self.measures)
        known = {name: part for name, part in parts.items() if hasattr(part, "comparison_work")}
        return sum(part.comparison_work(patterns.parts[name]) for name, part in known.items())

    def _own_weights(self, weights: Matrix) -> Iterator[tuple[str, Matrix]]:
        """Yield each part's name and the parameters of its own measure, which follow the weights of all parts."""
        start = len(self.measures)
        for name, part in self.measures.items():
            yield name, weights[start : start + part.n_parameters]
            start += part.n_parameters


@dataclass(frozen=True, eq=False)
class Composite(RegisteredMeasure):
    """d(x, y; p) = sum_k w_k d_k(x_k, y_k; p_k) / (number of parts), p = (w_1, ..., w_K, p_1, ..., p_K).

    `measures` maps the name of each part to its measure: an object, a name, or a function of two objects. Records are
    mappings with those names, or a frame with those columns. The weights that a search finds show which parts of the
    record matter.

    >>> from eocc.measures.euclidean import Euclidean
    >>> from eocc.measures.function import FunctionMeasure
    >>> lengths = FunctionMeasure(lambda a, b: abs(len(a) - len(b)))
    >>> measure = Composite({"size": Euclidean(), "name": lengths})
    >>> records = measure.read([{"size": 1.0, "name": "oak"}, {"size": 3.0, "name": "elderberry"}])
    >>> fitted = measure.fit(records)
    >>> fitted.n_parameters, fitted.prepare(records).evaluate(np.array([1.0, 0.5, 1.0]))[0, 1].item()
    (3, 0.75)
    """

    measures: Mapping[str, Any]
    stored: ClassVar = {"measures": mapping(hashable, lambda value: _is_measure(value))}
    fitted_class: ClassVar = FittedComposite
    stored_classes: ClassVar = (FittedComposite, Records)

    def __post_init__(self) -> None:
        from eocc.measures.resolve import resolve_measure  # which imports this module

        if not isinstance(self.measures, Mapping) or not self.measures:
            raise ValueError("a composite needs a mapping from the names of its parts to their measures")
        resolved = {name: _of_part(name, lambda measure=measure: resolve_measure(measure))  # type: ignore[misc]
                    for name, measure in self.measures.items()}  # fmt: skip
        object.__setattr__(self, "measures", resolved)

    def read(self, X: Any) -> Records:
        """Split records into their parts, each read by its own measure."""
        if isinstance(X, Records):
            return X
        column = _columns(X, list(self.measures))
        return Records({name: _read_part(name, measure, column(name)) for name, measure in self.measures.items()})

    def fit(self, training: Records) -> FittedComposite:
        """Fit the measure of every part."""
        return FittedComposite({name: measure.fit(training.parts[name]) for name, measure in self.measures.items()})

    def fit_against(self, training: Records, prototypes: Records) -> FittedComposite:
        """Fit the measure of every part, against the prototypes if it can."""

        def fitted(name: str, measure: Any) -> FittedMeasure:
            part = training.parts[name]
            if hasattr(measure, "fit_against"):
                made: FittedMeasure = measure.fit_against(part, prototypes.parts[name])
                return made
            return cast(FittedMeasure, measure.fit(part))

        return FittedComposite({name: fitted(name, measure) for name, measure in self.measures.items()})

    def pair_bytes(self, patterns: Records) -> float:
        """Return the sum over the parts, and one matrix for their sum."""
        return 8.0 + sum(pair_bytes_of(measure, patterns.parts[name]) for name, measure in self.measures.items())


def _measure_classes() -> set[type]:
    return {Composite, *MEASURES.values()}


def _fitted_classes() -> set[type]:
    return {cls.fitted_class for cls in _measure_classes()}  # type: ignore[attr-defined]


def _is_measure(value: Any) -> bool:
    return type(value) in _measure_classes() or (isinstance(value, str) and value in MEASURES)


def _of_part(name: str, work: Callable[[], Any]) -> Any:
    """Call `work`; an error names the part."""
    try:
        return work()
    except (TypeError, ValueError) as error:
        raise ValueError(f"part {name!r}: {error}") from None


def _columns(X: Any, names: list[str]) -> Callable[[str], list[Any]]:
    """Return a function from a part's name to its values in all records."""
    if hasattr(X, "columns"):  # a frame
        missing = [name for name in names if name not in list(X.columns)]
        if missing:
            raise ValueError(f"the frame has no column {missing[0]!r}; it has {', '.join(map(repr, X.columns))}")
        return lambda name: list(X[name])
    if isinstance(X, str | Mapping) or not isinstance(X, Sequence):
        raise ValueError(f"records must be a sequence of mappings or a frame, not {type(X).__name__}")
    if len(X) == 0:
        raise ValueError("X holds no records; at least 1 is required")
    for number, record in enumerate(X):
        absent = [name for name in names if not isinstance(record, Mapping) or name not in record]
        if absent:
            raise ValueError(f"record {number} has no part {absent[0]!r}")
    return lambda name: [record[name] for record in X]


def _read_part(name: str, measure: Measure, values: list[Any]) -> Any:
    """Read one part by its measure, or as rows of numbers."""
    if hasattr(measure, "read"):
        reader = measure.read
        return _of_part(name, lambda: reader(values))
    rows = _of_part(name, lambda: np.array(values, dtype=np.float64))
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError(f"part {name!r}: expected rows of finite numbers")
    return np.ascontiguousarray(rows)


@dataclass(frozen=True, eq=False)
class PreparedComposite:
    """The pairs of every part."""

    parts: list[Prepared]
    counts: list[int]

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return the weighted mean over the parts, each summed in their order."""
        weights, start = p[: len(self.parts)] / len(self.parts), len(self.parts)
        total: Matrix | None = None
        for part, weight, count in zip(self.parts, weights, self.counts, strict=True):
            values = np.asarray(part.evaluate(p[start : start + count]))
            total = np.multiply(weight, values, out=out) if total is None else np.add(total, weight * values, out=total)
            start += count
        assert total is not None
        return total
