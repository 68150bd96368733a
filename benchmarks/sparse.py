"""How entropy, partition and AUC change with the number of neighbours and of prototypes, on the UCI sets.

    python benchmarks/sparse.py            AUC with the graph of neighbours and 256 prototypes beside the complete graph
    python benchmarks/sparse.py --study    also for other numbers of neighbours and prototypes, on three of the sets

The folder of the data is the environment variable EOCC_DATA; without it only the sets that scikit-learn has are found.
"""

import argparse

import numpy as np
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from timing import table

from eocc import EntropicOneClassClassifier
from eocc.datasets import list_datasets
from eocc.entropic_graph import NeighbourGraph
from eocc.experiments.sources import UciSource

RUNS = 3
STUDIED = ("AB", "D", "BI")


def trials(name):
    return [UciSource(name).trial(form, 0, run) for form in ("raw", "unit-variance") for run in range(RUNS)]


def fitted(trial, **settings):
    return EntropicOneClassClassifier(search=None, random_state=0, **settings).fit(trial.training)


def auc(trial, model):
    return roc_auc_score(trial.test.y, model.score_samples(trial.test.patterns))


def known_sets():
    """The names of the UCI sets that are there, each once."""
    rows = [listed.row for listed in list_datasets() if listed.found]
    return [row.name for row in rows if row.kind == "uci" and row.variant_of is None]


def compare():
    rows, gaps = [["set", "targets", "multi", "256, knn", "single", "256, knn"]], []
    for name in known_sets():
        figures = []
        for trial in trials(name):
            for resolution in ("multi", "single"):
                whole = fitted(trial, resolution=resolution, graph="complete")
                sparse = fitted(trial, resolution=resolution, graph="knn", prototypes=256)
                figures.append((auc(trial, whole), auc(trial, sparse)))
        means = np.array(figures).reshape(-1, 4).mean(axis=0)
        gaps.append(means)
        rows.append([name, str(len(trial.training)), *(f"{value:.3f}" for value in means)])
    rows.append(["mean", "", *(f"{value:.4f}" for value in np.mean(gaps, axis=0))])
    print(table(rows))


def study():
    rows = [["set", "prototypes", "k", "AUC single", "AUC multi", "entropy", "regions", "same partition (ARI)"]]
    for name in STUDIED:
        trial = trials(name)[0]
        whole = fitted(trial, resolution="single", graph="complete")
        settings = [(None, None)] + [(256, k) for k in (3, 5, 10, 20, 40)] + [(r, 10) for r in (32, 64, 128, 512)]
        for prototypes, k in settings:
            graph = "complete" if k is None else NeighbourGraph(k)
            single = fitted(trial, resolution="single", graph=graph, prototypes=prototypes)
            multi = fitted(trial, graph=graph, prototypes=prototypes)
            areas = [f"{auc(trial, model):.3f}" for model in (single, multi)]
            same = adjusted_rand_score(whole.labels_, single.labels_)
            found = [f"{single.entropy_:.4f}", str(len(single.regions_)), f"{same:.2f}"]
            rows.append([name, str(prototypes or "all"), str(k or "all"), *areas, *found])
    print(table(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", action="store_true", help="also for other numbers of neighbours and prototypes")
    wanted = parser.parse_args()
    compare()
    if wanted.study:
        study()
