"""
Are the p-values right?
=======================

A p-value of 0.05 should mean that one normal row in twenty looks at least as unusual. To check this,
``plot_calibration`` scores normal rows that the model has not seen. For each p-value, it draws the share of rows whose
p-value is at most this. The check holds for rows of the same source and time: here, tumours of one hospital.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from eocc import SurpriseClassifier
from eocc.plots import plot_calibration

X, y = load_breast_cancer(return_X_y=True)
benign, malignant = X[y == 1], X[y == 0]
order = np.random.default_rng(0).permutation(len(benign))
train, held_out = benign[order[:200]], benign[order[200:]]
clf = SurpriseClassifier(measure="standardised").fit(train)

# %%
# Normal rows should follow the diagonal; rows of the other kind should lie far above it.

new = np.vstack([held_out, malignant])
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_calibration(clf, new, np.repeat([1, -1], [len(held_out), len(malignant)]), axes=left)
rates = np.linspace(0.01, 0.2, 20)
p = clf.p_values(held_out)
right.plot(
    rates, [(p <= rate).mean() for rate in rates], "o-", color="#0072b2", markersize=3, label="measured, 157 tumours"
)
right.plot(rates, rates, color="0.4", linestyle="--", label="promised")
right.set(xlabel="false-alarm rate asked for", ylabel="share of benign tumours rejected", title="False alarms")
right.legend(frameon=False)
plt.show()
