"""Graph collections as TUDataset's text files: one line per vertex, edge and graph, for all graphs together."""

import math
import os
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.base.printing import complaint, quoted, warn_user
from eocc.base.types import Indices, Matrix
from eocc.formats.archive import Collection, Limits, open_collection
from eocc.formats.graphs import GraphSet
from eocc.measures.labelled_graph import LabelledGraph

# One file holds the edges of the whole collection.
LARGE = Limits(file_bytes=2**30, total_bytes=2**32, members=10_000)
# A graph takes far more memory than its line, which may be two bytes long and compressed to almost nothing.
MOST_GRAPHS = 1_000_000
EDGES, INDICATOR, CLASSES = "_A.txt", "_graph_indicator.txt", "_graph_labels.txt"
INTEGER = re.compile(r"\d{1,18}", re.ASCII)


def read_tudataset(path: str | os.PathLike[str], *, name: str | None = None, limits: Limits = LARGE) -> GraphSet:
    """Return the graphs of a folder or a zip file with NAME_A.txt, NAME_graph_indicator.txt and NAME_graph_labels.txt.

    With NAME_node_labels.txt vertices get a text attribute "label" ("label_0", ... if there are several), with
    NAME_node_attributes.txt numbers "attribute_0", ...; edges alike. Labels are codes of categories, hence text.
    Graphs are undirected: an edge and its reverse are one, and must not contradict each other. A warning counts edges
    without a reverse. `name` chooses a set if there are several.
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

    def take(self, rows: Indices) -> list[Any]:
        values = self.values[rows].tolist()
        return values if self.words is None else [self.words[code] for code in values]


@dataclass(frozen=True)
class _Tables:
    """The files of one set, whose names begin with `prefix`."""

    files: Collection
    prefix: str

    def graph_set(self) -> GraphSet:
        """Read all files and split them into graphs."""
        labels = list(islice(self._lines(CLASSES), MOST_GRAPHS + 1))
        if len(labels) > MOST_GRAPHS:
            raise self._error(CLASSES, MOST_GRAPHS, f"more than {MOST_GRAPHS} graphs; split the collection")
        if not labels:
            raise self._error(CLASSES, 0, "the file is empty: there are no graphs")
        owner = self._owners(len(labels))
        vertex_columns = self._columns("node", len(owner))
        pairs = self._pairs(owner)
        edge_columns = self._columns("edge", len(pairs))
        rows = self._merged_rows(pairs, edge_columns)
        number, graphs = np.empty(len(owner), dtype=np.int64), []
        owned = zip(_grouped(owner, len(labels)), _grouped(owner[pairs[rows, 0]], len(labels)), strict=True)
        for own, edges in owned:
            number[own] = np.arange(len(own))
            ends, kept = number[pairs[rows[edges]]], rows[edges]
            graphs.append(LabelledGraph(len(own), ends, _taken(vertex_columns, own), _taken(edge_columns, kept)))
        name = PurePosixPath(self.prefix).name
        return GraphSet(graphs, labels, [f"{name}_{k}" for k in range(1, len(labels) + 1)])

    def _owners(self, n_graphs: int) -> Indices:
        """Return the graph of each vertex, from 0."""
        owner = self._table(INDICATOR, "q", _integers, width=1)[:, 0]
        for row in np.flatnonzero((owner < 1) | (owner > n_graphs))[:1]:
            raise self._error(INDICATOR, row, f"graph {owner[row]} does not exist: there are {n_graphs}")
        return owner - 1

    def _pairs(self, owner: Indices) -> Indices:
        """Return the two vertices of each line of the edge file, from 0."""
        pairs = self._table(EDGES, "q", _integers, width=2)
        for row in np.flatnonzero(((pairs < 1) | (pairs > len(owner))).any(axis=1))[:1]:
            raise self._error(EDGES, row, f"an edge {pairs[row].tolist()}, but there are {len(owner)} vertices")
        pairs -= 1
        for row in np.flatnonzero(owner[pairs[:, 0]] != owner[pairs[:, 1]])[:1]:
            raise self._error(EDGES, row, f"the edge {(pairs[row] + 1).tolist()} joins two graphs")
        return pairs

    def _merged_rows(self, pairs: Indices, columns: dict[str, _Column]) -> Indices:
        """Return the first line of each edge, in either direction; raise if a later line contradicts it."""
        _, first, inverse = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True, return_inverse=True)
        first_of = first[inverse.reshape(-1)] if len(pairs) else first
        for column in columns.values():
            for row in np.flatnonzero(column.values != column.values[first_of])[:1]:
                again = f"the edge {(pairs[row] + 1).tolist()} is listed again"
                raise self._error(column.file, row, f"{again}, and line {first_of[row] + 1} contradicts it")
        # Edges in one direction only: perhaps the file is incomplete, or its edges are directed.
        has_reverse = np.zeros(len(pairs), dtype=bool)
        has_reverse[first_of[pairs[:, 0] != pairs[first_of, 0]]] = True
        one_way = np.unique(first_of[~has_reverse[first_of] & (pairs[:, 0] != pairs[:, 1])])
        if len(one_way):
            where = self.files.where(self.prefix + EDGES)
            message = f"{len(one_way)} edges are listed in one direction only, the first in line {one_way[0] + 1}"
            warn_user(str(complaint(where, None, message)))
        return np.sort(first)

    def _columns(self, kind: str, count: int) -> dict[str, _Column]:
        """Return the attributes of vertices ("node") or edges, if they have any."""
        columns: dict[str, _Column] = {}
        file = f"_{kind}_labels.txt"
        if self.prefix + file in self.files:
            words: dict[str, int] = {}
            codes = self._table(file, "q", lambda parts: [words.setdefault(part, len(words)) for part in parts], count)
            texts, is_one = list(words), codes.shape[1] == 1
            columns = {"label" if is_one else f"label_{i}": _Column(file, row, texts) for i, row in enumerate(codes.T)}
        file = f"_{kind}_attributes.txt"
        if self.prefix + file in self.files:
            numbers: Matrix = self._table(file, "d", _numbers, count)
            columns |= {f"attribute_{i}": _Column(file, numbers[:, i]) for i in range(numbers.shape[1])}
        return columns

    def _table(
        self, file: str, code: str, read: Callable[[list[str]], list[Any]], count: int | None = None, width: int = 0
    ) -> NDArray[Any]:
        """Return a file with commas as a table: `count` lines of `width` values, 0 for as many as the first has."""
        cells, row = array(code), -1
        for row, line in enumerate(self._lines(file)):
            if row == count:
                raise self._error(file, row, f"more lines than the {count} that the other files require")
            parts = [part.strip() for part in line.split(",")]
            width = width or len(parts)
            if len(parts) != width:
                raise self._error(file, row, f"{len(parts)} values, but {width} are expected")
            try:
                cells.extend(read(parts))
            except ValueError as error:
                raise self._error(file, row, str(error)) from None
        if count is not None and row + 1 < count:
            raise self._error(file, row + 1, f"the file ends, but {count} lines are expected")
        return np.array(cells, dtype=code).reshape(-1, width or 1)

    def _lines(self, file: str) -> Iterator[str]:
        """Yield the stripped lines of a file; empty lines are allowed at its end only."""
        if self.prefix + file not in self.files:
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


def _numbers(parts: list[str]) -> list[float]:
    try:
        numbers = [float(part) if part.isascii() and "_" not in part else math.nan for part in parts]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"{quoted(', '.join(parts))} are not finite numbers")
    return numbers


def _integers(parts: list[str]) -> list[int]:
    if not all(map(INTEGER.fullmatch, parts)):
        raise ValueError(f"{quoted(', '.join(parts))} are not integers")
    return list(map(int, parts))


def _taken(columns: dict[str, _Column], rows: Indices) -> dict[str, list[Any]]:
    """Return the attributes of some rows; {} without rows, as many empty graphs would fill the memory."""
    return {name: column.take(rows) for name, column in columns.items()} if len(rows) else {}


def _grouped(keys: Indices, count: int) -> list[Indices]:
    """Return, for each key 0, ..., count - 1, its positions in order."""
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.searchsorted(keys[order], np.arange(1, count)))
