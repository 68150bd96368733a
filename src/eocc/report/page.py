"""The page: its parts in order, its style and script, and a policy that forbids access to the network."""

import base64
import hashlib
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from eocc.classifiers.base import OneClassClassifier
from eocc.foundation.atomic import drafted
from eocc.report.columns import columns_of
from eocc.report.markup import Markup, joined, tag
from eocc.report.rows import as_json, page_data
from eocc.report.sections import (
    calibration_section,
    data_section,
    map_section,
    model_section,
    rows_section,
    summary_section,
)
from eocc.report.study import Study, study_of

# What the contents call each part, by its identity.
PARTS = {
    "summary": ("Summary", summary_section),
    "rows": ("Rows", rows_section),
    "map": ("Map", map_section),
    "calibration": ("Calibration", calibration_section),
    "data": ("Data", data_section),
    "model": ("Model", model_section),
}


def write_report(
    classifier: OneClassClassifier,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    names: Iterable[Any] | None = None,
    title: str | None = None,
) -> Path:
    """Write one HTML page about a fitted classifier, and about new rows if given, and return its path.

    The page needs no network and no server. The file is written whole or not at all.

    Parameters
    ----------
    classifier : OneClassClassifier
        The fitted classifier.
    path : str or path
        The page.
    X, y : rows and labels, default=None
        New rows, and +1 for normal ones or -1 for outliers.
    names : iterable, default=None
        The names of the rows; by default they are numbered from 0.
    title : str, default=None
        The title of the page.
    """
    study = study_of(classifier, X, y, names)
    text, output = _page(study, title or "One-class report"), Path(path)
    with drafted(output) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return output


def _page(study: Study, title: str) -> str:
    columns = columns_of(study.classifier, None if study.new is None else study.new.patterns, study.explained)
    links = [tag("li", tag("a", name, href=f"#{identity}")) for identity, (name, _) in PARTS.items()]
    nav = tag("nav", tag("ul", *links), aria_label="Contents")
    sections = joined([part(study, columns) for _, part in PARTS.values()], "\n")
    return document(title, ["style.css"], ["row.js", "script.js"], page_data(study, columns), nav, sections)


def document(title: str, styles: Sequence[str], scripts: Sequence[str], data: Any, nav: Markup, main: Markup) -> str:
    """Return a page with these styles and scripts of this package, which find `data` as JSON in "page-data"."""
    read = files("eocc.report").joinpath
    style, script = ("".join(read(name).read_text("utf-8") for name in names) for names in (styles, scripts))
    head = tag(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="referrer" content="no-referrer">'),
        tag("title", title),
        tag("style", Markup(style)),
    )
    made = f"Made by eocc {version('eocc')} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
    body = tag(
        "body",
        tag("a", "Skip to the contents", href="#main", class_="skip"),
        tag("header", tag("h1", title), tag("p", made, class_="note")),
        nav,
        tag("main", main, id="main", tabindex="-1"),
        tag("script", Markup(as_json(data)), type="application/json", id="page-data"),
        tag("script", Markup(script)),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows only this style, this script and pictures inside the page."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    allowed = f"style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; img-src data:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
