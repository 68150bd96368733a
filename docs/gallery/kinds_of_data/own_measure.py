"""
A measure of your own
=====================

Any function of two objects can be the measure. Here the objects are outlines of leaves. The measure is the Hausdorff
distance, which comes with SciPy: how far the farthest point of one outline is from the other outline.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import directed_hausdorff

from eocc import SurpriseClassifier

rng = np.random.default_rng(4)
ANGLE = np.linspace(0, 2 * np.pi, 60)


def leaf(lobes=5, depth=0.25, length=1.0):
    """Return the outline of a leaf, (60, 2)."""
    radius = 1 + depth * np.cos(lobes * ANGLE) + rng.normal(0, 0.03) + rng.normal(0, 0.02, 60)
    return np.column_stack([length * radius * np.cos(ANGLE), radius * np.sin(ANGLE)])


def hausdorff(a, b):
    """Return the distance of the farthest point of one outline from the other outline."""
    return max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0])


clf = SurpriseClassifier(measure=hausdorff).fit([leaf() for _ in range(60)])

# %%
# We score leaves of the same plant. Then we score leaves with another number of lobes, another depth or another
# length, and a leaf with a hole.

eaten = leaf()
eaten[10:16] *= 0.45
new = [leaf(), leaf(), leaf(lobes=6), leaf(lobes=3), leaf(depth=0.05), leaf(length=1.5), eaten, leaf(depth=0.4)]
ratios = clf.how_far_out(new)
figure, places = plt.subplots(2, 4, figsize=(8, 4.4), layout="constrained")
for axes, one, ratio in zip(places.flat, new, ratios, strict=True):
    colour = "#0072b2" if ratio <= 1 else "#d55e00"
    axes.fill(*one.T, color=colour, alpha=0.25)
    axes.plot(*one.T, color=colour)
    axes.set_title(f"{ratio:.1f} times the limit", color=colour, fontsize=10)
    axes.set(xlim=(-2, 2), ylim=(-1.6, 1.6), aspect="equal")
    axes.axis("off")
figure.suptitle("Learned from 60 leaves with five lobes")
plt.show()
