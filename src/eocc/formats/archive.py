"""A folder or a zip file as named files. Reading stays within limits and inside the folder; errors name the file."""

import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO
from weakref import finalize

from eocc.base.printing import complaint, quoted

# The start of an entry in the directory of a zip, which zipfile reads at once.
ENTRY_MARK, BLOCK = b"PK\1\2", 2**20
# What a member may be: of no known type, a file, a folder.
PLAIN = (0, stat.S_IFREG, stat.S_IFDIR)
Opener = Callable[[], tuple[IO[bytes], int]]  # returns a file and the size that it declares
FAILURES = (OSError, EOFError, RuntimeError, OverflowError, ValueError, zipfile.BadZipFile, zlib.error, struct.error)


@dataclass(frozen=True)
class Limits:
    """Limits for reading: the unpacked bytes of one file and of all files, and the number of files."""

    file_bytes: int = 2**26
    total_bytes: int = 2**30
    members: int = 50_000


SAFE = Limits()
# The names of hidden files and folders, and of one that macOS adds.
HIDDEN = re.compile(r"(^|/)(\.|__MACOSX(/|$))")


def is_inside(name: str) -> bool:
    """Say whether a relative name stays inside its folder, on any system."""
    parts = re.split(r"[/\\]", name)
    return bool(parts[0]) and ".." not in parts and "\0" not in name and not re.match(r"[A-Za-z]:", name)


def read_file(path_or_file: str | os.PathLike[str] | IO[bytes], limits: Limits) -> tuple[bytes, str]:
    """Return the content of a path or of an open binary file, and its name for errors."""
    file, size = path_or_file, limits.file_bytes
    if not isinstance(file, str | os.PathLike):
        where = str(getattr(file, "name", "<file>"))
    else:
        path, where = Path(file), str(Path(file))
        if not path.exists():
            raise FileNotFoundError(f"no file {where!r}")
        with _failing(where):
            file, size = _open_regular(path)
    with _failing(where), nullcontext(file) if file is path_or_file else file:
        data = file.read(min(size, limits.file_bytes) + 1)
    if not isinstance(data, bytes):
        raise complaint(where, None, "must be opened in binary mode")
    if len(data) > limits.file_bytes:
        raise complaint(where, None, f"is larger than the limit of {limits.file_bytes} bytes")
    return data, where


def _open_regular(path: Path) -> tuple[IO[bytes], int]:
    """Return a file open for reading, and its size; both are of the same file, even if another takes its name."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)  # else a pipe waits for a writer
    descriptor = os.open(path, flags)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError("not a regular file")
    return os.fdopen(descriptor, "rb"), status.st_size


@contextmanager
def _failing(where: str) -> Iterator[None]:
    """Turn any error in reading into a ValueError of one line."""
    try:
        yield
    except FAILURES as error:
        raise complaint(where, None, f"cannot be read: {(str(error) or type(error).__name__)[:200]}") from None


class Collection:
    """The files of a folder or of a zip file, under names with "/" between folders. Hidden files are left out.

    Links that lead out of a folder are refused. Nothing of a zip file is unpacked to disk. `names` are those of all
    files, each with the function that opens it.
    """

    def __init__(self, path: str | os.PathLike[str], limits: Limits) -> None:
        self.path, self.limits, self._read = Path(path), limits, 0
        if not self.path.exists():
            raise FileNotFoundError(f"no folder or zip file {str(path)!r}")
        found = self._files() if self.path.is_dir() else self._members()
        self.names = {name: opener for name, opener in found.items() if not HIDDEN.search(name)}

    def read(self, name: str) -> tuple[bytes, str]:
        """Return the content of a file and its name for errors; the size that it declares is within the limits."""
        where, limits = str(self.path / name), self.limits
        with _failing(where):
            stream, declared = self.names[name]()
        with stream:
            if declared > limits.file_bytes:
                raise complaint(where, None, f"is larger than the limit of {limits.file_bytes} bytes")
            if self._read + declared > limits.total_bytes:
                raise complaint(str(self.path), None, f"holds more than the limit of {limits.total_bytes} bytes")
            with _failing(where):
                data = stream.read(declared + 1)
        if len(data) != declared:
            held = "more" if len(data) > declared else len(data)
            raise complaint(where, None, f"declares {declared} bytes but holds {held}")
        self._read += declared
        return data, where

    def _check_count(self, count: int) -> None:
        if count > self.limits.members:
            raise complaint(str(self.path), None, f"holds more than the limit of {self.limits.members} files")

    def _files(self) -> dict[str, Opener]:
        names = list[str]()
        for folder, _, files in os.walk(self.path):
            names += ((Path(folder) / file).relative_to(self.path).as_posix() for file in files)
            self._check_count(len(names))
        return {name: partial(self._open_file, name) for name in names}

    def _open_file(self, name: str) -> tuple[IO[bytes], int]:
        path = self.path / name
        if not path.resolve().is_relative_to(self.path.resolve()):
            raise OSError("the link leads out of the folder")
        return _open_regular(path)

    def _members(self) -> dict[str, Opener]:
        where, most = str(self.path), self.limits.total_bytes
        with _failing(where):
            file, size = _open_regular(self.path)
            finalize(self, file.close)
            # The directory is read at once, so its entries are counted first; those between two blocks are few.
            count = sum(file.read(BLOCK).count(ENTRY_MARK) for _ in range(0, min(size, most), BLOCK))
        if size > most:
            raise complaint(where, None, f"is larger than the limit of {most} bytes")
        self._check_count(count)
        with _failing(where):
            archive = zipfile.ZipFile(file)
        found = dict[str, Opener]()
        for member in archive.infolist():
            name = member.filename
            if not is_inside(name) or name in found:
                fault = "appears twice" if name in found else "leads out of the archive"
                raise complaint(where, None, f"member {quoted(name)} {fault}")
            if stat.S_IFMT(member.external_attr >> 16) not in PLAIN:
                raise complaint(where, None, f"member {quoted(name)} is a link or a device")
            if not member.is_dir():
                found[name] = partial(_open_member, archive, member)
        return found


def _open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[IO[bytes], int]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise OSError("neither stored nor deflated")
    longer = copy(member)
    longer.file_size += 1  # zipfile stops at the declared size silently; one byte more shows a longer member
    return archive.open(longer), member.file_size
