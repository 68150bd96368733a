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

from eocc.calibration.drift import Drift
from eocc.classifiers.base import OneClassClassifier
from eocc.foundation.arguments import n_threads
from eocc.foundation.atomic import check_output, drafted
from eocc.foundation.estimator import check_is_fitted
from eocc.foundation.registry import choose
from eocc.foundation.threads import in_order
from eocc.regions.scores import Scores
from eocc.streaming.source import CHUNK_ROWS, REFUSE, check_classifier, files_of, source_of

# Number of rows in a row group of Parquet.
GROUP_ROWS = 2**17
# Columns with repeated values: for other columns a Parquet dictionary costs time and space.
REPEATED = ("decision", "p_value")

Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Scored:
    """How many rows were scored and accepted, and the `drift` of all; None unless the model is calibrated."""

    n_rows: int
    n_accepted: int
    drift: Drift | None


class Scoring:
    """Scores the parts of a source, whose columns have been matched already, and counts.

    `score` may run on many threads, then with n_jobs=1 each; `count` runs on one.
    """

    def __init__(self, classifier: OneClassClassifier, n_jobs: int | None) -> None:
        self._classifier, self._calibration = copy(classifier), classifier.calibration_
        self._drift = None if self._calibration is None else classifier.drift_counts()
        self._classifier.n_jobs = n_jobs
        self.n_rows, self._n_accepted = 0, 0
        # Columns of the result; `p_value` is for calibrated models.
        self.names = ["decision", "membership", "score", "distance", *([] if self._drift is None else ["p_value"])]

    def score(self, X: Any) -> tuple[Any, Scores]:
        """Return the rows as the measure reads them, and their scores."""
        patterns = self._classifier.read(X)
        return patterns, self._classifier.score_read(patterns)

    def count(self, patterns: Any, scores: Scores) -> dict[str, NDArray[Any]]:
        """Count the rows, and return the columns `names`."""
        is_accepted = scores.margins - self._classifier.threshold_ >= 0
        self.n_rows, self._n_accepted = self.n_rows + len(is_accepted), self._n_accepted + int(is_accepted.sum())
        found = [np.where(is_accepted, 1, -1), np.exp(scores.log_memberships), scores.log_memberships, scores.ratios]
        if self._drift is not None and self._calibration is not None:
            self._drift.add(scores.margins, patterns)
            found.append(self._calibration.p_values(scores.margins))
        return dict(zip(self.names, found, strict=True))

    def result(self) -> Scored:
        """Return the counts of all rows."""
        return Scored(self.n_rows, self._n_accepted, None if self._drift is None else self._drift.result())


def score_stream(
    classifier: OneClassClassifier,
    source: Any,
    out: str | PathLike[str],
    *,
    chunk_rows: int = CHUNK_ROWS,
    incomplete: str = REFUSE,
) -> Scored:
    """Score all rows of a source and write them to `out`, .parquet or .csv, one part at a time; return the counts.

    The file has the columns `row`, the number of the row from 0, `decision`, `membership`, `score`, `distance` and, for
    a calibrated model, `p_value`. The source is one of those that `fit_stream` takes, or an iterator of chunks; it may
    hold any data that the model can compare. Columns of tables and frames are found by name. Rows with missing values
    are scored as `predict` would, unless incomplete="skip" leaves them out.

    >>> from eocc import SurpriseClassifier
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
    reading, measure = classifier.table_reading, classifier.measure_
    schema = measure.schema(classifier.prototypes_, classifier.feature_names) if reading is None else None
    stream = source_of(
        source, chunk_rows, None, incomplete, reading=reading, schema=schema, allows_gaps=measure.fills_gaps
    )
    # One thread per part; patterns other than numbers are scored one part after the other, on all threads.
    count = n_threads(classifier.n_jobs) if reading is not None and reading.is_numbers else 1
    scoring = Scoring(classifier, classifier.n_jobs if count == 1 else 1)
    with drafted(output) as draft, write_to(draft) as write:
        for part, *found in in_order(lambda part: (part, *scoring.score(part.values)), stream.rows(), count):
            write({"row": part.numbers, **scoring.count(*found)})
        if not scoring.n_rows:
            raise ValueError(f"the source holds no rows{stream.in_words()}; at least 1 is required")
    return scoring.result()


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

    @contextmanager
    def refusing_mixtures() -> Iterator[None]:
        try:
            yield
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
            first = str(error).splitlines()[0]
            raise ValueError(f"Parquet columns hold values of one type; write CSV or JSON instead: {first}") from None

    @refusing_mixtures()
    def flush() -> None:
        table = pyarrow.concat_tables(waiting, promote_options="permissive")
        waiting.clear()
        if not writers:
            repeated = [name for name in REPEATED if name in table.schema.names]
            # A column without any value so far may still get some; text can hold them all.
            fields = [f.with_type(pyarrow.string()) if pyarrow.types.is_null(f.type) else f for f in table.schema]
            writers.append(pyarrow.parquet.ParquetWriter(path, pyarrow.schema(fields), use_dictionary=repeated))
        writers[0].write_table(table.cast(writers[0].schema))

    def write(columns: Columns) -> None:
        with refusing_mixtures():
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
