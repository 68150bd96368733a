"""The memory limit of a fit: how much is free, how much a fit needs, and a refusal before it begins."""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from eocc.base.checks import bytes_of
from eocc.base.wording import format_bytes

# The share of free memory that a fit may take if the user gives no limit.
FREE_SHARE = 0.7
# Measured peaks lie between 0.3 and 1 of the sum of a fit's arrays times this: `python benchmarks/memory.py`.
MARGIN = 1.25
# What a fit takes whatever its size: the threads' stacks, the interpreter's own growth.
OVERHEAD = 2**24
# A fit that needs less than this many bytes is never refused without a limit.
SMALL_FIT = 2**28
# Where Linux says how much memory is free, and the limits of this process's control groups.
MEMORY_INFORMATION = Path("/proc/meminfo")
OWN_GROUPS = Path("/proc/self/cgroup")
CONTROL_GROUPS = Path("/sys/fs/cgroup")
GROUP_FILES = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))


class MemoryLimitError(ValueError):
    """A fit needs more memory than it may take."""


def check_memory(needed: float, max_memory: int | str | None, remedy: str) -> None:
    """Raise a MemoryLimitError with the `remedy` if a fit needs more than the limit.

    >>> check_memory(5e9, "2GiB", "pass prototypes=1000")
    Traceback (most recent call last):
    ...
    eocc.scale.memory.MemoryLimitError: the fit needs about 4.66 GiB, more than the limit of 2 GiB; pass prototypes=1000
    """
    limit = memory_limit(max_memory)
    if needed > limit:
        source = "the limit of" if max_memory is not None else f"{FREE_SHARE:.0%} of the free memory,"
        raise MemoryLimitError(
            f"the fit needs about {format_bytes(needed)}, more than {source} {format_bytes(limit)}; {remedy}"
        )


def memory_limit(max_memory: int | str | None) -> float:
    """Return how many bytes a fit may add: the limit given, or a share of what is free; infinity if unknown."""
    if max_memory is not None:
        return float(bytes_of(max_memory))
    free = free_memory()
    return math.inf if free is None else FREE_SHARE * free


def free_memory() -> int | None:
    """Return the bytes that this process can get, also in its container, without swapping; None if not known."""
    free = [_free_on_machine(), *_free_in_groups()]
    return min((size for size in free if size is not None), default=None)


def _free_on_machine() -> int | None:
    with suppress(OSError):
        for line in MEMORY_INFORMATION.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, ValueError, OSError):  # other Unixes; Windows has no sysconf
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return None


def _free_in_groups() -> Iterator[int]:
    """Yield what the limits of this process's control groups, of either version, and of those around them leave.

    Files that were read and can be dropped count as free.
    """
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        controllers, _, path = line.partition(":")[2].partition(":")
        if controllers in ("", "memory"):
            root = CONTROL_GROUPS / controllers
            # Inside a container the path may be that seen from outside: then the root itself is the group.
            own = root / path.lstrip("/")
            for folder in (one for one in (own, *own.parents) if one.is_relative_to(root)):
                for names in GROUP_FILES:
                    with suppress(OSError, ValueError):  # no such group, or the limit is "max"
                        limit, usage = (int((folder / name).read_text()) for name in names)
                        known = dict(one.split() for one in (folder / "memory.stat").read_text().splitlines())
                        yield max(0, limit - usage + int(known.get("inactive_file", 0)))
