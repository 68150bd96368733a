"""Results -> tables next to the published ones, as Markdown and CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from eocc.experiments.cells import Cell, Figures
from eocc.experiments.published_figures import PublishedFigure
from eocc.experiments.statistics import Ranking, Summary, rank_systems, summarise
from eocc.experiments.systems import SYSTEMS
from eocc.foundation.types import Matrix

Place = tuple[str, str]  # data set, normalisation

# The same graphs with exchanged classes: shown, but not counted as another data set.
NOT_COUNTED = ("A (a)",)
MEASURED = ("auc", "accuracy", "precision", "recall", "f_measure", "regions", "fit_seconds", "score_seconds")


@dataclass(frozen=True, eq=False)
class Results:
    """All finished cells of a study, in the order of its data sets, systems and runs.

    `leaking` systems have seen test patterns: they are shown, and neither ranked nor compared with. `informed` systems
    know some non-targets: they are shown and compared with, and not ranked among those that do not. `absent` says why
    a data set could not be had; its places are shown beside the published figures, and count in no mean.
    """

    places: tuple[Place, ...]
    systems: tuple[str, ...]
    figures: Mapping[tuple[Place, str], Sequence[Figures]]
    published: Mapping[tuple[Place, str, str], PublishedFigure] = field(default_factory=dict)
    leaking: frozenset[str] = frozenset()
    informed: frozenset[str] = frozenset()
    absent: Mapping[str, str] = field(default_factory=dict)

    def runs(self, place: Place, system: str, measured: str) -> Matrix:
        """Return a figure of every run."""
        return np.array([getattr(figures, measured) for figures in self.figures.get((place, system), ())], float)

    def summaries(self, place: Place, measured: str = "auc") -> dict[str, Summary]:
        """Return the summary of every system on one data set."""
        return summarise({system: self.runs(place, system, measured) for system in self.systems}, self.leaking)

    def mean(self, place: Place, system: str, measured: str = "auc") -> float:
        """Return the mean over runs, NaN where a run failed or there was none."""
        runs = self.runs(place, system, measured)
        return float(runs.mean()) if len(runs) else np.nan

    def mean_over(self, places: Sequence[Place], system: str, measured: str = "auc") -> float:
        """Return the mean of the means over those of the places that count."""
        return float(np.mean([self.mean(place, system, measured) for place in self.counted(places)] or [np.nan]))

    def counted(self, places: Sequence[Place]) -> list[Place]:
        """Return the places that count in means and ranks: a set that is there, and once."""
        return [place for place in places if place[0] not in self.absent and place[0] not in NOT_COUNTED]

    @property
    def forms(self) -> list[str]:
        """The normalisations."""
        return list(dict.fromkeys(form for _, form in self.places))

    def ranking(self, form: str) -> Ranking | None:
        """Return the ranks by mean AUC, over the sets in one form, of the systems that know targets alone.

        Two forms of a set are not two sets.
        """
        places = self.counted([place for place in self.places if place[1] == form])
        systems = [system for system in self.systems if system not in self.leaking | self.informed]
        scores = np.array([[self.mean(place, system) for system in systems] for place in places])
        return rank_systems(systems, scores.reshape(len(places), len(systems)))

    def reasons(self) -> list[tuple[Place, str, str, int]]:
        """Return (place, system, reason, number of runs) for runs without figures."""
        found: dict[tuple[Place, str, str], int] = {}
        for (place, system), runs in self.figures.items():
            for figures in runs:
                if figures.reason:
                    found[place, system, figures.reason] = found.get((place, system, figures.reason), 0) + 1
        return [(*key, count) for key, count in found.items()]


def results_of(
    cells: Iterable[Cell],
    finished: Mapping[tuple[object, ...], Figures],
    published: Iterable[PublishedFigure] = (),
    absent: Mapping[str, str] | None = None,
) -> Results:
    """Gather the finished figures of the planned cells."""
    materialised: dict[tuple[Place, str], list[Figures]] = {}
    leaking, informed = set(), set()
    for cell in sorted(cells, key=lambda cell: cell.run):
        place = (cell.source.name, cell.normalisation)
        runs = materialised.setdefault((place, cell.system), [])
        if cell.key in finished:
            runs.append(finished[cell.key])
        if SYSTEMS[cell.system].validation == "leaking" and not cell.source.ships_validation:
            leaking.add(cell.system)
        if SYSTEMS[cell.system].validation is not None:
            informed.add(cell.system)
    places = tuple(dict.fromkeys(place for place, _ in materialised))
    systems = tuple(dict.fromkeys(system for _, system in materialised))
    printed = {((cell.dataset, cell.normalisation), cell.system, cell.quantity): cell for cell in published}
    return Results(places, systems, materialised, printed, frozenset(leaking), frozenset(informed), absent or {})


def markdown(rows: Sequence[Sequence[str]]) -> str:
    r"""Return a Markdown table; the first row is its head.

    >>> print(markdown([["a", "b"], ["1", "2|3"]]))
    | a | b |
    |---|---|
    | 1 | 2\|3 |
    """
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def figure_table(results: Results, form: str, measured: str = "auc") -> list[list[str]]:
    """Return the mean (standard deviation) for each system and set, the published mean in brackets, and the mean."""
    places = [place for place in results.places if place[1] == form]
    summaries = {place: results.summaries(place, measured) for place in places}
    rows = [["system", *(dataset for dataset, _ in places), "mean"]]
    for system in results.systems:
        cells = [
            _cell(summaries[place].get(system), results.published.get((place, system, measured)), measured)
            for place in places
        ]
        if measured == "auc" or any(system in summary for summary in summaries.values()):
            rows.append([_shown(results, system), *cells, _number(results.mean_over(places, system, measured))])
    return rows


def _shown(results: Results, system: str) -> str:
    return f"{system} (leaks)" if system in results.leaking else system


def _cell(ours: Summary | None, published: PublishedFigure | None, measured: str) -> str:
    digits = 1 if measured == "regions" else 3
    if ours is None:
        text = "-"
    else:
        text = f"{ours.mean:.{digits}f}"
        text = f"**{text}**" if ours.is_best and measured == "auc" else text
        text += f" ({_number(ours.std, digits)})"
    if published is not None and published.mean is not None:
        text += f" [{published.mean:.{digits}f}]"
    return text


def decision_table(results: Results) -> list[list[str]]:
    """Return the mean over places of the hard decisions' figures, regions and times of each system."""
    rows = [["system", "accuracy", "precision", "recall", "F", "regions", "fit, s", "score, s"]]
    for system in results.systems:
        means = [_number(results.mean_over(results.places, system, name)) for name in MEASURED[1:]]
        rows.append([_shown(results, system), *means])
    return rows


def rank_table(results: Results, form: str) -> list[list[str]]:
    """Return average rank and mean AUC of each system over the sets in one form, best first."""
    ranking = results.ranking(form)
    if ranking is None:
        return []
    places = [place for place in results.places if place[1] == form]
    rows = [["system", "average rank", "mean AUC"]]
    for system, rank in sorted(ranking.average_ranks.items(), key=lambda item: item[1]):
        rows.append([system, f"{rank:.2f}", _number(results.mean_over(places, system))])
    return rows


def csv_text(results: Results) -> str:
    """Return every mean, one a line, with the published mean and deviation."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["dataset", "normalisation", "system", "figure", "mean", "std", "runs", "is_best", "leaks",
                     "published", "published_std"])  # fmt: skip
    for place in results.places:
        for measured in MEASURED:
            for system, summary in results.summaries(place, measured).items():
                printed = results.published.get((place, system, measured))
                published = ["", ""] if printed is None else [printed.mean, printed.std]
                best = int(summary.is_best) if measured == "auc" else ""
                writer.writerow([*place, system, measured, repr(summary.mean), repr(summary.std), summary.n_runs, best,
                                 int(system in results.leaking), *published])  # fmt: skip
    return text.getvalue()


def _number(value: float, digits: int = 3) -> str:
    return "-" if np.isnan(value) else f"{value:.{digits}f}"
