"""Attributes of vertices and edges: their kinds, found from the data, and their values as numbers and codes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, ClassVar, NamedTuple

import numpy as np

from eocc.foundation.checks import hashable, mapping, real, tuple_of
from eocc.foundation.types import Indices, Matrix
from eocc.measures.objects import is_missing

Attributes = Mapping[str, Sequence[Any]]

KINDS = ("category", "number", "text")
# Text attributes are texts, not categories, if most values differ and are longer than this on average.
SHORT_TEXT = 3


@dataclass(frozen=True)
class Schema:
    """The attributes of vertices or of edges; `numbers` maps a name to its minimum and range in training."""

    numbers: dict[str, tuple[float, float]]
    categories: tuple[str, ...]
    texts: tuple[str, ...]
    stored: ClassVar = {
        "numbers": mapping(hashable, lambda pair: tuple_of(real(), 2)(pair) and len(pair) == 2 and pair[1] > 0),
        "categories": tuple_of(hashable), "texts": tuple_of(hashable),
    }  # fmt: skip

    @property
    def names(self) -> list[str]:
        """All attributes: categories, texts, numbers."""
        return [*self.categories, *self.texts, *self.numbers]

    @property
    def identifying(self) -> list[str]:
        """The attribute that identifies an item in texts: the first category or text, if there is one."""
        return [*self.categories, *self.texts][:1]


def find_schema(attributes: Sequence[Attributes], declared: Mapping[str, str], kind: str) -> Schema:
    """Return the attributes with their kinds, declared or found from the values; `kind` is "vertex" or "edge"."""
    names = dict.fromkeys(name for mapping in attributes for name in mapping)
    for unknown in sorted(set(declared) - set(names)):
        known = ", ".join(map(repr, sorted(names)))
        raise ValueError(f"no graph has a {kind} attribute {unknown!r}; known: {known}")
    values = {
        name: [value for mapping in attributes for value in mapping.get(name, ()) if not is_missing(value)]
        for name in sorted(names)
    }
    kinds = {name: declared.get(name) or _kind(name, kind, values[name]) for name in values}
    return Schema(
        {name: _range(name, values[name]) for name in values if kinds[name] == "number"},
        tuple(name for name in values if kinds[name] == "category"),
        tuple(name for name in values if kinds[name] == "text"),
    )


def _kind(name: str, of: str, values: Sequence[Any]) -> str:
    numbers = [isinstance(value, Number) and not isinstance(value, bool | np.bool_) for value in values]
    if any(numbers) and not all(numbers):
        odd = values[numbers.index(False)]
        hint = f"make it one kind, or declare it: {of}_kinds={{{name!r}: 'category'}}"
        raise ValueError(f"{of} attribute {name!r} mixes numbers and other values such as {odd!r}; {hint}")
    if any(numbers):
        return "number"
    if not all(isinstance(value, str) for value in values):
        return "category"
    is_text = len(set(values)) > len(values) / 2 and sum(map(len, values)) > SHORT_TEXT * len(values)
    return "text" if is_text else "category"


def _range(name: str, values: Sequence[Any]) -> tuple[float, float]:
    """Return the minimum and the range of the numbers; the range is 1 if they are all equal."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"attribute {name!r} should hold numbers but holds other values") from None
    if not len(numbers):
        return 0.0, 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        span = float(np.ptp(numbers))
    if not np.isfinite(span):
        raise ValueError(f"attribute {name!r} holds infinity, or numbers too far apart to be subtracted; rescale it")
    return float(numbers.min()), span or 1.0


class Encoded(NamedTuple):
    """Attributes as the kernel expects them: `numbers` and categories, then `texts`, one row each, a column per item.

    NaN is a missing number or category, -1 a missing text.
    """

    numbers: Matrix
    texts: Indices


def units_of(schema: Schema) -> Matrix:
    """Return the scale and the limit of the differences of each number and of each category, (2, rows)."""
    scales, n_categories = [1.0 / span for _, span in schema.numbers.values()], len(schema.categories)
    limits = [np.inf] * len(scales) + [1.0] * n_categories
    return np.array([scales + [1.0] * n_categories, limits])


def encode(
    schema: Schema, attributes: Sequence[Attributes], counts: Any, codes: dict[Any, int], vocabulary: dict[str, int]
) -> Encoded:
    """Return the attributes of all items of all graphs; new categories and texts get the next code."""
    sized = list(zip(attributes, counts, strict=True))

    def columns(names: Iterable[str]) -> list[list[Any]]:
        return [[v for mapping, count in sized for v in mapping.get(name, [None] * int(count))] for name in names]

    total = int(np.sum(counts))
    numbers = np.empty((len(schema.numbers), total))
    for row, name, values in zip(numbers, schema.numbers, columns(schema.numbers), strict=True):
        row[:] = _as_numbers(name, values) - schema.numbers[name][0]
    categories = _coded(columns(schema.categories), codes, total, lambda value: value)
    texts = _coded(columns(schema.texts), vocabulary, total, str)
    return Encoded(np.concatenate([numbers, np.where(categories < 0, np.nan, categories)]), texts)


def _as_numbers(name: str, values: Sequence[Any]) -> Matrix:
    odd = [value for value in values if not isinstance(value, Number) and not is_missing(value)]
    if odd:
        raise ValueError(f"attribute {name!r} held numbers in training, but here {odd[0]!r}")
    numbers = np.array([np.nan if is_missing(value) else value for value in values], dtype=np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"attribute {name!r} holds infinity; drop or replace it")
    return numbers


def _coded(columns: Sequence[Sequence[Any]], known: dict[Any, int], total: int, key: Any) -> Indices:
    """Return one code per value, -1 if missing; unknown values get the next code."""
    coded = np.empty((len(columns), total), np.int64)
    for k, values in enumerate(columns):
        try:
            coded[k] = [-1 if is_missing(v) else known.setdefault(key(v), len(known)) for v in values]
        except TypeError as error:
            held = f"values other than numbers, categories and texts ({error})"
            raise ValueError(f"an attribute holds {held}; declare it 'ignore'") from None
    return coded
