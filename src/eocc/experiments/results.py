"""Results of many runs -> means, tests and ranks, next to the published figures."""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from eocc.base.types import Matrix
from eocc.experiments.cells import SYSTEMS, Cell, Figures
from eocc.experiments.protocol import ALL_ROWS, Source

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


class Ranked(NamedTuple):
    """A system with its average rank, 1 = best, and its bootstrap interval."""

    name: str
    rank: float
    low: float
    high: float


@dataclass(frozen=True)
class Ranking:
    """The ranked systems, best first; the Friedman test's p; Nemenyi's critical difference.

    The Nemenyi test applies only if the Friedman test finds a difference, `is_significant`.
    """

    systems: list[Ranked]
    friedman_p: float
    critical_difference: float
    n_cells: int
    is_significant: bool


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
    ranked = [Ranked(*one) for one in zip(names, *map(np.ndarray.tolist, ranks_and_intervals(ranks)), strict=True)]
    best_first = sorted(ranked, key=lambda one: one.rank)
    return Ranking(best_first, float(friedman), critical, n_cells, bool(friedman < SIGNIFICANCE))


def ranks_and_intervals(ranks: Matrix) -> tuple[Matrix, ...]:
    """Return the mean of each column over the rows, and the ends of its 95 % bootstrap interval."""
    n = len(ranks)
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=10_000)
    low, high = np.quantile(drawn @ ranks / n, [SIGNIFICANCE / 2, 1 - SIGNIFICANCE / 2], axis=0)
    return ranks.mean(axis=0), low, high


Place = tuple[str, str]  # data set, normalisation

MEASURED = ("auc", "accuracy", "precision", "recall", "f_measure", "regions", "generations", "fit_seconds",
            "score_seconds")  # fmt: skip


class Results:
    """The finished cells among those planned, in the order of data sets, systems and runs.

    `figures` has those of the runs by (place, system). `leaking` systems have seen test rows: they are shown, but
    neither ranked nor compared. `sources` are the data sets by name; a variant is shown with the published figures of
    its set, and counts in no mean. `absent` says why a data set is not available; its places are shown with the
    published figures, and count in no mean.
    """

    def __init__(
        self, cells: Iterable[Cell], finished: Mapping[tuple[object, ...], Figures],
        published: Iterable[PublishedFigure] = (), absent: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.figures: dict[tuple[Place, str], list[Figures]] = {}
        self.sources, self.leaking, self.absent = dict[str, Source](), set[str](), absent or {}
        for cell in sorted(cells, key=lambda cell: cell.run):
            runs = self.figures.setdefault(((cell.source.name, cell.normalisation), cell.system), [])
            runs += [finished[cell.key]] if cell.key in finished else []
            self.sources[cell.source.name] = cell.source
            if SYSTEMS[cell.system].validation == "leaking" and not cell.source.ships_validation:
                self.leaking.add(cell.system)
        self.places = tuple(dict.fromkeys(place for place, _ in self.figures))
        self.systems = tuple(dict.fromkeys(system for _, system in self.figures))
        self.forms = tuple(dict.fromkeys(form for _, form in self.places))
        self.published = {((one.dataset, one.normalisation), one.system, one.quantity): one for one in published}

    def runs(self, place: Place, system: str, measured: str) -> Matrix:
        """Return a figure of every run."""
        return np.array([getattr(figures, measured) for figures in self.figures.get((place, system), ())], float)

    def summaries(self, place: Place, measured: str = "auc") -> dict[str, Summary]:
        """Return the summary of every system on one data set."""
        runs = {system: self.runs(place, system, measured) for system in self.systems}
        return summarise_runs(runs, self.sources[place[0]].n_folds, self.leaking)

    def printed(self, place: Place, system: str, measured: str) -> PublishedFigure | None:
        """Return the published figure of a place, for a variant that of its set."""
        name, form = place
        if form == ALL_ROWS:
            form = "unit-variance" if SYSTEMS[system].normalised_by_all else ""
        printed_as = SYSTEMS[system].variant_of or system
        return self.published.get(((self.sources[name].variant_of or name, form), printed_as, measured))

    def mean(self, places: Iterable[Place], system: str, measured: str = "auc") -> float:
        """Return the mean over the places of the mean over runs, NaN if a run failed or there was none."""
        runs = [self.runs(place, system, measured) for place in places]
        return float(np.mean([one.mean() if len(one) else np.nan for one in runs] or [np.nan]))

    def counted(self, form: str = "") -> list[Place]:
        """Return the places that count in means and ranks, in one normalisation or in all."""
        apart = {*self.absent, *(name for name, source in self.sources.items() if source.variant_of)}
        return [place for place in self.places
                if place[0] not in apart and place[1] != ALL_ROWS and form in ("", place[1])]  # fmt: skip

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
