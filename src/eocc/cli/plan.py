"""``eocc plan``."""

from itertools import compress
from typing import Any

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.fit import check_labels, check_stream, remedy_in_options
from eocc.cli.options import DataFiles, DataOptions
from eocc.cli.output import json_line, writing


@command
@options.data_argument
@options.method_options(("measure", "prototypes", "graph", "max_memory", "n_jobs"))
@options.sample_option
@options.data_options("label", "target", "outliers", "drop", "id_column", "all_columns", "kind", "skip_bad")
@options.format_option("text", "json", default="text")
def plan(data: DataFiles, method: str, sample: int | None, about: DataOptions, form: str, **given: Any) -> None:
    """Show how much memory a fit needs, and whether it fits.

    The file is read once, one part at a time, to count its rows. Nothing is learned.

    Example: eocc plan normal.csv --prototypes 256
    """
    check_stream(method, bool(sample), sample, about)
    check_labels(method, about)
    classifier = options.classifier_of(method, given)

    from eocc.base.byte_sizes import format_bytes
    from eocc.scale.memory import memory_limit

    n_normal, n_outliers, n_columns, pair_bytes, is_numbers = size_of(data, about, classifier, method)
    n = min(n_normal, sample or n_normal)
    needed, remedy = classifier._memory_needed(n, n_columns, pair_bytes, n_outliers)
    limit = memory_limit(classifier.max_memory)
    fits = needed <= limit
    facts = {"rows": n, "outliers": n_outliers, "columns": n_columns, "memory needed": round(needed),
             "memory limit": limit, "fits": fits,
             "remedy": None if fits else remedy_in_options(remedy, method, n if is_numbers else 0)}  # fmt: skip
    words = {**facts, "memory needed": format_bytes(needed), "fits": "yes" if fits else "no",
             "memory limit": format_bytes(limit) if limit < float("inf") else "unknown"}  # fmt: skip
    lines = (f"{name + ':':<15}{value}\n" for name, value in words.items() if value not in (None, 0))
    with writing(None) as file:
        file.write(json_line(facts) if form == "json" else "".join(lines))


def size_of(data: DataFiles, about: DataOptions, classifier: Any, method: str) -> tuple[int, int, int, float, bool]:
    """Return the numbers of normal rows, outliers and columns, the bytes per pair, and whether files hold numbers."""
    import numpy as np

    from eocc.base.wording import counted
    from eocc.cli.reading import choices_of, labels_of, opened
    from eocc.formats.files.rows import learn
    from eocc.measures.base import n_columns_of
    from eocc.streaming import files_of
    from eocc.tables.table import is_same

    path = data.paths[0]
    if path.is_dir() and about.input_format is None and not any(path.rglob("*.[gG][xX][lL]")):
        data = DataFiles(tuple(files_of(path)))
    n_rows, n_normal, n_columns, pair_bytes, learnt = 0, 0, 0, 0.0, None
    n_outliers = dict.fromkeys(options.names_in(about.outliers), 0)
    choices = choices_of(about)
    for chunk in opened(data, about):
        part = learn([chunk], str(data), None if classifier.measure == "auto" else classifier.measure, choices)
        labels = labels_of(part.chunk, data, about.label) if about.label else [about.target] * len(part.chunk)
        labels = list(compress(labels, part.good))
        if learnt is None:
            learnt, normal = part, [k for k, cell in enumerate(labels) if is_same(cell, about.target)]
            probe = type(classifier)(**classifier.get_params(deep=False))
            patterns = probe._read(part.X[np.array(normal)] if normal and part.reading else part.X, reset=True)
            n_columns, pair_bytes = n_columns_of(patterns), probe.resolved_measure_.pair_bytes(patterns)
        n_rows, n_normal = n_rows + len(labels), n_normal + sum(is_same(cell, about.target) for cell in labels)
        for value in n_outliers:
            n_outliers[value] += sum(is_same(cell, value) for cell in labels)
    assert learnt is not None  # files without rows were refused
    for value, count in {about.target: n_normal, **n_outliers}.items():
        if not count:
            raise ValueError(f"{data} has no row with {about.label} = {value!r}")
    say(f"{data}: {counted(n_normal, 'normal row')}; the first part holds {learnt.described}.")
    others = n_rows - n_normal if method == options.EOCC_2 else 0
    return n_normal, sum(n_outliers.values()) or others, n_columns, pair_bytes, learnt.kind == "numbers"
