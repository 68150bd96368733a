"""
Sensors of a machine
====================

A pump has four sensors. The model learns from one quiet week. Then it watches a day on which a bearing slowly gets
hot. At first every sensor stays in its usual range. Only the combination is unusual: the bearing is too warm *for
this load*.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from eocc import SurpriseClassifier

rng = np.random.default_rng(0)


def readings(hours):
    """Return one reading every five minutes; load, flow, current and bearing temperature move together."""
    time = np.arange(0, hours, 1 / 12)
    load = 0.55 + 0.35 * np.sin(2 * np.pi * time / 24) + rng.normal(0, 0.05, len(time))
    return pd.DataFrame(
        {
            "load": load,
            "flow": 40 + 30 * load + rng.normal(0, 1, len(time)),
            "current": 3 + 5 * load + rng.normal(0, 0.15, len(time)),
            "bearing": 35 + 20 * load + rng.normal(0, 0.6, len(time)),
        },
        index=time,
    )


week, day = readings(24 * 7), readings(24)
day["bearing"] += np.clip(day.index - 12, 0, None) * 0.9  # from noon on, 0.9 degrees more every hour

# %%
# One model for all sensors. It compares each reading with the most similar readings of the quiet week.

clf = SurpriseClassifier(measure="standardised", false_alarm_rate=0.01).fit(week)
p_values = clf.p_values(day)
first = np.flatnonzero((p_values[:-2] <= 0.01) & (p_values[1:-1] <= 0.01) & (p_values[2:] <= 0.01))[0]
print(clf.explain(day.iloc[[first]])[0])

# %%
# The alarm comes hours before the bearing is hotter than it ever was in the quiet week.

figure, (above, below) = plt.subplots(2, sharex=True, figsize=(8, 5), layout="constrained")
above.plot(day.index, day["bearing"], color="0.2", linewidth=1, label="bearing today")
above.axhspan(
    week["bearing"].min(), week["bearing"].max(), color="#0072b2", alpha=0.15, label="range of the quiet week"
)
above.set_ylabel("bearing, °C")
below.semilogy(day.index, p_values, ".", color="#0072b2", markersize=4)
below.semilogy(day.index[p_values <= 0.01], p_values[p_values <= 0.01], ".", color="#d55e00", label="rejected")
below.axhline(0.01, color="0.2", linestyle="--", linewidth=1, label="false-alarm rate 0.01")
below.set(xlabel="hour of the day", ylabel="p-value of the reading")
for axes in (above, below):
    axes.axvline(day.index[first], color="#d55e00", linewidth=1)
    axes.legend(loc="lower left", fontsize=8, frameon=False)
above.set_title(f"Three rejected readings in a row: {day.index[first]:.1f} h. The fault begins at 12 h.")
plt.show()
