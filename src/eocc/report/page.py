"""The page: its parts in order, its style and script, and a policy that forbids access to the network."""

import base64
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from eocc.base.atomic import drafted
from eocc.base.markup import Markup, joined, tag
from eocc.classifiers.base import OneClassClassifier
from eocc.report import sections
from eocc.report.columns import columns_of
from eocc.report.rows import as_json, page_data
from eocc.report.study import Study, study_of
from eocc.tables.windows import Windows

# What the contents call each part, by its identity.
PARTS = {"summary": "Summary", "rows": "Rows", "map": "Map", "calibration": "Calibration", "data": "Training data",
         "model": "Model"}  # fmt: skip


def write_report(
    classifier: OneClassClassifier,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    names: Iterable[Any] | None = None,
    title: str | None = None,
    notes: Sequence[str] = (),
    windows: Windows | None = None,
    n_unread: int = 0,
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
        What the page is about; the verdict is its heading.
    notes : sequence of str, default=()
        Sentences for the top of the page, for example on rows that could not be read.
    windows : Windows, default=None
        What `eocc.windows` returned, if X are windows of a series: the page draws it, and marks the rejected ones.
    n_unread : int, default=0
        How many rows, which are not in X, could not be read. The heading counts them as rejected.
    """
    checked_page(path)
    overlap = windows is not None and windows.overlap
    study = replace(study_of(classifier, X, y, names), n_unread=n_unread, overlap=overlap)
    return write_page(path, _page(study, title or "One-class report", notes, windows))


def checked_page(path: str | os.PathLike[str]) -> None:
    """Raise a ValueError if the name of a page says that it is something else."""
    output = Path(path)
    if output.suffix.lower() not in ("", ".html", ".htm"):
        hint = "; print it from the browser to get a PDF" if output.suffix.lower() == ".pdf" else ""
        raise ValueError(f"the page is HTML: call it {output.with_suffix('.html').name!r}, not {output.name!r}{hint}")


def write_page(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page, whole or not at all, and return its path."""
    with drafted(Path(path)) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)


def _page(study: Study, title: str, notes: Sequence[str], windows: Windows | None) -> str:
    columns = columns_of(study.classifier, None if study.new is None else study.new.patterns, study.explained)
    links = [tag("li", tag("a", name, href=f"#{identity}")) for identity, name in PARTS.items()]
    nav = tag("nav", tag("ul", *links), aria_label="Contents")
    parts = [sections.summary_section(study, columns, notes, windows), sections.rows_section(study)]
    parts += [sections.map_section(study), sections.calibration_section(study)]
    parts += [sections.data_section(study, columns), sections.model_section(study)]
    header, data = [title, study.verdict, sections.model_in_one_line(study)], page_data(study, columns)
    return document(header, ["style.css"], ["row.js", "script.js"], data, nav, joined(parts, "\n"))


def document(
    header: Sequence[str], styles: Sequence[str], scripts: Sequence[str], data: Any, nav: Markup, main: Markup
) -> str:
    """Return a page with these styles and scripts of this package, which find `data` as JSON in "page-data".

    The `header` says what the page is about, its heading, and what else to know.
    """
    about, heading, more = header
    read = files("eocc.report").joinpath
    style, script = ("".join(read(name).read_text("utf-8") for name in names) for names in (styles, scripts))
    meta = f"""<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">"""
    head = tag("head", Markup(meta), tag("title", f"{heading} ({about})"), tag("style", Markup(style)))
    made = f"Made by eocc {version('eocc')} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
    body = tag(
        "body", tag("a", "Skip to the contents", href="#main", class_="skip"),
        tag("header", tag("p", about, class_="about"), tag("h1", heading), tag("p", f"{more} {made}", class_="note")),
        nav, tag("main", main, id="main", tabindex="-1"),
        tag("script", Markup(as_json(data)), type="application/json", id="page-data"), tag("script", Markup(script)),
    )  # fmt: skip
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows only this style, this script and pictures inside the page."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    allowed = f"style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; img-src data:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
