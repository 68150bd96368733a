"""JSON lines, JSON and plain text -> chunks: columns if every value is a flat record, else objects.

A graph is node-link JSON, the form that networkx and others write.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from eocc.foundation.printing import complaint, quoted
from eocc.io.files.chunk import Chunk, portions
from eocc.io.files.source import LONGEST_LINE, Lines
from eocc.io.graphs.gxl_graph import Document, Kinds, SameKinds, columns_of
from eocc.io.strict_json import JsonError, parse_json
from eocc.measures.labelled_graph import LabelledGraph
from eocc.tables.sources import column_of_cells
from eocc.tables.table import Table

# The name of the only column of a file with one number per line.
VALUE = "value"
LAYOUTS = {"record": "a record", "number": "a number", "graph": "a graph", "object": "a list or text"}

Layout = tuple[str, frozenset[str]]  # one of LAYOUTS; the keys of a record
Items = list[dict[str, Any]]


def text_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the lines of a text file as strings, without blank lines."""
    strings = ((lines.number, line.removesuffix("\n").removesuffix("\r")) for line in lines if line.strip())
    for first, part in portions(strings, lines):
        numbers, objects = zip(*part, strict=True)
        yield Chunk(lines.where, first, objects=objects, lines=numbers)


def json_line_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the values of a file with one JSON value per line; blank lines are ignored."""
    return _chunks(((lines.number, _parsed(line, lines)) for line in lines if line.strip()), lines)


def _parsed(line: str, lines: Lines) -> Any:
    try:
        return parse_json(line)
    except JsonError as error:
        hint = "write one JSON value per line" if lines.number > 1 else (
            "if the file is one array over several lines, its format is json"
        )  # fmt: skip
        raise lines.fault(f"{error}; {hint}") from None


def json_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the items of a JSON array, a single graph or record, or one value per line; the file is read whole."""
    text = list(_bounded(lines))
    try:
        whole = parse_json("".join(text))
        values = [(0, value) for value in (whole if isinstance(whole, list) else [whole])]
    except JsonError as error:
        values = _one_per_line(text) if error.is_extra else []
        if not values:
            raise complaint(lines.where, error.line, str(error)) from None
    yield from _chunks(iter(values), lines)


def _one_per_line(text: list[str]) -> list[tuple[int, Any]]:
    """Return the values of JSON lines, with the numbers of their lines; none if a line is something else."""
    try:
        return [(number, parse_json(line)) for number, line in enumerate(text, 1) if line.strip()]
    except JsonError:
        return []


def _bounded(lines: Lines) -> Iterator[str]:
    for line in lines:
        if lines.size > LONGEST_LINE:
            raise lines.fault(f"more than {LONGEST_LINE} bytes in one value; write one value per line, as .jsonl")
        yield line


def _chunks(values: Iterator[tuple[int, Any]], lines: Lines) -> Iterator[Chunk]:
    """Yield values, each with its line or 0, as chunks of one layout, that of the first value."""
    expected, kinds = None, SameKinds()
    for first, part in portions(values, lines):
        numbers, objects = zip(*part, strict=True)
        chunk = Chunk(lines.where, first, objects=objects, lines=numbers if all(numbers) else ())
        for index, value in enumerate(objects):
            layout = _layout_of(value)
            expected = expected or layout
            if layout != expected:
                raise chunk.fault(index, _unlike(expected, layout))
        if isinstance(objects[0], dict) and _is_node_link(objects[0]):
            chunk = replace(chunk, objects=_graphs(chunk, kinds))
        elif isinstance(objects[0], dict) and objects[0]:
            columns = [column_of_cells(name, [value[name] for value in objects]) for name in objects[0]]
            chunk = replace(chunk, table=Table(tuple(columns)), objects=())
        elif _is_number(objects[0]):
            chunk = replace(chunk, table=Table((column_of_cells(VALUE, objects),)), objects=())
        yield chunk


def _layout_of(value: Any) -> Layout:
    if _is_node_link(value):
        return "graph", frozenset()
    if isinstance(value, dict):
        return "record", frozenset(value)
    return "number" if _is_number(value) else "object", frozenset()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unlike(first: Layout, other: Layout) -> str:
    if first[0] == other[0]:
        odd = min(first[1] ^ other[1])
        lacks, has = ("this record", "the first") if odd in first[1] else ("the first record", "this one")
        return f"{lacks} has no {quoted(odd)}, but {has} has; give every record the same keys, null for missing values"
    return f"{LAYOUTS[other[0]]}, but the first is {LAYOUTS[first[0]]}; all must be of one kind"


def _graphs(chunk: Chunk, kinds: SameKinds) -> list[LabelledGraph]:
    documents = []
    for index, value in enumerate(chunk.objects):
        line = chunk.lines[index] if chunk.lines else chunk.first + index + 1
        try:
            documents.append(graph_of_node_link(value, chunk.where if chunk.lines else f"{chunk.where}, row", line))
        except ValueError as error:
            raise chunk.fault(index, str(error)) from None
    kinds.check(documents)
    return [document.graph for document in documents]


def _is_node_link(value: Any) -> bool:
    """Say whether a JSON value is a graph: an object with lists of "nodes" and of "links" (or "edges")."""
    parts = (value.get("nodes"), value.get("links", value.get("edges"))) if isinstance(value, dict) else ()
    return len(parts) > 0 and all(isinstance(part, list) for part in parts)


def graph_of_node_link(value: dict[str, Any], where: str, line: int) -> Document:
    """Return the graph. Missing attributes are None. Edges have no direction unless "directed" is true.

    Nodes without an "id" are known by their number, from 0.

    >>> graph_of_node_link({"nodes": [{"id": 1, "symbol": "C"}, {"id": 2, "symbol": "N"}],
    ...                     "links": [{"source": 1, "target": 2, "valence": 1}]}, "a file", 1).graph.vertex_attributes
    {'symbol': ['C', 'N']}
    """
    nodes, links = value["nodes"], value.get("links", value.get("edges", []))
    if not all(isinstance(item, dict) for item in [*nodes, *links]):
        raise ValueError('every node and every link must be an object: {"id": 1}, {"source": 1, "target": 2}')
    if value.get("multigraph") not in (None, False):
        raise ValueError("multigraphs are not supported; merge parallel links")
    directed = value.get("directed", False)
    if directed not in (True, False):
        raise ValueError(f'"directed" must be true or false, not {quoted(str(directed))}')
    kinds: Kinds = {}
    vertices = _attributes(nodes, {"id"}, "vertex", line, kinds)
    edges = _attributes(links, {"source", "target", "key"}, "edge", line, kinds)
    ends = np.array(_ends(nodes, links), np.int64).reshape(-1, 2)
    names = [str(node.get("id", index)) for index, node in enumerate(nodes)]
    graph = LabelledGraph(len(nodes), ends, vertices, edges, directed=bool(directed), vertex_names=names)
    return Document(where, graph, kinds)


def _ends(nodes: Items, links: Items) -> list[tuple[int, int]]:
    numbers: dict[str | float, int] = {}
    for index, node in enumerate(nodes):
        key = _identity(node.get("id", index))
        if numbers.setdefault(key, index) != index:
            raise ValueError(f"the node id {quoted(str(key))} occurs twice; rename one")
    return [(_end(link, "source", numbers), _end(link, "target", numbers)) for link in links]


def _end(link: dict[str, Any], name: str, numbers: dict[str | float, int]) -> int:
    if name not in link:
        raise ValueError(f'a link has no "{name}"; every link needs "source" and "target"')
    key = _identity(link[name])
    if key not in numbers:
        raise ValueError(f"a link names the node {quoted(str(key))}, which does not exist; correct it")
    return numbers[key]


def _identity(key: Any) -> str | float:
    if isinstance(key, bool) or not isinstance(key, str | int | float):
        raise ValueError(f"a node id must be a number or text, not {quoted(str(key))}")
    return key


def _attributes(items: Items, apart: set[str], owner: str, line: int, kinds: Kinds) -> dict[str, list[Any]]:
    """Return one list per attribute, and add the kinds of their values to `kinds`."""
    records = [{name: item[name] for name in item if name not in apart} for item in items]
    for record in records:
        for name, value in record.items():
            if value is not None:
                kinds.setdefault((owner, name), {}).setdefault(_kind(name, value), (line, str(value)))
    return columns_of(records)


def _kind(name: str, value: Any) -> str:
    if isinstance(value, dict | list):
        raise ValueError(f"the attribute {quoted(name)} holds a list or an object; leave it out, or split it")
    return "flag" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
