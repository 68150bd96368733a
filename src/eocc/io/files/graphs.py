"""GXL files, folders, zips and indices of them, and SMILES -> chunks of graphs."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from eocc.foundation.printing import complaint
from eocc.io.archive import SAFE, Collection, open_collection, read_file
from eocc.io.files.chunk import CHUNK_BYTES, Chunk, portions
from eocc.io.files.source import Lines, regular
from eocc.io.graphs.gxl import all_entries
from eocc.io.graphs.gxl_graph import Document, SameKinds, parse_gxl
from eocc.io.graphs.smiles import molecule
from eocc.measures.labelled_graph import LabelledGraph

CHUNK_GRAPHS = 256

File = tuple[str, str, bytes, str]  # name, class ("" without one), content, where it is


def graph_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the one graph of a GXL file."""
    regular(path)
    data, where = read_file(path, SAFE)
    yield from _chunks(str(path), [(path.name, "", data, where)])


def index_chunks(path: Path, two_classes: str | None = None) -> Iterator[Chunk]:
    """Yield the graphs that a CXL index names, with their classes as labels; a graph named twice counts once.

    One that is named with two classes is refused, unless `two_classes` is "skip", "first" or "last".
    """
    regular(path)
    with open_collection(path.parent, SAFE) as files:
        entries = all_entries(files, [path.name], two_classes).items()
        parts = ((entry.file, entry.label, files.read(name), files.where(name)) for name, entry in entries)
        yield from _chunks(str(path), parts)


def smiles_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the molecules of a file with one SMILES per line, and perhaps a name; a header "SMILES ..." is left out."""
    for first, part in portions(_molecules(lines), lines):
        numbers, names, graphs = zip(*part, strict=True)
        yield Chunk(lines.where, first, objects=graphs, names=names, lines=numbers)


def _molecules(lines: Lines) -> Iterator[tuple[int, str, LabelledGraph]]:
    for line in lines:
        smiles, *name = line.split(maxsplit=1) or [""]
        if not smiles or (lines.number == 1 and smiles.lower() == "smiles"):
            continue
        try:
            yield lines.number, (name or [smiles])[0].strip(), molecule(smiles)
        except ValueError as error:
            raise lines.fault(str(error)) from None


def collection_size(path: Path) -> int:
    """Return the number of GXL graphs of a folder or a zip file."""
    if not path.is_dir():
        regular(path)
    with open_collection(path, SAFE) as files:
        return len(_graph_names(files))


def _graph_names(files: Collection) -> list[str]:
    return sorted(name for name in files.names if name.lower().endswith(".gxl"))


def collection_chunks(path: Path) -> Iterator[Chunk]:
    """Yield all GXL graphs of a folder or a zip file, in the order of their names."""
    if not path.is_dir():
        regular(path)
    with open_collection(path, SAFE) as files:
        names = _graph_names(files)
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


def _chunk(where: str, first: int, part: list[tuple[str, str, Document]], kinds: SameKinds) -> Chunk:
    names, labels, documents = zip(*part, strict=True)
    kinds.check(documents)
    graphs = [document.graph for document in documents]
    return Chunk(where, first, objects=graphs, names=names, labels=labels if any(labels) else ())
