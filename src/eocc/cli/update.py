"""``eocc update``."""

from datetime import date
from itertools import compress
from pathlib import Path
from typing import Any

import click

from eocc.base.atomic import check_output
from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import changed_on, say_file


@command
@options.model_argument
@options.data_argument
@options.output_option(None, "The model file to write; it may be MODEL itself.", required=True)
@click.option("--forget", metavar="WHAT",
              help="Forget this number of the oldest rows, rows older than 90d or than a date, or those of a "
                   "source.")  # fmt: skip
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
    learned answers learns them again. A RegionClassifier keeps its regions and forgets nothing: its limit and p-values
    learn.

    The file remembers the source, the date and the number of rows of each update, for --forget.

    Example: eocc update model.eocc new.csv -o updated.eocc --accept-drift
    """
    import numpy as np

    from eocc import load
    from eocc.base.types import ROUNDING
    from eocc.base.wording import counted
    from eocc.calibration.discoveries import discoveries_among
    from eocc.classifiers.answers import rows_of_fit
    from eocc.classifiers.updating import Batch
    from eocc.cli.reading import Named, read_for
    from eocc.explain.facts import are_copies

    check_output(output, *data.paths)
    classifier: Any = load(model)
    try:
        day = date.fromisoformat(came) if came else max(map(changed_on, data.paths))
    except ValueError:
        raise click.UsageError(f"{came!r} is not a date; write it as 2026-01-31") from None
    what = int(forget) if forget and forget.isdecimal() else forget
    history, kept = classifier._kept_rows(what, day, changed_on(model))
    rows = read_for(classifier, data, about)
    patterns, is_held = classifier._read(rows.X), np.zeros(len(rows.names), bool)
    if not history:
        say("Note: this model keeps no training rows, so nothing shows whether these rows were learned before.")
    known = rows_of_fit(classifier).rows[np.flatnonzero(kept)]
    n_copies = int(are_copies(patterns, known).sum())
    if n_copies:
        copies = f"{n_copies:,} of {counted(len(patterns), 'row')} {'is a copy' if n_copies == 1 else 'are copies'}"
        say(f"Note: {copies} of training rows; was {data} learned before?")
    drift = classifier.drift(rows.X)
    if drift.is_drift and not accept_drift:
        raise ValueError(f"{str(drift).rstrip('.')}; nothing was learned: look at the rows, or pass --accept-drift")
    if not accept_discoveries:
        p_values = classifier.p_values(rows.X)
        found = discoveries_among(classifier.calibration_, p_values)
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
    if n_rejected := int((~is_held & (classifier.predict(rows.X) < 0)).sum()):
        look = f"to see them first, run eocc score or eocc review on {data} and the old model"
        say(f"Note: {counted(n_rejected, 'row')} that the present model rejects {'is' if n_rejected == 1 else 'are'} "
            f"learned too; {look}.")  # fmt: skip
    if is_held.any():
        patterns = patterns[np.flatnonzero(~is_held)]
    names = [str(name) for name in compress(rows.names, ~is_held)] if rows.are_named else None
    newer = classifier._updated(patterns, Batch(data.name, day, 0), history, kept, names)
    newer.save(output)
    say_file(output)
    forgotten = f", {counted(int((~kept).sum()), 'row')} forgotten" if not kept.all() else ""
    print(f"{counted(len(patterns), 'row')} learned{forgotten}: now {counted(newer.n_rows_, 'training row')}.")
    for batch in newer.batches_:
        say(f"  {batch.source}{f', {batch.date}' if batch.date else ''}: {counted(batch.n_rows, 'row')}")
