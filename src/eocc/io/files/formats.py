"""A path -> the format of the file, by its suffix or its first bytes, and its chunks."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from eocc.foundation.progress import current_watch, stage
from eocc.foundation.registry import Registry, choose
from eocc.io.files.dialect import Dialect
from eocc.io.files.source import STDIN, Lines, check_regular, open_source

if TYPE_CHECKING:
    from eocc.io.files.chunk import Chunk

# Formats that are read line by line, also from standard input: functions of Lines, and for tables of the Dialect.
TEXT_TABLES = ("csv", "tsv")
STREAMS = Registry("eocc.io.files", {
    "csv": "tables.csv_chunks", "tsv": "tables.tsv_chunks", "jsonl": "lines.json_line_chunks",
    "json": "lines.json_chunks", "text": "lines.text_chunks", "smiles": "graphs.smiles_chunks",
})  # fmt: skip
# Formats that need a file: functions of its path.
FILES = Registry("eocc.io.files", {
    "parquet": "arrow.parquet_chunks", "arrow": "arrow.arrow_chunks", "npy": "arrays.npy_chunks",
    "xlsx": "sheets.sheet_chunks",
    "gxl": "graphs.graph_chunks", "cxl": "graphs.index_chunks", "gxl-collection": "graphs.collection_chunks",
})  # fmt: skip
FORMATS = (*STREAMS, *FILES)
COUNTS = Registry("eocc.io.files", {
    "parquet": "arrow.parquet_rows", "npy": "arrays.npy_rows", "gxl-collection": "graphs.collection_size",
})  # fmt: skip
SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".txt": "text", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".npy": "npy", ".xlsx": "xlsx", ".smi": "smiles", ".smiles": "smiles", ".gxl": "gxl", ".cxl": "cxl",
    ".zip": "gxl-collection",
}  # fmt: skip
# What to do with a graph that a CXL index lists with two classes: leave it out, or choose one.
TWO_CLASSES = ("skip", "first", "last")
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\x93NUMPY": "npy"}
# Files that must be converted first.
REMEDIES = dict.fromkeys((".xls", ".ods"), "save the sheet as .xlsx or .csv")
REMEDIES[".npz"] = "save the array that you need with numpy.save, as .npy"
FOUND = Dialect()
UNPACK = {".gz": "gunzip", ".bz2": "bunzip2", ".xz": "unxz", ".zst": "unzstd"}


class UnknownFormatError(ValueError):
    """The format of a file is unknown; `on_command_line` is the same message in terms of options."""

    on_command_line = ""


def guess_format(path: Path) -> str:
    """Return the format of a file by its suffix or its first bytes; a folder is a collection of graphs.

    >>> guess_format(Path("parts.CSV"))
    'csv'
    """
    if path == STDIN:
        raise _unknown("standard input has no suffix to tell the format", STREAMS)
    if path.is_dir():
        return "gxl-collection"
    suffix = path.suffix.lower()
    if found := SUFFIXES.get(suffix) or _by_first_bytes(path, suffix):
        return found
    why = f"the suffix {path.suffix!r} is not known" if suffix else "it has no suffix to tell the format"
    raise _unknown(f"{path}: {why}", FORMATS, suffix)


def _unknown(why: str, formats: Iterable[str], suffix: str = "") -> UnknownFormatError:
    known = ", ".join(formats)
    remedy, option = f"convert it to one of {known}", f"pass --input-format, one of {known}"
    if suffix in UNPACK:
        remedy = f"unpack it first: {UNPACK[suffix]} FILE"
        option = f"unpack it into a pipe: {UNPACK[suffix]} -c FILE | eocc ... - --input-format csv"
    elif suffix in REMEDIES:
        remedy = option = REMEDIES[suffix]
    error = UnknownFormatError(f"{why}; {remedy}")
    error.on_command_line = f"{why}; {option}"
    return error


def _by_first_bytes(path: Path, suffix: str) -> str | None:
    if suffix in REMEDIES or suffix in UNPACK:
        return None
    check_regular(path)
    with path.open("rb") as file:
        start = file.read(16)
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)


def open_chunks(
    path: Path, file_format: str | None = None, two_classes: str | None = None, dialect: Dialect = FOUND
) -> Iterator["Chunk"]:
    """Yield the chunks of a file, of a folder of GXL files, or of standard input (the path "-").

    `two_classes`, one of TWO_CLASSES, is for CXL indices, the `dialect` for CSV and TSV.
    """
    name = guess_format(path) if file_format is None else file_format
    choose("format", dict.fromkeys(FORMATS), name)
    options = {"dialect": dialect} if name in TEXT_TABLES else {}
    if replace(dialect, usual=FOUND.usual) != FOUND and not options:
        raise ValueError(
            f"--delimiter, --decimal and --dates are for CSV and TSV, and {path} is {name}; leave them out"
        )
    if name in STREAMS:
        with open_source(path) as file:
            lines = Lines(file, "standard input" if path == STDIN else str(path))
            size = math.inf if path == STDIN else path.stat().st_size
            yield from _watched(STREAMS[name](lines, **options), path, size, lambda chunk: lines.size)
    elif path == STDIN:
        raise ValueError(f"{name} cannot be read from standard input; pass a path")
    else:
        n_rows = count_rows(path, name) if current_watch() else None
        chunks = FILES[name](path, two_classes) if name == "cxl" else FILES[name](path)
        yield from _watched(chunks, path, n_rows or math.inf, lambda chunk: chunk.first + len(chunk))


def _watched(
    chunks: Iterator["Chunk"], path: Path, size: float, position: Callable[["Chunk"], float]
) -> Iterator["Chunk"]:
    """Yield the chunks, and report how much of the file is done, with all that is done to a chunk."""
    with stage(f"reading {'standard input' if path == STDIN else path.name}", size) as report:
        before = 0.0
        for chunk in chunks:
            after = position(chunk)
            report(before, after - before)
            yield chunk
            before = after


def count_rows(path: Path, file_format: str) -> int | None:
    """Return the number of rows of a file if its format stores it, else None."""
    return COUNTS[file_format](path) if file_format in COUNTS else None
