"""The parts of the page about the model: its regions, its numbers, and its search."""

from dataclasses import replace
from typing import Any

import numpy as np

from eocc.classifiers.base import OneClassClassifier
from eocc.explain import Rule
from eocc.explain.fitted import weight_names
from eocc.foundation.wording import counted, format_data_number, format_number
from eocc.plots.drawing import RECORDED
from eocc.plots.projection import MOST_PROTOTYPES
from eocc.report.charts import Axis, Curve, line_chart, linear, logarithmic, share_bar
from eocc.report.explained import aside
from eocc.report.map import region_mark
from eocc.report.markup import Markup, facts, joined, section, table, tag, unless_empty
from eocc.report.pictures import pictures_of
from eocc.report.study import Regions, Study

# This many regions are shown in full, the largest first; the others are in a table.
MOST_REGIONS = 8
MOST_LINES = 200
N_TYPICAL = 3
MOST_WEIGHTS = 40
# With more partitions than this, the curve of modularity has a logarithmic axis.
MANY_PARTITIONS = 30


def regions_section(study: Study) -> Markup:
    """Return the largest regions, each with its prototype, typical and unusual rows, and its rule."""
    regions = study.regions
    if regions is None:
        said = f"and they take long to compute for more than {MOST_PROTOTYPES:,} rows."
        said = f"This page does not show them: the classifier decides without them, {said}"
        return section("regions", "Regions", tag("p", f"Regions are clusters of training rows. {said}"))
    opening = "Regions are clusters of training rows. The prototype of a region is the row nearest to its centre."
    if study.prototype_share:
        opening += f" The model keeps {study.prototype_share} as prototypes; only these are shown."
    shown = [regions.rules[number] for number in regions.order]
    parts = [tag("p", opening), *(_region(study, regions, rule) for rule in shown[:MOST_REGIONS])]
    if len(shown) > MOST_REGIONS:
        parts.append(_smaller_regions(shown[MOST_REGIONS:]))
    return section("regions", "Regions", *parts)


def _region(study: Study, regions: Regions, rule: Rule) -> Markup:
    column = regions.prototypes[rule.region]
    role = "nearest prototype, in another region" if rule.n_prototypes == 0 else "prototype"
    name = f"{role}: training row {rule.prototype_name}"
    pictures = pictures_of(study.classifier, [study.classifier.prototypes_[column]], [name])
    known: list[tuple[str, object]] = [("training rows", rule.n_members)]
    known += [] if rule.n_prototypes is None else [("prototypes", rule.n_prototypes)]
    known.append(("extent", rule.extent))
    if study.new is not None:
        near = np.asarray(study.new.nearest) == rule.region
        accepted = int((near & study.new.accepted).sum())
        known.append(("new rows nearest to it", f"{int(near.sum())}, {accepted} accepted"))
    said = tag("p", tag("b", f"{name[0].upper()}{name[1:]}. "), rule.description)
    heading = tag("h3", region_mark(rule.region), f" Region {rule.region}")
    words = tag("div", facts(known), said, _members(study, regions, rule.region), _ranges(rule))
    text = tag("details", tag("summary", "As a rule"), tag("pre", str(replace(rule, ranges=()))))
    body = tag("div", unless_empty("div", pictures, class_="pictures"), words, class_="columns")
    return tag("article", heading, body, text, class_="region")


def _members(study: Study, regions: Regions, number: int) -> Markup:
    members = np.flatnonzero(regions.labels == number)
    others = members[members != regions.prototypes[number]]
    if len(members) == 0:
        return tag("p", "None of its rows is a prototype, so none can be shown.")
    if len(others) == 0:
        return tag("p", f"It has no other {'prototypes' if study.prototype_share else 'rows'}.")
    order = others[np.argsort(study.training.ratios[others], kind="stable")].tolist()
    parts = [tag("p", "Most typical:"), _list(study, order[:N_TYPICAL])]
    if len(order) > N_TYPICAL:
        parts += [tag("p", "Most unusual:"), _list(study, order[-1:])]
    return joined(parts)


def _list(study: Study, indices: list[int]) -> Markup:
    items = []
    for index in indices:
        ratio = f"how far out: {format_number(float(study.training.ratios[index]))}"
        items.append(tag("li", f"training row {study.training.names[index]}, {ratio}{aside(study, index)}"))
    return tag("ul", *items, class_="exemplars")


def _ranges(rule: Rule) -> Markup:
    if not rule.ranges:
        return Markup()
    rows = [
        [one.feature, *map(format_data_number, (one.minimum, one.median, one.maximum)), format_number(one.weight)]
        for one in rule.ranges
    ]
    caption = f"{rule.whose}: columns with the highest weights (region {rule.region})"
    return table(["column", "lowest", "median", "highest", "weight"], rows, caption, class_="numbers")


def _smaller_regions(rules: list[Rule]) -> Markup:
    rows = []
    for rule in rules[:MOST_LINES]:
        where = " (in another region)" if rule.n_prototypes == 0 else ""
        prototype = f"{rule.prototype_name}{where}: {rule.description}".removesuffix(": ")
        rows.append([rule.region, rule.n_members, rule.extent, prototype])
    more = f", the largest {MOST_LINES} of them" if len(rules) > MOST_LINES else ""
    lines = table(["region", "training rows", "extent", "prototype"], rows)
    return tag("details", tag("summary", f"{counted(len(rules), 'smaller region')}{more}"), lines)


def model_section(study: Study) -> Markup:
    """Return what is known of the model, its weights, the search, and all parameters."""
    classifier = study.classifier
    known: list[tuple[str, object]] = [("measure", type(classifier.resolved_measure_).__name__)]
    known += [("prototypes", study.prototype_share)] if study.prototype_share else []
    known += [(name, _in_words(value)) for name, value in classifier.facts().items() if value is not None]
    rows = [[name, repr(value)] for name, value in classifier.get_params(deep=False).items()]
    parameters = tag("details", tag("summary", "All parameters"), table(["parameter", "value"], rows))
    charts = [] if classifier.search_history is None else [_history(classifier.search_history)]
    charts += [] if study.regions is None else [_modularity(classifier)]
    drawn = tag("div", *charts, class_="charts")
    return section("model", "Model", facts(known), _weights(classifier), drawn, parameters)


def _in_words(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else format_number(value)


def _weights(classifier: OneClassClassifier) -> Markup:
    weightings, names = classifier.weightings, weight_names(classifier)
    if not names:
        return tag("p", "The measure has no weights.")
    rows = []
    for k in np.lexsort([-weights for weights in reversed(weightings.values())])[:MOST_WEIGHTS].tolist():
        found = [float(weights[k]) for weights in weightings.values()]
        rows.append([names[k], *(cell for weight in found for cell in (format_number(weight), share_bar(weight)))])
    more = f", the largest {MOST_WEIGHTS} of {len(names)}" if len(names) > MOST_WEIGHTS else ""
    head = ["weight of", *(cell for name in weightings for cell in (name, "from 0 to 1"))]
    return table(head, rows, f"Weights of the dissimilarity{more}", class_="numbers")


def _history(history: Any) -> Markup:
    fields = [name for name in RECORDED if name in (history.dtype.names or ())]
    values = [np.asarray(history[name], np.float64) for name in fields]
    curves = [Curve(RECORDED[name], range(len(history)), history[name], look) for look, name in enumerate(fields)]
    first, last = format_number(float(history["best"][0])), format_number(float(history["best"].max()))
    generations = counted(len(history), "generation")
    words = f"Search: {generations}; the best objective was {first} at first and {last} at the end."
    return line_chart(curves, linear("generation", 0, max(len(history) - 1, 1)), _padded("value", values), words)


def _modularity(classifier: OneClassClassifier) -> Markup:
    curve, chosen = np.asarray(classifier.modularity_curve_), len(classifier.regions_)
    if len(curve) < 2:
        return tag("p", "One training row has only one partition.")
    axis = logarithmic if len(curve) > MANY_PARTITIONS else linear
    mark = Curve("chosen", chosen, float(curve[chosen - 1]))
    words = f"Modularity Q of the partitions of the spanning tree into 1 to {len(curve)} clusters; "
    words += f"chosen: {counted(chosen, 'region')}, Q = {format_number(mark.y)}."
    x, y = axis("number of clusters", 1, len(curve)), _padded("modularity Q", curve)
    return line_chart([Curve("Q", np.arange(1, len(curve) + 1), curve)], x, y, words, mark)


def _padded(label: str, values: Any) -> Axis:
    low, high = float(np.min(values)), float(np.max(values))
    room = 0.05 * (high - low)
    return linear(label, low - room, high + room)
