"""``eocc plan``."""

from pathlib import Path
from typing import Any

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.fit import check_labels, check_stream, remedy_in_options
from eocc.cli.options import DataOptions
from eocc.cli.output import json_line, writing


@command
@options.data_argument
@options.method_options(("measure", "prototypes", "graph", "max_memory", "n_jobs"))
@options.sample_option
@options.data_options("label", "target", "outliers", "drop", "id_column", "all_columns")
@options.format_option("text", "json", default="text")
def plan(data: Path, method: str, sample: int | None, about: DataOptions, form: str, **given: Any) -> None:
    """Show how much memory a fit needs, and whether it fits.

    The file is read once, one part at a time, to count its rows. Nothing is learned.

    Example: eocc plan normal.csv --prototypes 256
    """
    check_stream(method, bool(sample), sample, about)
    check_labels(method, about)
    classifier = options.classifier_of(method, given)

    from eocc.scale.memory import memory_limit

    n_normal, n_outliers, n_columns, pair_bytes, is_numbers = size_of(data, about, classifier, method)
    n = min(n_normal, sample or n_normal)
    needed, remedy = classifier.memory_needed(n, n_columns, pair_bytes, n_outliers)
    limit = memory_limit(classifier.max_memory)
    fits = needed <= limit
    facts = {"rows": n, "outliers": n_outliers, "columns": n_columns, "memory needed": round(needed),
             "memory limit": limit, "fits": fits,
             "remedy": None if fits else remedy_in_options(remedy, method, n if is_numbers else 0)}  # fmt: skip
    with writing(None) as file:
        file.write(json_line(facts) if form == "json" else _table(facts))


def _table(facts: dict[str, Any]) -> str:
    from eocc.foundation.byte_sizes import format_bytes

    limit = facts["memory limit"]
    words = {**facts, "memory needed": format_bytes(facts["memory needed"]), "fits": "yes" if facts["fits"] else "no",
             "memory limit": format_bytes(limit) if limit < float("inf") else "unknown"}  # fmt: skip
    return "".join(f"{name + ':':<15}{value}\n" for name, value in words.items() if value not in (None, 0))


def size_of(path: Path, about: DataOptions, classifier: Any, method: str) -> tuple[int, int, int, float, bool]:
    """Return the numbers of normal rows, outliers and columns, the bytes per pair, and whether a file holds numbers."""
    from eocc.cli.reading import Skipped, labels_of, schema_of_training
    from eocc.foundation.wording import counted
    from eocc.io.files.cells import is_same
    from eocc.measures.auto import resolve_measure
    from eocc.measures.base import n_columns_of, pair_bytes_of
    from eocc.streaming import files_of

    is_folder_of_tables = path.is_dir() and about.input_format is None and not any(path.rglob("*.[gG][xX][lL]"))
    skipped, schema, n_rows, n_normal = Skipped(), None, 0, 0
    n_outliers = dict.fromkeys(options.names_in(about.outliers), 0)
    for chunk in skipped.training_chunks(path, about, files_of(path) if is_folder_of_tables else (), n_ahead=1):
        if schema is None:
            schema = schema_of_training([chunk], path, about, classifier.measure)
            patterns = schema.patterns(chunk)
            measure: Any = resolve_measure(classifier.measure, patterns)
            patterns = measure.read(patterns) if hasattr(measure, "read") else patterns
            n_columns, pair_bytes = n_columns_of(patterns), pair_bytes_of(measure, patterns)
        labels = labels_of(chunk, path, about.label) if about.label else [about.target] * len(chunk)
        n_rows, n_normal = n_rows + len(chunk), n_normal + sum(is_same(cell, about.target) for cell in labels)
        for value in n_outliers:
            n_outliers[value] += sum(is_same(cell, value) for cell in labels)
    assert schema is not None  # a file without rows was refused
    for value, count in {about.target: n_normal, **n_outliers}.items():
        if not count:
            raise ValueError(f"{path} has no row with {about.label} = {value!r}")
    say(f"{path}: {counted(n_normal, 'normal row')}; the first part holds {schema.describe()}.")
    skipped.say()
    others = n_rows - n_normal if method == options.EOCC_2 else 0
    return n_normal, sum(n_outliers.values()) or others, n_columns, pair_bytes, schema.kind == "numbers"
