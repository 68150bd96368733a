"""Graph collections as TUDataset's text files: one line per vertex, per edge and per graph, for all graphs together."""

import math
import os
import re
import warnings
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.printing import complaint, quoted
from eocc.io.archive import Collection, Limits, open_collection
from eocc.io.graphs.graph_set import GraphSet
from eocc.measures.labelled_graph import LabelledGraph

# The edges of a whole collection are in one file.
LARGE = Limits(file_bytes=2**30, total_bytes=2**32, members=10_000)
# A graph takes far more memory than its line in a file, which may be two bytes long and packed to none.
MOST_GRAPHS = 1_000_000
EDGES, INDICATOR, CLASSES = "_A.txt", "_graph_indicator.txt", "_graph_labels.txt"
INTEGER = re.compile(r"\d{1,18}", re.ASCII)

Integers = NDArray[np.int64]


def read_tudataset(path: str | os.PathLike[str], *, name: str | None = None, limits: Limits = LARGE) -> GraphSet:
    """Return the graphs of a folder or a zip file with NAME_A.txt, NAME_graph_indicator.txt and NAME_graph_labels.txt.

    Where NAME_node_labels.txt is there, vertices have a text attribute "label" ("label_0", ... where there are
    several), and with NAME_node_attributes.txt numbers "attribute_0", ...; edges alike. The labels are codes of
    categories, hence text. Graphs are undirected: an edge and its reverse are one, and must not contradict each other;
    a warning tells how many edges have no reverse. `name` says which set to read where there are several.
    """
    with open_collection(path, limits) as files:
        return _Tables(files, _find_prefix(files, name)).graph_set()


def _find_prefix(files: Collection, name: str | None) -> str:
    found = sorted(file.removesuffix(EDGES) for file in files.names if file.endswith(EDGES))
    chosen = [prefix for prefix in found if name is None or PurePosixPath(prefix).name == name]
    if not chosen:
        raise complaint(str(files.path), None, f"holds no {name or 'NAME'}{EDGES}")
    if len(chosen) > 1:
        raise complaint(str(files.path), None, f"holds several sets, choose with name=: {chosen[:9]}")
    return chosen[0]


@dataclass(frozen=True)
class _Column:
    """An attribute of all vertices or all edges, from `file`: numbers, or codes of the texts in `words`."""

    file: str
    values: NDArray[Any]
    words: list[str] | None = None

    def take(self, rows: Integers) -> list[Any]:
        values = self.values[rows].tolist()
        return values if self.words is None else [self.words[code] for code in values]


@dataclass(frozen=True)
class _Tables:
    """The files of one set, their names beginning with `prefix`."""

    files: Collection
    prefix: str

    def graph_set(self) -> GraphSet:
        """Read all files and cut them into graphs."""
        labels = list(islice(self._lines(CLASSES), MOST_GRAPHS + 1))
        if len(labels) > MOST_GRAPHS:
            raise self._error(CLASSES, MOST_GRAPHS, f"more than {MOST_GRAPHS} graphs; cut the collection into several")
        if not labels:
            raise self._error(CLASSES, 0, "the file is empty: there are no graphs")
        owner = self._owners(len(labels))
        vertex_columns = self._columns("node", len(owner))
        pairs = self._pairs(owner)
        edge_columns = self._columns("edge", len(pairs))
        rows = self._merged_rows(pairs, edge_columns)
        graphs = list(_cut(len(labels), owner, pairs, rows, vertex_columns, edge_columns))
        name = PurePosixPath(self.prefix).name
        return GraphSet(graphs, labels, [f"{name}_{number}" for number in range(1, len(labels) + 1)])

    def _owners(self, n_graphs: int) -> Integers:
        """Return the graph, from 0, of each vertex."""
        owner = self._integers(INDICATOR, 1)[:, 0]
        for row in np.flatnonzero((owner < 1) | (owner > n_graphs))[:1]:
            raise self._error(INDICATOR, row, f"graph {owner[row]} does not exist: there are {n_graphs}")
        return owner - 1

    def _pairs(self, owner: Integers) -> Integers:
        """Return the two vertices, from 0, of each line of the edge file."""
        pairs = self._integers(EDGES, 2)
        for row in np.flatnonzero(((pairs < 1) | (pairs > len(owner))).any(axis=1))[:1]:
            raise self._error(EDGES, row, f"an edge {pairs[row].tolist()}, but there are {len(owner)} vertices")
        pairs -= 1
        for row in np.flatnonzero(owner[pairs[:, 0]] != owner[pairs[:, 1]])[:1]:
            raise self._error(EDGES, row, f"the edge {(pairs[row] + 1).tolist()} joins two graphs")
        return pairs

    def _merged_rows(self, pairs: Integers, columns: dict[str, _Column]) -> Integers:
        """Return the first line of each edge, whichever way it is listed; raise where a later one contradicts it."""
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        order = np.lexsort((high, low))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
        first = np.empty(len(order), dtype=np.int64)
        first[order] = order[new][np.cumsum(new) - 1] if len(order) else order
        for column in columns.values():
            for row in np.flatnonzero(column.values != column.values[first])[:1]:
                listed = f"the edge {(pairs[row] + 1).tolist()} is listed again"
                raise self._error(column.file, row, f"{listed}, and line {first[row] + 1} contradicts it")
        self._warn_of_one_way_edges(pairs, first)
        return np.unique(first)

    def _warn_of_one_way_edges(self, pairs: Integers, first: Integers) -> None:
        """Warn of edges listed in one direction only: perhaps a file is cut short, perhaps edges are directed."""
        reversed_rows = pairs[:, 0] != pairs[first, 0]
        paired = np.zeros(len(pairs), dtype=bool)
        paired[first[reversed_rows]] = True
        one_way = np.unique(first[~paired[first] & (pairs[:, 0] != pairs[:, 1])])
        if len(one_way):
            where = self.files.where(self.prefix + EDGES)
            message = f"{len(one_way)} edges are listed in one direction only, the first in line {one_way[0] + 1}"
            warnings.warn(str(complaint(where, None, message)), stacklevel=5)

    def _columns(self, kind: str, count: int) -> dict[str, _Column]:
        """Return the attributes of vertices ("node") or edges, where their files are there."""
        columns = {}
        file = f"_{kind}_labels.txt"
        if self.prefix + file in self.files.names:
            found = list(self._text_columns(file, count))
            columns = {"label" if len(found) == 1 else f"label_{i}": column for i, column in enumerate(found)}
        file = f"_{kind}_attributes.txt"
        if self.prefix + file in self.files.names:
            numbers = self._numbers(file, count)
            columns |= {f"attribute_{i}": _Column(file, numbers[:, i]) for i in range(numbers.shape[1])}
        return columns

    def _text_columns(self, file: str, count: int) -> Iterator[_Column]:
        codes: dict[str, int] = {}
        cells = array("q")
        for parts in self._rows(file, count=count):
            cells.extend(codes.setdefault(part, len(codes)) for part in parts)
        table = np.frombuffer(cells, dtype=np.int64).reshape(count, -1) if count else np.empty((0, 1), np.int64)
        words = list(codes)
        yield from (_Column(file, column, words) for column in table.T)

    def _numbers(self, file: str, count: int) -> NDArray[np.float64]:
        cells = array("d")
        for row, parts in enumerate(self._rows(file, count=count)):
            try:
                numbers = [float(part) for part in parts if part.isascii() and "_" not in part]
            except ValueError:
                numbers = []
            if len(numbers) < len(parts) or not all(map(math.isfinite, numbers)):
                raise self._error(file, row, f"{quoted(', '.join(parts))} are not finite numbers")
            cells.extend(numbers)
        return np.frombuffer(cells, dtype=np.float64).reshape(count, -1) if count else np.empty((0, 1))

    def _integers(self, file: str, width: int) -> Integers:
        cells = array("q")
        for row, parts in enumerate(self._rows(file, width=width)):
            if not all(map(INTEGER.fullmatch, parts)):
                raise self._error(file, row, f"{quoted(', '.join(parts))} is not made of whole numbers")
            cells.extend(map(int, parts))
        return np.array(cells, dtype=np.int64).reshape(-1, width)

    def _rows(self, file: str, *, width: int | None = None, count: int | None = None) -> Iterator[list[str]]:
        """Yield the lines of a file cut at their commas, all into as many parts."""
        row = -1
        for row, line in enumerate(self._lines(file)):
            if row == count:
                raise self._error(file, row, f"more lines than the {count} that the other files call for")
            parts = [part.strip() for part in line.split(",")]
            width = width or len(parts)
            if len(parts) != width:
                raise self._error(file, row, f"{len(parts)} values where {width} are expected")
            yield parts
        if count is not None and row + 1 < count:
            raise self._error(file, row + 1, f"the file ends, but {count} lines are expected")

    def _lines(self, file: str) -> Iterator[str]:
        """Yield the lines of a file without blanks around them; empty ones may only stand at the end."""
        if self.prefix + file not in self.files.names:
            raise complaint(str(self.files.path), None, f"holds no {PurePosixPath(self.prefix).name}{file}")
        empty = None
        for row, line in enumerate(self.files.lines(self.prefix + file)):
            try:
                text = line.decode().strip()
            except UnicodeDecodeError:
                raise self._error(file, row, "the line is not UTF-8 text") from None
            if text and empty is not None:
                raise self._error(file, empty, "the line is empty")
            if text:
                yield text
            elif empty is None:
                empty = row

    def _error(self, file: str, row: int, message: str) -> ValueError:
        return complaint(self.files.where(self.prefix + file), int(row) + 1, message)


def _cut(
    n_graphs: int,
    owner: Integers,
    pairs: Integers,
    rows: Integers,
    vertex_columns: dict[str, _Column],
    edge_columns: dict[str, _Column],
) -> Iterator[LabelledGraph]:
    """Yield each graph, with its vertices and edges in the order of the files."""
    vertices = _grouped(owner, n_graphs)
    edges = _grouped(owner[pairs[rows, 0]], n_graphs)
    number = np.empty(len(owner), dtype=np.int64)
    for own, edge in zip(vertices, edges, strict=True):
        number[own] = np.arange(len(own))
        kept = rows[edge]
        yield LabelledGraph(
            len(own),
            number[pairs[kept]],
            _taken(vertex_columns, own),
            _taken(edge_columns, kept),
        )


def _taken(columns: dict[str, _Column], rows: Integers) -> dict[str, list[Any]]:
    """Return the attributes in some rows, none for no rows: many empty graphs with many attributes fill memory."""
    return {name: column.take(rows) for name, column in columns.items()} if len(rows) else {}


def _grouped(keys: Integers, count: int) -> list[Integers]:
    """Return, for each key 0, ..., count - 1, the positions that hold it, in order."""
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.searchsorted(keys[order], np.arange(1, count)))
