"""PyOD's empirical cumulative distributions."""

import warnings

import numpy as np

from eocc.foundation.types import Matrix
from eocc.rivals.base import Rival
from eocc.rivals.packages import needed


class PyodECOD(Rival):
    """PyOD's ECOD: score_samples is the sum over features of the log-probability of the rarer tail beyond the value.

    For each feature the fraction of targets, the pattern counted among them, that lie as far to the left, and as far
    to the right: the log of the smaller. Fitted by pyod.models.ecod.ECOD, with its sign turned. PyOD counts the whole
    batch among the targets, so that a row's score depends on the rows beside it, and sorts the training set anew for
    each batch: here each row is counted by itself among the sorted targets, which gives the score PyOD gives the row
    alone. PyOD also looks at the skewness, which changes nothing unless it is exactly 0, when it adds both tails; that
    accident of rounding is left out. Training scores count a target among the others: they are as of unseen patterns.
    Paper: Li, Zhao, Hu, Botta, Ionescu, Chen, ECOD: unsupervised outlier detection using empirical cumulative
    distribution functions (2022).
    Good at: features in any unit, many features, outliers that are extreme in some. Bad at: outliers between clusters
    or odd only in how features go together; patterns beyond the range of the targets, which all score the same.
    Automatic: nothing to choose.

    >>> PyodECOD().fit([[0.0], [1.0], [2.0]]).score_samples([[1.0], [9.0]]).round(3)
    array([-0.288, -1.386])
    """

    def __init__(self, *, rejection_rate: float = 0.05) -> None:
        self.rejection_rate = rejection_rate

    def _learn(self, X: Matrix) -> Matrix:
        with warnings.catch_warnings():
            # Few or equal values have no skewness; PyOD then takes 0.
            warnings.simplefilter("ignore", RuntimeWarning)
            detector = needed("pyod.models.ecod", "pyod", by="PyodECOD").ECOD().fit(X)
        self.sorted_targets_ = np.sort(detector.X_train, axis=0)
        return -np.asarray(np.maximum(detector.U_l, detector.U_r).sum(axis=1))

    def _score(self, X: Matrix) -> Matrix:
        n = len(self.sorted_targets_)
        columns = list(zip(self.sorted_targets_.T, X.T, strict=True))
        left = np.column_stack([np.searchsorted(targets, values, side="right") for targets, values in columns])
        right = n - np.column_stack([np.searchsorted(targets, values, side="left") for targets, values in columns])
        return np.asarray(np.log((1 + np.minimum(left, right)) / (n + 1)).sum(axis=1))
