"""RegionClassifier: accuracy, accepted targets, false alarms, time and size.

pip install 'eocc[bench]'
EOCC_DATA=... python benchmarks/regions.py uci              # AUC and accepted targets, ten folds, both forms
EOCC_DATA=... python benchmarks/regions.py uci 1 2 5 50     # the same for other numbers of regions
EOCC_DATA=... python benchmarks/regions.py outliers         # with a few known outliers
python benchmarks/regions.py further                        # on the tables of further_sets.py
python benchmarks/regions.py alarms                         # false alarms on simulated rows
python benchmarks/regions.py fit                            # time of a fit, against IsolationForest
python benchmarks/regions.py score                          # time of a row, of a single call, and the file's size
python benchmarks/regions.py sample                         # what a tree of fewer rows or objects costs
python benchmarks/regions.py tables                         # mixed tables by their columns or dissimilarities
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from further_sets import tables as further_tables
from scipy.spatial.distance import cdist
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from eocc import EntropicOneClassClassifier, RegionClassifier
from eocc.classifiers import regions as module
from eocc.ellipsoids import shape as regions_shape
from eocc.experiments.protocol import N_FOLDS, NORMALISATIONS, TableSource, UciSource

UCI_SETS = ("AB", "BI", "BW", "D", "E", "I", "L", "AR", "BC-D", "BC-P", "C", "S", "SP")


def folds(source, make):
    """Return the mean AUC and the mean share of accepted new targets of each form of a set."""
    found = []
    for form in NORMALISATIONS:
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


class EveryRow:
    """Makes a region of every row, which a RegionClassifier does not."""

    def fit(self, X):
        """Return the fitted classifier."""
        usual, regions_shape.ROWS_PER_REGION = regions_shape.ROWS_PER_REGION, 1
        try:
            return RegionClassifier(n_regions=len(X)).fit(X)
        finally:
            regions_shape.ROWS_PER_REGION = usual


class AtMost:
    """Makes at most so many regions, also of fewer rows."""

    def __init__(self, n_regions):
        self.n_regions = n_regions

    def fit(self, X):
        """Return the fitted classifier."""
        return RegionClassifier(n_regions=min(self.n_regions, max(len(X), module.N_REGIONS))).fit(X)


def regions(count):
    """Return a function that makes a classifier with so many regions, or with "all"."""
    return EveryRow if count == "all" else lambda: AtMost(int(count))


def uci(*counts):
    """Print the accuracy on the UCI sets."""
    accuracy([UciSource(name) for name in UCI_SETS], {f"K = {count}": regions(count) for count in counts or ("20",)})


def further(*counts):
    """Print the accuracy on further sets, next to EOCC-1 without a search."""
    sources = []
    for name, (X, is_normal, _) in sorted(further_tables().items()):
        sources.append(TableSource(name, rows=tuple(map(tuple, X.tolist())), is_target=tuple(is_normal.tolist())))
    makes = {f"K = {count}": regions(count) for count in counts or ("20",)}
    makes["EOCC-1, p = 1"] = lambda: EntropicOneClassClassifier(search=None)
    accuracy(sources, makes)


def outliers():
    """Print the AUC on the UCI sets with 0, 5 and 20 known outliers; only the other outliers are tested."""
    for count in (0, 5, 20):
        values = []
        for source in map(UciSource, UCI_SETS):
            for form in NORMALISATIONS:
                for run in range(3):
                    trial, rng = source.trial(form, 0, run), np.random.default_rng(run)
                    known = rng.permutation(np.flatnonzero(trial.test.y == -1))[:20]
                    left, shown = np.setdiff1d(np.arange(len(trial.test.y)), known), trial.test.patterns[known[:count]]
                    y = np.append(np.ones(len(trial.training)), -np.ones(count))
                    clf = RegionClassifier().fit(np.vstack([trial.training, shown]), y)
                    scores = clf.score_samples(trial.test.patterns[left])
                    values.append(roc_auc_score(trial.test.y[left], scores))
        print(f"{count} known outliers: AUC {np.mean(values):.4f}")


def alarms():
    """Print the share of new rows of the same kind that are rejected at a rate of 0.05."""
    kinds = {
        "normal": lambda rng, n, d: rng.normal(size=(n, d)),
        "t with 3 degrees": lambda rng, n, d: rng.standard_t(3, size=(n, d)),
        "two clusters": lambda rng, n, d: rng.normal(size=(n, d)) + 6 * rng.integers(0, 2, size=(n, 1)),
        "log-normal": lambda rng, n, d: np.exp(rng.normal(size=(n, d))),
        "integers": lambda rng, n, d: rng.poisson(2, size=(n, d)).astype(float),
    }
    for n, repetitions in ((50, 100), (100, 100), (200, 50), (1000, 20)):
        for d in (2, 5, 20, 60):
            found = []
            for name, draw in kinds.items():
                rates = []
                for seed in range(repetitions):
                    rng = np.random.default_rng([seed, n])
                    rates.append((RegionClassifier().fit(draw(rng, n, d)).predict(draw(rng, 1000, d)) == -1).mean())
                found.append(f"{name} {np.mean(rates):.3f}")
            print(f"{n} x {d}: {', '.join(found)}", flush=True)


def timed(work, repetitions=3):
    """Return the least time in seconds of a few calls."""
    found = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def fit(*counts):
    """Print the time of a fit, over that of an IsolationForest which is fitted to the same rows and scores them."""
    rng = np.random.default_rng(0)
    RegionClassifier().fit(rng.normal(size=(2 * module.MOST_ROWS, 10)))  # compile
    for n in map(int, counts or ("10000", "100000", "1000000")):
        X = rng.normal(size=(n, 10))
        own = timed(lambda X=X: RegionClassifier().fit(X))
        forest = timed(lambda X=X: IsolationForest(random_state=0).fit(X).score_samples(X))
        print(f"{n} x 10: {own:.3f} s, IsolationForest {forest:.3f} s, ratio {own / forest:.2f}")


def score():
    """Print the time of scoring, of a single row, and the size of the model file."""
    X = np.random.default_rng(0).normal(size=(100_000, 10))
    clf, forest = RegionClassifier().fit(X), IsolationForest(random_state=0).fit(X)
    own, other = timed(lambda: clf.score_samples(X)), timed(lambda: forest.score_samples(X))
    print(
        f"a row of many: {1e6 * own / len(X):.2f} us, IsolationForest {1e6 * other / len(X):.2f} us, {own / other:.3f}"
    )
    single = [timed(lambda i=i: clf.predict(X[i : i + 1]), 1) for i in range(2000)]
    print(f"one row at a time: median {1e3 * np.median(single):.3f} ms")
    with tempfile.TemporaryDirectory() as folder:
        clf.save(Path(folder) / "model.eocc")
        print(f"model file, 10 columns: {(Path(folder) / 'model.eocc').stat().st_size} bytes")


def mixture(rng, n, n_clusters=30, n_columns=10):
    """Return rows of clusters of one shape, and rows between them."""
    centres, shape = 4 * rng.normal(size=(n_clusters, n_columns)), rng.normal(size=(n_columns, n_columns)) / 2
    normal = centres[rng.integers(n_clusters, size=n)] + rng.normal(size=(n, n_columns)) @ shape
    return normal, rng.permuted(normal, axis=0)[: n // 2]


def sample():
    """Print the AUC if regions are fitted to fewer rows of a table, or to fewer words."""
    most, rng = module.MOST_ROWS, np.random.default_rng(0)
    for count in (1000, 2000, 5000, 10_000, 40_000):
        module.MOST_ROWS, values = count, []
        for seed in range(3):
            normal, other = mixture(np.random.default_rng(seed), 60_000)
            clf = RegionClassifier().fit(normal[:40_000])
            y = np.append(np.ones(20_000), np.zeros(len(other)))
            values.append(roc_auc_score(y, clf.score_samples(np.vstack([normal[40_000:], other]))))
        print(f"regions of {count} of 40,000 rows: AUC {np.mean(values):.4f}", flush=True)
    module.MOST_ROWS = most
    words = [word(rng) for _ in range(4500)]
    strange = ["".join(rng.permutation(list(one))) for one in words[:500]]
    most = module.MOST_OBJECTS
    for count in (250, 500, 1000, 2000, 4000):
        module.MOST_OBJECTS = count
        start = time.perf_counter()
        clf = RegionClassifier().fit(words[:4000])
        scores = clf.score_samples([*words[4000:], *strange])
        auc, seconds = roc_auc_score(np.arange(1000) < 500, scores), time.perf_counter() - start
        print(f"regions of {count} of 4,000 words: AUC {auc:.4f}, {seconds:.1f} s", flush=True)
    module.MOST_OBJECTS = most


def word(rng):
    """Return a word of syllables."""
    return "".join(rng.choice(list("bdgklmnprst")) + rng.choice(list("aeiou")) for _ in range(rng.integers(2, 6)))


def tables():
    """Print the AUC on mixed tables, made of the further sets: by their columns, and by their dissimilarities."""
    import pandas as pd

    from eocc.ellipsoids import features

    values = {"columns": [], "dissimilarities": []}
    of_columns = module.has_columns
    for name, (X, is_normal, _) in sorted(further_tables().items()):
        frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
        for column in list(frame)[::2]:  # every other column as categories
            frame[column] = pd.cut(frame[column].rank(), 5, labels=list("abcde")).astype(str)
        training = np.flatnonzero(is_normal)[::2][:800]
        tested = np.setdiff1d(np.arange(len(X)), training)
        for way in values:
            if way == "dissimilarities":
                module.has_columns = features.has_rows
            clf = RegionClassifier().fit(frame.iloc[training])
            values[way].append(roc_auc_score(is_normal[tested], clf.score_samples(frame.iloc[tested])))
            module.has_columns = of_columns
        print(f"{name}: " + ", ".join(f"{way} {found[-1]:.3f}" for way, found in values.items()), flush=True)
    print("mean: " + ", ".join(f"{way} {np.mean(found):.4f}" for way, found in values.items()))


def norms():
    """Print the AUC of the nearest neighbour in the dissimilarity space, by the norm of its distances."""
    values = {name: [] for name in ("1", "2", "4", "8", "inf")}
    for _, (X, is_normal, _) in sorted(further_tables().items()):
        source = TableSource("", rows=tuple(map(tuple, X.tolist())), is_target=tuple(is_normal.tolist()))
        for form in NORMALISATIONS:
            trial = source.trial(form, 0, 0)
            own = trial.training[:: -(-len(trial.training) // 300)]
            rows, new = cdist(own, own), cdist(trial.test.patterns, own)
            for name, found in values.items():
                way = {"metric": "chebyshev"} if name == "inf" else {"metric": "minkowski", "p": int(name)}
                found.append(roc_auc_score(trial.test.y, -cdist(new, rows, **way).min(axis=1)))
    print(", ".join(f"l{name} {np.mean(found):.4f}" for name, found in values.items()))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:] or ["uci"]
    globals()[command](*arguments)
