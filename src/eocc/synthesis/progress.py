"""Progress of a search: nothing, plain lines, or a progress bar in a terminal."""

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


def describe_scores(best: Candidate) -> str:
    """Return the scores of the best candidate as text."""
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
        scores = describe_scores(best)
        print(f"generation {generation.number}: {scores}, {passed:.0f} s{left}", file=sys.stderr, flush=True)

    return report


def _rich_bar(max_generations: int | None) -> Any:
    """Return a context with a progress bar and the best candidate's scores, or None if rich is not installed."""
    try:
        import rich.progress as columns
        from rich.console import Console, Group
        from rich.live import Live
        from rich.text import Text
    except ModuleNotFoundError:
        return None
    bar = columns.Progress(
        columns.TextColumn("generation"), columns.MofNCompleteColumn(), columns.BarColumn(bar_width=20),
        columns.TimeElapsedColumn(), columns.TextColumn("at most"), columns.TimeRemainingColumn(),
        columns.TextColumn("left"),
    )  # fmt: skip
    text = Text("", overflow="fold")
    task = bar.add_task("", total=max_generations)

    def report(generation: Generation, best: Candidate) -> None:
        bar.update(task, completed=generation.number + 1)
        text.plain = describe_scores(best)

    @contextmanager
    def live_bar() -> Iterator[Report]:
        with Live(Group(bar, text), console=Console(stderr=True), refresh_per_second=8):
            yield report

    return live_bar()
