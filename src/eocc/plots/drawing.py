"""Pictures of a fitted classifier. Each function draws on a matplotlib axis, a new one by default, and returns it."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from eocc.base.registry import choose, needed
from eocc.base.types import Flags, Matrix
from eocc.base.wording import counted, format_value, shortened
from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.labels import signs
from eocc.entropic.partition import normalized_modularity
from eocc.explain.explanation import prototype_labels, reach_of
from eocc.explain.facts import number_columns
from eocc.plots.projection import LogFrame, edges_between, evenly, points_of, project, shows_regions

INK, FAINT, BORDER = "#1f2933", "#7b8794", "#08306b"
NORMAL, OTHER = "#1f5fa8", "#c4580c"
# Colours of the regions; people with the common colour blindnesses can distinguish them (Okabe and Ito).
REGIONS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#5d5d5d")
CIRCLE = np.array([[np.cos(turn), np.sin(turn)] for turn in np.linspace(0, 2 * np.pi, 100)])
# The most prototypes that are drawn.
MOST_POINTS = 2000
# Where legends are; "best" is said because matplotlib warns of a default that is slow.
INSIDE: dict[str, Any] = {"loc": "best"}
# The most characters of a name or a reason in a picture.
LONGEST_NAME, LONGEST_REASON = 24, 90
# What the search records of each generation.
RECORDED = {"best": "objective of the best", "mean": "mean objective"}
RECORDED |= {name: name for name in ("entropy", "modularity", "performance")}


def plot(classifier: OneClassClassifier, X: Any = None, axes: Any = None) -> Any:
    """Draw the most useful picture: which rows of X are unusual and why; without X, the regions."""
    return plot_space(classifier, axes=axes) if X is None else plot_rows(classifier, X, axes=axes)


def new_figure(width: float = 6.4, height: float = 4.6, maker: str = "matplotlib.figure.Figure") -> Any:
    """Return a figure without a window, or what another maker of figures returns."""
    module, _, name = maker.rpartition(".")
    needed("matplotlib", "pictures need matplotlib: pip install matplotlib")
    return getattr(import_module(module), name)(figsize=(width, height), layout="constrained")


def _axes(axes: Any, width: float = 6.4, height: float = 4.6) -> Any:
    """Return the axes, or those of a new figure, which a notebook shows."""
    return new_figure(width, height, "matplotlib.pyplot.subplots")[1] if axes is None else axes


def _colour(index: int) -> str:
    return REGIONS[index % len(REGIONS)]


def _finish(axes: Any, legend: Mapping[str, Any] = INSIDE, **properties: Any) -> Any:
    axes.set(**properties)
    axes.spines[["top", "right"]].set_visible(False)
    if legend and axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8, frameon=False, **legend)
    return axes


def plot_rows(classifier: OneClassClassifier, X: Any, names: Any = None, *, axes: Any = None, most: int = 15) -> Any:
    """Draw which rows are the most unusual: how far out they lie, the decision, and the main reason."""
    patterns = classifier._read(X)
    scores = classifier._score_read(patterns)
    order = np.argsort(-scores.ratios, kind="stable")[:most][::-1]
    called = list(range(len(patterns)) if names is None else names)
    if len(called) != len(patterns):
        raise ValueError(f"X has {len(patterns)} rows and names {len(called)}; pass one name per row")
    accepted, ratios = scores.margins[order] >= classifier.threshold_, scores.ratios[order]
    axes, places = _axes(axes, 8.4, 1.2 + 0.32 * len(order)), np.arange(len(order))
    limit = reach_of(classifier.threshold_)
    axes.axvline(limit, color=INK, linewidth=1, linestyle="--", label="limit")
    for kept, colour, label in ((~accepted, OTHER, "rejected"), (accepted, NORMAL, "accepted")):
        if kept.any():
            axes.barh(places[kept], ratios[kept], height=0.36, color=colour, label=label)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # the line of the limit may run behind a text
    for one, place in zip(classifier._explain_patterns(patterns[order]), places, strict=True):
        text = {"text": shortened(one.main_reason, LONGEST_REASON), "fontsize": 7, "color": INK, "parse_math": False}
        axes.annotate(xy=(0, place), xytext=(3, 6), textcoords="offset points", bbox=box, **text)
    words = [shortened(str(called[k]), LONGEST_NAME) for k in order]
    axes.set_yticks(places, words, fontsize=8, parse_math=False)
    n_rejected = int((scores.margins < classifier.threshold_).sum())
    title = f"{n_rejected:,} of {counted(len(patterns), 'row')} rejected; the most unusual"
    labels: dict[str, Any] = {"title": title, "xlabel": f"how far out: {classifier._how_far_out_name}"}
    return _finish(axes, ylim=(-0.6, len(order) - 0.1), **labels)


def plot_calibration(classifier: OneClassClassifier, X: Any, y: Any = None, *, axes: Any = None) -> Any:
    """Draw how well the model is calibrated: the share of rows with a p-value of at most a, for every a.

    The curve of normal rows should follow the diagonal.
    """
    p_values, calibration = classifier.p_values(X), classifier.calibration_
    assert calibration is not None
    return draw_p_values(_axes(axes), p_values, None if y is None else signs(y) == 1, calibration.rate)


def draw_p_values(axes: Any, p_values: Matrix, is_normal: Flags | None, rate: float) -> Any:
    """Draw `plot_calibration`, given the p-values."""
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle="--", label="expected for normal rows")
    levels = np.linspace(0, 1, 101)
    for name, kept, colour in _groups(len(p_values), is_normal):
        shares = (np.sort(p_values[kept])[None] <= levels[:, None]).mean(axis=1) if kept.any() else levels
        style = "--" if colour == OTHER else "-"
        axes.plot(levels, shares, style, color=colour, linewidth=1.6, label=name if kept.any() else None)
    axes.axvline(rate, color=INK, linewidth=1, linestyle=":", label=f"rejected: p-value up to {rate:g}")
    labels: dict[str, Any] = {"xlabel": "p-value a", "ylabel": "share of rows with p-value up to a"}
    return _finish(axes, title="Calibration", xlim=(0, 1), ylim=(0, 1.02), **labels)


def _groups(n_rows: int, is_normal: Flags | None) -> list[tuple[str, Flags, str]]:
    """Return the kinds of rows that charts distinguish: name, which rows, colour."""
    if is_normal is None:
        return [("rows", np.ones(n_rows, bool), REGIONS[0])]
    return [("normal", is_normal, NORMAL), ("outliers", ~is_normal, OTHER)]


def plot_space(classifier: OneClassClassifier, X: Any = None, *, axes: Any = None) -> Any:
    """Draw where the regions are: the plane of largest variance of the dissimilarity space, and the decisions on X.

    The dots are the prototypes, a ring is the centre of a region; its count includes all training rows. Inside the
    dotted circle the map is true to scale; outside, distances from the middle are logarithmic, so that a far row does
    not squeeze the others. With more than 2,000 prototypes, regions are drawn only if they are there already.
    """
    axes, plane = _axes(axes), project(classifier)
    points, share = points_of(classifier, plane, classifier.prototypes_), classifier._prototypes_in_words
    frame = LogFrame.around(points)
    title = [f"({plane.kept:.0%} of its variance)", *([share] if share else [])]
    if shows_regions(classifier):
        _draw_regions(classifier, axes, frame, points, plane.place(classifier._region_centres[:, plane.columns]))
    else:
        kept = frame.place(points[evenly(np.arange(len(points)), MOST_POINTS)])
        axes.plot(*kept.T, "o", color=FAINT, markersize=3, zorder=2)
        title.append(f"regions are not drawn for {counted(len(points), 'row')}")
    if X is not None:
        new = points_of(classifier, plane, classifier._read(X))
        _draw_decisions(axes, frame.place(new), classifier.predict(X) == 1)
    axes.plot(*CIRCLE.T, ":", color=FAINT, linewidth=1, label="outside: logarithmic", zorder=1)
    axes.set(xticks=[], yticks=[])
    axes.set_aspect("equal", adjustable="datalim")
    labels = {"xlabel": "first axis", "ylabel": "second axis"}
    legend = INSIDE if len(axes.get_legend_handles_labels()[0]) <= 12 else {}  # more would hide the map
    return _finish(axes, legend, title=f"{classifier._space_name} " + "\n".join(title), **labels)


def _draw_regions(classifier: OneClassClassifier, axes: Any, frame: LogFrame, places: Matrix, middles: Matrix) -> None:
    """Draw the tree, the prototypes and the centres; a circle is how far a region reaches, if that is known."""
    from matplotlib.collections import LineCollection

    points, centres, reaches = frame.place(places), frame.place(middles), classifier._region_reaches
    edges = edges_between(classifier, np.arange(len(points)))
    axes.add_collection(LineCollection(list(points[edges]), colors=FAINT, linewidths=0.7))
    labels = prototype_labels(classifier)
    for index, region in enumerate(classifier.regions_):
        axes.plot(*points[labels == index].T, "o", color=_colour(index), markersize=4, zorder=2)
        ring = {"markersize": 9, "markerfacecolor": "none", "markeredgecolor": _colour(index), "zorder": 3}
        axes.plot(*centres[index], "o", **ring, label=f"region {index}: {counted(region.n_members, 'row')}")
        if reaches is not None:
            axes.plot(*frame.place(middles[index] + reaches[index] * CIRCLE).T, color=_colour(index), linewidth=0.9)


def _draw_decisions(axes: Any, points: Matrix, accepted: Flags) -> None:
    axes.plot(*points[accepted].T, "P", color=NORMAL, markersize=6, label="new: accepted", zorder=4)
    axes.plot(*points[~accepted].T, "x", color=OTHER, markersize=6, label="new: rejected", zorder=4)


def plot_membership(classifier: OneClassClassifier, X: Any = None, *, axes: Any = None, resolution: int = 160) -> Any:
    """Draw the membership over two columns, the limit of the decision, and the training rows; no rows with gaps."""
    names = number_columns(classifier)
    if len(names) != 2:
        has = f"has {len(names)} columns" if names else "compares other data"
        raise ValueError(f"a membership surface needs two columns of numbers; this model {has}: draw 'space' instead")
    axes, new = _axes(axes), np.empty((0, 2)) if X is None else classifier._read(X)
    new = new[~np.isnan(new).any(axis=1)]
    seen = np.vstack([classifier._reference_rows, new])
    margin = 0.1 * np.maximum(np.ptp(seen, axis=0), 1e-9)
    x, y = np.linspace(seen.min(axis=0) - margin, seen.max(axis=0) + margin, resolution).T
    grid = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    scores = classifier._score_read(grid)
    membership = np.exp(scores.log_memberships).reshape(resolution, resolution)
    decision = (scores.margins - classifier.threshold_).reshape(resolution, resolution)
    surface = axes.contourf(x, y, membership, levels=np.linspace(0, 1, 21), cmap="Blues")
    axes.contour(x, y, decision, levels=[0], colors=BORDER, linewidths=1.2)
    label = classifier._prototypes_in_words or "training"
    axes.plot(*classifier.prototypes_.T, "o", color=INK, markersize=3, label=label)
    if len(new):
        _draw_decisions(axes, new, classifier._score_read(new).margins >= classifier.threshold_)
    axes.set_xlabel(names[0], parse_math=False)
    axes.set_ylabel(names[1], parse_math=False)
    axes.figure.colorbar(surface, ax=axes, label="membership", ticks=np.linspace(0, 1, 6))
    return _finish(axes, title="Membership; rows inside the line are accepted")


def plot_modularity(classifier: OneClassClassifier, *, axes: Any = None, quantity: str = "M") -> Any:
    """Draw the modularity of all partitions of the spanning tree, and mark the one that was chosen.

    `quantity` is "M", the normalised modularity, as in the paper's figure, or "Q".
    """
    choose("quantity", dict.fromkeys("MQ"), quantity)
    chosen, axes = len(classifier.regions_), _axes(axes)
    q = classifier.modularity_curve_
    curve = np.asarray(normalized_modularity(q) if quantity == "M" else q)
    axes.plot(np.arange(1, len(curve) + 1), curve, color=INK, linewidth=1.2)
    axes.plot(chosen, curve[chosen - 1], "o", color=REGIONS[5], label=f"chosen: {counted(chosen, 'region')}")
    label = "normalised modularity M" if quantity == "M" else "modularity Q"
    labels: dict[str, Any] = {"xlabel": "number of clusters", "ylabel": label}
    scale = "log" if len(curve) > 30 else "linear"
    return _finish(axes, title="Modularity of all partitions", xscale=scale, **labels)


def plot_history(classifier: OneClassClassifier, *, axes: Any = None) -> Any:
    """Draw how the search went: the best of each generation."""
    history = classifier._search_history
    if history is None:
        raise ValueError("this model was fitted without a search, so there is no history to draw")
    axes = _axes(axes)
    for index, name in enumerate(name for name in RECORDED if name in (history.dtype.names or ())):
        axes.plot(history[name], color=_colour(index), label=RECORDED[name], linewidth=1.4)
    axes.margins(y=0.3)  # room for the legend
    return _finish(axes, title="Search: the best of each generation", xlabel="generation")


def plot_roc(classifier: OneClassClassifier, X: Any, y: Any, *, axes: Any = None) -> Any:
    """Draw how well scores separate labelled rows: the ROC curve, and the point of the decision."""
    is_normal = signs(y) == 1
    if is_normal.all() or not is_normal.any():
        kind = "normal rows" if is_normal.all() else "outliers"
        raise ValueError(f"a ROC curve needs normal rows and outliers; y has {kind} only")
    found = classifier._score_all(X)
    return draw_roc(_axes(axes), found.log_memberships, found.margins >= classifier.threshold_, is_normal)


def draw_roc(axes: Any, scores: Matrix, accepted: Flags, is_normal: Flags) -> Any:
    """Draw `plot_roc`, given scores and decisions."""
    misses, detections, _ = roc_curve(is_normal, scores)
    axes.plot(misses, detections, color=REGIONS[0], label=f"AUC {roc_auc_score(is_normal, scores):.3f}")
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.8, linestyle="--")
    axes.plot(accepted[~is_normal].mean(), accepted[is_normal].mean(), "o", color=REGIONS[5], label="the decision")
    labels: dict[str, Any] = {"xlabel": "share of outliers accepted", "ylabel": "share of normal rows accepted"}
    return _finish(axes, title="ROC", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), **labels)


def plot_scores(classifier: OneClassClassifier, X: Any, y: Any = None, *, axes: Any = None) -> Any:
    """Draw a histogram of how far out rows lie, and the limit of the decision."""
    ratios, is_normal = classifier._score_all(X).ratios, None if y is None else signs(y) == 1
    return draw_ratios(_axes(axes), ratios, is_normal, classifier)


def draw_ratios(axes: Any, ratios: Matrix, is_normal: Flags | None, classifier: OneClassClassifier) -> Any:
    """Draw `plot_scores`, given how far out rows lie; the last bin counts all that lie farther out."""
    limit = reach_of(classifier.threshold_)
    top = max(2.0, 1.2 * limit, float(np.quantile(ratios, 0.98)))
    groups = _groups(len(ratios), is_normal)
    values = [np.minimum(ratios[kept], top) for _, kept, _ in groups]
    labels, colours = [f"{name}: {int(kept.sum()):,}" for name, kept, _ in groups], [group[2] for group in groups]
    axes.hist(values, np.linspace(0, top, 31), color=colours, label=labels, histtype="barstacked")
    axes.axvline(limit, color=INK, linewidth=1.2, linestyle="--", label="limit: rows to the right are rejected")
    names: dict[str, Any] = {"xlabel": classifier._how_far_out_name, "ylabel": "rows"}
    return _finish(axes, title="How far out rows lie", xlim=(0, top), **names)


def plot_series(windows: Any, decisions: Any, group: Any = None, axes: Any = None) -> Any:
    """Draw a series, in the order of time, with the rows marked that no accepted window holds.

    Every column has an axis of its own, one below the other.

    >>> from eocc import windows
    >>> plot_series(windows([0.0, 1.0, 0.0, 9.0, 0.0, 1.0], 2), [1, 1, -1, -1, 1]).get_title()
    '2 of 5 windows rejected'
    """
    chosen = np.array([one == group for one in windows.groups]) if group is not None else np.ones(len(windows), bool)
    places = windows.positions[:, None] + np.arange(windows.places.shape[1])
    first, last = places[chosen].min(), places[chosen].max()
    # A row is marked if no accepted window holds it. Where no window is, the line is broken.
    given, rows = np.where(np.asarray(decisions) < 0, -1.0, 1.0), np.full(last - first + 1, -1)
    rows[places[chosen] - first] = windows.places[chosen]
    is_marked = (windows.per_row(-given)[rows] > 0) & (rows >= 0)
    starts = np.flatnonzero(np.diff(np.concatenate([[False], is_marked, [False]]).astype(int)))
    series = np.where(rows[:, None] < 0, np.nan, windows.series[rows])
    axes = _axes(axes, 8.4, 2.0 + len(windows.columns))
    panels = _panels(axes, windows.columns)
    for k, panel in enumerate(panels):
        panel.plot(np.arange(first, last + 1), series[:, k], color=_colour(k), linewidth=0.9)
        for number, (start, stop) in enumerate((first + starts).reshape(-1, 2).tolist()):
            label = "rejected" if number == 0 else None
            panel.axvspan(start - 0.5, stop - 0.5, color=OTHER, alpha=0.25, linewidth=0, label=label)
        _finish(panel, INSIDE if k == 0 else {}, **({"xticks": []} if k < len(panels) - 1 else {}))
    panels[-1].set_xlabel("rows in the order of time")
    if windows.times != tuple(range(len(windows.times))):
        known = np.flatnonzero(rows >= 0)
        shown = known[np.linspace(0, len(known) - 1, 3).astype(int)]
        panels[-1].set_xticks(first + shown, [format_value(windows.times[rows[place]]) for place in shown])
        panels[-1].set_xlabel("time")
    axes.set_title(f"{int((given[chosen] < 0).sum()):,} of {counted(int(chosen.sum()), 'window')} rejected")
    return axes


def _panels(axes: Any, names: Any) -> list[Any]:
    """Return an axis per column inside the axis, the first one on top; a single column has the axis itself."""
    if len(names) == 1:
        return [axes]
    axes.set_axis_off()
    panels = [axes.inset_axes((0, 1 - (k + 0.9) / len(names), 1, 0.9 / len(names))) for k in range(len(names))]
    for panel, name in zip(panels, names, strict=True):
        panel.tick_params(labelsize=7)
        panel.ticklabel_format(axis="y", useOffset=False)
        panel.set_ylabel(shortened(name, LONGEST_NAME), rotation=0, ha="right", fontsize=8, parse_math=False)
    return panels
