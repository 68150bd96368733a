"""Files that are written whole or not at all, and reach the disk."""

import errno
import os
import re
import secrets
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

# Errors of a write to a disk that is full, by quota or by the largest size of a file, or that is read-only.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
# The writer of a draft that is as many seconds old was killed.
ABANDONED = 86_400


@contextmanager
def drafted(output: Path) -> Iterator[Path]:
    """Yield a path next to `output` to write to; it is renamed to `output` on success and removed on failure.

    At the end the file and its name are on the disk, safe from a power failure. Drafts that are a day old are removed.
    """
    check_output(output)
    if output.is_char_device():
        with tempfile.TemporaryDirectory() as folder, output.open("wb") as device:
            draft = Path(folder) / f"draft{output.suffix}"
            yield draft
            device.write(draft.read_bytes())
        return
    target = Path(os.path.realpath(output))  # a link keeps its target
    start, end = target.name[:40], target.suffix[:20]  # a name may have 255 bytes
    drafts = re.compile(rf"\.{re.escape(start)}\.[0-9a-f]{{16}}\.tmp{re.escape(end)}")
    with suppress(OSError):  # the folder may be unreadable, a draft gone or another user's
        for path in target.parent.iterdir():
            if drafts.fullmatch(path.name) and time.time() - path.stat().st_mtime > ABANDONED:
                path.unlink()
    draft = target.with_name(f".{start}.{secrets.token_hex(8)}.tmp{end}")
    try:
        with naming(output, draft):
            yield draft
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
            if target.exists():
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
            draft.replace(target)
            with suppress(OSError):  # Windows and some network folders cannot; the file is whole in any case
                descriptor = os.open(target.parent, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def naming(output: Path, draft: Path | None = None) -> Iterator[None]:
    """Name `output` in the errors of a full disk, which name no file, and in those of its draft."""
    try:
        yield
    except OSError as error:
        if (error.filename is None and error.errno in FULL) or error.filename == str(draft):
            error.filename = str(output)
        raise


def flush_to_disk(file: IO[Any]) -> None:
    """Write all that was written to an open file to the disk."""
    file.flush()
    os.fsync(file.fileno())


def check_output(output: Path | None, *sources: Path | None) -> None:
    """Raise unless a file can be written to `output` without overwriting a source. Call this before long work.

    >>> check_output(Path("new.csv"), Path("./new.csv"))
    Traceback (most recent call last):
    ...
    ValueError: 'new.csv' is also the input; name another file for the output
    """
    if output is None:
        return
    if output.is_char_device():  # /dev/null takes bytes; a terminal is refused below
        with output.open("wb") as device:
            if not device.isatty():
                return
    target = Path(os.path.realpath(output))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no folder {str(target.parent)!r} to write {target.name!r} in")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(
            f"the folder {str(target.parent)!r} cannot be written to; name another for {target.name!r}"
        )
    if target.is_dir():
        raise IsADirectoryError(f"{str(output)!r} is a folder; name a file in it")
    if target.exists() and not target.is_file():
        raise OSError(f"{str(output)!r} is not a regular file; name another")
    for source in map(Path, filter(None, sources)):
        are_there = source.exists() and target.exists()
        if source.samefile(target) if are_there else Path(os.path.realpath(source)) == target:
            raise ValueError(f"{str(output)!r} is also the input; name another file for the output")
