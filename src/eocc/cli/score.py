"""``eocc score``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import PARQUET, ROW_FORMATS, format_of, say_written, writing_columns


@command
@options.model_argument
@options.data_argument
@options.output_option(None, "A file for the scores; standard output by default.")
@options.format_option(*ROW_FORMATS, PARQUET, more="; the suffix of --output decides by default")
@options.input_format
@options.skip_incomplete
def score(
    model: Path, data: Path, output: Path | None, form: str | None, input_format: str | None, skip_incomplete: bool
) -> None:
    """Score the rows of a file with a model.

    Every row gets a decision (+1 normal, -1 not), a membership (0 to 1), a score (its logarithm), a distance (above 1
    means rejected) and, from a calibrated model, a p-value. The file is read one part at a time, so it may be larger
    than memory.

    Example: eocc score model.eocc new.csv -o scores.csv
    """
    form = format_of(form, output)
    if form == PARQUET and output is None:
        raise click.UsageError("--format parquet needs a file: pass --output")

    from eocc import load
    from eocc.cli.reading import Named, Skipped, stream_for, without_names
    from eocc.foundation.atomic import check_output
    from eocc.foundation.wording import counted
    from eocc.streaming import figures_of

    check_output(output, model, data)
    classifier = load(model)
    skipped, blank = Skipped(), Named()
    n_rows, n_accepted = 0, 0
    stream = stream_for(classifier, data, input_format, skip_incomplete, skipped)
    first = next(stream)  # an error in the first part leaves no output at all
    names = ["row", "decision", "membership", "score", "distance"]
    names += [] if classifier.calibration_ is None else ["p_value"]
    with without_names(), writing_columns(output, form, names) as write:
        part: tuple[list[str], Any] | None = first
        while part is not None:
            rows, patterns = part
            columns = figures_of(classifier, patterns)
            blank.add(_blank(rows, patterns))
            write({"row": rows, **{name: column.tolist() for name, column in columns.items()}})
            n_rows, n_accepted = n_rows + len(rows), n_accepted + int((columns["decision"] > 0).sum())
            part = next(stream, None)
    say_written(output, n_rows, n_accepted, form)
    skipped.say()
    if blank.count:
        has = "has" if blank.count == 1 else "have"
        say(f"Note: {counted(blank.count, 'row')} {has} no values at all, so the score means nothing: row {blank}.")


def _blank(names: Sequence[str], patterns: Any) -> list[str]:
    """Return the names of records without any value, which differ from nothing."""
    if not isinstance(patterns[0], dict):
        return []
    return [name for name, record in zip(names, patterns, strict=True) if all(v is None for v in record.values())]
