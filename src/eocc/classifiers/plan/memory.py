"""How much memory there is, and how much of it a fit may take."""

import math
import os
import re
from collections.abc import Iterator
from numbers import Integral
from pathlib import Path
from typing import Any

# The share of free memory that a fit may take where the user names no budget: others live here too.
SHARE = 0.7
UNITS = {"": 1, "B": 1} | {
    f"{prefix}{suffix}": base**power
    for power, prefix in enumerate("KMGT", start=1)
    for suffix, base in (("B", 1000), ("IB", 1024))
}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")
SHOWN = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
# Where Linux tells what is free, and what the groups of processes that this one is in may take.
MEMORY_INFORMATION = Path("/proc/meminfo")
OWN_GROUPS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def shown_bytes(size: float) -> str:
    """Return a number of bytes as people read it.

    >>> shown_bytes(800), shown_bytes(3.6e9), shown_bytes(8e10)
    ('800 B', '3.35 GiB', '74.5 GiB')
    """
    power = min(int(math.log2(max(size, 1)) // 10), len(SHOWN) - 1)
    return f"{size / 1024**power:.3g} {SHOWN[power]}"


def bytes_of(max_memory: Any) -> int:
    """Return a budget in bytes: an integer, or text with a unit.

    >>> bytes_of(4096), bytes_of("2GiB"), bytes_of("500 MB")
    (4096, 2147483648, 500000000)
    >>> bytes_of("2 gigs")
    Traceback (most recent call last):
    ...
    ValueError: max_memory must be an integer > 0, in bytes, or text such as '2GiB' or '500MB', not '2 gigs'
    """
    size = 0
    if isinstance(max_memory, Integral) and not isinstance(max_memory, bool):
        size = int(max_memory)
    elif isinstance(max_memory, str):
        match = SIZE.fullmatch(max_memory.strip())
        size = int(float(match[1]) * UNITS.get(match[2].upper(), 0)) if match else 0
    if size <= 0:
        raise ValueError(
            f"max_memory must be an integer > 0, in bytes, or text such as '2GiB' or '500MB', not {max_memory!r}"
        )
    return size


def budget_of(max_memory: int | str | None) -> float:
    """Return the bytes that a fit may add: as named, or SHARE of what is free now; infinity where nobody knows.

    >>> budget_of("1KiB")
    1024.0
    """
    if max_memory is not None:
        return float(bytes_of(max_memory))
    free = free_memory()
    return math.inf if free is None else SHARE * free


def free_memory() -> int | None:
    """Return the bytes that this process can still get without swapping; None where the system does not tell.

    Of the machine, or of the group of processes (a container, say) that has the tightest limit.
    """
    free = [_free_on_machine(), *_free_in_groups()]
    return min((size for size in free if size is not None), default=None)


def _free_on_machine() -> int | None:
    try:
        for line in MEMORY_INFORMATION.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:  # other Unixes; Windows has no sysconf
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_groups() -> Iterator[int]:
    """Yield what the limits of this process's control groups leave, of either version."""
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        controllers, _, path = line.partition(":")[2].partition(":")
        if controllers in ("", "memory"):
            root = GROUPS / controllers
            names = ("memory.max", "memory.current") if not controllers else (
                "memory.limit_in_bytes", "memory.usage_in_bytes"
            )  # fmt: skip
            # Inside a container the path may be that seen from outside: then the root itself is the group.
            for folder in {root, *_folders(root, path)}:
                free = _free_in_group(folder, *names)
                if free is not None:
                    yield free


def _folders(root: Path, path: str) -> Iterator[Path]:
    """Yield the folders of a group and of those it is in."""
    parts = Path(path).parts[1:]
    for depth in range(1, len(parts) + 1):
        yield root.joinpath(*parts[:depth])


def _free_in_group(folder: Path, limit_name: str, usage_name: str) -> int | None:
    """Return limit - usage, where files that were read and can be dropped count as free; None without a limit."""
    try:
        limit, usage = int((folder / limit_name).read_text()), int((folder / usage_name).read_text())
        statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no such group, or the limit is "max"
        return None
    return max(0, limit - usage + int(statistics.get("inactive_file", 0)))
