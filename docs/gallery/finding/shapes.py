"""
Five detectors on four shapes
=============================

Which part of the plane does a detector accept? Each one learns from 300 normal points and is set to reject about 5 % of
normal points. Blue is accepted.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons, make_swiss_roll
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from eocc import EntropicOneClassClassifier, SurpriseClassifier

spiral = make_swiss_roll(300, noise=0.4, random_state=0)[0][:, [0, 2]]
data = {
    "two moons": make_moons(300, noise=0.06, random_state=0)[0],
    "dense and sparse": make_blobs([150, 150], centers=[(-2, 0), (3, 0)], cluster_std=[0.3, 1.5], random_state=0)[0],
    "a spiral": spiral,
    "one cluster": make_blobs(300, centers=1, random_state=0)[0],
}
models = {
    "SurpriseClassifier": SurpriseClassifier(),
    "Entropic, rate 0.05": EntropicOneClassClassifier(search=None, false_alarm_rate=0.05, random_state=0),
    "LOF": LocalOutlierFactor(novelty=True, contamination=0.05),
    "one-class SVM": OneClassSVM(nu=0.05),
    "isolation forest": IsolationForest(contamination=0.05, random_state=0),
}

# %%
# Columns are scaled to unit variance first, so that no detector suffers from their units.

figure, places = plt.subplots(len(data), len(models), figsize=(10, 8), layout="constrained")
for axes, name in zip(places[0], models, strict=True):
    axes.set_title(name, fontsize=10)
for line, (title, X) in zip(places, data.items(), strict=True):
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    low, high = X.min(axis=0) - 0.7, X.max(axis=0) + 0.7
    x, y = np.meshgrid(np.linspace(low[0], high[0], 80), np.linspace(low[1], high[1], 80))
    for axes, model in zip(line, models.values(), strict=True):
        decision = model.fit(X).predict(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
        axes.contourf(x, y, decision, [-2, 0, 2], colors=["white", "#9ecae1"])
        axes.plot(*X.T, ".", color="0.2", markersize=2)
        axes.set(xticks=[], yticks=[])
    line[0].set_ylabel(title, fontsize=9)
plt.show()
