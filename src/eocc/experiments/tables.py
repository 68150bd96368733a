"""Results of many runs -> means, tests, ranks, and tables next to the published ones, as Markdown and CSV."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from eocc.base.types import Matrix
from eocc.experiments.cells import SYSTEMS, Cell, Figures
from eocc.experiments.protocol import ALL_ROWS

TABLES = ("uci_low", "uci_high", "iam")


class PublishedFigure(NamedTuple):
    """One cell of a table: a mean over runs and its standard deviation, None where the paper prints a dash.

    `significant` says that the cell is bold: the best by the paper's t-test. The table of graph sets has no bold cells.
    """

    table: str
    normalisation: str
    dataset: str
    system: str
    quantity: str
    mean: float | None
    std: float | None
    significant: bool


def published(table: str) -> list[PublishedFigure]:
    """Return the cells of one of the TABLES: "auc", in "iam" also "accuracy" and "regions".

    >>> first = published("uci_low")[0]
    >>> first.dataset, first.system, first.mean, first.std
    ('AB', 'EOCC-1', 0.685, 0.013)
    """
    text = files("eocc").joinpath("experiments", "published", f"{table}.csv").read_text(encoding="utf-8")
    cells: list[dict[str, Any]] = list(csv.DictReader(text.splitlines()))
    for cell in cells:
        cell |= {name: float(cell[name]) if cell[name] else None for name in ("mean", "std")}
        cell["significant"] = cell["significant"] == "1"
    return [PublishedFigure(**cell) for cell in cells]


SIGNIFICANCE = 0.05


class Summary(NamedTuple):
    """The mean over runs and standard deviations; `is_best` where no system is significantly better."""

    mean: float
    std_repetitions: float
    std_folds: float
    n_runs: int
    is_best: bool


def summarise_runs(runs_by_system: Mapping[str, Matrix], n_folds: int = 1, apart: Any = ()) -> dict[str, Summary]:
    """Summarise the runs of each system on one data set, `n_folds` per repetition; higher is better.

    The best mean is marked, and all that do not differ significantly from it by a paired t-test over the runs: all
    systems have the same folds (departure: t test). Systems in `apart`, and single runs, are not compared.
    """
    full = {name: runs for name, runs in runs_by_system.items() if len(runs) and not np.isnan(runs).any()}
    compared = {name: runs for name, runs in full.items() if name not in apart and len(runs) > 1}
    best = max(compared.values(), key=lambda runs: float(runs.mean()), default=np.empty(0))
    marked = {name for name, runs in compared.items() if not differs(best, runs)}
    return {name: Summary(float(runs.mean()), *deviations(runs, n_folds), len(runs), name in marked)
            for name, runs in full.items()}  # fmt: skip


def deviations(runs: Matrix, n_folds: int) -> tuple[float, float]:
    """Return the standard deviation of the means of the repetitions, and that over the folds within a repetition."""
    whole = runs[: len(runs) // n_folds * n_folds].reshape(-1, n_folds)
    over_repetitions = float(whole.mean(axis=1).std(ddof=1)) if len(whole) > 1 else np.nan
    over_folds = float(np.sqrt(whole.var(axis=1, ddof=1).mean())) if n_folds > 1 and len(whole) else np.nan
    return over_repetitions, over_folds


def differs(one: Matrix, other: Matrix) -> bool:
    """Return whether the runs differ by a paired t-test at 5 %."""
    n = min(len(one), len(other))
    difference = one[:n] - other[:n]
    # Runs that differ by rounding, or all by the same amount, have no variance to test with.
    if n < 2 or np.ptp(difference) <= 1e-12:
        return bool(abs(difference.mean()) > 1e-12)
    return bool(stats.ttest_1samp(difference, 0.0).pvalue < SIGNIFICANCE)


@dataclass(frozen=True)
class Ranking:
    """Average ranks, 1 = best, with bootstrap intervals; the Friedman test's p; Nemenyi's critical difference."""

    average_ranks: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    friedman_p: float
    critical_difference: float
    n_cells: int

    @property
    def is_significant(self) -> bool:
        """Whether the Friedman test finds a difference; only then does the Nemenyi test apply."""
        return self.friedman_p < SIGNIFICANCE


def rank_systems(names: Sequence[str], scores: Matrix) -> Ranking | None:
    """Rank systems by their scores, of shape (data cells, systems); a missing score ranks last."""
    n_cells, n_systems = scores.shape
    if n_cells < 2 or n_systems < 3:  # too few for the Friedman test
        return None
    # Means that differ only in the ninth digit are equal.
    ranks = stats.rankdata(-np.where(np.isnan(scores), -np.inf, scores.round(9)), axis=1)
    friedman = stats.friedmanchisquare(*ranks.T).pvalue if np.ptp(ranks) > 0 else 1.0
    # Nemenyi (Demšar 2006): q is the studentised range over sqrt(2).
    q = stats.studentized_range.ppf(1 - SIGNIFICANCE, n_systems, np.inf) / np.sqrt(2)
    critical = float(q * np.sqrt(n_systems * (n_systems + 1) / (6 * n_cells)))
    averages = dict(zip(names, map(float, ranks.mean(axis=0)), strict=True))
    intervals = dict(zip(names, map(tuple, bootstrap_intervals(ranks).tolist()), strict=True))
    return Ranking(averages, intervals, float(friedman), critical, n_cells)


def bootstrap_intervals(values: Matrix) -> Matrix:
    """Return the 95 % bootstrap interval (low, high) of each column's mean over the rows."""
    n = len(values)
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=10_000)
    tails = [SIGNIFICANCE / 2, 1 - SIGNIFICANCE / 2]
    return np.asarray(np.quantile(drawn @ values / n, tails, axis=0).T)


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
        apart = {*self.absent, *self.variants}
        return [place for place in self.places
                if place[0] not in apart and place[1] != ALL_ROWS and form in ("", place[1])]  # fmt: skip

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
