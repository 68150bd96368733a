"""
Regions and rules
=================

``EntropicOneClassClassifier`` describes normal rows by a few fuzzy regions. Each region is a rule that a person can
read. Here the normal rows are penguins of three kinds, which form clusters in bill length and bill depth. They are
generated around the means of the Palmer penguins.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from eocc import EntropicOneClassClassifier

rng = np.random.default_rng(0)
MEANS = {"Adelie": (38.8, 18.3), "Chinstrap": (48.8, 18.4), "Gentoo": (47.5, 15.0)}
X = pd.DataFrame(
    np.vstack([rng.normal(mean, (1.6, 0.5), (50, 2)) for mean in MEANS.values()]), columns=["bill length", "bill depth"]
)
clf = EntropicOneClassClassifier(measure="standardised", extent="quantile", random_state=0).fit(X)
for rule in clf.rules():
    print(rule)

# %%
# The membership is highest at the centre of a region and falls with the distance from it. Rows inside the line are
# accepted.

x, y = np.meshgrid(np.linspace(32, 56, 200), np.linspace(12.5, 21, 200))
grid = pd.DataFrame({"bill length": x.ravel(), "bill depth": y.ravel()})
figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
shades = axes.contourf(x, y, clf.membership(grid).reshape(x.shape), np.linspace(0, 1, 21), cmap="Blues")
axes.contour(x, y, clf.decision_function(grid).reshape(x.shape), [0], colors="#08306b")
axes.plot(*X.to_numpy().T, "o", color="0.2", markersize=3)
for region in clf.regions_:
    centre = X.iloc[region.representative]
    axes.annotate(f"{len(region.members)} penguins", centre, (8, 10), textcoords="offset points", color="#d55e00")
    axes.plot(*centre, "P", color="#d55e00", markersize=9)
figure.colorbar(shades, label="membership", ticks=np.linspace(0, 1, 6))
axes.set(
    xlabel="bill length, mm", ylabel="bill depth, mm", title=f"{len(clf.regions_)} regions; crosses are their centres"
)
plt.show()
