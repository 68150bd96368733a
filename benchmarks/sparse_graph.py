"""How entropy, partition and AUC change with the number of neighbours and of prototypes, on the UCI sets.

    python benchmarks/sparse_graph.py            AUC with 256 prototypes (EOCC-1: and neighbour graph) against all
    python benchmarks/sparse_graph.py --study    also other numbers of neighbours and prototypes, on three of the sets
    python benchmarks/sparse_graph.py --order    how many decisions another order of the rows changes
    python benchmarks/sparse_graph.py --precision   time and error of graphs in single precision

The folder of the data is the environment variable EOCC_DATA; without it only the sets that scikit-learn has are found.
"""

import argparse
import sys
import time

import numpy as np
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from timing import table

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.base.blas import one_blas_thread
from eocc.datasets.catalogue import ROWS
from eocc.entropic.graph.complete import euclidean_graph, single_precision_graph
from eocc.entropic.graph.entropy import normalized_entropy
from eocc.entropic.partition.cuts import greedy_prune
from eocc.entropic.synthesis.assessment import NeighbourGraph
from eocc.experiments.protocol import UciSource
from eocc.measures import Euclidean
from eocc.space.dissimilarity_space import dissimilarity_space

RUNS = 3
STUDIED = ("AB", "D", "BI")


def trials(name):
    return [UciSource(name).trial(form, 0, run) for form in ("raw", "unit-variance") for run in range(RUNS)]


def entropic(trial, **settings):
    return EntropicOneClassClassifier(search=None, random_state=0, **settings).fit(trial.training)


def surprise(trial, prototypes=None):
    return SurpriseClassifier(prototypes=prototypes).fit(trial.training)


def auc(trial, model):
    return roc_auc_score(trial.test.y, model.score_samples(trial.test.patterns))


def known_sets():
    """The names of the UCI sets that are there, each once."""
    rows = [row for row in ROWS if row.path.is_file() or row.shipped_by == "scikit-learn"]
    return [row.name for row in rows if row.kind == "uci" and row.variant_of is None]


def compare():
    rows, gaps = [["set", "rows", "surprise", "256 prototypes", "EOCC-1, p = 1", "256 prototypes, knn"]], []
    for name in known_sets():
        figures = []
        for trial in trials(name):
            models = [surprise(trial), surprise(trial, 256), entropic(trial, graph="complete"),
                      entropic(trial, graph="knn", prototypes=256)]  # fmt: skip
            figures.append([auc(trial, model) for model in models])
        means = np.mean(figures, axis=0)
        gaps.append(means)
        rows.append([name, str(len(trial.training)), *(f"{value:.3f}" for value in means)])
    rows.append(["mean", "", *(f"{value:.4f}" for value in np.mean(gaps, axis=0))])
    print(table(rows))


def study():
    rows = [["set", "prototypes", "k", "AUC EOCC-1", "AUC surprise", "entropy", "regions", "same partition (ARI)"]]
    for name in STUDIED:
        trial = trials(name)[0]
        whole = entropic(trial, graph="complete")
        settings = [(None, None)] + [(256, k) for k in (3, 5, 10, 20, 40)] + [(r, 10) for r in (32, 64, 128, 512)]
        for prototypes, k in settings:
            graph = "complete" if k is None else NeighbourGraph(k)
            sparse = entropic(trial, graph=graph, prototypes=prototypes)
            areas = [f"{auc(trial, model):.3f}" for model in (sparse, surprise(trial, prototypes))]
            same = adjusted_rand_score(whole.labels_, sparse.labels_)
            found = [f"{sparse.entropy_:.4f}", str(len(sparse.regions_)), f"{same:.2f}"]
            rows.append([name, str(prototypes or "all"), str(k or "all"), *areas, *found])
    print(table(rows))


class Outermost:
    """Select the rows with the largest first column: the same ones in any order of the rows."""

    def select(self, measure, patterns, count, rng):
        return np.sort(np.argsort(patterns[:, 0], kind="stable")[-count:])


def reordered(n=3000, orders=5):
    """How many hard decisions another order of the rows changes, with 60 prototypes."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 6)), 1.2 * rng.normal(size=(2000, 6))
    rows = [["graph", "decisions changed, at most", "patterns in the largest region"]]
    for graph in ("complete", "knn"):
        how = {"prototypes": 60, "selection": Outermost(), "graph": graph, "search": None}
        models = [EntropicOneClassClassifier(**how).fit(X[order]) for order in
                  (np.arange(n), *(rng.permutation(n) for _ in range(orders)))]  # fmt: skip
        first, *others = (model.predict(new) for model in models)
        largest = max(len(region.members) for region in models[0].regions_)
        rows.append([graph, f"{max((first != other).mean() for other in others):.2%}", str(largest)])
    print(table(rows))


def in_single_precision(sizes=(1000, 2000)):
    """Processor time of a graph in either precision, and what entropy and modularity lose."""
    rows = [["n", "double, ms", "single, ms", "change of entropy", "of modularity"]]
    for n in sizes:
        fitted_measure = Euclidean().fit(X := np.random.default_rng(0).normal(size=(n, 10)))
        space, out = dissimilarity_space(fitted_measure.prepare(X), np.ones(10), np.empty((n, n))), np.empty((n, n))
        times, figures = [], []
        for build in (euclidean_graph, single_precision_graph):
            with one_blas_thread():
                times.append(1e3 * min(processor_seconds(build, space, out) for _ in range(5)))
            graph = build(space, out)
            figures.append([normalized_entropy(graph.tree.lengths), greedy_prune(graph)[1]])
        changes = np.abs(np.subtract(*figures))
        rows.append([str(n), *(f"{time:.0f}" for time in times), *(f"{change:.1e}" for change in changes)])
    print(table(rows))


def processor_seconds(build, space, out):
    started = time.process_time()
    build(space, out)
    return time.process_time() - started


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", action="store_true", help="also for other numbers of neighbours and prototypes")
    parser.add_argument("--order", action="store_true", help="only: what another order of the rows changes")
    parser.add_argument("--precision", action="store_true", help="only: graphs in single precision")
    wanted = parser.parse_args()
    if wanted.order or wanted.precision:
        (reordered if wanted.order else in_single_precision)()
        sys.exit()
    compare()
    if wanted.study:
        study()
