"""The dissimilarity space as a map: one mark per row. script.js handles mouse and keyboard."""

from collections.abc import Callable

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import counted, format_number, shortened
from eocc.plots.projection import edges_between, evenly
from eocc.report.markup import Markup, section, tag
from eocc.report.study import ScoredRows, Study

# How points of the plane (..., 2) become points of the map.
Placing = Callable[[Matrix], Matrix]
WIDTH, MARGIN = 900.0, 30.0
# The smallest and the largest height of the map, as a share of its width.
FLATTEST, STEEPEST = 0.5, 0.72
# The most marks that a reader can distinguish and a browser moves without delay.
MOST_DRAWN = 2000
# Regions have eight colours (style.css) and four shapes in turn.
N_COLOURS = 8
SHAPES = ("circle", "square", "triangle", "diamond")
MOST_IN_LEGEND = 12
MARKS = {
    "circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "square": "M-3.6-3.6h7.2v7.2h-7.2z",
    "triangle": "M0-5l4.8 8.4h-9.6z",
    "diamond": "M0-5.2l5.2 5.2l-5.2 5.2l-5.2-5.2z",
    "accepted": "M-1.7-6.4h3.4v4.7h4.7v3.4h-4.7v4.7h-3.4v-4.7h-4.7v-3.4h4.7z",
    "rejected": "M-5.7-3.3l2.4-2.4L0-2.4l3.3-3.3l2.4 2.4L2.4 0l3.3 3.3l-2.4 2.4L0 2.4l-3.3 3.3l-2.4-2.4L-2.4 0z",
    "ring": "M-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0z",
}


def drawn_rows(study: Study) -> tuple[Indices, Indices]:
    """Return the training rows and the new rows that the map shows.

    These are all if there are few; otherwise prototypes of regions, explained rows, and others spread evenly.
    """
    n_training, n_new = len(study.training), 0 if study.new is None else len(study.new)
    regions = study.regions
    always = [] if regions is None else [regions.prototypes[number] for number in regions.order[:MOST_DRAWN]]
    explained = list(study.explained)
    training = _with(always if n_new else always + explained, n_training, MOST_DRAWN - min(n_new, MOST_DRAWN // 2))
    return training, _with(explained if n_new else [], n_new, MOST_DRAWN - len(training))


def _with(always: list[int], count: int, most: int) -> Indices:
    first = np.unique(np.array(always, np.int64))
    others = np.setdiff1d(np.arange(count), first)
    return np.sort(np.concatenate([first, evenly(others, max(most - len(first), 0))]))


def _frame(points: Matrix) -> tuple[float, Placing]:
    """Return the height of the map, and how points are placed on it: one scale for both directions, y upwards."""
    low, high = points.min(axis=0), points.max(axis=0)
    wide, tall = (high - low).tolist()
    height = WIDTH * min(max(tall / wide if wide > 0 else 1.0, FLATTEST), STEEPEST)
    sides = ((WIDTH, wide), (height, tall))
    scale = min(((room - 2 * MARGIN) / side for room, side in sides if side > 0), default=1.0)
    return height, lambda at: np.asarray((at - (low + high) / 2) * [scale, -scale] + [WIDTH / 2, height / 2])


def map_section(study: Study) -> Markup:
    """Return the map with its tools, its legend, and the panel for explanations."""
    training, new = drawn_rows(study)
    edges = np.empty((0, 2), np.int64) if study.regions is None else edges_between(study.classifier, training)
    hint = tag("p", "Choose a mark on the map to see why the row was accepted or rejected.", class_="hint")
    panel = tag("aside", hint, id="panel", aria_label="Explanation", tabindex="-1", class_="screen-only")
    return section(
        "map",
        "Map of the dissimilarity space",
        tag("p", _introduction(study, len(training), len(new), len(edges))),
        tag("p", _how_to(study), class_="note screen-only"),
        tag("div", _board(study, training, new, edges), panel, class_="board"),
    )


def _introduction(study: Study, n_training_drawn: int, n_new_drawn: int, n_edges: int) -> str:
    rows = f"{study.row_name}s"
    said = (
        f"Rows that lie close together have similar dissimilarities to all {rows}. The map is the plane of largest "
        f"variance. It shows {study.plane.kept:.0%} of the variance, so rows that are close here may differ in other "
        "directions."
    )
    if study.regions is None:
        said += f" Regions are not shown for {len(study.training):,} {rows}."
    if study.prototype_share:
        said += f" The prototypes are {study.prototype_share}; the model does not keep the others."
    n_training, n_new = len(study.training), 0 if study.new is None else len(study.new)
    if n_training_drawn + n_new_drawn < n_training + n_new:
        said += f" The map shows {n_training_drawn:,} of {n_training:,} {rows}"
        said += f" and {n_new_drawn:,} of {n_new:,} new rows" if n_new else ""
        said += f": the {len(study.explained)} most unusual ones, and an even selection of the others."
        said += f" It shows {n_edges:,} edges of the spanning tree." if n_edges else ""
    return said


def _how_to(study: Study) -> str:
    n_regions = 0 if study.regions is None else len(study.regions.explained)
    prototypes = f" and the prototypes of {counted(n_regions, 'region')}" if n_regions else ""
    return (
        "Point at a mark to see what it is; click it for its explanation. With the keyboard: Tab to the map, arrow "
        "keys from mark to mark, + and - to zoom, Home to the most unusual row, Enter for the explanation, Escape to "
        "go back. To find a row, type its name or a part of it, and press Enter; press it again for the next one. "
        f"The {counted(len(study.explained), 'most unusual row')}{prototypes} have a full explanation."
    )


def _board(study: Study, drawn_training: Indices, drawn_new: Indices, edges: Indices) -> Markup:
    height, place = _frame(np.vstack([study.training.points[drawn_training], study.subject.points[drawn_new]]))
    training = [_training_mark(study, place, index) for index in drawn_training.tolist()]
    # The most unusual come last, so that they lie on top.
    order = drawn_new[np.argsort(study.subject.ratios[drawn_new], kind="stable")].tolist()
    new = [_new_mark(study, place, index) for index in order]
    symbols = [tag("path", d=path, id=f"mark-{name}") for name, path in MARKS.items()]
    at = [f"{x:.1f} {y:.1f}" for x, y in place(study.training.points)]
    inner = place(np.array([study.training.points.min(axis=0), study.training.points.max(axis=0)]))
    drawing = tag(
        "svg",
        tag("defs", *symbols),
        tag("path", d="".join(f"M{at[a]}L{at[b]}" for a, b in edges), class_="tree"),
        tag("g", *training, class_="training-marks"),
        tag("g", *new, class_="new-marks"),
        tag("circle", r=11, class_="cursor"),
        **{"id": "map-drawing", "viewBox": f"0 0 {WIDTH:g} {height:.0f}", "role": "group"},
        aria_label=f"Map of {counted(len(training), study.row_name)} and {counted(len(new), 'new row')}",
        data_training=" ".join(f"{value:.1f}" for value in inner.ravel()),
        data_first=study.key(int(study.subject.order[0])),
    )
    tip = tag("div", id="map-tip", role="tooltip", hidden=True)
    return tag("div", _tools(study), tag("div", drawing, tip, class_="canvas"), _legend(study), class_="map")


def _training_mark(study: Study, place: Placing, index: int) -> Markup:
    rows, regions = study.training, study.regions
    title, number, ring = f"Training row {rows.names[index]}", 0, ""
    if regions is not None:
        number = int(regions.labels[index])
        ring = "prototype" if regions.prototypes[number] == index else ""
        title += f", prototype of region {number}" if ring else f", in region {number}"
    shape, kinds = _look(number)
    links = {"data_key": f"t{index}", "data_name": rows.names[index]}
    return _mark(study, rows, index, place, title, shape, ring, class_=f"point training {kinds}", **links)


def _new_mark(study: Study, place: Placing, index: int) -> Markup:
    rows = study.subject
    kind, ring = "accepted" if rows.accepted[index] else "rejected", "wrong" if rows.wrong[index] else ""
    title = f"New row {rows.names[index]}: {kind}"
    if rows.is_normal is not None:
        title += f", labelled {'normal' if rows.is_normal[index] else 'outlier'}{' (wrong)' if ring else ''}"
    links = {"data_key": f"n{index}", "data_name": rows.names[index]}
    return _mark(study, rows, index, place, title, kind, ring, class_=f"point new {kind}", **links)


def _mark(
    study: Study, rows: ScoredRows, index: int, place: Placing, title: str, shape: str, ring: str, **attributes: str
) -> Markup:
    """Return a mark; its label is the title, the numbers of the row and its description."""
    x, y = place(rows.points[index]).tolist()
    numbers = f"how far out: {format_number(float(rows.ratios[index]))}"
    numbers += "" if rows.nearest is None else f", nearest region {rows.nearest[index]}"
    numbers += "" if rows.p_values is None else f", p-value {format_number(float(rows.p_values[index]))}"
    label = "\n".join([title, numbers, shortened(study.describe(rows, index), 160)]).rstrip("\n")
    attributes |= {"transform": f"translate({x:.1f} {y:.1f})", "tabindex": "-1", "role": "button", "aria_label": label}
    circle = tag("use", href="#mark-ring", class_=f"ring {ring}") if ring else ""
    return tag("g", circle, tag("use", href=f"#mark-{shape}", class_="mark"), **attributes)


def _look(number: int) -> tuple[str, str]:
    """Return the shape of a region, and the class that gives it its colour."""
    return SHAPES[number % len(SHAPES)], f"region-{number % N_COLOURS}"


def region_mark(number: int) -> Markup:
    """Return the mark of a region by itself, for a heading."""
    return _sample(*_look(number))


def _tools(study: Study) -> Markup:
    kinds = [*(["tree"] if study.regions is not None else []), "training"]
    kinds += ["accepted", "rejected"] if study.new is not None else []
    boxes = [tag("label", Markup(f'<input type="checkbox" checked data-show="{kind}">'), " ", kind) for kind in kinds]
    buttons = [
        tag("button", "+", type="button", data_zoom="in", aria_label="Zoom in"),
        tag("button", "\N{MINUS SIGN}", type="button", data_zoom="out", aria_label="Zoom out"),
        tag("button", "Training", type="button", data_zoom="training", title=f"Zoom to the {study.row_name}s"),
        tag("button", "All", type="button", data_zoom="all", title="Show all rows"),
    ]
    show = tag("fieldset", tag("legend", "Show"), *boxes)
    zoom = tag("div", *buttons, class_="zoom", role="group", aria_label="Zoom")
    field = Markup('<input type="search" id="map-find" size="9" autocomplete="off" aria-describedby="map-found">')
    find = tag("label", "Find row ", field, class_="find")
    status = tag("p", id="map-status", role="status", class_="visually-hidden")
    found = tag("output", id="map-found", for_="map-find")  # read aloud when it changes
    return tag("div", show, zoom, find, found, status, class_="tools screen-only")


def _legend(study: Study) -> Markup:
    items = []
    if study.regions is None:
        items.append(_key(*_look(0), study.row_name))
    else:
        rules, order = study.regions.rules, study.regions.order
        for number in sorted(order[:MOST_IN_LEGEND]):
            items.append(_key(*_look(number), f"region {number}: {counted(rules[number].n_members, 'row')}"))
        if len(order) > MOST_IN_LEGEND:
            items.append(tag("li", f"and {len(order) - MOST_IN_LEGEND} smaller ones"))
        items.append(_key("ring", "ring prototype", "prototype of a region"))
    if study.new is not None:
        accepted = int(study.new.accepted.sum())
        items.append(_key("accepted", "accepted", f"new, accepted: {accepted}"))
        items.append(_key("rejected", "rejected", f"new, rejected: {len(study.new) - accepted}"))
        if study.new.is_normal is not None:
            items.append(_key("ring", "ring wrong", f"wrong decision: {int(study.new.wrong.sum())}"))
    return tag("ul", *items, class_="keys")


def _key(shape: str, kinds: str, name: str) -> Markup:
    return tag("li", _sample(shape, kinds), tag("span", name))


def _sample(shape: str, kinds: str) -> Markup:
    is_ring = shape == "ring"
    inside = tag("path", d=MARKS[shape], class_=kinds if is_ring else "mark")
    drawn = tag("g", inside, class_=None if is_ring else kinds)
    return tag("svg", drawn, class_="sample", viewBox="-10 -10 20 20", width=20, height=20, aria_hidden="true")
