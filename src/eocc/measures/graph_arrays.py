"""Labelled graphs -> the kinds of their attributes, and the flat arrays that the kernel compares."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Annotated, Any, NamedTuple

import numpy as np

from eocc.base.checks import Sizes, demand, has_hash, hashable, mapping, real, tuple_of
from eocc.base.types import Flags, Indices, Matrix
from eocc.base.wording import format_value, shortened
from eocc.kernels.graph_edit import compare_pairs, fill_costs
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.objects import derived
from eocc.measures.strings import edit_distance
from eocc.tables.sources import is_missing

Attributes = Mapping[str, Sequence[Any]]

KINDS = ("category", "number", "text")
# Attributes with these names usually say what an item is; the first counts most.
NAMING = ("symbol", "label", "element", "type", "name")
# Numbers farther apart than this many ranges are all equally far, so that sums of differences stay finite.
FARTHEST = 1e100
# Longer values and names of vertices lose their middle in texts.
LONGEST_VALUE = 24


@dataclass(frozen=True)
class Schema:
    """The attributes of vertices or of edges; `numbers` maps a name to its minimum and range in training.

    `naming` is the attribute that names an item in texts and pictures, None if there is none.
    """

    numbers: Annotated[dict[str, tuple[float, float]], mapping(hashable, tuple_of(real()))]
    categories: Annotated[tuple[str, ...], tuple_of(hashable)]
    texts: Annotated[tuple[str, ...], tuple_of(hashable)]
    naming: Annotated[str | None, hashable] = None

    def check_parts(self, sizes: Sizes) -> None:
        """Demand that every number has a minimum and a positive range."""
        demand(all(len(pair) == 2 and pair[1] > 0 for pair in self.numbers.values()), "a range must be positive")

    @property
    def names(self) -> list[str]:
        """All attributes: categories, texts, numbers."""
        return [*self.categories, *self.texts, *self.numbers]

    def words(self, name: str, value: Any) -> str:
        """Return an attribute as name and value, or a text that names the item as it is."""
        said = shortened(format_value(value).strip(), LONGEST_VALUE)
        return said if name == self.naming and isinstance(value, str) else f"{name} {said}"

    @property
    def naming_names(self) -> list[str]:
        """The attribute that names an item, if there is one."""
        return [] if self.naming is None else [self.naming]

    def label(self, values: Mapping[str, Any], names: Sequence[str] | None) -> str:
        """Return these attributes of an item in words; without names, the one that names it, or a few others."""
        if names is None:
            present = [name for name in (*self.numbers, *self.categories) if name in values]
            names = self.naming_names or present[:2]
        return ", ".join(self.words(name, values.get(name)) for name in names if name in values or name != self.naming)


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
        for odd in (value for value in values if not has_hash(value)):
            hint = f"make it one number or text, or leave it out: {of}_kinds={{{name!r}: 'ignore'}}"
            raise ValueError(f"{of} attribute {name!r} holds a {type(odd).__name__}; {hint}")
        return "category"
    # Text attributes are texts, not categories, if most values differ and are longer than 3 characters on average.
    is_text = len(set(values)) > len(values) / 2 and sum(map(len, values)) > 3 * len(values)
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
    numbers = np.empty(len(values))
    for k, value in enumerate(values):
        try:
            numbers[k] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError):
            hint = "replace it by None"
            raise ValueError(f"attribute {name!r} should hold numbers, but holds {value!r}; {hint}") from None
    if np.isinf(numbers).any():
        raise ValueError(f"attribute {name!r} holds infinity; drop or replace it")
    return numbers


def _coded(columns: Mapping[str, Sequence[Any]], known: dict[Any, int], total: int, key: Any) -> Indices:
    """Return one code per value, -1 if missing; unknown values get the next code."""
    coded = np.empty((len(columns), total), np.int64)
    for k, (name, values) in enumerate(columns.items()):
        try:
            coded[k] = [-1 if is_missing(v) else known.setdefault(key(v), len(known)) for v in values]
        except TypeError:
            odd = next(value for value in values if not has_hash(value))
            raise ValueError(f"attribute {name!r} held single values in training, but here {odd!r}") from None
    return coded


class FlatGraphs(NamedTuple):
    """Graphs one after another: `vertices` and `edges` say where those of each graph begin.

    `ends` are the ends of each edge, counted within its graph.
    """

    vertices: Indices
    edges: Indices
    degree: Indices
    ends: Indices
    is_directed: Flags
    of_vertices: Encoded
    of_edges: Encoded

    @classmethod
    def of(
        cls,
        schemas: tuple[Schema, Schema],
        graphs: Sequence[LabelledGraph],
        codes: dict[Any, int],
        texts: dict[str, int],
    ) -> "FlatGraphs":
        """Flatten the graphs; new categories and texts get the next code."""
        edges = [np.asarray(graph.edges) for graph in graphs]
        counts, n_edges = np.array([graph.n_vertices for graph in graphs]), np.array([*map(len, edges)])
        ends, is_directed = np.concatenate([np.empty((0, 2), np.int64), *edges]), [graph.directed for graph in graphs]
        degree = np.concatenate([np.bincount(e.ravel(), minlength=n) for e, n in zip(edges, counts, strict=True)])
        of_vertices = encode(schemas[0], [graph.vertex_attributes for graph in graphs], counts, codes, texts)
        of_edges = encode(schemas[1], [graph.edge_attributes for graph in graphs], n_edges, codes, texts)
        vertices, links = (np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64) for sizes in (counts, n_edges))
        return cls(vertices, links, degree, ends, np.array(is_directed, bool), of_vertices, of_edges)

    def followed_by(self, other: "FlatGraphs") -> "FlatGraphs":
        """Return the graphs of both."""

        def joint(name: str) -> Any:
            one, two = getattr(self, name), getattr(other, name)
            if isinstance(one, Encoded):
                return Encoded(*(np.concatenate(parts, axis=1) for parts in zip(one, two, strict=True)))
            # Starts end with a total, from which those of the other graphs continue.
            return np.concatenate([one, one[-1] + two[1:] if name in ("vertices", "edges") else two])

        return FlatGraphs(*map(joint, self._fields))


@dataclass(frozen=True, eq=False)
class GraphPairs:
    """Pairs of `graphs`, the patterns and then the prototypes: `n_left` patterns, or all if there are no prototypes.

    `table` holds the distances of the texts of patterns (rows) and of prototypes (columns).
    """

    graphs: FlatGraphs
    units: tuple[Matrix, Matrix]
    n_left: int
    table: Matrix

    @classmethod
    def of(cls, measure: Any, patterns: Any, prototypes: Any = None) -> "GraphPairs":
        """Flatten both sides, and compare their texts; the prototypes of a measure are flattened once."""
        schemas = measure.vertex, measure.edge

        def flatten() -> tuple[FlatGraphs, dict[Any, int], dict[str, int]]:
            codes, texts = dict[Any, int](), dict[str, int]()
            return FlatGraphs.of(schemas, prototypes, codes, texts), codes, texts

        right, known, other_texts = (None, {}, {}) if prototypes is None else derived(prototypes, measure, flatten)
        texts: dict[str, int] = {}
        graphs = FlatGraphs.of(schemas, patterns, dict(known), texts)
        if right is None:
            other_texts = texts
        else:
            graphs = graphs.followed_by(right)
        table = edit_distance(list(texts), list(other_texts)) if texts and other_texts else np.empty((0, 0))
        return cls(graphs, (units_of(schemas[0]), units_of(schemas[1])), len(patterns), table)

    @property
    def sizes(self) -> Indices:
        """The number of vertices of each graph."""
        return np.diff(self.graphs.vertices)

    def compare(self, left: Indices, right: Indices) -> Matrix:
        """Return S, I and E of graphs left[t] and right[t], the one with fewer vertices first: (3, pairs)."""
        is_larger = (self.sizes[left] > self.sizes[right])[:, None]
        pairs = np.where(is_larger, np.column_stack([right, left]), np.column_stack([left, right]))
        (n, m), (n_edges, m_edges) = self.sizes[pairs].T, np.diff(self.graphs.edges)[pairs].T
        _, _, total, shared, _, _ = self._counted(pairs, False)[0]
        costs = np.stack([total, m - n + m_edges - shared, n_edges - shared])
        return np.asarray(costs / np.maximum(n + m + n_edges + m_edges, 1))

    def compare_in_order(self, left: Indices, right: Indices) -> Matrix:
        """Return the four costs of TWEC of graphs left[t] and right[t]: (4, pairs)."""
        pairs = np.column_stack([left, right])
        (n, m), edges = self.sizes[pairs].T, np.diff(self.graphs.edges)[pairs].sum(axis=1)
        vertex_cost, edge_cost, _, shared, between, other_between = self._counted(pairs, True)[0]
        costs = [vertex_cost, edge_cost, between + other_between - 2 * shared, np.abs(n - m)]
        return np.stack(costs) / np.maximum([np.minimum(n, m), shared, edges, n + m], 1)

    def pairing(self, is_in_order: bool) -> list[int]:
        """Return the vertex of graph 1 for each vertex of graph 0, -1 for none."""
        n, m = self.sizes[:2].tolist()
        partner = self._counted(np.array([[0, 1]]), is_in_order)[1]
        return [*partner[: min(n, m)].tolist(), *[-1] * (n - min(n, m))]

    def costs(self) -> list[Matrix]:
        """Return the costs of replacing vertices, and edges, of graph 0 (rows) by those of graph 1 (columns)."""
        found, distances = [], (self.table.ravel(), self.table.shape[1], 1)
        both = (self.graphs.vertices, self.graphs.of_vertices), (self.graphs.edges, self.graphs.of_edges)
        for (starts, (numbers, texts)), units in zip(both, self.units, strict=True):
            cost = np.empty(np.diff(starts[:3]))
            fill_costs(0, starts[1], numbers, units, texts, distances, cost)
            found.append(cost)
        return found

    def _counted(self, pairs: Indices, is_in_order: bool) -> tuple[Matrix, Indices]:
        """Return what the kernel counts, (6, pairs), and the partners of the vertices of the last pair."""
        flat, largest = self.graphs, int(self.sizes.max(initial=0))
        found, costs = np.empty((len(pairs), 6)), np.empty(max(largest, 1) ** 2)
        room = (costs, costs.view(np.int64), *np.empty((3, largest), np.int64), *np.empty((2, max(largest, 1))))
        (numbers, texts), (e_numbers, e_texts) = flat.of_vertices, flat.of_edges
        graphs = flat[:3], flat[3:5], (numbers, self.units[0], texts, e_numbers, self.units[1], e_texts)
        compare_pairs(pairs, is_in_order, graphs, (self.table.ravel(), self.n_left, self.table.shape[1]), room, found)
        return found.T, room[2]
