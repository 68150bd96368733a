"""The time of an update, as a share of the time of a fresh fit on the same rows; both models must have the same bits.

Run: python benchmarks/update.py [n] [columns ...]
With --regions: the false alarms of a `RegionClassifier` after many small updates, and after one with the same rows.
"""

import sys
import time

import numpy as np

from eocc import RegionClassifier, SurpriseClassifier

N, COLUMNS, NEW_SHARE = 100_000, (4, 10, 20), 0.01


def timed(function, *arguments, **options):
    start = time.process_time()
    return function(*arguments, **options), time.process_time() - start


def ratio(n, n_columns, forget):
    """Return the processor time of an update over that of a fit."""
    rows = np.random.default_rng(n_columns).normal(size=(n + int(NEW_SHARE * n), n_columns))
    model = SurpriseClassifier(n_jobs=1).fit(rows[:n])
    newer, update_time = timed(model.update, rows[n:], forget=forget)
    fresh, fit_time = timed(SurpriseClassifier(n_jobs=1).fit, rows[forget:])
    assert newer.calibration_.margins.tolist() == fresh.calibration_.margins.tolist()
    assert newer.score_samples(rows[:1000]).tolist() == fresh.score_samples(rows[:1000]).tolist()
    return update_time / fit_time


def false_alarms_of_regions():
    """Return the share of 20,000 new normal rows rejected after 200 updates of 50 rows, and after one of 10,000."""
    rng = np.random.default_rng(0)
    slowly = at_once = RegionClassifier().fit(rng.normal(size=(5000, 4)))
    new, more = rng.normal(size=(20_000, 4)), rng.normal(size=(10_000, 4))
    for start in range(0, len(more), 50):
        slowly = slowly.update(more[start : start + 50])
    return [float((one.predict(new) == -1).mean()) for one in (slowly, at_once.update(more))]


if __name__ == "__main__":
    if "--regions" in sys.argv:
        print("200 updates of 50 rows {:.4f}, one update of 10,000 rows {:.4f}".format(*false_alarms_of_regions()))
        sys.exit()
    given = [int(text) for text in sys.argv[1:]]
    n = given[0] if given else N
    ratio(2000, 10, 0)  # compile
    for n_columns in given[1:] or COLUMNS:
        for forget in (0, int(NEW_SHARE * n)):
            said = f"{n:,} rows of {n_columns} numbers, {int(NEW_SHARE * n):,} more, {forget:,} forgotten"
            print(f"{said}: {ratio(n, n_columns, forget):.2f} of a fit", flush=True)
