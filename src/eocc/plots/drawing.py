"""Pictures of a fitted classifier. Each function draws on a matplotlib axis and returns it."""

import warnings
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.labels import signs
from eocc.explain.regions import prototype_labels, reach_of
from eocc.foundation.types import Matrix
from eocc.foundation.wording import counted
from eocc.measures.difference import feature_names
from eocc.plots.projection import edges_between, known_share, place, project, was_searched, yardstick_of

INK, FAINT, BORDER = "#1f2933", "#8d99a6", "#08306b"
NORMAL, OTHER = "#1b7f4d", "#c2271d"
# Regions in turn; distinguishable also with the common colour blindnesses (Okabe and Ito).
REGIONS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#5d5d5d")
# A curve has no more vertices than that: there are not more pixels.
MOST_VERTICES = 2000


def region_colour(index: int) -> str:
    """Return the colour of a region."""
    return REGIONS[index % len(REGIONS)]


def plot_space(classifier: EntropicOneClassClassifier, axes: Any, X: Any = None) -> Any:
    """Draw the dissimilarity space in its plane of largest variance: tree, regions, and the decisions on X.

    Of training patterns the prototypes are drawn, which is all unless they were chosen, and of the tree the edges
    between these; a ring is the centre of a region, whose count is that of all training patterns in it.
    """
    plane = project(classifier)
    from matplotlib.collections import LineCollection

    edges = edges_between(classifier, np.arange(len(plane.prototypes)))
    axes.add_collection(LineCollection(list(plane.prototypes[edges]), colors=FAINT, linewidths=0.7))
    labels, centres = prototype_labels(classifier), plane.place(classifier.fuzzy_model_.centres)
    for index, region in enumerate(classifier.regions_):
        axes.plot(*plane.prototypes[labels == index].T, "o", color=region_colour(index), markersize=4, zorder=2)
        ring = {"markersize": 9, "markerfacecolor": "none", "markeredgecolor": region_colour(index), "zorder": 3}
        axes.plot(*centres[index], "o", **ring, label=f"region {index}: {len(region.members)}")
    if X is not None:
        points, accepted = place(classifier, plane, X), classifier.predict(X) == 1
        axes.plot(*points[accepted].T, "P", color=NORMAL, markersize=6, label="new: accepted", zorder=4)
        axes.plot(*points[~accepted].T, "x", color=OTHER, markersize=6, label="new: rejected", zorder=4)
    axes.set(title=f"Dissimilarity space ({plane.kept:.0%} of its variance){_drawn(classifier, len(edges))}")
    axes.set(xlabel="first axis", ylabel="second axis")
    if len(classifier.regions_) <= 12:
        axes.legend(fontsize=8)
    return axes


def _drawn(classifier: EntropicOneClassClassifier, n_edges: int) -> str:
    """Return a second line for a title where not all training patterns are known."""
    share = known_share(classifier)
    return f"\n{share}, {counted(n_edges, 'edge')} of the tree" if share else ""


def plot_membership(classifier: EntropicOneClassClassifier, axes: Any, X: Any = None, resolution: int = 160) -> Any:
    """Draw the membership over a plane of two features, the border of the decision, and the training patterns."""
    n_features = getattr(classifier, "n_features_in_", "none")
    if n_features != 2:
        raise ValueError(f"a membership surface needs two features; this model has {n_features}: use plot_space")
    seen = classifier.prototypes_ if X is None else np.vstack([classifier.prototypes_, np.asarray(X, float)])
    low, high = seen.min(axis=0), seen.max(axis=0)
    margin = 0.1 * np.maximum(high - low, 1e-9)
    x, y = (np.linspace(low[k] - margin[k], high[k] + margin[k], resolution) for k in (0, 1))
    grid = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    with warnings.catch_warnings():  # a grid has no names, and needs none
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        verdicts = classifier.judge(grid)
    membership = np.exp(verdicts.log_memberships).reshape(resolution, resolution)
    decision = (verdicts.margins - classifier.threshold_).reshape(resolution, resolution)
    surface = axes.contourf(x, y, membership, levels=np.linspace(0, 1, 21), cmap="Blues")
    axes.contour(x, y, decision, levels=[0], colors=BORDER, linewidths=1.2)
    axes.plot(*classifier.prototypes_.T, "o", color=INK, markersize=3, label=known_share(classifier) or "training")
    if X is not None:
        points, accepted = np.asarray(X, float), classifier.predict(X) == 1
        axes.plot(*points[accepted].T, "P", color=NORMAL, markersize=6, label="new: accepted")
        axes.plot(*points[~accepted].T, "x", color=OTHER, markersize=6, label="new: rejected")
    names = feature_names(getattr(classifier, "feature_names_in_", None), 2)
    axes.set_title("Membership; the line is the decision's border")
    axes.set_xlabel(names[0], parse_math=False)
    axes.set_ylabel(names[1], parse_math=False)
    axes.legend(fontsize=8)
    axes.figure.colorbar(surface, ax=axes, label="membership", ticks=np.linspace(0, 1, 6))
    return axes


def plot_modularity(classifier: EntropicOneClassClassifier, axes: Any) -> Any:
    """Draw the modularity of all partitions of the spanning tree, and the one that was taken."""
    curve = classifier.modularity_curve_
    counts = np.arange(1, len(curve) + 1)
    taken = len(classifier.regions_)
    kept = np.unique(np.geomspace(1, len(curve), MOST_VERTICES).round().astype(int)) - 1
    kept = np.arange(len(curve)) if len(curve) <= MOST_VERTICES else np.union1d(kept, [taken - 1])
    axes.plot(counts[kept], curve[kept], color=INK, linewidth=1.2)
    axes.plot(taken, curve[taken - 1], "o", color=REGIONS[5], label=f"taken: {taken} regions")
    axes.set(title="Modularity of all partitions", xlabel="number of clusters", ylabel="modularity Q")
    if len(curve) > 30:
        axes.set_xscale("log")
    axes.legend(fontsize=8)
    return axes


def plot_history(classifier: EntropicOneClassClassifier, axes: Any) -> Any:
    """Draw entropy, modularity and objective of the best candidate over the search's generations, if there was one."""
    history = classifier.history_
    if not was_searched(classifier):
        axes.text(0.5, 0.5, "no search was made", ha="center", va="center", transform=axes.transAxes, color=INK)
        axes.set(title="Search")
        return axes
    generations = np.arange(len(history))
    shown = [
        name for name in ("best", "mean", "entropy", "modularity", "performance") if name in (history.dtype.names or ())
    ]
    names = {"best": "objective", "mean": "objective, mean of the population"}
    for index, name in enumerate(shown):
        axes.plot(generations, history[name], color=region_colour(index), label=names.get(name, name), linewidth=1.4)
    axes.set(title="Search: the best of each generation", xlabel="generation")
    axes.legend(fontsize=8)
    return axes


def plot_weights(classifier: EntropicOneClassClassifier, axes: Any, most: int = 30) -> Any:
    """Draw the weights p* of the dissimilarity, the largest `most` of them."""
    weights = classifier.weights_
    known = getattr(classifier, "feature_names_in_", ())
    names = np.array(
        feature_names(known, 0) if len(known) == len(weights) else [f"weight {k}" for k in range(len(weights))]
    )
    order = np.argsort(-weights, kind="stable")[:most][::-1]
    axes.barh(np.arange(len(order)), weights[order], color=REGIONS[0])
    axes.set_yticks(np.arange(len(order)), names[order], fontsize=8 if len(order) <= 20 else 6, parse_math=False)
    more = f", the largest {len(order)} of {len(weights)}" if len(weights) > len(order) else ""
    axes.set(title=f"Weights of the dissimilarity{more}", xlabel="weight", xlim=(0, 1.02))
    return axes


def plot_roc(classifier: EntropicOneClassClassifier, axes: Any, X: Any, y: Any) -> Any:
    """Draw the ROC of the score on labelled patterns, and the point of the hard decision."""
    is_target = signs(y) == 1
    if is_target.all() or not is_target.any():
        raise ValueError(f"a ROC needs targets and others; y holds {'targets' if is_target.all() else 'others'} only")
    verdicts = classifier.judge(X)
    scores, accepted = verdicts.log_memberships, verdicts.margins - classifier.threshold_ >= 0
    others_accepted, targets_accepted, _ = roc_curve(is_target, scores)
    axes.plot(others_accepted, targets_accepted, color=REGIONS[0], label=f"AUC {roc_auc_score(is_target, scores):.3f}")
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.8, linestyle="--")
    axes.plot((accepted & ~is_target).sum() / (~is_target).sum(), (accepted & is_target).sum() / is_target.sum(),
              "o", color=REGIONS[5], label="the decision")  # fmt: skip
    axes.set(title="ROC", xlabel="others accepted", ylabel="targets accepted", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.legend(fontsize=8, loc="lower right")
    return axes


def plot_scores(classifier: EntropicOneClassClassifier, axes: Any, X: Any, y: Any = None) -> Any:
    """Draw a histogram of how far patterns lie, and the border of the decision."""
    ratios, yardstick = ratios_of(classifier, X), yardstick_of(classifier)
    top = max(2.0, float(np.quantile(ratios, 0.98)))
    bins = np.linspace(0, top, 41)
    groups = [("patterns", np.ones(len(ratios), bool), REGIONS[0])]
    if y is not None:
        is_target = signs(y) == 1
        groups = [("targets", is_target, NORMAL), ("others", ~is_target, OTHER)]
    for name, kept, colour in groups:
        axes.hist(np.minimum(ratios[kept], top), bins=bins, color=colour, alpha=0.65, label=f"{name}: {kept.sum()}")
    axes.axvline(reach_of(classifier.threshold_), color=BORDER, linewidth=1.2, label="border of the decision")
    axes.set(title=yardstick.title, xlabel=yardstick.axis, ylabel="patterns")
    axes.legend(fontsize=8)
    return axes


def ratios_of(classifier: EntropicOneClassClassifier, X: Any) -> Matrix:
    """Return how far each pattern lies: in extents of its nearest region, or what stands for that; 1 at the border."""
    return classifier.judge(X).ratios


def plot_region_sizes(classifier: EntropicOneClassClassifier, axes: Any, most: int = 30) -> Any:
    """Draw the number of training patterns in each region, the largest `most` of them."""
    sizes = np.array([len(region.members) for region in classifier.regions_])
    order = np.argsort(-sizes, kind="stable")[:most][::-1]
    axes.barh(np.arange(len(order)), sizes[order], color=[region_colour(int(index)) for index in order])
    axes.set_yticks(np.arange(len(order)), [f"region {index}" for index in order], fontsize=8)
    more = f", the largest {len(order)} of {len(sizes)}" if len(sizes) > len(order) else ""
    axes.set(title=f"Region sizes{more}", xlabel="training patterns")
    return axes


PLOTS = {
    "space": plot_space,
    "membership": plot_membership,
    "modularity": plot_modularity,
    "history": plot_history,
    "weights": plot_weights,
    "roc": plot_roc,
    "scores": plot_scores,
    "regions": plot_region_sizes,
}
