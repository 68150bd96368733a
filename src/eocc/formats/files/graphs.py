"""GXL files, folders and zips of them, and SMILES -> chunks of graphs."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from eocc.base.printing import complaint
from eocc.formats.archive import SAFE, Collection, open_collection, read_file
from eocc.formats.files.chunk import Chunk, portions
from eocc.formats.files.formats import Lines
from eocc.formats.graphs.gxl_graph import Document, SameKinds, parse_gxl
from eocc.formats.graphs.node_link import molecule
from eocc.measures.labelled_graph import LabelledGraph

File = tuple[str, bytes, str]  # name, content, where it is


def graph_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the one graph of a GXL file."""
    data, where = read_file(path, SAFE)
    yield from _chunks(str(path), [(path.name, data, where)])


def smiles_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the molecules of a file with one SMILES per line, and perhaps a name; a header "SMILES ..." is left out."""

    def molecules() -> Iterator[tuple[int, str, LabelledGraph]]:
        for line in lines:
            smiles, *name = line.split(maxsplit=1) or [""]
            if not smiles or (lines.number == 1 and smiles.lower() == "smiles"):
                continue
            try:
                yield lines.number, (name or [smiles])[0].strip(), molecule(smiles)
            except ValueError as error:
                raise lines.fault(str(error)) from None

    for first, part in portions(molecules(), lambda: lines.size):
        numbers, names, graphs = zip(*part, strict=True)
        yield Chunk(lines.where, first, objects=graphs, names=names, lines=numbers)


@contextmanager
def _collection(path: Path) -> Iterator[tuple[Collection, list[str]]]:
    """Open a folder or a zip file, with the names of its GXL graphs."""
    with open_collection(path, SAFE) as files:
        yield files, sorted(name for name in files.names if name.lower().endswith(".gxl"))


def collection_size(path: Path) -> int:
    """Return the number of GXL graphs of a folder or a zip file."""
    with _collection(path) as (_, names):
        return len(names)


def collection_chunks(path: Path) -> Iterator[Chunk]:
    """Yield all GXL graphs of a folder or a zip file, in the order of their names."""
    with _collection(path) as (files, names):
        if not names:
            raise complaint(str(path), None, "holds no .gxl file; pass a folder or a zip file of graphs")
        yield from _chunks(str(path), ((name, files.read(name), files.where(name)) for name in names))


def _chunks(where: str, files: Iterable[File]) -> Iterator[Chunk]:
    kinds, sizes = SameKinds(), [0]

    def parsed() -> Iterator[tuple[str, Document]]:
        for name, data, place in files:
            sizes.append(sizes.pop() + len(data))
            yield name.encode("utf-8", "replace").decode(), parse_gxl(data, place)

    for first, part in portions(parsed(), lambda: sizes[0]):
        names, documents = zip(*part, strict=True)
        kinds.check(documents)
        yield Chunk(where, first, objects=[document.graph for document in documents], names=names)
