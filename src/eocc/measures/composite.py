"""Records with parts of several kinds: a measure for each part, a weight for each measure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from eocc.foundation.types import Matrix
from eocc.measures.precomputed import FittedPrecomputed
from eocc.measures.protocol import FittedMeasure, Measure, Prepared


@dataclass(frozen=True, eq=False)
class Records:
    """The parts of all records, each as its measure reads it."""

    parts: dict[str, Any]

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    def __getitem__(self, index: Any) -> "Records":
        return Records({name: part[index] for name, part in self.parts.items()})


@dataclass(frozen=True, eq=False)
class Composite:
    """d(x, y; p) = sum_k w_k d_k(x_k, y_k; p_k) / (number of parts), p = (w_1, ..., w_K, p_1, ..., p_K).

    `measures` maps the name of a part to its measure: an object, a name, or a function of two objects. Records are
    mappings with those names, or a frame with such columns. The weights the search finds say which part of the record
    matters.

    >>> from eocc.measures.euclidean import Euclidean
    >>> from eocc.measures.function import FunctionMeasure
    >>> lengths = FunctionMeasure(lambda a, b: abs(len(a) - len(b)))
    >>> measure = Composite({"size": Euclidean(), "name": lengths})
    >>> records = measure.read([{"size": 1.0, "name": "oak"}, {"size": 3.0, "name": "elderberry"}])
    >>> frozen = measure.fit(records)
    >>> frozen.n_parameters, frozen.prepare(records).evaluate(np.array([1.0, 0.5, 1.0]))[0, 1].item()
    (3, 0.75)
    """

    measures: Mapping[str, Any]

    def __post_init__(self) -> None:
        from eocc.measures.resolve import resolve_measure  # which knows this class too

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

    def fit(self, training: Records) -> "FittedComposite":
        """Freeze the measure of every part."""
        return FittedComposite({name: measure.fit(training.parts[name]) for name, measure in self.measures.items()})

    def fit_against(self, training: Records, prototypes: Records) -> "FittedComposite":
        """Freeze the measure of every part, against the prototypes where it has a scale of its own."""

        def fitted(name: str, measure: Any) -> FittedMeasure:
            part = training.parts[name]
            if hasattr(measure, "fit_against"):
                made: FittedMeasure = measure.fit_against(part, prototypes.parts[name])
                return made
            return cast(FittedMeasure, measure.fit(part))

        return FittedComposite({name: fitted(name, measure) for name, measure in self.measures.items()})


def _of_part(name: str, work: Callable[[], Any]) -> Any:
    """Do something for one part; what goes wrong is said to be that part's."""
    try:
        return work()
    except (TypeError, ValueError) as error:
        raise ValueError(f"part {name!r}: {error}") from None


def _columns(X: Any, names: list[str]) -> Callable[[str], list[Any]]:
    """Return what gives the values of one part of all records."""
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
    """Read one part: by its measure, or as rows of numbers."""
    if hasattr(measure, "read"):
        reader = measure.read
        return _of_part(name, lambda: reader(values))
    rows = _of_part(name, lambda: np.array(values, dtype=np.float64))
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError(f"part {name!r}: rows of finite numbers are needed")
    return np.ascontiguousarray(rows)


@dataclass(frozen=True, eq=False)
class FittedComposite:
    """A composite whose parts' measures are frozen."""

    measures: dict[str, FittedMeasure]

    @property
    def n_parameters(self) -> int:
        """One weight per part, then the parts' own parameters."""
        return len(self.measures) + sum(measure.n_parameters for measure in self.measures.values())

    @property
    def parameter_names(self) -> list[str]:
        """What each entry of p is: the name of a part, or part[k] for the k-th parameter of its own."""
        own = [f"{name}[{k}]" for name, measure in self.measures.items() for k in range(measure.n_parameters)]
        return [*self.measures, *own]

    def prepare(self, patterns: Records, prototypes: Records | None = None) -> "PreparedComposite":
        """Prepare every part."""

        def prepared(name: str, measure: FittedMeasure) -> Prepared:
            return measure.prepare(patterns.parts[name], None if prototypes is None else prototypes.parts[name])

        parts = [
            _of_part(name, lambda name=name, measure=measure: prepared(name, measure))  # type: ignore[misc]
            for name, measure in self.measures.items()
        ]
        return PreparedComposite(parts, [measure.n_parameters for measure in self.measures.values()])


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


def knows_training_only(measure: FittedMeasure) -> bool:
    """Say whether the measure, or one of its parts, knows dissimilarities to training patterns only."""
    if isinstance(measure, FittedComposite):
        return any(knows_training_only(part) for part in measure.measures.values())
    return isinstance(measure, FittedPrecomputed)
