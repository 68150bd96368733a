"""EOCC-1 and EOCC-2 by their definitions: loops over pairs, no shortcuts."""

import math
from itertools import combinations

import numpy as np


def dissimilarities(patterns, prototypes, p, delta):
    """d(x, y; p) = sqrt(sum_k p_k (x_k - y_k)^2) / delta."""
    stretched, reference = (np.asarray(rows) * np.sqrt(p) for rows in (patterns, prototypes))
    return np.array([[math.dist(x, r) / delta for r in reference.tolist()] for x in stretched.tolist()])


def largest_distance(patterns):
    """delta: the largest distance at p = 1, or 1 if all are 0."""
    largest = max((math.dist(x, y) for x, y in combinations(patterns.tolist(), 2)), default=0.0)
    return largest if largest > 0 else 1.0


def pairwise(rows):
    """||rows_i - rows_j||_2."""
    return np.array([[math.dist(a, b) for b in rows.tolist()] for a in rows.tolist()])


def space_distances(rows):
    """||D_i - D_j||_2 / sqrt(|R|)."""
    return np.array([[math.dist(a, b) / math.sqrt(len(a)) for b in rows.tolist()] for a in rows.tolist()])


def rounded(distances):
    """Round distances to 36 bits, so that those that differ by rounding only are ties."""
    bits = np.ascontiguousarray(distances, dtype=np.float64).view(np.int64)
    return ((bits + (1 << 15)) & -(1 << 16)).view(np.float64)


def kruskal(distances):
    """Edges (i, j) of the tree, taken in the order (length, i, j) whenever they join two components."""
    n = len(distances)
    component = list(range(n))
    edges = []
    for length, i, j in sorted((distances[i][j], i, j) for i, j in combinations(range(n), 2)):
        if component[i] != component[j]:
            edges.append((length, i, j))
            joined, kept = component[j], component[i]
            component = [kept if c == joined else c for c in component]
    return edges


def heaviest_first(edges):
    return sorted(edges, key=lambda edge: (-edge[0], edge[1], edge[2]))


def components(n, edges):
    """Labels of the connected components, numbered by their lowest vertex."""
    label = list(range(n))
    for _, i, j in edges:
        low, high = sorted((label[i], label[j]))
        label = [low if c == high else c for c in label]
    numbers = {c: k for k, c in enumerate(dict.fromkeys(label))}
    return [numbers[c] for c in label]


def modularity(distances, labels):
    """Q = sum_l [E_l / E - (deg_l / 2E)^2] over similarities 1 - w, no self-loops; 0 if E = 0."""
    n = len(labels)
    s = {(i, j): 1 - distances[i][j] for i, j in combinations(range(n), 2)}
    total = math.fsum(s.values())
    if total <= 1e-12 * len(s):
        return 0.0
    q = 0.0
    for cluster in set(labels):
        inside = math.fsum(v for (i, j), v in s.items() if labels[i] == labels[j] == cluster)
        degree = math.fsum(v for (i, j), v in s.items() for end in (i, j) if labels[end] == cluster)
        q += inside / total - (degree / (2 * total)) ** 2
    return q


def modularity_curve(distances, ordered_edges):
    """Q of the n partitions, each from scratch."""
    n = len(distances)
    return [modularity(distances, components(n, ordered_edges[k - 1 :])) for k in range(1, n + 1)]


def algorithm_1(distances, ordered_edges):
    """Cut the heaviest edges while Q does not fall, the first always; return the labels and Q of the last partition."""
    n = len(distances)
    curve = modularity_curve(distances, ordered_edges)
    k = min(2, n)
    while k < n and curve[k] >= curve[k - 1] - 1e-12:
        k += 1
    return components(n, ordered_edges[k - 1 :]), curve[k - 1]


def normalized_entropy(lengths, gamma):
    return math.fsum(length**gamma for length in lengths) / len(lengths) if len(lengths) else 0.0


def among(distances, members):
    """The sum of each member's distances to the members, the largest of these, and those of all pairs."""
    sums = [math.fsum(distances[i][j] for j in members) for i in members]
    pairs = [distances[i][j] for i, j in combinations(members, 2)]
    return sums, max(pairs, default=0.0), pairs


def region(distances, members, fallback):
    """(medoid, mean distance over unordered pairs)."""
    sums = [math.fsum(distances[i][j] for j in members) for i in members]
    medoid = next(i for i, s in zip(members, sums, strict=True) if s <= min(sums) * (1 + 1e-9))
    pairs = [distances[i][j] for i, j in combinations(members, 2)]
    extent = math.fsum(pairs) / len(pairs) if pairs else 0.0
    return medoid, extent if extent > 0 else fallback


def score(row, representatives, extents):
    """ln of the highest Gaussian membership."""
    grades = [
        -((math.dist(row, r) / math.sqrt(len(row)) / tau) ** 2) / 2
        for r, tau in zip(representatives, extents, strict=True)
    ]
    return max(grades)


def accepts(row, representatives, extents):
    """HDF: within the extent of the region of highest membership."""
    distances = [math.dist(row, r) / math.sqrt(len(row)) for r in representatives]
    reaches = [(tau + (2e-15 if tau > 1e-100 else 0.0)) * (1 + 1e-9) for tau in extents]
    return any(distance <= reach for distance, reach in zip(distances, reaches, strict=True))


def algorithm_2(rows, distances, ordered_edges, validation, y, eta, beta, gamma):
    """Build and evaluate every partition from scratch: (k, accuracy, objective) of the best, the first on ties."""
    n = len(distances)
    lengths = [length for length, _, _ in ordered_edges]
    mean_edge = math.fsum(lengths) / len(lengths) if lengths else 0.0
    fallback = mean_edge if mean_edge > 0 else 1e-100
    entropy = normalized_entropy(lengths, gamma)
    found = []
    for k in range(min(2, n), n + 1):
        labels = components(n, ordered_edges[k - 1 :])
        regions = [region(distances, [i for i in range(n) if labels[i] == c], fallback) for c in range(k)]
        representatives, extents = [rows[medoid] for medoid, _ in regions], [extent for _, extent in regions]
        right = sum(
            accepts(v, representatives, extents) == (label == 1) for v, label in zip(validation, y, strict=True)
        )
        accuracy = right / len(y)
        m = math.log(1.5 + modularity(distances, labels)) / math.log(2.5)
        found.append((k, accuracy, beta * accuracy + (1 - beta) * (eta * entropy + (1 - eta) * m)))
    best = max(objective for _, _, objective in found)
    return next(result for result in found if result[2] >= best - 1e-12)
