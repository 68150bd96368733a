"""JSON lines, JSON and plain text -> chunks: columns if every value is a flat record, else objects."""

from collections.abc import Iterator, Sequence
from typing import Any

from eocc.foundation.printing import complaint, quoted
from eocc.io.files.chunk import Chunk, portions
from eocc.io.files.graphs import SameKinds
from eocc.io.files.node_link import graph_of_node_link, is_node_link
from eocc.io.files.plain_json import JsonError, parse_json
from eocc.io.files.source import LONGEST_LINE, Lines

# The name of the only column of a file with one number per line.
VALUE = "value"
LAYOUTS = {"record": "a record", "number": "a number", "graph": "a graph", "object": "a list or text"}

Value = tuple[int, Any]  # its line, or its number in an array; the value
Layout = tuple[str, frozenset[str]]  # one of LAYOUTS; the keys of a record


def text_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the lines of a text file as strings, without blank lines."""
    strings = ((lines.number, line.removesuffix("\n").removesuffix("\r")) for line in lines if line.strip())
    for first, part in portions(strings, lines):
        numbers, objects = zip(*part, strict=True)
        yield Chunk(lines.where, first, objects=objects, lines=numbers)


def json_line_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the values of a file with one JSON value per line; blank lines are ignored."""
    values = ((lines.number, _parsed(line, lines)) for line in lines if line.strip())
    reader = _Reader(lines.where, "line")
    for first, part in portions(values, lines):
        yield reader.chunk(first, part)


def _parsed(line: str, lines: Lines) -> Any:
    try:
        return parse_json(line)
    except JsonError as error:
        hint = "write one JSON value per line" if lines.number > 1 else (
            "if the file is one array over several lines, its format is json"
        )  # fmt: skip
        raise lines.fault(f"{error}; {hint}") from None


def json_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the items of a JSON array, or a single graph or record; the file is read whole."""
    try:
        whole = parse_json("".join(_bounded(lines)))
    except JsonError as error:
        remedy = "; one value per line is the format jsonl: rename the file to .jsonl" if error.is_extra else ""
        raise complaint(lines.where, error.line, f"{error}{remedy}") from None
    values = enumerate(whole if isinstance(whole, list) else [whole], start=1)
    reader = _Reader(lines.where, "row")
    for first, part in portions(values, lines):
        yield reader.chunk(first, part)


def _bounded(lines: Lines) -> Iterator[str]:
    for line in lines:
        if lines.size > LONGEST_LINE:
            raise lines.fault(f"more than {LONGEST_LINE} bytes in one value; write one value per line, as .jsonl")
        yield line


class _Reader:
    """Turns values into chunks of one layout, that of the first value."""

    def __init__(self, where: str, unit: str) -> None:
        self._where, self._unit = where, unit
        self._first: Layout | None = None
        self._kinds = SameKinds()

    def chunk(self, first: int, part: Sequence[Value]) -> Chunk:
        """Return the values as a chunk; raise if one has another layout than the first."""
        for number, value in part:
            layout = _layout_of(value)
            self._first = self._first or layout
            if layout != self._first:
                raise self._fault(number, _unlike(self._first, layout))
        assert self._first is not None
        kind, values = self._first[0], [value for _, value in part]
        lines = [number for number, _ in part] if self._unit == "line" else ()
        columns: dict[str, list[Any]] = {}
        if kind == "graph":
            values = self._graphs(part)
        elif kind == "number":
            columns, values = {VALUE: values}, []
        elif kind == "record" and values[0]:
            columns, values = {name: [value[name] for value in values] for name in values[0]}, []
        return Chunk(self._where, first, columns, values, lines=lines)

    def _graphs(self, part: Sequence[Value]) -> list[Any]:
        documents = []
        where = self._where if self._unit == "line" else f"{self._where}, {self._unit}"
        for number, value in part:
            try:
                documents.append(graph_of_node_link(value, where, number))
            except ValueError as error:
                raise self._fault(number, str(error)) from None
        self._kinds.check(documents)
        return [document.graph for document in documents]

    def _fault(self, number: int, message: str) -> ValueError:
        if self._unit == "line":
            return complaint(self._where, number, message)
        return complaint(self._where, None, f"{self._unit} {number}: {message}")


def _layout_of(value: Any) -> Layout:
    if is_node_link(value):
        return "graph", frozenset()
    if isinstance(value, dict):
        return "record", frozenset(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if is_number else "object", frozenset()


def _unlike(first: Layout, other: Layout) -> str:
    if first[0] == other[0]:
        odd = min(first[1] ^ other[1])
        lacks, has = ("this record", "the first") if odd in first[1] else ("the first record", "this one")
        return f"{lacks} has no {quoted(odd)}, but {has} has; give every record the same keys, null for missing values"
    return f"{LAYOUTS[other[0]]}, but the first is {LAYOUTS[first[0]]}; all must be of one kind"
