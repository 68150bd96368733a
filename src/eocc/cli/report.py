"""``eocc report``."""

from pathlib import Path

import click

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import open_model
from eocc.io.files.source import STDIN


@command
@options.model_argument
@options.data_option
@options.output_option("report.html", "The page, one HTML file.")
@click.option("--title", default="", help="Title of the page; the name of the file by default.")
@options.data_options("label", "target", "id_column")
def report(model: Path, data: Path | None, output: Path, title: str, about: options.DataOptions) -> None:
    """Write an HTML page about a model and its decisions.

    Example: eocc report model.eocc --data new.csv -o report.html
    """
    classifier, source = open_model(model, output, data), data or model

    from eocc.cli.reading import read_for, say_if_trained_on
    from eocc.report import write_report

    title = title or f"One-class report: {'standard input' if source == STDIN else source.name}"
    if data is None:
        write_report(classifier, output, title=title)
    else:
        rows = read_for(classifier, data, about)
        say_if_trained_on(classifier, rows)
        write_report(classifier, output, rows.patterns, rows.signs if about.label else None, rows.names, title)
    say(f"Written: {output} ({output.stat().st_size / 1e3:.0f} kB).")
