"""Speed of the core, as ratios against named baselines in one run.

python benchmarks/core.py            the table of docs/results/scale.md
python benchmarks/core.py --scaling  also the growth with n, 250 to 4000
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from functools import partial

import numpy as np
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from sklearn.metrics import euclidean_distances
from timing import least_seconds, seconds, table

from eocc.base.threads import one_blas_thread, workers
from eocc.entropic.graph import spanning_tree
from eocc.entropic.partition import modularity_curve
from eocc.entropic.search import GeneticSearch, generations
from eocc.entropic.synthesis import EntropySynthesis, embed
from eocc.kernels.trees import prim_edges
from eocc.measures import Euclidean

D = 10
SYNTHESIS = EntropySynthesis(eta=0.5, gamma=0.02)


def patterns(n, d=D, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


class Candidate:
    """One candidate of n patterns, prepared as inside a fit."""

    def __init__(self, n, d=D, X=None):
        X = patterns(n, d) if X is None else X
        self.X, self.p = X, np.random.default_rng(1).random(d)
        self.measure = Euclidean().fit(X)
        self.prepared = self.measure.prepare(X)
        self.workspace = np.empty((2, n, n))

    def evaluate(self, p=None, workspace=None):
        p = self.p if p is None else p
        return SYNTHESIS.assessor(None)(p, embed(self.prepared, p, self.workspace if workspace is None else workspace))

    def evaluate_with_whole_curve(self):
        graph = embed(self.prepared, self.p, self.workspace)
        return SYNTHESIS.assessor(None)(self.p, graph), modularity_curve(graph.distances, graph.tree)


def stack_distances(candidate):
    """The same distances through scikit-learn."""
    space = euclidean_distances(candidate.X * np.sqrt(candidate.p)) / candidate.measure.delta
    return euclidean_distances(space) / np.sqrt(len(space))


def numpy_modularity(similarity, labels):
    """Q of one partition, recomputed."""
    total = similarity.sum() / 2
    inside = (similarity * (labels[:, None] == labels)).sum() / 2
    degrees = np.bincount(labels, similarity.sum(axis=1))
    return inside / total - ((degrees / (2 * total)) ** 2).sum()


def numpy_curve(distances, tree):
    """Q of all n partitions: cut one more edge, find the components, recompute."""
    similarity = 1 - distances
    np.fill_diagonal(similarity, 0)
    tree = tree.tocsr(copy=True)
    curve = [0.0]
    for edge in np.argsort(-tree.data, kind="stable"):
        tree.data[edge] = 0
        pruned = tree.copy()
        pruned.eliminate_zeros()
        curve.append(numpy_modularity(similarity, connected_components(pruned, directed=False)[1]))
    return np.array(curve)


def stack(candidate):
    """The whole candidate through scikit-learn, scipy and numpy: every partition's modularity."""
    distances = stack_distances(candidate)
    tree = minimum_spanning_tree(distances)
    entropy = (tree.data**SYNTHESIS.gamma).sum() / (len(distances) - 1)
    return entropy, numpy_curve(distances, tree)


def candidate_rows(n=1000):
    candidate = Candidate(n)
    rows = candidate.prepared.evaluate(candidate.p)
    out = np.empty((n, n))
    whole, ours, syrk = least_seconds(
        [candidate.evaluate_with_whole_curve, candidate.evaluate, partial(np.matmul, rows, rows.T, out)], 30
    )
    theirs = min(seconds(partial(stack, candidate)) for _ in range(2))
    assert np.allclose(stack(candidate)[1], candidate.evaluate_with_whole_curve()[1], atol=1e-9)
    return [
        [
            f"one candidate with its whole modularity curve, n = {n}, against scikit-learn + scipy + numpy",
            "80 x",
            "105 x",
            f"{theirs / whole:.0f} x",
        ],
        [
            f"one candidate as the search runs it (splits until Q falls), n = {n}, against the same",
            "",
            "",
            f"{theirs / ours:.0f} x",
        ],
        [
            f"one candidate with its whole curve, n = {n} / the bare BLAS syrk of D D^T",
            "1.5",
            "1.25",
            f"{whole / syrk:.2f}",
        ],
        [f"one candidate as the search runs it, n = {n} / the same", "1.5", "1.25", f"{ours / syrk:.2f}"],
    ]


def tight_row(n=1000):
    """Two clusters a million times tighter than apart: half of all pairs are computed one by one."""
    X = patterns(n) * 1e-6
    X[n // 2 :] += 1
    spread, tight = Candidate(n), Candidate(n, X=X)
    usual, repaired = least_seconds([spread.evaluate, tight.evaluate], 10)
    return [f"one candidate of two very tight clusters / of spread data, n = {n}", "", "", f"{repaired / usual:.1f}"]


def two_core_row(n):
    candidate = Candidate(n)
    points = np.random.default_rng(2).random((30, D))  # a population

    def run(n_threads):
        with workers(lambda: np.empty((2, n, n)), n_threads) as pool:
            pool.map(candidate.evaluate, list(points[:n_threads]))
            return min(seconds(partial(pool.map, candidate.evaluate, list(points))) for _ in range(2))

    times = [(run(1), run(2)) for _ in range(4)]
    one, two = (min(column) for column in zip(*times, strict=True))
    return [
        f"candidates two at a time on two cores / one after the other, n = {n}",
        "1.8 x",
        "1.95 x",
        f"{one / two:.2f} x",
    ]


def tree_rows(n=1000):
    from hdbscan._hdbscan_linkage import mst_linkage_core

    distances = stack_distances(Candidate(n))
    distances = (distances + distances.T) / 2
    np.fill_diagonal(distances, 0)
    kernel, core, public = least_seconds(
        [partial(prim_edges, distances), partial(mst_linkage_core, distances), partial(spanning_tree, distances)], 50
    )
    scipy = min(seconds(partial(minimum_spanning_tree, distances)) for _ in range(5))
    tree, reference = spanning_tree(distances), minimum_spanning_tree(distances)
    assert np.isclose(tree.lengths.sum(), reference.data.sum())
    ours = least_seconds([partial(modularity_curve, distances, tree)], 30)[0]
    numpy_ = min(seconds(partial(numpy_curve, distances, reference)) for _ in range(2))
    return [
        [f"spanning tree kernel, n = {n}, against scipy dense", "200 x", "270 x", f"{scipy / kernel:.0f} x"],
        [f"spanning tree kernel, n = {n}, against hdbscan's own core", "1.8 x", "2.2 x", f"{core / kernel:.2f} x"],
        [
            f"`spanning_tree` with its checks of the input, n = {n}, against scipy dense",
            "",
            "",
            f"{scipy / public:.0f} x",
        ],
        [f"whole modularity curve, n = {n}, against numpy recomputation", "1000 x", "2000 x", f"{numpy_ / ours:.0f} x"],
    ]


FIRST_FIT = """
import time, numpy as np
from eocc import EntropicOneClassClassifier
X = np.random.default_rng(0).normal(size=(100, 10))
start = time.perf_counter()
EntropicOneClassClassifier(random_state=0).fit(X)
print(time.perf_counter() - start)
"""


def first_fit_row():
    def fit(cache):
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        answer = subprocess.run([sys.executable, "-c", FIRST_FIT], env=environment, capture_output=True, check=True)
        return float(answer.stdout)

    cold, warm = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(fit(cache))
            warm.append(fit(cache))
    return [
        "first fit after import (n = 100, genetic search): cold / warm cache",
        "5 s / 0.6 s",
        "3 s / 0.4 s",
        f"{min(cold):.1f} s / {min(warm):.2f} s",
    ]


def search_row(n=200, u=278):
    """The share of a fit that the genetic algorithm itself takes."""
    candidate = Candidate(n, u)
    spent = 0.0

    def evaluate(batch):
        nonlocal spent
        start = time.perf_counter()
        found = [candidate.evaluate(p) for p in batch]
        spent += time.perf_counter() - start
        return found

    search = GeneticSearch(max_generations=30, patience=30)
    total = seconds(lambda: list(generations(search, evaluate, u, np.random.default_rng(0))))
    return [f"genetic algorithm's own share of a search, n = {n}, u = {u}", "5 %", "", f"{1 - spent / total:.1%}"]


def scaling():
    rows = [["n", "candidate ms", "syrk ms", "rest ms", "rest ns / n^2"]]
    for n in (250, 500, 1000, 2000, 4000):
        candidate = Candidate(n)
        D_rows, out = candidate.prepared.evaluate(candidate.p), np.empty((n, n))
        whole, syrk = least_seconds([candidate.evaluate_with_whole_curve, partial(np.matmul, D_rows, D_rows.T, out)], 8)
        rest = whole - syrk
        rows.append(
            [str(n), f"{whole * 1e3:.2f}", f"{syrk * 1e3:.2f}", f"{rest * 1e3:.2f}", f"{rest / n**2 * 1e9:.1f}"]
        )
    return rows


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--scaling", action="store_true", help="also time n = 250 to 4000")
    wanted = arguments.parse_args()
    with one_blas_thread():
        rows = [*candidate_rows(), tight_row(), two_core_row(500), two_core_row(1000), *tree_rows(), search_row()]
    rows.append(first_fit_row())
    print(table([["what", "must", "aim", "measured"], *rows]))
    if wanted.scaling:
        with one_blas_thread():
            print("\n" + table(scaling()))


if __name__ == "__main__":
    main()
