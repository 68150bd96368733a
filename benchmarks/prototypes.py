"""Mean AUC of EOCC-1 (p = 1) on UCI sets with few prototypes, by selection.

python benchmarks/prototypes.py   three folds, raw and unit variance, four seeds; the folder of the data is EOCC_DATA
"""

import argparse

import numpy as np
from sklearn.metrics import roc_auc_score
from timing import table

from eocc import EntropicOneClassClassifier
from eocc.experiments.protocol import UciSource
from eocc.space.prototypes import SELECTIONS

SETS = ("AR", "BC-D", "BC-P", "BI", "BW", "D", "E", "I", "L", "S", "SP")
FOLDS = 3


def mean_auc(trials, count, selection, seed):
    """Return the AUC, first averaged over the trials of a set, then over the sets."""
    means = []
    for of_set in trials:
        found = []
        for trial in of_set:
            settings = {"search": None, "random_state": seed, "prototypes": count, "selection": selection}
            model = EntropicOneClassClassifier(**settings).fit(trial.training)
            found.append(roc_auc_score(trial.test.y, model.score_samples(trial.test.patterns)))
        means.append(np.mean(found))
    return np.mean(means)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--counts", type=int, nargs="+", default=[8, 32])
    settings = parser.parse_args()
    forms = [(form, fold) for form in ("raw", "unit-variance") for fold in range(FOLDS)]
    trials = [[UciSource(name).trial(form, 0, fold) for form, fold in forms] for name in SETS]
    rows = [["selection", *(f"{count} prototypes (least to most)" for count in settings.counts)]]
    for selection in SELECTIONS:
        cells = []
        for count in settings.counts:
            found = [mean_auc(trials, count, selection, seed) for seed in range(settings.seeds)]
            cells.append(f"{np.mean(found):.3f} ({min(found):.3f} to {max(found):.3f})")
        rows.append([selection, *cells])
        print(table([rows[0], rows[-1]]), flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
