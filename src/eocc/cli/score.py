"""``eocc score``."""

import warnings
from collections.abc import Iterable
from itertools import chain, compress
from pathlib import Path
from typing import Any

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
@options.data_options("id_column", "strict")
def score(
    model: Path, data: options.DataFiles, output: Path | None, form: str | None, keep: str, about: options.DataOptions
) -> None:
    """Score the rows of files with a model.

    Every row gets a decision (+1 normal, -1 not), a membership (0 to 1), a score (its logarithm), how far out it is
    (above 1 means rejected) and, from a calibrated model, a p-value. Notes say what is known about the row: values
    that no training row has, missing values, copies. A row with a cell that cannot be read is rejected, and its
    note says why. The files are read one part at a time, so they may be larger than memory. If the rows as a whole
    differ from the training rows, a note says so.

    Example: eocc score model.eocc new.csv -o scores.csv
    """
    form = output_format(form, output, "table")
    classifier = open_model(model, output, *data.paths)

    from eocc.classifiers.reading import NO_VALUES
    from eocc.cli.reading import Named, kept_columns, say_bad, stream_for
    from eocc.explain.facts import Facts
    from eocc.streaming import Scoring
    from eocc.tables.matching import gaps_in

    warnings.filterwarnings("ignore", message=f".*{NO_VALUES}")  # the note below names the rows
    incomplete, blank, bad = Named(), Named(), dict[Any, str]()
    reading, is_typed = classifier._table_reading, form in (JSON, PARQUET)
    scoring, facts = Scoring(classifier, classifier.n_jobs), Facts(classifier)
    stream = stream_for(classifier, data, about)
    first = next(stream)  # an error in the first part leaves no output at all
    new_names = _new_names(kept_columns(first, keep, reading, is_typed), ["row", *scoring.names, "notes"])
    with writing_columns(output, form, ["row", *new_names.values(), *scoring.names, "notes"]) as write:
        for part in chain([first], stream):
            columns, notes = dict[str, Any](), list[str]()
            if part.good.any():
                patterns, scores = scoring.score(part.X)
                columns, notes = scoring.count(patterns, scores), facts.of(patterns, part.good_names)
                if reading is not None:
                    n_gaps, n_columns = gaps_in(patterns), reading.n_compared
                    incomplete.add(list(compress(part.good_names, n_gaps > 0)))
                    blank.add(list(compress(part.good_names, n_gaps == n_columns)))
            bad |= {part.names[row]: why for row, why in part.faults.items()}
            kept = kept_columns(part, keep, reading, is_typed)
            found = part.with_bad(columns, notes, scoring.names)
            write({"row": part.names, **{new_names[name]: cells for name, cells in kept.items()}, **found})
    scored = scoring.result()
    say_written(output, scored.n_rows + len(bad), scored.n_accepted, form)
    say_bad(bad)
    incomplete.say("have missing values")
    blank.say(f"have {NO_VALUES}")
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
