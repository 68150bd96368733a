"""A splitter for scikit-learn's model selection: train on targets only, test on both kinds."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from eocc.base.checks import integer
from eocc.base.types import Indices
from eocc.classifiers.labels import signs


class OneClassFold:
    """Folds of the targets: train on all but one, test on that one and on all outliers.

    Pass it as `cv` to scikit-learn's GridSearchCV or cross_val_score, with y = +1 for targets and -1 for outliers.
    These are the folds of the paper's experiments. Pass refit=False to GridSearchCV, and fit the best parameters to the
    targets yourself: it would refit to all rows, and a classifier that ignores y would learn the outliers too.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from eocc import EntropicOneClassClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> y = np.where(y == 1, 1, -1)
    >>> choices = {"extent": ["mean", "max"], "gamma": [0.02, 1.0], "first_cut": ["always", "if-better"]}
    >>> clf = EntropicOneClassClassifier(search=None)
    >>> GridSearchCV(clf, choices, scoring="balanced_accuracy", cv=OneClassFold(5), refit=False).fit(X, y).best_params_
    {'extent': 'max', 'first_cut': 'always', 'gamma': 0.02}
    """

    def __init__(self, n_splits: int = 10, *, n_repeats: int = 1, random_state: int = 0) -> None:
        integer(2)("n_splits", n_splits)
        integer(1)("n_repeats", n_repeats)
        self.n_splits, self.n_repeats, self.random_state = n_splits, n_repeats, random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return self.n_splits * self.n_repeats

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the indices of the training targets, and of the test rows of both kinds, ascending."""
        is_target = signs(y) > 0
        targets, outliers = np.flatnonzero(is_target), np.flatnonzero(~is_target)
        if len(targets) < self.n_splits or not len(outliers):
            known = f"y has {len(targets)} targets (+1) and {len(outliers)} outliers (-1)"
            raise ValueError(f"{known}; at least {self.n_splits} targets and 1 outlier are needed")
        for repeat in range(self.n_repeats):
            shuffled = np.random.default_rng([self.random_state, repeat]).permutation(targets)
            for held_out in np.array_split(shuffled, self.n_splits):
                yield np.setdiff1d(targets, held_out), np.sort(np.concatenate([held_out, outliers]))
