"""All partitions of a spanning tree -> how well the regions of each classify a validation set (Algorithm 2)."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from eocc.base.estimator import Detector
from eocc.base.registry import choose
from eocc.base.types import Indices, Matrix
from eocc.entropic.graph.complete import EuclideanGraph
from eocc.entropic.partition.cuts import leaf_order
from eocc.entropic.regions import fuzzy
from eocc.entropic.regions.fuzzy import Fuzzification, FuzzyModel, build_region, default_extent, width_of
from eocc.entropic.regions.rules import EQUALLY_CENTRAL
from eocc.entropic.regions.scores import BOUNDARY
from eocc.kernels.merges import Nodes, Products, count_accepted, merge_clusters


@dataclass(frozen=True)
class Counts:
    """How many of `n_targets` and `n_outliers` were accepted, for one partition or (as arrays) for many."""

    true_positives: Any
    false_positives: Any
    n_targets: int
    n_outliers: int


def accuracy(counts: Counts) -> Any:
    """Return the share of right decisions, as in the paper."""
    right = counts.true_positives + counts.n_outliers - counts.false_positives
    return right / (counts.n_targets + counts.n_outliers)


def balanced_accuracy(counts: Counts) -> Any:
    """Return the mean of the shares of right decisions among targets and among outliers."""
    return (counts.true_positives / counts.n_targets + 1 - counts.false_positives / counts.n_outliers) / 2


def f1(counts: Counts) -> Any:
    """Return the harmonic mean of precision and recall."""
    return 2 * counts.true_positives / (counts.true_positives + counts.false_positives + counts.n_targets)


CountPerformance = Callable[[Counts], Any]
COUNT_PERFORMANCES: dict[str, CountPerformance] = {
    "accuracy": accuracy, "balanced_accuracy": balanced_accuracy, "f1": f1,
}  # fmt: skip
ALIASES = {"auc": "roc_auc"}


class Replay(Detector):
    """An estimator that returns recorded decisions and scores, so that any scikit-learn scorer can evaluate them."""

    def __init__(self, decisions: Any, scores: Any) -> None:
        self.decisions = decisions
        self.scores = scores
        self.asked: set[str] = set()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        """Return the hard decisions, +1 or -1."""
        self.asked.add("decisions")
        return self.decisions

    def decision_function(self, X: Any) -> Any:
        """Return the soft decisions."""
        self.asked.add("scores")
        return self.scores


@dataclass(frozen=True)
class ScorerPerformance:
    """Any scikit-learn scorer of decisions or of scores; AUC is that of ``score_samples``.

    The scorer gets the validation labels, targets first, and no patterns. If a named scorer uses decisions alone, its
    results are cached by the counts of accepted patterns.
    """

    scorer: Callable[[Any, Any, Any], float]
    known: dict[tuple[int, int], float] | None = field(default=None, compare=False)

    def of(self, y: NDArray[np.int64], decisions: NDArray[np.int64], scores: Matrix) -> float:
        """Return the scorer's value for patterns of class y (+1 or -1)."""
        accepted = decisions == 1
        key = int((accepted & (y == 1)).sum()), int((accepted & (y == -1)).sum())
        if self.known is not None and key in self.known:
            return self.known[key]
        from sklearn.exceptions import UndefinedMetricWarning

        replay = Replay(decisions, scores)
        try:
            with warnings.catch_warnings():  # some partitions accept nothing
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                value = float(self.scorer(replay, np.zeros((len(y), 1)), y))
        except (AttributeError, TypeError) as error:
            raise ValueError(
                f"performance must be a scorer f(estimator, X, y) of decisions or scores (see sklearn's make_scorer); "
                f"{self.scorer!r} failed: {error}"
            ) from error
        if not np.isfinite(value):
            raise ValueError(f"performance must be a finite number; {self.scorer!r} gave {value}")
        if self.known is not None and replay.asked == {"decisions"}:
            self.known[key] = value
        return value


@dataclass(frozen=True)
class AreaUnderCurve(ScorerPerformance):
    """The area under the ROC curve: how often a target scores above an outlier, ties count half."""

    def of(self, y: NDArray[np.int64], decisions: NDArray[np.int64], scores: Matrix) -> float:
        """Return the area from the ranks, faster than the scorer."""
        n_targets = int((y == 1).sum())
        ranks = float(scipy.stats.rankdata(scores)[y == 1].sum()) - n_targets * (n_targets + 1) / 2
        return ranks / (n_targets * (len(y) - n_targets))


Performance = CountPerformance | ScorerPerformance


def resolve_performance(performance: Any) -> Performance:
    """Return a count performance by its name, or a scikit-learn scorer by its name or itself."""
    name = ALIASES.get(performance, performance) if isinstance(performance, str) else performance
    if isinstance(name, str) and name in COUNT_PERFORMANCES:
        return COUNT_PERFORMANCES[name]
    if name in COUNT_PERFORMANCES.values():
        return cast(CountPerformance, name)
    if callable(name):
        return ScorerPerformance(name)
    from sklearn.metrics import get_scorer, get_scorer_names

    names = {**dict.fromkeys(get_scorer_names()), **COUNT_PERFORMANCES, **ALIASES}
    choose("performance", names, name)
    kind = AreaUnderCurve if name == "roc_auc" else ScorerPerformance
    return kind(get_scorer(name), known={})


@dataclass(frozen=True)
class ValidationRows:
    """Validation patterns in the dissimilarity space: `n_targets` targets, then the outliers."""

    rows: Matrix
    n_targets: int

    @property
    def y(self) -> Indices:
        """+1 for targets, -1 for outliers."""
        return np.repeat([1, -1], [self.n_targets, len(self.rows) - self.n_targets])


def performance_curve(
    graph: EuclideanGraph, validation: ValidationRows, fuzzification: Fuzzification, performance: Performance
) -> Matrix:
    """Return the performance of the partitions into k = 2, ..., n clusters.

    If every region is a ball and the performance follows from counts, one pass computes all of them. Otherwise every
    split builds the regions of its two parts.
    """
    if not isinstance(performance, ScorerPerformance) and fuzzification.gives_balls and len(graph.tree.edges):
        return np.asarray(performance(counts_by_split(graph, validation, fuzzification.extent)))
    splits = ratios_by_split(graph, validation, fuzzification)
    return np.array([_performance(performance, validation, ratios, fuzzification) for ratios in splits])


def counts_by_split(graph: EuclideanGraph, validation: ValidationRows, extent: Any) -> Counts:
    """Return how many patterns are accepted at k = 2, ..., n: O(n^2) for all clusters, O(m) per split."""
    cuts, space = leaf_order(graph.tree), graph.space
    n_edges, m = len(graph.tree.edges), len(validation.rows)
    medoid, left, right = np.empty((3, n_edges), np.int64)
    total, largest = np.empty((2, n_edges))
    nodes = Nodes(medoid, total, largest, left, right)
    merge_clusters(
        graph.distances, cuts, EQUALLY_CENTRAL, nodes, np.zeros(n_edges + 1), np.empty(n_edges + 1, np.int64)
    )
    size = (cuts.stop - cuts.start).astype(np.float64)
    default = default_extent(graph.tree)
    extents = extent.from_sums(total, largest, size * (size - 1) / 2)
    radius = width_of(np.where(extents > 0, extents, default)) * BOUNDARY / space.scale
    true_positives, false_positives = np.empty((2, n_edges), np.int64)
    scratch = np.empty((n_edges, m), np.uint8), np.zeros(m, np.int64), np.empty(m, np.uint8)
    count_accepted(
        nodes, radius, float(width_of(default)) * BOUNDARY / space.scale, _products(space.rows, validation.rows),
        validation.n_targets, scratch, true_positives, false_positives,
    )  # fmt: skip
    return Counts(true_positives, false_positives, validation.n_targets, m - validation.n_targets)


def _products(rows: Matrix, others: Matrix) -> Products:
    """Return the scalar products of all pairs, and their relative error."""
    # Single precision settles nearly all decisions; the kernel computes the rest exactly. A sum of r rounded products
    # errs by at most r u |x| |y|, u = 2^-24; rounding x and y adds two more u. Rows out of range get an infinite norm.
    norms, other_norms = (np.einsum("ij,ij->i", matrix, matrix) for matrix in (rows, others))
    largest = float(norms.max())
    # A power of two that scales the longest row to about 1; 1 if it is close to that already.
    unit = 1.0 if 1e-8 < largest < 1e8 or largest == 0 else 2.0 ** -(int(np.frexp(largest)[1]) // 2)
    scaled = other_norms * unit**2
    out_of_range = ~((scaled > 1e-30) & (scaled < 1e30))
    short = (np.where(out_of_range[:, None], 0.0, others) * unit).astype(np.float32)
    products = (rows if unit == 1 else rows * unit).astype(np.float32) @ short.T
    margin = (rows.shape[1] + 4) * 2.0**-24
    other_norms = np.where(out_of_range, np.inf, other_norms)
    exact = products if unit == 1 else products.astype(np.float64) / unit**2
    return Products(rows, others, norms, other_norms, exact, margin)


def ratios_by_split(
    graph: EuclideanGraph, validation: ValidationRows, fuzzification: Fuzzification
) -> Iterator[Matrix]:
    """Yield d / tau of every validation pattern in every region, (m, k), at k = 2, 3, ...; at k = 1 if n = 1."""
    cuts = leaf_order(graph.tree)
    columns: dict[int, Matrix] = {}  # key: where the cluster starts in the leaf order

    def add(start: int, stop: int) -> None:
        _, shape = build_region(graph, fuzzification, np.sort(cuts.order[start:stop]))
        model = FuzzyModel.of_shapes([shape], fuzzification.membership_function, fuzzification.tconorm)
        columns[start] = model.ratios(validation.rows)[:, 0]

    if graph.tree.n_vertices == 1:
        add(0, 1)
        yield np.column_stack(list(columns.values()))
    for start, middle, stop in zip(cuts.start, cuts.middle, cuts.stop, strict=True):
        add(start, middle)
        add(middle, stop)
        yield np.column_stack([columns[start] for start in sorted(columns)])


def _performance(
    performance: Performance, validation: ValidationRows, ratios: Matrix, fuzzification: Fuzzification
) -> float:
    accepted, n_targets = ratios.min(axis=1) <= BOUNDARY, validation.n_targets
    if isinstance(performance, ScorerPerformance):
        scores = fuzzy.combined_grades(fuzzification.membership_function, fuzzification.tconorm, ratios)
        return performance.of(validation.y, np.where(accepted, 1, -1), scores)
    accepted_each = int(accepted[:n_targets].sum()), int(accepted[n_targets:].sum())
    return float(performance(Counts(*accepted_each, n_targets, len(accepted) - n_targets)))
