"""A folder or a zip file as named files. Reading stays within limits and inside the folder; errors name the file."""

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from eocc.base.printing import complaint, quoted

CHUNK = 2**16
FAILURES = (OSError, EOFError, RuntimeError, OverflowError, ValueError, zipfile.BadZipFile, zlib.error, struct.error)


@dataclass(frozen=True)
class Limits:
    """Limits for reading: the unpacked bytes of one file and of all files, and the number of files."""

    file_bytes: int = 2**26
    total_bytes: int = 2**30
    members: int = 50_000


SAFE = Limits()


def is_inside(name: str) -> bool:
    """Say whether a relative name stays inside its folder, on any system."""
    parts = re.split(r"[/\\]", name)
    return bool(parts[0]) and ".." not in parts and "\0" not in name and not re.match(r"[A-Za-z]:", name)


def read_file(path_or_file: str | os.PathLike[str] | IO[bytes], limits: Limits) -> tuple[bytes, str]:
    """Return the content of a path or of an open binary file, and its name for errors."""
    if not isinstance(path_or_file, str | os.PathLike):
        file: Any = nullcontext(path_or_file)
        where = str(getattr(path_or_file, "name", "<file>"))
    else:
        path, where = Path(path_or_file), str(Path(path_or_file))
        if not path.exists():
            raise FileNotFoundError(f"no file {where!r}")
        with _failing(where):
            file = io.BufferedReader(_open_regular(path)[0])
    with file as opened, _failing(where):
        data = opened.read(limits.file_bytes + 1)
    if not isinstance(data, bytes):
        raise complaint(where, None, "must be opened in binary mode")
    if len(data) > limits.file_bytes:
        raise complaint(where, None, f"is larger than the limit of {limits.file_bytes} bytes")
    return data, where


def _open_regular(path: Path) -> tuple[io.FileIO, int]:
    """Return a file open for reading, and its size; both are of the same file, even if another takes its name."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)  # else a pipe waits for a writer
    descriptor = os.open(path, flags)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError("not a regular file")
    return io.FileIO(descriptor), status.st_size


@contextmanager
def _failing(where: str) -> Iterator[None]:
    """Turn any error in reading into a ValueError of one line."""
    try:
        yield
    except FAILURES as error:
        raise complaint(where, None, f"cannot be read: {str(error) or type(error).__name__}") from None


class Collection:
    """Files under relative names, with "/" between folders. Hidden files are left out.

    A subclass has the `names` of all files, and `_open`, which returns a file and the size that it declares.
    """

    names: frozenset[str]
    _open: Callable[[str], tuple[IO[bytes], int]]

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path, self.limits, self._read = path, limits, 0

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def where(self, name: str) -> str:
        """Return the name of a file for errors."""
        return str(self.path / name)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return b"".join(self.chunks(name))

    def _too_many(self) -> ValueError:
        return complaint(str(self.path), None, f"holds more than the limit of {self.limits.members} files")

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield a file piece by piece, after a check of the size that it declares against the limits."""
        where, size = self.where(name), 0
        with _failing(where):
            stream, declared = self._open(name)
        with stream:
            if declared > self.limits.file_bytes:
                raise complaint(where, None, f"is larger than the limit of {self.limits.file_bytes} bytes")
            if self._read + declared > self.limits.total_bytes:
                raise complaint(str(self.path), None, f"holds more than the limit of {self.limits.total_bytes} bytes")
            while size <= declared:
                with _failing(where):
                    chunk = stream.read(CHUNK)
                if not chunk:
                    break
                size += len(chunk)
                yield chunk
        if size != declared:
            raise complaint(where, None, f"declares {declared} bytes but holds {'more' if size > declared else size}")
        self._read += size


class Folder(Collection):
    """The files of a folder and of its subfolders. Links that lead out of it are refused."""

    def __init__(self, path: Path, limits: Limits) -> None:
        super().__init__(path, limits)
        self.fence = path.resolve()
        names = list[str]()
        for folder, _, files in os.walk(self.path):
            names += ((Path(folder) / file).relative_to(self.path).as_posix() for file in files)
            if len(names) > self.limits.members:
                raise self._too_many()
        self.names = frozenset(name for name in names if not is_hidden(name))

    def _open(self, name: str) -> tuple[IO[bytes], int]:
        path = self.path / name
        if not path.resolve().is_relative_to(self.fence):
            raise OSError("the link leads out of the folder")
        file, size = _open_regular(path)
        return io.BufferedReader(file), size


class Zip(Collection):
    """The members of a zip file, stored or deflated. Nothing is unpacked to disk."""

    def __init__(self, path: Path, limits: Limits) -> None:
        super().__init__(path, limits)
        with _failing(str(path)):
            file, self.size = _open_regular(path)
        # An entry in the directory takes 46 bytes and its name: names may have 200 characters on average.
        self._file = _BoundedFile(file, 256 * limits.members)
        try:
            self._check_file(self._file)
            with _failing(str(path)):
                self._archive = zipfile.ZipFile(self._file)
            members = [member for member in self._archive.infolist() if not member.filename.endswith("/")]
            self._check_members(members)
        except ValueError:
            self.close()
            raise
        self._members = {member.filename: member for member in members if not is_hidden(member.filename)}
        self.names = frozenset(self._members)

    def close(self) -> None:
        """Close the archive."""
        self._file.close()

    def _check_file(self, file: IO[bytes]) -> None:
        """Raise a ValueError for a file that is refused before its directory is read."""

    def _check_members(self, members: list[zipfile.ZipInfo]) -> None:
        if len(members) > self.limits.members:
            raise self._too_many()
        seen = set()
        for member in members:
            name = member.filename
            if not is_inside(name) or name in seen:
                fault = "appears twice" if name in seen else "leads out of the archive"
                raise complaint(str(self.path), None, f"member {quoted(name)} {fault}")
            if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
                raise complaint(str(self.path), None, f"member {quoted(name)} is a link or a device")
            seen.add(name)

    def _open(self, name: str) -> tuple[IO[bytes], int]:
        member = self._members[name]
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise OSError("neither stored nor deflated")
        longer = copy(member)
        longer.file_size += 1  # zipfile stops at the declared size silently; one byte more shows a longer member
        return self._archive.open(longer), member.file_size


class _BoundedFile(io.BufferedReader):
    """A file that refuses large reads, because zipfile reads the directory of an archive at once."""

    def __init__(self, file: io.FileIO, limit: int) -> None:
        super().__init__(file)
        self._limit = max(limit, CHUNK)

    def read(self, size: int | None = -1, /) -> bytes:
        """Read at most `size` bytes; a size above the limit raises."""
        if size is not None and size > self._limit:
            raise zipfile.BadZipFile("the directory of the archive is too long: too many files")
        return super().read(size)


def is_hidden(name: str) -> bool:
    """Say whether a file or a folder in its path is hidden, or is one that macOS adds."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def open_collection(path: str | os.PathLike[str], limits: Limits) -> AbstractContextManager[Collection]:
    """Open a folder or a zip file."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no folder or zip file {str(path)!r}")
    return nullcontext(Folder(path, limits)) if path.is_dir() else closing(Zip(path, limits))
