"""
Records with numbers, words, dates and gaps
===========================================

A table from real life has numbers, categories, yes and no, dates, and empty cells. ``measure="auto"`` compares such
rows by Gower's coefficient: every column counts the same, and a gap is filled from the most similar rows.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from eocc import SurpriseClassifier
from eocc.plots import plot_rows

rng = np.random.default_rng(3)


def loans(n):
    """Return loans as a bank sees them; one in eight has no income in its record."""
    owner = rng.random(n) < 0.4
    income = np.where(owner, 5200, 3100) * rng.lognormal(0, 0.15, n)
    return pd.DataFrame(
        {
            "home": np.where(owner, "owner", "tenant"),
            "income": pd.Series(income).round(-1).mask(rng.random(n) < 0.125),
            "loan": (income * rng.uniform(3, 6, n)).round(-2),
            "purpose": rng.choice(["car", "kitchen", "studies"], n, p=[0.5, 0.3, 0.2]),
            "employed": rng.random(n) < 0.9,
            "applied": pd.Timestamp("2031-01-01") + pd.to_timedelta(rng.integers(0, 365, n), unit="D"),
        }
    )


clf = SurpriseClassifier().fit(loans(400))

# %%
# Forty new loans. We change four of them.

new = loans(40)
new.loc[3, "loan"] = 95_000
new.loc[11, ["home", "income"]] = ["tenant", 14_000]
new.loc[20, "purpose"] = "boat"
new.loc[31, "applied"] = pd.Timestamp("2032-06-01")
print(clf.explain(new.iloc[[11]])[0].sentence)

# %%
# The picture names the most unusual rows, and the main reason for each.

plot_rows(clf, new, most=8)
plt.show()
