"""
Do detectors agree?
===================

Four detectors learn from the same normal wines and rank the same new ones. A point far from the diagonal is a wine on
which two detectors disagree: those are worth a look, whatever the method.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import rankdata, spearmanr
from sklearn.datasets import load_wine
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from eocc import RegionClassifier, SurpriseClassifier

X, y = load_wine(return_X_y=True)
normal, others = X[y == 1], X[y != 1]
scaler = StandardScaler().fit(normal[:50])
train, new = (scaler.transform(rows) for rows in (normal[:50], np.vstack([normal[50:], others])))
truth = np.arange(len(new)) < len(normal) - 50
models = {
    "Surprise": SurpriseClassifier(),
    "Regions": RegionClassifier(),
    "LOF": LocalOutlierFactor(novelty=True),
    "isolation forest": IsolationForest(random_state=0),
}
ranks = {name: rankdata(-model.fit(train).score_samples(new)) for name, model in models.items()}

# %%
# Each panel compares the ranks of two detectors: the lower left corner is most normal. The number above a panel is the
# rank correlation. The panels on the diagonal show the area under the ROC curve (AUC).

figure, places = plt.subplots(4, 4, figsize=(7.6, 7.6), layout="constrained", sharex=True, sharey=True)
colours = np.where(truth, "#0072b2", "#d55e00")
for i, (row, a) in enumerate(ranks.items()):
    for j, b in enumerate(ranks.values()):
        axes = places[i, j]
        if i == j:
            text = f"{row}\nAUC {roc_auc_score(~truth, a):.3f}"
            axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, fontsize=10)
        else:
            axes.scatter(b, a, s=7, c=colours)
            axes.set_title(f"{spearmanr(a, b).statistic:.2f}", fontsize=9, pad=2)
        axes.set(xticks=[], yticks=[])
figure.suptitle("Blue: the normal kind of wine. Orange: the two other kinds.")
plt.show()
