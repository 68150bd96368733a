"""Draw every picture of docs/pictures.md.

    python examples/pictures.py folder

Needs the extra ``plot``.
"""

import sys
from pathlib import Path

import matplotlib
from sklearn.datasets import load_breast_cancer

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.datasets import make_isolated_pattern, make_two_clusters
from eocc.plots import (
    plot_history,
    plot_membership,
    plot_modularity,
    plot_region_sizes,
    plot_roc,
    plot_scores,
    plot_space,
    plot_weights,
)

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def save(folder: Path, name: str, draw) -> None:
    """Draw one picture into the folder."""
    figure, axes = plt.subplots(figsize=(5.6, 4.0), layout="constrained")
    draw(axes)
    figure.savefig(folder / f"plot_{name}.png", dpi=90)
    plt.close(figure)


def main(folder: Path) -> None:
    """Fit benign tumours by six of their columns, and two problems in the plane."""
    data = load_breast_cancer(as_frame=True)
    X = data.data.iloc[:, :6]
    X = (X - X[data.target == 1].mean()) / X[data.target == 1].std()
    train = data.target.index[data.target == 1][:250]
    rest = data.target.index.difference(train)
    clf = SurpriseClassifier().fit(X.loc[train])
    new, y = X.loc[rest], data.target[rest].to_numpy()
    pair = EntropicOneClassClassifier(random_state=0).fit(make_two_clusters().X_train)
    plane = EntropicOneClassClassifier(search=None).fit(make_isolated_pattern().X_train)

    folder.mkdir(parents=True, exist_ok=True)
    save(folder, "space", lambda axes: plot_space(clf, axes, new.iloc[::8]))
    save(folder, "membership", lambda axes: plot_membership(plane, axes, make_isolated_pattern().X_test))
    save(folder, "modularity", lambda axes: plot_modularity(plane, axes))
    save(folder, "history", lambda axes: plot_history(pair, axes))
    save(folder, "weights", lambda axes: plot_weights(pair, axes))
    save(folder, "roc", lambda axes: plot_roc(clf, axes, new, y))
    save(folder, "scores", lambda axes: plot_scores(clf, axes, new, y))
    save(folder, "regions", lambda axes: plot_region_sizes(plane, axes))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
