"""The page: its parts in order, its style and script, and a policy that forbids it the network."""

import base64
import hashlib
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.foundation.atomic import drafted
from eocc.report.explained import templates
from eocc.report.map import map_section
from eocc.report.markup import Markup, joined, tag
from eocc.report.model_sections import measure_name, model_section, regions_section
from eocc.report.sections import (
    N_STRANGEST,
    data_section,
    decisions_section,
    strangest_section,
    summary_section,
)
from eocc.report.study import Study, study_of

CONTENTS = {
    "summary": "Summary",
    "map": "Map",
    "strangest": "Farthest",
    "regions": "Regions",
    "decisions": "Scores",
    "data": "Data",
    "model": "Model",
}


def write_report(
    classifier: EntropicOneClassClassifier,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    names: Iterable[Any] | None = None,
    title: str | None = None,
) -> Path:
    """Write one HTML page on a fitted classifier, and on new patterns X if given, and return its path.

    The page needs nothing else: no network, no server. y are labels of X (+1 for targets, -1 for all else), `names`
    what to call its patterns; without them they are counted from 0. The file appears when it is whole.

    >>> from tempfile import TemporaryDirectory
    >>> clf = EntropicOneClassClassifier(search=None).fit([[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]])
    >>> with TemporaryDirectory() as folder:
    ...     write_report(clf, folder + "/report.html", X=[[9.0, 9.0]]).read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    study = study_of(classifier, X, y, names)
    text, output = page(study, title or f"One-class report: {measure_name(classifier)}"), Path(path)
    with drafted(output) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return output


def page(study: Study, title: str) -> Markup:
    """Return the whole page."""
    style, script = (files("eocc.report").joinpath(name).read_text("utf-8") for name in ("style.css", "script.js"))
    head = tag(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="referrer" content="no-referrer">'),
        tag("title", title),
        tag("style", Markup(style)),
    )
    body = tag("body", *_body(study, title), tag("script", Markup(script)))
    return Markup(f"<!doctype html>\n{tag('html', head, body, lang='en')}\n")


def policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows this style and this script, and pictures in the page, alone.

    >>> policy("", "").split("; ")[0]
    "default-src 'none'"
    """
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _body(study: Study, title: str) -> list[Markup]:
    links = [tag("li", tag("a", name, href=f"#{key}")) for key, name in CONTENTS.items()]
    made = f"Made by eocc {version('eocc')} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
    sections = [
        summary_section(study),
        map_section(study),
        strangest_section(study),
        regions_section(study),
        decisions_section(study),
        data_section(study),
        model_section(study),
    ]
    return [
        tag("a", "Skip to the contents", href="#main", class_="skip"),
        tag("header", tag("h1", title), tag("p", made, class_="note")),
        tag("nav", tag("ul", *links), aria_label="Contents"),
        tag("main", joined(sections, Markup("\n")), id="main", tabindex="-1"),
        templates(study, study.told.strangest[:N_STRANGEST].tolist()),
    ]
