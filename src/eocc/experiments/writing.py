"""The results of a study as files: Markdown, CSV, and one HTML page."""

import os
import platform
from collections.abc import Iterator, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

from eocc.experiments import page as html
from eocc.experiments.costs import FULL_SEARCH
from eocc.experiments.figures import draw_ranks
from eocc.experiments.studies import Request, Study
from eocc.experiments.tables import Results, csv_text, decision_table, figure_table, markdown, rank_table
from eocc.foundation.atomic import drafted

Tables = dict[str, list[list[str]]]

LEAKING = (
    " EOCC-2 validates on patterns of the test set with noise, as published, which leaks: it is shown, and neither "
    "ranked nor compared. Surprise_10% and EOCC-2_10% learn from patterns moved out of the test set: this is honest."
)
SHIPPED = (
    " EOCC-2 validates on the validation patterns that the set ships, which is honest. All runs share the shipped "
    "split, so that systems without a seed have a deviation of 0, and the t-test sees the seeds of the others only. "
    "The rivals' times leave out the dissimilarities, which are computed once for all; those of EOCC hold them. A (a) "
    "is A with the classes exchanged; it counts in no mean and no rank."
)


def write_study(study: Study, results: Results, request: Request) -> list[Path]:
    """Write the tables, each file whole or not at all; return the paths. The page comes last: its pictures may fail."""
    tables, facts = _tables(study, results), _facts(study, results, request)
    paths = [
        _write(request.folder / f"{study.name}.md", _markdown_page(study.title, facts, tables)),
        _write(request.folder / f"{study.name}.csv", csv_text(results)),
    ]
    return [*paths, _write(request.folder / f"{study.name}.html", _html_page(study.title, facts, tables, results))]


def _tables(study: Study, results: Results) -> Tables:
    tables = {f"AUC, {form}": figure_table(results, form) for form in results.forms}
    if study.name.startswith("iam"):  # the published table of graphs has these too
        tables["Accuracy"] = figure_table(results, "graphs", "accuracy")
        tables["Regions"] = figure_table(results, "graphs", "regions")
    tables |= {f"Ranks, {form}": rank_table(results, form) for form in results.forms}
    tables["Decisions, regions and times, means over the sets"] = decision_table(results)
    return {caption: rows for caption, rows in tables.items() if len(rows) > 1}


def _facts(study: Study, results: Results, request: Request) -> list[str]:
    runs = [figures for cells in results.figures.values() for figures in cells if not figures.reason]
    spent = sum(figures.fit_seconds + figures.score_seconds for figures in runs)
    shown = "[published figure]; " if results.published else ""
    validation = SHIPPED if study.name.startswith("iam") else LEAKING if results.leaking else ""
    test = "" if request.runs > 1 else " One run leaves nothing to test, so that none is bold."
    search = study.note or f"At most {FULL_SEARCH} generations a search."
    return [
        f"Mean (standard deviation) over runs; {shown}bold: the best, and all that do not differ from it by a paired "
        f"t-test at 5 %.{test}{validation}",
        f"{request.runs} run{'s' if request.runs > 1 else ''}, seed {request.seed}. {search}",
        f"eocc {version('eocc')}, scikit-learn {version('scikit-learn')}, numpy {version('numpy')}, "
        f"Python {platform.python_version()}, {os.cpu_count()} cores; {date.today().isoformat()}; "
        f"fits and scores took {spent:.0f} s of one core.",
        *_ranking_facts(results),
        *(f"No figures on {name}: {reason}" for name, reason in results.absent.items()),
        *(
            f"No figure: {system} on {dataset} ({form}), {count} runs: {reason}"
            for (dataset, form), system, reason, count in results.reasons()
        ),
    ]


def _ranking_facts(results: Results) -> Iterator[str]:
    for form in results.forms:
        ranking = results.ranking(form)
        if ranking is not None:
            conclusion = (
                f"systems whose average ranks differ by less than {ranking.critical_difference:.2f} do not "
                "differ significantly (Nemenyi, 5 %)"
                if ranking.is_significant
                else "the systems do not differ significantly"
            )
            yield (
                f"Friedman test over the {ranking.n_cells} sets, {form}: p = {ranking.friedman_p:.2g}; {conclusion}. "
                "A system without a figure is ranked last."
            )


def _markdown_page(title: str, facts: Sequence[str], tables: Tables) -> str:
    parts = [f"# {title}", *facts]
    for caption, rows in tables.items():
        parts += [f"## {caption}", markdown(rows)]
    return "\n\n".join(parts) + "\n"


def _html_page(title: str, facts: Sequence[str], tables: Tables, results: Results) -> str:
    parts = [html.paragraph(fact) for fact in facts]
    for caption, rows in tables.items():
        parts += [html.heading(caption), html.table(rows)]
        if caption.startswith("Ranks, "):
            parts.append(_rank_picture(results, caption.removeprefix("Ranks, ")))
    return html.page(title, parts)


def _rank_picture(results: Results, form: str) -> str:
    ranking = results.ranking(form)
    assert ranking is not None  # there is a table of it
    words = "Average ranks of the systems, as in the table; bars join those that do not differ significantly."
    try:
        return html.picture(draw_ranks(ranking), words)
    except ModuleNotFoundError as error:
        return html.paragraph(f"No picture of the ranks: {error}.")


def _write(path: Path, text: str) -> Path:
    with drafted(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return path
