"""What a search tells while it runs: nothing, plain lines, or a bar on a terminal."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from eocc.search.run import Generation
from eocc.synthesis.assessment import Candidate

Report = Callable[[Generation, Candidate], None]


@contextmanager
def reporting(verbose: bool, max_generations: int | None) -> Iterator[Report]:
    """Yield a function to call after every generation; it writes to standard error if `verbose`."""
    if not verbose:
        yield lambda generation, best: None
    elif sys.stderr.isatty() and (bar := _rich_bar(max_generations)) is not None:
        with bar as report:
            yield report
    else:
        yield _line_reporter(max_generations)


def figures(best: Candidate) -> str:
    """Return the best candidate's figures, in words.

    >>> import numpy as np
    >>> figures(Candidate(np.ones(1), 2, 0.9, 0.4, 0.65))
    'objective 0.6500, entropy 0.9000, modularity 0.4000, 2 regions'
    """
    performance = "" if math.isnan(best.performance) else f", performance {best.performance:.4f}"
    return (
        f"objective {best.objective:.4f}, entropy {best.entropy:.4f}, modularity {best.modularity:.4f}"
        f"{performance}, {best.n_clusters} regions"
    )


def _line_reporter(max_generations: int | None) -> Report:
    started = time.monotonic()

    def report(generation: Generation, best: Candidate) -> None:
        done = generation.number + 1
        passed = time.monotonic() - started
        left = "" if max_generations is None else f", at most {passed / done * (max_generations - done):.0f} s left"
        print(f"generation {generation.number}: {figures(best)}, {passed:.0f} s{left}", file=sys.stderr, flush=True)

    return report


def _rich_bar(max_generations: int | None) -> Any:
    """Return a context that shows a bar, and the best candidate's figures below it; None where rich is missing."""
    try:
        from rich.console import Console, Group
        from rich.live import Live
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text
    except ModuleNotFoundError:
        return None
    bar = Progress(
        TextColumn("generation"), MofNCompleteColumn(), BarColumn(bar_width=20), TimeElapsedColumn(),
        TextColumn("at most"), TimeRemainingColumn(), TextColumn("left"),
    )  # fmt: skip
    text = Text("", overflow="fold")
    task = bar.add_task("", total=max_generations)

    def report(generation: Generation, best: Candidate) -> None:
        bar.update(task, completed=generation.number + 1)
        text.plain = figures(best)

    @contextmanager
    def representation() -> Iterator[Report]:
        with Live(Group(bar, text), console=Console(stderr=True), refresh_per_second=8):
            yield report

    return representation()
