"""Results as a table, CSV or JSON lines, row by row; into a file whole or not at all."""

import csv
import json
import math
import os
import secrets
import stat
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
    return lambda row: (writer.writerow(row), None)[1]


def _json_writer(file: IO[str], names: Sequence[str]) -> Callable[[Row], None]:
    return lambda row: (file.write(json_line({name: row.get(name) for name in names})), None)[1]


WRITERS = {"table": _table_writer, "csv": _csv_writer, "json": _json_writer}


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
    text = "" if value is None else f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)  # no "-0"
    return text if text.isprintable() else "".join(letter if letter.isprintable() else "?" for letter in text)


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
        try:
            yield sys.stdout
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, head say, has seen enough: nothing more is to be flushed at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        return
    with drafted(output) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def drafted(output: Path) -> Iterator[Path]:
    """Yield a path beside `output` to write to; it takes that name when all went well, and else is removed."""
    check_output(output)
    target = Path(os.path.realpath(output))  # a link goes on pointing to the file
    draft = target.parent / f".{target.name[:100]}.{secrets.token_hex(8)}.tmp{target.suffix[:20]}"
    try:
        yield draft
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def check_output(output: Path | None, *sources: Path | None) -> None:
    """Raise unless a file can be written there that overwrites none of the sources: before the work, not after."""
    if output is None:
        return
    target = Path(os.path.realpath(output))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no folder {str(target.parent)!r} to write {target.name!r} in")
    if target.is_dir():
        raise IsADirectoryError(f"{str(output)!r} is a folder; name a file in it")
    if target.exists() and not target.is_file():
        raise OSError(f"{str(output)!r} is no regular file; name another")
    if any(source is not None and Path(os.path.realpath(source)) == target for source in sources):
        raise ValueError(f"{str(output)!r} is what is read; name another file for the output")
