"""``eocc report``."""

from pathlib import Path

import click

from eocc.base.registry import listed
from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import open_model, say_if_trained_on


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
        if unknown := [str(one.name) for one in rows.part.ignored if one.name not in known and not rows.windows]:
            notes.append(f"Not in the model, so not compared: {listed(unknown)}.")
        y = rows.signs if about.label else None
        n_unread = len(rows.part.faults)
        write_report(classifier, output, rows.X, y, rows.names, title, notes, rows.windows, n_unread)
    say(f"Written: {output} ({output.stat().st_size / 1e3:.0f} kB).")
