"""
One fraud in a hundred payments
===============================

One payment in a hundred is a fraud. We compare three ways to find them. An isolation forest and
``SurpriseClassifier`` learn from payments that were checked. A second ``SurpriseClassifier`` also gets 20
known frauds (``y = -1``).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, precision_recall_curve

from eocc import SurpriseClassifier

rng = np.random.default_rng(0)


def payments(n):
    """Return log amount, hour, log distance from home, log days since the last payment, and three columns of noise."""
    X = rng.normal((3.5, 14, 1, 1, 0, 0, 0), (0.8, 4, 1, 0.8, 1, 1, 1), (n, 7))
    X[:, 1] %= 24
    return X


def frauds(n):
    """Half of them are several small payments far away, the others one large payment at night."""
    X, half = payments(n), n // 2
    X[:half, [0, 2, 3]] = rng.normal((1.5, 3.4, -2), 0.5, (half, 3))
    X[half:, [0, 1]] = rng.normal((5, 3), (0.5, 1), (n - half, 2))
    return X


normal, known = payments(5000), frauds(20)
new, y = np.vstack([payments(9900), frauds(100)]), np.repeat([0, 1], [9900, 100])

# %%
# Every model sees the same normal payments. A fraud should get a low score, so we rank payments by the negative
# score.

models = {
    "isolation forest": IsolationForest(random_state=0).fit(normal),
    "Surprise": SurpriseClassifier().fit(normal),
    "Surprise, 20 known frauds": SurpriseClassifier().fit(
        np.vstack([normal, known]), np.repeat([1, -1], [len(normal), len(known)])
    ),
}
figure, axes = plt.subplots(figsize=(7.4, 4.8), layout="constrained")
for (name, model), colour in zip(models.items(), ("0.55", "#0072b2", "#d55e00"), strict=True):
    ranked = -model.score_samples(new)
    precision, recall, _ = precision_recall_curve(y, ranked)
    found = y[np.argsort(-ranked)[:100]].sum()
    axes.plot(recall, precision, color=colour, label=f"{name}: {found} frauds among the first 100")
    print(f"{name}: average precision {average_precision_score(y, ranked):.2f}")
axes.axhline(0.01, color="0.7", linestyle=":", label="guessing")
axes.set(
    xlabel="share of frauds found", ylabel="share of frauds among the alarms", title="9,900 payments and 100 frauds"
)
figure.legend(loc="outside lower center", fontsize=9, ncols=1, frameon=False)
plt.show()
