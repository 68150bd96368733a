"""The parts of the page that are about the model: its regions, its figures, how it was found."""

from dataclasses import replace
from typing import Any

import numpy as np

from eocc.explain import Rule, rules
from eocc.explain.explain import names_of
from eocc.explain.regions import prototype_labels
from eocc.foundation.wording import counted, format_data_number, format_number
from eocc.measures.difference import feature_names
from eocc.measures.euclidean import FittedEuclidean
from eocc.measures.graphs import FittedGraphEdit
from eocc.measures.strings import FittedStringEdit
from eocc.measures.tables import FittedGower
from eocc.plots.projection import decides_by_regions, was_searched
from eocc.report.charts import Curve, Mark, line_chart, linear, logarithmic, share_bar
from eocc.report.explained import aside
from eocc.report.judgement import described
from eocc.report.map import SHAPES, region_class, sample_mark
from eocc.report.markup import Markup, facts, joined, section, table, tag
from eocc.report.pictures import pictures_of
from eocc.report.study import Study

# So many regions are told in full, the largest first; the others are in a table.
MOST_REGIONS = 8
MOST_ROWS = 200
N_TYPICAL = 3
MOST_WEIGHTS = 40
# From so many partitions on, the curve of modularity is told by powers of ten.
MANY_PARTITIONS = 30
# What the search records of each generation, and what it is called.
RECORDED = {
    "best": "objective of the best",
    "mean": "mean objective",
    "entropy": "entropy",
    "modularity": "modularity",
    "performance": "performance",
}


# What the views of a dissimilarity are called, in the order of `eocc.space.weightings`.
VIEWS = ("p*", "p* equalised")


def regions_section(study: Study) -> Markup:
    """Return the largest regions, each with its prototype, typical and marginal patterns, and its rule."""
    told = rules(study.classifier)
    order = study.largest_regions
    opening = "What is normal, region by region. "
    if study.known_share:
        opening += (
            f"The model keeps {study.known_share}, the prototypes; patterns shown and ranges of features are of these. "
            "The prototype nearest to its centre stands for a region; "
        )
    else:
        opening += "The prototype stands for its region; "
    if decides_by_regions(study.classifier):
        opening += (
            f"a pattern is accepted if its dissimilarities to the {study.known_as}s are close to the "
            f"{'region' if study.known_share else 'prototype'}'s."
        )
    else:
        opening += "a region tells where a pattern lies, neighbourhoods of several sizes whether it is accepted."
    parts = [tag("p", opening), *(_region(study, told[number]) for number in order[:MOST_REGIONS])]
    if len(order) > MOST_REGIONS:
        parts.append(_other_regions(study, [told[number] for number in order[MOST_REGIONS:]]))
    return section("regions", "Regions", *parts)


def _region(study: Study, rule: Rule) -> Markup:
    prototype = study.prototypes[rule.region]
    called = f"{_role(rule)}: training pattern {rule.prototype}"
    pictures = pictures_of(study.classifier.measure_, [study.classifier.prototypes_[prototype.column]], [called])
    known: list[tuple[object, object]] = [("training patterns", rule.n_members)]
    known += [] if rule.n_prototypes is None else [("prototypes", rule.n_prototypes)]
    known.append(("extent", _extent(rule)))
    if study.new is not None:
        near = study.new.nearest == rule.region
        known.append(
            ("new patterns nearest to it", f"{int(near.sum())}, {int((near & study.new.accepted).sum())} accepted")
        )
    said = tag("p", tag("b", f"{called[0].upper()}{called[1:]}. "), rule.description)
    title = joined(
        [sample_mark(SHAPES[rule.region % len(SHAPES)], region_class(rule.region)), f" Region {rule.region}"]
    )
    words = tag("div", facts(known), said, _members(study, rule.region), _ranges(rule))
    text = tag("details", tag("summary", "As a rule"), tag("pre", str(replace(rule, ranges=()))))
    body = tag("div", tag("div", *pictures, class_="pictures") if pictures else "", words, class_="beside")
    return tag("article", tag("h3", title), body, text, class_="region")


def _role(rule: Rule) -> str:
    return "nearest prototype, of another region" if rule.n_prototypes == 0 else "prototype"


def _extent(rule: Rule) -> str:
    inner, outer = map(format_number, rule.extents)
    return outer if inner == outer else f"{inner} inwards, {outer} outwards"


def _members(study: Study, number: int) -> Markup:
    """Return the members that are most normal besides the prototype, and the least; of those that the model keeps."""
    members = np.flatnonzero(prototype_labels(study.classifier) == number)
    others = members[members != study.prototypes[number].column]
    if len(members) == 0:
        return tag("p", "None of its patterns is a prototype, so none can be shown.")
    if len(others) == 0:
        return tag("p", f"It has no other {'prototypes' if study.known_share else 'patterns'}.")
    order = others[np.argsort(study.training.ratios[others], kind="stable")]
    parts = [tag("p", "Typical:"), _list(study, order[:N_TYPICAL].tolist())]
    if len(order) > N_TYPICAL:
        parts += [tag("p", "Most marginal:"), _list(study, [int(order[-1])])]
    return joined(parts)


def _list(study: Study, indices: list[int]) -> Markup:
    items = []
    for index in indices:
        words = described(study.classifier, study.training.patterns, index)
        where = study.yardstick.said(float(study.training.ratios[index]))
        said = f"training pattern {study.training.names[index]}, {where}"
        items.append(tag("li", f"{said}{aside(words)}"))
    return tag("ul", *items, class_="exemplars")


def _ranges(rule: Rule) -> Markup:
    if not rule.ranges:
        return Markup()
    rows = [
        [
            one.feature,
            format_data_number(one.minimum),
            format_data_number(one.median),
            format_data_number(one.maximum),
            format_number(one.weight),
        ]
        for one in rule.ranges
    ]
    head = ["feature", "lowest", "median", "highest", "weight"]
    return table(
        head, rows, f"{rule.whose}, in the features of the highest weight (region {rule.region})", class_="figures"
    )


def _other_regions(study: Study, others: list[Rule]) -> Markup:
    rows = [[rule.region, rule.n_members, _extent(rule), _stands_for(rule)] for rule in others[:MOST_ROWS]]
    more = f", the largest {MOST_ROWS} of them" if len(others) > MOST_ROWS else ""
    head = ["region", "training patterns", "extent", "prototype"]
    return tag("details", tag("summary", f"{counted(len(others), 'smaller region')}{more}"), table(head, rows))


def _stands_for(rule: Rule) -> str:
    where = " (of another region)" if rule.n_prototypes == 0 else ""
    return f"{rule.prototype}{where}: {rule.description}".removesuffix(": ")


def model_section(study: Study) -> Markup:
    """Return the measure, the weights found, entropy and modularity, and all parameters."""
    classifier = study.classifier
    known: list[tuple[object, object]] = [
        ("measure", measure_name(classifier)),
        ("resolution", classifier.resolution),
        ("objective", format_number(classifier.objective_)),
        ("entropy", format_number(classifier.entropy_)),
        ("modularity", format_number(classifier.modularity_)),
    ]
    if study.known_share:
        known.append(("prototypes", study.known_share))
    if hasattr(classifier, "neighbour_entropy_"):
        known.append(("Rényi entropy by nearest neighbours", format_number(classifier.neighbour_entropy_)))
        known.append(("Rényi entropy by the tree", format_number(classifier.raw_entropy_)))
    if hasattr(classifier, "performance_"):
        known.append((f"performance ({classifier.performance})", format_number(classifier.performance_)))
    parameters = table(
        ["parameter", "value"], [[key, repr(value)] for key, value in classifier.get_params(deep=False).items()]
    )
    folded = tag("details", tag("summary", "All parameters"), parameters)
    history = [_history(classifier)] if was_searched(classifier) else []
    charts = tag("div", *history, _modularity(classifier), class_="charts")
    return section("model", "Model", facts(known), tag("p", _aim(classifier)), _weights(classifier), charts, folded)


def _aim(classifier: Any) -> str:
    if was_searched(classifier):
        return (
            "The search looks for weights of the dissimilarity under which the training patterns are spread out "
            "(entropy) and fall into clear groups (modularity); both lie between 0 and 1."
        )
    return (
        "No search was made: the weights are those that were given, or all 1. Entropy tells how spread out the "
        "training patterns are under these, modularity how clear the groups are that they fall into; both lie between "
        "0 and 1."
    )


def measure_name(classifier: Any) -> str:
    """Return what the measure is called.

    >>> from eocc import EntropicOneClassClassifier
    >>> measure_name(EntropicOneClassClassifier())
    'euclidean'
    """
    return classifier.measure if isinstance(classifier.measure, str) else type(classifier.measure).__name__


def weight_names(classifier: Any) -> list[str]:
    """Return what each weight p_k belongs to, where the measure tells; else its number from 1."""
    measure, count = classifier.measure_, len(classifier.weights_)
    if isinstance(measure, FittedEuclidean):
        return list(feature_names(names_of(classifier), count))
    if isinstance(measure, FittedGower):
        return [str(name) for name in measure.names]
    if isinstance(measure, FittedStringEdit):
        return ["insertion", "deletion", "substitution"]
    if isinstance(measure, FittedGraphEdit):
        return ["substitution", "insertion", "deletion"]
    return [f"weight {k + 1}" for k in range(count)]


def _weights(classifier: Any) -> Markup:
    weights = classifier.weights_
    if len(weights) == 0:
        return tag("p", "The measure has no weights.")
    names, views = weight_names(classifier), _views(classifier)
    order = np.lexsort([-view for view in reversed(views.values())])[:MOST_WEIGHTS]
    rows = [
        [names[k], *(cell for p in views.values() for cell in (format_number(float(p[k])), share_bar(float(p[k]))))]
        for k in order.tolist()
    ]
    more = f", the largest {MOST_WEIGHTS} of {len(weights)}" if len(weights) > MOST_WEIGHTS else ""
    head = ["weight of", *(cell for name in views for cell in (name, "from 0 to 1"))]
    return table(head, rows, f"Weights p* of the dissimilarity{more}", class_="figures")


def _views(classifier: Any) -> dict[str, Any]:
    """Return the weights the decision looks through: p*, and where it does, those that make all equally telling."""
    if decides_by_regions(classifier):
        return {"p*": classifier.weights_}
    return dict(zip(VIEWS, (view.weights for view in classifier.surprise_model_.surprise.views), strict=False))


def _history(classifier: Any) -> Markup:
    history = classifier.history_
    generations = np.arange(len(history))
    fields = [name for name in RECORDED if name in (history.dtype.names or ())]
    curves = [Curve(RECORDED[name], generations, history[name], look) for look, name in enumerate(fields)]
    values = np.concatenate([np.asarray(history[name], np.float64) for name in fields])
    low, high = float(values.min()), float(values.max())
    room = 0.05 * (high - low)
    best = np.asarray(history["best"], np.float64)
    words = (
        f"Search: {counted(len(history), 'generation')}; the best objective went from "
        f"{format_number(float(best[0]))} to {format_number(float(best.max()))}."
    )
    x, y = linear("generation", 0, max(len(history) - 1, 1)), linear("value", low - room, high + room)
    return line_chart(curves, x, y, words)


def _modularity(classifier: Any) -> Markup:
    curve, taken = np.asarray(classifier.modularity_curve_), len(classifier.regions_)
    if len(curve) < 2:
        return tag("p", "One training pattern has one partition only.")
    counts = np.arange(1, len(curve) + 1)
    axis = logarithmic if len(curve) > MANY_PARTITIONS else linear
    words = (
        f"Modularity Q of the partitions of the spanning tree into 1 to {len(curve)} clusters; taken: "
        f"{counted(taken, 'region')}, Q = {format_number(float(curve[taken - 1]))}."
    )
    low, high = float(curve.min()), float(curve.max())
    room = 0.05 * (high - low)
    y = linear("modularity Q", low - room, high + room)
    mark = Mark("taken", taken, float(curve[taken - 1]))
    return line_chart([Curve("Q", counts, curve)], axis("number of clusters", 1, len(curve)), y, words, [mark])
