"""Results as a table, CSV or JSON lines, row by row; into a file whole or not at all."""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from eocc.registry import choose

Format = Annotated[str, typer.Option("--format", help="table, csv or json (one object a line).")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="A file for the result; standard output if none.")]

Row = dict[str, Any]


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
    return writer.writerow


def _json_writer(file: IO[str], names: Sequence[str]) -> Callable[[Row], None]:
    return lambda row: (file.write(json.dumps({name: row.get(name) for name in names}) + "\n"), None)[1]


WRITERS = {"table": _table_writer, "csv": _csv_writer, "json": _json_writer}


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


@contextmanager
def writing_rows(output: Path | None, form: str, names: Sequence[str]) -> Iterator[Callable[[Row], None]]:
    """Yield a function that writes one row."""
    make = choose("format", WRITERS, form)
    with writing(output) as file:
        yield make(file, names)


@contextmanager
def writing(output: Path | None) -> Iterator[IO[str]]:
    """Yield a file that appears under its name when all is written, or standard output."""
    if output is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    draft = output.with_name(f".{output.name}.part")
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            yield file
        draft.replace(output)
    finally:
        draft.unlink(missing_ok=True)
