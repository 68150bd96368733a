"""``eocc report``."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from eocc.cli.app import app, say
from eocc.cli.reading import (
    InputFormat,
    Label,
    Model,
    SkipIncomplete,
    Target,
    check_label,
    read_for,
    without_names,
)
from eocc.cli.remarks import say_if_learnt
from eocc.foundation.atomic import check_output
from eocc.io.files.source import STDIN
from eocc.io.model_file import load
from eocc.report import write_report


@app.command()
def report(
    model: Model,
    data: Annotated[Path | None, typer.Option(help="New patterns to judge and explain.")] = None,
    input_format: InputFormat = "",
    label: Label = "",
    target: Target = "",
    skip_incomplete: SkipIncomplete = False,
    title: Annotated[str, typer.Option(help="The page's title; the name of the file if not given.")] = "",
    output: Annotated[Path, typer.Option("--output", "-o", help="The page, one HTML file.")] = Path("report.html"),
) -> None:
    """Write a page on a model and its decisions: summary, map, explanations, regions, scores; it needs no network.

    Example: eocc report model.eocc --data new.csv -o report.html
    """
    if data is None and (label or target or input_format):
        raise typer.BadParameter("--label, --target and --input-format are about new patterns: pass --data")
    check_label(label, target)
    check_output(output, model, data)
    classifier = load(model)
    title = title or f"One-class report: {_name(data or model)}"
    with without_names():
        if data is None:
            write_report(classifier, output, title=title)
        else:
            read = read_for(classifier, data, input_format, skip_incomplete, label, target)
            say_if_learnt(classifier, read)
            y = np.where(read.is_target, 1, -1) if label else None
            write_report(classifier, output, read.patterns, y, read.names, title)
    say(f"Written: {output} ({output.stat().st_size / 1e3:.0f} kB).")


def _name(path: Path) -> str:
    return "standard input" if path == STDIN else path.name
