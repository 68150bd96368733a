"""Pictures of a fitted classifier. Each function draws on a matplotlib axis and returns it."""

import warnings
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.labels import signs
from eocc.explain import reach_of
from eocc.explain.fitted import number_columns, prototype_labels, weight_names
from eocc.foundation.types import Flags, Matrix
from eocc.foundation.wording import counted
from eocc.plots.projection import edges_between, evenly, points_of, project, prototype_share, shows_regions

INK, FAINT, BORDER = "#1f2933", "#8d99a6", "#08306b"
NORMAL, OTHER = "#1b7f4d", "#c2271d"
# Colours of the regions; people with the common colour blindnesses can distinguish them (Okabe and Ito).
REGIONS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#5d5d5d")
# The most vertices of a curve; there are not more pixels.
MOST_VERTICES = 2000
MOST_IN_LEGEND = 12
# What the search records of each generation.
RECORDED = {"best": "objective of the best", "mean": "mean objective"}
RECORDED |= {name: name for name in ("entropy", "modularity", "performance")}


def _colour(index: int) -> str:
    return REGIONS[index % len(REGIONS)]


def _finish(axes: Any, **properties: Any) -> Any:
    axes.set(**properties)
    axes.legend(fontsize=8)
    return axes


def plot_space(classifier: OneClassClassifier, axes: Any, X: Any = None) -> Any:
    """Draw the plane of largest variance of the dissimilarity space: tree, regions, and the decisions on X.

    The dots are the prototypes, a ring is the centre of a region; its count includes all training rows. With more than
    2,000 prototypes, regions are drawn only if they are there already.
    """
    plane = project(classifier)
    points, share = points_of(classifier, plane, classifier.prototypes_), prototype_share(classifier)
    title = [f"({plane.kept:.0%} of its variance)", *([share] if share else [])]
    if shows_regions(classifier):
        _draw_regions(classifier, axes, points, plane.place(classifier.fuzzy_model_.centres))
    else:
        axes.plot(*points[evenly(np.arange(len(points)), MOST_VERTICES)].T, "o", color=FAINT, markersize=3, zorder=2)
        title.append(f"regions are not drawn for {counted(len(points), 'row')}")
    if X is not None:
        _draw_decisions(axes, points_of(classifier, plane, classifier.read(X)), classifier.predict(X) == 1)
    axes.set(title="Dissimilarity space " + "\n".join(title), xlabel="first axis", ylabel="second axis")
    return _finish(axes) if 0 < len(axes.get_legend_handles_labels()[0]) <= MOST_IN_LEGEND else axes


def _draw_regions(classifier: OneClassClassifier, axes: Any, points: Matrix, centres: Matrix) -> None:
    from matplotlib.collections import LineCollection

    edges = edges_between(classifier, np.arange(len(points)))
    axes.add_collection(LineCollection(list(points[edges]), colors=FAINT, linewidths=0.7))
    labels = prototype_labels(classifier)
    for index, region in enumerate(classifier.regions_):
        axes.plot(*points[labels == index].T, "o", color=_colour(index), markersize=4, zorder=2)
        ring = {"markersize": 9, "markerfacecolor": "none", "markeredgecolor": _colour(index), "zorder": 3}
        axes.plot(*centres[index], "o", **ring, label=f"region {index}: {counted(len(region.members), 'row')}")


def _draw_decisions(axes: Any, points: Matrix, accepted: Flags) -> None:
    axes.plot(*points[accepted].T, "P", color=NORMAL, markersize=6, label="new: accepted", zorder=4)
    axes.plot(*points[~accepted].T, "x", color=OTHER, markersize=6, label="new: rejected", zorder=4)


def plot_membership(classifier: OneClassClassifier, axes: Any, X: Any = None, resolution: int = 160) -> Any:
    """Draw the membership over two columns, the limit of the decision, and the training rows; no rows with gaps."""
    names = number_columns(classifier)
    if len(names) != 2:
        has = f"{len(names)} columns" if names else "no columns of numbers"
        raise ValueError(f"a membership surface needs two columns of numbers; this model has {has}: use plot_space")
    new = np.empty((0, 2)) if X is None else np.asarray(X, float)
    new = new[~np.isnan(new).any(axis=1)]
    seen = np.vstack([classifier.prototypes_, new])
    margin = 0.1 * np.maximum(np.ptp(seen, axis=0), 1e-9)
    x, y = np.linspace(seen.min(axis=0) - margin, seen.max(axis=0) + margin, resolution).T
    grid = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    with warnings.catch_warnings():  # points have no names and need none
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        scores, accepted = classifier.score_all(grid), classifier.predict(new) == 1 if len(new) else None
    membership = np.exp(scores.log_memberships).reshape(resolution, resolution)
    decision = (scores.margins - classifier.threshold_).reshape(resolution, resolution)
    surface = axes.contourf(x, y, membership, levels=np.linspace(0, 1, 21), cmap="Blues")
    axes.contour(x, y, decision, levels=[0], colors=BORDER, linewidths=1.2)
    axes.plot(*classifier.prototypes_.T, "o", color=INK, markersize=3, label=prototype_share(classifier) or "training")
    if accepted is not None:
        _draw_decisions(axes, new, accepted)
    axes.set_xlabel(names[0], parse_math=False)
    axes.set_ylabel(names[1], parse_math=False)
    axes.figure.colorbar(surface, ax=axes, label="membership", ticks=np.linspace(0, 1, 6))
    return _finish(axes, title="Membership; rows inside the line are accepted")


def plot_modularity(classifier: OneClassClassifier, axes: Any) -> Any:
    """Draw the modularity of all partitions of the spanning tree, and mark the one that was chosen."""
    curve, chosen = classifier.modularity_curve_, len(classifier.regions_)
    counts = np.arange(1, len(curve) + 1)
    kept = np.unique(np.geomspace(1, len(curve), MOST_VERTICES).round().astype(int)) - 1
    kept = np.arange(len(curve)) if len(curve) <= MOST_VERTICES else np.union1d(kept, [chosen - 1])
    axes.plot(counts[kept], curve[kept], color=INK, linewidth=1.2)
    axes.plot(chosen, curve[chosen - 1], "o", color=REGIONS[5], label=f"chosen: {counted(chosen, 'region')}")
    scale, labels = "log" if len(curve) > 30 else "linear", {"xlabel": "number of clusters", "ylabel": "modularity Q"}
    return _finish(axes, title="Modularity of all partitions", xscale=scale, **labels)


def plot_history(classifier: OneClassClassifier, axes: Any) -> Any:
    """Draw what the search found, generation by generation."""
    history = classifier.search_history
    if history is None:
        raise ValueError("this model was fitted without a search, so there is no history to draw")
    for index, name in enumerate(name for name in RECORDED if name in (history.dtype.names or ())):
        axes.plot(history[name], color=_colour(index), label=RECORDED[name], linewidth=1.4)
    return _finish(axes, title="Search: the best of each generation", xlabel="generation")


def plot_weights(classifier: OneClassClassifier, axes: Any, most: int = 30) -> Any:
    """Draw the weights of the dissimilarity, the largest `most` of them."""
    weights, names = classifier.weights_, weight_names(classifier)
    title = _draw_bars(axes, weights, names, [REGIONS[0]] * len(weights), most)
    axes.set(title=f"Weights of the dissimilarity{title}", xlabel="weight", xlim=(0, 1.02))
    return axes


def plot_region_sizes(classifier: OneClassClassifier, axes: Any, most: int = 30) -> Any:
    """Draw the number of training rows in each region, the largest `most` of them."""
    sizes = np.array([len(region.members) for region in classifier.regions_])
    numbers = range(len(sizes))
    title = _draw_bars(axes, sizes, [f"region {k}" for k in numbers], [_colour(k) for k in numbers], most)
    axes.set(title=f"Sizes of the regions{title}", xlabel="training rows")
    return axes


def _draw_bars(axes: Any, values: Any, names: Any, colours: list[str], most: int) -> str:
    """Draw the largest values as bars, the largest on top, and return what the title must add."""
    order = np.argsort(-values, kind="stable")[:most][::-1]
    axes.barh(np.arange(len(order)), values[order], color=[colours[k] for k in order])
    size = 8 if len(order) <= 20 else 6
    axes.set_yticks(np.arange(len(order)), [names[k] for k in order], fontsize=size, parse_math=False)
    return f", the largest {len(order)} of {len(values)}" if len(values) > len(order) else ""


def plot_roc(classifier: OneClassClassifier, axes: Any, X: Any, y: Any) -> Any:
    """Draw the ROC curve of the scores of labelled rows, and the point of the decision."""
    is_normal = signs(y) == 1
    if is_normal.all() or not is_normal.any():
        kind = "normal rows" if is_normal.all() else "outliers"
        raise ValueError(f"a ROC curve needs normal rows and outliers; y has {kind} only")
    found = classifier.score_all(X)
    scores, accepted = found.log_memberships, found.margins - classifier.threshold_ >= 0
    misses, detections, _ = roc_curve(is_normal, scores)
    axes.plot(misses, detections, color=REGIONS[0], label=f"AUC {roc_auc_score(is_normal, scores):.3f}")
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.8, linestyle="--")
    axes.plot(accepted[~is_normal].mean(), accepted[is_normal].mean(), "o", color=REGIONS[5], label="the decision")
    labels, limits = {"xlabel": "outliers accepted", "ylabel": "normal rows accepted"}, (-0.02, 1.02)
    return _finish(axes, title="ROC", xlim=limits, ylim=limits, **labels)


def plot_scores(classifier: OneClassClassifier, axes: Any, X: Any, y: Any = None) -> Any:
    """Draw a histogram of how far out rows lie, and the limit of the decision."""
    ratios = classifier.score_all(X).ratios
    top = max(2.0, float(np.quantile(ratios, 0.98)))
    groups = [("rows", ratios, REGIONS[0])]
    if y is not None:
        is_normal = signs(y) == 1
        groups = [("normal", ratios[is_normal], NORMAL), ("outliers", ratios[~is_normal], OTHER)]
    for name, values, colour in groups:
        bins, label = np.linspace(0, top, 41), f"{name}: {len(values)}"
        axes.hist(np.minimum(values, top), bins=bins, color=colour, alpha=0.65, label=label)
    axes.axvline(reach_of(classifier.threshold_), color=BORDER, linewidth=1.2, label="limit")
    return _finish(axes, title="How far out rows lie", xlabel=classifier.ratio_name, ylabel="rows")
