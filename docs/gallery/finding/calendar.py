"""
A calendar of alarms
====================

A shop counts visitors, orders and returns per hour. What is normal at noon on a Saturday is strange on a Monday night,
so the hour and the day of the week are columns too. The model learns from ten weeks and watches four more. The picture
shows how unusual each hour of those weeks was.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from eocc import SurpriseClassifier

rng = np.random.default_rng(0)


def hours(start, n_weeks):
    """Return hourly counts of a shop that is busy at noon and on Saturdays, and closed on Sundays."""
    time = pd.date_range(start, periods=n_weeks * 168, freq="h")
    busy = np.exp(-(((time.hour - 13) / 4) ** 2)) * np.where(time.day_of_week == 5, 1.8, 1) * (time.day_of_week < 6)
    visitors = rng.poisson(300 * busy + 1)
    orders = rng.binomial(visitors, 0.12)
    return pd.DataFrame(
        {"weekday": time.day_of_week, "hour": time.hour, "visitors": visitors, "orders": orders,
         "returns": rng.poisson(0.1 * orders)}, index=time)  # fmt: skip


clf = SurpriseClassifier(measure="standardised", false_alarm_rate=0.005).fit(hours("2026-01-05", 10))
new = hours("2026-03-16", 4)
new.loc["2026-03-24 01":"2026-03-24 04", "visitors"] = 220  # somebody crawls the shop at night
new.loc["2026-04-02 11":"2026-04-02 15", "orders"] = 0  # the payment service is down
new.loc["2026-04-11 12", "returns"] = 60  # a returned pallet

# %%
# One line per day, one cell per hour. Orange crosses are alarms.

p = clf.p_values(new).reshape(-1, 24)
rejected = clf.predict(new).reshape(-1, 24) == -1
figure, axes = plt.subplots(figsize=(8.4, 5.6), layout="constrained")
picture = axes.imshow(-np.log10(p), cmap="Blues", aspect="auto", vmin=0)
axes.plot(*np.argwhere(rejected)[:, ::-1].T, "X", color="#d55e00", markeredgecolor="white", markersize=9)
days = new.index[::24]
axes.set(xlabel="hour", xticks=range(0, 24, 3), yticks=range(0, 28, 2), title="How unusual each hour was")
axes.set_yticklabels([f"{day:%a %d %b}" for day in days[::2]])
figure.colorbar(picture, label="-log10 of the p-value")
first = np.flatnonzero(rejected.ravel())[0]
print(new.index[first], clf.explain(new.iloc[[first]])[0].sentence)
plt.show()
