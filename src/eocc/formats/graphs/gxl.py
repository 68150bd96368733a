"""Graph collections in GXL (one file per graph) with CXL indices (file name, class), as IAM distributes them."""

import os
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, NamedTuple

from eocc.base.printing import complaint, quoted
from eocc.base.registry import choose
from eocc.formats.archive import SAFE, Collection, Limits, is_inside, read_file
from eocc.formats.graphs.gxl_graph import SameKinds, parse_gxl, parse_xml, required
from eocc.measures.labelled_graph import LabelledGraph

# The names of the index of a split, in upper or lower case; the first that exists is read.
SPLITS = {"train": ("train.cxl", "training.cxl"), "valid": ("valid.cxl", "validation.cxl"), "test": ("test.cxl",)}

# What to do with a graph that an index lists with two classes: leave it out, or choose one.
TWO_CLASSES = ("skip", "first", "last")


@dataclass(frozen=True, eq=False, repr=False)
class GraphSet:
    """Graphs, and for each its class and its name in the collection.

    >>> GraphSet([LabelledGraph(1), LabelledGraph(2)], ["a", "b"], ["first", "second"])
    <GraphSet of 2 graphs in 2 classes>
    """

    graphs: list[LabelledGraph]
    labels: list[str]
    names: list[str]

    def __repr__(self) -> str:
        return f"<GraphSet of {len(self.graphs)} graphs in {len(set(self.labels))} classes>"


class Entry(NamedTuple):
    """A line of an index: the file of a graph, its class, and the line number."""

    file: str
    label: str
    line: int


def read_gxl(path_or_file: str | os.PathLike[str] | IO[bytes], *, limits: Limits = SAFE) -> LabelledGraph:
    """Return the graph of a GXL file (a path, or a file open in binary mode).

    Vertices keep the order of the file. Values are int, float, double, string, enum or bool. An <int> that is not a
    number is text (IAM's proteins), but one attribute cannot hold both numbers and text. Missing attributes are None.
    Without `edgemode` a graph is directed, as GXL defines. An edge that is listed again (an undirected one also in
    reverse) counts once if its attributes are the same, otherwise it is an error. Attributes of the graph itself and
    <type> are ignored. Hyperedges, nested graphs, mixed graphs and entities are refused; a DTD is never looked up.

    >>> import io
    >>> text = b'''<gxl><graph edgemode="undirected"><node id="a"><attr name="symbol"><string>C </string></attr></node>
    ... <node id="b"><attr name="symbol"><string>O </string></attr></node><edge from="a" to="b"/></graph></gxl>'''
    >>> read_gxl(io.BytesIO(text)).vertex_attributes
    {'symbol': ['C', 'O']}
    """
    document = parse_gxl(*read_file(path_or_file, limits))
    SameKinds().check([document])
    return document.graph


def read_graph_set(
    path: str | os.PathLike[str], split: str | None = None, *, folder: str | None = None,
    two_classes: str | None = None, limits: Limits = SAFE,
) -> GraphSet:  # fmt: skip
    """Return the graphs of a folder or a zip file: of a `split` ("train", "valid" or "test"), or of all splits.

    The index may be in a folder inside, and names files relative to it. If several folders hold an index, `folder`
    chooses one. A graph named twice with the same class counts once. One that is named with two classes is an error,
    unless `two_classes` is "skip" to leave it out, or "first" or "last" to choose one of its classes.
    """
    if two_classes is not None:
        choose("two_classes", dict.fromkeys(TWO_CLASSES), two_classes)
    if split is not None and split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(map(repr, SPLITS))} or None, not {split!r}")
    files = Collection(path, limits)
    indices = _find_indices(files, list(SPLITS) if split is None else [split], folder)
    entries = all_entries(files, indices, two_classes)
    documents = [parse_gxl(*files.read(name)) for name in entries]
    SameKinds().check(documents)
    graphs = [document.graph for document in documents]
    return GraphSet(graphs, [e.label for e in entries.values()], [e.file for e in entries.values()])


def _find_indices(files: Collection, splits: list[str], folder: str | None) -> list[str]:
    """Return the name of the index of each split, all from one folder."""
    spellings = [name for split in splits for name in SPLITS[split]]
    found: dict[str, dict[str, str]] = {}
    for path in map(PurePosixPath, sorted(files.names)):
        if path.name.lower() in spellings:
            found.setdefault(str(path.parent), {})[path.name.lower()] = str(path)
    folders = [key for key in found if folder is None or key == str(PurePosixPath(folder))]
    if not folders:
        within = "" if folder is None else f" in its folder {quoted(folder)}"
        raise complaint(str(files.path), None, f"holds no {' or '.join(spellings)}{within}")
    if len(folders) > 1:
        raise complaint(str(files.path), None, f"several folders hold an index, choose with folder=: {folders[:9]}")
    by_spelling = found[folders[0]]
    named = ([by_spelling[name] for name in SPLITS[split] if name in by_spelling] for split in splits)
    return [names[0] for names in named if names]


def all_entries(files: Collection, indices: list[str], two_classes: str | None) -> dict[str, Entry]:
    """Return the entries of the indices, by the name of their file in the collection."""
    entries: dict[str, Entry] = {}
    contradicted: set[str] = set()
    for index in indices:
        data, where = files.read(index)
        for entry in parse_cxl(data, where):
            name, known = str(PurePosixPath(index).parent / entry.file), quoted(entry.file)
            if not is_inside(entry.file):
                raise complaint(where, entry.line, f"{known} leads out of the collection; move the file there")
            if name not in files.names:
                raise complaint(where, entry.line, f"the file {known} does not exist; put it next to the index")
            label = entries.setdefault(name, entry).label
            if label != entry.label:
                contradicted.add(name)
                if two_classes is None:
                    message = f"{known} has two classes, {quoted(label)} and {quoted(entry.label)}"
                    remedy = "correct the index, or pass two_classes='skip', 'first' or 'last'"
                    raise complaint(where, entry.line, f"{message}; {remedy}")
                if two_classes == "last":
                    entries[name] = entry
    skipped = contradicted if two_classes == "skip" else set()
    return {name: entry for name, entry in entries.items() if name not in skipped}


def parse_cxl(data: bytes, where: str) -> list[Entry]:
    """Return the entries of a CXL index."""
    entries = list[Entry]()

    def start(tag: str, attributes: dict[str, str], line: int) -> None:
        if tag == "print":
            file, label = (required("print", attributes, name) for name in ("file", "class"))
            entries.append(Entry(file, label, line))

    parse_xml(data, where, start)
    if not entries:
        raise complaint(where, None, "names no graphs: it has no <print>")
    return entries
