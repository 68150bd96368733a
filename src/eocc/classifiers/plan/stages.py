"""The stages of a fit -> the arrays that each holds at once, in bytes; in the order of the work.

Every entry is an array of the code, or several that live together. A fit's peak is that of its greediest stage.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from eocc.classifiers.plan.costs import MeasureCost
from eocc.measures.largest import BLOCK
from eocc.neighbours.nearest import EXACT_COLUMNS, EXACT_ROWS, QUERIES, n_candidates
from eocc.neighbours.nearest import SAMPLE as PROJECTED
from eocc.neighbours.nearest import WIDTH as VECTOR
from eocc.regions.sampled import FIRST_SPLITS, MOST_MEMBERS, MOST_PAIRED, SHORTEST, most_summed
from eocc.space.representation import BLOCK as ROWS_AT_ONCE
from eocc.synthesis.synthesis import SEARCHED

DOUBLE = 8
# Of n k neighbours, the pairs that are different; two near each other list each other.
DISTINCT = 0.65
# Components that keep the neighbours of patterns whose own dimension nobody knows.
COLUMNS_OF_OBJECTS = 32
FOLDS_KEEP = 0.9
# Dissimilarities to patterns of one kind, and what is made of each row.
CONTRASTED = 1.1
# Numbers that surprise has of every pattern: distances on the ladder, ratios, terms in several units.
TERMS = 24.0
# With labels, also densities along every weight: of all patterns, in units, and what threads have freed meanwhile.
DENSITIES = 3.0
# Of all pairs, those within the largest region: 1 where all patterns are one cluster, near 0 where they are many. Only
# the fit will tell; this share keeps the plan within 30 % of either.
IN_ONE_REGION = 0.45
# Where sums do not tell: half of a region's distances, every pair once, which an extent sorts or takes differences of.
REGION = 1.0
# Ratios of validation patterns to all regions, copied for one partition; a scorer's grades take some more.
COUNTED, GRADED = 1.5, 5.0
# Room for distances of which single precision fills one half: the rest is allocated, but seldom resident.
HALF_FILLED = 0.75
# What one thread has freed is seldom all given back by the time the next one works: the share that stays resident.
NOT_GIVEN_BACK = 0.5

Parts = dict[str, float]


@dataclass(frozen=True)
class Case:
    """A fit in numbers: n patterns of `size` numbers (rows only, else 0), r prototypes, the graph, the work.

    `n_searching` threads search, 0 for no search; `n_others` are known beside the n, and `n_more` targets;
    `is_calibrated` by folds; `n_compared` patterns are compared with each other to choose prototypes. The search
    `is_single` in precision. Regions `have_sums` where these tell all, `has_centre` where they tell the centre; those
    that validate `are_rebuilt` at every split where counts alone do not tell, and `are_graded` where a scorer judges.
    Blocks go to `n_threads`.
    """

    n: int
    size: int
    r: int
    cost: MeasureCost
    is_complete: bool
    k: int
    is_multi: bool
    n_searching: int
    is_calibrated: bool
    n_others: int
    n_compared: int = 0
    n_more: int = 0
    is_single: bool = False
    have_sums: bool = True
    has_centre: bool = True
    are_rebuilt: bool = False
    are_graded: bool = False
    n_threads: int = 1

    @property
    def pairs(self) -> float:
        """The bytes of n x r doubles."""
        return float(DOUBLE * self.n * self.r)

    @property
    def square(self) -> float:
        """The bytes of n x n doubles."""
        return float(DOUBLE * self.n * self.n)

    @property
    def is_whole(self) -> bool:
        """Whether every pattern is a prototype."""
        return self.r == self.n

    @property
    def searched(self) -> "Case":
        """The fit as a search sees it: over neighbours, all pairs of a sample."""
        if self.is_complete or self.n <= SEARCHED:
            return self
        return replace(self, n=SEARCHED, is_complete=True)

    def kept(self) -> Parts:
        """Return what is held from beginning to end."""
        beside = 2 * (self.n_others + self.n_more)  # as read, and those of either kind
        copied = self.n if self.n_others else 0
        return {
            "patterns": DOUBLE * max(1.0 * self.n, self.size * (self.n * self.cost.numbers + copied + beside)),
            "prepared comparisons": self.cost.kept * self.pairs,
        }

    def compared(self) -> Parts:
        """Return what is held from the search to the model: where it looks at a sample, that is compared apart."""
        part = self.searched
        is_apart = self.n_searching and part.n < self.n
        return {**self.kept(), "comparisons searched": self.cost.kept * part.pairs if is_apart else 0.0}


def freezing(case: Case) -> Parts:
    """Return what finds the scale of the measure: among all patterns, or a block of them against the prototypes."""
    block = min(case.pairs, DOUBLE * BLOCK) * (1 + case.cost.kept + case.cost.preparing)
    few = max(block, case.cost.freezing_few * case.square)
    return {
        "patterns": case.kept()["patterns"],
        "scale of the measure": case.cost.freezing * case.square if case.is_whole else few,
    }


def selecting(case: Case) -> Parts:
    """Return what choosing prototypes takes: a sample compared with itself, and a copy."""
    matrices = max(2.0, 1 + case.cost.kept + case.cost.evaluating)
    return {
        "patterns": case.kept()["patterns"],
        "comparisons of candidates": matrices * DOUBLE * min(case.n, case.n_compared) ** 2,
    }


def preparing(case: Case) -> Parts:
    """Return what all weights share, and what computing it takes."""
    return {**case.kept(), "while comparing": case.cost.preparing * case.pairs}


def searching(case: Case) -> Parts:
    """Return a space and its graph for every thread; where the graph is sparse, those of a sample."""
    if not case.n_searching:
        return {}
    return {
        **case.compared(),
        "workspaces of the search": _searches(case),
        "validation": case.n_searching * _validation(case.searched),
    }


def _searches(case: Case) -> float:
    """Return what all threads of the search hold together."""
    part = case.searched
    weighting = part.cost.evaluating * part.pairs
    return case.n_searching * (_workspace(part) + max(weighting, _graph_of(part)))


def _workspace(case: Case) -> float:
    """Return the space and the distances of one thread."""
    distances = case.square if case.is_complete else 0.0
    return case.pairs + (HALF_FILLED if case.is_single else 1.0) * distances


def _graph_of(case: Case) -> float:
    """Return what building a graph takes beside its workspace: neighbours, or rows in single precision."""
    if case.is_complete:
        return case.pairs / 2 if case.is_single else 0.0
    return sum(_neighbour_lists(case).values())


def embedding(case: Case) -> Parts:
    """Return the dissimilarity space and the graph over it."""
    weighting = {"weighting": case.cost.evaluating * case.pairs}
    over = {"distances of all pairs": case.square} if case.is_complete else _neighbour_lists(case)
    if case.is_complete:  # there is room for the distances from the start
        over |= weighting
    elif sum(weighting.values()) > sum(over.values()):
        over = weighting
    return {**case.compared(), "dissimilarity space": case.pairs, **over}


def _neighbour_lists(case: Case) -> Parts:
    """Return what finds the k nearest of every row; see `eocc.neighbours.nearest` and `eocc.graph.neighbour_graph`."""
    k = min(case.k, max(1, case.n - 1))
    candidates = n_candidates(k)
    if case.n <= EXACT_ROWS or 8 * candidates > case.n:
        return {"distances of all pairs": case.square + max(case.square, case.pairs)}
    if case.r <= EXACT_COLUMNS:
        return {"neighbour lists": 40.0 * case.n * k}
    points = 4.0 * columns_of(case)
    search = max(4 * points + 9 * candidates, points + 16.5 * candidates) + 16
    joining = max(28 + 16 * DISTINCT, 12 + 24 * DISTINCT + 3 * points / k) * k
    projection, lists = _projection(case), case.n * max(search, joining)
    return {"projection of a sample": projection} if projection > lists else {"neighbour lists": lists}


def _projection(case: Case) -> float:
    """Return a sample's rows with differences of them; or, while its axes are found, with what LAPACK copies."""
    sample = min(case.n, PROJECTED)
    axes = max(4 * sample * case.r + case.r**2, sample * case.r + 5 * case.r**2)
    return float(DOUBLE * (axes + 3 * QUERIES * sample))


def columns_of(case: Case) -> int:
    """Return about how many components keep the neighbours: as many as patterns have dimensions."""
    dimension = case.size if case.cost.is_euclidean else COLUMNS_OF_OBJECTS
    return min(-(-dimension // VECTOR) * VECTOR, -(-case.r // VECTOR) * VECTOR)


def _held(case: Case) -> Parts:
    """Return the space and what lasts of the graph over it, beside the workspaces of threads that have no more work."""
    over = {"distances of all pairs": case.square}
    if not case.is_complete:
        over = {"neighbour lists": case.n * ((12 + 16 * DISTINCT) * case.k + 24 + 100)}
    # A search on a sample, or in single precision, is over and gone when its best is judged again.
    is_over = case.is_single or case.searched is not case
    idle = 0.0 if is_over else max(0, case.n_searching - 1) * _workspace(case)
    return {**case.compared(), "dissimilarity space": case.pairs, **over, "workspaces of the search": idle}


def validating(case: Case) -> Parts:
    """Return what the paper's validation takes once the graph is there."""
    return {**_held(case), "validation": _validation(case)}


def _validation(case: Case) -> float:
    """Return validation patterns in the space, beside what compares them with all regions of all partitions."""
    if case.is_multi or not case.n_others:
        return 0.0
    rows, ratios = float(DOUBLE * case.n_others * case.r), float(DOUBLE * case.n_others * case.n)
    kept = (1 + case.cost.kept) * rows
    if case.are_rebuilt:
        ratios = ratios if case.is_complete else DOUBLE * min(case.n, FIRST_SPLITS + 1.0) * case.n_others
        judged = ratios * (GRADED if case.are_graded else COUNTED)
        return kept + ratios + max(judged, _largest_region(case, 1.0))  # the first parts of the tree are large
    if case.is_complete:  # products in single precision, then decisions of one byte
        return kept + max(2 * rows, rows / 2 + case.pairs / 2 + ratios / 2, ratios * 5 / 8)
    return kept + max(2 * rows, _projection(case), 4.0 * columns_of(case) * (case.n + 2 * case.n_others) + 100 * case.n)


def _largest_region(case: Case, share: float) -> float:
    """Return copies of the distances within a region that holds that share of all pairs."""
    if not case.is_complete:
        case = replace(case, n=min(case.n, MOST_MEMBERS))
        return (1 + REGION) * case.square + 2 * case.pairs
    copied = 0.0 if case.have_sums else REGION * case.square
    return share * (copied if case.has_centre else max(copied, case.square + case.pairs))


def regions(case: Case) -> Parts:
    """Return what measuring clusters takes: with all pairs, for most patterns may be in one."""
    if case.is_complete:
        return {**_held(case), "largest region": _largest_region(case, IN_ONE_REGION)}
    if case.have_sums:
        return {**_held(case), "largest region": float(DOUBLE * members_measured(case) * case.r)}
    sample = replace(case, n=min(case.n, MOST_PAIRED))
    return {**_held(case), "largest region": (1 + REGION) * sample.square + 2 * sample.pairs}


def members_measured(case: Case) -> int:
    """Return the members whose distances are summed, if all patterns are one cluster."""
    return min(case.n, most_summed(np.array([case.n]), case.r))


def differences_summed(case: Case) -> float:
    """Return how many differences of two numbers that takes."""
    return float(members_measured(case) ** 2 * max(case.r, SHORTEST)) if case.have_sums else 0.0


def surprise(case: Case) -> Parts:
    """Return the dissimilarities that surprise ranks, all at once or by blocks."""
    if not case.is_multi:
        return {}
    rows = (1 + case.cost.evaluating) * case.pairs
    if case.cost.is_euclidean and not case.is_whole:
        rows = min(2 * rows, _blocks(case)) + 2.0 * DOUBLE * case.r**2
    return {**case.kept(), "dissimilarities by blocks": rows, "terms of surprise": TERMS * DOUBLE * case.n}


def contrast(case: Case) -> Parts:
    """Return what it takes to tell patterns from known others: rows of numbers go by blocks, others all at once."""
    if not (case.is_multi and case.n_others):
        return {}
    most = DOUBLE * max(case.n, case.n_others, case.n_more)  # the others are compared in the same ways
    beside = (case.n_others + case.n_more) * (case.r + case.n_others)
    rows = (CONTRASTED + case.cost.evaluating) * most * max(case.r, case.n_others)
    if case.cost.is_euclidean:
        rows = min(rows, _blocks(case))
    n_all, kept = case.n + case.n_others + case.n_more, case.kept()
    if case.cost.is_euclidean and not case.is_whole:
        kept["patterns"] -= DOUBLE * case.size * case.n  # all rows at once are no longer needed
    return {
        **kept,
        "comparisons with others": case.cost.kept * DOUBLE * (case.n * case.n_others + beside),
        "dissimilarities by blocks": rows,
        "terms of surprise": (TERMS + DENSITIES * case.size) * DOUBLE * n_all,
    }


def _blocks(case: Case) -> float:
    """Return blocks of dissimilarities, one for each thread, and what is made of them."""
    return CONTRASTED * DOUBLE * ROWS_AT_ONCE * case.n_threads


def folds(case: Case) -> Parts:
    """Return what calibration takes: ten fits, each to nine tenths of the patterns, while the model of all waits."""
    if case.is_multi or not case.is_calibrated:
        return {}
    n = max(1, round(FOLDS_KEEP * case.n))
    fold = replace(case, n=n, r=n if case.is_whole else min(case.r, n), is_calibrated=False)
    return {
        "comparisons of all": sum(case.kept().values()),
        "freed, not given back": NOT_GIVEN_BACK * (_workspace(fold) + _graph_of(fold)),
        **greediest(fold),
    }


STAGES: tuple[Callable[[Case], Parts], ...] = (
    freezing, selecting, preparing, searching, embedding, validating, regions, surprise, contrast, folds,
)  # fmt: skip


def greediest(case: Case) -> Parts:
    """Return the arrays of the stage that holds most; nothing that is empty."""
    most = max(_stages(case), key=lambda parts: sum(parts.values()))
    return {name: size for name, size in most.items() if size > 0}


def _stages(case: Case) -> Iterator[Parts]:
    for stage in STAGES:
        yield stage(case)
