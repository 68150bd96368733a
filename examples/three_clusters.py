"""Draw the picture of the README: training targets, their tree, regions and memberships.

    python examples/three_clusters.py picture.png

Needs the extra ``plot``.
"""

import sys

import matplotlib
import numpy as np

from eocc import EntropicOneClassClassifier
from eocc.datasets import make_isolated_pattern

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main(path: str) -> None:
    """Fit the paper's example with an isolated training point and draw the model."""
    problem = make_isolated_pattern()
    clf = EntropicOneClassClassifier(random_state=0).fit(problem.X_train)

    side = np.linspace(-0.1, 1.1, 240)
    x, y = np.meshgrid(side, side)
    grid = np.column_stack([x.ravel(), y.ravel()])
    membership = clf.membership(grid).reshape(x.shape)
    decision = clf.decision_function(grid).reshape(x.shape)

    figure, axes = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
    surface = axes.contourf(x, y, membership, levels=np.linspace(0, 1, 21), cmap="Blues")
    axes.contour(x, y, decision, levels=[0], colors="#08306b", linewidths=1.2)
    for a, b in clf.spanning_tree_.edges:
        axes.plot(*problem.X_train[[a, b]].T, color="0.35", linewidth=0.7)
    axes.plot(*problem.X_train.T, "o", color="0.15", markersize=3, label="training: normal only")
    accepted = clf.predict(problem.X_test) == 1
    axes.plot(*problem.X_test[accepted].T, "o", color="#238b45", markersize=5, label="new: accepted")
    axes.plot(*problem.X_test[~accepted].T, "x", color="#cb181d", markersize=6, label="new: rejected")
    axes.set(xlim=(-0.1, 1.1), ylim=(-0.1, 1.1), aspect="equal", title=f"{len(clf.regions_)} normal regions")
    axes.legend(loc="upper right", fontsize=8)
    figure.colorbar(surface, label="membership", ticks=np.linspace(0, 1, 6))
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "three_clusters.png")
