"""Files that appear whole or not at all, and never in the place of what is read."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def drafted(output: Path) -> Iterator[Path]:
    """Yield a path beside `output` to write to; it takes that name when all went well, and else is removed.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "page.html"
    >>> with drafted(path) as draft:
    ...     _ = draft.write_text("whole")
    >>> path.read_text(), len(list(path.parent.iterdir()))
    ('whole', 1)
    """
    check_output(output)
    target = Path(os.path.realpath(output))  # a link goes on pointing to the file
    draft = target.parent / f".{target.name[:100]}.{secrets.token_hex(8)}.tmp{target.suffix[:20]}"
    try:
        yield draft
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


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
