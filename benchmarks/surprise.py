"""SurpriseClassifier against the paper's EOCC-1: seconds to fit and to score, in one run.

python benchmarks/surprise.py              the table
python benchmarks/surprise.py --outliers   the cost of known outliers
"""

import sys
import time

import numpy as np

from eocc import EntropicOneClassClassifier, SurpriseClassifier

N, DIMENSIONS, NEW, REPEATS = 1000, 10, 2000, 5


def seconds(work, repeats=REPEATS):
    """The shortest time of some repetitions, after one that compiles."""
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
    outliers = rng.normal(size=(N // 10, DIMENSIONS)) + 1
    both, y = np.vstack([X, outliers]), np.repeat([1, -1], [len(X), len(outliers)])
    models = {
        "EOCC-1": (EntropicOneClassClassifier.as_printed(random_state=0), (X,), 1),
        "EOCC-1, no search": (EntropicOneClassClassifier.as_printed(search=None), (X,), REPEATS),
        "SurpriseClassifier": (SurpriseClassifier(), (X,), REPEATS),
        "SurpriseClassifier, 100 known outliers": (SurpriseClassifier(), (both, y), REPEATS),
    }
    print(f"n = {N}, d = {DIMENSIONS}; times are ratios to the first fit and the first scoring of {NEW} rows")
    print("| model | fit | score |\n|---|---|---|")
    base = None
    for name, (clf, data, repeats) in models.items():
        fit = seconds(lambda clf=clf, data=data: clf.fit(*data), repeats)
        score = seconds(lambda clf=clf: clf.score_samples(new))
        base = base or (fit, score)
        print(f"| {name} | {fit / base[0]:.3f} ({fit:.3f} s) | {score / base[1]:.2f} ({score:.3f} s) |")


def known_outliers():
    """Score with 256 prototypes and more and more known outliers on one thread."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(4000, DIMENSIONS)), rng.normal(size=(4000, DIMENSIONS))
    print("| known outliers | score, µs per row |\n|---|---|")
    for count in (0, 200, 2000, 20_000):
        rows, y = np.vstack([X, rng.normal(size=(count, DIMENSIONS)) + 1]), np.repeat([1, -1], [len(X), count])
        clf = SurpriseClassifier(prototypes=256, n_jobs=1).fit(rows, y)
        print(f"| {count:,} | {1e6 * seconds(lambda clf=clf: clf.score_samples(new), 2) / len(new):.1f} |")


if __name__ == "__main__":
    known_outliers() if "--outliers" in sys.argv else main()
