"""``eocc inspect``, ``eocc export``, ``eocc plot`` and ``eocc report``: what a model holds and decides."""

from datetime import UTC, datetime
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any

import click

from eocc.base.atomic import drafted
from eocc.base.printing import on_one_line
from eocc.base.registry import choose, listed
from eocc.cli import options
from eocc.cli.app import command, say, usage
from eocc.cli.output import json_line, open_model, say_file, say_if_trained_on, writing
from eocc.plots import PLOTS

LANGUAGES = ("sql", "python", "json")
DIALECTS = ("duckdb", "postgres", "sqlite", "bigquery")
PICTURES = ("png", "svg", "pdf")


@command
@options.model_argument
@options.result_option("description")
@options.format_option("text", "json", "markdown", more="; the suffix of --output decides by default")
def inspect(model: Path, output: Path | None, form: str | None) -> None:
    """Show what a model has learned, as a model card.

    Example: eocc inspect model.eocc -o card.md
    """
    from eocc.plots.projection import shows_regions

    form = form or {".md": "markdown", ".json": "json"}.get("" if output is None else output.suffix.lower(), "text")
    classifier = open_model(model, output)
    rules = [str(rule) for rule in classifier.rules()] if shows_regions(classifier) else None
    write_facts(classifier, output, form, rules, model)
    if rules is None:
        say("Note: regions are left out: this model has too many or too long rows. Fit it with --prototypes 1000 or "
            "shorter rows to see them.")  # fmt: skip
    say_file(output)


def write_facts(
    classifier: Any, output: Path | None, form: str, rules: list[str] | None = None, model: Path | None = None
) -> None:
    """Write the facts of a model as lines, JSON or Markdown; given its file, also those of the file and the columns."""
    from eocc.base.printing import printable_lines
    from eocc.formats.model_file import version_of

    facts, columns, left_out = facts_of(classifier), [], {}
    if model is not None:
        calibration, written = classifier.calibration_, datetime.fromtimestamp(model.stat().st_mtime, UTC)
        n = None if calibration is None else len(calibration.margins)
        facts |= {
            "calibration rows, each left out": n, "smallest p-value": None if n is None else 1 / (n + 1),
            "file written": f"{written:%Y-%m-%d %H:%M} UTC", "written by": f"eocc {version_of(model)}",
            "read by": f"eocc {version('eocc')}",
        }  # fmt: skip
        columns, left_out = columns_of(classifier), classifier._not_compared
    with writing(output) as file:
        if form == "json":
            more = {"columns": columns, "not compared": {str(name): why for name, why in left_out.items()}}
            more |= {} if rules is None else {"rules": rules}
            file.write(json_line(facts if model is None else facts | more))
            return
        if left_out:
            facts["not compared"] = ", ".join(f"{name}{f' ({why})' if why else ''}" for name, why in left_out.items())
        shown = {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in facts.items()}
        tables = [
            [(name, value) for name, value in shown.items() if value is not None],
            [(f"column {one['name']} ({one['kind']})", one["normal"]) for one in columns],
        ]
        parts = ["\n".join(f"{name}: {value}" for name, value in table) for table in tables] + (rules or [])
        if form == "markdown":
            parts = [f"# Model card: {Path(model or '').name}"]
            for rows in filter(None, tables):
                cells = ([on_one_line(str(cell)).replace("|", "\\|") for cell in row] for row in rows)
                parts.append("\n".join(["| | |", "|---|---|", *(f"| {' | '.join(row)} |" for row in cells)]))
            parts += [f"```\n{rule}\n```" for rule in rules or []]
        file.write(printable_lines("\n\n".join(filter(None, parts))) + "\n")


def columns_of(classifier: Any) -> list[dict[str, Any]]:
    """Return the compared columns of a table: name, kind, and what training rows have."""
    import numpy as np

    from eocc.base.wording import format_value, to_json
    from eocc.tables.table import Column

    reading, found = classifier.reading_, []
    for one in () if reading is None else reading.columns:
        ends = [Column(one.name, one.kind, np.empty(0)).given(end) for end in (one.low, one.high) if end is not None]
        normal = listed(one.labels) if one.labels else " to ".join(map(format_value, ends))
        low, high = map(to_json, ends or (None, None))
        more = {"n_categories": len(one.labels)} if one.labels else {}
        found.append({"name": str(one.name), "kind": one.kind, "low": low, "high": high, "normal": normal, **more})
    return found


def facts_of(classifier: Any) -> dict[str, Any]:
    """Return the facts of a model by name, with the rows and the measure."""
    facts = dict(classifier._facts())
    measure = classifier.resolved_measure_ if classifier.measure == "auto" else classifier.measure
    windows = {} if classifier._windowing_ is None else {"windows": str(classifier._windowing_)}
    n_prototypes = None if classifier._is_whole else len(classifier.prototypes_)
    named = {"method": facts.pop("method"), "measure": measure if isinstance(measure, str) else type(measure).__name__}
    return {**named, **windows, "training rows": classifier._n_training, "prototypes": n_prototypes, **facts}


@command
@options.model_argument
@click.option("--to", "language", type=options.choice_of("language", LANGUAGES), required=True,
              help="What to write: a SELECT statement, a Python module, or the numbers as JSON.")  # fmt: skip
@click.option("--table", default="", metavar="NAME", help="With --to sql, the table of rows, for example main.parts.")
@click.option("--dialect", type=options.choice_of("dialect", DIALECTS), default=None,
              help="With --to sql, the database. Default: duckdb.")  # fmt: skip
@options.result_option("statement or module")
def export(model: Path, language: str, table: str, dialect: str | None, output: Path | None) -> None:
    """Write a model of regions as SQL, Python or JSON.

    It must be a model of --method regions, of rows of numbers or of a table without dates. The statement has no
    training row in it, except as the centre of a region of one row, and needs nothing but the table. The module needs
    nothing but Python. A row with a missing value gets no decision: NULL in SQL, None in Python.

    Example: eocc export regions.eocc --to sql --table parts --dialect postgres
    """
    given = {"--table": table, "--dialect": dialect}
    for option in (option for option, value in given.items() if value and language != "sql"):
        raise click.UsageError(f"{option} is for --to sql; leave it out")
    classifier = open_model(model, output)
    if not hasattr(classifier, "to_sql"):
        raise ValueError(f"{model} holds no regions of one shape: fit it with --method regions to export it")
    if language == "sql":
        if not table:
            raise click.UsageError("--to sql needs --table, the name of the table to score")
        read = classifier.reading_.columns if classifier.reading_ else ()
        if numbers := [ascii(str(one.name)) for one in read if one.kind == "number"]:
            odd = "text such as '$1,234' gets no decision, or stops the query"
            say(f"Note: the table must hold numbers in {listed(numbers)}: {odd}.")
        text = classifier.to_sql(table.split("."), dialect or DIALECTS[0])
    else:
        text = classifier.to_python() if language == "python" else classifier.to_json()
    with writing(output) as file:
        file.write(text.rstrip("\n") + "\n")
    say_file(output)


@command
@options.model_argument
@click.argument("kind", type=options.choice_of("picture", PLOTS))
@options.data_option
@options.output_option("picture.png", "The picture: png, svg or pdf.")
@options.data_options("label", "target", "id_column", "strict")
def plot(model: Path, kind: str, data: options.DataFiles | None, output: Path, about: options.DataOptions) -> None:
    """Draw a model, or which rows are unusual and why.

    Example: eocc plot model.eocc rows --data new.csv -o rows.png
    """
    form, draw = output.suffix.lower().removeprefix("."), PLOTS[kind]
    takes = {one.name: one.default is one.empty for one in signature(draw).parameters.values()}  # and what it needs
    with usage():
        if takes.get("X") and data is None:
            raise ValueError(f"the picture {kind!r} needs rows: pass --data")
        if takes.get("y") and not about.label:
            raise ValueError(f"the picture {kind!r} needs labels: pass --label and --target")
        if data is not None and "X" not in takes:
            raise ValueError(f"the picture {kind!r} shows the model alone; leave --data out")
        choose("picture format", dict.fromkeys(PICTURES), form, otherwise="name the output picture.png")
    classifier = open_model(model, output, *(data.paths if data else ()))

    from eocc.cli.reading import read_for
    from eocc.plots.drawing import new_figure

    figure, given = new_figure(*((8.4, 6.0) if kind == "rows" else (6.4, 4.6))), dict[str, Any]()
    if data is not None:
        rows = read_for(classifier, data, about)
        if takes["X"]:
            say_if_trained_on(classifier, rows)
        known = {"X": rows.X, "y": rows.signs if about.label else None, "names": list(map(str, rows.names))}
        given = {name: value for name, value in known.items() if name in takes}
    draw(classifier, **given, axes=figure.subplots())
    with drafted(output) as draft:
        figure.savefig(draft, dpi=120, format=form)
    say_file(output)


@command
@options.model_argument
@options.data_option
@options.output_option("report.html", "The page, one HTML file.")
@click.option("--title", default="", help="What the page is about; the name of the file by default.")
@options.data_options("label", "target", "id_column", "strict")
def report(model: Path, data: options.DataFiles | None, output: Path, title: str, about: options.DataOptions) -> None:
    """Write an HTML page about a model and its decisions.

    Example: eocc report model.eocc --data new.csv -o report.html
    """
    classifier = open_model(model, output, *(data.paths if data else ()))

    from eocc.cli.reading import read_for
    from eocc.report import write_report
    from eocc.report.page import checked_page

    checked_page(output)
    title = title or (data or model).name
    if data is None:
        write_report(classifier, output, title=title)
    else:
        rows = read_for(classifier, data, about)
        say_if_trained_on(classifier, rows)
        notes = rows.unread()
        known = about.label, *classifier.ignored_columns_
        if unknown := [str(one.name) for one in rows.ignored if one.name not in known and not rows.windows]:
            notes.append(f"Not in the model, so not compared: {listed(unknown)}.")
        y = rows.signs if about.label else None
        n_unread = len(rows.faults)
        write_report(classifier, output, rows.X, y, rows.names, title, notes, rows.windows, n_unread)
    say(f"Written: {output} ({output.stat().st_size / 1e3:.0f} kB).")
