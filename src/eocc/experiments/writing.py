"""The results of a study as tables, and as files: Markdown, CSV, and pictures of the ranks."""

import csv
import io
import os
import platform
from collections import Counter
from collections.abc import Iterator
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import numpy as np

from eocc.base.atomic import drafted
from eocc.base.wording import counted
from eocc.experiments.figures import draw_ranks
from eocc.experiments.results import MEASURED, PublishedFigure, Results, Summary
from eocc.experiments.studies import Request, Study

Table = list[list[str]]  # the first row is the head

VARIANTS = (
    " EOCC-1 and EOCC-2 have every printed setting. Other readings stand below them, next to the same printed figures, "
    "and are not ranked: one region allowed (Algorithm 1 as its text says, not as its pseudo-code), p = 1 (no search)"
)
LEAKING = (
    " EOCC-2 validates on rows of the test set with noise, as in the paper. So it has seen test rows: it is shown, but "
    "neither ranked nor compared. Surprise_10% and EOCC-2_10% learn from rows moved out of the test set, so they have "
    f"seen no test rows.{VARIANTS}, and MPM as printed (the settings behind the printed figures of MPM). "
    "BW (malignant) and L (ill) are BW and L with the other class as target, next to the same published figures; "
    "they count in no mean and no rank. Unit variance of all rows is how the paper may have normalised for its own "
    "systems; it tells them about the test rows, and counts in no mean."
)
SHIPPED = (
    " EOCC-2 validates on the validation graphs that come with the set, so it has seen no test graphs. All runs use "
    "the same split. So systems without a seed have a deviation of 0, and the t-test compares only the seeds of the "
    "others. The times of the rivals exclude the dissimilarities, which are computed once for all rivals; the times of "
    f"our own systems include them.{VARIANTS}, and TWEC (the edit scheme that the authors published). "
    "A (a) is A with the classes exchanged, next to the same published figures; it counts in no mean and no rank."
)

RANK_PICTURE = "Average ranks of the systems with their bootstrap intervals over the sets."


def write_study(study: Study, results: Results, request: Request) -> list[Path]:
    """Write the tables and a picture of the ranks per normalisation, each whole or not at all. Return the paths."""
    page, pictures = [f"# {study.title}", *_facts(study, results, request)], {}
    for caption, rows in _tables(study, results).items():
        page += [f"## {caption}", markdown(rows)]
        form = caption.removeprefix("Ranks, ")
        ranking = results.ranking(form) if form != caption and find_spec("matplotlib") else None
        if ranking is not None:
            data, name = io.BytesIO(), f"{study.name}-ranks-{form}.png"
            draw_ranks(ranking).savefig(data, dpi=110, format="png")
            pictures[name] = data.getvalue()
            page.append(f"![{RANK_PICTURE}]({quote(name)})")
    text = "\n\n".join(page) + "\n"
    contents = {f"{study.name}.md": text.encode(), f"{study.name}.csv": csv_text(results).encode(), **pictures}
    for name, content in contents.items():
        with drafted(request.folder / name) as draft:
            draft.write_bytes(content)
    return [request.folder / name for name in contents]


def _tables(study: Study, results: Results) -> dict[str, Table]:
    tables = {f"AUC, {form}": figure_table(results, form) for form in results.forms}
    if study.name.startswith("iam"):  # the published table of graphs has these too
        tables["Accuracy"] = figure_table(results, "graphs", "accuracy")
        tables["Regions"] = figure_table(results, "graphs", "regions")
    tables |= {f"Ranks, {form}": rank_table(results, form) for form in results.forms}
    tables["Decisions, regions and times, means over the sets"] = decision_table(results)
    return {caption: rows for caption, rows in tables.items() if len(rows) > 1}


def _facts(study: Study, results: Results, request: Request) -> Iterator[str]:
    runs = [figures for cells in results.figures.values() for figures in cells if not figures.reason]
    spent = sum(figures.fit_seconds + figures.score_seconds for figures in runs)
    brackets = "[published figure]; " if results.published else ""
    validation = SHIPPED if study.name.startswith("iam") else LEAKING if results.leaking else ""
    most = max(map(len, results.figures.values()), default=0)
    test = "" if most > 1 else " With one run nothing can be tested, so none is bold."
    yield (
        f"Mean over runs (standard deviation over repetitions, over folds); {brackets}bold: the best, and all that do "
        f"not differ from it by a paired t-test over the runs at 5 %.{test}{validation}"
    )
    yield f"{_repetitions(study, request)}, seed {request.seed}. At most {request.generations} generations per search."
    yield (
        f"eocc {version('eocc')}, scikit-learn {version('scikit-learn')}, numpy {version('numpy')}, "
        f"Python {platform.python_version()}, {os.cpu_count()} cores; {date.today().isoformat()}; "
        f"fits and scores took {spent:.0f} s of one core."
    )
    for form in results.forms:
        if ranking := results.ranking(form):
            least = f"average ranks that differ by less than {ranking.critical_difference:.2f}"
            which = f"{least} do not differ significantly (Nemenyi, 5 %)"
            yield (
                f"Friedman test over the {ranking.n_cells} sets, {form}: p = {ranking.friedman_p:.2g}; "
                f"{which if ranking.is_significant else 'the systems do not differ significantly'}. "
                "A system without a result is ranked last. Intervals of ranks are bootstrap intervals over the sets."
            )
    yield from (f"No results on {name}: {reason}" for name, reason in results.absent.items())
    planned = Counter((cell.source.name, cell.normalisation, cell.system) for cell in study.cells)
    for ((dataset, form), system), cells in results.figures.items():
        if dataset not in results.absent and len(cells) < (most := planned[dataset, form, system]):
            yield f"Not finished: {system} on {dataset} ({form}), {len(cells)} of {most} runs"
    for (dataset, form), system, reason, count in results.reasons():
        yield f"No result: {system} on {dataset} ({form}), {count} runs: {reason}"


def _repetitions(study: Study, request: Request) -> str:
    """Return the number of runs, for example "3 repetitions of 10 folds (AB: 1)"."""
    sources = {cell.source.name: cell.source for cell in study.cells}.values()
    counts = {source.name: request.n_runs(source) // source.n_folds for source in sources}
    usual = max(counts.values(), key=list(counts.values()).count, default=0)
    folds = {source.n_folds for source in sources}
    what = f"{counted(usual, 'repetition')} of {max(folds)} folds" if folds != {1} else counted(usual, "seed")
    others = ", ".join(f"{name}: {count}" for name, count in counts.items() if count != usual)
    return f"{what} ({others})" if others else what


def markdown(rows: Table) -> str:
    """Return a Markdown table."""
    head, *body = ["| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])


def figure_table(results: Results, form: str, measured: str = "auc") -> Table:
    """Return the mean (standard deviations) for each system and set, the published mean in brackets, and the mean."""
    places = [place for place in results.places if place[1] == form]
    summaries = {place: results.summaries(place, measured) for place in places}
    rows = [["system", *(dataset for dataset, _ in places), "mean"]]
    for system in results.systems:
        ours = [summaries[place].get(system) for place in places]
        printed = [results.printed(place, system, measured) for place in places]
        cells = [_cell(*both, measured) for both in zip(ours, printed, strict=True)]
        is_planned = measured == "auc" and any((place, system) in results.figures for place in places)
        if is_planned or any(system in summary for summary in summaries.values()):
            mean = results.mean(results.counted(form), system, measured)
            rows.append([_title(results, system), *cells, _number(mean)])
    return rows


def _title(results: Results, system: str) -> str:
    return f"{system} (leaks)" if system in results.leaking else system


def _cell(ours: Summary | None, published: PublishedFigure | None, measured: str) -> str:
    digits = 1 if measured == "regions" else 3
    text = "-"
    if ours is not None:
        bold = "**" if ours.is_best and measured == "auc" else ""
        spread = ", ".join(_number(std, digits) for std in (ours.std_repetitions, ours.std_folds))
        text = f"{bold}{ours.mean:.{digits}f}{bold} ({spread})"
    if published is not None and published.mean is not None:
        text += f" [{published.mean:.{digits}f}]"
    return text


def decision_table(results: Results) -> Table:
    """Return the means over all places of the figures of the decisions, regions and times of each system."""
    rows = [["system", "accuracy", "precision", "recall", "F", "regions", "generations", "fit, s", "score, s"]]
    for system in results.systems:
        means = [_number(results.mean(results.counted(), system, name)) for name in MEASURED[1:]]
        rows.append([_title(results, system), *means])
    return rows


def rank_table(results: Results, form: str) -> Table:
    """Return average rank and mean AUC of each system over the sets in one normalisation, best first."""
    ranking, rows = results.ranking(form), [["system", "average rank", "95 % interval over the sets", "mean AUC"]]
    for name, rank, low, high in ranking.systems if ranking else ():
        mean = results.mean(results.counted(form), name)
        rows.append([name, f"{rank:.2f}", f"{low:.2f} to {high:.2f}", _number(mean)])
    return rows


def csv_text(results: Results) -> str:
    """Return every mean, one per line, with the published mean and deviation."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["dataset", "normalisation", "system", "figure", "mean", "std_repetitions", "std_folds", "runs",
                     "is_best", "leaks", "published", "published_std"])  # fmt: skip
    for place in results.places:
        for measured in MEASURED:
            for system, summary in results.summaries(place, measured).items():
                printed = results.printed(place, system, measured)
                published = (printed.mean, printed.std) if printed else ("", "")
                best = int(summary.is_best) if measured == "auc" else ""
                means = map(repr, summary[:3])
                writer.writerow([*place, system, measured, *means, summary.n_runs, best,
                                 int(system in results.leaking), *published])  # fmt: skip
    return text.getvalue()


def _number(value: float, digits: int = 3) -> str:
    return "-" if np.isnan(value) else f"{value:.{digits}f}"
