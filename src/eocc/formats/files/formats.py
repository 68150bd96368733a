"""A path, a pipe or standard input -> lines of text or chunks, by the format of the file, within limits of memory."""

import atexit
import bz2
import codecs
import gzip
import lzma
import math
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from eocc.base.printing import complaint
from eocc.base.progress import stage
from eocc.base.registry import Registry, choose

if TYPE_CHECKING:
    from eocc.formats.files.rows import Chunk
    from eocc.tables.spelling import Dialect

STDIN = Path("-")
# No sensible row is longer; a file without line ends must not fill the memory.
LONGEST_LINE = 2**26
PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# A packed file may unpack to this many bytes, and to more if that is at most this multiple of its size.
UNPACKED_BYTES, UNPACKED_TIMES = 2**28, 200
DAMAGED = (EOFError, OSError, lzma.LZMAError)
# Formats that are read line by line, also from standard input: functions of Lines, and for tables of the Dialect.
TEXT_TABLES = ("csv", "tsv")
STREAMS = Registry("eocc.formats.files", {
    "csv": "tables.csv_chunks", "tsv": "tables.tsv_chunks", "jsonl": "objects.json_line_chunks",
    "json": "objects.json_chunks", "text": "objects.text_chunks", "smiles": "objects.smiles_chunks",
})  # fmt: skip
# Formats that need a file: functions of its path.
FILES = Registry("eocc.formats.files", {
    "parquet": "binary.parquet_chunks", "arrow": "binary.arrow_chunks", "npy": "binary.npy_chunks",
    "xlsx": "binary.sheet_chunks", "ods": "binary.sheet_chunks", "xls": "binary.sheet_chunks",
    "gxl": "objects.graph_chunks", "gxl-collection": "objects.collection_chunks",
})  # fmt: skip
FORMATS = (*STREAMS, *FILES)
SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".txt": "text", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".npy": "npy", ".xlsx": "xlsx", ".xlsm": "xlsx", ".xlsb": "xlsx",
    ".ods": "ods", ".xls": "xls", ".smi": "smiles", ".smiles": "smiles", ".gxl": "gxl",
    ".zip": "gxl-collection",
}  # fmt: skip
SHEETS = ("xlsx", "ods", "xls")
# Files that must be converted first.
REMEDIES = {
    ".npz": "save the array that you need with numpy.save, as .npy", ".zst": "unpack it first: unzstd FILE",
    ".cxl": "pass a folder of the graphs of one class, or read it in Python by eocc.datasets.read_graph_set",
}  # fmt: skip


def regular(path: Path) -> Path:
    """Return a file that can be read again and again; raise an OSError of one line if there is none.

    What a process substitution of the shell gives, as in `eocc fit <(zcat a.gz)`, is copied to a file first.
    """
    if not path.exists():
        raise FileNotFoundError(f"no file {str(path)!r}")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file in it")
    if is_pipe(path):
        return _copied(path)
    if not path.is_file():  # opening a pipe would wait forever
        raise OSError(f"{str(path)!r} is not a regular file; copy it to one, or pipe it into the command: eocc ... -")
    return path


def is_pipe(path: Path) -> bool:
    """Return whether a path is a pipe that the shell has opened."""
    return str(path).startswith(("/dev/fd/", "/proc/self/fd/")) and path.is_fifo()


@cache
def _copied(path: Path) -> Path:
    with tempfile.NamedTemporaryFile(prefix="eocc-", delete=False) as copy, path.open("rb") as file:
        atexit.register(Path(copy.name).unlink, missing_ok=True)
        shutil.copyfileobj(file, copy)
    return Path(copy.name)


@contextmanager
def open_source(path: Path) -> Iterator[IO[bytes]]:
    """Open a regular file, unpacked if its suffix says so, or standard input for the path "-"."""
    if path == STDIN:
        if sys.stdin is None:
            raise OSError("there is no standard input; pass a path")
        yield sys.stdin.buffer
        return
    with PACKED.get(path.suffix.lower(), open)(regular(path), "rb") as opened:
        yield opened


class Lines:
    r"""The lines of UTF-8 text with their ends; `number` is the number of the last line, `size` the bytes so far.

    >>> import io
    >>> lines = Lines(io.BytesIO(b"oak\r\nelm"), "a file")
    >>> list(lines), lines.number, lines.size
    (['oak\r\n', 'elm'], 2, 8)
    """

    def __init__(self, file: IO[bytes], where: str, number: int = 0, most: float = math.inf) -> None:
        self._file, self._most = file, most
        self.where, self.number, self.size = where, number, 0

    def __iter__(self) -> Iterator[str]:
        while data := self._read(self._file.readline, LONGEST_LINE + 1):
            self.number += 1
            yield self._text(data.removeprefix(codecs.BOM_UTF8) if self.number == 1 else data)

    def block(self, size: int) -> tuple[bytes, int]:
        """Return whole lines of about `size` bytes, in which quotes are closed, and the number of the first line."""
        parts, first, n_bytes = [self._read(self._file.read, min(size, LONGEST_LINE))], self.number + 1, 0
        n_quotes = parts[0].count(b'"')
        while line := self._read(self._file.readline, LONGEST_LINE + 1):
            self.number += parts[-1].count(b"\n")
            if len(line) > LONGEST_LINE:
                self.number += 1
                self._text(line)
            parts.append(line)
            n_quotes, n_bytes = n_quotes + line.count(b'"'), n_bytes + len(line)
            if n_quotes % 2 == 0 or n_bytes >= LONGEST_LINE:
                break
        self.number += parts[-1].count(b"\n") + (bool(parts[-1]) and not parts[-1].endswith(b"\n"))
        return b"".join(parts), first

    def fault(self, message: str) -> ValueError:
        """Return an error about the last line."""
        return complaint(self.where, self.number, message)

    def _read(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            data = read(size)
        except DAMAGED:  # of a packed file
            raise complaint(self.where, None, "cannot be unpacked; is the file complete?") from None
        self.size += len(data)
        if self.size > self._most:
            raise complaint(self.where, None, f"unpacks to more than {self._most:,} bytes; unpack it if you trust it")
        return data

    def _text(self, data: bytes) -> str:
        if len(data) > LONGEST_LINE:
            raise self.fault(f"the line is longer than {LONGEST_LINE} bytes; write one row per line")
        if b"\0" in data:
            remedy = "save the file as UTF-8, for example by iconv -f utf-16 -t utf-8, or pass its format"
            raise self.fault(f"a NUL byte, which is not text; {remedy}")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            byte = data[error.start]
            remedy = "save the file as UTF-8, for example by iconv -f latin1 -t utf-8"
            raise self.fault(f"byte {error.start + 1}, 0x{byte:02x}, is not UTF-8; {remedy}") from None


class UnknownFormatError(ValueError):
    """The format of a file is unknown; `on_command_line` is the same message in terms of options."""

    def __init__(self, why: str, formats: Iterable[str], suffix: str = "") -> None:
        known = ", ".join(formats)
        super().__init__(f"{why}; {REMEDIES.get(suffix, f'convert it to one of {known}')}")
        self.on_command_line = f"{why}; {REMEDIES.get(suffix, f'pass --input-format, one of {known}')}"


def guess_format(path: Path) -> str:
    """Return the format of a file by its suffix; a folder is a collection of graphs.

    >>> guess_format(Path("parts.CSV"))
    'csv'
    """
    if path == STDIN:
        raise UnknownFormatError("standard input has no suffix to tell the format", STREAMS)
    if path.is_dir():
        return "gxl-collection"
    suffix = path.suffix.lower()
    if suffix in PACKED:
        found = SUFFIXES.get(Path(path.stem).suffix.lower(), "")
        if found in STREAMS:
            return found
        raise UnknownFormatError(f"{path}: a packed file holds {', '.join(STREAMS)}, as in rows.csv{suffix}", FORMATS)
    if suffix in SUFFIXES or is_pipe(path):
        return SUFFIXES.get(suffix, "csv")
    regular(path)
    why = f"the suffix {path.suffix!r} is not known" if suffix else "it has no suffix to tell the format"
    raise UnknownFormatError(f"{path}: {why}", FORMATS, suffix)


def numbered(chunks: Iterable["Chunk"]) -> Iterator["Chunk"]:
    """Yield the chunks with the numbers of their rows in the source, from 0."""
    first = 0
    for chunk in chunks:
        yield replace(chunk, rows=range(first, first + len(chunk)))
        first += len(chunk)


def open_files(paths: Iterable[Path], *about: Any, **more: Any) -> Iterator["Chunk"]:
    """Return the chunks of all files, opened as by `open_chunks`, whose rows are numbered on from file to file."""
    return numbered(chunk for path in paths for chunk in open_chunks(path, *about, **more))


def open_chunks(
    path: Path, file_format: str | None = None, dialect: "Dialect | None" = None, sheet: str = ""
) -> Iterator["Chunk"]:
    """Yield the chunks of a file, of a folder of GXL files, or of standard input (the path "-").

    The `dialect` is for CSV and TSV, the `sheet` for workbooks.
    """
    name = guess_format(path) if file_format is None else file_format
    choose("format", dict.fromkeys(FORMATS), name)
    options = {"dialect": dialect} if name in TEXT_TABLES else {}
    if dialect is not None and (dialect.delimiter or dialect.decimal or dialect.dates) and not options:
        what = "--delimiter, --decimal and --dates are for CSV and TSV"
        raise ValueError(f"{what}, and {path} is {name}; leave them out")
    if sheet and name not in SHEETS:
        raise ValueError(f"--sheet is for workbooks, and {path} is {name}; leave it out")
    if name in STREAMS:
        with open_source(path) as file:
            size = math.inf if path == STDIN else path.stat().st_size
            is_packed = path.suffix.lower() in PACKED
            most = max(UNPACKED_BYTES, UNPACKED_TIMES * size) if is_packed else math.inf
            lines = Lines(file, "standard input" if path == STDIN else str(path), most=most)
            chunks = STREAMS[name](lines, **options)
            yield from _watched(chunks, path, lambda chunk: lines.size / size if size else 1.0)
    elif path == STDIN:
        raise ValueError(f"{name} cannot be read from standard input; pass a path")
    else:
        if not path.is_dir() or name != "gxl-collection":
            regular(path)
        chunks = FILES[name](path, *([sheet] if name in SHEETS else []))
        yield from _watched(chunks, path, lambda chunk: (chunk.rows[-1] + 1) / (chunk.file_rows or math.inf))


def _watched(chunks: Iterator["Chunk"], path: Path, share: Callable[["Chunk"], float]) -> Iterator["Chunk"]:
    """Yield the chunks, and report which share of the file is done, with all that is done to a chunk."""
    with stage(f"reading {'standard input' if path == STDIN else path.name}", 1) as report:
        before = 0.0
        for chunk in numbered(chunks):
            after = share(chunk)
            report(before, after - before)
            yield chunk
            before = after
