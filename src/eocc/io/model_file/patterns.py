"""Sets of patterns as few arrays: series and other arrays end to end, graphs by column, tables as one matrix."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Indices
from eocc.io.model_file.arrays import descr_of
from eocc.measures.columns import Column, Table
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.objects import Objects

Parts = dict[str, Any]


@dataclass(frozen=True)
class Packed:
    """What kind of set it is, and its parts by name: arrays, or values the codec knows."""

    tag: str
    parts: list[tuple[str, Any]]


@dataclass(frozen=True)
class Packer:
    """Takes a set apart; puts together the kinds it takes them apart into."""

    pack: Callable[[Any], Packed]
    unpack: dict[str, Callable[[Parts], Any]]


def pack_objects(objects: Objects) -> Packed:
    """Return arrays end to end, graphs by column, anything else item by item.

    >>> packed = pack_objects(Objects([np.zeros((2, 3)), np.zeros((1, 3))]))
    >>> packed.tag, dict(packed.parts)["lengths"].tolist()
    ('arrays', [2, 1])
    """
    items = list(objects)
    if _can_be_joined(items):
        lengths = np.array([len(item) for item in items], np.int64)
        return Packed("arrays", [("values", np.concatenate(items)), ("lengths", lengths)])
    if all(type(item) is LabelledGraph for item in items):
        return _pack_graphs(items)
    return Packed("objects", [("items", items)])


def _can_be_joined(items: Sequence[Any]) -> bool:
    if not all(type(item) is np.ndarray and item.ndim > 0 and descr_of(item) for item in items):
        return False
    return len({(item.dtype, item.shape[1:]) for item in items}) == 1


def _pack_graphs(graphs: Sequence[LabelledGraph]) -> Packed:
    edges = [np.asarray(graph.edges, np.int64) for graph in graphs]
    return Packed("graphs", [
        ("n_vertices", np.array([graph.n_vertices for graph in graphs], np.int64)),
        ("n_edges", np.array([len(ends) for ends in edges], np.int64)),
        ("edges", np.concatenate(edges)),
        ("directed", np.array([bool(graph.directed) for graph in graphs])),
        ("vertex_attributes", _pack_attributes([graph.vertex_attributes for graph in graphs])),
        ("edge_attributes", _pack_attributes([graph.edge_attributes for graph in graphs])),
    ])  # fmt: skip


def _pack_attributes(attributes: Sequence[Any]) -> list[tuple[Any, NDArray[np.bool_], Any]]:
    """Return per name: the name, which graphs have it, and the values of those end to end."""
    names = dict.fromkeys(name for mapping in attributes for name in mapping)
    return [
        (
            name,
            np.array([name in mapping for mapping in attributes]),
            _compact([value for mapping in attributes for value in mapping.get(name, ())]),
        )
        for name in names
    ]


def _compact(values: list[Any]) -> Any:
    """Return numbers or booleans of one type as an array, any other values as they are."""
    kinds = set(map(type, values))
    if kinds and kinds <= {float, np.float64}:
        return np.array(values, np.float64)
    if kinds == {bool}:
        return np.array(values)
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, np.int64)
    return values


def _unpack_arrays(parts: Parts) -> Objects:
    values, lengths = _array(parts, "values"), _counts(parts, "lengths")
    return Objects(_split(values, lengths))


def _unpack_items(parts: Parts) -> Objects:
    if type(parts["items"]) is not list:
        raise ValueError("a set of patterns needs a list of them")
    return Objects(parts["items"])


def _unpack_graphs(parts: Parts) -> Objects:
    n_vertices, n_edges, directed = _counts(parts, "n_vertices"), _counts(parts, "n_edges"), _array(parts, "directed")
    edges = _array(parts, "edges")
    if len(n_vertices) != len(n_edges) or directed.shape != n_edges.shape or directed.dtype != bool:
        raise ValueError("the graphs' numbers of vertices and edges, and whether they are directed, must be as many")
    if edges.dtype != np.int64 or edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError("the graphs' edges must be pairs of integers")
    by_vertex = _unpack_attributes(parts["vertex_attributes"], n_vertices)
    by_edge = _unpack_attributes(parts["edge_attributes"], n_edges)
    ends = _split(edges, n_edges)
    numbers = range(len(n_edges))
    return Objects(
        LabelledGraph(int(n_vertices[g]), next(ends), by_vertex[g], by_edge[g], bool(directed[g])) for g in numbers
    )


def _unpack_attributes(packed: Any, counts: Indices) -> list[dict[Any, list[Any]]]:
    """Return the attributes of every graph by name; `counts` are its vertices or edges."""
    attributes: list[dict[Any, list[Any]]] = [{} for _ in counts]
    for name, present, values in packed:
        if type(present) is not np.ndarray or present.dtype != bool or present.shape != counts.shape:
            raise ValueError(f"attribute {str(name)[:40]!r} does not say which graphs have it")
        listed = values.tolist() if isinstance(values, np.ndarray) and values.ndim == 1 else values
        if type(listed) is not list:
            raise ValueError(f"attribute {str(name)[:40]!r} holds no list of values")
        for graph, own in zip(np.flatnonzero(present), _split(listed, counts[present]), strict=True):
            attributes[graph][name] = own
    return attributes


def _split(values: Any, lengths: Indices) -> Iterator[Any]:
    """Return what yields the pieces of those lengths."""
    # Each length first: the sum of huge ones would come round again to a small number.
    if (lengths > len(values)).any() or int(lengths.sum()) != len(values):
        raise ValueError(f"{len(values)} values cannot be split as their lengths say")
    stops = np.cumsum(lengths)
    return (values[start:stop] for start, stop in zip(stops - lengths, stops, strict=True))


def _array(parts: Parts, key: str) -> NDArray[Any]:
    array = parts[key]
    if type(array) is not np.ndarray or array.ndim == 0:
        raise ValueError(f"{key} must be an array")
    return array


def _counts(parts: Parts, key: str) -> Indices:
    array = _array(parts, key)
    if array.dtype != np.int64 or array.ndim != 1 or (array < 0).any():
        raise ValueError(f"{key} must be integers >= 0")
    return array


def pack_table(table: Table) -> Packed:
    """Return the columns' values as one matrix, a row per column, and what is known of each column."""
    columns = table.columns
    return Packed("table", [
        ("values", np.array([column.values for column in columns])),
        ("names", [column.name for column in columns]),
        ("contents", [column.contents for column in columns]),
        ("labels", [column.labels for column in columns]),
        ("levels", [column.levels for column in columns]),
    ])  # fmt: skip


def _unpack_table(parts: Parts) -> Table:
    values, lists = _array(parts, "values"), [parts[key] for key in ("names", "contents", "labels", "levels")]
    if values.dtype != np.float64 or values.ndim != 2 or values.size == 0 or np.isinf(values).any():
        raise ValueError("a table must be a matrix of numbers")
    if any(type(part) is not list or len(part) != len(values) for part in lists):
        raise ValueError(f"a table of {len(values)} columns must have as many names, contents, labels and levels")
    return Table(tuple(_column(row, *known) for row, *known in zip(values, *lists, strict=True)))


def _column(values: NDArray[np.float64], name: Any, contents: Any, labels: Any, levels: Any) -> Column:
    if type(contents) is not frozenset or not all(part is None or type(part) is tuple for part in (labels, levels)):
        raise ValueError(f"column {str(name)[:40]!r} must have a set of contents, and tuples of labels and levels")
    present = values[~np.isnan(values)]
    if labels is not None and not ((present >= 0) & (present < len(labels)) & (present == np.floor(present))).all():
        raise ValueError(f"column {str(name)[:40]!r} refers to labels it does not have")
    return Column(name, contents, values.copy(), labels, levels)


PACKERS: dict[type, Packer] = {
    Objects: Packer(
        pack_objects, {"arrays": _unpack_arrays, "graphs": _unpack_graphs, "objects": _unpack_items}
    ),
    Table: Packer(pack_table, {"table": _unpack_table}),
}  # fmt: skip
