"""The memory limit of a fit: how much is free, how much a fit needs, and a refusal before it begins."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

from eocc.foundation.byte_sizes import bytes_of, format_bytes

# The share of free memory that a fit may take if the user gives no limit.
FREE_SHARE = 0.7
# Measured peaks lie between 0.3 and 1 of the sum of the arrays times this: `python benchmarks/memory.py`.
MARGIN = 1.25
# What a fit takes whatever its size: the threads' stacks, the interpreter's own growth.
OVERHEAD = 2**24
DOUBLE = 8
# What a thread takes to compare blocks of rows of numbers, and what samples of large regions take.
BLOCKS, SAMPLES = 2**23, 2**26
# Without a limit, a fit this small is not worth a look at the free memory.
NEVER_REFUSED = 2**28
# Where Linux says how much memory is free, and the limits of this process's control groups.
MEMORY_INFORMATION = Path("/proc/meminfo")
OWN_GROUPS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


class MemoryLimitError(ValueError):
    """A fit needs more memory than it may take."""


def check_memory(needed: float, max_memory: int | str | None, remedy: str) -> None:
    """Raise a MemoryLimitError with the `remedy` if a fit needs more than the limit.

    >>> check_memory(5e9, "2GiB", "pass prototypes=1000")
    Traceback (most recent call last):
    ...
    eocc.scale.memory.MemoryLimitError: the fit needs about 4.66 GiB, more than the limit of 2 GiB; pass prototypes=1000
    """
    if max_memory is None and needed < NEVER_REFUSED:
        return
    limit = memory_limit(max_memory)
    if needed > limit:
        source = "the limit of" if max_memory is not None else f"{FREE_SHARE:.0%} of the free memory,"
        raise MemoryLimitError(
            f"the fit needs about {format_bytes(needed)}, more than {source} {format_bytes(limit)}; {remedy}"
        )


def surprise_bytes(n: int, r: int, n_columns: int, pair_bytes: float, n_threads: int, n_outliers: int = 0) -> float:
    """Return the memory that a surprise model of n rows and r prototypes takes.

    Measures that keep their pairs (`pair_bytes` > 0) hold all of them and two matrices of dissimilarities. Rows of
    numbers are compared in blocks.
    """
    compared = r + n_outliers
    rows = DOUBLE * n * (n_columns + 40) + DOUBLE * compared * (n_columns + 20)
    columns = DOUBLE * (n + n_outliers) * 2 * n_columns if n_outliers else 0
    pairs = (pair_bytes + 2 * DOUBLE) * n * compared if pair_bytes else n_threads * BLOCKS
    return OVERHEAD + MARGIN * (rows + columns + pairs)


def synthesis_bytes(n: int, r: int, n_columns: int, pair_bytes: float, n_threads: int, graph: str) -> float:
    """Return the memory that the paper's synthesis takes.

    Each thread has an (n, r) matrix and, with the complete graph, an (n, n) one; extents may copy half of the pairs.
    The graph of neighbours measures large regions by samples.
    """
    if graph == "complete":
        workspace, copies = DOUBLE * (n * r + n * n), DOUBLE * n * n / 2
    else:
        workspace, copies = DOUBLE * n * (r + 200), min(SAMPLES, DOUBLE * n * n)
    return OVERHEAD + MARGIN * (DOUBLE * n * n_columns + pair_bytes * n * r + n_threads * workspace + copies)


def memory_limit(max_memory: int | str | None) -> float:
    """Return how many bytes a fit may add: the limit given, or a share of what is free; infinity if unknown.

    >>> memory_limit("1KiB")
    1024.0
    """
    if max_memory is not None:
        return float(bytes_of(max_memory))
    free = free_memory()
    return math.inf if free is None else FREE_SHARE * free


def free_memory() -> int | None:
    """Return the bytes that this process can still get without swapping; None if the system does not say.

    A container or another control group with a tighter limit than the machine's counts.
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
