"""Files that appear whole or not at all, and never in the place of what is read."""

import hashlib
import os
import platform
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

DAY = 86_400.0
# Of this process: another one with the same pid, before a restart say, had another.
TOKEN = secrets.token_hex(4)


@contextmanager
def drafted(output: Path) -> Iterator[Path]:
    """Yield a path beside `output` to write to; it takes that name when all went well, and else is removed.

    File and name are on the disk at the end, as the power may fail too. Drafts that killed writers left are removed.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "page.html"
    >>> with drafted(path) as draft:
    ...     _ = draft.write_text("whole")
    >>> path.read_text(), len(list(path.parent.iterdir()))
    ('whole', 1)
    """
    check_output(output)
    remove_abandoned(output)
    target = Path(os.path.realpath(output))  # a link goes on pointing to the file
    writer = f"{_here()}-{os.getpid()}-{TOKEN}"
    draft = target.parent / f"{_stem(target)}.{writer}-{secrets.token_hex(4)}.tmp{_suffix(target)}"
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
        draft.replace(target)
        _sync_folder(target.parent)
    finally:
        draft.unlink(missing_ok=True)


def remove_abandoned(output: Path) -> None:
    """Remove the drafts of a file whose writers were killed, here; from elsewhere, those not written to for a day.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "page.html"
    >>> with drafted(path) as draft:
    ...     _ = draft.write_text("half")
    ...     remove_abandoned(path)
    ...     draft.exists()
    True
    """
    target = Path(os.path.realpath(output))
    writer = r"\.([0-9a-f]{8})-(\d{1,9})-([0-9a-f]{8})-[0-9a-f]{8}\.tmp"
    drafts = re.compile(re.escape(_stem(target)) + writer + re.escape(_suffix(target)))
    with suppress(OSError):  # a folder may be closed to readers
        for path in target.parent.iterdir():
            if draft := drafts.fullmatch(path.name):
                _remove_if_abandoned(path, *draft.groups())


def _remove_if_abandoned(draft: Path, place: str, pid: str, token: str) -> None:
    with suppress(OSError):  # it may be gone by now, or another user's
        if place != _here() or os.name != "posix":  # a signal of 0 ends a process of Windows
            is_abandoned = time.time() - draft.stat().st_mtime > DAY
        elif int(pid) == os.getpid():
            is_abandoned = token != TOKEN
        else:
            is_abandoned = not _is_running(int(pid))
        if is_abandoned:
            draft.unlink()


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _stem(target: Path) -> str:
    return f".{target.name[:40]}"  # 255 bytes are the most a name may have


def _suffix(target: Path) -> str:
    return target.suffix[:20]


@cache
def _here() -> str:
    """Return a name of where a pid means the same process: this container of this machine, since it was started."""
    known = [platform.node()]
    with suppress(OSError):  # only Linux tells
        known += [Path("/proc/sys/kernel/random/boot_id").read_text(), str(Path("/proc/self/ns/pid").readlink())]
    return hashlib.sha256(" ".join(known).encode()).hexdigest()[:8]


def _sync_folder(folder: Path) -> None:
    """Write down the names in a folder, where a system can: the file is whole in any case."""
    with suppress(OSError):  # not every network folder can, nor can Windows
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def check_output(output: Path | None, *sources: Path | None) -> None:
    """Raise unless a file can be written there that overwrites none of the sources: before the work, not after.

    >>> check_output(Path("new.csv"), Path("./new.csv"))
    Traceback (most recent call last):
    ...
    ValueError: 'new.csv' is what is read; name another file for the output
    """
    if output is None:
        return
    target = Path(os.path.realpath(output))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no folder {str(target.parent)!r} to write {target.name!r} in")
    if target.is_dir():
        raise IsADirectoryError(f"{str(output)!r} is a folder; name a file in it")
    if target.exists() and not target.is_file():
        raise OSError(f"{str(output)!r} is no regular file; name another")
    if any(source is not None and _is_same(Path(source), target) for source in sources):
        raise ValueError(f"{str(output)!r} is what is read; name another file for the output")


def _is_same(source: Path, target: Path) -> bool:
    """Say whether both are one file, by another name of it too."""
    if source.exists() and target.exists():
        return source.samefile(target)
    return Path(os.path.realpath(source)) == target
