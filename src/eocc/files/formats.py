"""A path -> the format of the file, by its suffix or its first bytes, and its chunks."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from eocc.files.chunk import Chunk
from eocc.files.graphs import collection_chunks, graph_chunks, index_chunks
from eocc.files.lines import json_chunks, text_chunks
from eocc.files.tables import arrow_chunks, csv_chunks, parquet_chunks, tsv_chunks
from eocc.registry import choose

# Formats that are read from an open stream of text, so from standard input too.
STREAMS: dict[str, Callable[[IO[str], str], Iterator[Chunk]]] = {
    "csv": csv_chunks,
    "tsv": tsv_chunks,
    "jsonl": json_chunks,
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
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
    ".txt": "text", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".gxl": "gxl", ".cxl": "cxl", ".zip": "gxl-collection",
}  # fmt: skip
STDIN = Path("-")


def guess_format(path: Path) -> str:
    """Return the format of a path.

    >>> guess_format(Path("parts.CSV"))
    'csv'
    """
    if path == STDIN:
        raise ValueError("standard input has no suffix to tell its format: pass --input-format csv, tsv, jsonl or text")
    if path.is_dir():
        return "gxl-collection"
    found = SUFFIXES.get(path.suffix.lower())
    if found is None:
        raise ValueError(
            f"{path}: the suffix {path.suffix!r} tells no format; known: {', '.join(SUFFIXES)}; "
            f"or pass --input-format, one of {', '.join(FORMATS)}"
        )
    return found


def open_chunks(path: Path, file_format: str | None = None) -> Iterator[Chunk]:
    """Yield the chunks of a file, of a folder of GXL, or of standard input for the path "-"."""
    name = guess_format(path) if file_format is None else file_format
    choose("format", dict.fromkeys(FORMATS), name)
    if name in FILES:
        if path == STDIN:
            raise ValueError(f"{name} cannot be read from standard input; pass a path")
        yield from FILES[name](path)
    elif path == STDIN:
        yield from STREAMS[name](sys.stdin, "standard input")
    else:
        with path.open(encoding="utf-8-sig", newline="", errors="strict") as file:
            try:
                yield from STREAMS[name](file, str(path))
            except UnicodeDecodeError as error:
                raise ValueError(f"{path} is not UTF-8 text (byte {error.start}); convert it first") from None
