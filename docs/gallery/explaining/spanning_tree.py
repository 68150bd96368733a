"""
The spanning tree of many points
================================

The paper's method uses minimum spanning trees. ``point_spanning_tree`` finds the exact tree of points in the plane
without computing all distances. The colour of an edge shows its length. If we cut the longest edges first, the arms
come apart.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from eocc.entropic.graph import point_spanning_tree

rng = np.random.default_rng(0)
angle = rng.uniform(0.5, 3.2, 4000) * np.pi
arm = rng.integers(0, 3, 4000) * 2 * np.pi / 3
radius = angle / np.pi
points = np.column_stack([radius * np.cos(angle + arm), radius * np.sin(angle + arm)]) + rng.normal(0, 0.05, (4000, 2))
tree = point_spanning_tree(points)

# %%
# The edges are sorted, the longest first. Without the longest edges, the tree splits into the arms of the spiral and
# single points.

figure, axes = plt.subplots(figsize=(6, 6), layout="constrained")
lines = LineCollection(points[tree.edges], array=np.log(tree.lengths), cmap="viridis", linewidths=0.9)
axes.add_collection(lines)
axes.autoscale()
axes.set(aspect="equal", title=f"{len(points):,} points, {len(tree.edges):,} edges")
axes.axis("off")
plt.show()
