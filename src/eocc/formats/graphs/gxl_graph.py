"""One GXL document -> a labelled graph, and the kinds of values in its attributes."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xml.parsers import expat

from eocc.base.printing import complaint, quoted
from eocc.measures.labelled_graph import LabelledGraph

# Other encodings, such as UTF-7, are only used to hide something.
ENCODINGS = re.compile(r"utf-?8|utf-?16([lb]e)?|(us-)?ascii|iso-8859-\d+|latin-?1|windows-125\d", re.IGNORECASE)

# Expat reports an unknown entity in text, but drops it from an attribute if a DTD could have declared it.
ENTITY_IN_TAG = re.compile(rb"<[^!?<>][^<>]*&(?!(?:amp|lt|gt|quot|apos|#\w+);)")


class RefusedError(Exception):
    """What a handler finds wrong at the current line."""


def parse_xml(data: bytes, where: str, start: Any, end: Any = None, text: Any = None) -> None:
    """Call start(tag, attributes, line) and end(tag, line) for the elements of a document, and text(data)."""
    parser = expat.ParserCreate(intern={})
    parser.buffer_text = True
    # Tags without the prefix of their namespace.
    parser.StartElementHandler = lambda tag, found: start(tag.rpartition(":")[2], found, parser.CurrentLineNumber)
    parser.EndElementHandler = end and (lambda tag: end(tag.rpartition(":")[2], parser.CurrentLineNumber))
    parser.CharacterDataHandler = text
    parser.XmlDeclHandler = _check_encoding
    parser.StartDoctypeDeclHandler = _check_doctype
    parser.EntityDeclHandler = parser.SkippedEntityHandler = _refuse_entity
    try:
        parser.Parse(data, True)
    except RefusedError as error:
        raise complaint(where, parser.CurrentLineNumber, str(error)) from None
    except expat.ExpatError as error:
        raise complaint(where, error.lineno, f"not well-formed XML: {expat.ErrorString(error.code)}") from None
    except (LookupError, ValueError) as error:
        raise complaint(where, parser.CurrentLineNumber, f"not well-formed XML: {error}") from None
    finally:
        parser.StartElementHandler = parser.EndElementHandler = None  # a cycle that would keep everything that was read
    if b"&" in data and (found := ENTITY_IN_TAG.search(data)):
        raise complaint(where, data.count(b"\n", 0, found.end()) + 1, "an attribute names an unknown entity")


def required(tag: str, attributes: dict[str, str], name: str) -> str:
    """Return an attribute that an element must have."""
    value = attributes.get(name, "").strip()
    if not value:
        raise RefusedError(f"<{tag}> has no {name!r}")
    return value


def _check_encoding(version: str, encoding: str | None, standalone: int) -> None:
    if encoding and not ENCODINGS.fullmatch(encoding):
        raise RefusedError(f"the encoding {quoted(encoding)} is not supported: save the file as UTF-8")


def _check_doctype(name: str, system_id: str | None, public_id: str | None, has_internal_subset: int) -> None:
    if has_internal_subset:  # the mere name of a DTD is harmless: it is never looked up
        raise RefusedError("declarations inside the DOCTYPE are refused: they can hide files or bombs")


def _refuse_entity(name: str, *_: object) -> None:
    raise RefusedError(f"the entity {quoted(name)} is refused")


INTEGERS, REALS, TEXTS = ("int", "integer"), ("float", "double"), ("string", "enum")
FLAGS = {"true": True, "false": False}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf(inity)?)", re.ASCII | re.IGNORECASE)

# The elements inside each element whose start a method takes.
TAKEN = {"gxl": ("graph",), "graph": ("node", "edge", "attr"), "node": ("attr",), "edge": ("attr",)}

Record = dict[str, Any]
Kinds = dict[tuple[str, str], dict[str, tuple[int, str]]]


@dataclass(frozen=True)
class Document:
    """A graph read from `where`. `kinds`: ("vertex", name) -> kind of value -> first line and text with that kind."""

    where: str
    graph: LabelledGraph
    kinds: Kinds


def parse_gxl(data: bytes, where: str) -> Document:
    """Return the one graph of a GXL document."""
    reader = _Reader()
    parse_xml(data, where, reader.start, reader.end, reader.text)
    if reader.mode is None:
        raise complaint(where, None, "holds no <graph>")
    edges = _merged(where, reader)
    try:
        columns = columns_of([*reader.vertices.values()]), columns_of([edge.record for edge in edges.values()])
    except ValueError as error:
        raise complaint(where, None, str(error)) from None
    ends, names = [list(pair) for pair in edges], list(reader.vertices)
    graph = LabelledGraph(len(names), ends, *columns, directed=reader.directed, vertex_names=names)
    return Document(where, graph, reader.kinds)


class SameKinds:
    """Checks that the values of an attribute are of one kind in all graphs: numbers, text or flags."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], tuple[str, str]] = {}

    def check(self, documents: Iterable[Document]) -> None:
        """Raise if an attribute is of another kind than in other graphs, these or earlier ones."""
        odd: dict[tuple[str, str], ValueError] = {}
        for document in documents:
            found = ((key, kind, *first) for key, kinds in document.kinds.items() for kind, first in kinds.items())
            for key, kind, line, text in found:
                if kind == "odd":
                    odd.setdefault(key, complaint(document.where, line, f"{quoted(text)} is not a finite number"))
                    continue
                known, place = self._first.setdefault(key, (kind, f"{document.where}:{line}"))
                if known != kind:
                    message = f"attribute {quoted(key[1])} is a {kind} here, {quoted(text)}, but a {known} in {place}"
                    raise complaint(document.where, line, message)
        # "INF" and "NAN" are amino-acid sequences among other sequences, and mistakes among numbers.
        for key, error in odd.items():
            if self._first.get(key, ("number", ""))[0] != "text":
                raise error


def columns_of(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return one list per attribute, None where a record lacks it."""
    names = dict.fromkeys(name for record in records for name in record)
    # Many attributes that most items lack would make tables far larger than their file: 64 times is allowed.
    if len(names) * len(records) > 64 * (len(records) + sum(map(len, records))):
        raise ValueError(f"{len(names)} attributes, most of them missing in most items; drop them")
    return {name: [record.get(name) for record in records] for name in names}


class _Edge(NamedTuple):
    line: int
    ends: tuple[str, str]
    record: Record


@dataclass
class _Reader:
    """Takes the elements of a GXL document."""

    mode: str | None = None
    vertices: dict[str, Record] = field(default_factory=dict)
    edges: list[_Edge] = field(default_factory=list)
    kinds: Kinds = field(default_factory=dict)
    path: list[str] = field(default_factory=lambda: [""])
    record: Record = field(default_factory=dict)
    name: str = ""
    pieces: list[str] | None = None  # of the value being read
    line: int = 0

    @property
    def directed(self) -> bool:
        return self.mode == "directed"

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        parent, self.line = self.path[-1], line
        self.path.append(tag)
        if tag in TAKEN.get(parent, ()):
            getattr(self, f"_start_{tag}")(attributes)
        elif parent == "attr":
            if self.name in self.record:
                raise RefusedError(f"attribute {quoted(self.name)} holds more than one value")
            self.pieces = []
        elif not parent and tag != "gxl":
            raise RefusedError("the document is not GXL: its first element is not <gxl>")
        elif parent not in ("", "type") and not (tag == "type" and "attr" in TAKEN.get(parent, ())):
            raise RefusedError(f"<{quoted(tag)[1:-1]}> is not supported inside <{parent}>")

    def _start_graph(self, attributes: dict[str, str]) -> None:
        if self.mode is not None:
            raise RefusedError("a second <graph>: one file must hold one graph")
        self.mode = attributes.get("edgemode", "directed").lower().removeprefix("default")
        if self.mode not in ("directed", "undirected"):
            raise RefusedError(f"edgemode {quoted(self.mode)} is neither 'directed' nor 'undirected'")

    def _start_node(self, attributes: dict[str, str]) -> None:
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

    def _start_attr(self, attributes: dict[str, str]) -> None:
        self.name = required("attr", attributes, "name")
        if self.path[-2] == "graph":
            self.record = {}
        if self.name in self.record:
            raise RefusedError(f"attribute {quoted(self.name)} appears twice")

    def end(self, tag: str, line: int) -> None:
        self.path.pop()
        if self.path[-1] == "attr":
            text = "".join(self.pieces or ()).strip()
            self.pieces = None
            kind, self.record[self.name] = read_value(tag.lower(), text)
            owner = self.path[-2]
            if owner != "graph":
                found = self.kinds.setdefault(("vertex" if owner == "node" else "edge", self.name), {})
                found.setdefault(kind, (line, text))
        elif tag == "attr" and self.name not in self.record:
            raise RefusedError(f"attribute {quoted(self.name)} has no value")

    def text(self, data: str) -> None:
        if self.pieces is not None:
            self.pieces.append(data)


def read_value(tag: str, text: str) -> tuple[str, Any]:
    """Return the kind ("number", "text", "flag", or "odd" for INF and NAN) and the value of a GXL value element.

    >>> read_value("int", "7"), read_value("int", "TPEEALAL"), read_value("int", "INF")
    (('number', 7), ('text', 'TPEEALAL'), ('odd', 'INF'))
    """
    if tag in TEXTS:
        return "text", text
    if tag == "bool" and text.lower() in FLAGS:
        return "flag", FLAGS[text.lower()]
    if tag not in (*INTEGERS, *REALS, "bool"):
        raise RefusedError(f"values in <{quoted(tag)[1:-1]}> are not supported")
    if tag == "bool" or not NUMBER.fullmatch(text):
        if tag in INTEGERS and text:
            return "text", text
        raise RefusedError(f"{quoted(text)} is not a valid {tag}")
    number = float(text)
    if math.isfinite(number):
        return "number", int(text) if tag in INTEGERS and text.lstrip("+-").isdigit() else number
    if tag in REALS:
        raise RefusedError(f"{quoted(text)} is not a finite number")
    return "odd", text


def _merged(where: str, reader: _Reader) -> dict[tuple[int, int], _Edge]:
    """Return the edges by their vertices. An edge may be listed again, an undirected one also in reverse."""
    numbers = {identity: number for number, identity in enumerate(reader.vertices)}
    edges: dict[tuple[int, int], _Edge] = {}
    reverse: dict[tuple[int, int], tuple[int, int]] = {}
    for edge in reader.edges:
        for identity in edge.ends:
            if identity not in numbers:
                raise complaint(where, edge.line, f"the edge joins vertex {quoted(identity)}, which does not exist")
        ends = numbers[edge.ends[0]], numbers[edge.ends[1]]
        key = ends if reader.directed or ends not in reverse else reverse[ends]
        twin = edges.setdefault(key, edge)
        reverse[ends[::-1]] = key
        if twin.record != edge.record:
            joined = " and ".join(map(quoted, edge.ends))
            raise complaint(where, edge.line, f"a second edge between {joined} contradicts that of line {twin.line}")
    return edges
