"""The parts of the page: summary, list of rows, map, calibration and drift, data, model."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

import numpy as np
from sklearn.metrics import roc_auc_score

from eocc.base.markup import REPLACED, UNSHOWN, Markup, facts, fold, joined, table, tag
from eocc.base.registry import FEW, MANY, SOME, listed
from eocc.base.wording import counted, format_number
from eocc.classifiers.summary import Counting, Summary
from eocc.entropic.rules import decision_margin
from eocc.explain.explanation import reach_of, weight_names
from eocc.explain.facts import MANY_KNOWN, are_copies
from eocc.measures.base import n_columns_of
from eocc.plots.drawing import draw_p_values, draw_ratios, draw_roc, plot_series
from eocc.report.columns import Columns
from eocc.report.pictures import chart
from eocc.report.study import ACCEPTED, DECISIONS, REJECTED, ScoredRows, Study
from eocc.tables.windows import Windows


def summary(study: Study, columns: Columns, notes: Sequence[str], windows: Windows | None) -> Markup:
    """Return what was found, what is new in the data or was not compared, and the series that rows are windows of."""
    halves = [tag("div", _bullets(_found(study)))]
    if study.new is not None:
        heading = tag("h3", "What is new in these rows, and what was not compared")
        halves.append(tag("div", heading, _bullets(_news(study, columns, notes)), class_="news"))
    series = [] if windows is None else _series(study, windows)
    return joined([tag("div", *halves, class_="halves"), *series])


def _bullets(items: Iterable[object]) -> Markup:
    return tag("ul", *(tag("li", item) for item in items))


def _series(study: Study, windows: Windows) -> Iterator[Markup]:
    """Yield pictures of the series with most rejected windows, in which these are marked."""
    decisions = np.where(study.subject.accepted, 1, -1)
    rejected = Counter(group for group, one in zip(windows.groups, decisions, strict=True) if one < 0)
    alarms = windows.alarms(decisions)
    for group in sorted(dict.fromkeys(windows.groups), key=lambda group: -rejected[group])[:FEW]:
        when = listed(f"{one.start} to {one.end}" for one in alarms if one.group == group)
        found = f"windows rejected from {when}" if when else "no alarms"
        words = f"{'The series' if group is None else group}: {found}."
        height = max(3.3, 0.9 * len(windows.columns))
        yield chart("series", words, partial(plot_series, windows, decisions, group), height)


def model_in_one_line(study: Study) -> str:
    """Return what the model is and what it was fitted to."""
    classifier = study.classifier
    kind = classifier.measure_.kind_of_data(classifier.prototypes_)
    compared = f" of {kind}" if kind else ""
    if kind in ("numbers", "records"):
        compared = f" of {counted(n_columns_of(classifier.prototypes_), 'column')}"
    calibration = classifier.calibration_
    rate = "not calibrated" if calibration is None else f"false-alarm rate {calibration.rate:g}"
    rows = counted(classifier._n_training, "training row")
    return f"Model: {type(classifier).__name__}, {rows}{compared}, {rate}."


def _news(study: Study, columns: Columns, notes: Sequence[str]) -> list[str]:
    found, left_out = list(notes), study.classifier._not_compared
    if left_out:
        named = [f"{name}{f' ({why})' if why else ''}" for name, why in left_out.items()]
        found.append(f"Not compared: {listed(named, MANY)}.")
    if study.new is not None:
        new = [f"{name} ({', '.join(labels[:FEW])}{', ...' if len(labels) > FEW else ''})"
               for name, (_, labels) in study.new.summary.new_categories.items()]  # fmt: skip
        found += [f"New categories: {listed(new)}."] if new else []
        found += [*columns.beyond, *_gaps(study.new.summary, "new row")]
    if not columns.names:
        return [*found, "These data are no table, so it was not checked what is new in them."]
    return found or ["Nothing: every column was compared, and no value is new."]


def _gaps(summary: Summary, kind: str) -> list[str]:
    """Return the sentence on the rows that lack values, and in which columns, if there are any."""
    columns = sorted(summary.gaps.items(), key=lambda one: -one[1])
    words = listed([f"{name} ({count:,})" for name, count in columns])
    return [f"Gaps in {summary.n_incomplete:,} of {counted(summary.n_rows, kind)}: {words}."] if columns else []


def _found(study: Study) -> list[object]:
    kept, new = study.classifier._prototypes_in_words, study.new
    keeps = [f"The model keeps {kept} as prototypes and compares every row with these only."] if kept else []
    if new is None:
        return [f"No new rows were given; the page shows how the model scores its own {study.row_name}s.", *keeps]
    overlap = "The windows overlap, so they depend on each other: discoveries are left out, and drift means little."
    found = list[object]([overlap] if study.overlap else [])
    found += [*_discoveries_in_words(study), *_main_columns(study)]
    found += [*_labels_in_words(new), *_drift_in_words(study, new)]
    is_known = are_copies(new.patterns, study.training.patterns)
    if is_known.mean() > MANY_KNOWN and not study.classifier._scores_left_out:
        remark = "If the model was trained on them, these results are too good; use rows that it has not seen."
        found.append(f"{int(is_known.sum()):,} of them equal a {study.row_name}. {remark}")
    return [*found, *keeps]


def _discoveries_in_words(study: Study) -> list[object]:
    found = study.discoveries
    if found is None:
        return []
    rows = [index for index in study.listed.tolist() if study.decisions[index] == 2]
    names = (UNSHOWN.sub(REPLACED, study.subject.names[index]) for index in rows[:SOME])
    links = [tag("a", name, href=f"#row={quote(name, safe='')}") for name in names]
    more = f" and {found.count - len(links):,} more" if found.count > len(links) else ""
    meaning = f"On average at most {100 * found.rate:g}% of discoveries are normal rows."
    words = [f"{counted(found.count, 'discovery', 'discoveries')}: ", joined(links, ", "), f"{more}. {meaning}"]
    none = f"No discoveries. {f'{found.remark[0].upper()}{found.remark[1:]}.' if found.remark else ''}"
    return [joined(words) if links else none.strip()]


def _main_columns(study: Study) -> list[str]:
    counts = Counter(one.main_column for one in study.explained if not one.is_target and one.main_column)
    if not counts:
        return []
    has_more = study.subject.summary.n_rejected > len(study.explained)
    of = f" of the {len(study.explained):,} most unusual rows" if has_more else ""
    named = listed([f"{name} ({count:,})" for name, count in counts.most_common()])
    return [f"Main reasons{of}: {named}."]


def _drift_in_words(study: Study, new: ScoredRows) -> list[str]:
    """Return the sentence on drift, of the rows that are not labelled as outliers, if the model is calibrated."""
    if new.summary.drift is None or new.is_normal is None:
        return [f"Drift: {new.summary.drift}"] if new.summary.drift else []
    kept = np.flatnonzero(new.is_normal)
    counts: Any = Counting(study.classifier).drift
    counts.add(decision_margin(new.ratios[kept]), new.patterns[kept])
    return [f"Drift of the rows labelled normal: {counts.result()}"] if len(kept) else []


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
            share = f"{n_wrong / n_rows:.1%}"
            said.append(f"{wrong}: {n_wrong:,} of {n_rows:,} rows labelled {label} ({share}) are {decision}.")
    return [" ".join(said)]


def rows(study: Study) -> dict[str, object]:
    """Return the parts of the list of rows, which script.js fills: its words, its filters and its heads."""
    heads = {"name": "row", "decision": "decision", "out": "how far out", "p": "p-value", "why": "main reason"}
    if study.subject.p_values is None:
        del heads["p"]
    sorts = {key: tag("button", text, type="button", data_sort=key, title=f"Sort by {text}")
             for key, text in heads.items()}  # fmt: skip
    row = [tag("th", sort, scope="col", class_="ratio" if key == "out" else key) for key, sort in sorts.items()]
    said = "The most unusual first. Open a row to see its values next to those of normal rows."
    said += f" How far out: {study.classifier._how_far_out_name}; rows up to "
    said += f"{reach_of(study.classifier.threshold_):.4g} are accepted."
    if len(study.listed) < len(study.subject):
        said += f" The page holds {len(study.listed):,} of {len(study.subject):,} rows"
        said += f": the {len(study.listed) // 2:,} most unusual, and an even selection of the others."
    kinds = {"all": len(study.listed), REJECTED: int((~study.subject.accepted[study.listed]).sum())}
    if study.discoveries is not None:
        kinds["discoveries"] = int((study.decisions[study.listed] == 2).sum())
    if study.subject.is_normal is not None:
        kinds["wrong"] = int(study.subject.wrong[study.listed].sum())
    boxes = [(f'type="radio" name="kind" value="{kind}"{" checked" * (kind == "all")}', f"{kind} {count:,}")
             for kind, count in kinds.items()]  # fmt: skip
    return {"rows_in_words": said, "filters": _choices(boxes), "heads": joined(row)}


def _choices(boxes: Iterable[tuple[str, str]]) -> Markup:
    """Return inputs, given by their attributes, with a label each."""
    labels = [tag("label", Markup(f"<input {attributes}>"), f" {text}") for attributes, text in boxes]
    return tag("fieldset", tag("legend", "Show"), *labels) if labels else Markup()


def drawing(study: Study) -> dict[str, object]:
    """Return the parts of the map, which script.js draws: its words, what can be hidden, its name and its legend."""
    said = f"{study.classifier._map_in_words(study.row_name)} The map shows {study.plane.kept:.0%} of their variance. "
    said += f"Inside the dotted circle, which holds 95% of the {study.row_name}s, it is true to scale; outside, "
    said += "distances are logarithmic, so that a far row does not squeeze the others."
    kinds = [] if study.rules is None else ["tree"]
    kinds += ["training", ACCEPTED, REJECTED] if study.new is not None else []
    if study.rules is None:
        said += f" Regions are not shown for {len(study.training):,} {study.row_name}s."
    layers = _choices((f'type="checkbox" checked data-show="{kind}"', kind) for kind in kinds)
    name = f"Map of {len(study.listed):,} {study.kind} rows"
    return {"map_in_words": said, "layers": layers, "map_name": name, "legend": _legend(study)}


def _legend(study: Study) -> Markup:
    signs, kinds = ("+", "\N{MULTIPLICATION SIGN}", "\N{BLACK DIAMOND SUIT}"), np.bincount(study.decisions, minlength=3)
    known = [(sign, kind, f"{study.kind}, {kind}: {count:,}")
             for sign, kind, count in zip(signs, DECISIONS, kinds.tolist(), strict=True) if count]  # fmt: skip
    for number in sorted(study.region_order[:SOME]):
        size = counted((study.rules or [])[number].n_members, "training row")
        known.append(("\N{BLACK CIRCLE}", f"region-{number % 8}", f"region {number}: {size}"))
    items = [tag("li", tag("b", sign, class_=look, aria_hidden="true"), f" {text}") for sign, look, text in known]
    more = len(study.region_order) - SOME
    items += [tag("li", f"and {more} smaller ones")] if more > 0 else []
    return joined(items)


def calibration(study: Study) -> Markup:
    """Return how scores and p-values are spread, the decisions by label, and the ROC curve."""
    rows, calibration, labels = study.subject, study.classifier.calibration_, study.subject.is_normal
    said = "The model is not calibrated. Fit it with a false_alarm_rate to get p-values and a chosen rate of alarms."
    words = f"How far out rows lie. Rows up to {reach_of(study.classifier.threshold_):.3g} are accepted; "
    words += "the last bar includes all that lie farther out."
    charts = [chart("ratios", words, lambda axes: draw_ratios(axes, rows.ratios, labels, study.classifier))]
    if calibration is not None:
        rate, n_training = calibration.rate, counted(study.classifier._n_training, "training row")
        said = f"The false-alarm rate is {rate:.3g}: about {100 * rate:.3g}% of new normal rows are rejected. "
        said += f"It was set on {n_training}, each scored as if the model had not seen it. "
        said += "The p-value of a row is the share of these rows that are at least as unusual."
        if study.new is not None and rows.p_values is not None:
            words = "Share of rows with a p-value of at most a. Normal rows should follow the dashed line."
            draw = partial(draw_p_values, p_values=rows.p_values, is_normal=labels, rate=calibration.limit)
            charts.append(chart("p-values", words, draw))
    note = Markup()
    if labels is not None and len(np.unique(labels)) < 2:
        note = tag("p", "All labels are the same, so there is no ROC curve.")
    elif labels is not None:
        accepted = [float(rows.accepted[kept].mean()) for kept in (labels, ~labels)]
        words = f"ROC curve, AUC {roc_auc_score(labels, rows.scores):.3f}: the probability that a random normal row "
        words += f"scores higher than a random outlier. The decision accepts {accepted[0]:.1%} of the normal rows and "
        words += f"{accepted[1]:.1%} of the outliers."
        charts.append(chart("roc", words, lambda axes: draw_roc(axes, rows.scores, rows.accepted, labels)))
    return joined([tag("p", said), note, tag("div", *charts, class_="charts")])


def training_data(study: Study, columns: Columns) -> Markup:
    """Return what may be wrong with the training rows, in words, and the ranges of the columns, folded."""
    if not columns.names:
        return _bullets(["These data are no table, so their columns were not checked."])
    problems = [*columns.constant, *_gaps(study.training.summary, study.row_name)]
    problems = problems or [f"No gaps and no constant columns in the {study.row_name}s."]
    ranges = [[one.column.name, one.words] for one in columns.axes]
    more = f", those named most often of {len(columns.names):,}" if len(columns.names) > len(ranges) else ""
    shown = table(["column", "95% of training rows, or the commonest categories"], ranges)
    return joined([_bullets(problems), fold(f"What is normal in {counted(len(ranges), 'column')}{more}", shown)])


def model(study: Study) -> Markup:
    """Return how the model decides, and, folded, its regions, its weights, the search and the parameters."""
    classifier = study.classifier
    known: dict[str, Any] = {"measure": classifier.resolved_measure_.called}
    known |= {"prototypes": classifier._prototypes_in_words or None, **classifier._facts()}
    known = {name: format_number(value) if isinstance(value, float) else value for name, value in known.items()}
    shown = [
        (name, f"{value:,}" if isinstance(value, int) else value) for name, value in known.items() if value is not None
    ]
    parameters = [[name, repr(value)] for name, value in classifier.get_params(deep=False).items()]
    folds = [_regions(study), _weights(study), fold("All parameters", table(["parameter", "value"], parameters))]
    history, search = classifier._search_history, Markup()
    if history is not None:
        first, last = format_number(float(history["best"][0])), format_number(float(history["best"].max()))
        words = f"the best objective was {first} at first and {last} at the end."
        search = tag("p", f"Search: {counted(len(history), 'generation')}; {words}")
    return joined([tag("p", classifier._describe()), facts(shown), search, *folds])


def _regions(study: Study) -> Markup:
    if study.rules is None:
        return tag("p", f"Regions are not computed for {len(study.training):,} {study.row_name}s.")
    texts = [str(study.rules[number]) for number in study.region_order]
    parts, more = [tag("pre", text) for text in texts[:MANY]], len(texts) - MANY
    if more > 0:
        parts.append(tag("p", f"{counted(more, 'smaller region')} left out; eocc inspect prints all rules."))
    return fold(f"{counted(len(texts), 'region')} as rules", joined(parts))


def _weights(study: Study) -> Markup:
    weightings, names = study.classifier._weightings, weight_names(study.classifier)
    if not names:
        return tag("p", "The measure has no weights.")
    order = np.lexsort([-weights for weights in reversed(weightings.values())])[:MANY].tolist()
    rows = [[names[k], *(format_number(float(weights[k])) for weights in weightings.values())] for k in order]
    more = f", the largest {MANY}" if len(names) > MANY else ""
    lines = table(["weight of", *weightings], rows, class_="numbers")
    return fold(f"{counted(len(names), 'weight')} of the dissimilarity{more}", lines)
