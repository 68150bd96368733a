"""Graphs as node-link JSON, the form networkx and others write."""

from typing import Any

import numpy as np

from eocc.measures import LabelledGraph


def is_node_link(value: Any) -> bool:
    """Say whether a JSON value is a graph: an object with "nodes" and "links" (or "edges").

    >>> is_node_link({"nodes": [], "links": []})
    True
    """
    return isinstance(value, dict) and isinstance(value.get("nodes"), list) and isinstance(_links(value), list)


def graph_of_node_link(value: dict[str, Any], where: str) -> LabelledGraph:
    """Return the graph; attributes that an item lacks are None. Edges have no direction unless "directed" is true.

    >>> graph_of_node_link({"nodes": [{"id": 1, "symbol": "C"}, {"id": 2, "symbol": "N"}],
    ...                     "links": [{"source": 1, "target": 2, "valence": 1}]}, "a file").vertex_attributes
    {'symbol': ['C', 'N']}
    """
    nodes, links = value["nodes"], _links(value)
    if not all(isinstance(item, dict) for item in [*nodes, *links]):
        raise ValueError(f"{where}: nodes and links must be objects")
    if value.get("multigraph"):
        raise ValueError(f"{where}: multigraphs are not supported; merge parallel links")
    places: dict[Any, int] = {}
    for index, node in enumerate(nodes):
        key = node.get("id", index)
        if isinstance(key, dict | list) or key in places:
            raise ValueError(f"{where}: the node id {key!r} is no plain value, or occurs twice")
        places[key] = index
    try:
        ends = [(places[link["source"]], places[link["target"]]) for link in links]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{where}: a link names a node that is not there: {error}") from None
    return LabelledGraph(
        len(nodes),
        np.array(ends, np.int64).reshape(-1, 2),
        _attributes(nodes, {"id"}),
        _attributes(links, {"source", "target", "key"}),
        directed=bool(value.get("directed", False)),
    )


def _links(value: dict[str, Any]) -> Any:
    return value.get("links", value.get("edges"))


def _attributes(items: list[dict[str, Any]], apart: set[str]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for item in items for name in item if name not in apart)
    return {name: [item.get(name) for item in items] for name in names}
