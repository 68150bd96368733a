"""Node-link JSON, the form that networkx and others write, and SMILES -> graphs."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from eocc.base.printing import quoted
from eocc.base.registry import needed
from eocc.formats.graphs.gxl_graph import Document, Kinds, columns_of
from eocc.measures.labelled_graph import LabelledGraph, labelled_graph
from eocc.measures.objects import read_objects

Items = list[dict[str, Any]]


def is_node_link(value: Any) -> bool:
    """Say whether a JSON value is a graph: an object with lists of "nodes" and of "links" (or "edges")."""
    parts = (value.get("nodes"), value.get("links", value.get("edges"))) if isinstance(value, dict) else ()
    return len(parts) > 0 and all(isinstance(part, list) for part in parts)


def graph_of_node_link(value: dict[str, Any], where: str, line: int) -> Document:
    """Return the graph. Missing attributes are None. Edges have no direction unless "directed" is true.

    Nodes without an "id" are known by their number, from 0.

    >>> graph_of_node_link({"nodes": [{"id": 1, "symbol": "C"}, {"id": 2, "symbol": "N"}],
    ...                     "links": [{"source": 1, "target": 2, "valence": 1}]}, "a file", 1).graph.vertex_attributes
    {'symbol': ['C', 'N']}
    """
    nodes, links = value["nodes"], value.get("links", value.get("edges", []))
    if not all(isinstance(item, dict) for item in [*nodes, *links]):
        raise ValueError('every node and every link must be an object: {"id": 1}, {"source": 1, "target": 2}')
    if value.get("multigraph") not in (None, False):
        raise ValueError("multigraphs are not supported; merge parallel links")
    directed = value.get("directed", False)
    if directed not in (True, False):
        raise ValueError(f'"directed" must be true or false, not {quoted(str(directed))}')
    kinds: Kinds = {}
    vertices = _attributes(nodes, {"id"}, "vertex", line, kinds)
    edges = _attributes(links, {"source", "target", "key"}, "edge", line, kinds)
    ends = np.array(_ends(nodes, links), np.int64).reshape(-1, 2)
    names = [str(node.get("id", index)) for index, node in enumerate(nodes)]
    graph = LabelledGraph(len(nodes), ends, vertices, edges, directed=bool(directed), vertex_names=names)
    return Document(where, graph, kinds)


def _ends(nodes: Items, links: Items) -> list[int]:
    """Return the numbers of the source and the target of each link, one after the other."""
    numbers: dict[str | float, int] = {}
    for index, node in enumerate(nodes):
        key = _identity(node.get("id", index))
        if numbers.setdefault(key, index) != index:
            raise ValueError(f"the node id {quoted(str(key))} occurs twice; rename one")
    ends = []
    for link, name in ((link, name) for link in links for name in ("source", "target")):
        if name not in link:
            raise ValueError(f'a link has no "{name}"; every link needs "source" and "target"')
        key = _identity(link[name])
        if key not in numbers:
            raise ValueError(f"a link names the node {quoted(str(key))}, which does not exist; correct it")
        ends.append(numbers[key])
    return ends


def _identity(key: Any) -> str | float:
    if isinstance(key, bool) or not isinstance(key, str | int | float):
        raise ValueError(f"a node id must be a number or text, not {quoted(str(key))}")
    return key


def _attributes(items: Items, apart: set[str], owner: str, line: int, kinds: Kinds) -> dict[str, list[Any]]:
    """Return one list per attribute, and add the kinds of their values to `kinds`."""
    records = [{name: item[name] for name in item if name not in apart} for item in items]
    for record in records:
        for name, value in record.items():
            if value is not None:
                kinds.setdefault((owner, name), {}).setdefault(_kind(name, value), (line, str(value)))
    return columns_of(records)


def _kind(name: str, value: Any) -> str:
    if isinstance(value, dict | list):
        raise ValueError(f"the attribute {quoted(name)} holds a list or an object; leave it out, or split it")
    return "flag" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


# RDKit takes time that grows with the square of the length: a second for this many characters.
LONGEST = 20_000


def molecules(smiles: Iterable[str]) -> list[LabelledGraph]:
    """Return a graph for each SMILES: its atoms with `symbol` and `charge`, its bonds with `bond`. Needs RDKit.

    Hydrogens are left out, unless they are atoms of their own as in "[H][H]".
    """
    return list(read_objects(smiles, "SMILES", molecule))


def molecule(smiles: Any) -> LabelledGraph:
    """Return the graph of one SMILES; a ValueError of one line says why RDKit refuses it."""
    Chem, rdBase = (needed(f"rdkit.{name}", "SMILES need RDKit: pip install rdkit") for name in ("Chem", "rdBase"))
    if not isinstance(smiles, str) or not smiles.strip():
        raise ValueError(f"{smiles!r} is not a SMILES; leave it out")
    if len(smiles) > LONGEST:
        raise ValueError(f"a SMILES of {len(smiles):,} characters, and at most {LONGEST:,} are read; leave it out")
    with rdBase.BlockLogs():  # RDKit prints its complaints on several lines
        found = Chem.MolFromSmiles(smiles.strip())
        if found is None:
            raw = Chem.MolFromSmiles(smiles.strip(), sanitize=False)
            problems = [] if raw is None else [one.Message() for one in Chem.DetectChemistryProblems(raw)]
            why = problems[0] if problems else "it is not a valid SMILES"
            raise ValueError(f"RDKit refuses {quoted(smiles)}: {' '.join(why.split())}; correct it, or leave it out")
    return labelled_graph(found)
