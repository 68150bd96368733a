"""Timing by ratio: what is compared is run in turns, so that a slow moment of the machine hits both."""

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
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
