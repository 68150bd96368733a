"""
A person in the loop
====================

Nobody has labels at the start. But a person can look at a few rows every day and say which are normal. The model asks
about the rows whose answers help it most, and learns from the answers. A few days make it much better.
"""

import matplotlib.pyplot as plt
import numpy as np

from eocc import SurpriseClassifier

rng = np.random.default_rng(2)


def parts(n):
    """Return normal parts: 12 measurements, three of which vary a lot without any meaning."""
    return rng.normal(size=(n, 12)) * np.repeat([1, 4], [9, 3])


def worn(n):
    """Return worn parts: two measurements are a little too large."""
    return parts(n) + 2.4 * np.isin(np.arange(12), [2, 5])


stream, is_normal = np.vstack([parts(900), worn(100)]), np.repeat([True, False], [900, 100])
new_normal, new_worn = parts(1000), worn(1000)

# %%
# Each day the model asks about five parts, a person answers, and `teach` returns a better model.

clf = SurpriseClassifier().fit(parts(500))
rejected = [[(clf.predict(X) == -1).mean() for X in (new_worn, new_normal)]]
waiting = np.arange(len(stream))
for _day in range(8):
    asked = waiting[[query.index for query in clf.queries(stream[waiting], n=5)]]
    clf = clf.teach(stream[asked], is_normal[asked])
    waiting = np.setdiff1d(waiting, asked)
    rejected.append([(clf.predict(X) == -1).mean() for X in (new_worn, new_normal)])

# %%
# More worn parts are found, and no more false alarms are raised: the limit still comes from the normal training rows.
# The promised rate holds as long as new normal parts come from the same source and time as these rows.

days = 5 * np.arange(len(rejected))
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for shares, color, name in zip(np.transpose(rejected), ["#d55e00", "#0072b2"], ["worn", "normal"], strict=True):
    axes.plot(days, shares, "o-", color=color, markersize=4, label=f"new {name} parts")
axes.axhline(0.05, color="0.7", linestyle=":", label="false alarms that were promised")
axes.set(xlabel="answers", ylabel="share rejected", ylim=(0, 1), title="Five answers a day")
axes.legend(frameon=False)
plt.show()
