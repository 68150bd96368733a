"""A fit in numbers -> its plan: the bytes it adds, part by part, and about how long it takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from eocc.calibration.conformal import N_FOLDS
from eocc.classifiers.plan.costs import cost_of
from eocc.classifiers.plan.stages import Case, columns_of, differences_summed, greediest
from eocc.foundation.arguments import check_count, n_threads
from eocc.neighbours.nearest import EXACT_ROWS
from eocc.regions.fuzzy import Fuzzification, knows_sums
from eocc.regions.performance import ScorerPerformance, resolve_performance
from eocc.search.protocol import Search
from eocc.search.run import resolve_search
from eocc.space.prototypes.k_medoids import SAMPLE as SWAPPED
from eocc.space.prototypes.k_medoids import KMedoids
from eocc.space.prototypes.protocol import Selection
from eocc.space.prototypes.select import count_of, resolve_selection
from eocc.synthesis.graph_kinds import N_NEIGHBOURS, CompleteGraph, GraphKind, resolve_graph

COMPLETE, KNN, AUTO = "complete", "knn", "auto"
# Where the user leaves the graph to us: up to here all pairs take seconds, and the model is the paper's.
COMPLETE_UP_TO = 5000
# What small arrays, threads and Python's own objects take in any fit.
ANYWAY = 2**19
# Seconds on one core of 2025; benchmarks/memory.py compares. A product of matrices does PRODUCTS multiplications a
# second; a pair of the complete graph takes PAIR besides, and PAIR_ONCE where its model is built. A dissimilarity that
# surprise looks at takes RANKED, a row of neighbours ROW for 16 components and ROW_BY_COLUMN for each prototype, the
# components EIGEN for the third power of the prototypes. Regions rebuilt for all partitions take REBUILT for each pair,
# those measured by sums DIFFERENCE for each number of a pair. Where others are known, CONTRASTED for each number of a
# pair of patterns; a row of neighbours and a pattern that validates COUNTED, a partition and one that is graded GRADED.
CONTRASTED, COUNTED, GRADED = 4e-9, 1.8e-9, 3.4e-6
PRODUCTS, PAIR, PAIR_ONCE, RANKED, REBUILT, DIFFERENCE = 43e9, 5e-9, 55e-9, 20e-9, 2.8e-6, 0.15e-9
ROW, ROW_BY_COLUMN, EIGEN, START = 20e-6, 0.14e-6, 0.32e-9, 0.05
# A search stops when nothing gets better: after about so many times its patience.
PATIENCES = 2
USUAL_SIZE, USUAL_GENERATIONS, USUAL_PATIENCE = 30, 100, 10


@dataclass(frozen=True)
class Plan:
    """What a fit does and takes: `parts` are the arrays alive at its `peak`, in bytes; `seconds` is a guess.

    The interpreter, compiled code and the user's own data are not counted: the peak is what the fit adds to them.
    """

    n: int
    prototypes: int
    graph: str
    n_jobs: int
    seconds: float
    parts: Mapping[str, int] = field(default_factory=dict)

    @property
    def peak(self) -> int:
        """The bytes that the fit adds at most."""
        return sum(self.parts.values())

    @property
    def settings(self) -> dict[str, Any]:
        """The classifier's arguments that make this plan."""
        prototypes = None if self.prototypes == self.n else self.prototypes
        return {"prototypes": prototypes, "graph": self.graph, "n_jobs": self.n_jobs}


def name_of_graph(kind: GraphKind) -> str:
    """Return the name of a kind of graph; what is not of all pairs counts as sparse, as it gets no room for them.

    >>> name_of_graph(CompleteGraph())
    'complete'
    """
    return COMPLETE if isinstance(kind, CompleteGraph) else KNN


@dataclass(frozen=True)
class Request:
    """What a user asks for, as in the classifier; `n_features` is the size of a pattern, `n_others` are known beside n.

    With resolution="multi" these are not targets, and `n_more` are; else they are all that validate. `fuzzification` is
    how clusters become regions, None as by default.

    >>> Request(1000, 10).plan().graph, Request(100_000, 10, prototypes=256).plan().graph
    ('complete', 'knn')
    >>> Request(10_000, 10).plan().graph
    'complete'
    """

    n: int
    n_features: int
    measure: Any = "euclidean"
    prototypes: int | float | None = None
    graph: str | GraphKind = AUTO
    resolution: str = "multi"
    search: str | Search | None = AUTO
    n_jobs: int | None = None
    false_alarm_rate: float | None = None
    n_others: int = 0
    selection: str | Selection = "random"
    n_more: int = 0
    precision: str = "double"
    performance: Any = "accuracy"
    fuzzification: Fuzzification | None = None

    def plan(self) -> Plan:
        """Return what it takes; graph="auto" is what it would be with any amount of memory."""
        case = self.case()
        sizes = {"the rest": ANYWAY, **greediest(case)}
        parts = {name: round(size) for name, size in sorted(sizes.items(), key=lambda item: -item[1])}
        graph = COMPLETE if case.is_complete else KNN
        return Plan(self.n, case.r, graph, n_threads(self.n_jobs), self._seconds(case), parts)

    def case(self) -> Case:
        """Return the fit in numbers."""
        cost, kind, how = cost_of(self.measure), self._graph(), self.fuzzification
        validates = self.resolution != "multi" and self.n_others > 0
        is_scored = validates and isinstance(resolve_performance(self.performance), ScorerPerformance)
        return Case(
            n=self.n,
            size=self.n_features if cost.numbers else 0,
            r=count_of(self.prototypes, self.n),
            cost=cost,
            is_complete=name_of_graph(kind) == COMPLETE,
            k=getattr(kind, "k", N_NEIGHBOURS),
            is_multi=self.resolution == "multi",
            n_searching=n_threads(self.n_jobs) if self._search() is not None and cost.has_weights else 0,
            is_calibrated=self.false_alarm_rate is not None,
            n_others=self.n_others,
            n_compared=SWAPPED if isinstance(resolve_selection(self.selection), KMedoids) else 0,
            n_more=self.n_more,
            is_single=self.precision == "single",
            have_sums=how is None or how.takes_sums,
            has_centre=how is None or knows_sums(how.representative, "centre"),
            are_rebuilt=is_scored or (validates and not (how is None or how.gives_balls)),
            are_graded=is_scored,
            n_threads=n_threads(self.n_jobs),
        )

    def _graph(self) -> GraphKind:
        """Return the kind of graph: of "auto" that with all pairs for few patterns, and where the other is slower."""
        if not (isinstance(self.graph, str) and self.graph == AUTO):
            return resolve_graph(self.graph)
        if self.n <= COMPLETE_UP_TO:
            return resolve_graph(COMPLETE)
        seconds = {name: replace(self, graph=name).plan().seconds for name in (KNN, COMPLETE)}
        return resolve_graph(min(seconds, key=seconds.__getitem__))

    def _search(self) -> Search | None:
        if isinstance(self.search, str) and self.search == AUTO:
            return None if self.resolution == "multi" else resolve_search("genetic")
        return None if self.search is None else resolve_search(self.search)

    def _seconds(self, case: Case) -> float:
        """Return a guess, right to a factor of two or so on one core of 2025."""
        pair = case.cost.seconds_a_pair(self.n_features)
        again = case.cost.kept * 1e-9 or pair
        seconds = START + case.n * case.r * pair + _embedding_seconds(case, again)
        seconds += PAIR_ONCE * case.n**2 if case.is_complete else DIFFERENCE * differences_summed(case)
        if case.is_multi:
            seconds += 2 * case.n * case.r * (RANKED + again)
            n_all = case.n + case.n_others + case.n_more
            seconds += CONTRASTED * n_all * (case.r + case.n_others) * max(1, case.size) if case.n_others else 0.0
        if case.n_searching:
            seconds += _candidates(self._search()) * _embedding_seconds(case.searched, again) / case.n_searching
        return seconds * (1 + N_FOLDS if case.is_calibrated and not case.is_multi else 1)


def _embedding_seconds(case: Case, pair: float) -> float:
    """Return the time for one dissimilarity space and its graph."""
    seconds = case.n * case.r * pair
    if case.is_complete:
        seconds += GRADED * case.n * case.n_others if case.are_graded else 0.0
        return seconds + case.n**2 * (PAIR + case.r / PRODUCTS + (REBUILT if case.are_rebuilt else 0.0))
    rows = case.n * (ROW * columns_of(case) / 16 + ROW_BY_COLUMN * case.r)
    seconds += 0.0 if case.is_multi or case.are_rebuilt else COUNTED * case.n * case.n_others
    return seconds + (rows + EIGEN * case.r**3 if case.n > EXACT_ROWS else case.n**2 * (PAIR_ONCE + case.r / PRODUCTS))


def _candidates(search: Any) -> int:
    most = getattr(search, "max_generations", None) or USUAL_GENERATIONS
    patience = getattr(search, "patience", None) or USUAL_PATIENCE
    return (getattr(search, "population_size", None) or USUAL_SIZE) * min(most, PATIENCES * patience)


def plan_for(
    n: int,
    n_features: int,
    measure: Any = "euclidean",
    prototypes: int | float | None = None,
    graph: str | GraphKind = AUTO,
    resolution: str = "multi",
    search: str | Search | None = AUTO,
    n_jobs: int | None = None,
    false_alarm_rate: float | None = None,
    n_others: int = 0,
    selection: str | Selection = "random",
    n_more: int = 0,
    precision: str = "double",
    performance: Any = "accuracy",
    fuzzification: Fuzzification | None = None,
) -> Plan:
    """Return what a fit to n patterns of n_features numbers (symbols, steps, vertices) would take.

    >>> plan = plan_for(10_000, 10, prototypes=100, graph="complete")
    >>> plan.parts["distances of all pairs"] == 8 * 10_000**2
    True
    >>> 0.80e9 < plan.peak < 0.82e9
    True
    """
    for name, count, least in (
        ("n", n, 1), ("n_features", n_features, 1), ("n_others", n_others, 0), ("n_more", n_more, 0)
    ):  # fmt: skip
        check_count(name, count, least)
    return Request(
        n, n_features, measure, prototypes, graph, resolution, search, n_jobs, false_alarm_rate, n_others, selection,
        n_more, precision, performance, fuzzification,
    ).plan()  # fmt: skip
