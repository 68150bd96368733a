"""How often `drift` speaks without drift, and how often with it: the figures of docs/results/calibration.md.

python benchmarks/drift.py            without drift: the share of batches with a p-value of at most 0.01, 0.05 and 0.2
python benchmarks/drift.py --power    the share of batches in which drift is said, for some shifts
"""

import argparse
from functools import partial

import numpy as np
from timing import table_line

from eocc import EntropicOneClassClassifier, SurpriseClassifier

METHODS = {
    "surprise": SurpriseClassifier(),
    "entropic": EntropicOneClassClassifier(search=None, false_alarm_rate=0.05, random_state=0),
}
# A fit of more rows takes long: it is one of eleven.
MOST_ROWS = {"surprise": 1000, "entropic": 200}
# Training rows, new rows, columns, source of the rows.
CASES = (
    (50, 1, 3, "normal"), (50, 20, 3, "normal"), (50, 1000, 3, "normal"), (200, 20, 3, "normal"),
    (200, 4000, 3, "normal"), (60, 500, 20, "normal"), (200, 1000, 5, "t"), (100, 1000, 3, "integers"),
    (1000, 20, 8, "normal"), (1000, 10_000, 4, "normal"), (1000, 5000, 3, "ten integers"),
)  # fmt: skip
SOURCES = {
    "normal": lambda d, rng, n: rng.normal(size=(n, d)),
    "t": lambda d, rng, n: rng.standard_t(3, size=(n, d)),
    "integers": lambda d, rng, n: rng.integers(0, 6, size=(n, d)).astype(float),
    "ten integers": lambda d, rng, n: rng.integers(0, 10, size=(n, d)).astype(float),
}
LEVELS = (0.01, 0.05, 0.2)
SIZES = (20, 100, 1000)


def shifted(rng, n, d, shift):
    """Move the first column by so many standard deviations."""
    rows = rng.normal(size=(n, d))
    rows[:, 0] += shift
    return rows


# The name of a drift, and new rows that drift, of 5 columns.
SHIFTS = {
    "one column by 0.5 sd": lambda rng, n: shifted(rng, n, 5, 0.5),
    "one column by 1 sd": lambda rng, n: shifted(rng, n, 5, 1.0),
    "one column by 2 sd": lambda rng, n: shifted(rng, n, 5, 2.0),
    "all columns 1.2 times as wide": lambda rng, n: 1.2 * rng.normal(size=(n, 5)),
    "one column stuck at its mean": lambda rng, n: rng.normal(size=(n, 5)) * [0, 1, 1, 1, 1],
    "1 row in 10 far away": lambda rng, n: rng.normal(size=(n, 5)) + 8 * (rng.random((n, 1)) < 0.1),
}


def p_values(clf, draw, n, m, n_models, draw_new=None, seed=0):
    """Return the p-value of a batch of m new rows for each of many models of n rows."""
    rng = np.random.default_rng(seed)
    return np.array([clf.fit(draw(rng, n)).drift((draw_new or draw)(rng, m)).p_value for _ in range(n_models)])


def without_drift(name, n_models):
    yield ["rows", "new rows", "columns", "source", *(f"p at most {level:g}" for level in LEVELS)]
    for n, m, d, source in (case for case in CASES if case[0] <= MOST_ROWS[name]):
        found = p_values(METHODS[name], partial(SOURCES[source], d), n, m, n_models)
        yield [f"{n:,}", f"{m:,}", str(d), source, *(f"{(found <= level).mean():.3f}" for level in LEVELS)]


def power(name, n_models):
    yield ["drift", *(f"{size:,} new rows" for size in SIZES)]
    for words, draw_new in SHIFTS.items():
        found = [p_values(METHODS[name], partial(SOURCES["normal"], 5), 1000, m, n_models, draw_new) for m in SIZES]
        yield [words, *(f"{(one <= 0.01).mean():.2f}" for one in found)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--power", action="store_true", help="the share of batches in which drift is said")
    parser.add_argument("--models", type=int, default=400, help="models per figure")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    given = parser.parse_args()
    for name in given.methods:
        print(name)
        for row in (power if given.power else without_drift)(name, given.models):
            print(table_line(row), flush=True)


if __name__ == "__main__":
    main()
