"""The studies: plan the cells, run those that are not on disk, write the tables."""

import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

from eocc.experiments import page as html
from eocc.experiments.cells import Cell, Figures
from eocc.experiments.costs import FULL_SEARCH, generations_within, seconds_of
from eocc.experiments.figures import draw_ranks
from eocc.experiments.pool import run_cells
from eocc.experiments.published_figures import PublishedFigure, published
from eocc.experiments.sources import IamSource, Source, UciSource
from eocc.experiments.store import Store
from eocc.experiments.systems import SYSTEMS, can_run
from eocc.experiments.tables import Results, csv_text, decision_table, figure_table, markdown, rank_table, results_of
from eocc.registry import choose

UCI_LOW = ("AB", "BI", "BW", "D", "E", "I", "L")
UCI_HIGH = ("AR", "BC-D", "BC-P", "C", "S", "SP")
IAM = ("A", "G", "L-L", "L-H", "M", "P")

STUDIES: dict[str, tuple[Source, ...]] = {
    "uci-low": tuple(UciSource(name) for name in UCI_LOW),
    "uci-high": tuple(UciSource(name) for name in UCI_HIGH),
    # The paper names AIDS's class a but counts its class i: both are shown, i as the paper's row.
    "iam": (*(IamSource(name) for name in IAM), IamSource("A (a)", "A", "a")),
}

TITLES = {
    "uci-low": "UCI sets of few features",
    "uci-high": "UCI sets of many features",
    "iam": "IAM graph sets",
}


@dataclass(frozen=True)
class Request:
    """What the user asked for. `budget` and `time_limit` are seconds; the former shrinks the search."""

    runs: int = 10
    seed: int = 0
    jobs: int = 1
    systems: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    budget: float | None = None
    time_limit: float = 1800.0
    folder: Path = Path("results")


@dataclass(frozen=True, eq=False)
class Study:
    """A plan: its title, its cells, and what was decided about the search."""

    name: str
    title: str
    cells: tuple[Cell, ...]
    note: str


@dataclass(frozen=True)
class Progress:
    """How far a run is: cells done of all, and the seconds left by the cost of what is left."""

    done: int
    total: int
    seconds_left: float
    cell: Cell
    figures: Figures


def plan_study(name: str, title: str, sources: Sequence[Source], request: Request) -> Study:
    """Return the cells of a study, data set by data set, with a search that fits the budget."""
    sources = _chosen(sources, request.datasets)
    systems = [choose("system", SYSTEMS, system).name for system in request.systems] or list(SYSTEMS)
    places = [(source, form) for source in sources for form in source.normalisations]
    kept = [(source, form, system) for source, form in places for system in systems if can_run(SYSTEMS[system], source)]
    generations, note = generations_within(request.budget, kept, request.runs, request.jobs)
    cells = [
        Cell(source, form, system, run, request.seed, generations[source.name])
        for source, form, system in kept
        for run in range(request.runs)
    ]
    return Study(name, title, tuple(cells), note)


def _chosen(sources: Sequence[Source], names: Sequence[str]) -> list[Source]:
    by_name = {source.name: source for source in sources}
    return [choose("data set", by_name, name) for name in names] if names else list(sources)


def run_study(study: Study, request: Request, tell: Callable[[Progress], None]) -> Results:
    """Run the cells that the folder does not hold yet, each written down at once, and gather all."""
    store = Store(request.folder, version("eocc"))
    waiting = [cell for cell in study.cells if cell.key not in store.finished]
    left = {cell.key: seconds_of(cell.source, cell.system, cell.generations) for cell in waiting}
    expected, started = sum(left.values()), time.monotonic()
    for done, (cell, figures) in enumerate(run_cells(waiting, request.jobs, request.time_limit), start=1):
        store.add(cell, figures)
        del left[cell.key]
        passed = expected - sum(left.values())
        pace = (time.monotonic() - started) / passed if passed > 0 else 0.0
        n_done = len(study.cells) - len(waiting) + done
        tell(Progress(n_done, len(study.cells), pace * sum(left.values()), cell, figures))
    return results_of(study.cells, store.finished, _published(study.name))


def _published(name: str) -> Iterable[PublishedFigure]:
    if name not in STUDIES:
        return ()
    quantities = ("auc", "accuracy", "regions") if name == "iam" else ("auc",)
    return [figure for quantity in quantities for figure in published(name.replace("-", "_"), quantity)]


def write_study(study: Study, results: Results, request: Request) -> list[Path]:
    """Write the tables as Markdown, CSV and HTML, each whole or not at all; return the paths."""
    forms = dict.fromkeys(form for _, form in results.places)
    tables = {f"AUC, {form}": figure_table(results, form) for form in forms}
    if study.name == "iam":  # the published table of graphs has these too
        tables["Accuracy"] = figure_table(results, "graphs", "accuracy")
        tables["Regions"] = figure_table(results, "graphs", "regions")
    tables["Ranks"] = rank_table(results)
    tables["Decisions, regions and times, means over the sets"] = decision_table(results)
    tables = {caption: rows for caption, rows in tables.items() if len(rows) > 1}
    facts = [*_facts(study, results, request), *_failures(results)]
    texts = {
        f"{study.name}.md": _markdown_page(study.title, facts, tables),
        f"{study.name}.csv": csv_text(results),
        f"{study.name}.html": _html_page(study.title, facts, tables, results),
    }
    return [_write(request.folder / name, text) for name, text in texts.items()]


def _facts(study: Study, results: Results, request: Request) -> list[str]:
    seconds = sum(
        runs.fit_seconds + runs.score_seconds for cells in results.figures.values() for runs in cells if not runs.reason
    )
    ranking = results.ranking()
    validation = (
        "EOCC-2 validates on the validation patterns that the set ships, which is honest."
        if study.name == "iam"
        else "EOCC-2 validates on patterns of the test set with noise, as published, which leaks; "
        "EOCC-2_10% on patterns moved out of the test set, which is honest."
    )
    facts = [
        "Mean (standard deviation) over runs; [published figure]; bold: the best, and what a paired t-test at 5 % "
        f"cannot tell from it. {validation}",
        f"{request.runs} runs, seed {request.seed}; at most {FULL_SEARCH} generations a search. {study.note}".strip(),
        f"eocc {version('eocc')}, scikit-learn {version('scikit-learn')}, numpy {version('numpy')}, "
        f"Python {platform.python_version()}, {os.cpu_count()} cores; {date.today().isoformat()}; "
        f"fits and scores took {seconds / 60:.1f} minutes of one core.",
    ]
    if ranking is not None:
        facts.append(
            f"Friedman test over {ranking.n_cells} sets: p = {ranking.friedman_p:.2g}; systems whose average ranks "
            f"differ by less than {ranking.critical_difference:.2f} cannot be told apart (Nemenyi, 5 %). "
            "A system without a figure is ranked last."
        )
    return facts


def _failures(results: Results) -> list[str]:
    return [
        f"No figure: {system} on {dataset} ({form}), {count} runs: {reason}"
        for (dataset, form), system, reason, count in results.reasons()
    ]


def _markdown_page(title: str, facts: Sequence[str], tables: dict[str, list[list[str]]]) -> str:
    parts = [f"# {title}", *facts]
    for caption, rows in tables.items():
        parts += [f"## {caption}", markdown(rows)]
    return "\n\n".join(parts) + "\n"


def _html_page(title: str, facts: Sequence[str], tables: dict[str, list[list[str]]], results: Results) -> str:
    parts = [html.paragraph(fact) for fact in facts]
    for caption, rows in tables.items():
        parts += [html.heading(caption), html.table(rows)]
        ranking = results.ranking()
        if caption == "Ranks" and ranking is not None:
            words = "Average ranks of the systems, as in the table; bars join those that cannot be told apart."
            parts.append(html.picture(draw_ranks(ranking), words))
    return html.page(title, parts)


def _write(path: Path, text: str) -> Path:
    draft = path.with_name(path.name + ".part")
    draft.write_text(text, encoding="utf-8")
    return draft.replace(path)
