"""``eocc fit``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eocc.cli import options
from eocc.cli.app import command, say

if TYPE_CHECKING:
    from eocc.cli.reading import Columns, Rows

# A note is printed for fewer normal rows.
FEW = 10


@command
@options.data_argument
@options.output_option("model.eocc", "The model file to write.")
@options.method_options()
@options.label_option
@options.target_option
@options.outliers_option
@options.drop_option
@options.input_format
@options.sample_option
@options.skip_incomplete
@options.format_option("text", "json", default="text", more=" that describes the model")
def fit(
    data: Path, output: Path, method: str, label: str, target: str, outliers: str, drop: str, input_format: str | None,
    sample: int | None, skip_incomplete: bool, form: str, **given: Any,
) -> None:  # fmt: skip
    """Learn what is normal from a file, and write a model.

    All rows of the file should be normal. With --label and --target only the rows with that label are normal; other
    rows are left out, unless they are known outliers: --method surprise learns from the rows that --outliers names, and
    --method eocc-2 validates on these rows, or on all other rows without --outliers.

    Example: eocc fit normal.csv -o model.eocc
    """
    check_labels(method, label, target, outliers, sample, input_format)
    classifier = options.classifier_of(method, given)

    from eocc.cli.inspect import write_facts
    from eocc.cli.reading import Columns, read_training
    from eocc.foundation.atomic import check_output

    check_output(output, data)
    columns = Columns(drop, label, target, outliers)
    if sample:
        fit_sample(classifier, data, sample, columns, skip_incomplete)
    else:
        measure = None if classifier.measure == "auto" else classifier.measure
        rows = read_training(data, input_format, columns, measure, skip_incomplete)
        fit_rows(classifier, rows, method)
    classifier.save(output)
    say(f"Written: {output}.")
    write_facts(classifier, None, form)


def check_labels(
    method: str, label: str, target: str, outliers: str, sample: int | None, input_format: str | None
) -> None:
    """Refuse labels that the method or --sample cannot use."""
    options.check_label(label, target, outliers)
    if method == options.EOCC_1 and outliers:
        raise click.UsageError("--method eocc-1 learns from normal rows only; leave --outliers out")
    if method == options.EOCC_2 and not label:
        raise click.UsageError("--method eocc-2 needs labelled rows of both kinds: pass --label and --target")
    if sample and (outliers or method == options.EOCC_2):
        raise click.UsageError("--sample learns from normal rows only; leave --outliers and --method eocc-2 out")
    if sample and input_format:
        raise click.UsageError("--sample tells the format by the suffix; leave --input-format out")


def fit_rows(classifier: Any, rows: "Rows", method: str) -> None:
    """Fit to the rows of a file, and keep the names of its columns."""
    import numpy as np

    from eocc.foundation.wording import counted

    is_outlier = rows.is_outlier
    if method == options.EOCC_2 and not is_outlier.any():
        is_outlier = ~rows.is_normal
    n_normal, kept = int(rows.is_normal.sum()), np.flatnonzero(rows.is_normal | is_outlier)
    if n_normal < FEW:
        say(f"Note: {counted(n_normal, 'normal row')} may be too few to learn from.")
    used = rows.some(kept.tolist())
    with refusing_in_options(n_normal if rows.schema.kind == "numbers" else 0):
        classifier.fit(used, rows.signs[kept] if is_outlier.any() or method == options.EOCC_2 else None)
    if rows.schema.kind == "numbers" and rows.schema.is_named:
        classifier.feature_names_in_ = np.array(rows.schema.names, dtype=object)
    classifier.training_indices_ = kept[classifier.training_indices_]  # explanations name rows of the file


def fit_sample(classifier: Any, path: Path, sample: int, columns: "Columns", skips: bool) -> None:
    """Fit to a sample of the rows of a table, and calibrate on all rows."""
    from eocc.foundation.printing import has_instead
    from eocc.foundation.wording import counted
    from eocc.io.files import guess_format, open_chunks
    from eocc.streaming import files_of, fit_stream

    first = files_of(path)[0]
    by_number = guess_format(first) == "npy"
    chosen: list[str | int] | None = None
    if columns.apart:
        chunk = next(iter(open_chunks(first)), None)
        names = [] if chunk is None else list(chunk.columns)
        absent = next((name for name in columns.apart if name not in names), None)
        if absent is not None:
            raise ValueError(f"{first} has no column {absent!r}; {has_instead(absent, names)}")
        chosen = [int(name) if by_number else name for name in names if name not in columns.apart]
    where = (int(columns.label) if by_number else columns.label, columns.target) if columns.label else None
    with refusing_in_options(sample):
        incomplete = "skip" if skips else "refuse"
        fit_stream(classifier, path, sample=sample, columns=chosen, where=where, incomplete=incomplete)
    n_drawn = len(classifier.training_indices_)
    say(f"Read {counted(classifier.n_rows_seen_, 'row')}; learned from {n_drawn:,} of them.")


@contextmanager
def refusing_in_options(n_rows: int) -> Iterator[None]:
    """Turn the remedies of a memory error into options, with --sample for a table of numbers of so many rows."""
    from eocc.scale.memory import MemoryLimitError

    try:
        yield
    except MemoryLimitError as error:
        raise MemoryLimitError(options.in_option_names(str(error)) + sample_remedy(n_rows)) from None


def sample_remedy(n_rows: int) -> str:
    """Return the advice to learn from fewer rows of a table of numbers.

    >>> sample_remedy(5000), sample_remedy(0)
    (', or learn from fewer rows: --sample 2500', '')
    """
    return f", or learn from fewer rows: --sample {min(20_000, n_rows // 2)}" if n_rows > 1 else ""
