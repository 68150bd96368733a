"""
Heartbeats
==========

Heartbeats are series of different lengths, and the waves come at a slightly different time in each beat. Dynamic time
warping aligns two series before it compares them. The beats here are generated: three smooth waves (P, QRS and T),
each shifted and scaled a little, with noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from eocc import SurpriseClassifier

rng = np.random.default_rng(0)
NORMAL = {"P": (0.2, 0.035, 0.2), "QRS": (0.4, 0.02, 1.0), "T": (0.65, 0.06, 0.35)}  # peak, width, height
KINDS = {
    "normal": NORMAL,
    "no P wave": {name: NORMAL[name] for name in ("QRS", "T")},
    "T wave inverted": {**NORMAL, "T": (0.65, 0.06, -0.3)},
    "broad and early": {"QRS": (0.3, 0.07, 1.1), "T": (0.6, 0.08, -0.4)},
}


def beat(kind):
    """Return one beat of its own length."""
    time = np.linspace(0, 1, rng.integers(70, 100))
    signal = rng.normal(0, 0.04, len(time))
    for peak, width, height in KINDS[kind].values():
        signal += height * rng.normal(1, 0.15) * np.exp(-(((time - peak - rng.normal(0, 0.015)) / width) ** 2) / 2)
    return signal


normal = [beat("normal") for _ in range(100)]
clf = SurpriseClassifier().fit(normal)  # series of unequal length are compared by "dtw"

# %%
# Fifty new beats of each kind: which share is rejected?

figure, places = plt.subplots(1, 4, figsize=(9, 3), sharey=True, layout="constrained")
for axes, kind in zip(places, KINDS, strict=True):
    new = [beat(kind) for _ in range(50)]
    for one in normal[:30]:
        axes.plot(np.linspace(0, 1, len(one)), one, color="0.85", linewidth=0.8)
    for one in new[:5]:
        axes.plot(np.linspace(0, 1, len(one)), one, color="#0072b2" if kind == "normal" else "#d55e00", linewidth=1)
    axes.set_title(f"{kind}\n{(clf.predict(new) == -1).mean():.0%} rejected", fontsize=10)
    axes.set_xticks([])
figure.suptitle("Grey: beats of the training set")
plt.show()
