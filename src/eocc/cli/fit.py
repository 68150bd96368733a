"""``eocc fit``."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from eocc.base.atomic import check_output
from eocc.base.registry import FEW
from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.options import DataFiles, DataOptions
from eocc.cli.output import say_file


@command
@options.data_argument
@options.output_option("model.eocc", "The model file to write.")
@options.method_options
@click.option("--stream", is_flag=True, help="Read a table of numbers part by part, for files larger than memory.")
@click.option("--sample", type=options.AT_LEAST_1, default=None, metavar="N",
              help="With --stream, learn from N rows, chosen by content. [eocc-1]")  # fmt: skip
@click.option("--drop-copies", is_flag=True, help="Leave out normal rows that are exact copies of earlier ones.")
@options.data_options("label", "target", "outliers", "drop", "id_column", "all_columns", "kind", "skip_bad",
                      "window", "step", "by", "time", "features")  # fmt: skip
@options.format_option("text", "json", default="text", more=" that describes the model")
def fit(
    data: DataFiles, output: Path, method: str, stream: bool, sample: int | None,
    drop_copies: bool, about: DataOptions, form: str, **given: Any,
) -> None:  # fmt: skip
    """Learn what is normal from a file, and write a model.

    All rows of the file should be normal. With --label and --target, only the rows with that label are normal, and
    other rows are left out. There are two exceptions: --method surprise and --method regions learn from the known
    outliers that --outliers names; --method eocc-2 validates on these or, without --outliers, on all other rows.

    Example: eocc fit normal.csv -o model.eocc
    """
    is_stream = stream or sample is not None
    _check(method, about, is_stream, sample, drop_copies, given["baseline_by"])
    classifier = options.classifier_of(method, given)

    from eocc.cli.reading import read_training
    from eocc.cli.show import write_facts

    check_output(output, *data.paths)
    if is_stream:
        fit_parts(classifier, data, method, sample, about)
    else:
        groups = tuple(f"{name}=category" for name in classifier.baseline_by or ())
        rows = read_training(data, replace(about, kind=(*about.kind, *groups)), classifier.measure)
        fit_rows(classifier, rows, method, drop_copies)
        if rows.windowing is not None:
            classifier._windowing_ = rows.windowing
    classifier.save(output)
    say_file(output)
    write_facts(classifier, None, form)
    if classifier._scores_left_out:
        say_about_rows(classifier, output, data, about)


def _check(method: str, about: DataOptions, is_stream: bool, sample: Any, drop_copies: bool, by: Any) -> None:
    """Refuse options that do not go together."""
    paper_1, paper_2 = method == options.EOCC_1, method == options.EOCC_2
    rows_only = f"{'--baseline-by' if by else '--stream'} takes the rows of the file, not windows of them"
    refused = (
        (paper_1 and about.outliers, "--method eocc-1 learns from normal rows only; leave --outliers out"),
        (paper_2 and not about.label, "--method eocc-2 needs labelled rows of both kinds: pass --label and --target"),
        (sample and method == options.SURPRISE, "--sample is for --method eocc-1; pass --stream"),
        (is_stream and paper_2, "--method eocc-2 validates on labelled rows; leave --stream out"),
        (is_stream and about.input_format, "--stream reads the format from the suffix; leave --input-format out"),
        (is_stream and drop_copies, "--drop-copies compares all rows, which --stream does not hold; leave one out"),
        (about.window and (is_stream or by), f"{rows_only}; leave --window out"),
    )
    for message in (message for holds, message in refused if holds):
        raise click.UsageError(message)


def say_about_rows(classifier: Any, model: Path, data: DataFiles, about: DataOptions) -> None:
    """Print what is kept of the training rows, how many are copies, the strangest with reasons, and how to see more."""
    import shlex

    import numpy as np

    from eocc.base.printing import printable
    from eocc.base.wording import counted
    from eocc.explain.explanation import training_name
    from eocc.formats.files.formats import STDIN
    from eocc.space.prototypes.content import exact_copies

    count = len(exact_copies(classifier.prototypes_)) if classifier._is_whole else 0
    if count:
        copies = "is an exact copy of another row" if count == 1 else "are exact copies of other rows"
        rows = counted(classifier._n_training, "training row")
        say(f"Note: {count:,} of {rows} {copies}; --drop-copies leaves them out.")
    if kept := classifier._prototypes_in_words:
        say(f"Note: the model keeps {kept}, so eocc update will refuse it; --prototypes none keeps all.")
    if len(classifier.prototypes_) <= FEW:
        return
    margins = classifier._score_read(classifier.prototypes_).margins
    places = np.argsort(margins, kind="stable")[:FEW]
    say("The strangest training rows, each compared with the others:")
    for place, one in zip(places.tolist(), classifier._explain_patterns(classifier.prototypes_[places]), strict=True):
        say(printable(f"  row {training_name(classifier, place)}: {one.sentence}"))
    if STDIN not in data.paths and not about.label:  # a labelled file holds rows that are no training rows
        named = ["--id", about.id_column] if about.id_column else []
        command = shlex.join(["eocc", "review", str(model), str(data.paths[0]), "--find", *named])
        say(f"If they are not normal, look at more: {command}")


def fit_rows(classifier: Any, rows: Any, method: str, drop_copies: bool = False) -> None:
    """Fit to the rows of files."""
    import numpy as np

    from eocc.base.wording import counted
    from eocc.calibration.conformal import DEFAULT_RATE
    from eocc.space.prototypes.content import different_rows
    from eocc.tables.reading import Read

    is_outlier = rows.is_outlier
    if method == options.EOCC_2 and not is_outlier.any():
        is_outlier = ~rows.is_normal
    n_normal, kept = int(rows.is_normal.sum()), np.flatnonzero(rows.is_normal | is_outlier)
    if n_normal < 10:
        say(f"Note: {counted(n_normal, 'normal row')} may be too few to learn from.")
    if drop_copies:
        normal = kept[rows.is_normal[kept]]
        some = rows.some(normal)
        different = different_rows(some.patterns if isinstance(some, Read) else some)
        kept = np.sort(np.append(normal[different], kept[~rows.is_normal[kept]]))
    with refusing_in_options(method, n_normal if rows.known.is_numbers else 0):
        has_labels = is_outlier.any() or method == options.EOCC_2
        classifier.fit(rows.some(kept), rows.signs[kept] if has_labels else None)
    calibration = classifier.calibration_
    if classifier.false_alarm_rate is None and calibration is not None and calibration.rate > DEFAULT_RATE:
        least = f"the least that {counted(len(calibration.margins), 'calibration row')} can promise"
        say(f"Note: the false-alarm rate is {calibration.rate:.2g}, not {DEFAULT_RATE}: {least}.")
    names = [str(rows.names[row]) for row in kept] if rows.are_named else None
    numbers = kept if rows.are_named else np.array([rows.names[row] for row in kept])
    classifier._name_rows(numbers, names)  # explanations name rows of the file


def fit_parts(classifier: Any, data: DataFiles, method: str, sample: int | None, about: DataOptions) -> None:
    """Fit to a table that is read part by part."""
    from eocc.base.wording import counted
    from eocc.streaming import fit_stream

    where = (about.label, about.target) if about.label else None
    with refusing_in_options(method, sample or 0):
        incomplete = "skip" if about.skip_incomplete else "refuse"
        outliers = options.names_in(about.outliers) or None
        fit_stream(
            classifier, list(data.paths), sample=sample, where=where, outliers=outliers, incomplete=incomplete,
            dialect=about.dialect, drop=about.apart, keeps_all=about.all_columns, kinds=about.kinds,
            unreadable="skip" if about.skip_bad else "refuse",
        )  # fmt: skip
    for remark in (one for one in classifier.reading_.remarks if not one.remedy):  # the others are warnings
        say(f"Note: {remark.said(remark.option)}.")
    compared = "" if classifier._is_whole else f", and compares new rows with {len(classifier.prototypes_):,}"
    n_seen = getattr(classifier, "n_rows_seen_", classifier._n_training)
    say(f"Read {counted(n_seen, 'row')}; learned from {classifier._n_training:,} of them{compared}.")


@contextmanager
def refusing_in_options(method: str, n_rows: int) -> Iterator[None]:
    """Turn the remedies of a memory error into options; n_rows is 0 unless the file is a table of numbers."""
    from eocc.scale.memory import MemoryLimitError

    try:
        yield
    except MemoryLimitError as error:
        fewer = f", or learn from fewer rows: --sample {min(5000, n_rows // 2)}" if n_rows > 1 else ""
        remedy = options.in_option_names(str(error)).replace("RegionClassifier", "--method regions")
        raise MemoryLimitError(remedy + (fewer if method == options.EOCC_1 else "")) from None
