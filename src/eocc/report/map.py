"""The dissimilarity space as a map: one mark per row. script.js handles mouse and keyboard."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import counted, format_number, shortened
from eocc.plots.projection import edges_between, evenly
from eocc.report.markup import Markup, joined, section, tag
from eocc.report.scored import ScoredRows, described
from eocc.report.study import Study

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


@dataclass(frozen=True, eq=False)
class Drawn:
    """Which rows the map shows."""

    training: Indices
    new: Indices


def region_class(number: int) -> str:
    """Return the class that gives a region its colour.

    >>> region_class(0), region_class(9)
    ('region-0', 'region-1')
    """
    return f"region-{number % N_COLOURS}"


def drawn_rows(study: Study) -> Drawn:
    """Return all rows if there are few; otherwise prototypes of regions, explained rows, and others spread evenly."""
    n_training, n_new = len(study.training), 0 if study.new is None else len(study.new)
    regions = study.regions
    always = [] if regions is None else [regions.prototypes[number].column for number in regions.order[:MOST_DRAWN]]
    always += list(study.explained) if study.new is None else []
    training = _with(always, n_training, MOST_DRAWN - min(n_new, MOST_DRAWN // 2))
    new = _with(list(study.explained) if study.new is not None else [], n_new, MOST_DRAWN - len(training))
    return Drawn(training, new)


def _with(always: list[int], count: int, most: int) -> Indices:
    first = np.unique(np.array(always, np.int64))
    others = np.setdiff1d(np.arange(count), first)
    return np.sort(np.concatenate([first, evenly(others, max(most - len(first), 0))]).astype(np.int64))


@dataclass(frozen=True, eq=False)
class Frame:
    """How the plane becomes the map: one scale for both directions, y upwards."""

    low: Matrix
    high: Matrix
    height: float
    scale: float

    @classmethod
    def round(cls, points: Matrix) -> "Frame":
        """Return the frame that holds the points."""
        low, high = points.min(axis=0), points.max(axis=0)
        wide, tall = (high - low).tolist()
        height = WIDTH * min(max(tall / wide if wide > 0 else 1.0, FLATTEST), STEEPEST)
        rooms = [
            (WIDTH - 2 * MARGIN) / wide if wide > 0 else np.inf,
            (height - 2 * MARGIN) / tall if tall > 0 else np.inf,
        ]
        scale = min(rooms)
        return cls(low, high, height, float(scale) if np.isfinite(scale) else 1.0)

    def place(self, points: Matrix) -> Matrix:
        """Return points of the plane on the map."""
        centred = (points - (self.low + self.high) / 2) * self.scale * np.array([1.0, -1.0])
        return np.asarray(centred + np.array([WIDTH / 2, self.height / 2]))


def map_section(study: Study) -> Markup:
    """Return the map with its tools, its legend, and the panel for explanations."""
    drawn = drawn_rows(study)
    shown = [study.training.points[drawn.training]] + ([] if study.new is None else [study.new.points[drawn.new]])
    frame = Frame.round(np.concatenate(shown))
    edges = np.empty((0, 2), np.int64) if study.regions is None else edges_between(study.classifier, drawn.training)
    return section(
        "map",
        "Map of the dissimilarity space",
        tag("p", _introduction(study, drawn, len(edges))),
        tag("p", _how_to(study), class_="note screen-only"),
        tag("div", _board(study, drawn, frame, edges), _panel(), class_="board"),
    )


def _introduction(study: Study, drawn: Drawn, n_edges: int) -> str:
    rows = f"{study.row_name}s"
    said = (
        f"Rows that lie close together have similar dissimilarities to all {rows}. The map is the plane of largest "
        f"variance. It shows {study.plane.kept:.0%} of the variance, so rows that are close here may differ in other "
        "directions."
    )
    if study.regions is None:
        said += f" Regions are not shown for {len(study.training):,} {rows}."
    said += f" The prototypes are {study.prototype_share}; the model does not keep the others." * bool(
        study.prototype_share
    )
    n_training, n_new = len(study.training), 0 if study.new is None else len(study.new)
    if len(drawn.training) < n_training or len(drawn.new) < n_new:
        said += f" The map shows {len(drawn.training):,} of {n_training:,} {rows}"
        said += f" and {len(drawn.new):,} of {n_new:,} new rows" if n_new else ""
        said += f": the {len(study.explained)} most unusual ones, and an even selection of the others."
        said += f" It shows {n_edges:,} edges of the spanning tree." if n_edges else ""
    return said


def _how_to(study: Study) -> str:
    prototypes = ""
    if study.regions is not None:
        prototypes = f" and the prototypes of {counted(len(study.regions.explained), 'region')}"
    return (
        "Point at a mark to see what it is; click it for its explanation. With the keyboard: Tab to the map, arrow "
        "keys from mark to mark, + and - to zoom, Home to the most unusual row, Enter for the explanation, Escape to "
        f"go back. The {counted(len(study.explained), 'most unusual row')}{prototypes} have a full explanation."
    )


def _board(study: Study, drawn: Drawn, frame: Frame, edges: Indices) -> Markup:
    training = [_training_mark(study, frame, index) for index in drawn.training.tolist()]
    new = [] if study.new is None else [_new_mark(study, study.new, frame, index) for index in _in_order(study, drawn)]
    symbols = [tag("path", d=path, id=f"mark-{name}") for name, path in MARKS.items()]
    inner = frame.place(np.array([study.training.points.min(axis=0), study.training.points.max(axis=0)]))
    drawing = tag(
        "svg",
        tag("defs", *symbols),
        tag("path", d=_tree(study, frame, edges), class_="tree"),
        tag("g", *training, class_="training-marks"),
        tag("g", *new, class_="new-marks"),
        tag("circle", r=11, class_="cursor"),
        id="map-drawing",
        viewBox=f"0 0 {WIDTH:g} {frame.height:.0f}",
        role="group",
        aria_label=f"Map of {counted(len(training), study.row_name)} and {counted(len(new), 'new row')}",
        data_training=" ".join(f"{value:.1f}" for value in inner.ravel()),
        data_first=study.key(int(study.subject.order[0])),
    )
    tip = tag("div", id="map-tip", role="tooltip", hidden=True)
    return tag("div", _tools(study), tag("div", drawing, tip, class_="canvas"), _legend(study), class_="map")


def _in_order(study: Study, drawn: Drawn) -> list[int]:
    """Return the new rows in the order of drawing: the most unusual last, so that they lie on top."""
    assert study.new is not None
    return [int(index) for index in drawn.new[np.argsort(study.new.ratios[drawn.new], kind="stable")]]


def _tree(study: Study, frame: Frame, edges: Indices) -> str:
    places = frame.place(study.training.points)
    return "".join(f"M{places[a, 0]:.1f} {places[a, 1]:.1f}L{places[b, 0]:.1f} {places[b, 1]:.1f}" for a, b in edges)


def _training_mark(study: Study, frame: Frame, index: int) -> Markup:
    regions, name = study.regions, f"Training row {study.training.names[index]}"
    number = 0 if regions is None else int(regions.labels[index])
    is_prototype = regions is not None and regions.prototypes[number].column == index
    if regions is not None:
        name += f", prototype of region {number}" if is_prototype else f", in region {number}"
    lines = [name, _numbers(study.training, index)]
    lines.append(shortened(described(study.classifier, study.training.patterns, index), 160))
    shape = tag("use", href=f"#mark-{SHAPES[number % len(SHAPES)]}", class_="mark")
    ring = tag("use", href="#mark-ring", class_="ring prototype") if is_prototype else ""
    kinds = f"point training {region_class(number)}"
    return _mark(joined([ring, shape]), frame, study.training.points[index], lines, f"t{index}", kinds)


def _new_mark(study: Study, new: ScoredRows, frame: Frame, index: int) -> Markup:
    kind = "accepted" if new.accepted[index] else "rejected"
    wrong = bool(new.wrong[index])
    name = f"New row {new.names[index]}: {kind}"
    if new.is_normal is not None:
        name += f", labelled {'normal' if new.is_normal[index] else 'outlier'}{' (wrong)' if wrong else ''}"
    lines = [name, _numbers(new, index), shortened(described(study.classifier, new.patterns, index), 160)]
    ring = tag("use", href="#mark-ring", class_="ring wrong") if wrong else ""
    inside = joined([ring, tag("use", href=f"#mark-{kind}", class_="mark")])
    return _mark(inside, frame, new.points[index], lines, f"n{index}", f"point new {kind}", new.names[index])


def _numbers(rows: ScoredRows, index: int) -> str:
    said = f"how far out: {format_number(float(rows.ratios[index]))}"
    said += "" if rows.nearest is None else f", nearest region {rows.nearest[index]}"
    return said + ("" if rows.p_values is None else f", p-value {format_number(float(rows.p_values[index]))}")


def _mark(
    inside: Markup, frame: Frame, point: Matrix, lines: list[str], key: str, kinds: str, name: str | None = None
) -> Markup:
    x, y = frame.place(point).tolist()
    label = "\n".join(line for line in lines if line)
    return tag(
        "g", inside, class_=kinds, transform=f"translate({x:.1f} {y:.1f})", tabindex="-1", role="button",
        aria_label=label, data_key=key, data_name=name,
    )  # fmt: skip


def _tools(study: Study) -> Markup:
    """Return what to show, the zoom, and a field to find a row by its name."""
    kinds = [*(["tree"] if study.regions is not None else []), "training"]
    kinds += ["accepted", "rejected"] if study.new is not None else []
    boxes = [tag("label", Markup(f'<input type="checkbox" checked data-show="{kind}">'), " ", kind) for kind in kinds]
    buttons = [
        tag("button", "+", type="button", data_zoom="in", aria_label="Zoom in"),
        tag("button", "\N{MINUS SIGN}", type="button", data_zoom="out", aria_label="Zoom out"),
        tag("button", "Training", type="button", data_zoom="training", title=f"Zoom to the {study.row_name}s"),
        tag("button", "All", type="button", data_zoom="all", title="Show all rows"),
    ]
    tools = [
        tag("fieldset", tag("legend", "Show"), *boxes),
        tag("div", *buttons, class_="zoom", role="group", aria_label="Zoom"),
    ]
    if study.new is not None:
        field = Markup('<input type="search" id="map-find" size="9" autocomplete="off">')
        tools.append(tag("label", "Find ", field, class_="find"))
    status = tag("p", id="map-status", role="status", class_="visually-hidden")
    return tag("div", *tools, status, class_="tools screen-only")


def _legend(study: Study) -> Markup:
    items = [_key(SHAPES[0], region_class(0), study.row_name)] if study.regions is None else []
    if study.regions is not None:
        rules, order = study.regions.rules, study.regions.order
        for number in sorted(order[:MOST_IN_LEGEND]):
            name = f"region {number}: {counted(rules[number].n_members, 'row')}"
            items.append(_key(SHAPES[number % len(SHAPES)], region_class(number), name))
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


def sample_mark(shape: str, kinds: str) -> Markup:
    """Return a mark by itself, for a legend or a heading.

    >>> sample_mark("circle", "region-0")[:38]
    '<svg class="sample" viewBox="-10 -10 2'
    """
    inside = (
        tag("path", d=MARKS[shape], class_=kinds) if shape == "ring" else tag("path", d=MARKS[shape], class_="mark")
    )
    drawn = tag("g", inside, class_=None if shape == "ring" else kinds)
    return tag("svg", drawn, class_="sample", viewBox="-10 -10 20 20", width=20, height=20, aria_hidden="true")


def _key(shape: str, kinds: str, name: str) -> Markup:
    return tag("li", sample_mark(shape, kinds), tag("span", name))


def _panel() -> Markup:
    hint = tag("p", "Choose a mark on the map to see why the row was accepted or rejected.", class_="hint")
    return tag("aside", hint, id="panel", aria_label="Explanation", tabindex="-1", class_="screen-only")
