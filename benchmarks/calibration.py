"""How often calibrated models reject new targets: the figures of docs/calibration.md.

python benchmarks/calibration.py
python benchmarks/calibration.py --densities   in a wide and in a tight cluster, at a rate of 0.05
"""

import argparse

import numpy as np
from timing import table

from eocc import EntropicOneClassClassifier

CASES = ((20, 2, 0.05), (20, 2, 0.2), (60, 2, 0.05), (200, 2, 0.05), (20, 20, 0.05), (60, 20, 0.05))


def rates(resolution, n, n_features, rate, n_models=200, seed=0):
    """Return the share of new targets that each of many models rejects, trained on n standard normal targets each."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_models):
        clf = EntropicOneClassClassifier(
            resolution=resolution, search=None, false_alarm_rate=rate, random_state=0
        )  # fmt: skip
        clf.fit(rng.normal(size=(n, n_features)))
        found.append((clf.predict(rng.normal(size=(1000, n_features))) == -1).mean())
    return np.array(found)


def rates_by_cluster(n=2000, n_features=8, n_models=5):
    """Return the mean share of new targets rejected in the wide cluster, in the tight one, and of all."""
    found = []
    for seed in range(n_models):
        rng = np.random.default_rng(seed)
        clf = EntropicOneClassClassifier(random_state=0).fit(wide_and_tight(n, n_features, rng)[0])
        new, is_wide = wide_and_tight(4 * n, n_features, rng)
        rejected = clf.predict(new) == -1
        found.append([rejected[is_wide].mean(), rejected[~is_wide].mean(), rejected.mean()])
    return np.mean(found, axis=0)


def wide_and_tight(n, n_features, rng):
    """60 % standard normal targets, beside 40 % of half that deviation round (4, ..., 4); and which are which."""
    is_wide = rng.random(n) < 0.6
    wide, tight = rng.normal(size=(n, n_features)), 4 + 0.5 * rng.normal(size=(n, n_features))
    return np.where(is_wide[:, None], wide, tight), is_wide


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--densities", action="store_true", help="compare a wide and a tight cluster")
    if parser.parse_args().densities:
        figures = [f"{share:.3f}" for share in rates_by_cluster()]
        print(table([["rejected: wide cluster", "tight cluster", "all"], figures]))
        return
    rows = [["targets", "features", "rate", "multi: mean", "one model in ten, at least", "single: mean",
             "one model in ten, at least"]]  # fmt: skip
    for n, n_features, rate in CASES:
        row = [str(n), str(n_features), f"{rate:g}"]
        for resolution in ("multi", "single"):
            found = rates(resolution, n, n_features, rate)
            row += [f"{found.mean():.3f}", f"{np.quantile(found, 0.9):.3f}"]
        rows.append(row)
    print(table(rows))


if __name__ == "__main__":
    main()
