"""Files and standard input as bytes and as lines of text, without hanging and without filling the memory."""

import codecs
import stat
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from eocc.foundation.printing import complaint

STDIN = Path("-")
# No sensible row is longer; a file without line ends must not fill the memory.
LONGEST_LINE = 2**26


def check_regular(path: Path) -> None:
    """Raise an OSError of one line unless the path is a file that can be read to its end."""
    if not path.exists():
        raise FileNotFoundError(f"no file {str(path)!r}")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file in it")
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait forever
        raise OSError(f"{str(path)!r} is not a regular file; copy it to one, or pipe it into the command: eocc ... -")


@contextmanager
def open_source(path: Path) -> Iterator[IO[bytes]]:
    """Open a regular file, or standard input for the path "-"."""
    if path == STDIN:
        if sys.stdin is None:
            raise OSError("there is no standard input; pass a path")
        yield sys.stdin.buffer
        return
    check_regular(path)
    with path.open("rb") as file:
        yield file


class Lines:
    r"""The lines of UTF-8 text with their ends; `number` is the number of the last line, `size` the bytes so far.

    >>> import io
    >>> lines = Lines(io.BytesIO(b"oak\r\nelm"), "a file")
    >>> list(lines), lines.number, lines.size
    (['oak\r\n', 'elm'], 2, 8)
    """

    def __init__(self, file: IO[bytes], where: str) -> None:
        self._file = file
        self.where = where
        self.number = 0
        self.size = 0
        self._waiting: deque[bytes] = deque()

    def __iter__(self) -> Iterator[str]:
        while data := self._waiting.popleft() if self._waiting else self._file.readline(LONGEST_LINE + 1):
            self.number += 1
            self.size += len(data)
            yield self._text(data.removeprefix(codecs.BOM_UTF8) if self.number == 1 else data)

    def ahead(self, count: int) -> list[str]:
        """Return the next lines, which are still to come, with a question mark for what cannot be read."""
        while len(self._waiting) < count and (data := self._file.readline(LONGEST_LINE + 1)):
            self._waiting.append(data)
        return [data.removeprefix(codecs.BOM_UTF8).decode(errors="replace") for data in self._waiting]

    def fault(self, message: str) -> ValueError:
        """Return an error about the last line."""
        return complaint(self.where, self.number, message)

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
