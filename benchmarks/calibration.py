"""How often calibrated models reject new normal rows: the figures of docs/results/calibration.md.

python benchmarks/calibration.py
python benchmarks/calibration.py --settings    SurpriseClassifier in 40 settings, at a rate of 0.05
python benchmarks/calibration.py --kinds       SurpriseClassifier on 9 kinds of columns, at a rate of 0.05
python benchmarks/calibration.py --repeated    SurpriseClassifier, every training row present two and three times
python benchmarks/calibration.py --densities   in a wide and in a tight cluster, at a rate of 0.05
"""

import argparse

import numpy as np
import pandas as pd
from timing import table

from eocc import EntropicOneClassClassifier, SurpriseClassifier

CASES = ((20, 2, 0.05), (20, 2, 0.2), (60, 2, 0.05), (200, 2, 0.05), (20, 20, 0.05), (60, 20, 0.05))

# Sizes (rows, columns) for each tail shape, for correlated columns and for copies.
SIZES = ((20, 2), (20, 30), (59, 10), (59, 30), (59, 100), (199, 2), (199, 30), (1000, 10))
OTHER_SIZES = ((20, 2), (59, 10), (199, 30), (1000, 5))
COPY_SIZES = ((20, 2), (100, 2), (300, 3), (600, 3))


def correlated(rng, size):
    """One factor that all columns share, and columns in different units."""
    return (rng.normal(size=(size[0], 1)) + 0.5 * rng.normal(size=size)) * 2.0 ** (np.arange(size[1]) % 7)


SHAPES = {
    "uniform": (lambda rng, size: rng.random(size), SIZES),
    "normal": (lambda rng, size: rng.normal(size=size), SIZES),
    "Student, 2 degrees": (lambda rng, size: rng.standard_t(2, size=size), SIZES),
    "lognormal, sigma 1.5": (lambda rng, size: rng.lognormal(sigma=1.5, size=size), SIZES),
    "correlated": (correlated, OTHER_SIZES),
    "integers 0 to 5": (lambda rng, size: rng.integers(0, 6, size=size).astype(float), COPY_SIZES),
}


def categories(rng, size):
    """Words from six, common and rare ones, in a frame: compared by Gower's measure."""
    share = 0.6 ** np.arange(6)
    words = np.array(["red", "blue", "green", "white", "black", "grey"])
    cells = rng.choice(words, p=share / share.sum(), size=size)
    return pd.DataFrame({f"c{k}": pd.Categorical(column, words) for k, column in enumerate(cells.T)})


def mixed(rng, size):
    """Half categories, half numbers, in a frame."""
    half = size[1] // 2
    numbers = rng.normal(size=(size[0], half))
    return categories(rng, (size[0], size[1] - half)).assign(**{f"x{k}": numbers[:, k] for k in range(half)})


def one_hot(draw):
    return lambda rng, size: pd.get_dummies(draw(rng, size)).to_numpy(float)


def kinds_of(d):
    return (30, d), (100, d), (1000, d)


KINDS = {
    "normal": (lambda rng, size: rng.normal(size=size), kinds_of(5)),
    "integers 0 to 9": (lambda rng, size: rng.integers(0, 10, size=size).astype(float), kinds_of(3)),
    "binary": (lambda rng, size: (rng.random(size) < 0.3).astype(float), kinds_of(10)),
    "lognormal": (lambda rng, size: rng.lognormal(size=size), (*kinds_of(5), (50, 30))),
    "lognormal, sigma 1.5": (lambda rng, size: rng.lognormal(sigma=1.5, size=size), (*kinds_of(5), (50, 30))),
    "categories": (categories, kinds_of(6)),
    "categories, one-hot": (one_hot(categories), kinds_of(6)),
    "categories and numbers": (mixed, kinds_of(6)),
    "categories and numbers, one-hot": (one_hot(mixed), kinds_of(6)),
}

METHODS = {
    "SurpriseClassifier": SurpriseClassifier(),
    "EntropicOneClassClassifier": EntropicOneClassClassifier(search=None, random_state=0),
}


def rates(clf, n, n_features, rate, n_models=200, seed=0):
    """Return the share of new rows that each of many models rejects, trained on n standard normal rows each."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_models):
        clf.set_params(false_alarm_rate=rate).fit(rng.normal(size=(n, n_features)))
        found.append((clf.predict(rng.normal(size=(1000, n_features))) == -1).mean())
    return np.array(found)


def rates_in_settings(shapes, n_rows, most_models):
    """Yield shape, rows, columns, and the share of new rows that each of many models rejects at a rate of 0.05.

    There are as many models as have n_rows training rows together, but at least 10 and at most `most_models`.
    """
    for name, (draw, sizes) in shapes.items():
        for n, d in sizes:
            rng, clf = np.random.default_rng([n, d]), SurpriseClassifier(false_alarm_rate=0.05)
            found = [
                (clf.fit(draw(rng, (n, d))).predict(draw(rng, (500, d))) == -1).mean()
                for _ in range(max(10, min(most_models, n_rows // n)))
            ]
            yield name, n, d, np.array(found)


def rates_of_repeated_rows(times):
    """Return the share of new rows that models of 100 normal rows, each present `times`, reject at a rate of 0.05."""
    rng = np.random.default_rng(0)
    models = (SurpriseClassifier().fit(np.tile(rng.normal(size=(100, 5)), (times, 1))) for _ in range(40))
    return [(clf.predict(rng.normal(size=(500, 5))) == -1).mean() for clf in models]


def print_settings(shapes, n_rows, most_models):
    rows, means = [["shape", "rows", "columns", "rejected", "standard error"]], []
    for name, n, d, found in rates_in_settings(shapes, n_rows, most_models):
        means.append(found.mean())
        rows.append([name, str(n), str(d), f"{found.mean():.3f}", f"{found.std() / np.sqrt(len(found)):.3f}"])
    rows.append([f"mean of {len(means)}, and the largest", "", "", f"{np.mean(means):.3f}", f"{max(means):.3f}"])
    rows.append(["smallest", "", "", f"{min(means):.3f}", ""])
    print(table(rows))


def rates_by_cluster(n=2000, n_features=8, n_models=5):
    """Return the mean share of new rows rejected in the wide cluster, in the tight one, and of all."""
    found = []
    for seed in range(n_models):
        rng = np.random.default_rng(seed)
        clf = SurpriseClassifier().fit(wide_and_tight(n, n_features, rng)[0])
        new, is_wide = wide_and_tight(4 * n, n_features, rng)
        rejected = clf.predict(new) == -1
        found.append([rejected[is_wide].mean(), rejected[~is_wide].mean(), rejected.mean()])
    return np.mean(found, axis=0)


def wide_and_tight(n, n_features, rng):
    """60 % standard normal rows and 40 % with half that deviation around (4, ..., 4); and which are which."""
    is_wide = rng.random(n) < 0.6
    wide, tight = rng.normal(size=(n, n_features)), 4 + 0.5 * rng.normal(size=(n, n_features))
    return np.where(is_wide[:, None], wide, tight), is_wide


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--densities", action="store_true", help="compare a wide and a tight cluster")
    parser.add_argument("--settings", action="store_true", help="40 settings of rows, columns and tails")
    parser.add_argument("--kinds", action="store_true", help="kinds of columns: numbers, integers, categories")
    parser.add_argument("--repeated", action="store_true", help="every training row present two and three times")
    chosen = parser.parse_args()
    if chosen.settings:
        print_settings(SHAPES, 6000, 100)
        return
    if chosen.kinds:
        print_settings(KINDS, 20000, 300)
        return
    if chosen.repeated:
        for times in (2, 3):
            print(f"{times} times, rejected: {np.mean(rates_of_repeated_rows(times)):.3f}")
        return
    if chosen.densities:
        figures = [f"{share:.3f}" for share in rates_by_cluster()]
        print(table([["rejected: wide cluster", "tight cluster", "all"], figures]))
        return
    head = ["rows", "columns", "rate"]
    rows = [head + [f"{name}: {what}" for name in METHODS for what in ("mean", "one model in ten has at least")]]
    for n, n_features, rate in CASES:
        row = [str(n), str(n_features), f"{rate:g}"]
        for clf in METHODS.values():
            found = rates(clf, n, n_features, rate)
            row += [f"{found.mean():.3f}", f"{np.quantile(found, 0.9):.3f}"]
        rows.append(row)
    print(table(rows))


if __name__ == "__main__":
    main()
