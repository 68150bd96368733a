"""How detection suffers from missing values, by what a missing value counts: docs/results/calibration.md.

python benchmarks/gaps.py                  gaps in training and in new rows
python benchmarks/gaps.py --complete       gaps in new rows only
python benchmarks/gaps.py --sets I BW -n 1 some sets, one split each
python benchmarks/gaps.py --machines       readings of machines whose columns depend on each other
"""

import argparse
from dataclasses import dataclass

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
    """Gower's measure of numbers with another rule for missing values."""

    rule: type

    def read(self, X):
        return np.asarray(X, np.float64)

    def fit(self, training):
        return self.rule(training)


class MeanDifference:
    """Between a gap and a value, the mean difference of two training values; between two gaps, 0."""

    def __init__(self, training):
        self.low = np.nanmin(training, axis=0)
        self.span = np.nanmax(training, axis=0) - self.low
        self.n_parameters = training.shape[1]
        self.learn(self.scaled(training))

    def scaled(self, rows):
        return np.divide(rows - self.low, self.span, out=np.zeros(rows.shape), where=(self.span > 0) | np.isnan(rows))

    def learn(self, training):
        self.between = np.array([np.nanmean(np.abs(column[:, None] - column)) for column in training.T])

    def prepare(self, patterns, prototypes=None):
        rows = self.scaled(patterns)
        return _Pairs(self, rows, rows if prototypes is None else self.scaled(prototypes))

    def components(self, x, y, k):
        """c (n, r) of column k, from the columns x (n, 1) and y (1, r)."""
        return np.where(np.isnan(x) & np.isnan(y), 0.0, self.between[k])


class Expected(MeanDifference):
    """Between a gap and a value, the mean difference of this value and the training values."""

    def learn(self, training):
        super().learn(training)
        self.training = training

    def components(self, x, y, k):
        present = self.training[~np.isnan(self.training[:, k]), k]
        means = [np.abs(side.ravel()[:, None] - present).mean(axis=1).reshape(side.shape) for side in (x, y)]
        return np.where(np.isnan(y), np.where(np.isnan(x), self.between[k], means[0]), means[1])


class Median(MeanDifference):
    """Every gap is filled with the median of its column in training."""

    def learn(self, training):
        self.medians = np.nanmedian(training, axis=0)

    def components(self, x, y, k):
        return np.abs(np.where(np.isnan(x), self.medians[k], x) - np.where(np.isnan(y), self.medians[k], y))


class LeftOut(MeanDifference):
    """Columns with a gap on either side are left out, and the others count more: Gower's own rule."""

    def components(self, x, y, k):
        return np.zeros(np.broadcast(x, y).shape)

    def prepare(self, patterns, prototypes=None):
        return _Rescaled(super().prepare(patterns, prototypes))


@dataclass(frozen=True, eq=False)
class _Pairs:
    rule: MeanDifference
    rows: np.ndarray
    prototypes: np.ndarray

    def evaluate(self, p, out=None):
        D = np.zeros((len(self.rows), len(self.prototypes)))
        for k in np.flatnonzero(p):
            x, y = self.rows[:, k, None], self.prototypes[None, :, k]
            apart = np.abs(x - y)
            D += p[k] * np.where(np.isnan(apart), self.rule.components(x, y, k), apart) / len(p)
        return D


@dataclass(frozen=True, eq=False)
class _Rescaled:
    pairs: _Pairs

    def evaluate(self, p, out=None):
        known, columns = ~np.isnan(self.pairs.rows), ~np.isnan(self.pairs.prototypes)
        return self.pairs.evaluate(p) * (p.sum() / np.maximum((known * p) @ columns.T, p.max() / 2))


RULES = {
    "filled from the nearest rows (here)": Gower(),
    "expected difference": ByRule(Expected),
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
        scores = [clf.surprise_model_.surprises(clf._read(rows)) for rows in (normal, others, strange)]
        is_other = np.repeat([0, 1], [len(normal), len(others)])
        auc = roc_auc_score(is_other, np.concatenate(scores[:2]))
        alarms = (clf.predict(normal[has_gap]) == -1).mean() if has_gap.any() else np.nan
        z = (np.median(scores[2]) - scores[0].mean()) / scores[0].std()
        found.append([auc, alarms, (clf.predict(strange) == -1).mean(), z])
    return found


def machines(n, seed):
    """Return readings that all depend on the load."""
    rng = np.random.default_rng(seed)
    load = rng.normal(65, 12, n)
    noise = rng.normal(size=(n, 4)) * [2, 4, 0.08, 25]
    return np.column_stack([load, np.outer(load, [0.3, -0.6, 0.012, 14.2]) + noise])


def show_machines(share=0.03, n=1000, n_runs=5):
    """Print the share of rejected rows: with gaps, complete, and complete with heat raised by 5 standard deviations."""
    print(table([["training", "a gap counts", "normal, with gaps", "normal, complete", "too hot"]]))
    for is_complete in (True, False):
        for rule, measure in RULES.items():
            found = []
            for seed in range(n_runs):
                rng, training, new = np.random.default_rng(seed), machines(n, seed), machines(n, 100 + seed)
                clf = SurpriseClassifier(measure=measure).fit(
                    training if is_complete else with_gaps(training, share, rng)
                )
                incomplete = with_gaps(new, share, rng)
                incomplete = incomplete[np.isnan(incomplete).any(axis=1)]
                groups = incomplete, new, new + np.array([0, 10, 0, 0, 0])
                found.append([(clf.predict(rows) == -1).mean() for rows in groups])
            figures = " | ".join(f"{value:.3f}" for value in np.mean(found, axis=0))
            print(f"| {'complete' if is_complete else '3 % gaps'} | {rule} | {figures} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--complete", action="store_true", help="training rows without gaps")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("-n", type=int, default=3, help="splits of each set")
    parser.add_argument("--machines", action="store_true", help="readings of machines instead of the UCI sets")
    given = parser.parse_args()
    if given.machines:
        show_machines()
        return
    measures = {**RULES, "Euclidean, filled from the nearest rows (here)": Euclidean()} if given.complete else RULES
    print(table([["gaps", "a gap counts", "AUC", "false alarms with gaps", "planted: rejected", "standard score"]]))
    for share in SHARES:
        found = [figures(name, seed, share, given.complete, measures) for name in given.sets for seed in range(given.n)]
        for rule, (auc, alarms, rejected, z) in zip(measures, np.nanmean(found, axis=0), strict=True):
            print(f"| {share:.0%} | {rule} | {auc:.3f} | {alarms:.3f} | {rejected:.2f} | {z:.1f} |", flush=True)


if __name__ == "__main__":
    main()
