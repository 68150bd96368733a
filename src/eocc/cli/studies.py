"""What ``reproduce`` and ``compare`` share: options, a bar, and the files they write."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from eocc.cli.app import Shared, say
from eocc.experiments import studies
from eocc.experiments.writing import write_study
from eocc.foundation.arguments import n_threads

Runs = Annotated[int, typer.Option(min=1, help="Runs of each system, with splits and seeds of their own.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the splits and of the systems.")]
Jobs = Annotated[int, typer.Option(help="Processes; -1 for one a core. The tables do not depend on it.")]
Systems = Annotated[str, typer.Option(help="Names with commas between them; all by default.")]
Budget = Annotated[str, typer.Option(help="A time such as 20m, 2h or 90s that the search shrinks to fit.")]
Limit = Annotated[str, typer.Option(help="The time after which a single run of a system is given up.")]
Out = Annotated[Path, typer.Option(help="The folder for cells and tables; a run there that was interrupted goes on.")]


def seconds(text: str) -> float:
    """Return a time written as 90, 90s, 20m or 2h in seconds.

    >>> seconds("1.5m")
    90.0
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if not found or float(found[1]) == 0:
        raise typer.BadParameter(f"{text!r} is not a time; write 90s, 20m or 2h")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def names(text: str) -> tuple[str, ...]:
    """Return the names in a list with commas."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def request_of(
    runs: int, seed: int, jobs: int, systems: str, datasets: str, budget: str, limit: str, out: Path
) -> studies.Request:
    """Return the options as a request."""
    return studies.Request(
        runs, seed, n_threads(jobs), names(systems), names(datasets), seconds(budget) if budget else None,
        seconds(limit), out,
    )  # fmt: skip


def run_and_write(study: studies.Study, request: studies.Request) -> None:
    """Run a study, show how far it is, write its tables and say where they are."""
    if study.note:
        say(study.note)
    if not study.cells:
        say(f"{study.title}: none of the systems takes its patterns.")
        return
    with _telling(study) as tell:
        results = studies.run_study(study, request, tell)
    print(write_study(study, results, request)[0].read_text(encoding="utf-8"))
    say(f"Written: {request.folder / study.name}.md, .csv and .html; the cells are in {request.folder}/cells.jsonl.")
    for (dataset, form), system, reason, count in results.reasons():
        say(f"no figure: {system} on {dataset} ({form}), {count} runs: {reason}")


@contextmanager
def _telling(study: studies.Study) -> Iterator[Any]:
    """Yield a function that shows progress on standard error: a bar on a terminal, else a line each tenth."""
    console = Console(stderr=True, quiet=Shared.quiet)
    columns = (TextColumn(study.name), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"),
               TextColumn("{task.fields[cell]}"))  # fmt: skip
    with Progress(*columns, console=console, disable=not console.is_terminal or Shared.quiet) as bar:
        task = bar.add_task("", total=len(study.cells), left="", cell="")

        def tell(progress: studies.Progress) -> None:
            left = f"about {_duration(progress.seconds_left)} left"
            place = f"{progress.cell.system} on {progress.cell.source.name}"
            bar.update(task, completed=progress.done, left=left, cell=place)
            tenth = max(1, progress.total // 10)
            if not console.is_terminal and progress.done % tenth == 0:
                say(f"{study.name}: {progress.done} of {progress.total} cells, {left}")

        yield tell


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 90 else f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
