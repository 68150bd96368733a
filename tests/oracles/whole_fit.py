"""EOCC-1 at given weights, from dissimilarities computed from differences: every stage by its definition."""

import math
from typing import NamedTuple

import numpy as np

from oracles import core


class WholeFit(NamedTuple):
    entropy: float
    curve: np.ndarray
    labels: list
    extents: list
    accepted: list


def curve_of(w, ordered):
    """Q of all partitions, each from scratch."""
    n = len(w)
    s = 1.0 - w
    np.fill_diagonal(s, 0.0)
    total = s.sum() / 2
    if total <= 1e-12 * (n * (n - 1) / 2):
        return np.zeros(n)
    found = []
    for k in range(1, n + 1):
        member = np.eye(n)[core.components(n, ordered[k - 1 :])]
        found.append(np.trace(member.T @ s @ member) / 2 / total - np.sum((s.sum(axis=0) @ member / 2 / total) ** 2))
    return np.array(found)


def fit_eocc_1(X, new, p, gamma=0.02, first_cut="always"):
    """Fit to X and decide on new rows."""
    delta = core.largest_distance(X)
    D, tested = core.dissimilarities(X, X, p, delta), core.dissimilarities(new, X, p, delta)
    exact = core.space_distances(D)
    w = core.rounded(exact)
    ordered = core.heaviest_first(core.kruskal(w))
    lengths = [exact[i][j] for _, i, j in ordered]
    curve = curve_of(w, ordered)
    k = min(2, len(X)) if first_cut == "always" else 1
    while k < len(X) and curve[k] >= curve[k - 1] - 1e-12:
        k += 1
    labels = core.components(len(X), ordered[k - 1 :])
    mean_edge = math.fsum(lengths) / len(lengths) if lengths else 0.0
    clusters = [[i for i, label in enumerate(labels) if label == c] for c in range(k)]
    regions = [core.region(w, members, mean_edge if mean_edge > 0 else 1e-100) for members in clusters]
    accepted = [core.accepts(row, [D[m] for m, _ in regions], [extent for _, extent in regions]) for row in tested]
    return WholeFit(core.normalized_entropy(lengths, gamma), curve, labels, [extent for _, extent in regions], accepted)
