"""How detection suffers from missing values, by what a missing value counts: the tables of docs/missing_values.md.

python benchmarks/gaps.py                  gaps in training and in new rows
python benchmarks/gaps.py --complete       gaps in new rows only
python benchmarks/gaps.py --sets I BW -n 1 some sets, one split each
"""

import argparse
from dataclasses import dataclass, replace

import numpy as np
from sklearn.metrics import roc_auc_score
from timing import table

from eocc import SurpriseClassifier
from eocc.datasets import load_uci
from eocc.measures import Euclidean, Gower

SETS = ("AB", "BI", "BW", "D", "E", "I", "L", "AR", "BC-D", "BC-P", "C", "S", "SP")
SHARES = (0.0, 0.05, 0.1, 0.3, 0.5)
MOST_ROWS = 400  # of each class in a test set


@dataclass(frozen=True)
class ByRule:
    """Gower's measure with another rule for missing values."""

    rule: type

    def read(self, X):
        return Gower().read(X)

    def fit(self, training):
        gower = Gower().fit(training)
        return self.rule(gower, gower.prepare(training))


class MeanDifference:
    """Between a gap and a value, the mean difference of two training values; between two gaps, 0."""

    def __init__(self, gower, among):
        self.gower, self.n_parameters = gower, gower.n_parameters
        self.between = np.array([column.gap.between for column in gower.columns])
        known = ~np.isnan(among.rows).all(axis=0)
        self.medians = np.zeros(self.n_parameters)
        self.medians[known] = np.nanmedian(among.rows[:, known], axis=0)

    def prepare(self, patterns, prototypes=None):
        prepared = self.gower.prepare(patterns, prototypes)
        columns = np.ascontiguousarray(self.counted(prepared.prototype_columns.T).T)
        return replace(prepared, rows_if_missing=self.counted(prepared.rows), prototypes_if_missing=columns)

    def counted(self, rows):
        return np.where(np.isnan(rows), 0.0, self.between)


class Median(MeanDifference):
    """Every gap is filled with the median of its column in training."""

    def counted(self, rows):
        return np.where(np.isnan(rows), 0.0, np.abs(rows - self.medians))


class LeftOut(MeanDifference):
    """Columns with a gap on either side are left out, and the others count more: Gower's own rule."""

    def counted(self, rows):
        return np.zeros(rows.shape)

    def prepare(self, patterns, prototypes=None):
        return _Rescaled(super().prepare(patterns, prototypes))


@dataclass(frozen=True, eq=False)
class _Rescaled:
    pairs: object

    def evaluate(self, p, out=None):
        D = self.pairs.evaluate(p, out)
        known, columns = ~np.isnan(self.pairs.rows), ~np.isnan(self.pairs.prototype_columns)
        D *= p.sum() / np.maximum((known * p) @ columns, p.max() / 2)
        return D


RULES = {
    "expected difference (here)": Gower(),
    "mean difference of the column": ByRule(MeanDifference),
    "median filled in": ByRule(Median),
    "column left out": ByRule(LeftOut),
}


def split(name, seed):
    """Return half of the targets to train, and at most MOST_ROWS targets and others to test."""
    data, rng = load_uci(name), np.random.default_rng(seed)
    targets, others = (rng.permutation(np.flatnonzero(data.is_target == wanted)) for wanted in (True, False))
    half = len(targets) // 2
    return data.X[targets[:half]], data.X[targets[half:][:MOST_ROWS]], data.X[others[:MOST_ROWS]]


def planted(normal, training, rng):
    """Return normal rows with one value moved to one range above the largest in training, and where it is."""
    low, high = training.min(axis=0), training.max(axis=0)
    columns = rng.choice(np.flatnonzero(high > low), size=len(normal))
    rows = normal.copy()
    rows[np.arange(len(rows)), columns] = (2 * high - low)[columns]
    return rows, columns


def with_gaps(X, share, rng, kept=None):
    """Return X with a random share of its cells removed, but the cell in column kept[i] of row i stays."""
    removed = rng.random(X.shape) < share
    if kept is not None:
        removed[np.arange(len(X)), kept] = False
    removed[removed.all(axis=1), 0] = False  # a row without any value says nothing
    return np.where(removed, np.nan, X)


def figures(name, seed, share, is_complete, measures):
    """Return AUC, false-alarm rate of rows with gaps, and rejected share and standard score of planted values."""
    training, normal, others = split(name, seed)
    rng = np.random.default_rng(seed)
    strange, kept = planted(normal, training, rng)
    training = training if is_complete else with_gaps(training, share, rng)
    normal, others, strange = (
        with_gaps(rows, share, rng, at) for rows, at in ((normal, None), (others, None), (strange, kept))
    )
    has_gap = np.isnan(normal).any(axis=1) if share else np.ones(len(normal), bool)
    found = []
    for measure in measures.values():
        clf = SurpriseClassifier(measure=measure).fit(training)
        scores = [clf.surprise_model_.surprises(clf.read(rows)) for rows in (normal, others, strange)]
        is_other = np.repeat([0, 1], [len(normal), len(others)])
        auc = roc_auc_score(is_other, np.concatenate(scores[:2]))
        alarms = (clf.predict(normal[has_gap]) == -1).mean() if has_gap.any() else np.nan
        z = (np.median(scores[2]) - scores[0].mean()) / scores[0].std()
        found.append([auc, alarms, (clf.predict(strange) == -1).mean(), z])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--complete", action="store_true", help="training rows without gaps")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("-n", type=int, default=3, help="splits of each set")
    given = parser.parse_args()
    measures = {**RULES, "Euclidean, median (here)": Euclidean()} if given.complete else RULES
    print(table([["gaps", "a gap counts", "AUC", "false alarms with gaps", "planted: rejected", "standard score"]]))
    for share in SHARES:
        found = [figures(name, seed, share, given.complete, measures) for name in given.sets for seed in range(given.n)]
        for rule, (auc, alarms, rejected, z) in zip(measures, np.nanmean(found, axis=0), strict=True):
            print(f"| {share:.0%} | {rule} | {auc:.3f} | {alarms:.3f} | {rejected:.2f} | {z:.1f} |", flush=True)


if __name__ == "__main__":
    main()
