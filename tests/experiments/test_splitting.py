"""Folds for scikit-learn's model selection."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV, cross_val_score

from eocc import EntropicOneClassClassifier
from eocc.experiments import OneClassFold

Y = np.array([1, -1] * 8 + [1] * 4)


def test_training_rows_are_targets_and_every_target_is_tested_once_with_all_outliers():
    splits = list(OneClassFold(5, n_repeats=2).split(np.zeros((20, 1)), Y))
    assert len(splits) == OneClassFold(5, n_repeats=2).get_n_splits() == 10
    for train, test in splits:
        assert (Y[train] == 1).all()
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(20))
    for half in (splits[:5], splits[5:]):
        tested = np.concatenate([test[Y[test] == 1] for _, test in half])
        assert_array_equal(np.sort(tested), np.flatnonzero(Y == 1))
    assert not all(np.array_equal(a[0], b[0]) for a, b in zip(splits[:5], splits[5:], strict=True))


def test_the_seed_decides():
    def first(seed):
        return next(OneClassFold(4, random_state=seed).split(None, Y))[0]

    assert_array_equal(first(1), first(1))
    assert not np.array_equal(first(1), first(2))


def test_a_grid_search_chooses_by_auc_over_both_kinds():
    rng = np.random.default_rng(0)
    X, y = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(20, 2)) + 4]), np.repeat([1, -1], [40, 20])
    clf = EntropicOneClassClassifier(search=None)
    grid = {"eta": [0.2, 0.8], "gamma": [0.02, 1.0], "extent": ["std", "max"]}
    found = GridSearchCV(clf, grid, scoring="accuracy", cv=OneClassFold(4), refit=False).fit(X, y)
    assert found.best_params_["extent"] == "max"
    assert (cross_val_score(clf, X, y, scoring="roc_auc", cv=OneClassFold(4)) > 0.9).all()


@pytest.mark.parametrize(("y", "message"), [(Y[:6], "3 targets"), (np.ones(20), "0 outliers")])
def test_too_few_rows_of_a_kind_are_an_error(y, message):
    with pytest.raises(ValueError, match=message):
        next(OneClassFold(5).split(None, y))
