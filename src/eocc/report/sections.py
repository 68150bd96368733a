"""The parts of the page about rows: the summary, the most unusual rows, scores and decisions, the data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score, roc_curve

from eocc.explain import reach_of
from eocc.explain.data import number_columns, schema_of
from eocc.foundation.types import Flags
from eocc.foundation.wording import counted, format_data_number, format_number
from eocc.report.charts import Curve, Mark, histogram, line_chart, linear
from eocc.report.explained import article, main_difference
from eocc.report.markup import Markup, joined, section, table, tag
from eocc.report.scored import MANY_KNOWN, ScoredRows, described
from eocc.report.study import Study

# This many of the most unusual rows are explained on the page, and this many are listed in its table.
N_EXPLAINED = 10
N_LISTED = 50
MOST_COLUMNS = 60
N_BINS = 30
LOOK_OF_NORMAL, LOOK_OF_OUTLIERS = 2, 3


def percentage(part: float, whole: float) -> str:
    """Return a share in percent, with one decimal near 0% and 100%.

    >>> percentage(1, 3), percentage(1, 200), percentage(0, 5)
    ('33%', '0.5%', '0%')
    """
    share = 100 * part / whole if whole else 0.0
    return f"{share:.1f}%" if 0 < share < 2 or 98 < share < 100 else f"{share:.0f}%"


def area_under_curve(rows: ScoredRows) -> float | None:
    """Return the area under the ROC curve; None without labels of both kinds."""
    labels = rows.is_normal
    if labels is None or len(set(labels.tolist())) < 2:
        return None
    return float(roc_auc_score(labels, rows.scores))


def summary_section(study: Study) -> Markup:
    """Return the main numbers, and the same in words."""
    cards = [tag("div", tag("dt", name), tag("dd", value)) for name, value in _main_numbers(study)]
    words = [tag("li", sentence) for sentence in summary_in_words(study)]
    return section("summary", "Summary", tag("dl", *cards, class_="cards"), tag("ul", *words))


def _main_numbers(study: Study) -> list[tuple[str, object]]:
    shown: list[tuple[str, object]] = [("training rows", f"{study.n_training:,}")]
    shown += [("prototypes", f"{len(study.training):,}")] if study.prototype_share else []
    shown += [("regions", len(study.regions.rules))] if study.regions is not None else []
    new = study.new
    if new is not None:
        accepted = int(new.accepted.sum())
        shown += [("new rows", len(new)), ("accepted", accepted), ("rejected", len(new) - accepted)]
        if new.is_normal is not None and new.is_normal.any():
            alarms = int((~new.accepted & new.is_normal).sum())
            shown.append(("false alarms", percentage(alarms, int(new.is_normal.sum()))))
        area = area_under_curve(new)
        shown += [] if area is None else [("AUC", f"{area:.3f}")]
    return shown


def summary_in_words(study: Study) -> list[str]:
    """Return what a reader in a hurry wants to know, sentence by sentence."""
    said = [f"The model learned what is normal from {counted(study.n_training, 'training row')}."]
    if study.prototype_share:
        said.append(f"It keeps {study.prototype_share} as prototypes and compares every row with these only.")
    said.append(study.classifier.describe())
    if study.new is None:
        return [*said, f"No new rows were given; the page shows how the model scores its own {study.row_name}s."]
    new, accepted = study.new, int(study.new.accepted.sum())
    said.append(
        f"Of {counted(len(new), 'new row')} it accepts {accepted} ({percentage(accepted, len(new))}) as normal and "
        f"rejects {len(new) - accepted} ({percentage(len(new) - accepted, len(new))})."
    )
    said += _labels_in_words(new)
    n_known = int(new.are_known.sum())
    if n_known > MANY_KNOWN * len(new):
        said.append(
            f"{n_known} of them equal a {study.row_name}. If the model was trained on them, these results are too "
            "good; use rows that it has not seen."
        )
    first = int(new.order[0])
    return [*said, f"The most unusual one is {study.name(first)}, {study.explained[first].decision}."]


def _labels_in_words(new: ScoredRows) -> list[str]:
    if new.is_normal is None:
        return []
    said = []
    n_normal, n_outliers = int(new.is_normal.sum()), int((~new.is_normal).sum())
    alarms, misses = int((~new.accepted & new.is_normal).sum()), int((new.accepted & ~new.is_normal).sum())
    if n_normal:
        share = percentage(alarms, n_normal)
        said.append(f"False alarms: {alarms} of {n_normal} rows labelled normal ({share}) are rejected.")
    if n_outliers:
        share = percentage(misses, n_outliers)
        said.append(f"Misses: {misses} of {n_outliers} rows labelled outliers ({share}) are accepted.")
    area = area_under_curve(new)
    if area is not None:
        said.append(f"AUC {area:.3f}: the probability that a random normal row scores higher than a random outlier.")
    return said


def unusual_section(study: Study) -> Markup:
    """Return the most unusual rows explained, and a longer table of them."""
    subject, order = study.subject, study.subject.order.tolist()
    articles = [
        article(study, subject, index, study.explained[index], study.key(index), study.name(index))
        for index in order[:N_EXPLAINED]
    ]
    listed = order[:N_LISTED]
    rest = tag(
        "details",
        tag("summary", f"Table of the {counted(len(listed), 'most unusual row')}"),
        _unusual_table(study, listed),
        open=len(listed) <= N_EXPLAINED or None,
    )
    rows, n_rejected = f"{study.row_name}s" if study.new is None else "new rows", int((~subject.accepted).sum())
    opening = f"The {rows} that lie farthest out; {n_rejected} of {len(subject)} are rejected. {limit_in_words(study)}"
    articles_box = tag("div", *articles, class_="articles")
    return section("unusual", "Most unusual rows", tag("p", opening), rest, articles_box)


def limit_in_words(study: Study) -> str:
    """Return up to which ratio rows are accepted."""
    reach = reach_of(study.classifier.threshold_)
    return f"They are ordered by {study.classifier.ratio_name}; rows up to {reach:.4g} are accepted."


def _unusual_table(study: Study, listed: list[int]) -> Markup:
    """Return one line per row: its name, which opens its explanation next to the map, and its numbers."""
    subject = study.subject
    head = ["row", "decision", "how far out", "membership"]
    head += ["nearest region"] if subject.nearest is not None else []
    head += ["p-value"] if subject.p_values is not None else []
    head += ["label"] if subject.is_normal is not None else []
    lines = []
    for index in listed:
        button = tag("button", subject.names[index], type="button", class_="link", data_open=study.key(index))
        decision = "accepted" if subject.accepted[index] else "rejected"
        line: list[object] = [button, tag("span", decision, class_=decision)]
        line += [format_number(float(subject.ratios[index])), format_number(float(np.exp(subject.scores[index])))]
        line += [subject.nearest[index]] if subject.nearest is not None else []
        line += [format_number(float(subject.p_values[index]))] if subject.p_values is not None else []
        if subject.is_normal is not None:
            label = "normal" if subject.is_normal[index] else "outlier"
            line.append(label + (" (wrong)" if subject.wrong[index] else ""))
        lines.append([*line, main_difference(study.explained[index])])
    role, _ = study.explained[listed[0]].compared_with
    return table([*head, f"main difference from the {role.split(' of ')[0]}"], lines, class_="numbers")


def decisions_section(study: Study) -> Markup:
    """Return the histogram of ratios, the decisions by label, the ROC curve and the calibration."""
    subject = study.subject
    charts: list[Markup] = [_histogram(study)]
    if subject.is_normal is not None:
        charts.append(_roc(subject, subject.is_normal))
    calibration = study.classifier.calibration_
    if study.new is not None and study.new.p_values is not None and calibration is not None:
        charts.append(_calibration(study.new, study.new.p_values, calibration.rate))
    said = tag("p", _calibration_in_words(study))
    drawn = tag("div", *charts, class_="charts")
    return section("decisions", "Scores and decisions", _decisions_by_label(subject), drawn, said)


def _groups(rows: ScoredRows) -> list[tuple[str, Flags, int]]:
    """Return the kinds of rows that charts distinguish: name, which rows, look."""
    if rows.is_normal is None:
        return [("rows", np.ones(len(rows), bool), 0)]
    return [("normal", rows.is_normal, LOOK_OF_NORMAL), ("outliers", ~rows.is_normal, LOOK_OF_OUTLIERS)]


def _histogram(study: Study) -> Markup:
    subject, reach = study.subject, reach_of(study.classifier.threshold_)
    top = max(2.0, 1.2 * reach, float(np.quantile(subject.ratios, 0.95)))
    groups = [(name, subject.ratios[kept], look) for name, kept, look in _groups(subject)]
    beyond = int((subject.ratios > top).sum())
    words = f"How far out rows lie. Rows up to {reach:.3g} are accepted"
    words += f"; the last bin includes {counted(beyond, 'row')} farther out." if beyond else "."
    edges = np.linspace(0, top, N_BINS + 1)
    return histogram(groups, edges, study.classifier.ratio_name, words, ("limit", reach))


def _roc(rows: ScoredRows, is_normal: Flags) -> Markup:
    area = area_under_curve(rows)
    if area is None:
        return tag("p", "All labels are the same, so there is no ROC curve.")
    misses, detections, _ = roc_curve(is_normal, rows.scores)
    point = Mark("the decision", float(rows.accepted[~is_normal].mean()), float(rows.accepted[is_normal].mean()))
    words = (
        f"ROC curve, AUC {area:.3f}. The decision accepts {point.y:.1%} of the normal rows and {point.x:.1%} of the "
        "outliers."
    )
    curves = [Curve("score", misses, detections), Curve("chance", [0, 1], [0, 1], 4)]
    return line_chart(curves, linear("outliers accepted", 0, 1), linear("normal rows accepted", 0, 1), words, [point])


def _calibration(new: ScoredRows, p_values: NDArray[np.float64], rate: float) -> Markup:
    """Return the share of p-values up to a, for a from 0 to 1: that of normal rows should follow the diagonal."""
    levels, curves = np.linspace(0, 1, 101), [Curve("expected for normal rows", [0, 1], [0, 1], 4)]
    for name, kept, look in _groups(new):
        if kept.any():
            shares = [float((p_values[kept] <= level).mean()) for level in levels]
            curves.append(Curve(name, levels.tolist(), shares, look))
    words = (
        f"Calibration: the share of rows with a p-value of at most a. Rows with a p-value up to {rate:g} are rejected"
    )
    if new.is_normal is not None and new.is_normal.any():
        words += f": {float((p_values[new.is_normal] <= rate).mean()):.1%} of the normal rows"
    return line_chart(curves, linear("p-value a", 0, 1), linear("share with p-value up to a", 0, 1), f"{words}.")


def _calibration_in_words(study: Study) -> str:
    calibration = study.classifier.calibration_
    if calibration is None:
        return (
            "The model is not calibrated. Fit it with a false_alarm_rate to get p-values and a chosen rate of alarms."
        )
    return (
        f"The false-alarm rate is {calibration.rate:.3g}: about {100 * calibration.rate:.3g}% of new normal rows are "
        f"rejected. It was set on {counted(len(calibration.margins), 'training row')}, each scored as if the model had "
        "not seen it. The p-value of a row is the share of these rows that are at least as unusual."
    )


def _decisions_by_label(rows: ScoredRows) -> Markup:
    if rows.is_normal is None:
        return Markup()
    lines = [
        [name, int((rows.accepted & kept).sum()), int((~rows.accepted & kept).sum()), int(kept.sum())]
        for name, kept, _ in _groups(rows)
    ]
    return table(["label", "accepted", "rejected", "all"], lines, "Decisions by label", class_="numbers")


def data_section(study: Study) -> Markup:
    """Return how many rows there are, and the ranges of their columns."""
    new = study.new
    rows: list[list[object]] = [["training", study.n_training, study.n_training, ""]]
    if new is not None and new.is_normal is not None:
        rows.append(["new", len(new), int(new.is_normal.sum()), int((~new.is_normal).sum())])
    elif new is not None:
        rows.append(["new", len(new), "not known", "not known"])
    counts = table(["rows", "number", "normal", "outliers"], rows, "Rows", class_="numbers")
    note = "Training rows and regions are numbered from 0; training rows by their place in the data of the fit."
    note += f" The model keeps {study.prototype_share} as prototypes." if study.prototype_share else ""
    return section("data", "Data", counts, tag("p", note), _columns(study))


def _columns(study: Study) -> Markup:
    columns = schema_of(study.classifier).columns
    if number_columns(study.classifier):
        return _number_table(study, number_columns(study.classifier))
    if columns:
        return table(["column", "kind"], columns[:MOST_COLUMNS], _first_of("Columns", len(columns)))
    training = study.training.patterns
    words = [described(study.classifier, training, index) for index in range(min(3, len(training)))]
    items = [tag("li", word, class_="words") for word in words if word]
    return joined([tag("p", f"The first {study.row_name}s:"), tag("ul", *items)]) if items else Markup()


def _number_table(study: Study, names: list[str]) -> Markup:
    training = np.asarray(study.training.patterns)
    new = None if study.new is None else np.asarray(study.new.patterns)
    rows = []
    for k in range(min(len(names), MOST_COLUMNS)):
        low, middle, high = (float(f(training[:, k])) for f in (np.min, np.median, np.max))
        row: list[Any] = [names[k], *map(format_data_number, (low, middle, high))]
        if new is not None:
            outside = int(((new[:, k] < low) | (new[:, k] > high)).sum())
            row += [format_data_number(float(new[:, k].min())), format_data_number(float(new[:, k].max())), outside]
        rows.append(row)
    head = ["column", "lowest", "median", "highest"]
    head += ["lowest of new", "highest of new", "new outside this range"] if new is not None else []
    return table(head, rows, _first_of(f"Columns of the {study.row_name}s", len(names)), class_="numbers")


def _first_of(what: str, count: int) -> str:
    return what if count <= MOST_COLUMNS else f"{what}: the first {MOST_COLUMNS} of {count}"
