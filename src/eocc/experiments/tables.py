"""Figures -> tables of ours beside the published ones, as Markdown and CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eocc.experiments.cells import Cell, Figures
from eocc.experiments.published_figures import PublishedFigure
from eocc.experiments.statistics import Ranking, Summary, rank_systems, summarise

Matrix = NDArray[np.float64]
Place = tuple[str, str]  # data set, normalisation

MEASURED = ("auc", "accuracy", "precision", "recall", "f_measure", "regions", "fit_seconds", "score_seconds")


@dataclass(frozen=True, eq=False)
class Results:
    """All finished cells of a study, in the order of its data sets, systems and runs."""

    places: tuple[Place, ...]
    systems: tuple[str, ...]
    figures: Mapping[tuple[Place, str], Sequence[Figures]]
    published: Mapping[tuple[Place, str, str], PublishedFigure] = field(default_factory=dict)

    def runs(self, place: Place, system: str, measured: str) -> Matrix:
        """Return a figure of every run."""
        return np.array([getattr(figures, measured) for figures in self.figures.get((place, system), ())], float)

    def summaries(self, place: Place, measured: str = "auc") -> dict[str, Summary]:
        """Return the summary of every system on one data set."""
        return summarise({system: self.runs(place, system, measured) for system in self.systems})

    def mean(self, place: Place, system: str, measured: str = "auc") -> float:
        """Return the mean over runs, NaN where a run failed or there was none."""
        runs = self.runs(place, system, measured)
        return float(runs.mean()) if len(runs) else np.nan

    def ranking(self) -> Ranking | None:
        """Return the ranks of the systems by mean AUC over all places."""
        scores = [[self.mean(place, system) for system in self.systems] for place in self.places]
        return rank_systems(self.systems, np.array(scores))

    def reasons(self) -> list[tuple[Place, str, str, int]]:
        """Return (place, system, reason, number of runs) for runs without figures."""
        found: dict[tuple[Place, str, str], int] = {}
        for (place, system), runs in self.figures.items():
            for figures in runs:
                if figures.reason:
                    found[place, system, figures.reason] = found.get((place, system, figures.reason), 0) + 1
        return [(*key, count) for key, count in found.items()]


def results_of(
    cells: Iterable[Cell], finished: Mapping[tuple[object, ...], Figures], published: Iterable[PublishedFigure] = ()
) -> Results:
    """Gather the finished figures of the planned cells."""
    gathered: dict[tuple[Place, str], list[Figures]] = {}
    for cell in sorted(cells, key=lambda cell: cell.run):
        place = (cell.source.name, cell.normalisation)
        runs = gathered.setdefault((place, cell.system), [])
        if cell.key in finished:
            runs.append(finished[cell.key])
    places = tuple(dict.fromkeys(place for place, _ in gathered))
    systems = tuple(dict.fromkeys(system for _, system in gathered))
    printed = {((cell.dataset, cell.normalisation), cell.system, cell.quantity): cell for cell in published}
    return Results(places, systems, gathered, printed)


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first row is its head.

    >>> print(markdown([["a", "b"], ["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def figure_table(results: Results, normalisation: str, measured: str = "auc") -> list[list[str]]:
    """Return the mean (standard deviation) for each system and set, the published mean in brackets, and the mean."""
    places = [place for place in results.places if place[1] == normalisation]
    summaries = {place: results.summaries(place, measured) for place in places}
    rows = [["system", *(dataset for dataset, _ in places), "mean"]]
    for system in results.systems:
        cells = [
            _cell(summaries[place].get(system), results.published.get((place, system, measured)), measured)
            for place in places
        ]
        means = [results.mean(place, system, measured) for place in places]
        if measured == "auc" or not np.isnan(means).all():
            rows.append([system, *cells, _number(float(np.mean(means)))])
    return rows


def _cell(ours: Summary | None, published: PublishedFigure | None, measured: str) -> str:
    digits = 1 if measured == "regions" else 3
    if ours is None:
        text = "-"
    else:
        text = f"{ours.mean:.{digits}f}"
        text = f"**{text}**" if ours.is_best and measured == "auc" else text
        text += f" ({ours.std:.{digits}f})"
    if published is not None and published.mean is not None:
        text += f" [{published.mean:.{digits}f}]"
    return text


def decision_table(results: Results) -> list[list[str]]:
    """Return the mean over places of the hard decisions' figures, regions and times of each system."""
    rows = [["system", "accuracy", "precision", "recall", "F", "regions", "fit, s", "score, s"]]
    for system in results.systems:
        means = [np.mean([results.mean(place, system, name) for place in results.places]) for name in MEASURED[1:]]
        rows.append([system, *(_number(float(mean)) for mean in means[:4]), _number(float(means[4]), 1),
                     *(_number(float(mean)) for mean in means[5:])])  # fmt: skip
    return rows


def rank_table(results: Results) -> list[list[str]]:
    """Return mean AUC and average rank of each system over all places, best first."""
    ranking = results.ranking()
    if ranking is None:
        return []
    rows = [["system", "average rank", "mean AUC"]]
    for system, rank in sorted(ranking.average_ranks.items(), key=lambda item: item[1]):
        mean = np.mean([results.mean(place, system) for place in results.places])
        rows.append([system, f"{rank:.2f}", _number(float(mean))])
    return rows


def csv_text(results: Results) -> str:
    """Return every mean, one a line: set, normalisation, system, figure, mean, deviation, runs, published mean."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["dataset", "normalisation", "system", "figure", "mean", "std", "runs", "is_best", "published"])
    for place in results.places:
        for measured in MEASURED:
            for system, summary in results.summaries(place, measured).items():
                printed = results.published.get((place, system, measured))
                published = "" if printed is None or printed.mean is None else printed.mean
                best = int(summary.is_best) if measured == "auc" else ""
                writer.writerow([*place, system, measured, repr(summary.mean), repr(summary.std), summary.n_runs,
                                 best, published])  # fmt: skip
    return text.getvalue()


def _number(value: float, digits: int = 3) -> str:
    return "-" if np.isnan(value) else f"{value:.{digits}f}"
