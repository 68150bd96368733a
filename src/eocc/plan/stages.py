"""The stages of a fit -> the arrays that each holds at once, in bytes; in the order of the work.

Every entry is an array of the code, or several that live together. A fit's peak is that of its greediest stage.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from eocc.measures.largest import BLOCK
from eocc.neighbours import EXACT_COLUMNS, EXACT_ROWS, QUERIES, n_candidates
from eocc.neighbours import SAMPLE as PROJECTED
from eocc.neighbours import WIDTH as VECTOR
from eocc.plan.costs import MeasureCost
from eocc.representation import SAMPLE as ROUGH
from eocc.synthesis import SEARCHED

DOUBLE = 8
# Of n k neighbours, the pairs that are different; two near each other list each other.
DISTINCT = 0.65
# Components that keep the neighbours of patterns whose own dimension nobody knows.
COLUMNS_OF_OBJECTS = 32
FOLDS_KEEP = 0.9
# Dissimilarities of patterns to known others pass through so many arrays on their way to a logarithm.
CONTRASTED = 2

Parts = dict[str, float]


@dataclass(frozen=True)
class Case:
    """A fit in numbers: n patterns of `size` numbers (rows only, else 0), r prototypes, the graph, the work.

    `n_searching` threads search, 0 for no search; `n_others` are known beside the n, `is_calibrated` by folds;
    `n_compared` patterns are compared with each other to choose prototypes.
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
    def searched(self) -> int:
        """The patterns a search looks at."""
        return self.n if self.is_complete else min(self.n, SEARCHED)

    def kept(self) -> Parts:
        """Return what is held from beginning to end."""
        return {
            "patterns": DOUBLE * self.n * max(1.0, self.size * self.cost.numbers),
            "prepared comparisons": self.cost.kept * self.pairs,
        }


def freezing(case: Case) -> Parts:
    """Return what finds the scale of the measure: among all patterns, or a block of them against the prototypes."""
    whole = case.cost.freezing if case.is_whole else case.cost.freezing_few
    rough = case.cost.freezing * DOUBLE * min(case.n, ROUGH) ** 2
    block = min(case.pairs, DOUBLE * BLOCK) * (1 + case.cost.kept + case.cost.preparing)
    return {
        "patterns": case.kept()["patterns"],
        "scale of the measure": whole * case.square if case.is_whole else max(rough, block, whole * case.square),
    }


def selecting(case: Case) -> Parts:
    """Return what choosing prototypes takes: a sample compared with itself, and a copy."""
    return {**case.kept(), "comparisons of candidates": 2.0 * DOUBLE * min(case.n, case.n_compared) ** 2}


def preparing(case: Case) -> Parts:
    """Return what all weights share, and what computing it takes."""
    return {**case.kept(), "while comparing": case.cost.preparing * case.pairs}


def searching(case: Case) -> Parts:
    """Return a space and its graph for every thread; where the graph is sparse, those of a sample."""
    if not case.n_searching:
        return {}
    part = replace(case, n=case.searched, is_complete=case.is_complete or case.n > SEARCHED)
    return {
        **case.kept(),
        "comparisons searched": case.cost.kept * part.pairs if part.n < case.n else 0.0,
        "workspaces of the search": case.n_searching * (_workspace(part) + case.cost.evaluating * part.pairs),
        "validation": case.n_searching * _validation(part),
    }


def _workspace(case: Case) -> float:
    return case.pairs + (case.square if case.is_complete else sum(_neighbour_lists(case).values()))


def _validation(case: Case) -> float:
    """Return what the paper's validation takes: the space in single precision, and products with the others."""
    if case.is_multi or not case.n_others:
        return 0.0
    products = 5.0 * case.n * case.n_others if case.is_complete else 0.0  # neighbours are compared one by one
    return 2.0 * DOUBLE * case.n_others * case.r + case.pairs / 2 + products


def embedding(case: Case) -> Parts:
    """Return the dissimilarity space and the graph over it."""
    over = {"distances of all pairs": case.square} if case.is_complete else _neighbour_lists(case)
    return {
        **case.kept(),
        "dissimilarity space": case.pairs,
        "weighting": case.cost.evaluating * case.pairs,
        "validation": _validation(case),
        **over,
    }


def _neighbour_lists(case: Case) -> Parts:
    """Return what finds the k nearest of every row; see `eocc.neighbours` and `eocc.sparse_graph`."""
    k = min(case.k, max(1, case.n - 1))
    candidates = n_candidates(k)
    if case.n <= EXACT_ROWS or 8 * candidates > case.n:
        return {"distances of all pairs": case.square + max(case.square, case.pairs)}
    if case.r <= EXACT_COLUMNS:
        return {"neighbour lists": 40.0 * case.n * k}
    points = 4.0 * columns_of(case)
    search = max(4 * points + 9 * candidates, points + 16.5 * candidates) + 16
    joining = max(28 + 16 * DISTINCT, 12 + 24 * DISTINCT + 3 * points / k) * k
    sample = min(case.n, PROJECTED)
    # Its rows with differences of them; or, while its axes are found, with what LAPACK copies.
    axes = max(4 * sample * case.r + case.r**2, sample * case.r + 5 * case.r**2)
    projection = float(DOUBLE * (axes + 3 * QUERIES * sample))
    lists = case.n * max(search, joining)
    return {"projection of a sample": projection} if projection > lists else {"neighbour lists": lists}


def columns_of(case: Case) -> int:
    """Return about how many components keep the neighbours: as many as patterns have dimensions."""
    dimension = case.size if case.cost.is_euclidean else COLUMNS_OF_OBJECTS
    return min(-(-dimension // VECTOR) * VECTOR, -(-case.r // VECTOR) * VECTOR)


def regions(case: Case) -> Parts:
    """Return what measuring clusters takes: with all pairs, for most patterns may be in one."""
    held = {**case.kept(), "dissimilarity space": case.pairs}
    if not case.is_complete:
        per_pattern = (12 + 16 * DISTINCT) * case.k + 24 + 100
        return {**held, "neighbour lists": case.n * per_pattern}
    idle = max(0, case.n_searching - 1) * _workspace(case)
    return {
        **held,
        "distances of all pairs": case.square,
        "largest region": 1.5 * case.square + case.pairs,
        "workspaces of the search": idle,
    }


def surprise(case: Case) -> Parts:
    """Return the dissimilarities that surprise ranks, all at once or by blocks."""
    if not case.is_multi:
        return {}
    rows = (2 + case.cost.evaluating) * case.pairs
    if case.cost.is_euclidean and not case.is_whole:
        rows = min(rows, 3.0 * DOUBLE * BLOCK) + 2.0 * DOUBLE * case.r**2
    return {**case.kept(), "dissimilarities by blocks": rows, "terms of surprise": 24.0 * DOUBLE * case.n}


def contrast(case: Case) -> Parts:
    """Return what it takes to tell patterns from known others: all at once."""
    if not (case.is_multi and case.n_others):
        return {}
    rows = DOUBLE * max(case.n, case.n_others)  # the others are compared in the same ways
    return {
        **case.kept(),
        "comparisons with others": case.cost.kept * rows * case.n_others,
        "dissimilarities": (1 + case.cost.evaluating) * rows * (case.r + case.n_others),
        "densities": CONTRASTED * rows * max(case.r, case.n_others),
    }


def folds(case: Case) -> Parts:
    """Return what calibration takes: ten fits, each to nine tenths of the patterns, while the model of all waits."""
    if case.is_multi or not case.is_calibrated:
        return {}
    n = max(1, round(FOLDS_KEEP * case.n))
    fold = replace(case, n=n, r=n if case.is_whole else min(case.r, n), is_calibrated=False)
    return {"comparisons of all": sum(case.kept().values()), **greediest(fold)}


STAGES: tuple[Callable[[Case], Parts], ...] = (
    freezing, selecting, preparing, searching, embedding, regions, surprise, contrast, folds,
)  # fmt: skip


def greediest(case: Case) -> Parts:
    """Return the arrays of the stage that holds most; nothing that is empty."""
    most = max(_stages(case), key=lambda parts: sum(parts.values()))
    return {name: size for name, size in most.items() if size > 0}


def _stages(case: Case) -> Iterator[Parts]:
    for stage in STAGES:
        yield stage(case)
