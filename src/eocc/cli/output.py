"""Results as a table, CSV, JSON lines or Parquet. A file is written completely or not at all."""

import csv
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import IO, Any

import click

from eocc.cli.app import Shared, say
from eocc.foundation.printing import printable

JSON, PARQUET = "json", "parquet"
SUFFIXES = {".csv": "csv", ".json": JSON, ".jsonl": JSON, ".ndjson": JSON, ".parquet": PARQUET, ".pq": PARQUET}
SHEETS = (".xlsx", ".xls", ".ods")
WIDTH = 12
# The last column of scores, which holds sentences.
NOTES = "notes"
# A note says that the rows are those the model was trained on if more than this share of them are.
MANY_KNOWN = 0.2
MOST_COMPARED = 1000

Columns = Mapping[str, Any]


def open_model(model: Path, output: Path | None, *data: Path) -> Any:
    """Return the classifier of a model file; refuse an output that cannot be written, or that is one of the inputs."""
    from eocc import load
    from eocc.foundation.atomic import check_output

    check_output(output, model, *data)
    return load(model)


def changed_on(path: Path) -> date:
    """Return the day of the last change of a file, today for standard input."""
    moment = datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.is_file() else datetime.now(UTC)
    return moment.date()


def output_format(form: str | None, output: Path | None, default: str) -> str:
    """Return the format that was asked for, or that of the suffix of the output, or the default."""
    suffix = "" if output is None else output.suffix.lower()
    if suffix in SHEETS:
        raise click.UsageError(f"eocc writes no {suffix}; pass --output with .csv, .json or .parquet")
    form = form or SUFFIXES.get(suffix, default)
    if form == PARQUET and output is None:
        raise click.UsageError("--format parquet needs a file: pass --output")
    return form


def json_line(value: Any, indent: int | None = None) -> str:
    """Return a value as one line of JSON, or as indented lines; infinity and NaN become null."""
    return json.dumps(_to_json(value), allow_nan=False, indent=indent) + "\n"


def _to_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return _to_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


class _TextTable:
    """Writes rows below their header, in columns as wide as the first part needs."""

    def __init__(self, file: IO[str], names: Sequence[str]) -> None:
        self._file, self._names = file, names
        self._widths = list[int]()

    def write(self, rows: Iterable[Iterable[Any]]) -> None:
        lines = [[_cell(cell) for cell in row] for row in rows]
        if not self._widths:
            lines.insert(0, [printable(name) for name in self._names])
            self._widths = [max(WIDTH, *map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            cells = [cell.rjust(width) for cell, width in zip(line, self._widths, strict=True)]
            if self._names[-1] == NOTES:
                cells[-1] = line[-1]
            self._file.write("  ".join(cells).rstrip() + "\n")


def _cell(value: Any) -> str:
    return f"{value + 0.0:.6g}" if isinstance(value, float) else printable(str(value))  # no "-0"


@contextmanager
def writing_columns(output: Path | None, form: str, names: Sequence[str]) -> Iterator[Callable[[Columns], None]]:
    """Yield a function that writes many rows, given as columns."""
    if form == PARQUET and output is not None:
        from eocc.foundation.atomic import drafted
        from eocc.streaming import writing_parquet

        with drafted(output) as draft, writing_parquet(draft) as write:
            yield write
        return
    with writing(output) as file:
        writer = csv.writer(file, lineterminator="\n")
        table = _TextTable(file, names)
        if form == "csv":
            writer.writerow(names)

        def write_rows(columns: Columns) -> None:
            rows = zip(*(_plain(columns[name]) for name in names), strict=True)
            if form == "csv":
                writer.writerows(rows)
            elif form == JSON:
                file.writelines(json_line(dict(zip(names, row, strict=True))) for row in rows)
            else:
                table.write(rows)

        yield write_rows


def _plain(column: Any) -> Any:
    return column.tolist() if hasattr(column, "tolist") else column  # numpy's numbers print with their type


@contextmanager
def writing(output: Path | None) -> Iterator[IO[str]]:
    """Yield standard output, or a file that appears under its name when all is written."""
    if output is None:
        with ExitStack() as stack:
            if Shared.watch is not None and sys.stdout.isatty():  # the rows on the screen show the progress
                stack.enter_context(Shared.watch.hidden())
            yield sys.stdout
        return
    from eocc.foundation.atomic import drafted

    with drafted(output) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        yield file


def say_written(output: Path | None, n_rows: int, n_accepted: int, form: str = "") -> None:
    """Print where the result was written, if it was written to a file."""
    if output is not None:
        as_table = " as a table" if form == "table" else ""
        say(f"Written: {output}{as_table} ({n_rows:,} {'row' if n_rows == 1 else 'rows'}, {n_accepted:,} accepted).")


def say_if_trained_on(classifier: Any, rows: Any) -> None:
    """Print a note if many of the rows are those that the model was trained on, and score better for it."""
    if classifier._scores_left_out:
        return
    import numpy as np

    some = np.unique(np.linspace(0, len(rows.names) - 1, MOST_COMPARED).astype(int))
    share = float(np.mean(classifier.transform(rows.some(some)).min(axis=1) == 0))
    if share > MANY_KNOWN:
        say(f"Note: {share:.0%} of the rows equal a row that the model was trained on, so it looks better than it is; "
            "test on rows that were not used for training.")  # fmt: skip
