"""Attributes of vertices and edges: their kinds, found from the data, and their values as numbers and codes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, ClassVar, NamedTuple

import numpy as np

from eocc.foundation.checks import hashable, mapping, real, tuple_of
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import format_value, shortened
from eocc.tables.sources import is_missing

Attributes = Mapping[str, Sequence[Any]]

KINDS = ("category", "number", "text")
# Attributes with these names usually say what an item is; the first counts most.
NAMING = ("symbol", "label", "element", "type", "name")
# Text attributes are texts, not categories, if most values differ and are longer than this on average.
SHORT_TEXT = 3
# Numbers farther apart than this many ranges are all equally far, so that sums of differences stay finite.
FARTHEST = 1e100
# Longer values and names of vertices lose their middle in texts.
LONGEST_VALUE = 24


@dataclass(frozen=True)
class Schema:
    """The attributes of vertices or of edges; `numbers` maps a name to its minimum and range in training.

    `naming` is the attribute that names an item in texts and pictures, None if there is none.
    """

    numbers: dict[str, tuple[float, float]]
    categories: tuple[str, ...]
    texts: tuple[str, ...]
    naming: str | None = None
    stored: ClassVar = {
        "numbers": mapping(hashable, lambda pair: tuple_of(real(), 2)(pair) and len(pair) == 2 and pair[1] > 0),
        "categories": tuple_of(hashable), "texts": tuple_of(hashable), "naming": hashable,
    }  # fmt: skip

    @property
    def names(self) -> list[str]:
        """All attributes: categories, texts, numbers."""
        return [*self.categories, *self.texts, *self.numbers]

    def words(self, name: str, value: Any) -> str:
        """Return an attribute as name and value, or a text that names the item as it is."""
        said = shortened(format_value(value).strip(), LONGEST_VALUE)
        return said if name == self.naming and isinstance(value, str) else f"{name} {said}"


def find_schema(
    attributes: Sequence[Attributes], declared: Mapping[str, str], kind: str, naming: str | None = None
) -> Schema:
    """Return the attributes with their kinds, declared or found from the values; `kind` is "vertex" or "edge".

    What is declared for "pos" holds for "pos[0]", "pos[1]" too. `naming` is the attribute that names items; without it,
    one is chosen.
    """
    names = {name: str(name).partition("[")[0] for mapping in attributes for name in mapping}
    chosen = set() if naming is None else {naming}
    for unknown in sorted((set(declared) - {*names, *names.values()}) | (chosen - set(names))):
        known = ", ".join(map(repr, sorted(names)))
        raise ValueError(f"no graph has a {kind} attribute {unknown!r}; known: {known}")
    values = {
        name: [value for mapping in attributes for value in mapping.get(name, ()) if not is_missing(value)]
        for name in sorted(names)
    }
    given = {name: declared.get(name, declared.get(names[name])) for name in values}
    kinds = {name: given[name] or _kind(name, kind, values[name]) for name in values}
    return Schema(
        {name: _range(name, values[name]) for name in values if kinds[name] == "number"},
        tuple(name for name in values if kinds[name] == "category"),
        tuple(name for name in values if kinds[name] == "text"),
        naming or _naming(kinds, values),
    )


def _naming(kinds: Mapping[str, str], values: Mapping[str, Sequence[Any]]) -> str | None:
    """Return the attribute that names an item: by its name, or the first category or text that is not a flag."""

    def rank(name: str) -> tuple[int, int]:
        is_usual = str(name).lower() in NAMING
        return NAMING.index(str(name).lower()) if is_usual else len(NAMING), KINDS.index(kinds[name])

    def is_name(name: str) -> bool:
        if kinds[name] == "number":
            return str(name).lower() in NAMING
        return kinds[name] != "ignore" and not all(isinstance(value, bool | np.bool_) for value in values[name])

    return min(filter(is_name, values), key=rank, default=None)


def _kind(name: str, of: str, values: Sequence[Any]) -> str:
    numbers = [isinstance(value, Number) and not isinstance(value, bool | np.bool_) for value in values]
    if any(numbers) and not all(numbers):
        odd = values[numbers.index(False)]
        hint = f"make it one kind, or declare it: {of}_kinds={{{name!r}: 'category'}}"
        raise ValueError(f"{of} attribute {name!r} mixes numbers and other values such as {odd!r}; {hint}")
    if any(numbers):
        return "number"
    if not all(isinstance(value, str) for value in values):
        for odd in (value for value in values if not hashable(value)):
            hint = f"make it one number or text, or leave it out: {of}_kinds={{{name!r}: 'ignore'}}"
            raise ValueError(f"{of} attribute {name!r} holds a {type(odd).__name__}; {hint}")
        return "category"
    is_text = len(set(values)) > len(values) / 2 and sum(map(len, values)) > SHORT_TEXT * len(values)
    return "text" if is_text else "category"


def _range(name: str, values: Sequence[Any]) -> tuple[float, float]:
    """Return the minimum and the range of the numbers; the range is 1 if they are all equal."""
    numbers = _as_numbers(name, values)
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
    limits = [FARTHEST] * len(scales) + [1.0] * n_categories
    return np.array([scales + [1.0] * n_categories, limits])


def encode(
    schema: Schema, attributes: Sequence[Attributes], counts: Any, codes: dict[Any, int], vocabulary: dict[str, int]
) -> Encoded:
    """Return the attributes of all items of all graphs; new categories and texts get the next code."""
    sized = list(zip(attributes, counts, strict=True))

    def columns(names: Iterable[str]) -> dict[str, list[Any]]:
        return {name: [v for given, count in sized for v in given.get(name, [None] * int(count))] for name in names}

    total = int(np.sum(counts))
    numbers = np.empty((len(schema.numbers), total))
    for row, (name, values) in zip(numbers, columns(schema.numbers).items(), strict=True):
        row[:] = _as_numbers(name, values) - schema.numbers[name][0]
    categories = _coded(columns(schema.categories), codes, total, lambda value: value)
    texts = _coded(columns(schema.texts), vocabulary, total, str)
    return Encoded(np.concatenate([numbers, np.where(categories < 0, np.nan, categories)]), texts)


def _as_numbers(name: str, values: Sequence[Any]) -> Matrix:
    """Return the values as numbers, also those that are written as text; missing ones are NaN."""
    try:
        numbers = np.array([np.nan if is_missing(value) else float(value) for value in values])
    except (TypeError, ValueError):
        odd = next(value for value in values if not (is_missing(value) or _is_numeric(value)))
        raise ValueError(f"attribute {name!r} should hold numbers, but holds {odd!r}; replace it by None") from None
    if np.isinf(numbers).any():
        raise ValueError(f"attribute {name!r} holds infinity; drop or replace it")
    return numbers


def _is_numeric(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _coded(columns: Mapping[str, Sequence[Any]], known: dict[Any, int], total: int, key: Any) -> Indices:
    """Return one code per value, -1 if missing; unknown values get the next code."""
    coded = np.empty((len(columns), total), np.int64)
    for k, (name, values) in enumerate(columns.items()):
        try:
            coded[k] = [-1 if is_missing(v) else known.setdefault(key(v), len(known)) for v in values]
        except TypeError:
            odd = next(value for value in values if not hashable(value))
            raise ValueError(f"attribute {name!r} held single values in training, but here {odd!r}") from None
    return coded
