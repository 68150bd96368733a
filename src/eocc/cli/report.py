"""``eocc report``."""

from pathlib import Path

import click

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.io.files.source import STDIN


@command
@options.model_argument
@options.data_option
@options.label_option
@options.target_option
@options.output_option("report.html", "The page, one HTML file.")
@click.option("--title", default="", help="Title of the page; the name of the file by default.")
@options.input_format
@options.skip_incomplete
def report(
    model: Path, data: Path | None, label: str, target: str, output: Path, title: str, input_format: str | None,
    skip_incomplete: bool,
) -> None:  # fmt: skip
    """Write an HTML page about a model and its decisions.

    Example: eocc report model.eocc --data new.csv -o report.html
    """
    if data is None and (label or target or input_format):
        raise click.UsageError("--label, --target and --input-format describe the data: pass --data")
    options.check_label(label, target)

    from eocc import load
    from eocc.cli.reading import Columns, read_for, say_if_trained_on, without_names
    from eocc.foundation.atomic import check_output
    from eocc.report import write_report

    check_output(output, model, data)
    classifier, source = load(model), data or model
    title = title or f"One-class report: {'standard input' if source == STDIN else source.name}"
    with without_names():
        if data is None:
            write_report(classifier, output, title=title)
        else:
            rows = read_for(classifier, data, input_format, skip_incomplete, Columns("", label, target))
            say_if_trained_on(classifier, rows)
            write_report(classifier, output, rows.patterns, rows.signs if label else None, rows.names, title)
    say(f"Written: {output} ({output.stat().st_size / 1e3:.0f} kB).")
