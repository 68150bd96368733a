"""``eocc update``."""

from datetime import date
from itertools import compress
from pathlib import Path
from typing import Any

import click

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import changed_on

# New rows that the present model calls discoveries at this false discovery rate are held back. If the training rows are
# too few for a single discovery, so are the rows that are stranger than all of them.
HELD_BACK_RATE = 0.1


@command
@options.model_argument
@options.data_argument
@click.option("--output", "-o", type=options.PATH, required=True, metavar="FILE",
              help="The model file to write; it may be MODEL itself.")  # fmt: skip
@click.option(
    "--forget",
    metavar="WHAT",
    help="Forget so many of the oldest rows, rows older than 90d or than a date, or those of a source.",
)
@click.option("--date", "came", metavar="DATE", help="When the rows came; by default, when the file was last changed.")
@click.option("--accept-drift", is_flag=True, help="Learn the rows even if they differ from the training rows.")
@click.option("--accept-discoveries", is_flag=True, help="Learn also the rows that the present model finds abnormal.")
@options.data_options("id_column", "strict")
def update(
    model: Path, data: options.DataFiles, output: Path, forget: str | None, came: str | None, accept_drift: bool,
    accept_discoveries: bool, about: options.DataOptions,
) -> None:  # fmt: skip
    """Add new normal rows to a model, and forget old ones.

    The new model is that of a fit to all rows kept, read as the model reads them. Rows that the present model calls
    discoveries (at a false discovery rate of 0.1) are listed and left out; if the training rows are too few for a
    single discovery, so are rows stranger than all of them. Nothing is learned from rows that drift. A model that has
    learned answers learns them again.

    The file remembers the source, the date and the number of rows of each update, for --forget.

    Example: eocc update model.eocc new.csv -o updated.eocc --accept-drift
    """
    import numpy as np

    from eocc import load
    from eocc.calibration.conformal import ROUNDING
    from eocc.calibration.discoveries import discoveries_among
    from eocc.classifiers.answers import rows_of_fit
    from eocc.classifiers.updating import Batch, history_of, kept_rows, updated
    from eocc.cli.reading import Named, read_for
    from eocc.foundation.atomic import check_output
    from eocc.foundation.wording import counted
    from eocc.space.prototypes.content import row_hashes, words_of

    check_output(output, *data.paths)
    classifier: Any = load(model)
    classifier._check_updatable()
    day = _date(came) if came else max(map(changed_on, data.paths))
    history = history_of(classifier, changed_on(model))
    kept = kept_rows(history, int(forget) if forget and forget.isdecimal() else forget, day)
    rows = read_for(classifier, data, about)
    patterns, is_held = classifier._read(rows.X), np.zeros(len(rows.names), bool)
    known = rows_of_fit(classifier).rows[np.flatnonzero(kept)]
    n_copies = int(np.isin(row_hashes(words_of(patterns)), row_hashes(words_of(known))).sum())
    if n_copies:
        copies = f"{n_copies:,} of {counted(len(patterns), 'row')} {'is a copy' if n_copies == 1 else 'are copies'}"
        say(f"Note: {copies} of training rows; was {data} learned before?")
    drift = classifier.drift(rows.X)
    if drift.is_drift and not accept_drift:
        raise ValueError(f"{str(drift).rstrip('.')}; nothing was learned: look at the rows, or pass --accept-drift")
    if not accept_discoveries:
        p_values = classifier.p_values(rows.X)
        found = discoveries_among(classifier.calibration_, p_values, HELD_BACK_RATE)
        is_held = found.among(p_values)
        if found.remark:
            is_held |= p_values <= (1 + ROUNDING) / (found.n_held_out + 1)
            say(f"Note: {found.remark}. Rows stranger than all of them are held back.")
        Named(list(compress(rows.names, is_held))).say(
            "held back, abnormal to the present model (--accept-discoveries)"
        )
    if is_held.all():
        remedy = "nothing was learned: look at them, or pass --accept-discoveries"
        raise ValueError(f"the present model finds all rows of {data} abnormal; {remedy}")
    if is_held.any():
        patterns = patterns[np.flatnonzero(~is_held)]
    names = [str(name) for name in compress(rows.names, ~is_held)] if rows.are_named else None
    newer = updated(classifier, patterns, Batch(data.name, day, 0), history, kept, names)
    newer.save(output)
    say(f"Written: {output}.")
    forgotten = f", {counted(int((~kept).sum()), 'row')} forgotten" if not kept.all() else ""
    print(f"{counted(len(patterns), 'row')} learned{forgotten}: now {counted(newer.n_rows_, 'training row')}.")
    for batch in newer.batches_:
        say(f"  {batch.source}{f', {batch.date}' if batch.date else ''}: {counted(batch.n_rows, 'row')}")


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"{text!r} is not a date; write it as 2026-01-31") from None
