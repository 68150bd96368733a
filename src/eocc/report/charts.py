"""Charts as SVG, in the colours of the page, light or dark."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eocc.report.markup import Markup, tag

WIDTH, HEIGHT = 560.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 546.0, 14.0, 254.0
# The most vertices of a curve; there are not more pixels.
MOST_VERTICES = 600


@dataclass(frozen=True)
class Axis:
    """What an axis shows: its label, its ends, where its ticks are, and its scale."""

    label: str
    low: float
    high: float
    ticks: Sequence[float]
    scale: Callable[[float], float] = float

    def place(self, value: float, start: float, end: float) -> float:
        """Return where a value lies between `start` and `end`."""
        low, high = self.scale(self.low), self.scale(self.high)
        return start + (end - start) * (self.scale(value) - low) / (high - low)


class Curve(NamedTuple):
    """A line of a chart; `look` counts the colours and dashes of the page."""

    name: str
    x: Any
    y: Any
    look: int = 0


def linear(label: str, low: float, high: float) -> Axis:
    """Return an axis with round ticks, from `low` to `high`."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    step = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(step))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return Axis(label, low, high, [round(k * step, 12) for k in range(first, last + 1)])


def logarithmic(label: str, low: float, high: float) -> Axis:
    """Return an axis of powers of ten, for numbers from 1 on."""
    ticks = [10**k for k in range(math.ceil(math.log10(high)) + 1) if low <= 10**k <= high]
    return Axis(label, low, high, ticks, math.log10)


def line_chart(curves: Sequence[Curve], x: Axis, y: Axis, words: str, dot: Curve | None = None) -> Markup:
    """Return curves, and a curve of a single point as a dot, on a pair of axes; `words` are the caption."""
    parts = [*_frame(x, y), *(tag("path", d=_path(one, x, y), class_=f"curve look-{one.look}") for one in curves)]
    keys = [_key(f"curve look-{curve.look}", curve.name) for curve in curves]
    if dot is not None:
        parts.append(tag("circle", cx=_across(x, dot.x), cy=_down(y, dot.y), r=5, class_="dot"))
        keys.append(_key("dot", dot.name))
    return _chart(parts, keys, words)


def histogram(groups: Sequence[tuple[str, Any, int]], edges: Any, x_label: str, words: str, limit: float) -> Markup:
    """Return counts of each group's values between the edges, side by side, and a line at the limit.

    A group is (name, values, look); values beyond the last edge are counted in the last bin.
    """
    counts = [np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0] for _, values, _ in groups]
    x, y = linear(x_label, float(edges[0]), float(edges[-1])), linear("rows", 0, max(1, np.max(counts)) * 1.05)
    wide = (edges[1] - edges[0]) / len(groups)
    bars = [
        _bar(x, y, low + wide * place, low + wide * (place + 1), number, look)
        for place, (count, (_, _, look)) in enumerate(zip(counts, groups, strict=True))
        for low, number in zip(edges[:-1], count, strict=True)
        if number
    ]
    line = tag("path", d=f"M{_across(x, limit)} {TOP}V{BOTTOM}", class_="limit")
    keys = [_key(f"bar look-{look}", f"{name}: {len(values)}") for name, values, look in groups]
    return _chart([*_frame(x, y), *bars, line], [*keys, _key("limit", "limit")], words)


def _bar(x: Axis, y: Axis, left: float, right: float, height: float, look: int) -> Markup:
    start, end, top = x.place(left, LEFT, RIGHT), x.place(right, LEFT, RIGHT), _down(y, height)
    # A gap of half a pixel separates neighbours.
    wide, tall = f"{max(end - start - 0.5, 0.5):.1f}", f"{BOTTOM - float(top):.1f}"
    return tag("rect", x=f"{start:.1f}", y=top, width=wide, height=tall, class_=f"bar look-{look}")


def share_bar(share: float) -> Markup:
    """Return a small bar as long as a share in [0, 1], for a cell of a table next to the number."""
    bar = tag("rect", x=0, y=0, width=f"{100 * min(max(share, 0.0), 1.0):.1f}", height=10, class_="bar look-0")
    trough = tag("rect", x=0, y=0, width=100, height=10, class_="trough")
    return tag("svg", trough, bar, class_="share", viewBox="0 0 100 10", width=100, height=10, aria_hidden="true")


def _path(curve: Curve, x: Axis, y: Axis) -> str:
    """Return the curve; of very many vertices, some that are spread evenly along the axis, and the last."""
    kept = list(range(len(curve.x)))
    if len(kept) > MOST_VERTICES:
        places = [round(x.place(float(value), 0.0, MOST_VERTICES - 1.0)) for value in curve.x]
        kept = [k for k in kept if k == 0 or k == kept[-1] or places[k] != places[k - 1]]
    return "M" + "L".join(f"{_across(x, curve.x[k])} {_down(y, curve.y[k])}" for k in kept)


def _across(x: Axis, value: float) -> str:
    return f"{x.place(value, LEFT, RIGHT):.1f}"


def _down(y: Axis, value: float) -> str:
    return f"{y.place(value, BOTTOM, TOP):.1f}"


def _frame(x: Axis, y: Axis) -> list[Markup]:
    middle, parts = (TOP + BOTTOM) / 2, []
    for tick in y.ticks:
        level = _down(y, tick)
        parts.append(tag("path", d=f"M{LEFT} {level}H{RIGHT}", class_="grid"))
        parts.append(tag("text", f"{tick:g}", x=LEFT - 7, y=level, dy="0.35em", text_anchor="end"))
    for tick in x.ticks:
        parts.append(tag("path", d=f"M{_across(x, tick)} {BOTTOM}v5", class_="axis"))
        parts.append(tag("text", f"{tick:g}", x=_across(x, tick), y=BOTTOM + 18, text_anchor="middle"))
    label = {"text_anchor": "middle", "class_": "label"}
    parts.append(tag("path", d=f"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}", class_="axis"))
    parts.append(tag("text", x.label, x=(LEFT + RIGHT) / 2, y=HEIGHT - 8, **label))
    parts.append(tag("text", y.label, x=14, y=middle, transform=f"rotate(-90 14 {middle})", **label))
    return parts


def _key(look: str, name: str) -> Markup:
    samples = {
        "curve": tag("path", d="M0 6H26", class_=look),
        "limit": tag("path", d="M13 0V12", class_=look),
        "dot": tag("circle", cx=13, cy=6, r=5, class_=look),
        "bar": tag("rect", x=6, y=0, width=14, height=12, class_=look),
    }
    box = {"viewBox": "0 0 26 12", "width": 26, "height": 12}
    return tag("li", tag("svg", samples[look.split()[0]], **box, aria_hidden="true", class_="chart"), tag("span", name))


def _chart(parts: Sequence[Markup], keys: Sequence[Markup], words: str) -> Markup:
    drawn = tag("svg", *parts, class_="chart", viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", role="img", aria_label=words)
    return tag("figure", drawn, tag("ul", *keys, class_="keys"), tag("figcaption", words))
