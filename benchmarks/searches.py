"""The searches against each other, with the same number of proposals each: what they reach, and what it is good for.

python benchmarks/searches.py                    the tables of docs/research/choices.md
python benchmarks/searches.py --generations 100  a larger budget
python benchmarks/searches.py --seeds 20         more splits of the data
"""

import argparse
import platform
import time
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import combinations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from timing import seconds, table

from eocc import EntropicOneClassClassifier
from eocc.entropic.search import GeneticSearch

DATA = {  # name -> loader, the class that is the target
    "breast cancer": (load_breast_cancer, 1),
    "wine": (load_wine, 0),
    "digits": (load_digits, 8),
}
SYNTHESES = ("validation", "entropy")
NONE = "none"
SAME = 1e-9  # objectives and AUCs this close are the same but for rounding


@dataclass(frozen=True)
class Split:
    """One division of a data set; no fit sees the test rows. Labels are +1 and -1."""

    X_train: np.ndarray
    X_val: np.ndarray
    y_val: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@dataclass(frozen=True)
class Result:
    """What one fit came to. `path` holds the values of the distinct candidates, in the order of their evaluation."""

    objective: float
    path: np.ndarray
    promised: float  # accuracy on the validation rows, NaN without
    accuracy: float  # on the test rows, as the AUC
    auc: float
    seconds: float


@dataclass
class RandomSearch:
    """Points drawn uniformly from [0, 1]^u; the first point is all ones."""

    population_size: int
    max_generations: int

    def batches(self, n_parameters, rng):
        for k in range(self.max_generations):
            points = rng.random((self.population_size, n_parameters))
            if k == 0:
                points[0] = 1.0
            yield points


@dataclass
class Recorded:
    """A search whose distinct candidates and their values are written down."""

    search: object
    values: dict = field(default_factory=dict)

    def batches(self, n_parameters, rng):
        batches, values = self.search.batches(n_parameters, rng), None
        while True:
            try:
                candidates = batches.send(values)
            except StopIteration:
                return
            values = yield candidates
            for candidate, value in zip(candidates, values, strict=True):
                self.values.setdefault(candidate.tobytes(), float(value))


def searches(n_generations, population_size=30):
    """Return every search by name, none with less patience than generations."""
    return {
        NONE: None,
        "random": RandomSearch(population_size, n_generations),
        "genetic": GeneticSearch(population_size, n_generations, patience=n_generations),
    }


def split(X, is_target, seed):
    """Return 90 % of the targets to train on, 10 % of the others to validate with them, the rest to test."""
    rng = np.random.default_rng(seed)
    targets, others = (rng.permutation(np.flatnonzero(is_target == kind)) for kind in (True, False))
    n_train, n_val = round(0.9 * len(targets)), round(0.1 * len(others))
    X = StandardScaler().fit(X[targets[:n_train]]).transform(X)
    validating = targets[: round(0.1 * n_train)]
    val, test = (np.r_[a, b] for a, b in ((validating, others[:n_val]), (targets[n_train:], others[n_val:])))
    y = np.where(is_target, 1, -1)
    return Split(X[targets[:n_train]], X[val], y[val], X[test], y[test])


def fit(clf, data):
    """Train as the synthesis asks: on all training targets, or on those that do not validate."""
    if clf.synthesis == "entropy":
        return clf.fit(data.X_train)
    return clf.fit(data.X_train[(data.y_val == 1).sum() :], validation=(data.X_val, data.y_val))


def run(data, synthesis, search, seed):
    """Fit once and evaluate on the test rows."""
    recorded = None if search is None else Recorded(search)
    clf = EntropicOneClassClassifier.as_printed(synthesis, search=recorded, random_state=seed, n_jobs=1)
    spent = seconds(lambda: fit(clf, data))
    path = [clf.objective_] if recorded is None else list(recorded.values.values())
    return Result(
        objective=clf.objective_,
        path=np.array(path),
        promised=getattr(clf, "performance_", np.nan),
        accuracy=np.mean(clf.predict(data.X_test) == data.y_test),
        auc=roc_auc_score(data.y_test, clf.score_samples(data.X_test)),
        seconds=spent,
    )


def run_all(n_seeds, n_generations):
    """Return results[synthesis, data set][search], a list with one result per seed."""
    results = defaultdict(lambda: defaultdict(list))
    for name, (load, target) in DATA.items():
        X, y = load(return_X_y=True)
        for seed in range(n_seeds):
            data = split(X, y == target, seed)
            for synthesis in SYNTHESES:
                run(data, synthesis, None, seed)  # unmeasured: compiled code is loaded here
                for label, search in searches(n_generations).items():
                    results[synthesis, name][label].append(run(data, synthesis, search, seed))
    return results


def spread(values, digits):
    return f"{np.mean(values):.{digits}f} ({np.std(values, ddof=1):.{digits}f})"


def times_best(found):
    """Return for each search on how many seeds none reached a greater objective."""
    objectives = np.array([[result.objective for result in runs] for runs in found.values()])
    wins = (objectives >= objectives.max(axis=0) - SAME).sum(axis=1)
    return dict(zip(found, wins.tolist(), strict=True))


def result_rows(name, found):
    best = times_best(found)
    for search, runs in found.items():
        yield [
            name,
            search,
            spread([result.objective for result in runs], 4),
            f"{best[search]} of {len(runs)}",
            spread([len(result.path) for result in runs], 0),
            spread([result.auc for result in runs], 4),
            spread([result.seconds for result in runs], 2),
        ]


def result_table(results, synthesis):
    rows = [["data set", "search", "objective", "best on", "evaluations", "AUC", "seconds"]]
    return table([*rows, *(row for name in DATA for row in result_rows(name, results[synthesis, name]))])


def promise(runs):
    """Return the mean accuracy on the validation rows, and on the test rows."""
    promised, kept = np.mean([(result.promised, result.accuracy) for result in runs], axis=0)
    return f"{promised:.3f} / {kept:.3f}"


def promise_table(results):
    found = [results["validation", name] for name in DATA]
    return table([["search", *DATA], *([search, *(promise(runs[search]) for runs in found)] for search in found[0])])


def changes(found):
    """Return what each search of each seed changed against none on the same split: objective and AUC."""
    pairs = [
        (result.objective - none.objective, result.auc - none.auc)
        for search, runs in found.items()
        if search != NONE
        for result, none in zip(runs, found[NONE], strict=True)
    ]
    return np.array(pairs).T


def agreement(found):
    """Of all pairs of fits on one split that differ in both, return in how many the two rank alike, and how many."""
    signs = [
        np.sign([a.objective - b.objective, a.auc - b.auc])
        for same_split in zip(*found.values(), strict=True)
        for a, b in combinations(same_split, 2)
        if abs(a.objective - b.objective) > SAME and abs(a.auc - b.auc) > SAME
    ]
    return sum(objective == auc for objective, auc in signs), len(signs)


def change_row(synthesis, name, found):
    objective, auc = changes(found)
    raised = objective > SAME
    up, down = ((sign * auc[raised] > SAME).sum() for sign in (1, -1))
    alike, n_pairs = agreement(found)
    return [
        synthesis,
        name,
        f"{raised.sum()} of {len(raised)}",
        f"{up} / {raised.sum() - up - down} / {down}",
        f"{auc[raised].mean():+.4f}" if raised.any() else "",
        f"{alike} of {n_pairs}",
    ]


def change_table(results):
    head = ["synthesis", "data set", "objective raised", "AUC up / same / down", "mean change of AUC", "ranked alike"]
    keys = [(synthesis, name) for synthesis in SYNTHESES for name in DATA]
    return table([head, *(change_row(*key, results[key]) for key in keys)])


def versions():
    packages = ("eocc", "numpy", "scipy", "scikit-learn", "numba")
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seeds", type=int, default=8, help="splits of each data set, at least 2 (default: 8)")
    arguments.add_argument("--generations", type=int, default=20, help="of 30 proposals each (default: 20)")
    wanted = arguments.parse_args()
    start = time.perf_counter()
    results = run_all(wanted.seeds, wanted.generations)
    for synthesis in SYNTHESES:
        print(f'synthesis="{synthesis}"\n\n{result_table(results, synthesis)}\n')
    print(f"{change_table(results)}\n\n{promise_table(results)}\n")
    print(f"{versions()}; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
