"""
The paper's method, step by step
================================

``EntropicOneClassClassifier`` is the method of Livi, Sadeghian and Pedrycz, "Entropic one-class classifiers" (2015).
This page builds it from its parts. At the end it compares the result with the classifier itself.

The paper calls a row a *pattern* and a normal row a *target*. On this page a pattern is a point in the plane.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from eocc import EntropicOneClassClassifier
from eocc.datasets import make_two_clusters
from eocc.entropic.graph import normalized_entropy, spanning_tree
from eocc.entropic.partition import cut, modularity_curve, prune
from eocc.measures import Euclidean
from eocc.plots import plot_history

rng = np.random.default_rng(3)
centres, spreads = [(0.2, 0.25), (0.75, 0.3), (0.5, 0.8)], [0.05, 0.08, 0.06]
X = np.vstack([rng.normal(centre, spread, (12, 2)) for centre, spread in zip(centres, spreads, strict=True)])
COLOURS = np.array(["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9"])

figure, axes = plt.subplots(figsize=(4.6, 4), layout="constrained")
axes.plot(*X.T, "o", color="0.2")
axes.set(title="36 normal points, and nothing else", aspect="equal", xlim=(0, 1), ylim=(0, 1))
plt.show()

# %%
# 1. Dissimilarities
# ------------------
# The method does not use the points themselves. It only asks how different two points are. The answer is a number
# between 0 and 1, the *dissimilarity*. For points it is the Euclidean distance, divided by the largest one in the
# training set. For graphs, strings or series you use :doc:`another measure </reference/api/measures>`, and everything
# below stays the same.
#
# The dissimilarity has parameters *p*, one weight per column, all 1 for now.

measure = Euclidean().fit(X)
p = np.ones(measure.n_parameters)
D = measure.prepare(X, X).evaluate(p)

figure, axes = plt.subplots(figsize=(4.8, 4), layout="constrained")
figure.colorbar(axes.imshow(D, cmap="Blues_r"), label="dissimilarity")
axes.set(title="All pairs: dark means alike", xlabel="point", ylabel="point")
plt.show()

# %%
# 2. Dissimilarity space
# ----------------------
# Row *i* of this matrix says how different point *i* is from every training point. We use this row as a vector: it is
# the place of the point in the *dissimilarity space*. The points that all points are compared with are the
# *prototypes*. Here these are all 36 training points. Two points are near in this space if they are about equally
# different from each prototype.

n = len(X)
distances = np.sqrt(((D[:, None] - D) ** 2).mean(axis=2))

figure, axes = plt.subplots(figsize=(6.4, 3), layout="constrained")
for k in (0, 1, 14, 26):
    axes.plot(D[k], color=COLOURS[k // 12], label=f"point {k}")
axes.set(
    title="Four points as vectors: 0 and 1 are neighbours", xlabel="prototype", ylabel="dissimilarity", ylim=(0, 1.2)
)
axes.legend(frameon=False, fontsize=8, ncols=4)
plt.show()

# %%
# 3. Spanning tree
# ----------------
# Connect all points by lines whose total length is as small as possible. The result is the *minimum spanning tree* in
# the dissimilarity space. Short edges lie inside clusters, long edges between them.

tree = spanning_tree(distances)


def draw_tree(axes, edges, colours="0.3"):
    """Draw points and some edges of the tree."""
    axes.add_collection(LineCollection(X[edges], colors="0.55", linewidths=1))
    axes.scatter(*X.T, c=colours, s=22, zorder=2)
    axes.set(aspect="equal", xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])


figure, axes = plt.subplots(figsize=(4.4, 4), layout="constrained")
draw_tree(axes, tree.edges)
axes.add_collection(LineCollection(X[tree.edges[:2]], colors="#d55e00", linewidths=2.5))
axes.set_title("The tree; its two longest edges in orange")
plt.show()

# %%
# 4. Entropy
# ----------
# The lengths of the edges estimate the *Rényi entropy* of the data: how spread out the points are. The estimate is
# the sum of \|e\|\ :sup:`γ` over the edges *e*, with a small exponent γ (0.02 by default). We divide it by the number
# of edges, so that it lies between 0 and 1.
#
# One tight cluster has a low entropy. Points all over the plane have a high entropy. This picture uses γ = 1, to make
# the difference visible.

figure, places = plt.subplots(1, 3, figsize=(8.4, 3), layout="constrained")
for axes, spread in zip(places, (0.02, 0.08, 0.3), strict=True):
    cloud = rng.normal(0.5, spread, (36, 2))
    gaps = np.sqrt(((cloud[:, None] - cloud) ** 2).sum(axis=2))
    one = spanning_tree(gaps)
    axes.add_collection(LineCollection(cloud[one.edges], colors="0.55"))
    axes.plot(*cloud.T, ".", color="#0072b2")
    axes.set(aspect="equal", xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    axes.set_title(f"entropy {normalized_entropy(one.lengths, gamma=1.0):.3f}")
plt.show()

# %%
# 5. Cuts
# -------
# If we remove the longest edge, the tree falls into two parts; without the next one, there are three. *Modularity* says
# how good such a partition is: it compares the similarity inside the parts with what one would expect by chance. The
# method cuts as long as modularity does not fall.

curve = modularity_curve(distances, tree)
labels = prune(distances, tree)
chosen = labels.max() + 1

figure, places = plt.subplots(1, 3, figsize=(9.4, 3.1), layout="constrained")
for axes, k in zip(places[:2], (2, chosen), strict=True):
    draw_tree(axes, tree.edges[k - 1 :], COLOURS[cut(tree, int(k)) % 5])
    axes.set_title(f"{k} parts: modularity {curve[k - 1]:.3f}")
places[2].plot(range(1, 13), curve[:12], "o-", color="0.3")
places[2].plot(chosen, curve[chosen - 1], "o", color="#d55e00", markersize=9)
places[2].set(xlabel="number of parts", ylabel="modularity", xticks=range(1, 13, 2), title=f"The peak is at {chosen}")
plt.show()

# %%
# 6. Regions
# ----------
# Every part becomes a fuzzy *region* in the dissimilarity space. Its centre is the most central member, the *medoid*.
# Its *extent* τ is the mean distance between its members. The *membership* of a point in a region is exp(-(d / τ)² /
# 2), where *d* is its distance from the centre: 1 at the centre, 0.61 at the boundary.

medoids, extents = [], []
for part in range(chosen):
    members = np.flatnonzero(labels == part)
    among = distances[np.ix_(members, members)]
    medoids.append(members[among.sum(axis=1).argmin()])
    extents.append(among[np.triu_indices(len(members), 1)].mean())


def ratio_to_regions(points):
    """Return d / tau for each point and region."""
    rows = measure.prepare(points, X).evaluate(p)
    return np.sqrt(((rows[:, None] - D[medoids]) ** 2).mean(axis=2)) / extents


x, y = np.meshgrid(np.linspace(0, 1, 150), np.linspace(0, 1, 150))
ratios = ratio_to_regions(np.column_stack([x.ravel(), y.ravel()])).min(axis=1).reshape(x.shape)

figure, axes = plt.subplots(figsize=(5.6, 4.2), layout="constrained")
shades = axes.contourf(x, y, np.exp(-(ratios**2) / 2), np.linspace(0, 1, 21), cmap="Blues")
axes.contour(x, y, ratios, [1], colors="#08306b")
axes.scatter(*X.T, c=COLOURS[labels % 5], s=16, edgecolors="white", linewidths=0.5)
axes.plot(*X[medoids].T, "P", color="#d55e00", markersize=10, label="centres (medoids)")
axes.set(aspect="equal", title=f"{chosen} regions")
axes.legend(fontsize=8)
figure.colorbar(shades, label="membership", ticks=np.linspace(0, 1, 6))
plt.show()

# %%
# 7. Decisions
# ------------
# A new point gets the highest of its memberships. It is accepted if it lies within the extent of that region, which
# is inside a dark line of the picture above. This rule is strict: the extent is a mean distance, so the outer members
# of a region lie outside. Pass ``false_alarm_rate=0.05`` to reject about one new normal row in twenty instead, if new
# rows come from the same source and time as the training rows (see :doc:`/guides/false_alarms`).
#
# The classifier does exactly this:

clf = EntropicOneClassClassifier(search=None).fit(X)
new = rng.random((200, 2))
same = (clf.predict(new) == 1) == (ratio_to_regions(new).min(axis=1) <= 1)
print(f"{len(clf.regions_)} regions; the same decision for {same.sum()} of {len(new)} new points")

# %%
# 8. Search
# ---------
# So far all weights *p* were 1. A genetic algorithm can look for weights under which η · entropy + (1 - η) ·
# modularity is largest. This is EOCC-1. EOCC-2 adds the accuracy on labelled validation rows to this objective. It
# also chooses the number of parts by this objective.
#
# In the paper's third example only the first column separates two clusters. The search finds that out:

problem = make_two_clusters()
found = EntropicOneClassClassifier(search="genetic", random_state=0).fit(problem.X_train)
flat = EntropicOneClassClassifier(search=None).fit(problem.X_train)
print("weights found:", found.weights_.round(3))
print(f"modularity {found.modularity_:.3f}; with all weights 1 it is {flat.modularity_:.3f}")

axes = plot_history(found)
axes.legend(fontsize=8, frameon=False, loc="center right", bbox_to_anchor=(1, 0.73))
plt.show()

# %%
# What to remember
# ----------------
# - The model is a handful of regions, each with a centre that is one of your rows. It can be read as rules
#   (``clf.rules()``).
# - It sees your data only through the dissimilarity, so it works for anything that can be compared.
# - Two or three round regions cannot follow the shape of most data. For detection,
#   :doc:`the surprise score <surprise>` is better on nearly every data set we measured (see :doc:`/results/index`).
#
# - The Euclidean norm between rows of the dissimilarity space loses something, because it averages over all prototypes.
#   In the sup norm, the largest difference of two rows, the distance *is* the dissimilarity itself (Kuratowski). On the
#   27 further sets, the nearest neighbour in this space has a mean AUC of 0.799 in the l1 norm, 0.802 in l2, 0.808 in
#   l4, 0.810 in l8 and 0.807 in the sup norm (``python benchmarks/regions.py norms``). :doc:`Regions of one shape
#   <regions>` therefore measure distances in the data.
#
# The printed paper leaves some points open. :doc:`/research/departures` says what this library does there.
