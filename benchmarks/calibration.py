"""How often calibrated models reject new targets: the figures of docs/calibration.md.

python benchmarks/calibration.py
"""

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


def main():
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
