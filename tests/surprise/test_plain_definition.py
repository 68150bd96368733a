"""The surprise of rows of numbers equals its plain definition: all distances, sorted, and all cells, one by one."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc import SurpriseClassifier
from eocc.datasets import load_uci
from eocc.kernels.content import row_hashes
from eocc.neighbours import exact
from eocc.space.prototypes.content import words_of
from oracles import surprise as oracle

real_data = pytest.mark.skipif(not os.environ.get("EOCC_DATA"), reason="EOCC_DATA names no folder with the data sets")
IN_FOLDER = ["AB", "BI", "BW", "D", "E", "L", "AR", "BC-P", "C", "S", "SP"]
MOST, MOST_VALUES = 80, 8_000  # rows of either kind, and numbers in them: the definition is slow


def landmarks_and_folds(clf):
    """The 64 different rows of the smallest content hash, and the folds; the first of equal rows stands for them."""
    keys = row_hashes(words_of(clf.prototypes_))
    far = clf.surprise_model_.helpers.get("far")
    kinds = np.unique(keys, return_inverse=True)[1]
    return ([] if far is None else far.landmarks.tolist()), (kinds % 5).tolist()


def assert_plain(X, new, tolerance=1e-7):
    """Every view, and the surprise, of new rows and of the training rows, each left out."""
    clf = SurpriseClassifier(false_alarm_rate=0.2).fit(X)
    model = clf.surprise_model_
    views = oracle.views_of_rows(X, new, *landmarks_and_folds(clf))
    assert model.names == tuple(views)
    for k, name in enumerate(list(views)[1:]):
        assert_allclose(model.training[:, k], views[name][0], rtol=tolerance, atol=tolerance, err_msg=name)
    found = model.views(*model.compare(clf._read(new)))
    for column, (name, expected) in zip(found.T, oracle.combined(views).items(), strict=True):
        assert_allclose(column, expected, rtol=tolerance, atol=tolerance, err_msg=name)
    assert_array_equal(clf._calibration_values(clf._read(new)), found.max(axis=1))
    assert_allclose(found.max(axis=1), oracle.surprises(views), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("scans", [False, True])
@given(st.integers(5, 40), st.integers(1, 12), st.integers(0, 3), st.sampled_from([1e-100, 1.0, 1e100]), st.integers(0))
def test_scores_are_those_of_the_plain_definition(scans, n, d, decimals, scale, seed):
    # Few decimals make ties, copies and constant columns. Often there are more columns than rows.
    rng = np.random.default_rng(seed)
    X, new = (rng.normal(size=(m, d)).round(decimals) * rng.uniform(0.1, 9.0, d) for m in (n, 6))
    if seed % 3 == 0:
        X[:, 0] = new[::2, 0] = 3.0
    if len(np.unique(X, axis=0)) < 3:  # see test_two_different_rows
        X[:3, -1] = 5.0, 7.0, 8.0
    with pytest.MonkeyPatch.context() as patch:
        if not scans:
            patch.setattr(exact, "SCAN_VALUES", 0)
        assert_plain(X * scale, np.vstack([new, X[:2]]) * scale)


@pytest.mark.parametrize("name", ["I", "BC-D", *(pytest.param(name, marks=real_data) for name in IN_FOLDER)])
def test_scores_of_measured_rows_are_those_of_the_plain_definition(name):
    data = load_uci(name)
    most = min(MOST, MOST_VALUES // data.X.shape[1])
    assert_plain(data.X[data.is_target][:most], data.X[:: 1 + len(data.X) // most])
