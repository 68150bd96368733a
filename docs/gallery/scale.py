"""
How long does a fit take?
=========================

``SurpriseClassifier`` fits a thousand rows in a few milliseconds, and a million in seconds. It compares
with all of up to 223,000 rows, and with fewer beyond, but all rows count for the threshold. The times are those of the
machine that built this page.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from eocc import SurpriseClassifier

rng = np.random.default_rng(0)
for n in (100, 2000):
    SurpriseClassifier().fit(rng.normal(size=(n, 10)))  # the first fit of each size class compiles, once per machine


def seconds(model, n):
    """Return the time of a fit to n rows of ten columns."""
    X = rng.normal(size=(n, 10))
    start = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - start


# %%
# LOF compares all rows with each other, so its time grows fastest. We run it only up to 8,000 rows.

sizes = {
    "SurpriseClassifier": (SurpriseClassifier(), [500, 2000, 8000, 30_000]),
    "LOF": (LocalOutlierFactor(novelty=True), [500, 2000, 8000]),
    "isolation forest": (IsolationForest(), [500, 2000, 8000, 30_000]),
}
figure, axes = plt.subplots(figsize=(6.6, 4.2), layout="constrained")
for (name, (model, counts)), colour in zip(sizes.items(), ("#d55e00", "#0072b2", "0.5"), strict=True):
    axes.loglog(counts, [seconds(model, n) for n in counts], "o-", color=colour, label=name)
axes.set(xlabel="rows, of 10 columns each", ylabel="seconds per fit, one thread", title="The time of a fit")
axes.legend(frameon=False)
axes.grid(alpha=0.3)
plt.show()
