"""How many outliers a person finds who is shown rows by `queries`, and answers.

    pip install 'eocc[bench]'
    python benchmarks/finding.py [--repetitions 2] [--sets autompg wine]

Sets, training rows and pools are those of `asking.py`: a tenth of a pool are outliers. Rows are shown five at a time,
and the true answers are taught before the next five. A figure is the number of outliers among the first 10, 20 or 50
rows shown, divided by how many there could be: all rows shown, or all outliers of the pool.
"""

import argparse
import inspect
import time
import warnings

import numpy as np
from asking import ROUND, Task
from coniferest.aadforest import AADForest
from coniferest.label import Label
from further_sets import tables
from timing import table

from eocc import SurpriseClassifier

SHOWN = (10, 20, 50)
HAS_GOALS = "goal" in inspect.signature(SurpriseClassifier.queries).parameters


def rows_shown(clf, X, n, goal):
    """Return the n rows of X that `queries` shows; without goals, the strangest ones for "find"."""
    if HAS_GOALS:
        found = [query.index for query in clf.queries(X, n, goal=goal)]
    elif goal == "learn":
        found = [query.index for query in clf.queries(X, n)]
    else:
        found = np.argsort(clf.decision_function(X), kind="stable")[:n]
    return np.array(found, int)


def in_rounds(task, choose):
    """Return the rows of the pool in the order shown; `choose(left, shown)` returns indices into `left`."""
    shown = np.empty(0, int)
    while len(shown) < min(max(SHOWN), len(task.pool)):
        left = np.setdiff1d(np.arange(len(task.pool)), shown)
        new = left[choose(left, shown)][:ROUND]
        new = np.append(new, np.setdiff1d(left, new)[: ROUND - len(new)])  # only copies of answered rows are left
        shown = np.append(shown, new)
    return shown


def by_queries(goal):
    def method(task):
        clf = SurpriseClassifier().fit(task.training)

        def choose(left, shown):
            model = clf.teach(task.pool[shown], task.is_normal[shown]) if len(shown) else clf
            return rows_shown(model, task.pool[left], ROUND, goal)

        return in_rounds(task, choose)

    return method


def strangest(task):
    """Nothing is taught."""
    return np.argsort(SurpriseClassifier().fit(task.training).decision_function(task.pool), kind="stable")


def by_aad_forest(task):
    data = np.vstack([task.training, task.pool])

    def choose(left, shown):
        forest = AADForest(n_jobs=1, random_seed=0)
        if len(shown):
            forest.fit_known(data, task.pool[shown], np.where(task.is_normal[shown], Label.R, Label.A))
        else:
            forest.fit(data)
        return np.argsort(forest.score_samples(task.pool[left]), kind="stable")[:ROUND]

    return in_rounds(task, choose)


METHODS = {
    'queries, goal="find"': by_queries("find"),
    'queries, goal="learn"': by_queries("learn"),
    "strangest, nothing taught": strangest,
    "AADForest": by_aad_forest,
}


def shares(task, shown):
    """Return the share found of what could be found, after each number of rows shown."""
    is_outlier = ~task.is_normal[shown]
    return [is_outlier[:n].sum() / min(n, (~task.is_normal).sum()) for n in SHOWN]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repetitions", type=int, default=2)
    arguments.add_argument("--sets", nargs="+", help="names of tables; all by default")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")  # of other libraries
    chosen = {name: rows for name, rows in sorted(tables().items()) if not given.sets or name in given.sets}
    found, started, seconds = {name: [] for name in METHODS}, time.perf_counter(), dict.fromkeys(METHODS, 0.0)
    for X, is_normal, _ in chosen.values():
        for repetition in range(given.repetitions):
            task = Task(X, is_normal, repetition)
            for name, method in METHODS.items() if task.is_large_enough else ():
                before = time.perf_counter()
                found[name].append(shares(task, method(task)))
                seconds[name] += time.perf_counter() - before
    rows = [[f"{len(found['AADForest'])} runs; found among the first", *map(str, SHOWN), "seconds"]]
    for name, values in found.items():
        rows.append([name, *(f"{value:.3f}" for value in np.mean(values, axis=0)), f"{seconds[name]:.0f}"])
    print(table(rows))
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
