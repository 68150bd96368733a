"""
One long series
===============

A refrigerator draws power in cycles: the compressor runs for twenty minutes, then rests for forty. There is one reading
per minute, and nobody labelled anything. ``eocc.windows`` cuts the series into windows of two cycles. A model of one
quiet week says which windows of the next two days do not look like the others.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import eocc

rng = np.random.default_rng(0)


def power(start, n_days):
    """Return watts per minute; no two cycles are equally long."""
    n = n_days * 1440
    lengths = rng.normal(60, 2, size=n // 50).round().astype(int)
    minute = np.concatenate([np.arange(length) for length in lengths])[:n]
    watts = np.where(minute < 20, 90 + 25 * np.exp(-minute / 3), 4) + rng.normal(0, 2, n)
    return pd.DataFrame({"when": pd.date_range(start, periods=n, freq="min"), "watts": watts})


week, new = power("2026-03-02", 7), power("2026-03-09", 2)
new.loc[500:560, "watts"] = 92 + rng.normal(0, 2, 61)  # the door was left open: the compressor does not stop
new.loc[1350:1352, "watts"] = 260  # it starts hard
new.loc[2100:2220, "watts"] = 4 + rng.normal(0, 2, 121)  # it does not start at all

# %%
# Six numbers describe each window (mean, deviation, least, largest, change and mean step), because windows begin
# anywhere in a cycle. The windows of the training series do not overlap, so that the false-alarm rate holds for new
# windows from the same source and time.

cut = {"length": 120, "time": "when", "features": True}
model = eocc.SurpriseClassifier(false_alarm_rate=0.02).fit(eocc.windows(week, step=120, **cut).X)
found = eocc.windows(new, step=20, **cut)
decisions = model.predict(found.X)
for alarm in found.alarms(decisions):
    print(alarm.start, "to", alarm.end)

# %%
# The marked rows are only in rejected windows. The hard start is an alarm of three minutes in a window of 120.

figure, axes = plt.subplots(figsize=(9, 3.2), layout="constrained")
eocc.plots.plot_series(found, decisions, axes=axes)
plt.show()
