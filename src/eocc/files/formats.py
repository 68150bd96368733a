"""A path -> the format of the file, by its suffix or its first bytes, and its chunks."""

from collections.abc import Callable, Iterator
from pathlib import Path

from eocc.files.arrow import arrow_chunks, parquet_chunks
from eocc.files.chunk import Chunk
from eocc.files.graphs import collection_chunks, graph_chunks, index_chunks
from eocc.files.lines import json_chunks, json_line_chunks, text_chunks
from eocc.files.source import STDIN, Lines, check_regular, open_source
from eocc.files.tables import csv_chunks, tsv_chunks
from eocc.registry import choose

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
    "gxl": graph_chunks,
    "cxl": index_chunks,
    "gxl-collection": collection_chunks,
}
FORMATS = (*STREAMS, *FILES)
SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".txt": "text", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".gxl": "gxl", ".cxl": "cxl", ".zip": "gxl-collection",
}  # fmt: skip
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
# Suffixes of files that must be made into others first.
REMEDIES = {
    ".gz": "unpack it into a pipe: gunzip -c FILE | eocc ... - --input-format csv",
    ".bz2": "unpack it into a pipe: bunzip2 -c FILE | eocc ... - --input-format csv",
    ".xz": "unpack it into a pipe: unxz -c FILE | eocc ... - --input-format csv",
    ".zst": "unpack it into a pipe: unzstd -c FILE | eocc ... - --input-format csv",
    ".xlsx": "save the sheet as CSV", ".xls": "save the sheet as CSV", ".ods": "save the sheet as CSV",
}  # fmt: skip


def guess_format(path: Path) -> str:
    """Return the format of a path: of a folder that of collections, else by the suffix, else by the first bytes.

    >>> guess_format(Path("parts.CSV"))
    'csv'
    """
    if path == STDIN:
        named = ", ".join(STREAMS)
        raise ValueError(f"standard input has no suffix to tell its format: pass --input-format, one of {named}")
    if path.is_dir():
        return "gxl-collection"
    suffix = path.suffix.lower()
    found = SUFFIXES.get(suffix) or _by_first_bytes(path, suffix)
    if found is None:
        tells = f"the suffix {path.suffix!r} tells no format" if suffix else "no suffix tells its format"
        remedy = REMEDIES.get(suffix, f"pass --input-format, one of {', '.join(FORMATS)}")
        raise ValueError(f"{path}: {tells}; {remedy}")
    return found


def _by_first_bytes(path: Path, suffix: str) -> str | None:
    if suffix in REMEDIES:
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
