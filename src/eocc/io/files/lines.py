"""JSON lines, JSON and plain text -> chunks: columns if every value is a flat record, else objects."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from eocc.foundation.printing import complaint, quoted
from eocc.io.files.chunk import Chunk, portions
from eocc.io.files.source import LONGEST_LINE, Lines
from eocc.io.graphs.gxl_graph import SameKinds
from eocc.io.graphs.node_link import graph_of_node_link, is_node_link
from eocc.io.strict_json import JsonError, parse_json
from eocc.measures.labelled_graph import LabelledGraph
from eocc.tables.sources import column_of_cells
from eocc.tables.table import Table

# The name of the only column of a file with one number per line.
VALUE = "value"
LAYOUTS = {"record": "a record", "number": "a number", "graph": "a graph", "object": "a list or text"}

Layout = tuple[str, frozenset[str]]  # one of LAYOUTS; the keys of a record


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
        if isinstance(objects[0], dict) and is_node_link(objects[0]):
            chunk = replace(chunk, objects=_graphs(chunk, kinds))
        elif isinstance(objects[0], dict) and objects[0]:
            columns = [column_of_cells(name, [value[name] for value in objects]) for name in objects[0]]
            chunk = replace(chunk, table=Table(tuple(columns)), objects=())
        elif _is_number(objects[0]):
            chunk = replace(chunk, table=Table((column_of_cells(VALUE, objects),)), objects=())
        yield chunk


def _layout_of(value: Any) -> Layout:
    if is_node_link(value):
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
