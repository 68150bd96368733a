"""The parts of the page that are about patterns: the summary, the decisions, the strangest, the data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score, roc_curve

from eocc.explain.explain import names_of
from eocc.explain.regions import reach_of
from eocc.foundation.wording import counted, format_data_number, format_number
from eocc.measures.difference import feature_names
from eocc.measures.euclidean import FittedEuclidean
from eocc.measures.tables import FittedGower
from eocc.plots.projection import Yardstick, decides_by_regions, rate_of
from eocc.report.charts import Curve, Mark, histogram, line_chart, linear
from eocc.report.explained import article, chief_difference
from eocc.report.judgement import MANY_KNOWN, Judgement, described
from eocc.report.markup import Markup, joined, section, table, tag
from eocc.report.study import Study

# So many of the strangest patterns are explained on the page itself, and listed in its table.
N_STRANGEST = 10
N_LISTED = 50
MOST_FEATURES = 60
N_BINS = 30
LOOK_OF_TARGETS, LOOK_OF_OTHERS = 2, 3
HOW_SURPRISE_DECIDES = (
    "It judges a pattern by neighbourhoods of several sizes: how far it lies from the nearest {}s, beside how far "
    "these lie from one another. At 1, the border, ends what is normal."
)


def percentage(part: float, whole: float) -> str:
    """Return a share in percent, with a decimal where it is small.

    >>> percentage(1, 3), percentage(1, 200), percentage(0, 5)
    ('33%', '0.5%', '0%')
    """
    share = 100 * part / whole if whole else 0.0
    return f"{share:.1f}%" if 0 < share < 2 or 98 < share < 100 else f"{share:.0f}%"


def area_under_curve(judgement: Judgement) -> float | None:
    """Return how often a target scores above another pattern; None without labels of both kinds."""
    labels = judgement.is_target
    if labels is None or len(set(labels.tolist())) < 2:
        return None
    return float(roc_auc_score(labels, judgement.scores))


def summary_section(study: Study) -> Markup:
    """Return the main figures, and the same in plain words."""
    cards = [tag("div", tag("dt", name), tag("dd", value)) for name, value in _figures(study)]
    words = [tag("li", sentence) for sentence in summary_in_words(study)]
    return section("summary", "Summary", tag("dl", *cards, class_="cards"), tag("ul", *words))


def _figures(study: Study) -> list[tuple[str, object]]:
    shown: list[tuple[str, object]] = [
        ("training patterns", f"{study.n_training:,}"),
        *([("prototypes", len(study.training))] if study.known_share else []),
        ("regions", len(study.classifier.regions_)),
    ]
    new = study.new
    if new is not None:
        accepted = int(new.accepted.sum())
        shown += [("new patterns", len(new)), ("accepted", accepted), ("rejected", len(new) - accepted)]
        if new.is_target is not None and new.is_target.any():
            share = percentage(int((~new.accepted & new.is_target).sum()), int(new.is_target.sum()))
            shown.append(("false alarms", share))
        area = area_under_curve(new)
        if area is not None:
            shown.append(("AUC", f"{area:.3f}"))
    return shown


def summary_in_words(study: Study) -> list[str]:
    """Return what a reader in a hurry wants to know, sentence by sentence."""
    regions = study.classifier.regions_
    largest = len(regions[study.largest_regions[0]].members)
    n_training = study.n_training
    by_regions = decides_by_regions(study.classifier)
    said = [
        f"The model learned what is normal from {counted(n_training, 'training pattern')}, "
        f"{'and describes it by' if by_regions else 'which falls into' if n_training == 1 else 'which fall into'} "
        f"{counted(len(regions), 'decision region' if by_regions else 'region')}; the largest holds {largest:,} of "
        f"them ({percentage(largest, n_training)}).",
    ]
    if study.known_share:
        said.append(f"It keeps {study.known_share}, the prototypes, and compares all patterns with these alone.")
    said += [] if by_regions else [HOW_SURPRISE_DECIDES.format(study.known_as)]
    rate = rate_of(study.classifier)
    if rate is not None:
        most = "at most about" if by_regions else "about"
        said.append(f"It is calibrated to reject {most} {100 * rate:.3g}% of new targets (the false alarm rate).")
    if study.new is None:
        return [*said, f"No new patterns were given; the page shows how the model sees its own {study.known_as}s."]
    new, accepted = study.new, int(study.new.accepted.sum())
    said.append(
        f"Of {counted(len(new), 'new pattern')} it accepts {accepted} ({percentage(accepted, len(new))}) as normal and "
        f"rejects {len(new) - accepted} ({percentage(len(new) - accepted, len(new))})."
    )
    said += _labels_in_words(new)
    n_known = int(new.are_known.sum())
    if n_known > MANY_KNOWN * len(new):
        said.append(
            f"{n_known} of them do not differ from a {study.known_as}: if the model was trained on them, all these "
            "figures flatter it; hold patterns out to know how it does on new ones."
        )
    strangest = int(new.strangest[0])
    explanation = study.explained[strangest]
    said.append(f"The strangest is {study.called(strangest)}, {explanation.decision}.")
    return said


def _labels_in_words(new: Judgement) -> list[str]:
    if new.is_target is None:
        return []
    said = []
    n_targets, n_others = int(new.is_target.sum()), int((~new.is_target).sum())
    alarms, misses = int((~new.accepted & new.is_target).sum()), int((new.accepted & ~new.is_target).sum())
    if n_targets:
        said.append(
            f"By their labels, {alarms} of {n_targets} targets ({percentage(alarms, n_targets)}) are wrongly rejected: "
            "false alarms."
        )
    if n_others:
        caught = n_others - misses
        said.append(
            f"Of {n_others} patterns that are not targets, {caught} ({percentage(caught, n_others)}) are rejected and "
            f"{misses} slip through."
        )
    area = area_under_curve(new)
    if area is not None:
        said.append(f"AUC {area:.3f}: so often does a random target score as more normal than a random other pattern.")
    return said


def strangest_section(study: Study) -> Markup:
    """Return the strangest patterns explained, and a longer table of them."""
    told, order = study.told, study.told.strangest.tolist()
    kind = "t" if study.new is None else "n"
    articles = [
        article(study, told, index, study.explained[index], f"{kind}{index}", study.called(index))
        for index in order[:N_STRANGEST]
    ]
    listed = order[:N_LISTED]
    what = f"{study.known_as}s" if study.new is None else "new patterns"
    rest = tag(
        "details",
        tag("summary", f"Table of the {counted(len(listed), 'strangest pattern')}"),
        strangest_table(study, listed, kind),
        open=len(listed) <= N_STRANGEST or None,
    )
    opening = f"The {what} in order of {study.yardstick.order}, the farthest first"
    opening += f"; {int((~told.accepted).sum())} of {len(told)} are rejected. {border_in_words(study)}"
    if study.new is None and not decides_by_regions(study.classifier):
        opening += f" A {study.known_as} has itself as a neighbour here, so it looks more normal than a new one would."
    return section(
        "strangest", study.yardstick.farthest, tag("p", opening), rest, tag("div", *articles, class_="articles")
    )


def border_in_words(study: Study) -> str:
    """Return up to where a pattern is accepted, and why that is not 1 where calibration moved the decision."""
    rate, reach = rate_of(study.classifier), reach_of(study.classifier.threshold_)
    if not decides_by_regions(study.classifier):
        return "A pattern is accepted up to 1, the border of what is normal."
    if rate is None:
        return "A pattern is accepted up to 1 extent, the border of the region."
    return (
        f"A pattern is accepted up to {reach:.4g} extents: the border of a region is at 1, and calibration moved the "
        f"decision so that at most about {100 * rate:.3g}% of new targets are rejected."
    )


def strangest_table(study: Study, listed: Sequence[int], kind: str) -> Markup:
    """Return a row per pattern: its name, which opens its explanation beside the map, and its figures."""
    told = study.told
    head = ["pattern", "decision", "nearest region", study.yardstick.axis, "membership"]
    head += ["p-value"] if told.p_values is not None else []
    head += ["label"] if told.is_target is not None else []
    rows = []
    for index in listed:
        button = tag("button", told.names[index], type="button", class_="link", data_open=f"{kind}{index}")
        decision = "accepted" if told.accepted[index] else "rejected"
        row: list[object] = [button, tag("span", decision, class_=decision), told.nearest[index]]
        row += [format_number(float(told.ratios[index])), format_number(float(np.exp(told.scores[index])))]
        row += [format_number(float(told.p_values[index]))] if told.p_values is not None else []
        if told.is_target is not None:
            row.append(("target" if told.is_target[index] else "other") + (" (wrong)" if told.wrong[index] else ""))
        rows.append([*row, chief_difference(study.explained[index])])
    near = "nearest prototype" if study.known_share else "nearest neighbour"
    apart = "prototype" if decides_by_regions(study.classifier) else near
    return table([*head, f"chief difference from the {apart}"], rows, class_="figures")


def decisions_section(study: Study) -> Markup:
    """Return the histogram of distances, the table of decisions, the ROC and the calibration."""
    told, reach = study.told, reach_of(study.classifier.threshold_)
    parts: list[Markup] = [_histogram(told, study.yardstick, reach)]
    if told.is_target is not None:
        parts.append(_roc(told))
    if told.p_values is not None and study.new is not None:
        parts.append(_calibration(study.new, rate_of(study.classifier) or 0.0))
    charts = tag("div", *parts, class_="charts")
    return section("decisions", "Scores and decisions", _confusion(told), charts, _calibrated(study, reach))


def _histogram(told: Judgement, yardstick: Yardstick, reach: float) -> Markup:
    top = max(2.0, 1.2 * reach, float(np.quantile(told.ratios, 0.95)))
    edges = np.linspace(0, top, N_BINS + 1)
    groups: list[tuple[str, Any, int]] = [("patterns", told.ratios, 0)]
    if told.is_target is not None:
        groups = [
            ("targets", told.ratios[told.is_target], LOOK_OF_TARGETS),
            ("others", told.ratios[~told.is_target], LOOK_OF_OTHERS),
        ]
    beyond = int((told.ratios > top).sum())
    words = f"{yardstick.caption}. Up to {reach:.3g} a pattern is accepted"
    words += f"; the last bin also counts {counted(beyond, 'pattern')} farther away." if beyond else "."
    return histogram(groups, edges, yardstick.axis, words, ("border of the decision", reach))


def _roc(told: Judgement) -> Markup:
    area = area_under_curve(told)
    if area is None:
        return tag("p", "The labels are of one kind only, so there is no ROC curve.")
    alarms, detections, _ = roc_curve(told.is_target, told.scores)
    targets: NDArray[np.bool_] = np.asarray(told.is_target)
    point = Mark("the decision", float(told.accepted[~targets].mean()), float(told.accepted[targets].mean()))
    words = (
        f"ROC curve, AUC {area:.3f}. The decision accepts {point.y:.1%} of the targets and {point.x:.1%} of the others."
    )
    curves = [Curve("score", alarms, detections), Curve("chance", [0, 1], [0, 1], 4)]
    return line_chart(curves, linear("others accepted", 0, 1), linear("targets accepted", 0, 1), words, [point])


def _calibration(new: Judgement, rate: float) -> Markup:
    """Return the share of p-values up to a, for a from 0 to 1: for targets it should not rise above the diagonal."""
    groups = [("new patterns", np.ones(len(new), bool), 0)]
    if new.is_target is not None:
        groups = [("targets", new.is_target, LOOK_OF_TARGETS), ("others", ~new.is_target, LOOK_OF_OTHERS)]
    levels, curves = np.linspace(0, 1, 101), [Curve("as promised for targets", [0, 1], [0, 1], 4)]
    p_values: NDArray[np.float64] = np.asarray(new.p_values)
    for name, kept, look in groups:
        if kept.any():
            shares = [float((p_values[kept] <= level).mean()) for level in levels]
            curves.append(Curve(name, levels.tolist(), shares, look))
    words = f"Calibration: the share of patterns whose p-value is at most a. The decision rejects at a = {rate:g}."
    targets = new.is_target if new.is_target is not None else np.zeros(len(new), bool)
    if targets.any():
        words += f" Of the targets {float((p_values[targets] <= rate).mean()):.1%} are rejected there."
    return line_chart(curves, linear("p-value a", 0, 1), linear("share with p-value up to a", 0, 1), words)


def _calibrated(study: Study, reach: float) -> Markup:
    rate = rate_of(study.classifier)
    if not decides_by_regions(study.classifier):
        said = _left_out(study)
    elif rate is None:
        said = (
            "The decision is the method's own: a pattern is accepted within the extent of a region. The model is not "
            "calibrated; fitted with a false_alarm_rate it would also give p-values."
        )
    else:
        n_targets = len(study.classifier.calibration_.margins)
        said = (
            f"The model is calibrated to a false alarm rate of {rate:g} on {n_targets} targets, each judged by a model "
            f"that had not seen it: a pattern is accepted up to {reach:.4g} extents. A p-value is the share of those "
            "targets that were no more normal than the pattern."
        )
    return tag("p", said)


def _left_out(study: Study) -> str:
    calibration, others = study.classifier.calibration_, "prototypes" if study.known_share else "others"
    return (
        f"The model is calibrated to a false alarm rate of {calibration.rate:.3g} on its "
        f"{counted(len(calibration.margins), 'training pattern')}, each judged by the {others}, itself left out: the "
        "border lies where so many of them are beyond. The rate is approximate. A p-value is the share of those "
        "patterns that were no more normal than the pattern."
    )


def _confusion(told: Judgement) -> Markup:
    if told.is_target is None:
        return Markup()
    rows = [
        [name, int((told.accepted & kept).sum()), int((~told.accepted & kept).sum()), int(kept.sum())]
        for name, kept in (("targets", told.is_target), ("others", ~told.is_target))
    ]
    return table(["label", "accepted", "rejected", "all"], rows, "Decisions by label", class_="figures")


def data_section(study: Study) -> Markup:
    """Return what the patterns are, how many, and the ranges of their features."""
    new = study.new
    rows: list[list[object]] = [["training", study.n_training, study.n_training, ""]]
    if new is not None and new.is_target is not None:
        rows.append(["new", len(new), int(new.is_target.sum()), int((~new.is_target).sum())])
    elif new is not None:
        rows.append(["new", len(new), "not known", "not known"])
    counts = table(["patterns", "number", "targets", "others"], rows, "Patterns", class_="figures")
    note = (
        "Regions are counted from 0; training patterns too, by their rows in the data of the fit. "
        "New patterns go by the names they were given."
    )
    note += f" The model keeps {study.known_share}, the prototypes." if study.known_share else ""
    return section("data", "Data", counts, tag("p", note), _features(study))


def _features(study: Study) -> Markup:
    measure, training = study.classifier.measure_, study.training.patterns
    if isinstance(measure, FittedEuclidean):
        return _feature_table(study, np.asarray(training))
    if isinstance(measure, FittedGower):
        rows = list(zip(measure.names, measure.kinds, strict=True))
        return table(["column", "kind"], rows[:MOST_FEATURES], _first_of("Columns", len(rows)))
    words = [described(study.classifier, training, index) for index in range(min(3, len(training)))]
    items = [tag("li", word, class_="words") for word in words if word]
    return joined([tag("p", f"The first {study.known_as}s:"), tag("ul", *items)]) if items else Markup()


def _feature_table(study: Study, training: NDArray[np.float64]) -> Markup:
    names = feature_names(names_of(study.classifier), training.shape[1])
    new = None if study.new is None else np.asarray(study.new.patterns)
    rows = []
    for k in range(min(len(names), MOST_FEATURES)):
        low, high = float(training[:, k].min()), float(training[:, k].max())
        row: list[object] = [
            names[k],
            format_data_number(low),
            format_data_number(float(np.median(training[:, k]))),
            format_data_number(high),
        ]
        if new is not None:
            outside = int(((new[:, k] < low) | (new[:, k] > high)).sum())
            row += [format_data_number(float(new[:, k].min())), format_data_number(float(new[:, k].max())), outside]
        rows.append(row)
    head = ["feature", "lowest", "median", "highest"]
    whose = "prototypes' range" if study.known_share else "training range"
    head += ["lowest of new", "highest of new", f"new outside the {whose}"] if new is not None else []
    return table(head, rows, _first_of(f"Features of the {study.known_as}s", len(names)), class_="figures")


def _first_of(what: str, count: int) -> str:
    return what if count <= MOST_FEATURES else f"{what}: the first {MOST_FEATURES} of {count}"
