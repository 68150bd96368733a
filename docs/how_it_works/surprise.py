r"""
The surprise score, step by step
================================

``SurpriseClassifier`` asks one question: *how far away are the nearest normal rows, compared with what is usual among
normal rows?* This page builds the answer from its parts, and shows why it is called a surprise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.neighbors import NearestNeighbors

from eocc import SurpriseClassifier

X = make_moons(200, noise=0.07, random_state=1)[0]
new = np.array([[-0.9, 0.5], [0.5, 0.25], [1.2, 0.9]])
NAMES, COLOURS = ["a", "b", "c"], ["#0072b2", "#e69f00", "#d55e00"]

# %%
# 1. The nearest normal rows
# --------------------------
# For every new row, find the distances r₁, r₂, r₄ and r₈ to the 1st, 2nd, 4th and 8th nearest normal row. Point *a*
# lies among normal points. Point *c* is far from all of them. Point *b* lies between the moons.

sizes = [1, 2, 4, 8]
radii = NearestNeighbors(n_neighbors=8).fit(X).kneighbors(new)[0][:, np.array(sizes) - 1]

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(*X.T, ".", color="0.6")
for point, circles, name, colour in zip(new, radii, NAMES, COLOURS, strict=True):
    for radius in circles:
        axes.add_patch(plt.Circle(point, radius, fill=False, color=colour, linewidth=1))
    axes.plot(*point, "o", color=colour)
    axes.annotate(name, point, (6, 6), textcoords="offset points", color=colour, weight="bold")
axes.set(aspect="equal", title="The circles reach the 1st, 2nd, 4th and 8th nearest normal point")
plt.show()

# %%
# 2. Why the logarithm of a distance is a surprise
# -------------------------------------------------
# Where normal rows are dense, the nearest of them is near; where they are rare, it is far. In *d* dimensions, the
# volume that holds the *k* nearest of *n* rows is proportional to r\ :sub:`k` to the power of *d*. So the density is
# about *k* divided by *n* times this volume, and its negative logarithm is
#
#     -log density ≈ d · log r\ :sub:`k` + constant.
#
# The negative logarithm of a probability is the *self-information* or *surprise* of an event: the less likely it is,
# the more it surprises. The mean of -log density over all rows is the *entropy*. Kozachenko and Leonenko (1987)
# estimate it in just this way, by the mean of log r\ :sub:`k`.
#
# We can check that. For points of a normal distribution the true density is known:

rng = np.random.default_rng(0)
cloud, fresh = rng.normal(size=(5000, 2)), rng.normal(size=(500, 2))
near = NearestNeighbors(n_neighbors=8).fit(cloud).kneighbors(fresh)[0][:, np.array(sizes) - 1]
profile, truth = np.log(near).mean(axis=1), (fresh**2).sum(axis=1) / 2 + np.log(2 * np.pi)

figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
axes.plot(profile, truth, ".", color="#0072b2", markersize=4)
slope = np.linspace(profile.min(), profile.max(), 2)
axes.plot(
    slope, 2 * (slope - profile.mean()) + truth.mean(), color="0.3", linestyle="--", label="slope 2, the dimension"
)
axes.set(xlabel="mean log distance to the 1, 2, 4, 8 nearest", ylabel="true surprise, -log density")
axes.set_title(f"correlation {np.corrcoef(profile, truth)[0, 1]:.2f}")
axes.legend(frameon=False)
plt.show()

# %%
# 3. What is usual among normal rows
# ----------------------------------
# A distance alone means nothing: is 0.1 much? So every training row is scored too, *left out of its own neighbours*,
# as if it were new. These scores show what is usual. The limit is their 95 % quantile: one normal row in twenty lies
# beyond it.

clf = SurpriseClassifier().fit(X)
left_out, scored = clf.how_far_out(X), clf.how_far_out(new)

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
axes.hist(left_out, 40, color="0.75", label="training rows, each left out")
axes.axvline(1, color="0.2", linestyle="--", label="limit")
for name, value, colour in zip(NAMES, scored, COLOURS, strict=True):
    axes.axvline(value, color=colour, linewidth=2)
    axes.text(value, axes.get_ylim()[1] * 0.9, f" {name}", color=colour, weight="bold")
axes.set(xlabel="how far out (1 is the limit)", ylabel="training rows", title="Where do a, b and c stand?")
axes.legend(frameon=False)
plt.show()

# %%
# 4. p-values
# -----------
# The p-value of a row is its rank among these scores: the share of normal rows that look at least as unusual. So you
# have nothing to tune. With 200 rows a p-value cannot be smaller than 1/201. This holds if new normal rows come from
# :doc:`the same source and time </guides/from_p_values_to_decisions>` as the training rows.

for name, p in zip(NAMES, clf.p_values(new), strict=True):
    print(f"{name}: p = {p:.3f}")

# %%
# 5. Near and far at once
# -----------------------
# Normal rows may be dense in one place and sparse in another. So there is a second term, the *local ratio*. It is the
# distance of a row to its four nearest rows, divided by the distance of those four rows to their own nearest rows. The
# local ratio has a weight of one fifth in the score, the distances have four fifths.
#
# The picture shows a dense and a sparse cluster. The limit lies close around the dense one, and gives the sparse one
# more room.

pair = np.vstack([rng.normal((-2, 0), 0.25, (150, 2)), rng.normal((2, 0), 1.0, (150, 2))])
x, y = np.meshgrid(np.linspace(-4, 6, 160), np.linspace(-4, 4, 160))
grid = np.column_stack([x.ravel(), y.ravel()])
model = SurpriseClassifier().fit(pair)

figure, axes = plt.subplots(figsize=(6.6, 4), layout="constrained")
shades = axes.contourf(x, y, np.log10(model.p_values(grid)).reshape(x.shape), 12, cmap="Blues")
axes.contour(x, y, model.decision_function(grid).reshape(x.shape), [0], colors="#08306b")
axes.plot(*pair.T, ".", color="0.2", markersize=3)
figure.colorbar(shades, label="log10 of the p-value")
axes.set_title("Inside the line: accepted")
plt.show()

# %%
# 6. Columns in different units
# -----------------------------
# If one column is in millimetres and another in kilometres, the first decides everything. So all distances are
# computed twice: with the columns as they are, and with weights that give every column the same variance. The
# weighting under which the row is more surprising counts four fifths. In this example the second column varies only a
# thousandth as much as the first, and still counts:

skewed = np.column_stack([rng.normal(0, 1000, 300), rng.normal(0, 1, 300)])
model = SurpriseClassifier().fit(skewed)
print("in the middle:", model.predict([[0, 0]])[0], " far out in the small column:", model.predict([[0, 6]])[0])

# %%
# 7. What neighbours do not see
# -----------------------------
# Three more *views* find what the distances to the nearest rows do not show. Each is divided by its spread among the
# training rows, and a handicap is subtracted. The largest view is the surprise of the row.
#
# - *Covariance* sees values that do not go together.
# - *Cell* sees one impossible value, a category that never occurred, or too many gaps.
# - *Far* sees rows whose only near rows are a clump of near copies.
#
# Here the first two of ten columns rise and fall together. A row in which they go apart has no unusual value. The
# covariance says which columns do not go together:

rows = rng.normal(size=(400, 10))
rows[:, 1] = rows[:, 0] + 0.2 * rng.normal(size=400)
broken = rows[:1].copy()
broken[0, :2] = 1.9, -1.9
explanation = SurpriseClassifier().fit(rows[1:]).explain(broken)[0]
print({name: round(value, 1) for name, value in explanation.views.items()})
print(explanation.sentence)

# %%
# 8. Known outliers
# -----------------
# If some outliers are known (``y = -1``), each row is also compared with them: how much nearer is it to them than to
# normal rows? A regression with few parameters weighs this against the surprise. Ten known outliers move the limit
# near them, and change it little elsewhere.

outliers = rng.normal((0.72, 0.88), 0.05, (10, 2))
both = SurpriseClassifier().fit(np.vstack([X, outliers]), np.repeat([1, -1], [200, 10]))
x, y = np.meshgrid(np.linspace(-1.6, 2.6, 160), np.linspace(-1.1, 1.6, 120))
grid = np.column_stack([x.ravel(), y.ravel()])

figure, places = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
for axes, model, title in zip(places, (clf, both), ("normal rows only", "with ten known outliers"), strict=True):
    axes.contourf(x, y, model.predict(grid).reshape(x.shape), [-2, 0, 2], colors=["white", "#c6dbef"])
    axes.plot(*X.T, ".", color="0.3", markersize=3)
    axes.set(aspect="equal", title=title)
places[1].plot(*outliers.T, "x", color="#d55e00")
plt.show()

# %%
# What to remember
# ----------------
# - The fit only finds nearest neighbours. It needs no search and no random numbers.
# - The score works for anything with a dissimilarity: strings, graphs, series, mixed tables.
# - p-values come from left-out training rows and cost nothing extra.
#
# :doc:`/research/score` has the exact definition, and lists everything that we tried and that did not help. The most
# similar published method is Hero's geometric entropy minimisation (2006). It is one of
# :doc:`the rivals </reference/api/rivals>`, under the name GEM.
