"""How often calibrated models reject new targets: the figures of docs/calibration.md.

python benchmarks/calibration.py
"""

import numpy as np
from timing import table

from eocc import EntropicOneClassClassifier


def rates(n, rate, n_models=200, seed=0):
    """Return the share of new targets that each of many models rejects, trained on n standard normal targets each."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_models):
        clf = EntropicOneClassClassifier(search=None, false_alarm_rate=rate, random_state=0)
        clf.fit(rng.normal(size=(n, 2)))
        found.append((clf.predict(rng.normal(size=(1000, 2))) == -1).mean())
    return np.array(found)


def main():
    rows = [["targets", "rate", "mean", "one model in ten, at least"]]
    for n, rate in ((20, 0.05), (20, 0.2), (60, 0.05), (200, 0.05)):
        found = rates(n, rate)
        rows.append([str(n), f"{rate:g}", f"{found.mean():.3f}", f"{np.quantile(found, 0.9):.3f}"])
    print(table(rows))


if __name__ == "__main__":
    main()
