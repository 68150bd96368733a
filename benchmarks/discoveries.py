"""Discoveries in simulated files: the share of normal rows among them, and how often a clean file has any.

    python benchmarks/discoveries.py [--files 200] [--training 2000]

Every file has 1,000 new rows and a model of its own, fitted to other rows. In half of the runs 20 of the new rows are
outliers, shifted by 4 or 6 standard deviations in a random direction; in the other half there are none. The false
discovery rate is 0.1.
"""

import argparse
import warnings

import numpy as np
import pandas as pd

from eocc import RegionClassifier, SurpriseClassifier

N_NEW, N_OUTLIERS, RATE = 1000, 20, 0.1


def numbers(rng, n):
    """Rows of five numbers."""
    return rng.normal(size=(n, 5))


def skewed(rng, n):
    """Rows of five numbers with heavy right tails."""
    return np.exp(rng.normal(size=(n, 5)))


def mixed(rng, n):
    """Records of three numbers and two categories."""
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    return frame.assign(state=rng.choice(["on", "off", "idle"], n), place=rng.choice(list("uvwxyz"), n))


def with_outliers(X, rng, size):
    """Return the rows with the first ones shifted by `size` standard deviations in random directions."""
    X = X.copy()
    columns = slice(None) if isinstance(X, np.ndarray) else list("abc")
    values = X if isinstance(X, np.ndarray) else X[columns].to_numpy(copy=True)
    away = rng.normal(size=(N_OUTLIERS, values.shape[1]))
    away *= size * values.std(axis=0) / np.linalg.norm(away, axis=1, keepdims=True)
    values[:N_OUTLIERS] += away
    if not isinstance(X, np.ndarray):
        X[columns] = values
    return X


def run(classifier, draw, n_training, n_files, size, seed=0):
    """Return the mean share of false discoveries, the share of outliers found, and how many files have discoveries."""
    false, found, files = [], [], 0
    for k in range(n_files):
        rng = np.random.default_rng([seed, k])
        clf = classifier().fit(draw(rng, n_training))
        new = draw(rng, N_NEW)
        is_found = clf.discoveries(with_outliers(new, rng, size) if size else new, rate=RATE)
        n_true = int(is_found[:N_OUTLIERS].sum()) if size else 0
        false.append((is_found.sum() - n_true) / max(1, is_found.sum()))
        found.append(n_true / N_OUTLIERS)
        files += bool(is_found.any())
    return np.mean(false), np.mean(found), files / n_files


def main():
    """Print one line per setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--training", type=int, default=2000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{given.files} files of {N_NEW:,} rows, {given.training:,} training rows, rate {RATE}")
    print(f"{'classifier':20} {'rows':8} {'outliers':>12} {'false':>7} {'found':>7} {'files with any':>15}")
    for classifier in (SurpriseClassifier, RegionClassifier):
        for draw in (numbers, skewed, mixed):
            for size in (0, 4, 6):
                false, found, files = run(classifier, draw, given.training, given.files, size)
                planted = f"{N_OUTLIERS} at {size} sd" if size else "none"
                name = f"{classifier.__name__:20} {draw.__name__:8}"
                print(f"{name} {planted:>12} {false:7.3f} {found:7.3f} {files:15.3f}", flush=True)


if __name__ == "__main__":
    main()
