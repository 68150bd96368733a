"""EOCC: the classifier as a PyOD detector, where 1 is an outlier and a higher score is more abnormal."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.fitting import MULTI
from eocc.foundation.types import Indices, Matrix
from eocc.measures.protocol import Measure
from eocc.regions.extents import Extent
from eocc.regions.fuzzy import Region
from eocc.regions.memberships import MembershipFunction
from eocc.regions.representatives import Representative
from eocc.regions.tconorms import TConorm
from eocc.search.protocol import Search
from eocc.space.prototypes.protocol import Selection
from eocc.synthesis.graph_kinds import GraphKind

try:
    from pyod.models.base import BaseDetector
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("this adapter needs PyOD: pip install 'eocc[rivals]'", name=error.name) from error


# The share of outliers where `contamination` is not a number but sets the threshold later: PyOD's own default.
USUAL_CONTAMINATION = 0.1


class EOCC(BaseDetector):  # type: ignore[misc]
    """Entropic one-class classifier as a PyOD detector.

    The score of a pattern is sqrt(-2 ln SDF), SDF its membership: 1 at the border, higher = more abnormal. A training
    pattern is scored left out of its own neighbours, as PyOD's own KNN does it.

    With resolution="single" the score is d / tau (for the Gaussian and "max"), the distance to the best region's
    representative in units of the region's extent, and training patterns are scored as all others are. PyOD's training
    sets hold outliers, a share of `contamination`, and outliers that lie together become a region like any other. So
    small regions do not count then: a region is normal unless it holds at most contamination * n of the n training
    patterns, and the regions of its size or smaller together at most n / 2. The others stay in `classifier_`.

    Parameters
    ----------
    contamination : float in (0, 0.5] or PyThresh object, default=0.1
        The share of outliers in the training set: sets the threshold, and with resolution="single" which regions are
        normal. A PyThresh object sets the threshold alone; the regions are then those of 0.1.
    synthesis : {"entropy", "validation"}, default="entropy"
        With "validation", `fit` needs y, and every region is normal, as the outliers are known. Training patterns are
        then scored as all others are.
    measure, resolution, prototypes, selection, graph, max_memory, plan, eta, beta, gamma, performance, \
            validation_fraction, extent, representative, membership_function, tconorm, search, precision, weights, \
            n_jobs, random_state, verbose
        As in EntropicOneClassClassifier. It has no `false_alarm_rate` here: `contamination` sets the threshold.

    Attributes
    ----------
    decision_scores_ : array of shape (n_samples,)
        The scores of the training patterns.
    threshold_ : float
        The score above which a pattern is an outlier: the quantile 1 - contamination of `decision_scores_`.
    labels_ : array of shape (n_samples,)
        1 for the training patterns that are outliers, 0 for the others.
    classifier_ : EntropicOneClassClassifier
        The model, with all its regions: for explanations and plots, say.
    normal_regions_ : array of int
        Which of `classifier_.regions_` count as normal: all of them with resolution="multi".

    Examples
    --------
    >>> from eocc.integrations.pyod import EOCC
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [30.0]]
    >>> EOCC().fit(X).labels_
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    >>> detector = EOCC(resolution="single", search=None).fit(X)
    >>> detector.labels_
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    >>> detector.classifier_.regions_
    [<Region of 9 patterns round pattern 4, extent 0.0938>, <Region of 1 pattern round pattern 9, extent 0.111>]
    >>> detector.normal_regions_
    array([0])
    >>> detector.predict([[4.5], [-20.0]])
    array([0, 1])
    """

    def __init__(
        self,
        contamination: Any = 0.1,
        *,
        measure: str | Measure | Callable[[Any, Any], float] = "euclidean",
        synthesis: str = "entropy",
        resolution: str = "multi",
        prototypes: int | float | None = None,
        selection: str | Selection = "random",
        graph: str | GraphKind = "auto",
        max_memory: int | str | None = None,
        plan: str = "refuse",
        eta: float = 0.5,
        beta: float = 0.5,
        gamma: float = 0.02,
        performance: Any = "accuracy",
        validation_fraction: float = 0.1,
        extent: str | Extent = "mean",
        representative: str | Representative = "medoid",
        membership_function: str | MembershipFunction = "gaussian",
        tconorm: str | TConorm = "max",
        search: str | Search | None = "auto",
        precision: str = "double",
        weights: ArrayLike | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(contamination=contamination)
        self.measure = measure
        self.synthesis = synthesis
        self.resolution = resolution
        self.prototypes = prototypes
        self.selection = selection
        self.graph = graph
        self.max_memory = max_memory
        self.plan = plan
        self.eta = eta
        self.beta = beta
        self.gamma = gamma
        self.performance = performance
        self.validation_fraction = validation_fraction
        self.extent = extent
        self.representative = representative
        self.membership_function = membership_function
        self.tconorm = tconorm
        self.search = search
        self.precision = precision
        self.weights = weights
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = get_tags(self._classifier()).input_tags.pairwise
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from X of shape (n_samples, n_features), outliers and all.

        With synthesis="entropy" y is ignored. With "validation" it holds 1 for known outliers and 0 for all else: a
        share of `validation_fraction` of either kind validates, the other inliers train.
        """
        knows_outliers = self.synthesis == "validation"
        classifier = self._classifier().fit(X, _targets(y) if knows_outliers else None)
        is_left_out = self.resolution == MULTI and not knows_outliers
        share = 0.0 if knows_outliers or self.resolution == MULTI else self._share()
        self._set_n_classes(None)
        self.classifier_ = classifier
        self.normal_regions_ = _normal_regions(classifier.regions_, share)
        self._scorer = _with_regions(classifier, self.normal_regions_)
        self.decision_scores_ = _distances(classifier.left_out().log_memberships) if is_left_out else self._score(X)
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> Matrix:
        """Return sqrt(-2 ln SDF) of every pattern, SDF its membership in the normal regions: higher = more abnormal."""
        check_is_fitted(self, ["decision_scores_", "threshold_", "labels_"])
        return self._score(X)

    def _score(self, X: Any) -> Matrix:
        return _distances(self._scorer.score_samples(X))

    def _share(self) -> float:
        return float(self.contamination) if isinstance(self.contamination, Real) else USUAL_CONTAMINATION

    def _classifier(self) -> EntropicOneClassClassifier:
        arguments = self.get_params(deep=False)
        del arguments["contamination"]
        return EntropicOneClassClassifier(**arguments)


def _distances(log_memberships: Matrix) -> Matrix:
    """Return sqrt(-2 ln SDF)."""
    # Two roots, as twice the least logarithm is not finite; united grades may exceed 1 by rounding.
    return np.asarray(np.sqrt(2) * np.sqrt(np.maximum(-log_memberships, 0.0)))


def _targets(y: Any) -> NDArray[np.bool_]:
    """Return which patterns are inliers: those of PyOD's label 0."""
    labels = np.asarray([] if y is None else y)
    if set(labels.ravel().tolist()) != {0, 1}:
        found = "none" if y is None else ", ".join(map(repr, np.unique(labels).tolist()[:3])) or "none"
        raise ValueError(
            f"synthesis='validation' needs y with 0 for inliers and 1 for known outliers, both; found {found}"
        )
    return np.asarray(labels == 0)


def _normal_regions(regions: list[Region], share: float) -> Indices:
    """Return the regions that count as normal: all but those that may be the outliers, or a part of them.

    These hold at most a share of the patterns each. How much they hold together is not asked up to one half, more than
    PyOD lets outliers be: a few lone but normal patterns would else make the outliers' own region normal. Beyond one
    half, normality itself comes in many small regions. Regions of one size stay or go together, so that the
    order of the patterns does not matter; and one stays always, as all of them together hold more than half.

    >>> of_sizes = lambda *sizes: [Region(np.arange(size), 0, 1.0) for size in sizes]
    >>> _normal_regions(of_sizes(58, 1, 4, 2), share=0.1).tolist()
    [0]
    >>> _normal_regions(of_sizes(10, 10, 10, 10, 10, 10, 10, 10, 10, 10), share=0.1).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    sizes = np.array([len(region.members) for region in regions])
    held_by_no_larger = np.array([sizes[sizes <= size].sum() for size in sizes])
    # The slack keeps 0.29 * 100 at 29, where floating point says 28.999999999999996.
    may_be_outliers = sizes <= share * sizes.sum() + 1e-9
    return np.flatnonzero(~may_be_outliers | (2 * held_by_no_larger > sizes.sum()))


def _with_regions(classifier: EntropicOneClassClassifier, chosen: Indices) -> EntropicOneClassClassifier:
    """Return a copy of the classifier that scores by the chosen regions alone."""
    scorer, model = copy(classifier), classifier.fuzzy_model_
    scorer.fuzzy_model_ = replace(model, centres=model.centres[chosen], widths=model.widths[chosen])
    return scorer
