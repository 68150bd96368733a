"""GXL files, and folders, zips and indices of them -> chunks of graphs."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from eocc.foundation.printing import complaint, quoted
from eocc.io.archive import SAFE, is_inside, open_collection, read_file
from eocc.io.files.chunk import CHUNK_BYTES, Chunk
from eocc.io.files.source import check_regular
from eocc.io.graphs import read_cxl
from eocc.io.graphs.gxl_graph import Document, check_kinds, parse_gxl
from eocc.measures.labelled_graph import LabelledGraph

CHUNK_GRAPHS = 256
NO_GRAPH = LabelledGraph(0)

File = tuple[str, str, bytes, str]  # name, class ("" without one), content, where it is


class SameKinds:
    """Checks that an attribute has one kind in all graphs of a file, without keeping the graphs."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Document] = {}

    def check(self, documents: Sequence[Document]) -> None:
        """Raise if an attribute is a number in one graph, and text or a flag in another."""
        check_kinds([*self._seen.values(), *documents])
        for document in documents:
            for key, kinds in document.kinds.items():
                if key not in self._seen and set(kinds) - {"odd"}:
                    self._seen[key] = Document(document.where, NO_GRAPH, {key: kinds})


def graph_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the one graph of a GXL file."""
    check_regular(path)
    data, where = read_file(path, SAFE)
    yield from _chunks(str(path), [(path.name, "", data, where)])


def index_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the graphs that a CXL index names, with their classes as labels; a graph named twice counts once."""
    check_regular(path)
    entries: dict[str, str] = {}
    for name, label in read_cxl(path):
        if entries.setdefault(name, label) != label:
            classes = f"{quoted(entries[name])} and {quoted(label)}"
            raise complaint(str(path), None, f"{quoted(name)} has two classes, {classes}; correct one")
    yield from _chunks(str(path), (_indexed(path, name, label) for name, label in entries.items()))


def _indexed(path: Path, name: str, label: str) -> File:
    """Read a file next to the index; refuse any other, also behind a link."""
    file = path.parent / name
    try:
        is_inside_folder = is_inside(name) and file.resolve().is_relative_to(path.parent.resolve())
        exists = is_inside_folder and file.exists()
    except OSError as error:  # the name is too long, or links form a ring
        raise complaint(str(path), None, f"the file {quoted(name)}: {error.strerror}; correct the name") from None
    except RuntimeError:
        raise complaint(str(path), None, f"the file {quoted(name)} is a link to itself; correct it") from None
    if not is_inside_folder:
        raise complaint(str(path), None, f"{quoted(name)} leads out of the folder of the index; move the file there")
    if not exists:
        raise complaint(str(path), None, f"the file {quoted(name)} does not exist; put it next to the index")
    return name, label, *read_file(file, SAFE)


def collection_chunks(path: Path) -> Iterator[Chunk]:
    """Yield all GXL graphs of a folder or a zip file, in the order of their names."""
    if not path.is_dir():
        check_regular(path)
    with open_collection(path, SAFE) as files:
        names = sorted(name for name in files.names if name.lower().endswith(".gxl"))
        if not names:
            raise complaint(str(path), None, "holds no .gxl file; pass a folder or a zip file of graphs")
        yield from _chunks(str(path), ((name, "", files.read(name), files.where(name)) for name in names))


def _chunks(where: str, files: Iterable[File]) -> Iterator[Chunk]:
    kinds, first, part, size = SameKinds(), 0, list[tuple[str, str, Document]](), 0
    for name, label, data, place in files:
        part.append((name.encode("utf-8", "replace").decode(), label, parse_gxl(data, place)))
        size += len(data)
        if len(part) == CHUNK_GRAPHS or size > CHUNK_BYTES:
            yield _chunk(where, first, part, kinds)
            first, part, size = first + len(part), [], 0
    if part:
        yield _chunk(where, first, part, kinds)


def _chunk(where: str, first: int, part: Sequence[tuple[str, str, Document]], kinds: SameKinds) -> Chunk:
    names, labels, documents = zip(*part, strict=True)
    kinds.check(documents)
    graphs = [document.graph for document in documents]
    return Chunk(where, first, objects=graphs, names=names, labels=labels if any(labels) else ())
