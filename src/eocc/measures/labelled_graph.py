"""Labelled graphs as plain data, and networkx graphs and RDKit molecules converted to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from numbers import Real
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.base.checks import indices, instance, integer


@dataclass(frozen=True, eq=False, repr=False)
class LabelledGraph:
    """A graph on vertices 0, ..., n_vertices - 1, with attributes on vertices and edges.

    `edges` is (m, 2). `vertex_attributes` and `edge_attributes` map a name to one value per vertex or edge: a number, a
    category or a string, None or NaN if missing. `vertex_names` are what texts call the vertices, instead of their
    numbers; they are not compared. Self-loops are allowed, parallel edges are not.

    >>> LabelledGraph(3, [[0, 1], [1, 2]], {"symbol": ["C", "C", "O"]}, {"valence": [1, 2]})
    <LabelledGraph of 3 vertices and 2 edges>
    """

    n_vertices: Annotated[int, integer(0, 2**40)]
    edges: Annotated[ArrayLike, indices("m 2")] = ()
    vertex_attributes: Annotated[Mapping[str, Sequence[Any]], instance(dict)] = field(default_factory=dict)
    edge_attributes: Annotated[Mapping[str, Sequence[Any]], instance(dict)] = field(default_factory=dict)
    directed: bool = False
    vertex_names: Annotated[Sequence[str], instance(list)] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.n_vertices, int | np.integer) or self.n_vertices < 0:
            raise ValueError(f"n_vertices must be an integer >= 0, not {self.n_vertices!r}")
        edges = np.array(self.edges) if np.size(self.edges) else np.empty((0, 2), np.int64)
        if edges.ndim != 2 or edges.shape[1] != 2:
            raise ValueError(f"edges must be of shape (m, 2), one pair of vertices each, not {edges.shape}")
        if not np.issubdtype(edges.dtype, np.integer):
            raise ValueError(f"edges must be pairs of integers, not of {edges.dtype}")
        object.__setattr__(self, "edges", edges.astype(np.int64))
        names = list(self.vertex_names)
        if names and len(names) != self.n_vertices:
            raise ValueError(f"vertex_names needs {self.n_vertices} names, not {len(names)}")
        object.__setattr__(self, "vertex_names", [] if names == [str(k) for k in range(len(names))] else names)
        self._check_edges(edges)
        for kind, count in (("vertex", self.n_vertices), ("edge", len(edges))):
            owned = {name: list(values) for name, values in getattr(self, f"{kind}_attributes").items()}
            for name, values in owned.items():
                if len(values) != count:
                    raise ValueError(f"{kind} attribute {name!r} needs {count} values, not {len(values)}")
            object.__setattr__(self, f"{kind}_attributes", owned)

    def _check_edges(self, edges: NDArray[np.int64]) -> None:
        if len(edges) and not (edges.min() >= 0 and edges.max() < self.n_vertices):
            odd = int(edges.max() if edges.min() >= 0 else edges.min())
            raise ValueError(f"edges must join vertices 0..{self.n_vertices - 1}; found {odd}")
        if len(edges) < 2:
            return
        ends = edges if self.directed else np.sort(edges, axis=1)
        found, counts = np.unique(ends, axis=0, return_counts=True)
        if counts.max() > 1:
            a, b = map(self.called, found[int(np.argmax(counts))].tolist())
            merged = f"merge them, as nx.{'DiGraph' if self.directed else 'Graph'}(g) does"
            raise ValueError(f"vertices {a} and {b} are joined by {counts.max()} parallel edges; {merged}")

    def called(self, vertex: Any) -> Any:
        """Return the name of a vertex, or its number if vertices have no names; of several a list, of None None."""
        if isinstance(vertex, list):
            return [self.called(one) for one in vertex]
        return self.vertex_names[vertex] if self.vertex_names and vertex is not None else vertex

    def __repr__(self) -> str:
        return f"<LabelledGraph of {self.n_vertices} vertices and {len(np.asarray(self.edges))} edges>"


# What a networkx graph and an RDKit molecule have.
_LIKE_GRAPHS = ("nodes", "edges", "is_directed"), ("GetAtoms", "GetBonds")


def is_graph(item: Any) -> bool:
    """Return whether an object is a LabelledGraph, or looks like a networkx graph or an RDKit molecule."""
    return isinstance(item, LabelledGraph) or any(all(hasattr(item, name) for name in names) for names in _LIKE_GRAPHS)


def labelled_graph(graph: Any) -> LabelledGraph:
    """Return a copy of a LabelledGraph, checked again, a networkx graph or an RDKit molecule converted to one."""
    if isinstance(graph, LabelledGraph):
        return replace(graph)
    if is_graph(graph):
        return _of_networkx(graph) if hasattr(graph, "nodes") else _of_molecule(graph)
    known, hint = "networkx graphs, RDKit molecules or LabelledGraph", ""
    if graph is None:
        hint = "; RDKit gives None for a SMILES that it refuses: correct it, or leave it out"
    elif isinstance(graph, str):
        hint = "; for SMILES pass eocc.datasets.molecules(X)"
    raise ValueError(f"graphs must be {known}, not {'None' if graph is None else type(graph).__name__}{hint}")


def _of_networkx(graph: Any) -> LabelledGraph:
    number = {node: index for index, node in enumerate(graph.nodes)}
    links = list(graph.edges(data=True))
    return LabelledGraph(
        len(number),
        [[number[a], number[b]] for a, b, _ in links],
        _by_name([values for _, values in graph.nodes(data=True)]),
        _by_name([values for _, _, values in links]),
        directed=graph.is_directed(),
        vertex_names=[str(node) for node in number],
    )


def _by_name(records: Sequence[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    """Return one list per name from one mapping per item; None if an item has no such name."""
    by_text = [dict(part for entry in record.items() for part in _parts(*entry)) for record in records]
    return {name: [record.get(name) for record in by_text] for name in dict.fromkeys(chain.from_iterable(by_text))}


def _parts(name: Any, value: Any) -> list[tuple[str, Any]]:
    """Return an attribute under its name; several numbers, for example coordinates, one by one."""
    is_several = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
    if is_several and all(isinstance(number, Real) and not isinstance(number, bool) for number in value):
        return [(f"{name}[{k}]", number) for k, number in enumerate(value)]
    return [(str(name), value)]


def _of_molecule(molecule: Any) -> LabelledGraph:
    """Return atoms with symbol and formal charge, and bonds with their type; implicit hydrogens are left out."""
    atoms, bonds = list(molecule.GetAtoms()), list(molecule.GetBonds())
    return LabelledGraph(
        len(atoms),
        [[bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()] for bond in bonds],
        {"symbol": [atom.GetSymbol() for atom in atoms], "charge": [atom.GetFormalCharge() for atom in atoms]},
        {"bond": [str(bond.GetBondType()).lower() for bond in bonds]},
    )
