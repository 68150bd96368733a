"""``eocc plan``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.fit import check_labels, sample_remedy


@dataclass(frozen=True)
class Size:
    """How many rows a fit to a file uses: normal ones and outliers; the columns, and the bytes kept per pair."""

    n_normal: int
    n_outliers: int
    n_columns: int
    pair_bytes: float
    kind: str


@command
@options.data_argument
@options.method_options(("measure", "prototypes", "graph", "max_memory", "n_jobs"))
@options.label_option
@options.target_option
@options.outliers_option
@options.drop_option
@options.input_format
@options.sample_option
@options.skip_incomplete
@options.format_option("text", "json", default="text")
def plan(
    data: Path, method: str, label: str, target: str, outliers: str, drop: str, input_format: str | None,
    sample: int | None, skip_incomplete: bool, form: str, **given: Any,
) -> None:  # fmt: skip
    """Show how much memory a fit needs, and whether it fits.

    The file is read once, one part at a time, to count its rows. Nothing is learned.

    Example: eocc plan normal.csv --prototypes 256
    """
    check_labels(method, label, target, outliers, sample, input_format)
    classifier = options.classifier_of(method, given)

    from eocc.cli.output import json_line, writing
    from eocc.cli.reading import Columns
    from eocc.scale.memory import memory_limit

    size = size_of(data, input_format, Columns(drop, label, target, outliers), classifier, method, skip_incomplete)
    n = min(size.n_normal, sample or size.n_normal)
    needed, remedy = classifier.memory_needed(n, size.n_columns, size.pair_bytes, size.n_outliers)
    limit = memory_limit(classifier.max_memory)
    fits = needed <= limit
    remedy = "" if fits else options.in_option_names(remedy) + sample_remedy(n if size.kind == "numbers" else 0)
    facts = {"rows": n, "outliers": size.n_outliers, "columns": size.n_columns, "memory needed": round(needed),
             "memory limit": limit, "fits": fits, "remedy": remedy or None}  # fmt: skip
    with writing(None) as file:
        file.write(json_line(facts) if form == "json" else _table(facts))


def _table(facts: dict[str, Any]) -> str:
    """Return the facts as lines of name and value."""
    from eocc.foundation.byte_sizes import format_bytes

    sizes = {
        name: format_bytes(facts[name]) for name in ("memory needed", "memory limit") if facts[name] < float("inf")
    }
    words = {**facts, "memory limit": "unknown", **sizes, "fits": "yes" if facts["fits"] else "no"}
    return "".join(f"{name + ':':<15}{value}\n" for name, value in words.items() if value not in (None, 0))


def size_of(path: Path, form: str | None, columns: Any, classifier: Any, method: str, skips: bool) -> Size:
    """Count the rows of a file, one chunk at a time; the first chunk tells what they hold."""
    from eocc.cli.reading import Skipped, labels_of
    from eocc.foundation.wording import counted
    from eocc.io.files import guess_format, guess_schema, open_chunks
    from eocc.io.files.cells import complete_rows, is_same
    from eocc.measures.auto import resolve_measure
    from eocc.measures.base import n_columns_of, pair_bytes_of
    from eocc.streaming import files_of

    files = files_of(path) if path.is_dir() and form is None and guess_folder(path) else [path]
    skipped, schema, n_columns, pair_bytes, n_normal, n_outliers = Skipped(), None, 1, 0.0, 0, 0
    wanted = None if classifier.measure == "auto" else classifier.measure
    for chunk in (chunk for file in files for chunk in open_chunks(file, form or guess_format(file))):
        apart = columns.apart if chunk.columns else []
        if skips:
            chunk = skipped.complete(chunk, complete_rows(chunk, chunk.columns.keys() - apart))
        if not len(chunk):
            continue
        if schema is None:
            schema = guess_schema([chunk], str(path), apart, wanted)
            patterns = schema.patterns(chunk)
            measure: Any = resolve_measure(classifier.measure, patterns)
            patterns = measure.read(patterns) if hasattr(measure, "read") else patterns
            n_columns, pair_bytes = n_columns_of(patterns), pair_bytes_of(measure, patterns)
        labels = labels_of(chunk, path, columns.label) if columns.label else [columns.target] * len(chunk)
        here = sum(is_same(cell, columns.target) for cell in labels)
        n_normal += here
        n_outliers += int(columns.outlying(labels, path).sum()) if columns.outliers else (
            len(chunk) - here if method == options.EOCC_2 else 0
        )  # fmt: skip
    if schema is None or not n_normal:
        which = f" with {columns.label} = {columns.target!r}" if columns.label else ""
        raise ValueError(f"{path} holds no rows{which}; at least 1 is required")
    say(f"{path}: {counted(n_normal, 'normal row')}; the first part holds {schema.describe()}.")
    skipped.say()
    return Size(n_normal, n_outliers, n_columns, pair_bytes, schema.kind)


def guess_folder(path: Path) -> bool:
    """Say whether a folder holds tables rather than graphs."""
    return not any(file.suffix.lower() == ".gxl" for file in path.rglob("*"))
