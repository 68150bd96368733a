"""JSON lines, JSON and plain text -> chunks: of columns where every value is a flat record, else of objects."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eocc.foundation.printing import complaint, quoted
from eocc.io.files.chunk import Chunk
from eocc.io.files.graphs import SameKinds
from eocc.io.files.node_link import graph_of_node_link, is_node_link
from eocc.io.files.plain_json import JsonError, parse_json
from eocc.io.files.source import LONGEST_LINE, Lines, portions
from eocc.io.graphs.gxl_graph import Document

# What a line with a number alone is the only column of.
VALUE = "value"

Value = tuple[int, Any]  # its line, or its number in an array; the value


def text_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the lines of a text file as strings, without their ends; blank lines do not count."""
    strings = ((lines.number, line.removesuffix("\n").removesuffix("\r")) for line in lines if line.strip())
    for first, part in portions(strings, lines):
        numbers, objects = zip(*part, strict=True)
        yield Chunk(lines.where, first, objects=objects, lines=numbers)


def json_line_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the values of a file with one JSON value a line; blank lines do not count."""
    values = ((lines.number, _parsed(line, lines)) for line in lines if line.strip())
    reader = _Reader(lines.where, "line")
    for first, part in portions(values, lines):
        yield reader.chunk(first, part)


def _parsed(line: str, lines: Lines) -> Any:
    try:
        return parse_json(line)
    except JsonError as error:
        hint = "" if lines.number > 1 else "; one array over several lines is the format json"
        raise lines.fault(f"{error}{hint or '; write one JSON value a line'}") from None


def json_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the items of a JSON array, or a single graph or record; the file is read whole."""
    try:
        whole = parse_json("".join(_bounded(lines)))
    except JsonError as error:
        remedy = "; one value a line is the format jsonl: name the file .jsonl" if error.is_extra else ""
        raise complaint(lines.where, error.line, f"{error}{remedy}") from None
    values = enumerate(whole if isinstance(whole, list) else [whole], start=1)
    reader = _Reader(lines.where, "pattern")
    for first, part in portions(values, lines):
        yield reader.chunk(first, part)


def _bounded(lines: Lines) -> Iterator[str]:
    for line in lines:
        if lines.size > LONGEST_LINE:
            raise lines.fault(f"more than {LONGEST_LINE} bytes in one value; write one pattern a line, as .jsonl")
        yield line


class _Reader:
    """Turns values into chunks of one layout, that of the first value: records, numbers, or objects."""

    def __init__(self, where: str, unit: str) -> None:
        self._where, self._unit = where, unit
        self._layout: _Layout | None = None
        self._kinds = SameKinds()

    def chunk(self, first: int, part: Sequence[Value]) -> Chunk:
        """Return the values as a chunk, or say which is unlike the first."""
        for number, value in part:
            layout = _layout_of(value)
            known = self._layout = self._layout or layout
            if layout != known:
                raise self._fault(number, _unlike(known, layout))
        values = [value for _, value in part]
        numbers = [number for number, _ in part] if self._unit == "line" else ()
        if self._layout is not None and self._layout.kind == "graph":
            return Chunk(self._where, first, objects=self._graphs(part), lines=numbers)
        columns = COLUMNS[self._layout.kind](values) if self._layout and self._layout.kind in COLUMNS else {}
        return Chunk(self._where, first, columns, () if columns else values, lines=numbers)

    def _graphs(self, part: Sequence[Value]) -> list[Any]:
        documents = list[Document]()
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


@dataclass(frozen=True)
class _Layout:
    """What a value is: record, number, graph or object; and the keys of a record."""

    kind: str
    keys: frozenset[str] = frozenset()


def _layout_of(value: Any) -> _Layout:
    if is_node_link(value):
        return _Layout("graph")
    if isinstance(value, dict):
        return _Layout("record", frozenset(value))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _Layout("number" if is_number else "object")


def _unlike(first: _Layout, other: _Layout) -> str:
    if first.kind == other.kind == "record":
        odd = min(first.keys ^ other.keys)
        lacks, has = ("this one", "the first") if odd in first.keys else ("the first", "this one")
        return f"{lacks} has no {quoted(odd)}, {has} has; every record needs the same keys: write null if missing"
    said = {"record": "a record", "number": "a number", "graph": "a graph", "object": "a list or text"}
    return f"{said[other.kind]}, but the first is {said[first.kind]}; patterns must all be of one kind"


COLUMNS: dict[str, Callable[[Sequence[Any]], dict[str, list[Any]]]] = {
    "record": lambda values: {name: [value[name] for value in values] for name in values[0]},
    "number": lambda values: {VALUE: list(values)},
}
