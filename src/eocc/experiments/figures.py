"""The paper's pictures, and a picture of the ranks. Needs matplotlib."""

from pathlib import Path
from typing import Any

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.datasets import synthetic
from eocc.datasets.synthetic import OneClassProblem
from eocc.experiments.results import Ranking
from eocc.plots.drawing import FAINT, INK, NORMAL, OTHER, new_figure, plot_history, plot_membership, plot_modularity


def draw_problem(axes: Any, classifier: EntropicOneClassClassifier, problem: OneClassProblem) -> None:
    """Draw training and test rows, with a ring around wrong decisions."""
    decisions = classifier.predict(problem.X_test)
    axes.plot(*problem.X_train.T, "o", color=FAINT, markersize=3, label="training targets")
    for sign, colour, name in ((1, NORMAL, "test targets"), (-1, OTHER, "test outliers")):
        points = problem.X_test[problem.y_test == sign]
        axes.plot(*points.T, "o" if sign == 1 else "x", color=colour, markersize=5, label=name)
    wrong = problem.X_test[decisions != problem.y_test]
    axes.plot(*wrong.T, "o", markersize=10, markerfacecolor="none", markeredgecolor=INK, label="wrong decision")
    axes.set(title=f"{len(classifier.regions_)} regions", xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), aspect="equal")
    axes.legend(fontsize=7)


def _fitted(problem: OneClassProblem, synthesis: str = "entropy") -> EntropicOneClassClassifier:
    classifier = EntropicOneClassClassifier.as_printed(synthesis, random_state=0)
    validation = (problem.X_validation, problem.y_validation) if synthesis == "validation" else None
    return classifier.fit(problem.X_train, validation=validation)


def first_example() -> Any:
    """Draw three clusters: data and decisions, membership, modularity of all partitions, search."""
    problem = synthetic.make_three_clusters()
    classifier, figure = _fitted(problem), new_figure(11, 8)
    axes = figure.subplots(2, 2)
    draw_problem(axes[0, 0], classifier, problem)
    plot_membership(classifier, problem.X_test, axes=axes[0, 1])
    plot_modularity(classifier, axes=axes[1, 0])
    plot_history(classifier, axes=axes[1, 1])
    figure.suptitle("First example: three well-separated clusters (EOCC-1)")
    return figure


def second_example() -> Any:
    """Draw two narrow bands: decisions of EOCC-1, and the memberships of EOCC-1 and EOCC-2."""
    problem = synthetic.make_narrow_band()
    one, two = _fitted(problem), _fitted(problem, "validation")
    figure = new_figure(15, 4.4)
    axes = figure.subplots(1, 3)
    draw_problem(axes[0], one, problem)
    for classifier, drawn, name in ((one, axes[1], "EOCC-1"), (two, axes[2], "EOCC-2")):
        plot_membership(classifier, problem.X_test, axes=drawn)
        accuracy = float((classifier.predict(problem.X_test) == problem.y_test).mean())
        drawn.set_title(f"{name}: membership; accuracy of the decision {accuracy:.2f}")
    figure.suptitle("Second example: test rows in two bands that are narrow in y")
    return figure


def third_example() -> Any:
    """Draw two properties: the weights follow the separation, and a lone training row gets its own region."""
    figure = new_figure(11, 4.6)
    problems = synthetic.make_two_clusters(), synthetic.make_isolated_pattern()
    for drawn, problem in zip(figure.subplots(1, 2), problems, strict=True):
        classifier = _fitted(problem)
        plot_membership(classifier, axes=drawn)
        weights = ", ".join(f"{weight:.3f}" for weight in classifier.weights_)
        drawn.set_title(f"{len(classifier.regions_)} regions, p* = [{weights}]")
    figure.suptitle("Third example: weights of two separated clusters; a lone row")
    return figure


def draw_examples(folder: Path) -> list[Path]:
    """Draw the paper's figures into `folder` and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for draw in (first_example, second_example, third_example):
        paths.append(folder / f"{draw.__name__}.png")
        draw().savefig(paths[-1], dpi=100)
    return paths


def draw_ranks(ranking: Ranking) -> Any:
    """Draw the average ranks of the systems, with their bootstrap intervals over the data sets."""
    names, ranks, lows, highs = zip(*ranking.systems, strict=True)
    figure = new_figure(9.5, 1.2 + 0.24 * len(names))
    axes = figure.subplots()
    axes.barh(names, ranks, color=FAINT, height=0.6)
    axes.hlines(range(len(names)), lows, highs, color=INK, linewidth=1)
    for place, (rank, high) in enumerate(zip(ranks, highs, strict=True)):
        axes.text(high, place, f" {rank:.2f}", va="center", fontsize=8)
    axes.invert_yaxis()
    axes.set(xlabel=f"average rank (1 is best); critical difference {ranking.critical_difference:.2f}")
    return figure
