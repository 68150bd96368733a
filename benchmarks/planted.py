"""How often explanations name the columns that make a row strange: the tables of docs/results/calibration.md.

python benchmarks/planted.py                       all rules but SHAP
python benchmarks/planted.py --shap -n 5 --sets BW  with SHAP's KernelExplainer, which is slow, on 5 rows of a set
python benchmarks/planted.py --time --shap         explaining against scoring, 1,000 normal rows of 30 numbers

A planted row is a held-out normal row of which one, two or three columns are moved up or down by a number of normal
ranges (largest less smallest value). A category becomes one that no normal row has.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from timing import least_seconds, table

from eocc import SurpriseClassifier
from eocc.datasets import load_uci

UCI = ("BC-D", "BW", "D", "E", "L", "S")
CASES = ((1, 4.0), (2, 4.0), (3, 4.0), (1, 1.0), (3, 1.0))  # columns moved, normal ranges
N_NEAR = 8
UNSEEN = 1000.0


@dataclass
class Rows:
    """Normal rows as numbers and codes, held-out ones, and what turns numbers into rows for the classifier."""

    normal: np.ndarray
    held_out: np.ndarray
    is_code: np.ndarray
    read: Callable


def made(name, seed):
    """Return a set by name: 70 % of its normal rows, at most 1,000, to learn from."""
    rng = np.random.default_rng(seed)
    if name in UCI:
        data = load_uci(name)
        X = data.X[data.is_target]
    elif name == "correlated":
        X = rng.normal(size=(600, 3)) @ rng.normal(size=(3, 12)) + 0.15 * rng.normal(size=(600, 12))
    elif name == "heavy tails":
        X = rng.standard_t(2, size=(600, 20))
    elif name == "200 columns":
        X = rng.normal(size=(600, 200))
    else:
        X = np.hstack([rng.normal(size=(600, 6)), rng.integers(0, 4, (600, 4))])
        X[:, 1] += X[:, 0]
    if name not in UCI:
        scaled = 6 if name == "mixed" else X.shape[1]
        X[:, :scaled] *= 10.0 ** rng.integers(-2, 3, scaled)  # columns of different units
    is_code = np.arange(X.shape[1]) >= (6 if name == "mixed" else X.shape[1])
    X = X[rng.permutation(len(X))]
    if name == "mixed":
        X[rng.random(X.shape) < 0.05] = np.nan
    n = min(7 * len(X) // 10, 1000)
    return Rows(X[:n], X[n:], is_code, mixed if name == "mixed" else lambda rows: rows)


def mixed(rows):
    """Return a frame whose last four columns are categories."""
    labels = {code: f"kind {code:g}" for code in (0, 1, 2, 3, UNSEEN)}
    columns = {f"feature {k}": rows[:, k] if k < 6 else [labels.get(c) for c in rows[:, k]] for k in range(10)}
    return pd.DataFrame(columns)


def planted(rows, n_moved, n_ranges, n_rows, seed):
    """Return planted rows, and which columns were moved in each."""
    rng = np.random.default_rng(seed)
    ranges = np.nanmax(rows.normal, axis=0) - np.nanmin(rows.normal, axis=0)
    new = rows.held_out[np.arange(n_rows) % len(rows.held_out)].copy()
    middle, moved = np.nanmedian(rows.normal, axis=0), []
    for row in new:
        places = rng.choice(np.flatnonzero(ranges > 0), n_moved, replace=False)
        row[places] = np.where(np.isnan(row[places]), middle[places], row[places])
        shift = n_ranges * ranges[places] * rng.choice([-1, 1], n_moved)
        row[places] = np.where(rows.is_code[places], UNSEEN, row[places] + shift)
        moved.append(set(places.tolist()))
    return new, moved


def gaps(rows, x):
    """Return the squared differences of a row from the normal rows, each column over its variance."""
    apart = np.where(rows.is_code, rows.normal != x, rows.normal - x).astype(float) ** 2
    variance = np.where(rows.is_code, 0.5, np.nanvar(rows.normal, axis=0))
    return np.nan_to_num(apart / np.where(variance > 0, variance, 1.0), nan=2.0)


def here(rows, clf, new):
    """The least usual values among the normal rows most like the row in the other columns."""
    names = {f"feature {k}": k for k in range(new.shape[1])}
    return [[names[reason.name] for reason in one.reasons] for one in clf.explain(rows.read(new))]


def by_neighbour(rows, clf, new):
    """The contributions to the difference from the nearest row, with the columns as they are."""
    found = [[part.amount for part in one.difference.contributions] for one in clf.explain(rows.read(new))]
    return ranked(found)


def by_median(rows, clf, new):
    """The median squared differences from the eight nearest rows, each column over its variance."""
    every = (gaps(rows, x) for x in new)
    return ranked([np.median(one[np.argsort(one.sum(axis=1))[:N_NEAR]], axis=0) for one in every])


def by_tail(rows, clf, new):
    """The share of normal rows with a value as far out, in each column alone."""
    found = []
    for x in new:
        below, above = (rows.normal <= x).mean(axis=0), (rows.normal >= x).mean(axis=0)
        share = np.where(rows.is_code, (rows.normal == x).mean(axis=0), np.minimum(below, above))
        found.append(np.where(np.isnan(x), 0.0, 1.0 - share))
    return ranked(found)


def by_leaving_out(rows, clf, new):
    """How much more normal the row is for a model without the column."""
    scores, normal, new = np.empty(new.shape), rows.read(rows.normal), rows.read(new)
    for k in range(scores.shape[1]):
        model = SurpriseClassifier().fit(without(normal, k))
        scores[:, k] = -model.decision_function(without(new, k))
    return ranked(-scores)


def without(X, k):
    """Return a table without column k."""
    return X.drop(columns=X.columns[k]) if hasattr(X, "columns") else np.delete(X, k, axis=1)


def by_shap(rows, clf, new):
    """SHAP values of the score, by KernelExplainer with 20 normal rows as background."""
    import shap

    background = rows.normal[np.linspace(0, len(rows.normal) - 1, 20).astype(int)]
    explainer = shap.KernelExplainer(lambda X: clf.score_samples(rows.read(X)), background)
    return ranked(-np.array(explainer.shap_values(new, silent=True)))


def ranked(importances):
    """Return the columns of each row, the most important first."""
    return [np.argsort(-np.asarray(one), kind="stable").tolist() for one in importances]


RULES = {
    "least usual value among similar rows (here)": here,
    "difference from the nearest row": by_neighbour,
    "median difference from 8 nearest rows, columns scaled": by_median,
    "tail probability in each column": by_tail,
    "score without the column": by_leaving_out,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=100, help="rows per set and case")
    parser.add_argument("--sets", nargs="+", default=[*UCI, "correlated", "mixed", "heavy tails", "200 columns"])
    parser.add_argument("--shap", action="store_true")
    parser.add_argument("--time", action="store_true")
    given = parser.parse_args()
    if given.time:
        times(given.shap)
        return
    rules = RULES | ({"SHAP's KernelExplainer": by_shap} if given.shap else {})
    hits = {(name, rule): [] for name in given.sets for rule in rules}
    for name in given.sets:
        rows = made(name, seed=0)
        clf = SurpriseClassifier().fit(rows.read(rows.normal))
        for case, (n_moved, n_ranges) in enumerate(CASES):
            new, moved = planted(rows, n_moved, n_ranges, given.n, seed=case)
            for rule, rank in rules.items():
                order = rank(rows, clf, new)
                right = [set(one[:n_moved]) == places for one, places in zip(order, moved, strict=True)]
                hits[name, rule].append(np.mean(right))
    head = [f"{moved} column{'s' * (moved > 1)}, {far:g} range{'s' * (far > 1)}" for moved, far in CASES]
    means = [[rule, *percent(np.mean([hits[name, rule] for name in given.sets], axis=0))] for rule in rules]
    print(table([["rule", *head], *means]), "\n")
    print(table([["set", *head], *([name, *percent(hits[name, next(iter(rules))])] for name in given.sets)]))


def percent(shares):
    """Return shares in percent."""
    return [f"{100 * share:.1f} %" for share in shares]


def sentences(clf, rows):
    """Return the sentences that explain rows."""
    return [one.sentence for one in clf.explain(rows)]


def times(with_shap):
    """Print how long a row takes to explain and to score, alone and in a hundred."""
    rng = np.random.default_rng(0)
    normal, new = rng.normal(size=(1000, 30)), rng.normal(size=(100, 30))
    clf, lines = SurpriseClassifier(n_jobs=1).fit(normal), []
    for m in (1, 100):
        rows = new[:m]
        works = partial(clf.score_samples, rows), partial(sentences, clf, rows)
        score, explain = (1e6 * found / m for found in least_seconds(works, 30))
        lines.append([str(m), f"{score:.0f} µs", f"{explain:.0f} µs", f"{explain / score:.1f}"])
    print(table([["rows at a time", "score", "explain, with its sentence", "ratio"], *lines]))
    if with_shap:
        work = partial(by_shap, Rows(normal, new, np.zeros(30, bool), lambda rows: rows), clf, new[:1])
        print(f"SHAP's KernelExplainer: {1e6 * least_seconds([work], 2)[0]:.0f} µs")


if __name__ == "__main__":
    main()
