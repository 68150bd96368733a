"""Decisions by neighbourhoods against the paper's EOCC-1: seconds to fit and to score, in one run.

python benchmarks/resolution.py            the table
python benchmarks/resolution.py --others   what known others cost, and sums of kernels against numpy's
"""

import sys
import time

import numpy as np

from eocc import EntropicOneClassClassifier
from eocc.kernels.density import kernel_sums

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


def known_others():
    """Scoring by 256 prototypes and more and more known others, on one thread; one sum of kernels in both ways."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(4000, DIMENSIONS)), rng.normal(size=(4000, DIMENSIONS))
    settings = {"prototypes": 256, "graph": "knn", "n_jobs": 1}
    print("| known others | score, µs a row |\n|---|---|")
    for count in (0, 200, 2000, 20_000):
        rows, y = np.vstack([X, rng.normal(size=(count, DIMENSIONS)) + 1]), np.repeat([1, -1], [len(X), count])
        clf = EntropicOneClassClassifier(synthesis="validation" if count else "entropy", **settings)
        clf.fit(rows, y if count else None)
        print(f"| {count:,} | {1e6 * seconds(lambda clf=clf: clf.score_samples(new), 2) / len(new):.1f} |")

    distances, sums = np.abs(rng.normal(size=(1000, 2000))), np.empty(1000)
    ours = seconds(lambda: kernel_sums(distances, 0.5, sums))
    numpys = seconds(lambda: np.exp(-0.5 * (distances / 0.5) ** 2).sum(axis=1))
    print(f"\na kernel: {1e9 * ours / distances.size:.1f} ns, {numpys / ours:.1f} times as fast as by numpy")


if __name__ == "__main__":
    known_others() if "--others" in sys.argv else main()
