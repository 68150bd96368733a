"""Decisions by neighbourhoods against the paper's EOCC-1: seconds to fit and to score, in one run.

python benchmarks/resolution.py
"""

import time

import numpy as np

from eocc import EntropicOneClassClassifier

N, DIMENSIONS, NEW, REPEATS = 1000, 10, 2000, 5


def seconds(work, repeats=REPEATS):
    """The least time of some repetitions, after one that compiles."""
    work()
    found = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return min(found)


def main():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(N, DIMENSIONS)), rng.normal(size=(NEW, DIMENSIONS))
    others = rng.normal(size=(N // 10, DIMENSIONS)) + 1
    both, y = np.vstack([X, others]), np.repeat([1, -1], [len(X), len(others)])
    models = {
        "EOCC-1, paper's": (EntropicOneClassClassifier(resolution="single", random_state=0), (X,), 1),
        "EOCC-1, no search": (EntropicOneClassClassifier(resolution="single", search=None), (X,), REPEATS),
        "by neighbourhoods, the default": (EntropicOneClassClassifier(), (X,), REPEATS),
        "by neighbourhoods, with labels": (EntropicOneClassClassifier(synthesis="validation"), (both, y), REPEATS),
    }
    print(f"n = {N}, d = {DIMENSIONS}; times are ratios to the first fit and the first scoring of {NEW} rows")
    print("| model | fit | score |\n|---|---|---|")
    base = None
    for name, (clf, data, repeats) in models.items():
        fit = seconds(lambda clf=clf, data=data: clf.fit(*data), repeats)
        score = seconds(lambda clf=clf: clf.score_samples(new))
        base = base or (fit, score)
        print(f"| {name} | {fit / base[0]:.3f} ({fit:.3f} s) | {score / base[1]:.2f} ({score:.3f} s) |")


if __name__ == "__main__":
    main()
