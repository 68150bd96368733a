"""One GXL document -> a labelled graph, and what kinds of values its attributes hold."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eocc.foundation.printing import complaint, quoted
from eocc.io.graphs.safe_xml import RefusedError, XmlHandler, local_name, parse_xml, required
from eocc.measures.labelled_graph import LabelledGraph

INTEGERS = ("int", "integer")
REALS = ("float", "double")
TEXTS = ("string", "enum")
FLAGS = {"true": True, "false": False}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf(inity)?)", re.ASCII | re.IGNORECASE)
# More names than this, on few items each, would make tables far larger than the file they come from.
MOST_SPARSE = 64

Record = dict[str, Any]
Kinds = dict[tuple[str, str], dict[str, tuple[int, str]]]


@dataclass(frozen=True)
class Document:
    """A graph read from `where`. `kinds`: ("vertex", name) -> kind of value -> line and text where it came first."""

    where: str
    graph: LabelledGraph
    kinds: Kinds


def parse_gxl(data: bytes, where: str) -> Document:
    """Return the one graph of a GXL document."""
    reader = _Reader()
    parse_xml(data, where, reader)
    if reader.mode is None:
        raise complaint(where, None, "holds no <graph>")
    edges = _merged(where, _numbered(where, reader.edges, reader.vertices), directed=reader.directed)
    graph = LabelledGraph(
        len(reader.vertices),
        [[edge.start, edge.end] for edge in edges],
        _columns(where, list(reader.vertices.values())),
        _columns(where, [edge.record for edge in edges]),
        directed=reader.directed,
    )
    return Document(where, graph, reader.kinds)


def check_kinds(documents: Iterable[Document]) -> None:
    """Raise where the values of one attribute are of different kinds: numbers, text or flags."""
    first: dict[tuple[str, str], tuple[str, str]] = {}
    odd: dict[tuple[str, str], ValueError] = {}
    for document in documents:
        for key, kinds in document.kinds.items():
            for kind, (line, text) in kinds.items():
                if kind == "odd":
                    odd.setdefault(key, complaint(document.where, line, f"{quoted(text)} is not a finite number"))
                    continue
                known, place = first.setdefault(key, (kind, f"{document.where}:{line}"))
                if known != kind:
                    message = f"attribute {quoted(key[1])} is a {kind} here, {quoted(text)}, but a {known} in {place}"
                    raise complaint(document.where, line, message)
    # "INF" and "NAN" are amino-acid sequences among other such, and not numbers anywhere else.
    for key, error in odd.items():
        if first.get(key, ("number", ""))[0] != "text":
            raise error


@dataclass(slots=True)
class _Edge:
    line: int
    ends: tuple[str, str]
    record: Record
    start: int = -1
    end: int = -1


@dataclass
class _Reader(XmlHandler):
    """Takes the elements of a GXL document."""

    mode: str | None = None
    vertices: dict[str, Record] = field(default_factory=dict)
    edges: list[_Edge] = field(default_factory=list)
    kinds: Kinds = field(default_factory=dict)
    path: list[str] = field(default_factory=lambda: [""])
    record: Record = field(default_factory=dict)
    name: str = ""
    reading: bool = False
    pieces: list[str] = field(default_factory=list)

    @property
    def directed(self) -> bool:
        return self.mode == "directed"

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = local_name(tag)
        parent = self.path[-1]
        self.path.append(tag)
        take = STARTS.get(parent, {}).get(tag)
        if take:
            take(self, attributes)
        elif parent == "attr":
            self._start_value()
        elif parent != "type" and not (tag == "type" and parent in ("graph", "node", "edge")):
            raise RefusedError(f"<{quoted(tag)[1:-1]}> is not supported inside <{parent}>" if parent else NOT_GXL)

    def _start_root(self, attributes: dict[str, str]) -> None:
        pass

    def _start_graph(self, attributes: dict[str, str]) -> None:
        if self.mode is not None:
            raise RefusedError("a second <graph>: one file must hold one graph")
        self.mode = attributes.get("edgemode", "directed").lower().removeprefix("default")
        if self.mode not in ("directed", "undirected"):
            raise RefusedError(f"edgemode {quoted(self.mode)} is neither 'directed' nor 'undirected'")

    def _start_vertex(self, attributes: dict[str, str]) -> None:
        identity = required("node", attributes, "id")
        if identity in self.vertices:
            raise RefusedError(f"vertex {quoted(identity)} appears twice")
        self.record = self.vertices[identity] = {}

    def _start_edge(self, attributes: dict[str, str]) -> None:
        ends = required("edge", attributes, "from"), required("edge", attributes, "to")
        if attributes.get("isdirected", "") not in ("", "true" if self.directed else "false"):
            raise RefusedError(f"an edge against the graph's edgemode {self.mode!r}: mixed graphs are not supported")
        self.record = {}
        self.edges.append(_Edge(self.line, ends, self.record))

    def _start_attribute(self, attributes: dict[str, str]) -> None:
        self.name = required("attr", attributes, "name")
        if self.path[-2] == "graph":
            self.record = {}
        if self.name in self.record:
            raise RefusedError(f"attribute {quoted(self.name)} appears twice")

    def _start_value(self) -> None:
        if self.name in self.record:
            raise RefusedError(f"attribute {quoted(self.name)} holds more than one value")
        self.reading = True
        self.pieces = []

    def end(self, tag: str) -> None:
        tag = self.path.pop()
        if self.path[-1] == "attr":
            self._end_value(tag.lower())
        elif tag == "attr" and self.name not in self.record:
            raise RefusedError(f"attribute {quoted(self.name)} has no value")

    def _end_value(self, tag: str) -> None:
        self.reading = False
        text = "".join(self.pieces).strip()
        kind, self.record[self.name] = read_value(tag, text)
        owner = self.path[-2]
        if owner != "graph":
            found = self.kinds.setdefault(("vertex" if owner == "node" else "edge", self.name), {})
            if kind not in found:
                found[kind] = (self.line, text)

    def text(self, data: str) -> None:
        if self.reading:
            self.pieces.append(data)


NOT_GXL = "the document is not GXL: its first element is not <gxl>"
STARTS = {
    "": {"gxl": _Reader._start_root},
    "gxl": {"graph": _Reader._start_graph},
    "graph": {"node": _Reader._start_vertex, "edge": _Reader._start_edge, "attr": _Reader._start_attribute},
    "node": {"attr": _Reader._start_attribute},
    "edge": {"attr": _Reader._start_attribute},
}


def read_value(tag: str, text: str) -> tuple[str, Any]:
    """Return the kind ("number", "text", "flag", "odd": perhaps no number) and the value of a GXL value element.

    >>> read_value("int", "7"), read_value("int", "TPEEALAL"), read_value("int", "INF")
    (('number', 7), ('text', 'TPEEALAL'), ('odd', 'INF'))
    """
    if tag in TEXTS:
        return "text", text
    if tag == "bool" and text.lower() in FLAGS:
        return "flag", FLAGS[text.lower()]
    if tag not in (*INTEGERS, *REALS, "bool"):
        raise RefusedError(f"values in <{quoted(tag)[1:-1]}> are not supported")
    if tag in INTEGERS and text and not NUMBER.fullmatch(text):
        return "text", text
    if tag == "bool" or not NUMBER.fullmatch(text):
        raise RefusedError(f"{quoted(text)} is no {tag}")
    number = float(text)
    if math.isfinite(number):
        return "number", int(text) if tag in INTEGERS and text.lstrip("+-").isdigit() else number
    if tag in REALS:
        raise RefusedError(f"{quoted(text)} is not a finite number")
    return "odd", text


def _numbered(where: str, edges: Sequence[_Edge], vertices: Iterable[str]) -> Sequence[_Edge]:
    """Fill in the numbers of the vertices that each edge joins."""
    numbers = {identity: number for number, identity in enumerate(vertices)}
    for edge in edges:
        for identity in edge.ends:
            if identity not in numbers:
                raise complaint(where, edge.line, f"the edge joins vertex {quoted(identity)}, which does not exist")
        edge.start, edge.end = numbers[edge.ends[0]], numbers[edge.ends[1]]
    return edges


def _merged(where: str, edges: Sequence[_Edge], *, directed: bool) -> list[_Edge]:
    """Keep one of edges listed several times (an undirected one in either direction) with the same attributes."""
    kept: dict[tuple[int, int], _Edge] = {}
    for edge in edges:
        ends = (edge.start, edge.end) if directed or edge.start <= edge.end else (edge.end, edge.start)
        twin = kept.setdefault(ends, edge)
        if twin.record != edge.record:
            joined = " and ".join(map(quoted, edge.ends))
            raise complaint(where, edge.line, f"a second edge between {joined} contradicts that of line {twin.line}")
    return list(kept.values())


def _columns(where: str, records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Turn one record per item into one list per name, None where an item has no such name."""
    names = dict.fromkeys(name for record in records for name in record)
    if len(names) * len(records) > MOST_SPARSE * (len(records) + sum(map(len, records))):
        raise complaint(where, None, f"{len(names)} attributes, nearly all of them missing nearly everywhere")
    return {name: [record.get(name) for record in records] for name in names}
