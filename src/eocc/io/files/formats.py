"""A path -> the format of the file, by its suffix or its first bytes, and its chunks."""

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from eocc.foundation.progress import current_watch, stage
from eocc.foundation.registry import Registry, choose
from eocc.io.files.source import (
    PACKED,
    STDIN,
    UNPACKED_BYTES,
    UNPACKED_TIMES,
    Lines,
    is_pipe,
    open_source,
    regular,
)

if TYPE_CHECKING:
    from eocc.io.files.chunk import Chunk
    from eocc.tables.spelling import Dialect

# Formats that are read line by line, also from standard input: functions of Lines, and for tables of the Dialect.
TEXT_TABLES = ("csv", "tsv")
STREAMS = Registry("eocc.io.files", {
    "csv": "tables.csv_chunks", "tsv": "tables.tsv_chunks", "jsonl": "lines.json_line_chunks",
    "json": "lines.json_chunks", "text": "lines.text_chunks", "smiles": "graphs.smiles_chunks",
})  # fmt: skip
# Formats that need a file: functions of its path.
FILES = Registry("eocc.io.files", {
    "parquet": "arrow.parquet_chunks", "arrow": "arrow.arrow_chunks", "npy": "arrays.npy_chunks",
    "xlsx": "sheets.sheet_chunks", "ods": "sheets.sheet_chunks", "xls": "sheets.sheet_chunks",
    "gxl": "graphs.graph_chunks", "cxl": "graphs.index_chunks", "gxl-collection": "graphs.collection_chunks",
})  # fmt: skip
FORMATS = (*STREAMS, *FILES)
COUNTS = Registry("eocc.io.files", {
    "parquet": "arrow.parquet_rows", "npy": "arrays.npy_rows", "gxl-collection": "graphs.collection_size",
})  # fmt: skip
SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".txt": "text", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".npy": "npy", ".xlsx": "xlsx", ".xlsm": "xlsx", ".xlsb": "xlsx",
    ".ods": "ods", ".xls": "xls", ".smi": "smiles", ".smiles": "smiles", ".gxl": "gxl", ".cxl": "cxl",
    ".zip": "gxl-collection",
}  # fmt: skip
# What to do with a graph that a CXL index lists with two classes: leave it out, or choose one.
TWO_CLASSES = ("skip", "first", "last")
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\x93NUMPY": "npy"}
SHEETS = ("xlsx", "ods", "xls")
# Files that must be converted first.
REMEDIES = {".npz": "save the array that you need with numpy.save, as .npy", ".zst": "unpack it first: unzstd FILE"}


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
    if suffix in PACKED:
        found = SUFFIXES.get(Path(path.stem).suffix.lower(), "")
        if found in STREAMS:
            return found
        raise _unknown(f"{path}: a packed file holds {', '.join(STREAMS)}, as in rows.csv{suffix}", FORMATS)
    if found := SUFFIXES.get(suffix) or _by_first_bytes(path, suffix) or ("csv" if is_pipe(path) else ""):
        return found
    why = f"the suffix {path.suffix!r} is not known" if suffix else "it has no suffix to tell the format"
    raise _unknown(f"{path}: {why}", FORMATS, suffix)


def _unknown(why: str, formats: Iterable[str], suffix: str = "") -> UnknownFormatError:
    known = ", ".join(formats)
    remedy, option = f"convert it to one of {known}", f"pass --input-format, one of {known}"
    if suffix in REMEDIES:
        remedy = option = REMEDIES[suffix]
    error = UnknownFormatError(f"{why}; {remedy}")
    error.on_command_line = f"{why}; {option}"
    return error


def _by_first_bytes(path: Path, suffix: str) -> str | None:
    if suffix in REMEDIES:
        return None
    with regular(path).open("rb") as file:
        start = file.read(16)
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)


def open_chunks(
    path: Path, file_format: str | None = None, two_classes: str | None = None, dialect: "Dialect | None" = None,
    sheet: str = "",
) -> Iterator["Chunk"]:  # fmt: skip
    """Yield the chunks of a file, of a folder of GXL files, or of standard input (the path "-").

    `two_classes`, one of TWO_CLASSES, is for CXL indices, the `dialect` for CSV and TSV, the `sheet` for workbooks.
    """
    name = guess_format(path) if file_format is None else file_format
    choose("format", dict.fromkeys(FORMATS), name)
    options = {"dialect": dialect} if name in TEXT_TABLES else {}
    if dialect is not None and dialect.is_given and not options:
        raise ValueError(
            f"--delimiter, --decimal and --dates are for CSV and TSV, and {path} is {name}; leave them out"
        )
    if sheet and name not in SHEETS:
        raise ValueError(f"--sheet is for workbooks, and {path} is {name}; leave it out")
    if name in STREAMS:
        with open_source(path) as file:
            size = math.inf if path == STDIN else regular(path).stat().st_size
            is_packed = path.suffix.lower() in PACKED
            most = max(UNPACKED_BYTES, UNPACKED_TIMES * size) if is_packed else math.inf
            lines = Lines(file, "standard input" if path == STDIN else str(path), most=most)
            yield from _watched(STREAMS[name](lines, **options), path, size, lambda chunk: lines.size)
    elif path == STDIN:
        raise ValueError(f"{name} cannot be read from standard input; pass a path")
    else:
        n_rows = count_rows(path, name) if current_watch() else None
        more = [two_classes] if name == "cxl" else [sheet] if name in SHEETS else []
        chunks = FILES[name](path, *more)
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
