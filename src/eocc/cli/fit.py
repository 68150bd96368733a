"""``eocc fit``."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.fitting import MULTI
from eocc.classifiers.plan import AUTO, MODES, REFUSE, PlanRefusedError, PlanWarning
from eocc.cli.app import app, one_of, say
from eocc.cli.options import (
    Graph,
    Jobs,
    MaxMemory,
    Measure,
    Prototypes,
    Rate,
    Resolution,
    Sample,
    SearchName,
    SelectionName,
    Synthesis,
    check_both_kinds,
    check_sample,
    options_of,
    prototypes_of,
)
from eocc.cli.output import Format, writing_rows
from eocc.cli.reading import (
    Data,
    Drop,
    InputFormat,
    Label,
    Named,
    Read,
    SkipIncomplete,
    Stream,
    Target,
    check_label,
    read_all,
    stream_of,
)
from eocc.cli.remarks import say_odd_columns
from eocc.foundation.atomic import check_output
from eocc.foundation.wording import counted
from eocc.io.model_file import save
from eocc.streaming import fit_stream

# With fewer patterns a region or two is all there can be, and a score tells little.
FEW = 10


@app.command()
def fit(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")] = Path("model.eocc"),
    input_format: InputFormat = "",
    measure: Measure = "",
    label: Label = "",
    target: Target = "",
    drop: Drop = "",
    synthesis: Synthesis = "entropy",
    resolution: Resolution = MULTI,
    search: SearchName = AUTO,
    prototypes: Prototypes = "",
    selection: SelectionName = "random",
    graph: Graph = AUTO,
    max_memory: MaxMemory = "",
    plan: Annotated[
        str,
        typer.Option(
            help="What becomes of a fit that needs more: refuse it, or auto, with settings that fit.",
            callback=one_of("plan", MODES),
        ),
    ] = REFUSE,
    false_alarm_rate: Rate = None,
    sample: Sample = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is random: searches and splits.")] = 0,
    jobs: Jobs = -1,
    skip_incomplete: SkipIncomplete = False,
    form: Format = "table",
) -> None:
    """Learn what is normal from a file of normal patterns, and write a model file.

    With --label and --target only the patterns so labelled are learned from; with --synthesis validation the others
    tell what is not normal.

    Example: eocc fit normal.csv -o model.eocc
    """
    check_both_kinds(synthesis, label)
    check_label(label, target)
    check_output(output, data)
    check_sample(sample, synthesis, input_format)
    found: Read | Stream
    if sample:
        found = stream_of(data, sample, drop, label, target, skip_incomplete)
    else:
        left_out = Named() if skip_incomplete else None
        found = read_all(data, input_format, label, target, drop, measure or None, left_out)
        say_odd_columns(found)
    classifier = EntropicOneClassClassifier(
        measure=measure or (found.schema.measure if isinstance(found, Read) else "standardised"),
        synthesis=synthesis,
        resolution=resolution,
        search=None if search == "none" else search,
        prototypes=prototypes_of(prototypes),
        selection=selection,
        graph=graph,
        max_memory=max_memory or None,
        plan=plan,
        false_alarm_rate=false_alarm_rate,
        random_state=seed,
        n_jobs=jobs,
    )
    n_targets = int(found.is_target.sum()) if isinstance(found, Read) else FEW
    if n_targets < FEW:
        say(f"Note: {counted(n_targets, 'pattern')} {'is' if n_targets == 1 else 'are'} little to learn from.")
    how = " (each column over its standard deviation)" if classifier.measure == "standardised" else ""
    say(f"Compared by {classifier.measure}{how}; learning ...")
    with saying_plan(), in_options(sample, len(found.patterns) if isinstance(found, Read) else 0):
        names = _learn(classifier, found) if isinstance(found, Read) else _learn_from_stream(classifier, found)
    save(classifier, output)
    say(f"Written: {output}.")
    with writing_rows(None, form, ("region", "patterns", "round pattern", "extent")) as write:
        for index, region in enumerate(classifier.regions_):
            middle = names[region.representative]  # a prototype only where all patterns are
            write({"region": index, "patterns": len(region.members), "round pattern": middle, "extent": region.extent})


@contextmanager
def saying_plan() -> Iterator[None]:
    """Say on standard error, before the work begins, that other settings are taken than were asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", PlanWarning)
        show: Any = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, PlanWarning):
                say(f"Note: {message}.")
            else:
                show(message, category, *place, **more)

        warnings.showwarning = tell
        yield


@contextmanager
def in_options(sample: int, n: int) -> Iterator[None]:
    """Refuse in the words of the command line: a fit to a sample, or to all n patterns."""
    try:
        yield
    except PlanRefusedError as refused:
        wanted = f"{options_of(refused.settings)} would take {refused.size}: pass that, or --plan auto, or "
        fewer = "fewer rows" if sample else "some rows of a table of numbers"
        more = f"raise --max-memory, or learn from {fewer}: --sample {max(1, sample // 2 or min(20_000, n // 2))}"
        raise ValueError(f"{refused.need}; {wanted if refused.settings else ''}{more}") from None


def _learn_from_stream(classifier: EntropicOneClassClassifier, rows: Stream) -> list[str]:
    """Fit to a sample of the rows, calibrate by all, and return the names of the rows drawn."""
    chosen = rows.chosen
    fit_stream(
        classifier,
        rows.path,
        sample=rows.sample,
        columns=rows.columns,
        where=chosen.where,
        incomplete=chosen.incomplete,
    )
    seen = f"{counted(classifier.n_rows_seen_, 'row')}{chosen.in_words()}"
    say(f"Seen: {seen}; learnt from {len(classifier.training_indices_):,} of them.")
    return [str(row) for row in classifier.training_indices_]


def _learn(classifier: EntropicOneClassClassifier, read: Read) -> list[str]:
    """Fit to the file's targets, and return the names of the patterns trained on."""
    rows = np.flatnonzero(read.is_target)
    if classifier.synthesis == "validation":
        classifier.fit(read.patterns, np.where(read.is_target, 1, -1))
        rows = np.arange(len(read.is_target))
    else:
        classifier.fit(read.some(rows.tolist()))
    if hasattr(classifier, "n_features_in_") and read.schema.is_named:
        classifier.feature_names_in_ = np.array(read.schema.names, dtype=object)
    classifier.training_indices_ = rows[classifier.training_indices_]  # by which explanations name them
    return [read.names[row] for row in classifier.training_indices_]
