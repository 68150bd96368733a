"""What script.js shows: the rows with their explanations, what is normal in each column, and the map, as JSON."""

import json
from typing import Any

import numpy as np

from eocc.explain import Explanation
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import GLUE, decimals_for, format_number, shortened
from eocc.measures.difference import Difference, ranked_contributions
from eocc.plots.projection import LogFrame, edges_between, evenly
from eocc.plots.reasons import reasons_of
from eocc.report.columns import Columns, rounded
from eocc.report.markup import UNSHOWN
from eocc.report.pictures import picture_of
from eocc.report.study import MOST_LISTED, Study

# Rows are described in up to this many characters.
LONGEST_WORDS = 160


def page_data(study: Study, columns: Columns) -> dict[str, Any]:
    """Return all that script.js needs."""
    frame, rows = LogFrame.around(study.training.points), study.subject
    drawn = _drawn_training(study)
    edges = np.empty((0, 2), np.int64) if study.regions is None else edges_between(study.classifier, drawn)
    explained = dict(zip(study.listed.tolist(), study.explained, strict=False))
    return {
        "columns": columns.normal,
        "rows": [_row(study, columns, frame, index, explained.get(index)) for index in study.listed.tolist()],
        "training": [_training(study, frame, index) for index in (drawn.tolist() if study.new is not None else ())],
        "tree": _places(frame, study.training.points[edges.ravel()]) if len(edges) else [],
        "is_new": study.new is not None,
        "has_p": rows.p_values is not None,
        "n_explained": len(study.explained),
        "called": study.row_name,
    }


def as_json(data: Any) -> str:
    """Return JSON that an HTML page can hold in a script: no tag can end it, and nothing changes the direction."""
    text = json.dumps(_shown(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return UNSHOWN.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_shown(key): _shown(one) for key, one in value.items() if one is not None}
    return [_shown(one) for one in value] if isinstance(value, list) else value


def _drawn_training(study: Study) -> Indices:
    """Return the training rows on the map: those listed, or as many if there are new rows."""
    return np.sort(study.listed) if study.new is None else evenly(np.arange(len(study.training)), MOST_LISTED)


def _places(frame: LogFrame, points: Matrix) -> list[list[float]]:
    return [[round(x, 3), round(y, 3)] for x, y in frame.place(points).tolist()]


def _training(study: Study, frame: LogFrame, index: int) -> dict[str, Any]:
    region = None if study.regions is None else int(study.regions.labels[index])
    [at] = _places(frame, study.training.points[index : index + 1])
    return {"name": study.training.names[index], "at": at, "region": region}


def _row(study: Study, columns: Columns, frame: LogFrame, index: int, one: Explanation | None) -> dict[str, Any]:
    rows = study.subject
    [at] = _places(frame, rows.points[index : index + 1])
    return {
        "name": rows.names[index],
        "at": at,
        "decision": int(study.decisions[index]),
        "out": float(f"{min(rows.ratios[index], 1e300):.4g}"),
        "p": None if rows.p_values is None else float(f"{rows.p_values[index]:.3g}"),
        "label": None if rows.is_normal is None else bool(rows.is_normal[index]),
        "region": None if rows.nearest is None or study.new is not None else int(rows.nearest[index]),
        "words": None if columns.names else shortened(study.describe(rows, index), LONGEST_WORDS),
        "values": columns.values(index, study.new is not None) if columns.names else None,
    } | ({} if one is None else _explained(study, columns, index, one))


def _explained(study: Study, columns: Columns, index: int, one: Explanation) -> dict[str, Any]:
    role, other = one.compared_with
    pair = [study.subject.patterns[index], study.classifier.prototypes_[other.column]]
    words = [f"row {study.subject.names[index]}", f"the {role}, {other.name}"]
    reasons, total = reasons_of(one), one.difference.dissimilarity
    opening = f"Dissimilarity {format_number(total)} from the {role}, {other.name}: {one.difference.meaning}."
    return {
        "say": _after_decision(getattr(one, "sentence", one.headline)),
        "why": shortened(reasons[0].text, LONGEST_WORDS),
        "reasons": [{"name": one.name, "low": rounded(one.low), "high": rounded(one.high)} for one in reasons],
        "heading": one.exemplars_heading.rstrip(":"),
        "near": [_near(study, columns, exemplar) for exemplar in one.exemplars],
        "meaning": opening,
        "parts": _parts(one.difference),
        "notes": [note.replace(GLUE, " ") for note in one.notes()],
        "picture": picture_of(study.classifier, pair, one.difference, words),
    }


def _after_decision(sentence: str) -> str:
    """Return the sentence without the decision, which the page shows as a label before it."""
    _, _, rest = sentence.partition(": ")
    return f"{rest[0].upper()}{rest[1:]}" if rest else sentence


def _near(study: Study, columns: Columns, other: Any) -> dict[str, Any]:
    shown = {"name": other.name, "far": float(f"{min(other.dissimilarity, 1e300):.4g}")}
    if columns.names:
        return shown | {"values": columns.values(other.column, is_new=False)}
    return shown | {"words": shortened(study.describe(study.training, other.column), LONGEST_WORDS)}


def _parts(difference: Difference) -> list[list[str]]:
    """Return the contributions in words, with amount and share; those of a composite's part follow it."""
    total, lines = difference.dissimilarity, []
    for part in ranked_contributions(difference.contributions):
        lines.append([part.text, f"{part.amount:.{decimals_for(total)}f}", f"{part.amount / total:.0%}"])
        lines += [
            [f"of this: {text}", "", share] for text, _, share in ([] if part.inner is None else _parts(part.inner))
        ]
    return lines
