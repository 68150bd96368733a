"""Nearest neighbours in the dissimilarity space against pynndescent's: time, recall, and whether threads change them.

python benchmarks/neighbours.py   100,000 patterns of 10, 50 and 200 numbers, 256 prototypes; about 6 minutes
"""

import argparse
from functools import partial

import numpy as np
from pynndescent import NNDescent
from timing import seconds, table

from eocc.base.threads import threads
from eocc.entropic.graph.nearest_rows import Neighbours, nearest_neighbours
from eocc.kernels.distances import cross_distances
from eocc.measures import Euclidean

K = 10
PROTOTYPES = 256
SMALL = 5000  # compiled on so many before the clock runs
THREADS = 2


def dissimilarity_space(n, d):
    """Return the dissimilarities of n normal patterns, in four clusters, to the first 256."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 4 * rng.integers(0, 2, size=(n, 1)) + 3 * rng.integers(0, 2, size=(n, 1))
    return Euclidean().fit(X[:PROTOTYPES]).prepare(X, X[:PROTOTYPES]).evaluate(np.ones(d))


def ours(rows):
    with threads(THREADS):
        return nearest_neighbours(rows, K)


def theirs(rows, n_jobs=THREADS):
    indices, distances = NNDescent(rows, n_neighbors=K + 1, random_state=0, n_jobs=n_jobs).neighbor_graph
    return Neighbours(indices[:, 1:], distances[:, 1:] / np.sqrt(rows.shape[1]))


def sampled_recall(rows, neighbours, n_queries=200):
    """Return the share of neighbours that are as near as the true ones, over rows spread evenly."""
    queries = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), n_queries)).astype(np.int64))
    scale = 1 / np.sqrt(rows.shape[1])
    # Distances keep 36 bits, and differences in single precision 24.
    as_near = 1 + (1e-10 if rows.dtype == np.float64 else 1e-6)
    hits, distances = 0, np.empty(len(rows))
    for query in queries:
        cross_distances(rows, rows[query : query + 1], scale, distances[:, None])
        distances[query] = np.inf
        farthest = np.partition(distances, neighbours.indices.shape[1] - 1)[neighbours.indices.shape[1] - 1]
        hits += int(np.count_nonzero(neighbours.distances[query] <= farthest * as_near))
    return hits / (len(queries) * neighbours.indices.shape[1])


def timed(find, rows):
    found = []
    duration = seconds(lambda: found.append(find(rows)))
    return duration, found[0]


def compared(n, d):
    rows = dissimilarity_space(n, d)
    ours(rows[:SMALL]), theirs(rows[:SMALL])
    results = [timed(find, rows) for find in (ours, theirs)]
    times = [f"{duration:.1f} s" for duration, _ in results]
    recalls = [f"{sampled_recall(rows.astype(dtype), found):.3f}" for dtype, (_, found) in
               zip((np.float64, np.float32), results, strict=True)]  # fmt: skip
    alone, on_one = timed(partial(theirs, n_jobs=1), rows)
    changed = np.mean(np.any(on_one.indices != results[1][1].indices, axis=1))
    return [f"{d}", *times, f"{alone:.1f} s", *recalls, f"{changed:.1%}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=100_000)
    n = parser.parse_args().n
    measured = ["eocc", "pynndescent", "its one thread", "recall", "recall, pynndescent", "its rows changed by threads"]
    print(table([["features", *measured], *(compared(n, d) for d in (10, 50, 200))]))


if __name__ == "__main__":
    main()
