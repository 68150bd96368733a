"""Folders, zips and indices of GXL files -> chunks of graphs."""

from collections.abc import Iterator
from pathlib import Path

from eocc.datasets import read_cxl, read_gxl
from eocc.datasets.archive import SAFE, open_collection
from eocc.datasets.gxl_graph import parse_gxl
from eocc.files.chunk import Chunk

CHUNK_GRAPHS = 256


def graph_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the one graph of a GXL file."""
    yield Chunk(0, objects=[read_gxl(path)], names=[path.name])


def index_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the graphs that a CXL index names, with their classes as labels."""
    entries = read_cxl(path)
    for first in range(0, len(entries), CHUNK_GRAPHS):
        part = entries[first : first + CHUNK_GRAPHS]
        graphs = [read_gxl(path.parent / name) for name, _ in part]
        yield Chunk(first, objects=graphs, names=[name for name, _ in part], labels=[label for _, label in part])


def collection_chunks(path: Path) -> Iterator[Chunk]:
    """Yield all GXL graphs of a folder or a zip, in the order of their names."""
    with open_collection(path, SAFE) as files:
        names = sorted(name for name in files.names if name.lower().endswith(".gxl"))
        if not names:
            raise ValueError(f"{path} holds no .gxl file")
        for first in range(0, len(names), CHUNK_GRAPHS):
            part = names[first : first + CHUNK_GRAPHS]
            graphs = [parse_gxl(files.read(name), files.where(name)).graph for name in part]
            yield Chunk(first, objects=graphs, names=part)
