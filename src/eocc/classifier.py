"""EntropicOneClassClassifier: validate, delegate, expose."""

import numbers
import sys
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from eocc.extents import Extent, resolve_extent
from eocc.measures import Measure, resolve_measure
from eocc.memberships import MembershipFunction, resolve_membership_function
from eocc.registry import choose
from eocc.search import Generation, Search, resolve_search
from eocc.synthesis import Candidate, EntropySynthesis, Model, Settings, synthesise
from eocc.tconorms import TConorm, resolve_tconorm

Matrix = NDArray[np.float64]

# Rows are scored in blocks of about this many dissimilarities, 32 MiB, whatever the batch.
BLOCK = 2**22

SYNTHESES: dict[str, Callable[[float, float], EntropySynthesis]] = {"entropy": EntropySynthesis}


class EntropicOneClassClassifier(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Entropic one-class classifier (Livi, Sadeghian, Pedrycz): learns what is normal from examples of it.

    Patterns become vectors of dissimilarities to the training patterns. The minimum spanning tree over these
    gives the data's entropy and, cut at its longest edges while modularity rises, clusters; each
    cluster becomes a fuzzy decision region. A search tunes the dissimilarity's weights p.

    Parameters
    ----------
    measure : str or Measure, default="euclidean"
        The dissimilarity d(x, y; p).
    synthesis : {"entropy"}, default="entropy"
        What the search maximises. "entropy" is the paper's EOCC-1: eta * entropy + (1 - eta) * modularity.
    eta : float in [0, 1], default=0.5
        The share of entropy against modularity.
    beta : float in [0, 1], default=0.5
        The share of validation performance; not used by synthesis="entropy".
    gamma : float > 0, default=0.02
        The exponent of the tree's edge lengths in the entropy.
    extent : {"mean", "std", "median", "max"} or callable, default="mean"
        The extent of a region, from the distances inside its cluster.
    membership_function : {"gaussian"} or MembershipFunction, default="gaussian"
        The grade of a pattern in a region, from its distance to the representative.
    tconorm : {"max"} or callable, default="max"
        How grades in several regions become one.
    search : {"genetic"}, Search or None, default="genetic"
        How p is found; None takes p = `weights`.
    weights : array-like of shape (n_parameters,), default=None
        p when there is no search; None means all ones.
    n_jobs : int or None, default=None
        Threads for the search; the model does not depend on it. None means 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=None
        The seed of the search.
    verbose : bool, default=False
        Write a line per generation to standard error.

    Attributes
    ----------
    weights_ : array of shape (n_parameters,)
        p*, the weights found.
    regions_ : list of Region
        The decision regions: `members`, `representative` (indices of training patterns) and `extent`.
    labels_ : array of shape (n_samples,)
        The region of each training pattern.
    spanning_tree_ : SpanningTree
        `edges` and `lengths`, heaviest first.
    entropy_, raw_entropy_, modularity_, objective_ : float
        Of p*: normalised entropy, Rényi entropy, normalised modularity, and what was maximised.
    modularity_curve_ : array of shape (n_samples,)
        Q of the partitions into 1, ..., n clusters.
    history_ : record array
        Per generation: `best`, `mean` objective; `entropy`, `modularity` of the best.
    offset_ : float
        The log-membership at a region's boundary: decision_function = score_samples - offset_ (for "max").
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = EntropicOneClassClassifier(search=None).fit(X[y == 0])
    >>> clf.predict(X[[0, 75, 149]])
    array([ 1, -1, -1])
    """

    def __init__(
        self,
        *,
        measure: str | Measure = "euclidean",
        synthesis: str = "entropy",
        eta: float = 0.5,
        beta: float = 0.5,
        gamma: float = 0.02,
        extent: str | Extent = "mean",
        membership_function: str | MembershipFunction = "gaussian",
        tconorm: str | TConorm = "max",
        search: str | Search | None = "genetic",
        weights: ArrayLike | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.measure = measure
        self.synthesis = synthesis
        self.eta = eta
        self.beta = beta
        self.gamma = gamma
        self.extent = extent
        self.membership_function = membership_function
        self.tconorm = tconorm
        self.search = search
        self.weights = weights
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from targets only, X of shape (n_samples, n_features); y is ignored.

        A fit that fails or is interrupted leaves the estimator as it was.
        """
        draft = clone(self)
        patterns = validate_data(draft, X, dtype=np.float64, order="C")
        settings = self._settings()
        report = _print_generation if self.verbose else _say_nothing
        model = synthesise(patterns, settings, _generator(self.random_state), report)
        draft._take(model, patterns)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        settings_names = self.get_params(deep=False)
        self.__dict__.update({name: value for name, value in vars(draft).items() if name not in settings_names})
        return self

    def membership(self, X: ArrayLike) -> Matrix:
        """Return the soft decision: grades of membership in the target class, in [0, 1]."""
        return np.exp(self.score_samples(X))

    def score_samples(self, X: ArrayLike) -> Matrix:
        """Return the logarithm of the membership: finite, higher = more normal.

        It ranks patterns also where the membership itself is too small to be told from 0.
        """
        return self._by_block(X, self._score_rows)

    def decision_function(self, X: ArrayLike) -> Matrix:
        """Return how far inside (>= 0) or outside (< 0) the best region a pattern lies, in log-membership."""
        return self._by_block(X, self._decide_rows)

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the hard decision: +1 for targets, -1 for all else."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _score_rows(self, rows: Matrix) -> Matrix:
        return self.fuzzy_model_.log_membership(rows)

    def _decide_rows(self, rows: Matrix) -> Matrix:
        return self.fuzzy_model_.decision(rows)

    def _by_block(self, X: ArrayLike, function: Callable[[Matrix], Matrix]) -> Matrix:
        """Apply `function` to X in the dissimilarity space, a block of rows at a time."""
        check_is_fitted(self)
        patterns = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        step = max(1, BLOCK // len(self.prototypes_))
        blocks = [patterns[start : start + step] for start in range(0, len(patterns), step)]
        return np.concatenate([function(self._embed(block)) for block in blocks])

    def _embed(self, patterns: Matrix) -> Matrix:
        prepared = self.measure_.prepare(patterns, self.prototypes_)
        return prepared.evaluate(self.weights_)

    def _take(self, model: Model, patterns: Matrix) -> None:
        self.measure_ = model.measure
        self.prototypes_ = patterns
        self.weights_ = model.candidate.weights
        self.entropy_ = model.candidate.entropy
        self.raw_entropy_ = model.raw_entropy
        self.modularity_ = model.candidate.modularity
        self.objective_ = model.candidate.objective
        self.modularity_curve_ = model.modularity_curve
        self.spanning_tree_ = model.tree
        self.labels_ = model.labels
        self.regions_ = model.regions
        self.fuzzy_model_ = model.fuzzy
        self.offset_ = model.fuzzy.threshold
        self.history_ = model.history

    def _settings(self) -> Settings:
        for name in ("eta", "beta"):
            _check_number(name, getattr(self, name), "in [0, 1]", lambda value: 0 <= value <= 1)
        _check_number("gamma", self.gamma, "in (0, 1)", lambda value: 0 < value < 1)
        return Settings(
            measure=resolve_measure(self.measure),
            synthesis=choose("synthesis", SYNTHESES, self.synthesis)(self.eta, self.gamma),
            search=None if self.search is None else resolve_search(self.search),
            weights=self.weights,
            extent=resolve_extent(self.extent),
            membership_function=resolve_membership_function(self.membership_function),
            tconorm=resolve_tconorm(self.tconorm),
            n_threads=effective_n_jobs(self.n_jobs),
        )


def _check_number(name: str, value: Any, wanted: str, accepts: Callable[[Any], bool]) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not accepts(value):
        raise ValueError(f"{name} must be a number {wanted}, not {value!r}")


def _generator(random_state: Any) -> np.random.Generator:
    """Return the one source of random numbers of a fit."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint64))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(f"random_state must be an integer >= 0, a generator or None, not {random_state!r}") from error


def _print_generation(generation: Generation, best: Candidate) -> None:
    print(
        f"generation {generation.number}: objective {best.objective:.5f}, entropy {best.entropy:.5f}, "
        f"modularity {best.modularity:.5f}, {best.n_clusters} regions",
        file=sys.stderr,
    )


def _say_nothing(generation: Generation, best: Candidate) -> None:
    """Report nothing."""
