"""Draw every picture of docs/reference/api/plots.md.

    python examples/pictures.py folder

Needs the extra ``plot``.
"""

import sys
from pathlib import Path

import matplotlib
from sklearn.datasets import load_breast_cancer

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.datasets import make_isolated_pattern, make_two_clusters
from eocc.plots import PLOTS

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SIZES = {"rows": (7.6, 5.2)}


def save(folder: Path, name: str, *given, **named) -> None:
    """Draw one picture into the folder."""
    figure, axes = plt.subplots(figsize=SIZES.get(name, (5.6, 4.0)), layout="constrained")
    PLOTS[name](*given, **named, axes=axes)
    figure.savefig(folder / f"plot_{name}.png", dpi=90)
    plt.close(figure)


def main(folder: Path) -> None:
    """Fit benign tumours by six of their columns, and two problems in the plane."""
    data = load_breast_cancer(as_frame=True)
    X = data.data.iloc[:, :6]
    train = data.target.index[data.target == 1].to_series().sample(250, random_state=0).index
    rest = data.target.index.difference(train)
    clf = SurpriseClassifier(measure="standardised").fit(X.loc[train])
    new, y, names = X.loc[rest], data.target[rest].to_numpy(), [f"tumour {row}" for row in rest]
    pair = EntropicOneClassClassifier(random_state=0).fit(make_two_clusters().X_train)
    plane = EntropicOneClassClassifier(search=None).fit(make_isolated_pattern().X_train)

    folder.mkdir(parents=True, exist_ok=True)
    save(folder, "rows", clf, new, names)
    save(folder, "calibration", clf, new, y)
    save(folder, "space", clf, new.iloc[::8])
    save(folder, "history", pair)
    save(folder, "scores", clf, new, y)
    save(folder, "roc", clf, new, y)
    save(folder, "membership", plane, make_isolated_pattern().X_test)
    save(folder, "modularity", plane)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
