"""Draw and tabulate what each open choice of the classifier changes, for docs/research/choices.md.

    python examples/choices.py                  # pictures into docs/images, tables to standard output
    python examples/choices.py another_folder

Needs the extra ``plot``.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from eocc import EntropicOneClassClassifier
from eocc.datasets import OneClassProblem, make_narrow_band

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.contour import ContourSet

Matrix = NDArray[np.float64]
Labelled = tuple[Matrix, NDArray[np.int64]]

WINDOW = (0.05, 0.95), (0.05, 0.85)
SHADES = plt.get_cmap("Blues")(np.linspace(0, 0.7, 10))  # no darker: points and lines must stand out
HEADER = (
    "| {} | regions | accuracy | AUC | training targets accepted | membership of targets | of outliers |\n"
    "|---|---:|---:|---:|---:|---:|---:|"
)
PRINTED_SEARCH = EntropicOneClassClassifier.as_printed().search
SYNTHESES = {
    "entropy (EOCC-1)": {"search": PRINTED_SEARCH},
    "validation (EOCC-2)": {"synthesis": "validation", "search": PRINTED_SEARCH},
    "validation, no search": {"synthesis": "validation"},
}


@dataclass(frozen=True)
class Family:
    """Alternatives for one parameter: a title and parameters for each, and what they share."""

    name: str
    parameter: str
    choices: dict[str, dict[str, Any]]
    shared: dict[str, Any] = field(default_factory=dict)
    validation: Labelled | None = None


def by_name(parameter: str, *names: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return the parameter and one choice for each of its names."""
    return parameter, {name: {parameter: name} for name in names}


def families(problem: OneClassProblem) -> list[Family]:
    """Return all families, in the order of the page."""
    validation = problem.X_validation, problem.y_validation
    functions = "gaussian", "triangular", "bell"
    tconorms = by_name("tconorm", "max", "probabilistic", "lukasiewicz")
    return [
        Family("extents", *by_name("extent", "mean", "std", "median", "max", "quantile")),
        Family("memberships", *by_name("membership_function", *functions)),
        # Regions of average extent hardly meet here; those of the largest extent overlap.
        Family("tconorms", *tconorms, shared={"extent": "max"}),
        Family("synthesis", "synthesis", SYNTHESES, validation=validation),
    ]


def fit(problem: OneClassProblem, family: Family, choice: dict[str, Any]) -> EntropicOneClassClassifier:
    """Train on the targets; all that the choice does not name is as printed, without a search."""
    parameters = {"search": None, "random_state": 0, **family.shared, **choice}
    validates = parameters.get("synthesis") == "validation"
    clf = EntropicOneClassClassifier.as_printed(**parameters)
    return clf.fit(problem.X_train, validation=family.validation if validates else None)


def table(problem: OneClassProblem, family: Family, classifiers: dict[str, EntropicOneClassClassifier]) -> str:
    """Return the family's Markdown table."""
    rows = [f"| {title} | {figures(problem, clf)} |" for title, clf in classifiers.items()]
    return "\n".join([HEADER.format(f"`{family.parameter}`"), *rows])


def figures(problem: OneClassProblem, clf: EntropicOneClassClassifier) -> str:
    """Return the cells of one row."""
    X, y = problem.X_test, problem.y_test
    membership = clf.membership(X)
    shares = [
        (clf.predict(X) == y).mean(),
        roc_auc_score(y, clf.score_samples(X)),
        (clf.predict(problem.X_train) == 1).mean(),
        membership[y == 1].mean(),
        membership[y == -1].mean(),
    ]
    return " | ".join([str(len(clf.regions_)), *(f"{share:.2f}" for share in shares)])


def draw(
    path: Path, problem: OneClassProblem, classifiers: dict[str, EntropicOneClassClassifier], resolution: int
) -> None:
    """Save a row of panels, one per classifier, with one legend and one colour bar."""
    size = (2.3 * len(classifiers) + 0.9, 2.7)
    figure, row = plt.subplots(1, len(classifiers), figsize=size, sharey=True, layout="constrained")
    for axes, (title, clf) in zip(row, classifiers.items(), strict=True):
        surface = draw_regions(axes, clf, resolution)
        draw_patterns(axes, clf, problem)
        axes.set(xlim=WINDOW[0], ylim=WINDOW[1], aspect="equal", xticks=[], yticks=[])
        axes.set_title(title, fontsize=10)
    handles, labels = row[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8, frameon=False)
    figure.colorbar(surface, ax=row, label="membership", ticks=np.linspace(0, 1, 6), pad=0.01)
    figure.savefig(path, dpi=100)
    plt.close(figure)


def draw_regions(axes: Axes, clf: EntropicOneClassClassifier, resolution: int) -> ContourSet:
    """Draw the membership as a surface and the hard boundary as a line."""
    x, y = np.meshgrid(*(np.linspace(*side, resolution) for side in WINDOW))
    grid = np.column_stack([x.ravel(), y.ravel()])
    decision = clf.decision_function(grid).reshape(x.shape)
    surface = axes.contourf(x, y, clf.membership(grid).reshape(x.shape), levels=np.linspace(0, 1, 11), colors=SHADES)
    axes.contour(x, y, decision, levels=[0], colors="#08306b", linewidths=1)
    return surface


def draw_patterns(axes: Axes, clf: EntropicOneClassClassifier, problem: OneClassProblem) -> None:
    """Draw the training targets and, by the hard decision, the test patterns; name all in the legend."""
    axes.plot([], [], color="#08306b", linewidth=1, label="hard boundary")
    accepted = clf.predict(problem.X_test) == 1
    axes.plot(*problem.X_train.T, ".", color="0.15", markersize=2, label="training")
    axes.plot(*problem.X_test[accepted].T, "o", color="#238b45", markersize=2.5, label="test: accepted")
    axes.plot(*problem.X_test[~accepted].T, "x", color="#cb181d", markersize=3, label="test: rejected")


def main(folder: str | Path, resolution: int = 200) -> None:
    """Fit, print and draw every family."""
    problem = make_narrow_band()
    for family in families(problem):
        classifiers = {title: fit(problem, family, choice) for title, choice in family.choices.items()}
        print(table(problem, family, classifiers), end="\n\n")
        draw(Path(folder) / f"choices_{family.name}.png", problem, classifiers, resolution)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "docs/images")
