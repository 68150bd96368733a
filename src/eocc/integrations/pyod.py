"""The classifiers as a PyOD detector, where 1 means an outlier and a higher score is more abnormal."""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eocc.base.registry import choose
from eocc.base.types import Flags, Matrix
from eocc.classifiers import CLASSIFIERS, METHODS
from eocc.classifiers.base import OneClassClassifier

try:
    from pyod.models.base import BaseDetector
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("this adapter needs PyOD: pip install pyod", name=error.name) from error

# PyOD's own `contamination` sets the threshold instead.
NOT_HERE = ("false_alarm_rate", "contamination")


class EOCC(BaseDetector):  # type: ignore[misc]
    """One of the classifiers as a PyOD detector.

    The score of a row is sqrt(-2 ln m), where m is its membership in the normal class: 1 at the classifier's own
    threshold, higher = more abnormal. "surprise" scores every training row left out of its own neighbours. The regions
    of "eocc-1" count as normal unless they may be a cluster of outliers: see
    `EntropicOneClassClassifier._without_small_regions`.

    Parameters
    ----------
    contamination : float in (0, 0.5] or PyThresh object, default=0.1
        The share of outliers in the training set, which sets the threshold.
    method : {"surprise", "regions", "eocc-1", "eocc-2"}, default="surprise"
        SurpriseClassifier, RegionClassifier, or EntropicOneClassClassifier with synthesis="entropy" or "validation".
    **parameters
        Any other parameter of that classifier but `false_alarm_rate`.

    Attributes
    ----------
    decision_scores_ : array of shape (n_samples,)
        The scores of the training rows.
    threshold_ : float
        The score above which a row is an outlier: the quantile 1 - contamination of `decision_scores_`.
    labels_ : array of shape (n_samples,)
        1 for the training rows that are outliers, 0 for the others.
    classifier_ : SurpriseClassifier or EntropicOneClassClassifier
        The fitted model, for example for explanations and plots.
    scorer_ : SurpriseClassifier or EntropicOneClassClassifier
        The model that scores: `classifier_`, with the normal regions only.

    Examples
    --------
    >>> from eocc.integrations.pyod import EOCC
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [30.0]]
    >>> EOCC().fit(X).labels_
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    >>> detector = EOCC(method="eocc-1", search=None).fit(X)
    >>> len(detector.classifier_.regions_), len(detector.scorer_.regions_)
    (2, 1)
    >>> detector.predict([[4.5], [-20.0]])
    array([0, 1])
    """

    contamination: Any

    def __init__(self, contamination: Any = 0.1, method: str = "surprise", **parameters: Any) -> None:
        super().__init__(contamination=contamination)
        self.method = method
        self.parameters = {**_defaults(method), **parameters}
        for name in parameters:
            choose(f"parameter of method {method!r}", _defaults(method), name)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return `contamination`, `method` and all parameters of the method."""
        return {"contamination": self.contamination, "method": self.method, **self.parameters}

    def set_params(self, **params: Any) -> Self:
        """Set parameters. After a change of the method, those that both methods have keep their values."""
        method = params.pop("method", self.method)
        contamination = params.pop("contamination", self.contamination)
        kept = {name: value for name, value in self.parameters.items() if name in _defaults(method)}
        fresh = EOCC(contamination, method, **{**kept, **params})
        self.contamination, self.method, self.parameters = fresh.contamination, fresh.method, fresh.parameters
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = get_tags(self._classifier()).input_tags.pairwise
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from X of shape (n_samples, n_features), outliers included.

        Only method="eocc-2" uses y: 1 for known outliers, 0 for all else. A share of `validation_fraction` of both
        validates, and the other inliers train.
        """
        knows_outliers = self.method == "eocc-2"
        self.classifier_ = self._classifier().fit(X, _inliers(y) if knows_outliers else None)
        share = self.contamination if isinstance(self.contamination, Real) else 0.1  # PyOD's own default
        self._set_n_classes(None)
        self.scorer_ = self.classifier_._without_small_regions(0.0 if knows_outliers else float(share))
        self.decision_scores_ = _distances(self.scorer_.score_samples(X))
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> Matrix:
        """Return sqrt(-2 ln m) of every row, where m is its membership: higher = more abnormal."""
        check_is_fitted(self, ["decision_scores_", "threshold_", "labels_"])
        return _distances(self.scorer_.score_samples(X))

    def _classifier(self) -> OneClassClassifier:
        name, fixed = METHODS[self.method]
        classifier: OneClassClassifier = CLASSIFIERS[name](**fixed, **self.parameters)
        return classifier


def _defaults(method: str) -> dict[str, Any]:
    """Return the parameters of a method and their defaults."""
    name, fixed = choose("method", METHODS, method)
    make = CLASSIFIERS[name]
    values = make().get_params(deep=False)
    names = (parameter.name for parameter in make._parameters)
    return {name: values[name] for name in names if name not in (*fixed, *NOT_HERE)}


def _distances(log_memberships: Matrix) -> Matrix:
    """Return sqrt(-2 ln m), finite also for the least logarithm; joined grades may exceed 1 by rounding."""
    return np.asarray(np.sqrt(2) * np.sqrt(np.maximum(-log_memberships, 0.0)))


def _inliers(y: Any) -> Flags:
    """Return which rows are inliers: those with PyOD's label 0."""
    labels = np.asarray([] if y is None else y)
    if set(labels.ravel().tolist()) != {0, 1}:
        found = ", ".join(map(repr, np.unique(labels).tolist()[:3])) or "none"
        raise ValueError(f"method='eocc-2' needs y with 0 for inliers and 1 for known outliers, both; found {found}")
    return np.asarray(labels == 0)
