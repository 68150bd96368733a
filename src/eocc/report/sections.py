"""The parts of the page: summary, list of rows, map, calibration and drift, data, model."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from eocc.explain import reach_of
from eocc.explain.fitted import weight_names
from eocc.foundation.registry import listed
from eocc.foundation.types import Flags
from eocc.foundation.wording import counted, format_data_number, format_number
from eocc.plots.drawing import draw_p_values, draw_ratios, draw_roc, plot_history, plot_modularity
from eocc.regions.scores import decision_margin
from eocc.report.charts import chart
from eocc.report.columns import Columns
from eocc.report.markup import Markup, facts, fold, joined, section, table, tag
from eocc.report.study import DECISIONS, REJECTED, UNSURE, ScoredRows, Study

# If more than this share of the new rows equal a training row, the model may have been trained on them.
MANY_KNOWN = 0.2
# The most lines of a table that is folded, and of the rules of regions.
MOST_LINES = 60
MOST_IN_LEGEND = 8
# The summary names this many columns.
MOST_COLUMNS = 6


def percentage(part: float, whole: float) -> str:
    """Return a share in percent, with one decimal near 0% and 100%."""
    share = 100 * part / whole
    return f"{share:.1f}%" if 0 < share < 2 or 98 < share < 100 else f"{share:.0f}%"


def summary_section(study: Study, columns: Columns) -> Markup:
    """Return the main numbers, and what they mean in a few sentences."""
    words = [tag("li", sentence) for sentence in _summary_in_words(study)]
    return section("summary", "Summary", facts(_main_numbers(study), "cards"), tag("ul", *words))


def _counts(study: Study) -> list[int]:
    return [int((study.decisions == k).sum()) for k in range(len(DECISIONS))]


def _main_numbers(study: Study) -> list[tuple[str, object]]:
    accepted, unsure, rejected = _counts(study)
    n_rows = len(study.subject)
    shown: list[tuple[str, object]] = [(f"{_kind(study)} rows scored", f"{n_rows:,}")]
    shown.append((f"rejected, {percentage(rejected, n_rows)}", f"{rejected:,}"))
    shown += [("unsure", f"{unsure:,}")] if study.subject.p_values is not None else []
    shown.append(("accepted", f"{accepted:,}"))
    new = study.subject
    if new.is_normal is not None and new.is_normal.any():
        alarms = int((~new.accepted & new.is_normal).sum())
        shown.append(("false alarms", percentage(alarms, int(new.is_normal.sum()))))
    area = _area_under_curve(new)
    return shown if area is None else [*shown, ("AUC", f"{area:.3f}")]


def _kind(study: Study) -> str:
    return "training" if study.new is None else "new"


def _area_under_curve(rows: ScoredRows) -> float | None:
    """Return the area under the ROC curve; None without labels of both kinds."""
    labels = rows.is_normal
    return None if labels is None or len(np.unique(labels)) < 2 else float(roc_auc_score(labels, rows.scores))


def _summary_in_words(study: Study) -> list[str]:
    said = [f"The model learned what is normal from {counted(study.classifier.n_training, 'training row')}."]
    if study.prototype_share:
        said[0] += f" It keeps {study.prototype_share} as prototypes and compares every row with these only."
    if study.new is None:
        return [*said, f"No new rows were given; the page shows how the model scores its own {study.row_name}s."]
    new, (_, unsure, rejected), n_known = study.new, _counts(study), int(study.new.are_known.sum())
    shares = [f"{part:,} ({percentage(part, len(new))})" for part in (rejected, len(new) - rejected)]
    doubt = f", {unsure:,} of them unsure" if unsure else ""
    said.append(f"Of {counted(len(new), 'new row')} it rejects {shares[0]} and accepts {shares[1]}{doubt}.")
    said += [*_main_columns(study), *_labels_in_words(new), *_drift_in_words(study, new)]
    if n_known > MANY_KNOWN * len(new) and not study.classifier.scores_left_out:
        remark = "If the model was trained on them, these results are too good; use rows that it has not seen."
        said.append(f"{n_known:,} of them equal a {study.row_name}. {remark}")
    return said


def _main_columns(study: Study) -> list[str]:
    """Return the columns that are the main reason for rejecting rows, with the number of these rows."""
    counts = Counter(one.main_column for one in study.explained if not one.is_target and one.main_column)
    if not counts:
        return []
    n_rejected = _counts(study)[2]
    of = f" of the {len(study.explained):,} most unusual rows" if n_rejected > len(study.explained) else ""
    named = listed([f"{name} ({count:,})" for name, count in counts.most_common()], MOST_COLUMNS)
    return [f"Main reasons{of}: {named}."]


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
    said = []
    for kept, wrong, label, decision in (
        (new.is_normal, "False alarms", "normal", "rejected"),
        (~new.is_normal, "Misses", "outliers", "accepted"),
    ):
        if kept.any():
            n_wrong, n_rows = int((new.wrong & kept).sum()), int(kept.sum())
            share = percentage(n_wrong, n_rows)
            said.append(f"{wrong}: {n_wrong:,} of {n_rows:,} rows labelled {label} ({share}) are {decision}.")
    return [" ".join(said)]


def rows_section(study: Study, columns: Columns) -> Markup:
    """Return the list of rows, which script.js fills, with its filters."""
    heads = {"name": "row", "decision": "decision", "out": "how far out", "p": "p-value", "why": "main reason"}
    if study.subject.p_values is None:
        del heads["p"]
    row = tag(
        "tr",
        *(
            tag("th", _sort(key, text), scope="col", class_="ratio" if key == "out" else key)
            for key, text in heads.items()
        ),
    )
    rows = tag("table", tag("thead", row), tag("tbody"), id="list")
    more = tag("button", "Show 50 more", type="button", id="more", hidden=True)
    without = tag("noscript", tag("p", "The list and the map need JavaScript. Nothing is loaded from the network."))
    return section(
        "rows", "Rows", tag("p", _rows_in_words(study)), without, _filters(study),
        tag("div", id="mains", class_="tools screen-only", role="group", aria_label="Rejected because of"),
        tag("div", rows, class_="scroll list"), more,
    )  # fmt: skip


def _sort(key: str, text: str) -> Markup:
    return tag("button", text, type="button", data_sort=key, title=f"Sort by {text}")


def _rows_in_words(study: Study) -> str:
    limit = f"{reach_of(study.classifier.threshold_):.4g}"
    said = "The most unusual first. Open a row to see its values next to those of normal rows."
    said += f" How far out: {study.classifier.ratio_name}; rows up to {limit} are accepted"
    calibration = study.classifier.calibration_
    if study.subject.p_values is not None and calibration is not None:
        said += f", and of these, rows with a p-value up to {calibration.unsure_rate:.3g} are unsure"
    if len(study.listed) < len(study.subject):
        said += f". The page holds {len(study.listed):,} of {len(study.subject):,} rows"
        said += f": the {len(study.listed) // 2:,} most unusual, and an even selection of the others"
    return f"{said}."


def _filters(study: Study) -> Markup:
    counts = dict(zip(DECISIONS, np.bincount(study.decisions[study.listed], minlength=3).tolist(), strict=True))
    kinds = {"all": len(study.listed), REJECTED: counts[REJECTED]}
    kinds |= {UNSURE: counts[UNSURE]} if study.subject.p_values is not None else {}
    kinds |= {"wrong": int(study.subject.wrong[study.listed].sum())} if study.subject.is_normal is not None else {}
    boxes = [
        tag("label", Markup(f'<input type="radio" name="kind" value="{kind}"{" checked" * (kind == "all")}>'),
            f" {kind} {count:,}")
        for kind, count in kinds.items()
    ]  # fmt: skip
    field = Markup('<input type="search" id="find" size="18" autocomplete="off" aria-describedby="found">')
    show = tag("fieldset", tag("legend", "Show"), *boxes)
    found = tag("output", id="found", for_="find", class_="note")
    return tag("div", show, tag("label", "Find ", field, class_="find"), found, class_="tools screen-only")


def map_section(study: Study, columns: Columns) -> Markup:
    """Return the frame of the map, which script.js draws, with its tools, its legend and the panel next to it."""
    said = (
        f"{study.classifier.map_in_words(study.row_name)} The map shows {study.plane.kept:.0%} of their variance. "
        f"Inside the dotted circle, which holds 95% of the {study.row_name}s, it is true to scale; outside, distances "
        "are logarithmic, so that a far row does not squeeze the others."
    )
    if study.regions is None:
        said += f" Regions are not shown for {len(study.training):,} {study.row_name}s."
    hint = "Choose a mark to see the row. Keys: arrows, Enter, + and -, Home, Escape."
    hint += " Double-click, or hold Ctrl and turn the wheel, to zoom."
    panel = tag(
        "aside", tag("p", hint, class_="note"), id="panel", aria_label="Row", tabindex="-1", class_="screen-only"
    )
    drawing = tag("svg", id="drawing", role="group", aria_label=f"Map of {len(study.listed):,} {_kind(study)} rows")
    tip = tag("div", id="tip", role="tooltip", hidden=True)
    board = tag("div", _map_tools(study), tag("div", drawing, tip, class_="canvas"), _legend(study), class_="map")
    return section("map", "Map", tag("p", said), tag("div", board, panel, class_="board"))


def _map_tools(study: Study) -> Markup:
    kinds = ["tree"] if study.regions is not None else []
    kinds += ["training", *DECISIONS] if study.new is not None else []
    boxes = [tag("label", Markup(f'<input type="checkbox" checked data-show="{kind}">'), f" {kind}") for kind in kinds]
    buttons = [
        tag("button", "+", type="button", data_zoom="in", aria_label="Zoom in"),
        tag("button", "\N{MINUS SIGN}", type="button", data_zoom="out", aria_label="Zoom out"),
        tag("button", "All", type="button", data_zoom="all", aria_label="Show the whole map"),
    ]
    show = tag("fieldset", tag("legend", "Show"), *boxes) if boxes else Markup()
    zoom = tag("div", *buttons, class_="zoom", role="group", aria_label="Zoom")
    return tag("div", show, zoom, class_="tools screen-only")


def _legend(study: Study) -> Markup:
    signs = {"accepted": "+", "unsure": "\N{BLACK DIAMOND SUIT}", "rejected": "\N{MULTIPLICATION SIGN}"}
    counts = zip(DECISIONS, _counts(study), strict=True)
    items = [
        tag("li", tag("b", signs[kind], class_=kind, aria_hidden="true"), f" {_kind(study)}, {kind}: {count:,}")
        for kind, count in counts
        if count
    ]
    if study.regions is not None:
        rules, order = study.regions.rules, study.regions.order
        for number in sorted(order[:MOST_IN_LEGEND]):
            dot = tag("b", "\N{BLACK CIRCLE}", class_=f"region-{number % 8}", aria_hidden="true")
            items.append(tag("li", dot, f" region {number}: {counted(rules[number].n_members, 'training row')}"))
        more = len(order) - MOST_IN_LEGEND
        items += [tag("li", f"and {more} smaller ones")] if more > 0 else []
    return tag("ul", *items, class_="keys")


def calibration_section(study: Study, columns: Columns) -> Markup:
    """Return how scores and p-values are spread, the decisions by label, and the ROC curve."""
    rows, calibration = study.subject, study.classifier.calibration_
    labels = rows.is_normal
    charts = [_ratios(study)]
    if rows.p_values is not None and calibration is not None and study.new is not None:
        words = "Share of rows with a p-value of at most a. Normal rows should follow the dashed line."
        p_values, rate = rows.p_values, calibration.limit
        charts.append(chart("p-values", words, lambda axes: draw_p_values(axes, p_values, labels, rate)))
    if labels is not None and _area_under_curve(rows) is not None:
        charts.append(_roc(rows, labels))
    same = labels is not None and _area_under_curve(rows) is None
    note = tag("p", "All labels are the same, so there is no ROC curve.") if same else Markup()
    drawn = tag("div", *charts, class_="charts")
    return section("calibration", "Calibration", tag("p", _calibration_in_words(study)), note, drawn)


def _ratios(study: Study) -> Markup:
    rows = study.subject
    words = f"How far out rows lie. Rows up to {reach_of(study.classifier.threshold_):.3g} are accepted; "
    words += "the last bar includes all that lie farther out."
    return chart("ratios", words, lambda axes: draw_ratios(axes, rows.ratios, rows.is_normal, study.classifier))


def _roc(rows: ScoredRows, is_normal: Flags) -> Markup:
    accepted = [float(rows.accepted[kept].mean()) for kept in (is_normal, ~is_normal)]
    words = (
        f"ROC curve, AUC {_area_under_curve(rows):.3f}: the probability that a random normal row scores higher than "
    )
    words += f"a random outlier. The decision accepts {accepted[0]:.1%} of the normal rows and "
    words += f"{accepted[1]:.1%} of the outliers."
    return chart("roc", words, lambda axes: draw_roc(axes, rows.scores, rows.accepted, is_normal))


def _calibration_in_words(study: Study) -> str:
    calibration = study.classifier.calibration_
    if calibration is None:
        hint = "Fit it with a false_alarm_rate to get p-values and a chosen rate of alarms."
        return f"The model is not calibrated. {hint}"
    rate = calibration.rate
    return (
        f"The false-alarm rate is {rate:.3g}: about {100 * rate:.3g}% of new normal rows are "
        f"rejected. It was set on {counted(study.classifier.n_training, 'training row')}, each scored as if the model "
        "had not seen it. The p-value of a row is the share of these rows that are at least as unusual."
    )


def data_section(study: Study, columns: Columns) -> Markup:
    """Return what is wrong with the data, in words, and the ranges of the columns, folded."""
    problems = columns.problems()
    if not columns.names:
        problems = ["These data are no table, so their columns were not checked."]
    elif not problems:
        problems = [f"No gaps, no constant columns, no values beyond those of the {study.row_name}s."]
    ignored = ", ".join(map(str, study.classifier.ignored_columns_))
    problems += [f"Not compared: {ignored}."] if ignored else []
    items = tag("ul", *(tag("li", sentence) for sentence in problems))
    return section("data", "Data", items, _column_table(columns))


def _column_table(columns: Columns) -> Markup:
    if not columns.names:
        return Markup()
    rows: list[Sequence[object]] = []
    for one in columns.normal:
        if "shares" in one:
            most = ", ".join(f"{name} {share:.0%}" for name, share in list(one["shares"].items())[:3])
            rows.append([one["name"], most or "always missing", ""])
        else:
            low, high, first, last = map(format_data_number, (one["low"], one["high"], *one["ends"]))
            rows.append([one["name"], f"{low} to {high}", f"{first} to {last}"])
    more = f", those named most often of {len(columns.names):,}" if len(columns.names) > len(rows) else ""
    head = ["column", "95% of training rows, or the commonest labels", "all training rows"]
    return fold(f"Ranges of {counted(len(rows), 'column')}{more}", table(head, rows, class_="numbers"))


def model_section(study: Study, columns: Columns) -> Markup:
    """Return how the model decides, and, folded, its regions, its weights, the search and the parameters."""
    classifier = study.classifier
    known: list[tuple[str, object]] = [("measure", classifier.resolved_measure_.called)]
    known += [("prototypes", study.prototype_share)] if study.prototype_share else []
    known += [(name, _in_words(value)) for name, value in classifier.facts().items() if value is not None]
    parameters = [[name, repr(value)] for name, value in classifier.get_params(deep=False).items()]
    folds = [_regions(study), _weights(study), fold("All parameters", table(["parameter", "value"], parameters))]
    return section("model", "Model", tag("p", classifier.describe()), facts(known), _search(study), *folds)


def _in_words(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else format_number(value)


def _search(study: Study) -> Markup:
    history = study.classifier.search_history
    if history is None:
        return Markup()
    first, last = format_number(float(history["best"][0])), format_number(float(history["best"].max()))
    generations = counted(len(history), "generation")
    words = f"Search: {generations}; the best objective was {first} at first and {last} at the end."
    drawn = chart("search", words, lambda axes: plot_history(study.classifier, axes=axes))
    return tag("div", drawn, class_="charts")


def _regions(study: Study) -> Markup:
    """Return the regions as rules, the largest first, and how they were found."""
    if study.regions is None:
        return tag("p", f"Regions are not computed for {len(study.training):,} {study.row_name}s.")
    rules = [study.regions.rules[number] for number in study.regions.order]
    texts = list(map(str, rules))
    shown = int((np.cumsum([text.count("\n") + 1 for text in texts]) <= MOST_LINES).sum()) or 1
    parts = [tag("pre", text) for text in texts[:shown]]
    more = len(rules) - shown
    parts += (
        [tag("p", f"{counted(more, 'smaller region')} left out; eocc inspect prints all rules.")] if more > 0 else []
    )
    curve, chosen = study.classifier.modularity_curve_, len(rules)
    if len(curve) > 1:
        words = f"Modularity Q of the partitions of the spanning tree into 1 to {len(curve):,} clusters; "
        words += f"chosen: {counted(chosen, 'region')}, Q = {format_number(float(curve[chosen - 1]))}."
        drawn = chart("modularity", words, lambda axes: plot_modularity(study.classifier, axes=axes))
        parts.append(tag("div", drawn, class_="charts"))
    return fold(f"{counted(len(rules), 'region')} as rules", joined(parts))


def _weights(study: Study) -> Markup:
    weightings, names = study.classifier.weightings, weight_names(study.classifier)
    if not names:
        return tag("p", "The measure has no weights.")
    order = np.lexsort([-weights for weights in reversed(weightings.values())])[:MOST_LINES].tolist()
    rows = [[names[k], *(format_number(float(weights[k])) for weights in weightings.values())] for k in order]
    more = f", the largest {MOST_LINES}" if len(names) > MOST_LINES else ""
    lines = table(["weight of", *weightings], rows, class_="numbers")
    return fold(f"{counted(len(names), 'weight')} of the dissimilarity{more}", lines)
