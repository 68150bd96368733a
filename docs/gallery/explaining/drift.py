"""
Has the data changed?
=====================

A model is as good as its training data. ``drift`` tests whether a batch of new rows, as a whole, still looks like the
training rows. Here a sensor is replaced on day 20 by one that reads a little too high.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from eocc import SurpriseClassifier

rng = np.random.default_rng(0)
COLUMNS = ["pressure", "temperature", "humidity", "wind"]
clf = SurpriseClassifier().fit(pd.DataFrame(rng.normal(size=(1000, 4)), columns=COLUMNS))


def day(number):
    """Return 150 readings of a day; from day 20 on, the humidity reads 1.6 standard deviations too high."""
    return pd.DataFrame(rng.normal((0, 0, 1.6 * (number >= 20), 0), size=(150, 4)), columns=COLUMNS)


results = [clf.drift(day(number)) for number in range(40)]
print(results[10])
print(results[30])

# %%
# A p-value up to 0.01 counts as drift. The test looks at how unusual the rows are together, so it finds a shift that
# no single row shows.

figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained")
p_values = np.array([max(result.p_value, 1e-8) for result in results])
is_drift = np.array([result.is_drift for result in results])
axes.semilogy(np.flatnonzero(~is_drift), p_values[~is_drift], "o", color="#0072b2", label="no drift")
axes.semilogy(np.flatnonzero(is_drift), p_values[is_drift], "o", color="#d55e00", label="drift")
axes.axhline(0.01, color="0.2", linestyle="--", linewidth=1)
axes.axvline(19.5, color="0.6", linewidth=1)
axes.text(19.8, 1.5, "the sensor is replaced", fontsize=9)
named = pd.Series([result.columns[0].name for result in results if result.is_drift]).value_counts()
axes.set(xlabel="day", ylabel="p-value of the day's 150 rows", ylim=(None, 4))
axes.set_title(f"Named as the column that differs most: {named.index[0]} on {named.iloc[0]} of {is_drift.sum()} days")
axes.legend(fontsize=9, frameon=False, loc="lower left")
plt.show()
