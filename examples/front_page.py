"""Draw the picture of the README and of the front page: what two classifiers accept, and the rows that they reject.

    python examples/front_page.py picture.png

Needs the extra ``plot``.
"""

import sys

import matplotlib
import numpy as np
from sklearn.datasets import make_moons

from eocc import RegionClassifier, SurpriseClassifier

matplotlib.use("Agg")
import matplotlib.pyplot as plt

BLUE, ORANGE = "#0072b2", "#d55e00"


def main(path: str) -> None:
    """Fit two moons, and draw p-values, the limit and new rows."""
    X, _ = make_moons(300, noise=0.07, random_state=0)
    new = np.vstack(
        [make_moons(12, noise=0.06, random_state=4)[0], [[0.5, 0.25], [-0.9, -0.45], [1.9, 0.95], [0.0, 0.35]]]
    )
    side = np.linspace(-1.5, 2.5, 260), np.linspace(-1.05, 1.55, 170)
    x, y = np.meshgrid(*side)
    grid = np.column_stack([x.ravel(), y.ravel()])
    figure, places = plt.subplots(1, 2, figsize=(9.6, 3.5), layout="constrained", sharey=True)
    for axes, clf, title in zip(places, (SurpriseClassifier(), RegionClassifier()),
                                ("SurpriseClassifier", "RegionClassifier"), strict=True):  # fmt: skip
        clf.fit(X)
        axes.contourf(x, y, np.sqrt(clf.p_values(grid)).reshape(x.shape), levels=np.linspace(0, 1, 15), cmap="Blues")
        axes.contour(x, y, clf.decision_function(grid).reshape(x.shape), levels=[0], colors=BLUE, linewidths=1.3)
        axes.plot(*X.T, ".", color="0.35", markersize=2.5, label="normal rows to learn from")
        accepted = clf.predict(new) == 1
        axes.plot(*new[accepted].T, "o", color=BLUE, mec="white", markersize=6, label="new: accepted")
        axes.plot(*new[~accepted].T, "X", color=ORANGE, mec="white", markersize=8, label="new: rejected")
        axes.set(xticks=[], yticks=[], aspect="equal", title=title)
    places[1].set_title(f"RegionClassifier: {len(clf.regions_)} rules")
    places[0].legend(loc="upper right", fontsize=7.5, framealpha=0.9)
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "front_page.png")
