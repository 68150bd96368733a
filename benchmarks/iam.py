"""EOCC-1 and EOCC-2 on the six IAM graph sets, next to the paper's figures.

EOCC_DATA=/folder/with/data python benchmarks/iam.py [SET ...]    the table of docs/results/graphs.md
EOCC_DATA=/folder/with/data python benchmarks/iam.py Protein --lone 1e-9    with another extent for lone patterns

The folder holds iam/AIDS.zip and so on, as distributed. Train on the target class of train, validate on valid, test on
test plus train's non-targets.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score
from timing import table

import eocc.regions.all_partitions
import eocc.regions.fuzzy
from eocc import EntropicOneClassClassifier
from eocc.datasets import read_graph_set

# set, target, then (AUC, accuracy, regions) of the paper for EOCC-1 and EOCC-2
SETS = [
    ("AIDS", "i", (0.977, 0.942, 2.0), (0.974, 0.945, 3.4)),
    ("AIDS", "a", None, None),
    ("GREC", "1", (0.993, 0.969, 4.0), (1.000, 0.973, 8.0)),
    ("Letter-LOW", "A", (1.000, 0.988, 2.4), (1.000, 0.990, 3.8)),
    ("Letter-HIGH", "A", (0.905, 0.840, 2.0), (0.967, 0.966, 29.4)),
    ("Mutagenicity", "mutagen", (0.501, 0.493, 3.0), (0.682, 0.622, 123.0)),
    ("Protein", "1", (0.388, 0.158, 2.0), (0.554, 0.921, 26.0)),
]


def splits(folder, name, target):
    """Return training targets, (validation graphs, labels), (test graphs, labels)."""
    train, valid, test = (read_graph_set(folder / "iam" / f"{name}.zip", split) for split in ("train", "valid", "test"))
    is_target = np.array(train.labels) == target
    targets = [graph for graph, kept in zip(train.graphs, is_target, strict=True) if kept]
    rest = [graph for graph, kept in zip(train.graphs, is_target, strict=True) if not kept]
    y_valid, y_test = (np.where(np.array(part.labels) == target, 1, -1) for part in (valid, test))
    return targets, (valid.graphs, y_valid), (test.graphs + rest, np.append(y_test, np.full(len(rest), -1)))


def result(synthesis, targets, validation, test, seeds):
    """Return mean (standard deviation) of AUC, accuracy and regions over seeds, and the seconds of a fit."""
    X, y = test
    rows = []
    for seed in seeds:
        clf = EntropicOneClassClassifier(measure="graph-edit", synthesis=synthesis, random_state=seed, n_jobs=-1)
        started = time.perf_counter()
        clf.fit(targets, validation=validation if synthesis == "validation" else None)
        spent = time.perf_counter() - started
        margins = clf.decision_function(X)  # ranks as the score does
        rows.append((roc_auc_score(y, margins), ((margins >= 0) == (y == 1)).mean(), len(clf.regions_), spent))
    return np.mean(rows, axis=0), np.std(rows, axis=0)


def set_rows(folder, name, target, papers, seeds):
    targets, validation, test = splits(folder, name, target)
    for system, synthesis, paper in zip(("EOCC-1", "EOCC-2"), ("entropy", "validation"), papers, strict=True):
        mean, deviation = result(synthesis, targets, validation, test, seeds)
        ours = [f"{mean[k]:.3f} ({deviation[k]:.3f})" for k in (0, 1)] + [f"{mean[2]:.1f}", f"{mean[3]:.1f}"]
        theirs = [f"{paper[0]:.3f}", f"{paper[1]:.3f}", f"{paper[2]:.1f}"] if paper else [""] * 3
        yield [f"{name}, {target}", str(len(targets)), system, *ours, *theirs]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sets", nargs="*", help="names of sets; all by default")
    arguments.add_argument("--lone", type=float, help="the extent of a lone pattern instead of the mean tree edge")
    chosen = arguments.parse_args()
    if chosen.lone is not None:
        eocc.regions.fuzzy.default_extent = eocc.regions.all_partitions.default_extent = lambda tree: chosen.lone
    folder, wanted, seeds = Path(os.environ["EOCC_DATA"]), chosen.sets, range(3)
    head = ["set, target", "trained on", "system", "AUC", "accuracy", "regions", "seconds a fit",
            "paper: AUC", "accuracy", "regions"]  # fmt: skip
    rows = [
        row
        for name, target, *papers in SETS
        if not wanted or name in wanted
        for row in set_rows(folder, name, target, papers, seeds)
    ]
    print(table([head, *rows]))


if __name__ == "__main__":
    main()
