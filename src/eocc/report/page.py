"""The page: its parts in order, the rows and the map as JSON, and a policy that forbids access to the network."""

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from eocc.base.atomic import drafted
from eocc.base.markup import REPLACED, UNSHOWN, Markup, escaped
from eocc.base.registry import FEW, listed
from eocc.base.types import Matrix
from eocc.base.wording import GLUE, finite, format_number, format_part, share, shortened
from eocc.classifiers.base import OneClassClassifier
from eocc.explain.explanation import Explanation, described
from eocc.measures.difference import Difference, ranked_contributions
from eocc.plots.projection import LogFrame, edges_between, evenly
from eocc.report import sections
from eocc.report.columns import Columns, columns_of
from eocc.report.pictures import picture_of
from eocc.report.study import MOST_LISTED, Study, study_of
from eocc.tables.windows import Windows


def write_report(
    classifier: OneClassClassifier, path: str | os.PathLike[str], X: Any = None, y: Any = None,
    names: Iterable[Any] | None = None, title: str | None = None, notes: Sequence[str] = (),
    windows: Windows | None = None, n_unread: int = 0,
) -> Path:  # fmt: skip
    """Write one HTML page about a fitted classifier, and about new rows if given, and return its path.

    The page needs no network and no server. The file is written whole or not at all.
    """
    checked_page(path)
    overlap = windows is not None and windows.overlap
    study = replace(study_of(classifier, X, y, names), n_unread=n_unread, overlap=overlap)
    columns = columns_of(classifier, None if study.new is None else study.new.patterns, study.explained)
    body = filled(
        "report.html", summary=sections.summary(study, columns, notes, windows), **sections.rows(study),
        **sections.drawing(study), calibration=sections.calibration(study),
        training_data=sections.training_data(study, columns), model=sections.model(study),
    )  # fmt: skip
    header = [title or "One-class report", study.verdict, sections.model_in_one_line(study)]
    return write_page(path, header, ["style.css"], ["row.js", "script.js"], page_data(study, columns), body)


def checked_page(path: str | os.PathLike[str]) -> None:
    """Raise a ValueError if the name of a page says that it is something else."""
    output = Path(path)
    if output.suffix.lower() not in ("", ".html", ".htm"):
        hint = "; print it from the browser to get a PDF" if output.suffix.lower() == ".pdf" else ""
        raise ValueError(f"the page is HTML: call it {output.with_suffix('.html').name!r}, not {output.name!r}{hint}")


def write_page(
    path: str | os.PathLike[str], header: Sequence[str], styles: Sequence[str], scripts: Sequence[str], data: Any,
    body: Markup,
) -> Path:  # fmt: skip
    """Write a page, whole or not at all, and return its path.

    It has these styles and scripts of this package, which find `data` as JSON in "page-data". The `header` says what
    the page is about, its heading, and what else to know.
    """
    style, script = (Markup("".join(map(_content, names))) for names in (styles, scripts))
    made = f"Made by eocc {version('eocc')} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
    words = dict(zip(("about", "heading", "more"), header, strict=True))
    code = {"style": style, "script": script, "policy": Markup(policy(style, script)), "data": Markup(as_json(data))}
    with drafted(Path(path)) as draft:
        draft.write_text(filled("page.html", **words, **code, made=made, body=body), encoding="utf-8", newline="\n")
    return Path(path)


def filled(template: str, **parts: object) -> Markup:
    """Return a template of this package with the parts in their places."""
    return Markup(Template(_content(template)).substitute({name: escaped(part) for name, part in parts.items()}))


def _content(name: str) -> str:
    return files("eocc.report").joinpath(name).read_text("utf-8")


def policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows only this style, this script and pictures inside the page."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    allowed = f"style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; img-src data:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def page_data(study: Study, columns: Columns) -> dict[str, Any]:
    """Return all that row.js and script.js need."""
    frame, rows = LogFrame.around(study.training.points), study.subject
    # The training rows on the map: those listed, or as many if there are new rows.
    some = evenly(np.arange(len(study.training)), MOST_LISTED)
    drawn = np.sort(study.listed) if study.new is None else some
    edges = np.empty((0, 2), np.int64) if study.labels is None else edges_between(study.classifier, drawn)
    explained = dict(zip(study.listed.tolist(), study.explained, strict=False))
    return {
        "columns": columns.normal,
        "rows": [_row(study, columns, frame, index, explained.get(index)) for index in study.listed.tolist()],
        "training": [] if study.new is None else [
            {"name": study.training.names[index], "at": at,
             "region": None if study.labels is None else int(study.labels[index])}
            for index, at in zip(drawn.tolist(), _places(frame, study.training.points[drawn]), strict=True)
        ],
        "tree": _places(frame, study.training.points[edges.ravel()]) if len(edges) else [],
        "is_new": study.new is not None,
        "has_p": rows.p_values is not None,
        "n_explained": len(study.explained),
        "called": study.row_name,
    }  # fmt: skip


def as_json(data: Any) -> str:
    """Return JSON that an HTML page can hold in a script: no tag can end it, and nothing changes the direction."""
    text = json.dumps(_shown(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return UNSHOWN.sub(REPLACED, value)
    if isinstance(value, dict):
        return {_shown(key): _shown(one) for key, one in value.items() if one is not None}
    return [_shown(one) for one in value] if isinstance(value, list) else value


def _places(frame: LogFrame, points: Matrix) -> list[list[float]]:
    return [[round(x, 3), round(y, 3)] for x, y in frame.place(points).tolist()]


def _row(study: Study, columns: Columns, frame: LogFrame, index: int, one: Explanation | None) -> dict[str, Any]:
    rows = study.subject
    [at] = _places(frame, rows.points[index : index + 1])
    return {
        "name": rows.names[index],
        "at": at,
        "decision": int(study.decisions[index]),
        "rejected": not rows.accepted[index],
        "out": format_number(finite(rows.ratios[index])),
        "p": None if rows.p_values is None else format_number(rows.p_values[index]),
        "label": None if rows.is_normal is None else bool(rows.is_normal[index]),
        "region": None if study.labels is None or study.new is not None else int(study.labels[index]),
        **contents(study.classifier, columns, rows.patterns, index, study.new is not None),
    } | ({} if one is None else explained(study.classifier, columns, rows.patterns[index], rows.names[index], one))


def contents(
    classifier: OneClassClassifier, columns: Columns, patterns: Any, index: int, is_new: bool
) -> dict[str, Any]:
    """Return the values of a row, if it has columns, or the row in a few words."""
    if columns.names:
        return columns.values(index, is_new)
    return {"words": shortened(described(classifier, patterns, index), 160)}


def explained(
    classifier: OneClassClassifier, columns: Columns, pattern: Any, name: str, one: Explanation
) -> dict[str, Any]:
    """Return the explanation of a row of this name: sentence, reasons, nearest training rows, picture."""
    other_words, other = one.compared_with
    pair = [pattern, classifier.prototypes_[other.column]]
    words, difference = [f"row {name}", f"the {other_words}"], one.difference
    far = f"Dissimilarity {format_number(difference.dissimilarity)} from the {other_words}"
    # The page shows the decision as a label before the sentence.
    said = one.sentence.partition(": ")[2] or one.sentence
    notes = f" Notes: {listed(one.facts.split('; '), FEW, '; ')}." if one.facts else ""
    return {
        "say": f"{said[0].upper()}{said[1:]}{notes}",
        "why": shortened(one.main_reason, 160),
        "main": one.main_column,
        "reasons": [
            {"name": reason.name, "said": reason.said, "normal": reason.normal, "near": columns.places_near(reason),
             "out": reason.stands_out or None, "share": f"{reason.share:.0%}"}
            for reason in one.reasons
        ],
        "heading": one.exemplars_heading.rstrip(":"),
        "near": [
            {"name": near.name, "far": format_number(finite(near.dissimilarity)),
             **contents(classifier, columns, classifier.prototypes_, near.column, is_new=False)}
            for near in one.exemplars
        ],
        "meaning": f"{far}: {difference.meaning}.",
        "parts": _parts(difference),
        "notes": [note.replace(GLUE, " ") for note in one.notes()],
        "picture": picture_of(classifier, pair, difference, words),
    }  # fmt: skip


def _parts(difference: Difference) -> list[list[str]]:
    """Return the contributions in words, with amount and share; those of a composite's part follow it."""
    total, lines = difference.dissimilarity, []
    for part in ranked_contributions(difference.contributions):
        lines.append([part.text, format_part(part.amount, total), share(part.amount, total).strip()])
        inner = [] if part.inner is None else _parts(part.inner)
        lines += [[f"of this: {text}", "", percent] for text, _, percent in inner]
    return lines
