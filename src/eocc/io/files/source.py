"""Files, pipes and standard input as bytes and lines of text, without hanging and without filling the memory."""

import atexit
import bz2
import codecs
import gzip
import lzma
import math
import shutil
import stat
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any

from eocc.foundation.printing import complaint

STDIN = Path("-")
# No sensible row is longer; a file without line ends must not fill the memory.
LONGEST_LINE = 2**26
PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# A packed file may hold so many bytes, and more if it holds at most so many times its size.
UNPACKED_BYTES, UNPACKED_TIMES = 2**28, 200
DAMAGED = (EOFError, OSError, lzma.LZMAError)


def regular(path: Path) -> Path:
    """Return a file that can be read to its end, again and again; raise an OSError of one line if there is none.

    What a process substitution of the shell gives, as in `eocc fit <(zcat a.gz)`, is copied to a file first.
    """
    if not path.exists():
        raise FileNotFoundError(f"no file {str(path)!r}")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file in it")
    if is_pipe(path):
        return _copied(path)
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait forever
        raise OSError(f"{str(path)!r} is not a regular file; copy it to one, or pipe it into the command: eocc ... -")
    return path


def is_pipe(path: Path) -> bool:
    """Return whether a path is a pipe that the shell has opened."""
    is_open = str(path).startswith(("/dev/fd/", "/proc/self/fd/"))
    return is_open and path.exists() and stat.S_ISFIFO(path.stat().st_mode)


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
    file = regular(path)
    with PACKED.get(path.suffix.lower(), open)(file, "rb") as opened:
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
        self.where = where
        self.number = number
        self.size = 0
        self._waiting: deque[bytes] = deque()

    def __iter__(self) -> Iterator[str]:
        while data := self._waiting.popleft() if self._waiting else self._line():
            self.number += 1
            self._count(data)
            yield self._text(data.removeprefix(codecs.BOM_UTF8) if self.number == 1 else data)

    def ahead(self, count: int) -> list[str]:
        """Return the next lines, which are still to come, with a question mark for what cannot be read."""
        while len(self._waiting) < count and (data := self._line()):
            self._waiting.append(data)
        return [data.removeprefix(codecs.BOM_UTF8).decode(errors="replace") for data in self._waiting]

    def block(self, size: int) -> tuple[bytes, int]:
        """Return whole lines of about so many bytes, in which quotes are closed, and the number of the first line."""
        parts = [*self._waiting]
        self._waiting.clear()
        parts += [self._failing(lambda: self._file.read(min(size, LONGEST_LINE))), self._line()]
        n_quotes, n_bytes = sum(part.count(b'"') for part in parts), 0
        while n_quotes % 2 and n_bytes < LONGEST_LINE and (line := self._line()):
            parts.append(line)
            n_quotes, n_bytes = n_quotes + line.count(b'"'), n_bytes + len(line)
        data, first = b"".join(parts), self.number + 1
        for k, part in enumerate(parts):
            if len(part) > LONGEST_LINE:
                self.number += sum(one.count(b"\n") for one in parts[:k]) + 1
                self._text(part)
        self._count(data)
        self.number += data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
        return data, first

    def fault(self, message: str) -> ValueError:
        """Return an error about the last line."""
        return complaint(self.where, self.number, message)

    def _line(self) -> bytes:
        return self._failing(lambda: self._file.readline(LONGEST_LINE + 1))

    def _failing(self, read: Any) -> bytes:
        try:
            return bytes(read())
        except DAMAGED:  # of a packed file
            raise complaint(self.where, None, "cannot be unpacked; is the file complete?") from None

    def _count(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > self._most:
            raise complaint(self.where, None, f"unpacks to more than {self._most:,} bytes; unpack it if you trust it")

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
