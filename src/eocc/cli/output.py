"""Results as a table, CSV or JSON lines, row by row; into a file whole or not at all."""

import csv
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from eocc.cli.app import one_of, say
from eocc.foundation.atomic import drafted
from eocc.foundation.printing import printable
from eocc.foundation.wording import counted
from eocc.streaming import writing_parquet

Output = Annotated[Path | None, typer.Option("--output", "-o", help="A file for the result; standard output if none.")]

Row = dict[str, Any]
Columns = Mapping[str, Sequence[Any]]


def _table_writer(file: IO[str], names: Sequence[str]) -> Callable[[Row], None]:
    widths = [max(len(name), 12) for name in names]
    file.write("  ".join(name.rjust(width) for name, width in zip(names, widths, strict=True)) + "\n")

    def write(row: Row) -> None:
        cells = (_shown(row.get(name)).rjust(width) for name, width in zip(names, widths, strict=True))
        file.write("  ".join(cells) + "\n")

    return write


def _csv_writer(file: IO[str], names: Sequence[str]) -> Callable[[Row], None]:
    writer = csv.DictWriter(file, names, lineterminator="\n")
    writer.writeheader()
    return lambda row: (writer.writerow(row), None)[1]


def _json_writer(file: IO[str], names: Sequence[str]) -> Callable[[Row], None]:
    return lambda row: (file.write(json_line({name: row.get(name) for name in names})), None)[1]


WRITERS = {"table": _table_writer, "csv": _csv_writer, "json": _json_writer}
Format = Annotated[
    str, typer.Option("--format", help="table, csv or json (one object a line).", callback=one_of("format", WRITERS))
]
PARQUET = "parquet"
TableFormat = Annotated[
    str,
    typer.Option(
        "--format",
        help="table, csv, json (one object a line) or parquet (into a file); if not given, what the output ends on "
        "tells, else table.",
        callback=one_of("format", (*WRITERS, PARQUET)),
    ),
]
SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "json", ".parquet": PARQUET, ".pq": PARQUET}
TEXT_FORMATS = ("text", "json")
TextFormat = Annotated[
    str,
    typer.Option("--format", help="text, or json (one object a line).", callback=one_of("format", TEXT_FORMATS)),
]


def format_of(form: str, output: Path | None) -> str:
    """Return the format asked for, else the one that a file's name tells.

    >>> format_of("", Path("scores.CSV")), format_of("", None), format_of("json", Path("scores.csv"))
    ('csv', 'table', 'json')
    """
    told = "" if output is None else output.suffix.lower()
    return form or SUFFIXES.get(told, "table")


def json_line(value: Any) -> str:
    r"""Return a value as one line of JSON; numbers that JSON does not know become null.

    >>> json_line({"extent": float("inf"), "name": "oak"})
    '{"extent": null, "name": "oak"}\n'
    """
    return json.dumps(_plain(value), allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value + 0.0:.6g}"  # no "-0"
    return "" if value is None else printable(str(value))


@contextmanager
def writing_rows(output: Path | None, form: str, names: Sequence[str]) -> Iterator[Callable[[Row], None]]:
    """Yield a function that writes one row."""
    with writing(output) as file:
        yield WRITERS[form](file, names)


@contextmanager
def writing_columns(output: Path | None, form: str, names: Sequence[str]) -> Iterator[Callable[[Columns], None]]:
    """Yield a function that writes many rows, given as columns: into CSV and Parquet all at once."""
    if form == PARQUET and output is not None:
        with drafted(output) as draft, writing_parquet(draft) as write:
            yield write
        return
    with writing(output) as file:
        yield _csv_columns(file, names) if form == "csv" else _row_by_row(WRITERS[form](file, names), names)


def _csv_columns(file: IO[str], names: Sequence[str]) -> Callable[[Columns], None]:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    return lambda columns: writer.writerows(zip(*(columns[name] for name in names), strict=True))


def _row_by_row(write: Callable[[Row], None], names: Sequence[str]) -> Callable[[Columns], None]:
    def write_all(columns: Columns) -> None:
        for values in zip(*(columns[name] for name in names), strict=True):
            write(dict(zip(names, values, strict=True)))

    return write_all


@contextmanager
def writing(output: Path | None) -> Iterator[IO[str]]:
    """Yield a file that appears under its name when all is written, or standard output."""
    if output is None:
        try:
            yield sys.stdout
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, head say, has seen enough: nothing more is to be flushed at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        return
    with drafted(output) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        yield file


def say_written(output: Path | None, n_patterns: int, n_accepted: int, form: str = "") -> None:
    """Say what was written where, if it was to a file, and that it is a table, which the name may not tell."""
    if output is not None:
        how = " as a table" if form == "table" else ""
        say(f"Written: {output}{how} ({counted(n_patterns, 'pattern')}, {n_accepted} accepted).")
