"""Patterns for every registered measure: a training set, and new patterns that are not in it."""

import networkx as nx
import numpy as np
import pandas as pd


def graphs(rng, n):
    made = [nx.gnp_random_graph(int(rng.integers(2, 8)), 0.4, seed=int(rng.integers(10**6))) for _ in range(n)]
    for graph in made:
        nx.set_node_attributes(graph, {node: float(rng.random()) for node in graph}, "x")
    return made


def blocks(rng, n):
    x, new = rng.normal(size=n), rng.normal(size=5)
    return np.abs(x[:, None] - x), np.abs(new[:, None] - x)


def samples(name, n=20, seed=0):
    """Return (training, new) for the measure of that name."""
    rng = np.random.default_rng(seed)
    if name == "precomputed":
        return blocks(rng, n)
    return MAKERS[name](rng, n), MAKERS[name](rng, 5)


def series(rng, n):
    return [np.cumsum(rng.normal(size=(int(rng.integers(5, 12)), 2)), axis=0) for _ in range(n)]


def records(rng, n):
    kinds = np.array(["pump", "fan", None], dtype=object)
    return pd.DataFrame({"load": rng.normal(size=n), "kind": kinds[rng.integers(0, 3, n)], "new": rng.random(n) < 0.5})


def tokens(rng, n):
    return [[str(t) for t in rng.integers(0, 9, int(rng.integers(1, 8)))] for _ in range(n)]


MAKERS = {
    "cosine-bags": tokens,
    "jaccard": tokens,
    "string-edit": lambda rng, n: ["".join(word) for word in tokens(rng, n)],
    "tanimoto": lambda rng, n: rng.integers(0, 2, size=(n, 12)),
    "hamming": lambda rng, n: ["".join(map(str, word)) for word in rng.integers(0, 4, size=(n, 6))],
    "dtw": series,
    "euclidean": lambda rng, n: rng.normal(size=(n, 4)),
    "gower": records,
    "standardised": lambda rng, n: rng.normal(size=(n, 4)) * [1e-3, 1.0, 50.0, 1e6],
    "graph-edit": graphs,
    "twec": graphs,
}
