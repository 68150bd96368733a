"""``eocc score``."""

from itertools import chain, compress
from pathlib import Path

import click

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import PARQUET, SUFFIXES, open_model, say_written, writing_columns


@command
@options.model_argument
@options.data_argument
@options.output_option(None, "A file for the scores; standard output by default.")
@options.format_option("table", "csv", "json", PARQUET, more="; the suffix of --output decides by default")
@options.data_options()
def score(model: Path, data: Path, output: Path | None, form: str | None, about: options.DataOptions) -> None:
    """Score the rows of a file with a model.

    Every row gets a decision (+1 normal, -1 not), a membership (0 to 1), a score (its logarithm), a distance (above 1
    means rejected) and, from a calibrated model, a p-value. The file is read one part at a time, so it may be larger
    than memory.

    Example: eocc score model.eocc new.csv -o scores.csv
    """
    form = form or SUFFIXES.get("" if output is None else output.suffix.lower(), "table")
    if form == PARQUET and output is None:
        raise click.UsageError("--format parquet needs a file: pass --output")
    classifier = open_model(model, output, data)

    from eocc.cli.reading import Named, Skipped, gaps_in, stream_for
    from eocc.foundation.wording import counted
    from eocc.streaming import figures_of

    skipped, incomplete, blank = Skipped(), Named(), Named()
    n_rows, n_accepted = 0, 0
    stream = stream_for(classifier, data, about, skipped)
    first = next(stream)  # an error in the first part leaves no output at all
    names = ["row", "decision", "membership", "score", "distance"]
    names += [] if classifier.calibration_ is None else ["p_value"]
    with writing_columns(output, form, names) as write:
        for rows, patterns in chain([first], stream):
            columns = figures_of(classifier, patterns)
            n_gaps, n_columns = gaps_in(patterns)
            incomplete.add(list(compress(rows, n_gaps > 0)))
            blank.add(list(compress(rows, n_gaps == n_columns)))
            write({"row": rows, **{name: column.tolist() for name, column in columns.items()}})
            n_rows, n_accepted = n_rows + len(rows), n_accepted + int((columns["decision"] > 0).sum())
    say_written(output, n_rows, n_accepted, form)
    skipped.say()
    if incomplete.count:
        has = "has" if incomplete.count == 1 else "have"
        say(f"Note: {counted(incomplete.count, 'row')} {has} missing values: row {incomplete}.")
    if blank.count:
        has = "has" if blank.count == 1 else "have"
        say(f"Note: {counted(blank.count, 'row')} {has} no values at all, so the score means nothing: row {blank}.")
