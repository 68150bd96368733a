"""The nearest-neighbour graph by its definition: loops over all pairs, no shortcuts."""

import math
from itertools import combinations

from oracles import core


def nearest(distances, k):
    """The k nearest of every row, by (distance, row)."""
    n = len(distances)
    return [sorted((j for j in range(n) if j != i), key=lambda j: (distances[i][j], j))[:k] for i in range(n)]


def pairs(neighbours):
    """Every pair of neighbours once, the lower first, in order."""
    return sorted({(min(i, j), max(i, j)) for i, row in enumerate(neighbours) for j in row})


def spanning_tree(distances, neighbour_pairs):
    """Kruskal over the pairs of neighbours, then over all pairs: (edges heaviest first, links)."""
    n = len(distances)
    component = list(range(n))
    by_length = [
        sorted((distances[i][j], i, j) for i, j in some) for some in (neighbour_pairs, combinations(range(n), 2))
    ]
    found = [[], []]
    for stage in (0, 1):
        for length, i, j in by_length[stage]:
            if component[i] != component[j]:
                found[stage].append((length, i, j))
                joined, kept = component[j], component[i]
                component = [kept if c == joined else c for c in component]
    return core.heaviest_first(found[0] + found[1]), found[1]


def modularity(distances, edges, labels):
    """Q over the similarities 1 - w of the edges alone."""
    similarity = [1 - distances[i][j] for i, j in edges]
    total = math.fsum(similarity)
    if total <= 1e-12 * len(edges):
        return 0.0
    q = 0.0
    for cluster in set(labels):
        ends = [(labels[i] == cluster, labels[j] == cluster) for i, j in edges]
        inside = math.fsum(s for s, (a, b) in zip(similarity, ends, strict=True) if a and b)
        degree = math.fsum(s * (a + b) for s, (a, b) in zip(similarity, ends, strict=True))
        q += inside / total - (degree / (2 * total)) ** 2
    return q


def curve(distances, edges, ordered_tree):
    """Q of the n partitions, each from scratch."""
    n = len(distances)
    return [modularity(distances, edges, core.components(n, ordered_tree[k:])) for k in range(n)]


def counts(rows, others, n_targets, ordered_tree, rank, most):
    """How many targets and outliers lie in a ball around the medoid of a cluster's sample, at k = 2, ..., n."""
    n, r = len(rows), len(rows[0])
    tree_mean = math.fsum(length for length, _, _ in ordered_tree) / len(ordered_tree)
    lone = tree_mean if tree_mean > 0 else 1e-100
    accepted = []
    for k in range(2, n + 1):
        labels = core.components(n, ordered_tree[k - 1 :])
        inside = [False] * len(others)
        for cluster in set(labels):
            members = sorted((v for v in range(n) if labels[v] == cluster), key=lambda v: rank[v])[:most]
            medoid, extent = ball(rows, sorted(members))
            width = extent if extent > 0 else lone
            width = (width + (2e-15 if width > 1e-100 else 0.0)) * (1 + 1e-9)
            near = [math.dist(rows[medoid], v) / math.sqrt(r) <= width for v in others]
            inside = [a or b for a, b in zip(inside, near, strict=True)]
        accepted.append((sum(inside[:n_targets]), sum(inside[n_targets:])))
    return accepted


def ball(rows, members):
    """The medoid, ties up to rounding to the lower row, and the mean distance of pairs."""
    scale = math.sqrt(len(rows[0]))
    sums = [math.fsum(math.dist(rows[i], rows[j]) for j in members) / scale for i in members]
    medoid = next(v for v, total in zip(members, sums, strict=True) if total <= min(sums) * (1 + 1e-9))
    n_pairs = len(members) * (len(members) - 1) / 2
    return medoid, (math.fsum(sums) / 2 / n_pairs if n_pairs else 0.0)


def sums_of_distances(rows):
    """The sum of each row's distances to all others, and the largest of all distances."""
    distances = [[math.dist(a, b) / math.sqrt(len(a)) for b in rows] for a in rows]
    return [math.fsum(line) for line in distances], max(map(max, distances))
