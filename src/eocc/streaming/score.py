"""Rows of a source -> a file of decisions and scores, which appears whole or not at all."""

import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from os import PathLike
from pathlib import Path
from typing import Any

from eocc.base.atomic import check_output, drafted
from eocc.base.estimator import check_is_fitted
from eocc.base.registry import choose, needed
from eocc.base.threads import in_order, n_threads
from eocc.calibration.conformal import DEFAULT_FALSE_DISCOVERIES
from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.summary import Counting, Summary
from eocc.entropic.rules import Scores
from eocc.scale.passes import Part
from eocc.streaming.fit import REFUSE, check_classifier, files_of, source_of

# Number of rows in a row group of Parquet.
GROUP_ROWS = 2**17

Columns = Mapping[str, Any]


def score_stream(
    classifier: OneClassClassifier, source: Any, out: str | PathLike[str], *, incomplete: str = REFUSE
) -> Summary:
    """Score all rows of a source and write them to `out`, .parquet or .csv, one part at a time; return the summary.

    The file has the columns `row`, the number of the row from 0, `decision`, `membership`, `score`, `how_far_out` and,
    for a calibrated model, `p_value`. The source is one of those that `fit_stream` takes, or an iterator of chunks; it
    may hold any data that the model can compare. Columns of tables and frames are found by name. Rows with missing
    values are scored as `predict` would, unless incomplete="skip" leaves them out.

    >>> from eocc import SurpriseClassifier
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(100, 2))
    >>> scored = score_stream(SurpriseClassifier().fit(rows), [rows + [0, 50]] * 2, "scores.csv")
    >>> scored.n_rows, scored.n_accepted
    (200, 0)
    >>> print(scored.drift)
    200 of 200 rows rejected, 5 % expected: the new data differ from the training data, most of all in feature 1.
    """
    check_classifier("score_stream", classifier)
    check_is_fitted(classifier)
    output = Path(out)
    write_to = choose("suffix of the output", WRITERS, output.suffix.lower())
    check_output(output, *(files_of(Path(source)) if isinstance(source, str | PathLike) else []))
    known, measure = classifier._known_data, classifier.measure_
    stream = source_of(source, incomplete)
    # One thread per part; patterns other than numbers are scored one part after the other, on all threads.
    count = n_threads(classifier.n_jobs) if known.is_numbers else 1
    scorer, counting = copy(classifier), Counting(classifier)
    scorer.n_jobs = classifier.n_jobs if count == 1 else 1

    def scored(part: Part) -> tuple[Part, Any, Scores]:
        patterns = scorer._read(part.values)
        return part, patterns, scorer._score_read(patterns)

    with drafted(output) as draft, write_to(draft) as write:
        for part, patterns, scores in in_order(scored, stream.parts(known, measure.fills_gaps), count):
            write({"row": part.numbers, **counting.add(patterns, scores)})
        if not counting.n_rows:
            raise stream.empty()
    return counting.summary(DEFAULT_FALSE_DISCOVERIES)


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
    needed("pyarrow.parquet", "Parquet needs pyarrow: pip install pyarrow; or write to .csv")
    import pyarrow

    writers, waiting = list[Any](), list[Any]()

    def flush() -> None:
        table = pyarrow.concat_tables(waiting, promote_options="permissive")
        waiting.clear()
        if not writers:
            # Columns with repeated values: for other columns a dictionary costs time and space.
            repeated = [name for name in ("decision", "p_value") if name in table.schema.names]
            # A column without any value so far may still get some; text can hold them all.
            fields = [f.with_type(pyarrow.string()) if pyarrow.types.is_null(f.type) else f for f in table.schema]
            writers.append(pyarrow.parquet.ParquetWriter(path, pyarrow.schema(fields), use_dictionary=repeated))
        writers[0].write_table(table.cast(writers[0].schema))

    def write(columns: Columns, least: int = GROUP_ROWS) -> None:
        try:
            if columns:
                waiting.append(pyarrow.table(dict(columns)))
            if waiting and sum(table.num_rows for table in waiting) >= least:
                flush()
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
            first = str(error).splitlines()[0]
            raise ValueError(f"Parquet columns hold values of one type; write CSV or JSON instead: {first}") from None

    try:
        yield write
        write({}, 0)
    finally:
        for writer in writers:
            writer.close()


WRITERS = {".csv": _writing_csv, ".parquet": writing_parquet}
