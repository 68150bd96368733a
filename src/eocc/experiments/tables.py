"""Results -> tables next to the published ones, as Markdown and CSV."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from eocc.experiments.cells import Cell, Figures
from eocc.experiments.protocol import ALL_ROWS
from eocc.experiments.published_figures import PublishedFigure
from eocc.experiments.statistics import Ranking, Summary, rank_systems, summarise_runs
from eocc.experiments.systems import SYSTEMS
from eocc.foundation.types import Matrix

Place = tuple[str, str]  # data set, normalisation
Table = list[list[str]]  # the first row is the head

MEASURED = ("auc", "accuracy", "precision", "recall", "f_measure", "regions", "generations", "fit_seconds",
            "score_seconds")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Results:
    """All finished cells of a study, in the order of its data sets, systems and runs.

    `leaking` systems have seen test rows: they are shown, but neither ranked nor compared. `variants` maps a variant to
    its published set; it is shown with that set's published figures, and counts in no mean. `absent` says why a data
    set is not available; its places are shown with the published figures, and count in no mean.
    """

    places: tuple[Place, ...]
    systems: tuple[str, ...]
    figures: Mapping[tuple[Place, str], Sequence[Figures]]
    published: Mapping[tuple[Place, str, str], PublishedFigure]
    leaking: frozenset[str]
    n_folds: Mapping[str, int]
    variants: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)

    def runs(self, place: Place, system: str, measured: str) -> Matrix:
        """Return a figure of every run."""
        return np.array([getattr(figures, measured) for figures in self.figures.get((place, system), ())], float)

    def summaries(self, place: Place, measured: str = "auc") -> dict[str, Summary]:
        """Return the summary of every system on one data set."""
        runs = {system: self.runs(place, system, measured) for system in self.systems}
        return summarise_runs(runs, self.n_folds[place[0]], self.leaking)

    def printed(self, place: Place, system: str, measured: str) -> PublishedFigure | None:
        """Return the published figure of a place, for a variant that of its set."""
        name, form = place
        if form == ALL_ROWS:
            form = "unit-variance" if SYSTEMS[system].normalised_by_all else ""
        printed_as = SYSTEMS[system].variant_of or system
        return self.published.get(((self.variants.get(name, name), form), printed_as, measured))

    def mean(self, places: Iterable[Place], system: str, measured: str = "auc") -> float:
        """Return the mean over the places of the mean over runs, NaN if a run failed or there was none."""
        runs = [self.runs(place, system, measured) for place in places]
        return float(np.mean([one.mean() if len(one) else np.nan for one in runs] or [np.nan]))

    def counted(self, form: str = "") -> list[Place]:
        """Return the places that count in means and ranks, in one normalisation or in all."""
        return [
            (name, its_form)
            for name, its_form in self.places
            if name not in self.absent and name not in self.variants and its_form != ALL_ROWS and form in ("", its_form)
        ]

    @property
    def forms(self) -> list[str]:
        """The normalisations."""
        return list(dict.fromkeys(form for _, form in self.places))

    def ranking(self, form: str) -> Ranking | None:
        """Return the ranks by mean AUC over the sets in one normalisation, of the systems that know targets only."""
        places = self.counted(form)
        known = [SYSTEMS[system] for system in self.systems]
        systems = [system.name for system in known if system.validation is None and not system.variant_of]
        scores = np.array([[self.mean([place], system) for system in systems] for place in places])
        return rank_systems(systems, scores.reshape(len(places), len(systems)))

    def reasons(self) -> list[tuple[Place, str, str, int]]:
        """Return (place, system, reason, number of runs) for runs without figures."""
        found = Counter((*key, run.reason) for key, runs in self.figures.items() for run in runs if run.reason)
        return [(*key, count) for key, count in found.items()]


def results_of(
    cells: Iterable[Cell],
    finished: Mapping[tuple[object, ...], Figures],
    published: Iterable[PublishedFigure] = (),
    absent: Mapping[str, str] | None = None,
) -> Results:
    """Gather the finished figures of the planned cells."""
    figures: dict[tuple[Place, str], list[Figures]] = {}
    leaking, n_folds, variants = set(), {}, {}
    for cell in sorted(cells, key=lambda cell: cell.run):
        runs = figures.setdefault(((cell.source.name, cell.normalisation), cell.system), [])
        n_folds[cell.source.name] = cell.source.n_folds
        if cell.source.variant_of:
            variants[cell.source.name] = cell.source.variant_of
        if cell.key in finished:
            runs.append(finished[cell.key])
        if SYSTEMS[cell.system].validation == "leaking" and not cell.source.ships_validation:
            leaking.add(cell.system)
    places = tuple(dict.fromkeys(place for place, _ in figures))
    systems = tuple(dict.fromkeys(system for _, system in figures))
    printed = {((cell.dataset, cell.normalisation), cell.system, cell.quantity): cell for cell in published}
    return Results(places, systems, figures, printed, frozenset(leaking), n_folds, variants, absent or {})


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
        cells = [
            _cell(summaries[place].get(system), results.printed(place, system, measured), measured) for place in places
        ]
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
    rows = [
        [
            "system",
            "accuracy",
            "precision",
            "recall",
            "F",
            "regions",
            "generations",
            "fit, s",
            "score, s",
        ]
    ]
    for system in results.systems:
        means = [_number(results.mean(results.counted(), system, name)) for name in MEASURED[1:]]
        rows.append([_title(results, system), *means])
    return rows


def rank_table(results: Results, form: str) -> Table:
    """Return average rank and mean AUC of each system over the sets in one normalisation, best first."""
    ranking, rows = results.ranking(form), [["system", "average rank", "95 % interval over the sets", "mean AUC"]]
    for name, rank in sorted(ranking.average_ranks.items(), key=lambda item: item[1]) if ranking else ():
        low, high = ranking.intervals[name] if ranking else (np.nan, np.nan)
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
