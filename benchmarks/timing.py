"""Timing by ratio: what is compared is run in turns, so that a slow moment of the machine hits both. Memory peaks."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any


def seconds(work: Callable[[], Any]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def least_seconds(works: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """Return each work's least time over `repeats` rounds, taken in turns, after one round unmeasured."""
    for work in works:
        work()
    rounds = [[seconds(work) for work in works] for _ in range(repeats)]
    return [min(times) for times in zip(*rounds, strict=True)]


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table, the first one its head."""
    head, *body = rows
    return "\n".join(map(table_line, [head, ["---"] * len(head), *body]))


def table_line(cells: Sequence[str]) -> str:
    """Return one line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def peak_bytes() -> int:
    """Return the most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def apart(script: str, work: str, *arguments: Any) -> Any:
    """Return what the script prints as JSON, after other lines, for `--work work arguments`: in its own process."""
    command = [sys.executable, script, "--work", work, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])
