"""AUC on made-up shapes where a simple method beats nearest neighbours, or may do so.

python benchmarks/shapes.py                        all shapes, five seeds each
python benchmarks/shapes.py --only box ring        shapes whose names contain a word
python benchmarks/shapes.py --alone                SurpriseClassifier alone, which takes a third of the time

A shape draws normal rows, of which 300 train unless it says otherwise, and 300 test. Its outliers are 100 more normal
rows that were spoilt. The last two columns say which method is best, and how many of the normal test rows
SurpriseClassifier rejects at a rate of 0.05. The last rows are about clumps: 3 % or 5 % of the training rows are near
copies of one outlier. They are to be found among the training rows, by the scores of those, or new ones among new rows.

The strengths were set with a look at version 0.2 and the simple methods: where all of them failed or none did, the
shape was changed, and one that no method can see was dropped (a random walk that stands still for ten steps).
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from clumps import CLUMPS, of_made_up_clump
from simple_methods import METHODS, head, line, result

N_TRAINING, N_NORMAL, N_OUTLIERS, N_SEEDS = 300, 300, 100, 5


class Shape(NamedTuple):
    """`draw(rng, n)` gives normal rows, and `spoil(rng, rows)` makes outliers of normal rows."""

    draw: Callable
    spoil: Callable
    n: int = N_TRAINING


def normal(d, mean=0.0, scale=1.0):
    return lambda rng, n: mean + scale * rng.normal(size=(n, d))


def pairs(d, rho):
    """Columns 0 and 1, 2 and 3, ... have the correlation rho."""

    def draw(rng, n):
        first, noise = rng.normal(size=(2, n, d // 2))
        return np.stack([first, rho * first + np.sqrt(1 - rho**2) * noise], axis=2).reshape(n, d)

    return draw


def factors(d, rank, noise, seed=0):
    """Rows near a random subspace of `rank` dimensions."""
    loadings = np.random.default_rng(seed).normal(size=(rank, d)) / np.sqrt(rank)
    return lambda rng, n: rng.normal(size=(n, rank)) @ loadings + noise * rng.normal(size=(n, d))


def walks(rng, n, d=30):
    return np.cumsum(rng.normal(size=(n, d)), axis=1)


def sines(rng, n, d=40, period=20.0):
    phase = rng.uniform(0, 2 * np.pi, size=(n, 1))
    return np.sin(2 * np.pi * np.arange(d) / period + phase) + 0.2 * rng.normal(size=(n, d))


def ring(rng, n, d=2, noise=0.1):
    """Points near the unit circle in the first two of d columns."""
    angle = rng.uniform(0, 2 * np.pi, n)
    rows = np.column_stack([np.cos(angle), np.sin(angle), np.zeros((n, d - 2))])
    return rows + noise * rng.normal(size=(n, d))


def shell(rng, n, d=5):
    rows = rng.normal(size=(n, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) * rng.normal(1, 0.05, size=(n, 1))


def modes(centres, spreads):
    """As many rows around each of the centres, each with its own spread."""
    centres, spreads = np.asarray(centres, float), np.asarray(spreads, float)

    def draw(rng, n):
        mode = rng.integers(len(centres), size=n)
        return centres[mode] + spreads[mode, None] * rng.normal(size=(n, centres.shape[1]))

    return draw


def moons(rng, n):
    angle, is_second = rng.uniform(0, np.pi, n), rng.random(n) < 0.5
    rows = np.column_stack([np.cos(angle), np.sin(angle)])
    rows[is_second] = np.array([1, 0.5]) - rows[is_second]
    return rows + 0.05 * rng.normal(size=(n, 2))


def categories(n_columns, n_categories, related=False):
    """One-hot columns; the last category of each never occurs. If related, column 1 follows column 0."""
    share = 0.5 ** np.arange(1, n_categories)
    share /= share.sum()

    def draw(rng, n):
        cells = rng.choice(n_categories - 1, p=share, size=(n, n_columns))
        if related:
            cells[:, 1] = (cells[:, 0] + rng.integers(2, size=n)) % (n_categories - 1)
        return np.eye(n_categories)[cells].reshape(n, -1)

    return draw


def recategorised(k, n_categories, new):
    """Set the one-hot column k to the category that `new(rng, old)` returns."""

    def spoil(rng, rows):
        block = slice(k * n_categories, (k + 1) * n_categories)
        rows[:, block] = np.eye(n_categories)[new(rng, rows[:, block].argmax(axis=1))]
        return rows

    return spoil


def shifted(count, by, either_side=True):
    """Shift `count` random columns of each row."""

    def spoil(rng, rows):
        for row in rows:
            sign = rng.choice([-1, 1], count) if either_side else 1
            row[rng.choice(rows.shape[1], count, replace=False)] += sign * by
        return rows

    return spoil


def placed(count, value):
    """Set `count` random columns of each row to what `value(rng)` returns."""

    def spoil(rng, rows):
        for row in rows:
            row[rng.choice(rows.shape[1], count, replace=False)] = value(rng)
        return rows

    return spoil


def one_shuffled(columns):
    """Exchange the values of one of these columns, drawn for each row, with those of other rows."""

    def spoil(rng, rows):
        others, which = rows[rng.permutation(len(rows))], rng.choice(columns, len(rows))
        rows[np.arange(len(rows)), which] = others[np.arange(len(rows)), which]
        return rows

    return spoil


def swapped(rng, rows):
    rows[:, [0, 1]] = rows[:, [1, 0]]
    return rows


def outside_box(count, most):
    """Put values of `count` columns just below 0 or just above 1."""

    def spoil(rng, rows):
        for row in rows:
            beyond = rng.uniform(0.02, most, count)
            row[rng.choice(rows.shape[1], count, replace=False)] = np.where(
                rng.random(count) < 0.5, -beyond, 1 + beyond
            )
        return rows

    return spoil


def between(rng, rows):
    """Move each row halfway to another."""
    return (rows + rows[rng.permutation(len(rows))]) / 2


def drawn(draw):
    """Outliers that do not come from normal rows."""
    return lambda rng, rows: draw(rng, len(rows))


ODD_SCALES = 10.0 ** np.arange(-2, 4)
CENTRES = np.random.default_rng(1).uniform(-5, 5, size=(10, 5))
LEVELS = np.linspace(2, 8, 12)

SHAPES = {
    "correlation broken, one of five pairs": Shape(pairs(10, 0.95), one_shuffled(range(10))),
    "correlation broken, one of two pairs": Shape(pairs(4, 0.98), one_shuffled(range(4))),
    "correlation broken, one factor, 20 columns": Shape(factors(20, 1, 0.2), one_shuffled(range(20))),
    "low rank, more noise": Shape(factors(30, 3, 0.2), lambda rng, rows: rows + 0.2 * rng.normal(size=rows.shape)),
    "low rank, off the plane": Shape(factors(50, 5, 0.1), shifted(1, 0.6)),
    "random walk, a spike": Shape(walks, shifted(1, 4.0)),
    "sine, another period": Shape(sines, drawn(lambda rng, n: sines(rng, n, period=19.0))),
    "sine, a spike": Shape(sines, shifted(1, 1.5)),
    "5 of 100 columns shifted": Shape(normal(100), shifted(5, 2.5)),
    "3 of 600 columns shifted": Shape(normal(600), shifted(3, 4.5)),
    "1 of 200 columns far out": Shape(normal(200), shifted(1, 6.0)),
    "all of 20 columns wider": Shape(normal(20), lambda rng, rows: 1.3 * rows),
    "box, one of 5 columns outside": Shape(lambda rng, n: rng.random((n, 5)), outside_box(1, 0.2)),
    "box, one of 20 columns outside": Shape(lambda rng, n: rng.random((n, 20)), outside_box(1, 0.3)),
    "categories, one never seen": Shape(categories(8, 5), recategorised(3, 5, lambda rng, old: np.full(len(old), 4))),
    "categories, two that do not go together": Shape(
        categories(6, 6, related=True), recategorised(1, 6, lambda rng, old: (old + rng.integers(2, 4, len(old))) % 5)
    ),
    "binary columns, more ones": Shape(
        lambda rng, n: (rng.random((n, 30)) < 0.15) * 1.0, drawn(lambda rng, n: (rng.random((n, 30)) < 0.25) * 1.0)
    ),
    "binary columns, a rare one": Shape(
        lambda rng, n: (rng.random((n, 30)) < np.r_[0.01, np.full(29, 0.4)]) * 1.0,
        lambda rng, rows: np.column_stack([np.ones(len(rows)), rows[:, 1:]]),
    ),
    "counts, two of ten doubled": Shape(
        lambda rng, n: rng.poisson(10.0, (n, 10)) * 1.0, placed(2, lambda rng: rng.poisson(20.0, 2))
    ),
    "modes of different spread": Shape(
        modes([[0, 0], [4, 0], [0, 12]], [0.1, 0.5, 2.0]),
        drawn(lambda rng, n: ring(rng, n, noise=0.05) * 0.6),
    ),
    "modes of different spread, 10 columns": Shape(
        modes([np.zeros(10), np.full(10, 4.0)], [1.0, 0.2]), drawn(normal(10, mean=4.0, scale=0.4))
    ),
    "ten clusters, rows between them": Shape(modes(CENTRES, np.full(10, 0.5)), between),
    "heavy tails, two columns out at once": Shape(
        lambda rng, n: rng.standard_t(2, (n, 6)), placed(2, lambda rng: rng.choice([-1, 1], 2) * 5)
    ),
    "lognormal, two of six too small": Shape(
        lambda rng, n: rng.lognormal(sigma=1.0, size=(n, 6)), placed(2, lambda rng: 0.05)
    ),
    "lognormal, a row of zeros": Shape(
        lambda rng, n: rng.lognormal(sigma=0.5, size=(n, 12)), lambda rng, rows: 0 * rows
    ),
    "readings, a row of zeros": Shape(
        lambda rng, n: LEVELS * rng.lognormal(sigma=0.5, size=(n, 1)) + rng.normal(size=(n, 12)),
        lambda rng, rows: 0 * rows,
    ),
    "readings, one sensor at zero": Shape(
        lambda rng, n: LEVELS + 2 * rng.normal(size=(n, 12)), placed(1, lambda rng: 0.0)
    ),
    "swapped columns": Shape(lambda rng, n: np.r_[0, 2, np.zeros(8)] + rng.normal(size=(n, 10)), swapped),
    "columns of odd scales": Shape(
        lambda rng, n: ODD_SCALES * rng.normal(size=(n, 6)),
        lambda rng, rows: rows + ODD_SCALES * np.r_[3.0, 0, 0, 0, 0, 0],
    ),
    "ring, rows inside": Shape(ring, drawn(lambda rng, n: 0.3 * rng.normal(size=(n, 2)))),
    "ring in 10 columns, rows inside": Shape(
        lambda rng, n: ring(rng, n, d=10, noise=0.15), drawn(normal(10, scale=0.15))
    ),
    "sphere, rows inside": Shape(shell, lambda rng, rows: 0.7 * rows),
    "moons, rows between": Shape(moons, between),
    "n = 10, 3 columns": Shape(normal(3), shifted(1, 3.0), 10),
    "n = 10, correlated": Shape(factors(4, 1, 0.15), one_shuffled(range(4)), 10),
    "n = 20, 10 columns": Shape(normal(10), shifted(2, 3.0), 20),
    "n = 20, low rank": Shape(factors(10, 2, 0.2), shifted(1, 1.0), 20),
}


def of_shape(shape, seed, methods):
    rng = np.random.default_rng([seed, shape.n])
    training, normal_rows, rows = (shape.draw(rng, n) for n in (shape.n, N_NORMAL, N_OUTLIERS))
    return result(training, normal_rows, shape.spoil(rng, rows.copy()), methods)


def report_shapes(wanted, methods, n_seeds):
    found = {}
    for name, shape in SHAPES.items():
        if any(word in name for word in wanted):
            found[name] = np.mean([of_shape(shape, seed, methods) for seed in range(n_seeds)], axis=0)
            print(line(name, found[name], methods), flush=True)
    for name, (share, is_found) in CLUMPS.items():
        if any(word in name for word in wanted):
            values = [of_made_up_clump(share, is_found, seed, methods) for seed in range(2 * n_seeds)]
            found[name] = np.mean(values, axis=0)
            print(line(name, found[name], methods), flush=True)
    print(line(f"mean of {len(found)}", np.mean(list(found.values()), axis=0), methods))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="shapes whose names contain a word")
    arguments.add_argument("--alone", action="store_true", help="SurpriseClassifier alone")
    arguments.add_argument("--seeds", type=int, default=N_SEEDS)
    given = arguments.parse_args()
    warnings.simplefilter("ignore")  # of other libraries
    started, methods = time.perf_counter(), list(METHODS)[: 1 if given.alone else None]
    print(head("shape", methods))
    report_shapes(given.only, methods, given.seeds)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
