"""The false alarms of a `RegionClassifier` after many small updates, and after one with the same rows."""

import numpy as np

from eocc import RegionClassifier


def false_alarms_of_regions():
    """Return the share of 20,000 new normal rows rejected after 200 updates of 50 rows, and after one of 10,000."""
    rng = np.random.default_rng(0)
    slowly = at_once = RegionClassifier().fit(rng.normal(size=(5000, 4)))
    new, more = rng.normal(size=(20_000, 4)), rng.normal(size=(10_000, 4))
    for start in range(0, len(more), 50):
        slowly = slowly.update(more[start : start + 50])
    return [float((one.predict(new) == -1).mean()) for one in (slowly, at_once.update(more))]


if __name__ == "__main__":
    print("200 updates of 50 rows {:.4f}, one update of 10,000 rows {:.4f}".format(*false_alarms_of_regions()))
