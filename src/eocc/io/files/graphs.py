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

Named = tuple[str, str, bytes, str]  # name, class ("" if it has none), document, where it is


class SameKinds:
    """Sees to it that an attribute is of one kind in all graphs of a file, with no memory of the graphs themselves."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Document] = {}

    def check(self, documents: Sequence[Document]) -> None:
        """Raise where an attribute is a number in one graph, and text or a flag in another."""
        check_kinds([*self._seen.values(), *documents])
        for document in documents:
            for key, kinds in document.kinds.items():
                if key not in self._seen and set(kinds) - {"odd"}:
                    self._seen[key] = Document(document.where, NO_GRAPH, {key: kinds})


def graph_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the one graph of a GXL file."""
    check_regular(path)
    data, where = read_file(path, SAFE)
    yield from _chunks(str(path), [(_shown(path.name), "", data, where)])


def index_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the graphs that a CXL index names, with their classes as labels; one named twice counts once."""
    check_regular(path)
    entries: dict[str, str] = {}
    for name, label in read_cxl(path):
        if entries.setdefault(name, label) != label:
            raise complaint(str(path), None, f"{quoted(name)} is of two classes, {quoted(entries[name])} and "
                            f"{quoted(label)}; correct one")  # fmt: skip
    yield from _chunks(str(path), (_indexed(path, name, label) for name, label in entries.items()))


def _indexed(path: Path, name: str, label: str) -> Named:
    """Read a file beside the index; one elsewhere is refused, also behind a link."""
    file = path.parent / name
    try:
        is_beside = is_inside(name) and file.resolve().is_relative_to(path.parent.resolve())
        exists = is_beside and file.exists()
    except OSError as error:  # a name too long, or a ring of links
        raise complaint(str(path), None, f"the file {quoted(name)}: {error.strerror}; correct the name") from None
    except RuntimeError:
        raise complaint(str(path), None, f"the file {quoted(name)} is a link to itself; correct it") from None
    if not is_beside:
        raise complaint(str(path), None, f"{quoted(name)} leads out of the folder of the index; move the file there")
    if not exists:
        raise complaint(str(path), None, f"the file {quoted(name)} does not exist; it belongs beside the index")
    data, where = read_file(file, SAFE)
    return _shown(name), label, data, where


def collection_chunks(path: Path) -> Iterator[Chunk]:
    """Yield all GXL graphs of a folder or a zip, in the order of their names."""
    if not path.is_dir():
        check_regular(path)
    with open_collection(path, SAFE) as files:
        names = sorted(name for name in files.names if name.lower().endswith(".gxl"))
        if not names:
            raise complaint(str(path), None, "holds no .gxl file; name a folder or a zip of graphs")
        yield from _chunks(str(path), ((_shown(name), "", files.read(name), files.where(name)) for name in names))


def _chunks(where: str, files: Iterable[Named]) -> Iterator[Chunk]:
    kinds, first, part, size = SameKinds(), 0, list[tuple[str, str, Document]](), 0
    for name, label, data, place in files:
        part.append((name, label, parse_gxl(data, place)))
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


def _shown(name: str) -> str:
    """Return a file's name as it can be printed, also where the system let it be no text."""
    return name.encode("utf-8", "replace").decode()
