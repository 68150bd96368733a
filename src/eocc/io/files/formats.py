"""A path -> the format of the file, by its suffix or its first bytes, and its chunks."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from eocc.foundation.registry import choose
from eocc.io.files.arrays import npy_chunks, npy_rows
from eocc.io.files.arrow import arrow_chunks, parquet_chunks, parquet_rows
from eocc.io.files.chunk import Chunk
from eocc.io.files.graphs import collection_chunks, graph_chunks, index_chunks
from eocc.io.files.lines import json_chunks, json_line_chunks, text_chunks
from eocc.io.files.source import STDIN, Lines, check_regular, open_source
from eocc.io.files.tables import csv_chunks, tsv_chunks

# Formats that are read line by line, so from standard input too.
STREAMS: dict[str, Callable[[Lines], Iterator[Chunk]]] = {
    "csv": csv_chunks,
    "tsv": tsv_chunks,
    "jsonl": json_line_chunks,
    "json": json_chunks,
    "text": text_chunks,
}
FILES: dict[str, Callable[[Path], Iterator[Chunk]]] = {
    "parquet": parquet_chunks,
    "arrow": arrow_chunks,
    "npy": npy_chunks,
    "gxl": graph_chunks,
    "cxl": index_chunks,
    "gxl-collection": collection_chunks,
}
FORMATS = (*STREAMS, *FILES)
COUNTS: dict[str, Callable[[Path], int]] = {"parquet": parquet_rows, "npy": npy_rows}
SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".txt": "text", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".npy": "npy", ".gxl": "gxl", ".cxl": "cxl", ".zip": "gxl-collection",
}  # fmt: skip
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\x93NUMPY": "npy"}
# Suffixes of files that must be made into others first.
REMEDIES = {
    ".xlsx": "save the sheet as CSV", ".xls": "save the sheet as CSV", ".ods": "save the sheet as CSV",
    ".npz": "save the one array that counts by numpy.save, as .npy",
}  # fmt: skip
UNPACK = {".gz": "gunzip", ".bz2": "bunzip2", ".xz": "unxz", ".zst": "unzstd"}


class UnknownFormatError(ValueError):
    """Nothing tells the format of a file; `on_command_line` says the same to those who can name it by an option."""

    on_command_line = ""


def guess_format(path: Path) -> str:
    """Return the format of a path: of a folder that of collections, else by the suffix, else by the first bytes.

    >>> guess_format(Path("parts.CSV"))
    'csv'
    """
    if path == STDIN:
        raise _unknown("standard input has no suffix to tell its format", STREAMS)
    if path.is_dir():
        return "gxl-collection"
    suffix = path.suffix.lower()
    found = SUFFIXES.get(suffix) or _by_first_bytes(path, suffix)
    if found is None:
        tells = f"the suffix {path.suffix!r} tells no format" if suffix else "no suffix tells its format"
        raise _unknown(f"{path}: {tells}", FORMATS, suffix)
    return found


def _unknown(said: str, formats: Iterable[str], suffix: str = "") -> UnknownFormatError:
    known = ", ".join(formats)
    remedy, option = f"make it one of {known}", f"pass --input-format, one of {known}"
    if suffix in UNPACK:
        remedy = f"unpack it first: {UNPACK[suffix]} FILE"
        option = f"unpack it into a pipe: {UNPACK[suffix]} -c FILE | eocc ... - --input-format csv"
    elif suffix in REMEDIES:
        remedy = option = REMEDIES[suffix]
    error = UnknownFormatError(f"{said}; {remedy}")
    error.on_command_line = f"{said}; {option}"
    return error


def _by_first_bytes(path: Path, suffix: str) -> str | None:
    if suffix in REMEDIES or suffix in UNPACK:
        return None
    check_regular(path)
    with path.open("rb") as file:
        start = file.read(16)
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)


def open_chunks(path: Path, file_format: str | None = None) -> Iterator[Chunk]:
    """Yield the chunks of a file, of a folder of GXL, or of standard input for the path "-"."""
    name = guess_format(path) if file_format is None else file_format
    choose("format", dict.fromkeys(FORMATS), name)
    if name in STREAMS:
        with open_source(path) as file:
            yield from STREAMS[name](Lines(file, "standard input" if path == STDIN else str(path)))
    elif path == STDIN:
        raise ValueError(f"{name} cannot be read from standard input; pass a path")
    else:
        yield from FILES[name](path)


def count_rows(path: Path, file_format: str) -> int | None:
    """Return how many rows a file holds, where its format tells without their being read."""
    return COUNTS[file_format](path) if file_format in COUNTS else None
