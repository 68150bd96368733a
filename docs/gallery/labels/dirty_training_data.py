"""
When the normal rows are not all normal
=======================================

Some rows of the training file are faults that nobody noticed. They hide others of their kind. The model shows its
strangest training rows; a person says which of twenty are faults; the model without them finds the others.
"""

import matplotlib.pyplot as plt
import numpy as np

from eocc import SurpriseClassifier

rng = np.random.default_rng(0)


def faults(n):
    """Return points of a ring around the normal ones."""
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) * rng.normal(3.4, 0.2, (n, 1))


X = np.vstack([rng.normal(size=(380, 2)), faults(20)])  # one row in twenty is a fault
is_fault = np.arange(400) >= 380
new = faults(200)
clf = SurpriseClassifier().fit(X)

# %%
# ``queries`` with ``goal="find"`` returns the strangest training rows, each compared with the others. The answers take
# the faults out of the normal rows.

asked = np.array([query.index for query in clf.queries(X, 20, goal="find")])
taught = clf.teach(X[asked], ~is_fault[asked])
print(f"{is_fault[asked].sum()} of the 20 rows shown are faults")
side = np.linspace(-5, 5, 160)
x, y = np.meshgrid(side, side)
grid = np.column_stack([x.ravel(), y.ravel()])
figure, places = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained", sharey=True)
for axes, model, title in zip(places, (clf, taught), ("as fitted", "after twenty answers"), strict=True):
    axes.contourf(x, y, model.predict(grid).reshape(x.shape), [-2, 0, 2], colors=["white", "#c6dbef"])
    axes.plot(*X[~is_fault].T, ".", color="0.4", markersize=3, label="normal")
    axes.plot(*X[is_fault].T, "X", color="#d55e00", markersize=6, markeredgecolor="white", label="faults in the file")
    found = (model.predict(new) == -1).mean()
    axes.set(title=f"{title}: {found:.0%} of new faults found", aspect="equal", xticks=[], yticks=[])
places[0].plot(*X[asked].T, "o", color="none", markeredgecolor="#0072b2", markersize=11, label="shown to a person")
places[0].legend(loc="lower left", fontsize=8)
plt.show()
