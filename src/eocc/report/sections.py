"""The parts of the page about rows: the summary, the most unusual rows, scores and decisions, the data."""

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from eocc.explain import reach_of
from eocc.explain.fitted import number_columns, schema_of
from eocc.foundation.types import Flags, Matrix
from eocc.foundation.wording import counted, format_data_number, format_number
from eocc.regions.scores import decision_margin
from eocc.report.charts import Curve, histogram, line_chart, linear
from eocc.report.explained import main_difference, subject_article
from eocc.report.markup import Markup, facts, joined, section, table, tag
from eocc.report.study import ScoredRows, Study

# This many of the most unusual rows are explained on the page, and this many are listed in its table.
N_EXPLAINED = 10
N_LISTED = 50
MOST_COLUMNS = 60
N_BINS = 30
# If more than this share of the new rows equal a training row, the model may have been trained on them.
MANY_KNOWN = 0.2


def percentage(part: float, whole: float) -> str:
    """Return a share in percent, with one decimal near 0% and 100%."""
    share = 100 * part / whole
    return f"{share:.1f}%" if 0 < share < 2 or 98 < share < 100 else f"{share:.0f}%"


def summary_section(study: Study) -> Markup:
    """Return the main numbers, and the same in words."""
    words = [tag("li", sentence) for sentence in _summary_in_words(study)]
    return section("summary", "Summary", facts(_main_numbers(study), "cards"), tag("ul", *words))


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
        area = _area_under_curve(new)
        shown += [] if area is None else [("AUC", f"{area:.3f}")]
    return shown


def _area_under_curve(rows: ScoredRows) -> float | None:
    """Return the area under the ROC curve; None without labels of both kinds."""
    labels = rows.is_normal
    return None if labels is None or len(np.unique(labels)) < 2 else float(roc_auc_score(labels, rows.scores))


def _summary_in_words(study: Study) -> list[str]:
    said = [f"The model learned what is normal from {counted(study.n_training, 'training row')}."]
    if study.prototype_share:
        said.append(f"It keeps {study.prototype_share} as prototypes and compares every row with these only.")
    said.append(study.classifier.describe())
    if study.new is None:
        return [*said, f"No new rows were given; the page shows how the model scores its own {study.row_name}s."]
    new, accepted, n_known = study.new, int(study.new.accepted.sum()), int(study.new.are_known.sum())
    shares = [f"{part} ({percentage(part, len(new))})" for part in (accepted, len(new) - accepted)]
    said.append(f"Of {counted(len(new), 'new row')} it accepts {shares[0]} as normal and rejects {shares[1]}.")
    said += [*_labels_in_words(new), *_drift_in_words(study, new)]
    if n_known > MANY_KNOWN * len(new) and not study.classifier.scores_left_out:
        remark = "If the model was trained on them, these results are too good; use rows that it has not seen."
        said.append(f"{n_known} of them equal a {study.row_name}. {remark}")
    first = int(new.order[0])
    return [*said, f"The most unusual one is {study.name(first)}, {study.explained[first].decision}."]


def _drift_in_words(study: Study, new: ScoredRows) -> list[str]:
    """Return the sentence on drift, of the rows that are not labelled as outliers, if the model is calibrated."""
    kept = np.flatnonzero(np.ones(len(new), bool) if new.is_normal is None else new.is_normal)
    if new.p_values is None or not len(kept):
        return []
    drift = study.classifier.drift_counts().add(decision_margin(new.ratios[kept]), new.patterns[kept]).result()
    return [f"{'Drift' if new.is_normal is None else 'Drift of the rows labelled normal'}: {drift}"]


def _labels_in_words(new: ScoredRows) -> list[str]:
    if new.is_normal is None:
        return []
    said, area = [], _area_under_curve(new)
    for kept, wrong, label, decision in (
        (new.is_normal, "False alarms", "normal", "rejected"),
        (~new.is_normal, "Misses", "outliers", "accepted"),
    ):
        if kept.any():
            n_wrong, n_rows = int((new.wrong & kept).sum()), int(kept.sum())
            share = percentage(n_wrong, n_rows)
            said.append(f"{wrong}: {n_wrong} of {n_rows} rows labelled {label} ({share}) are {decision}.")
    if area is not None:
        said.append(f"AUC {area:.3f}: the probability that a random normal row scores higher than a random outlier.")
    return said


def unusual_section(study: Study) -> Markup:
    """Return the most unusual rows explained, and a longer table of them."""
    subject, listed = study.subject, study.subject.order[:N_LISTED].tolist()
    summary = tag("summary", f"Table of the {counted(len(listed), 'most unusual row')}")
    rest = tag("details", summary, _unusual_table(study, listed), open=len(listed) <= N_EXPLAINED or None)
    rows, n_rejected = f"{study.row_name}s" if study.new is None else "new rows", int((~subject.accepted).sum())
    opening = f"The {rows} that lie farthest out; {n_rejected} of {len(subject)} are rejected. They are ordered by "
    opening += f"{study.classifier.ratio_name}; rows up to {reach_of(study.classifier.threshold_):.4g} are accepted."
    articles = tag("div", *(subject_article(study, index) for index in listed[:N_EXPLAINED]), class_="articles")
    return section("unusual", "Most unusual rows", tag("p", opening), rest, articles)


def _unusual_table(study: Study, listed: list[int]) -> Markup:
    subject = study.subject
    decisions = ["accepted" if accepted else "rejected" for accepted in subject.accepted[listed]]
    columns: dict[str, list[Any]] = {
        "row": [tag("button", subject.names[k], type="button", class_="link", data_open=study.key(k)) for k in listed],
        "decision": [tag("span", decision, class_=decision) for decision in decisions],
        "how far out": list(map(format_number, subject.ratios[listed].tolist())),
        "membership": list(map(format_number, np.exp(subject.scores[listed]).tolist())),
    }
    if subject.nearest is not None:
        columns["nearest region"] = subject.nearest[listed].tolist()
    if subject.p_values is not None:
        columns["p-value"] = list(map(format_number, subject.p_values[listed].tolist()))
    if subject.is_normal is not None:
        pairs = zip(subject.is_normal[listed], subject.wrong[listed], strict=True)
        columns["label"] = [f"{'normal' if one else 'outlier'}{' (wrong)' if wrong else ''}" for one, wrong in pairs]
    role, _ = study.explained[listed[0]].compared_with
    columns[f"main difference from the {role.split(' of ')[0]}"] = [main_difference(study.explained[k]) for k in listed]
    return table(list(columns), list(zip(*columns.values(), strict=True)), class_="numbers")


def decisions_section(study: Study) -> Markup:
    """Return the histogram of ratios, the decisions by label, the ROC curve and the calibration."""
    subject, calibration, decisions = study.subject, study.classifier.calibration_, Markup()
    charts: list[Markup] = [_histogram(study)]
    if subject.is_normal is not None:
        charts.append(_roc(subject, subject.is_normal))
        lines = [
            [name, int((subject.accepted & kept).sum()), int((~subject.accepted & kept).sum()), int(kept.sum())]
            for name, kept, _ in _groups(subject)
        ]
        decisions = table(["label", "accepted", "rejected", "all"], lines, "Decisions by label", class_="numbers")
    if study.new is not None and study.new.p_values is not None and calibration is not None:
        charts.append(_calibration(study.new, study.new.p_values, calibration.rate))
    drawn = tag("div", *charts, class_="charts")
    return section("decisions", "Scores and decisions", decisions, drawn, tag("p", _calibration_in_words(study)))


def _groups(rows: ScoredRows) -> list[tuple[str, Flags, int]]:
    """Return the kinds of rows that charts distinguish: name, which rows, look."""
    if rows.is_normal is None:
        return [("rows", np.ones(len(rows), bool), 0)]
    return [("normal", rows.is_normal, 2), ("outliers", ~rows.is_normal, 3)]


def _histogram(study: Study) -> Markup:
    subject, reach = study.subject, reach_of(study.classifier.threshold_)
    top = max(2.0, 1.2 * reach, float(np.quantile(subject.ratios, 0.95)))
    groups = [(name, subject.ratios[kept], look) for name, kept, look in _groups(subject)]
    beyond = int((subject.ratios > top).sum())
    words = f"How far out rows lie. Rows up to {reach:.3g} are accepted"
    words += f"; the last bin includes {counted(beyond, 'row')} farther out." if beyond else "."
    return histogram(groups, np.linspace(0, top, N_BINS + 1), study.classifier.ratio_name, words, reach)


def _roc(rows: ScoredRows, is_normal: Flags) -> Markup:
    area = _area_under_curve(rows)
    if area is None:
        return tag("p", "All labels are the same, so there is no ROC curve.")
    misses, detections, _ = roc_curve(is_normal, rows.scores)
    point = Curve("the decision", float(rows.accepted[~is_normal].mean()), float(rows.accepted[is_normal].mean()))
    words = f"The decision accepts {point.y:.1%} of the normal rows and {point.x:.1%} of the outliers."
    curves = [Curve("score", misses, detections), Curve("chance", [0, 1], [0, 1], 4)]
    x, y = linear("outliers accepted", 0, 1), linear("normal rows accepted", 0, 1)
    return line_chart(curves, x, y, f"ROC curve, AUC {area:.3f}. {words}", point)


def _calibration(new: ScoredRows, p_values: Matrix, rate: float) -> Markup:
    """Return the share of p-values up to a, for a from 0 to 1: that of normal rows should follow the diagonal."""
    levels, curves = np.linspace(0, 1, 101), [Curve("expected for normal rows", [0, 1], [0, 1], 4)]
    for name, kept, look in _groups(new):
        if kept.any():
            curves.append(Curve(name, levels, [(p_values[kept] <= level).mean() for level in levels], look))
    words = "Calibration: the share of rows with a p-value of at most a. "
    words += f"Rows with a p-value up to {rate:g} are rejected"
    if new.is_normal is not None and new.is_normal.any():
        words += f": {float((p_values[new.is_normal] <= rate).mean()):.1%} of the normal rows"
    return line_chart(curves, linear("p-value a", 0, 1), linear("share with p-value up to a", 0, 1), f"{words}.")


def _calibration_in_words(study: Study) -> str:
    calibration = study.classifier.calibration_
    if calibration is None:
        hint = "Fit it with a false_alarm_rate to get p-values and a chosen rate of alarms."
        return f"The model is not calibrated. {hint}"
    return (
        f"The false-alarm rate is {calibration.rate:.3g}: about {100 * calibration.rate:.3g}% of new normal rows are "
        f"rejected. It was set on {counted(study.n_training, 'training row')}, each scored as if the model had "
        "not seen it. The p-value of a row is the share of these rows that are at least as unusual."
    )


def data_section(study: Study) -> Markup:
    """Return how many rows there are, and the ranges of their columns."""
    rows: list[list[object]] = [["training", study.n_training, study.n_training, ""]]
    if study.new is not None:
        labels = study.new.is_normal
        known = ["not known"] * 2 if labels is None else [int(labels.sum()), int((~labels).sum())]
        rows.append(["new", len(study.new), *known])
    counts = table(["rows", "number", "normal", "outliers"], rows, "Rows", class_="numbers")
    note = "Training rows and regions are numbered from 0; training rows by their place in the data of the fit."
    note += f" The model keeps {study.prototype_share} as prototypes." if study.prototype_share else ""
    return section("data", "Data", counts, tag("p", note), _columns(study))


def _columns(study: Study) -> Markup:
    numbers, columns = number_columns(study.classifier), schema_of(study.classifier).columns
    more = f": the first {MOST_COLUMNS} of {len(columns)}" if len(columns) > MOST_COLUMNS else ""
    if numbers:
        return _number_table(study, numbers, f"Columns of the {study.row_name}s{more}")
    if columns:
        return table(["column", "kind"], columns[:MOST_COLUMNS], f"Columns{more}")
    words = [study.describe(study.training, index) for index in range(min(3, len(study.training)))]
    items = [tag("li", word, class_="words") for word in words if word]
    return joined([tag("p", f"The first {study.row_name}s:"), tag("ul", *items)]) if items else Markup()


def _number_table(study: Study, names: list[str], caption: str) -> Markup:
    head, rows = ["column", "lowest", "median", "highest"], []
    head += ["lowest of new", "highest of new", "new outside this range"] if study.new is not None else []
    for k, name in enumerate(names[:MOST_COLUMNS]):
        values = study.training.patterns[:, k]
        low, middle, high = (float(f(values)) for f in (np.min, np.median, np.max))
        row: list[object] = [name, *map(format_data_number, (low, middle, high))]
        if study.new is not None:
            new = study.new.patterns[:, k]
            new = new[~np.isnan(new)]
            row += map(format_data_number, (new.min(), new.max())) if len(new) else ["missing", "missing"]
            row.append(int(((new < low) | (new > high)).sum()))
        rows.append(row)
    return table(head, rows, caption, class_="numbers")
