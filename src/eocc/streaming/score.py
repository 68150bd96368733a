"""Rows of a source -> a file of decisions and scores, whole or not at all."""

import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.foundation.arguments import n_threads
from eocc.foundation.atomic import check_output, drafted
from eocc.foundation.registry import choose
from eocc.foundation.threads import in_order
from eocc.io.files import schema_of_model
from eocc.streaming.chosen import REFUSE, Chosen
from eocc.streaming.source import CHUNK_ROWS, check_classifier, files_of, holds_tables, source_of

# Rows of scores are gathered to so many before a group of Parquet is written.
GROUP_ROWS = 2**17
# Columns whose values repeat: a dictionary of the others would take most of the time to write them, and room.
REPEATED = ("decision", "p_value")

Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Scored:
    """How many rows were scored, and how many of them accepted."""

    n_rows: int
    n_accepted: int


def figures_of(classifier: EntropicOneClassClassifier, patterns: Any) -> dict[str, NDArray[Any]]:
    """Return `decision`, `membership`, `score`, `distance` and, of a calibrated model, `p_value` of every pattern.

    The dissimilarities, which take nearly all the time, are computed once for all.

    >>> clf = EntropicOneClassClassifier().fit([[0.0], [1.0], [2.0], [3.0]])
    >>> {name: column.round(2).tolist() for name, column in figures_of(clf, [[1.5], [90.0]]).items()}["decision"]
    [1, -1]
    """
    verdicts = classifier.judge(patterns)
    margins = verdicts.margins
    columns: dict[str, NDArray[Any]] = {
        "decision": np.where(margins - classifier.threshold_ >= 0, 1, -1),
        "membership": np.exp(verdicts.log_memberships),
        "score": verdicts.log_memberships,
        "distance": verdicts.ratios,
    }
    if hasattr(classifier, "calibration_"):
        columns["p_value"] = classifier.calibration_.p_values(margins)
    return columns


def score_stream(
    classifier: EntropicOneClassClassifier,
    source: Any,
    out: str | PathLike[str],
    *,
    chunk_rows: int = CHUNK_ROWS,
    incomplete: str = REFUSE,
) -> Scored:
    """Judge all rows of a source and write them to `out`, .parquet or .csv, a part at a time; return the counts.

    The columns are `pattern`, the number of the row from 0, and those of `figures_of`. A source is what `fit_stream`
    takes, or an iterator of chunks; a file may also hold whatever else the model compares. The columns of tables and
    frames are found by their names. The file appears whole or not at all.

    A row of numbers that misses one ends it. With incomplete="skip" rows that miss a value are left out, and `pattern`
    skips their numbers.

    >>> rows = np.random.default_rng(0).normal(size=(100, 2))
    >>> clf = EntropicOneClassClassifier().fit(rows)
    >>> score_stream(clf, [rows, rows + 50], "scores.csv")
    Scored(n_rows=200, n_accepted=100)
    """
    check_classifier("score_stream", classifier)
    check_is_fitted(classifier)
    chosen, output = Chosen(incomplete=incomplete), Path(out)
    write_to = choose("suffix of the output", WRITERS, output.suffix.lower())
    paths = files_of(Path(source)) if isinstance(source, str | PathLike) else []
    check_output(output, *paths)
    schema = schema_of_model(classifier) if paths and holds_tables(paths) else None
    names = getattr(classifier, "feature_names_in_", None)
    source = _Once(source) if isinstance(source, Iterator) else source
    stream = source_of(source, chunk_rows=chunk_rows, schema=schema, model_names=names, chosen=chosen)
    judge, count = judging(classifier, schema is None or schema.kind == "numbers")
    n_rows, n_accepted = 0, 0
    with drafted(output) as draft, write_to(draft) as write:
        for part, columns in in_order(lambda part: (part, judge(part.values)), stream.rows(), count):
            write({"pattern": part.places, **columns})
            n_rows, n_accepted = n_rows + len(part.values), n_accepted + int((columns["decision"] > 0).sum())
        if not n_rows:
            raise ValueError(f"the source holds no rows{chosen.in_words()}; at least 1 is required")
    return Scored(n_rows, n_accepted)


class _Once:
    """Chunks that are read once, which is enough to score them."""

    def __init__(self, chunks: Iterator[Any]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[Any]:
        return self._chunks


def judging(
    classifier: EntropicOneClassClassifier, are_rows: bool
) -> tuple[Callable[[Any], dict[str, NDArray[Any]]], int]:
    """Return `figures_of` for patterns whose columns were matched already, and on how many threads to call it.

    Rows of numbers are judged a part a thread; other patterns one part after the other, each on the model's threads.
    """
    judge, count = copy(classifier), n_threads(classifier.n_jobs) if are_rows else 1
    judge.__dict__.pop("feature_names_in_", None)  # scikit-learn would miss the names in every array
    judge.n_jobs = 1 if are_rows else classifier.n_jobs
    return partial(figures_of, judge), count


@contextmanager
def _writing_csv(path: Path) -> Iterator[Callable[[Columns], None]]:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer, header = csv.writer(file, lineterminator="\n"), list[str]()

        def write(columns: Columns) -> None:
            if not header:
                header.extend(columns)
                writer.writerow(header)
            writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))

        yield write


@contextmanager
def writing_parquet(path: Path) -> Iterator[Callable[[Columns], None]]:
    """Yield a function that writes columns of many rows; what is written first tells their types.

    >>> with writing_parquet(Path("scores.parquet")) as write:
    ...     write({"pattern": np.arange(2), "score": np.array([-0.5, -1.0])})
    ...     write({"pattern": np.arange(2, 3), "score": np.array([-7.5])})
    >>> import pyarrow.parquet
    >>> pyarrow.parquet.read_table("scores.parquet").to_pydict()
    {'pattern': [0, 1, 2], 'score': [-0.5, -1.0, -7.5]}
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError("Parquet needs pyarrow: pip install 'eocc[tables]'; or write to .csv") from None
    with ExitStack() as opened:
        writers, waiting = list[Any](), list[Any]()

        def flush() -> None:
            table = pyarrow.concat_tables(waiting)
            if not writers:
                repeated = [name for name in REPEATED if name in table.schema.names]
                writer = pyarrow.parquet.ParquetWriter(path, table.schema, use_dictionary=repeated)
                writers.append(opened.enter_context(writer))
            writers[0].write_table(table)
            waiting.clear()

        def write(columns: Columns) -> None:
            waiting.append(pyarrow.table(dict(columns)))
            if sum(table.num_rows for table in waiting) >= GROUP_ROWS:
                flush()

        yield write
        if waiting:
            flush()


WRITERS = {".csv": _writing_csv, ".parquet": writing_parquet}
