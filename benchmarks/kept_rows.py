"""Does it matter that a large model compares new rows with a part of its training rows?

python benchmarks/kept_rows.py [ROWS]

AUC and false-alarm rate of a model of ROWS rows (100,000 by default) that compares with all of them, and of models that
compare with 50,000 and 20,000 of them, on five kinds of synthetic rows. Means of SEEDS draws. By default models compare
with all of up to 223,000 rows.
"""

import sys

import numpy as np
from sklearn.metrics import roc_auc_score
from timing import table

from eocc import SurpriseClassifier

N_NEW = 20_000
KEPT = (50_000, 20_000)
SEEDS = 3


def kinds(rng):
    """Yield a name, a function that draws n normal rows, and one that draws n outliers."""
    yield (
        "normal, 10 columns; outliers 1.3 times as wide",
        lambda n: rng.normal(size=(n, 10)),
        lambda n: 1.3 * rng.normal(size=(n, 10)),
    )
    centres, widths = rng.normal(size=(50, 6)) * 5, rng.uniform(0.05, 1, 50)

    def mixture(n):
        chosen = rng.integers(50, size=n)
        return centres[chosen] + rng.normal(size=(n, 6)) * widths[chosen, None]

    yield (
        "50 clusters, 6 columns; outliers shuffled",
        mixture,
        lambda n: np.column_stack([rng.permutation(column) for column in mixture(n).T]),
    )

    def spiral(n):
        turn = rng.uniform(0, 6 * np.pi, n)
        return np.column_stack([turn * np.cos(turn), turn * np.sin(turn)]) + rng.normal(size=(n, 2)) * 0.3

    yield "spiral, 2 columns; outliers uniform", spiral, lambda n: rng.uniform(-18, 18, size=(n, 2))
    mix = rng.normal(size=(8, 8))

    def heavy(n):
        return rng.standard_t(2.5, size=(n, 8)) @ mix

    yield "heavy tails, 8 columns; outliers twice as wide", heavy, lambda n: 2 * heavy(n)
    folds = rng.normal(size=(4, 20))

    def surface(n, noise=0.05):
        return np.sin(rng.normal(size=(n, 4)) @ folds) + noise * rng.normal(size=(n, 20))

    yield "folded surface, 20 columns; outliers with more noise", surface, lambda n: surface(n, 0.15)


def figures(training, normal, outliers, prototypes):
    clf = SurpriseClassifier(prototypes=prototypes, n_jobs=-1).fit(training)
    scores = clf.decision_function(np.vstack([normal, outliers]))
    auc = roc_auc_score(np.repeat([1, 0], [len(normal), len(outliers)]), scores)
    return auc, float((scores[: len(normal)] < 0).mean())


def main(n):
    rows = [["rows", "all: AUC", "false alarms", *(f"{kept:,}: change of both" for kept in KEPT)]]
    found = {}
    for seed in range(SEEDS):
        for name, normal, outlying in kinds(np.random.default_rng(seed)):
            parts = normal(n), normal(N_NEW), outlying(N_NEW)
            found.setdefault(name, []).append([figures(*parts, kept) for kept in (None, *KEPT)])
    for name, values in found.items():
        (auc, alarms), *others = np.mean(values, axis=0)
        cells = [f"{one - auc:+.4f}, {other - alarms:+.4f}" for one, other in others]
        rows.append([name, f"{auc:.4f}", f"{alarms:.4f}", *cells])
    print(table(rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
