"""``eocc score``."""

import warnings
from collections.abc import Iterable
from itertools import chain, compress
from pathlib import Path

import click

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import JSON, PARQUET, open_model, output_format, say_written, writing_columns


@command
@options.model_argument
@options.data_argument
@options.result_option("scores")
@options.format_option("table", "csv", JSON, PARQUET, more="; the suffix of --output decides by default")
@click.option("--keep", default="", metavar="COLUMN,...", help="Columns of DATA to write next to the scores, or 'all'.")
@options.data_options("id_column")
def score(
    model: Path, data: Path, output: Path | None, form: str | None, keep: str, about: options.DataOptions
) -> None:
    """Score the rows of a file with a model.

    Every row gets a decision (+1 normal, -1 not), a membership (0 to 1), a score (its logarithm), a distance (above 1
    means rejected) and, from a calibrated model, a p-value. The file is read one part at a time, so it may be larger
    than memory. If the rows as a whole differ from the training rows, a note says so.

    Example: eocc score model.eocc new.csv -o scores.csv
    """
    form = output_format(form, output, "table")
    classifier = open_model(model, output, data)

    from eocc.classifiers.reading import NO_VALUES
    from eocc.cli.reading import Named, Skipped, gaps_in, kept_columns, names_of, stream_for
    from eocc.foundation.wording import counted
    from eocc.io.files import schema_of_model
    from eocc.streaming import Scoring

    warnings.filterwarnings("ignore", message=f".*{NO_VALUES}")  # the note below names the rows
    schema, skipped, incomplete, blank = schema_of_model(classifier), Skipped(), Named(), Named()
    scoring = Scoring(classifier, classifier.n_jobs)
    stream = stream_for(schema, data, about, skipped)
    first = next(stream)  # an error in the first part leaves no output at all
    new_names = _new_names(kept_columns(first[0], keep, schema, False), ["row", *scoring.names])
    with writing_columns(output, form, ["row", *new_names.values(), *scoring.names]) as write:
        for chunk, patterns in chain([first], stream):
            rows = names_of(chunk, about)
            columns = scoring.count(*scoring.score(patterns))
            n_gaps, n_columns = gaps_in(patterns)
            incomplete.add(list(compress(rows, n_gaps > 0)))
            blank.add(list(compress(rows, n_gaps == n_columns)))
            kept = kept_columns(chunk, keep, schema, form in (JSON, PARQUET))
            write({"row": rows, **{new_names[name]: cells for name, cells in kept.items()}, **columns})
    scored = scoring.result()
    say_written(output, scored.n_rows, scored.n_accepted, form)
    skipped.say()
    if incomplete.count:
        has = "has" if incomplete.count == 1 else "have"
        say(f"Note: {counted(incomplete.count, 'row')} {has} missing values: row {incomplete}.")
    if blank.count:
        has = "has" if blank.count == 1 else "have"
        say(f"Note: {counted(blank.count, 'row')} {has} {NO_VALUES}: row {blank}.")
    if scored.drift is not None and scored.drift.is_drift:
        say(f"Note: {scored.drift}")


def _new_names(kept: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Return what kept columns are called: a name that is taken gets a prefix."""
    found, known = dict[str, str](), {*taken}
    for name in sorted(kept, key=known.__contains__):  # columns that keep their names come first
        new = name
        while new in known:
            new = f"input_{new}"
        known.add(new)
        found[name] = new
    return {name: found[name] for name in kept}
