"""Rows of a source -> a file of decisions and scores, which appears whole or not at all."""

import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from eocc.classifiers.base import OneClassClassifier
from eocc.foundation.arguments import n_threads
from eocc.foundation.atomic import check_output, drafted
from eocc.foundation.registry import choose
from eocc.foundation.threads import in_order
from eocc.io.files import schema_of_model
from eocc.streaming.source import CHUNK_ROWS, REFUSE, check_classifier, files_of, source_of

# Number of rows in a row group of Parquet.
GROUP_ROWS = 2**17
# Columns with repeated values: for other columns a Parquet dictionary costs time and space.
REPEATED = ("decision", "p_value")

Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Scored:
    """How many rows were scored, and how many of them were accepted."""

    n_rows: int
    n_accepted: int


def figures_of(classifier: OneClassClassifier, X: Any) -> dict[str, NDArray[Any]]:
    """Return `decision`, `membership`, `score`, `distance` and, for a calibrated model, `p_value` of every row."""
    scores = classifier.score_all(X)
    columns: dict[str, NDArray[Any]] = {
        "decision": np.where(scores.margins - classifier.threshold_ >= 0, 1, -1),
        "membership": np.exp(scores.log_memberships),
        "score": scores.log_memberships,
        "distance": scores.ratios,
    }
    if classifier.calibration_ is not None:
        columns["p_value"] = classifier.calibration_.p_values(scores.margins)
    return columns


def score_stream(
    classifier: OneClassClassifier,
    source: Any,
    out: str | PathLike[str],
    *,
    chunk_rows: int = CHUNK_ROWS,
    incomplete: str = REFUSE,
) -> Scored:
    """Score all rows of a source and write them to `out`, .parquet or .csv, one part at a time; return the counts.

    The file has a column `row`, the number of the row from 0, and the columns of `figures_of`. The source is one of
    those that `fit_stream` takes, or an iterator of chunks; it may hold any data that the model can compare. Columns of
    tables and frames are found by name. Rows with missing values are scored as `predict` would, unless
    incomplete="skip" leaves them out.

    >>> from eocc import SurpriseClassifier
    >>> rows = np.random.default_rng(0).normal(size=(100, 2))
    >>> score_stream(SurpriseClassifier().fit(rows), [rows + 50, rows - 50], "scores.csv")
    Scored(n_rows=200, n_accepted=0)
    """
    check_classifier("score_stream", classifier)
    check_is_fitted(classifier)
    output = Path(out)
    write_to = choose("suffix of the output", WRITERS, output.suffix.lower())
    check_output(output, *(files_of(Path(source)) if isinstance(source, str | PathLike) else []))
    schema = schema_of_model(classifier)
    stream = source_of(source, chunk_rows, None, incomplete, schema=schema)
    are_rows, scorer = schema.kind == "numbers", copy(classifier)
    scorer.__dict__.pop("feature_names_in_", None)  # the schema has matched the columns already
    if are_rows:  # one thread per part; other patterns are scored one part after the other, on all threads
        scorer.n_jobs = 1
    n_rows, n_accepted = 0, 0
    with drafted(output) as draft, write_to(draft) as write:
        count = n_threads(classifier.n_jobs) if are_rows else 1
        for part, columns in in_order(lambda part: (part, figures_of(scorer, part.values)), stream.rows(), count):
            write({"row": part.numbers, **columns})
            n_rows, n_accepted = n_rows + len(part.values), n_accepted + int((columns["decision"] > 0).sum())
        if not n_rows:
            raise ValueError(f"the source holds no rows{stream.in_words()}; at least 1 is required")
    return Scored(n_rows, n_accepted)


@contextmanager
def _writing_csv(path: Path) -> Iterator[Callable[[Columns], None]]:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")

        def write(columns: Columns) -> None:
            if not file.tell():
                writer.writerow(columns)
            writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))

        yield write


@contextmanager
def writing_parquet(path: Path) -> Iterator[Callable[[Columns], None]]:
    """Yield a function that writes columns of many rows; the first call decides their types."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError("Parquet needs pyarrow: pip install 'eocc[tables]'; or write to .csv") from None
    writers, waiting = list[Any](), list[Any]()

    def flush() -> None:
        table = pyarrow.concat_tables(waiting)
        waiting.clear()
        if not writers:
            repeated = [name for name in REPEATED if name in table.schema.names]
            writers.append(pyarrow.parquet.ParquetWriter(path, table.schema, use_dictionary=repeated))
        writers[0].write_table(table)

    def write(columns: Columns) -> None:
        waiting.append(pyarrow.table(dict(columns)))
        if sum(table.num_rows for table in waiting) >= GROUP_ROWS:
            flush()

    try:
        yield write
        if waiting:
            flush()
    finally:
        for writer in writers:
            writer.close()


WRITERS = {".csv": _writing_csv, ".parquet": writing_parquet}
