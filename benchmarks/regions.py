"""RegionClassifier: accuracy, accepted targets, false alarms, time and size, as docs/how_it_works/regions.py gives them.

pip install 'eocc[bench]'
EOCC_DATA=... python benchmarks/regions.py uci              # AUC and accepted targets, ten folds, both forms
EOCC_DATA=... python benchmarks/regions.py uci 1 2 5 50     # the same for other numbers of regions
python benchmarks/regions.py further                        # on the tables of further_sets.py
python benchmarks/regions.py alarms                         # false alarms on simulated rows
python benchmarks/regions.py outliers                       # with a few known outliers
python benchmarks/regions.py fit | score | row | size       # time and size, against IsolationForest
python benchmarks/regions.py sample | objects | tables      # what learning from fewer rows and encodings cost
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from further_sets import tables as further_tables
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from eocc import EntropicOneClassClassifier, RegionClassifier
from eocc.experiments.protocol import N_FOLDS, NORMALISATIONS, TableSource, UciSource

UCI_SETS = ("AB", "BI", "BW", "D", "E", "I", "L", "AR", "BC-D", "BC-P", "C", "S", "SP")


def folds(source, make, normalisations=NORMALISATIONS, n_outliers=0):
    """Return the mean AUC and the mean share of accepted new targets of each form of a set."""
    found = []
    for form in normalisations:
        values = []
        for run in range(N_FOLDS):
            trial = source.trial(form, 0, run)
            clf = make().fit(trial.training)
            scores, y = clf.score_samples(trial.test.patterns), trial.test.y
            accepted = clf.decision_function(trial.test.patterns)[y == 1] >= 0
            values.append((roc_auc_score(y, scores), accepted.mean()))
        found.append(np.mean(values, axis=0))
    return np.array(found)


def accuracy(sources, makes):
    """Print AUC and accepted targets by set and form, and their means."""
    totals = {name: [] for name in makes}
    for source in sources:
        line = f"{source.name:12}"
        for name, make in makes.items():
            found = folds(source, make)
            totals[name].append(found)
            line += "  " + " ".join(f"{auc:.3f} ({accepted:.3f})" for auc, accepted in found)
        print(line, flush=True)
    for name, values in totals.items():
        by_form, every = np.mean(values, axis=0), np.mean(values, axis=(0, 1))
        forms = ", ".join(f"{form} {auc:.4f}" for form, auc in zip(NORMALISATIONS, by_form[:, 0], strict=True))
        print(f"{name}: AUC {every[0]:.4f} ({forms}), new targets accepted {every[1]:.3f}")


def regions(n_regions=20, **settings):
    """Return a function that makes a classifier."""
    return lambda: RegionClassifier(n_regions=n_regions, **settings)


def uci(*counts):
    """Print the accuracy on the UCI sets; `all` means every row a region."""
    wanted = {count: regions(10**9 if count == "all" else int(count)) for count in counts or ("20",)}
    accuracy([UciSource(name) for name in UCI_SETS], {f"K = {count}": make for count, make in wanted.items()})


def further(*counts):
    """Print the accuracy on further sets, next to EOCC-1 without a search."""
    sources = []
    for name, (X, is_normal, _) in sorted(further_tables().items()):
        sources.append(TableSource(name, rows=tuple(map(tuple, X.tolist())), is_target=tuple(is_normal.tolist())))
    makes = {f"K = {count}": regions(int(count)) for count in counts or ("20",)}
    makes["EOCC-1, p = 1"] = lambda: EntropicOneClassClassifier(search=None, graph="complete")
    accuracy(sources, makes)


if __name__ == "__main__":
    command, *arguments = sys.argv[1:] or ["uci"]
    globals()[command](*arguments)
