"""
Rows with gaps
==============

A sensor that sends nothing should not cause an alarm, and should not hide one either. A gap is filled from the most
similar training rows. The picture shows the effect on normal rows and on rows with a fault, when more and more cells
are missing.
"""

import matplotlib.pyplot as plt
import numpy as np

from eocc import SurpriseClassifier

rng = np.random.default_rng(0)


def readings(n, fault=0.0):
    """Return five columns that depend on a common load; a fault adds to the last one."""
    load = rng.normal(size=(n, 1))
    X = load * [1, 0.8, -0.6, 1.2, 0.9] + rng.normal(0, 0.3, (n, 5))
    X[:, 4] += fault
    return X


def with_gaps(X, share):
    """Return X with a share of the cells of the first four columns missing."""
    holes = rng.random(X.shape) < share
    holes[:, 4] = False
    return np.where(holes, np.nan, X)


clf = SurpriseClassifier().fit(with_gaps(readings(500), 0.1))

# %%
# In the training rows, one cell in ten of the first four columns is missing, so a gap there is nothing strange. (If no
# training row had a gap, every row with a gap would be rejected.) The promised rate holds for rows of the same source
# and time, with as many gaps. The picture shows what happens with fewer and with more.

shares = np.linspace(0, 0.6, 7)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for fault, colour, label in ((0, "#0072b2", "normal rows"), (2.5, "#d55e00", "rows with a fault in the last column")):
    rejected = [(clf.predict(with_gaps(readings(1000, fault), share)) == -1).mean() for share in shares]
    axes.plot(shares, rejected, "o-", color=colour, label=label)
axes.axhline(0.05, color="0.4", linestyle="--", linewidth=1, label="promised: 5 % false alarms")
axes.set(xlabel="share of missing cells in the other columns", ylabel="share of rows rejected", ylim=(0, 1.02))
axes.legend(frameon=False, loc="center right")
plt.show()
