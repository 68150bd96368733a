"""What ``reproduce`` and ``compare`` share: options and the files they write."""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from eocc.cli.app import say
from eocc.cli.options import names_in, output_option, seed_option, stacked

Function = TypeVar("Function", bound=Callable[..., Any])


def study_options(folder: str) -> Callable[[Function], Function]:
    """Add the options of a study that writes to a folder."""
    return stacked(
        click.option("--systems", default="", metavar="NAME,...", help="Classifiers to compare; all by default."),
        click.option("--repetitions", type=click.IntRange(min=1), default=None,
                     help="How often the ten folds are drawn, each fold being one run; for graphs, the number of "
                     "seeds. Default: 3 for UCI sets (1 for AB), 10 for graphs, 1 for your own data."),
        seed_option,
        click.option("--jobs", type=int, default=1, show_default=True,
                     help="Number of processes; -1 uses all cores. Results do not depend on it."),
        click.option("--generations", type=click.IntRange(min=1), default=100, show_default=True,
                     help="The most generations of a search."),
        click.option("--limit", default="30m", show_default=True, metavar="TIME", help="Stop a run after this time."),
        output_option(folder, "Folder for runs and tables.", takes_folders=True),
    )  # fmt: skip


def seconds(text: str) -> float:
    """Return a time written as 90, 90s, 20m or 2h in seconds.

    >>> seconds("1.5m")
    90.0
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if not found or float(found[1]) == 0:
        raise ValueError(f"{text!r} is not a time; write 90s, 20m or 2h")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def request_of(given: dict[str, Any]) -> Any:
    """Return the options as a request."""
    from eocc.base.arguments import n_threads
    from eocc.experiments.studies import Request

    if given["jobs"] == 0:
        raise ValueError("--jobs must be an integer other than 0")
    return Request(
        given["repetitions"], given["seed"], n_threads(given["jobs"]), tuple(names_in(given["systems"])),
        tuple(names_in(given.get("datasets", ""))), given["generations"],
        seconds(given["limit"]), given["output"],
    )  # fmt: skip


def check_available(studies: Sequence[Any]) -> None:
    """Raise a ValueError with the reason if no data set of the studies is available."""
    from eocc.base.wording import counted

    names = {cell.source.name for study in studies for cell in study.cells}
    absent = {name: why for study in studies for name, why in study.absent.items()}
    if names and names <= absent.keys():
        more = f" (and {counted(len(names) - 1, 'more set')} not available)" if len(names) > 1 else ""
        raise ValueError(next(iter(absent.values())) + more)


def run_and_write(study: Any, request: Any) -> None:
    """Run a study, write its tables and print where they are."""
    from eocc.experiments.studies import run_study
    from eocc.experiments.writing import write_study

    if not study.cells:
        say(f"{study.title}: none of the systems can compare its data.")
        return
    results = run_study(study, request)
    print(write_study(study, results, request)[0].read_text(encoding="utf-8"))
    say(f"Written: {request.folder / study.name}.md and .csv; single runs are in {request.folder}/cells.")
