"""A path, a pipe or standard input -> lines of text or chunks, by the format of the file, within limits of memory."""

import bz2
import codecs
import gzip
import lzma
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from eocc.base.printing import complaint
from eocc.base.progress import stage
from eocc.base.registry import Registry, choose
from eocc.tables import TableError

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
# Formats that are read line by line, also from standard input: functions of Lines; for tables also of a Dialect and the
# usual delimiter, "" if there is none.
TEXT_TABLES = {"csv": "", "tsv": "\t"}
STREAMS = Registry("eocc.formats.files", {
    "csv": "tables.csv_chunks", "tsv": "tables.csv_chunks", "jsonl": "objects.json_line_chunks",
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
# How files begin that are no text, whatever their name, and what they are.
NO_TEXT = {b"PK\3\4": "a zip archive (name an Excel file .xlsx, or pass --input-format xlsx)",
           b"\x1f\x8b": "packed by gzip (name it .csv.gz)", b"PAR1": "Parquet", b"\x89PNG": "a picture"}  # fmt: skip
# Files that must be converted first.
REMEDIES = {
    ".npz": "save the array that you need with numpy.save, as .npy", ".zst": "unpack it first: unzstd FILE",
    ".cxl": "pass a folder of the graphs of one class, or read it in Python by eocc.datasets.read_graph_set",
}  # fmt: skip


def check_regular(path: Path) -> None:
    """Raise an OSError of one line unless a path is a file, which can be read again and again."""
    if not path.exists():
        raise FileNotFoundError(f"no file {str(path)!r}")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file in it")
    if not path.is_file():  # opening a pipe would wait forever
        raise OSError(f"{str(path)!r} is not a regular file; write it to one first")


def is_pipe(path: Path) -> bool:
    """Return whether a path is a pipe that the shell has opened, as for `eocc score model.eocc <(zcat a.gz)`."""
    return str(path).startswith(("/dev/fd/", "/proc/self/fd/")) and path.is_fifo()


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
            data = data.removeprefix(codecs.BOM_UTF8) if self.number == 1 else data
            for what in (NO_TEXT[start] for start in NO_TEXT if self.number == 1 and data.startswith(start)):
                raise complaint(self.where, None, f"is no text but {what}")
            if len(data) > LONGEST_LINE:
                raise self.fault(f"the line is longer than {LONGEST_LINE} bytes; write one row per line")
            if b"\0" in data:
                remedy = "save the file as UTF-8, for example by iconv -f utf-16 -t utf-8, or pass its format"
                raise self.fault(f"a NUL byte, which is not text; {remedy}")
            try:
                yield data.decode()
            except UnicodeDecodeError as error:
                byte = data[error.start]
                remedy = "save the file as UTF-8, for example by iconv -f latin1 -t utf-8"
                raise self.fault(f"byte {error.start + 1}, 0x{byte:02x}, is not UTF-8; {remedy}") from None

    def block(self, size: int) -> tuple[bytes, int]:
        """Return whole lines of about `size` bytes, in which quotes are closed, and the number of the first line."""
        parts, first, n_bytes = [self._read(self._file.read, min(size, LONGEST_LINE))], self.number + 1, 0
        n_quotes = parts[0].count(b'"')
        while line := self._read(self._file.readline, LONGEST_LINE + 1):
            self.number += parts[-1].count(b"\n")
            if len(line) > LONGEST_LINE:
                self.number += 1
                raise self.fault(f"the line is longer than {LONGEST_LINE} bytes; write one row per line")
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


def guess_format(path: Path) -> str:
    """Return the format of a file by its suffix; a folder is a collection of graphs.

    >>> guess_format(Path("parts.CSV"))
    'csv'
    """
    if path == STDIN:
        wanted = f"pass --input-format, one of {', '.join(STREAMS)}"
        raise ValueError(f"standard input has no suffix to tell the format; {wanted}")
    if path.is_dir():
        return "gxl-collection"
    suffix = path.suffix.lower()
    found = SUFFIXES.get(Path(path.stem).suffix.lower() if suffix in PACKED else suffix, "")
    if (found and (found in STREAMS or suffix not in PACKED)) or is_pipe(path):
        return found or "csv"
    check_regular(path)
    why = f"the suffix {path.suffix!r} is not known" if suffix else "it has no suffix to tell the format"
    if suffix in PACKED:
        why = f"a packed file holds {', '.join(STREAMS)}, as in rows.csv{suffix}"
    known = ", ".join(FORMATS)
    remedies = (REMEDIES.get(suffix, f"{use} one of {known}") for use in ("convert it to", "pass --input-format,"))
    raise TableError(*(f"{path}: {why}; {remedy}" for remedy in remedies))


def numbered(chunks: Iterable["Chunk"]) -> Iterator["Chunk"]:
    """Yield the chunks with the numbers of their rows in the source, from 0."""
    first = 0
    for chunk in chunks:
        yield replace(chunk, rows=range(first, first + len(chunk)))
        first += len(chunk)


def open_files(
    paths: Iterable[Path], file_format: str | None = None, dialect: "Dialect | None" = None, sheet: str = ""
) -> Iterator["Chunk"]:
    """Yield the chunks of files, of folders of GXL files, or of standard input (the path "-").

    Rows are numbered on from file to file. The `dialect` is for CSV and TSV, the `sheet` for workbooks.
    """
    end = 0
    for path in paths:
        name = guess_format(path) if file_format is None else file_format
        if name not in FORMATS:
            choose("format", dict.fromkeys(FORMATS), name)  # raises the error
        options = [dialect, TEXT_TABLES[name]] if name in TEXT_TABLES else [sheet] if name in SHEETS else []
        if dialect is not None and (dialect.delimiter or dialect.decimal or dialect.dates) and name not in TEXT_TABLES:
            what = "--delimiter, --decimal and --dates are for CSV and TSV"
            raise ValueError(f"{what}, and {path} is {name}; leave them out")
        if sheet and name not in SHEETS:
            raise ValueError(f"--sheet is for workbooks, and {path} is {name}; leave it out")
        is_text, unpacked, size = name in STREAMS, PACKED.get(path.suffix.lower(), open), math.inf
        reads: Any = nullcontext()
        if path == STDIN:
            if not is_text or sys.stdin is None:
                fault = "there is no standard input" if is_text else f"{name} cannot be read from standard input"
                raise ValueError(f"{fault}; pass a path")
            reads = nullcontext(sys.stdin.buffer)
        elif path.is_file():
            size = path.stat().st_size
        elif not (is_text and is_pipe(path)) and not (path.is_dir() and name == "gxl-collection"):
            check_regular(path)  # raises the error
        if is_text and path != STDIN:
            reads = unpacked(path, "rb")
        where, called = ("standard input",) * 2 if path == STDIN else (str(path), path.name)
        with reads as file, stage(f"reading {called}", 1) as report:
            most = math.inf if unpacked is open else max(UNPACKED_BYTES, UNPACKED_TIMES * size)
            lines, before, begin = Lines(file, where, most=most), 0.0, end
            for chunk in STREAMS[name](lines, *options) if is_text else FILES[name](path, *options):
                rows = range(end, end + len(chunk))
                end = rows.stop
                done, whole = (lines.size, size) if is_text else (end - begin, chunk.file_rows)
                after = done / (whole or math.inf)
                report(before, after - before)
                yield replace(chunk, rows=rows)
                before = after
