"""The surprise of rows of numbers equals its plain definition: all distances, sorted."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from eocc import SurpriseClassifier
from eocc.datasets import load_uci
from eocc.neighbours import exact
from oracles.surprise import surprise_of_rows

real_data = pytest.mark.skipif(not os.environ.get("EOCC_DATA"), reason="EOCC_DATA names no folder with the data sets")
IN_FOLDER = ["AB", "BI", "BW", "D", "E", "L", "AR", "BC-P", "C", "S", "SP"]
MOST = 600  # rows of either kind: the definition is slow


def assert_plain(X, new):
    clf = SurpriseClassifier(false_alarm_rate=0.2).fit(X)
    assert_allclose(clf.calibration_values(clf.read(new)), surprise_of_rows(X, new), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scans", [False, True])
@given(st.integers(5, 40), st.integers(1, 12), st.integers(0, 3), st.sampled_from([1e-100, 1.0, 1e100]), st.integers(0))
def test_scores_are_those_of_the_plain_definition(scans, n, d, decimals, scale, seed):
    # Few decimals make ties and copies.
    rng = np.random.default_rng(seed)
    X, new = (rng.normal(size=(m, d)).round(decimals) * rng.uniform(0.1, 9.0, d) for m in (n, 6))
    with pytest.MonkeyPatch.context() as patch:
        for name in () if scans else ("SCAN_ROWS", "SCAN_VALUES"):
            patch.setattr(exact, name, 0)
        assert_plain(X * scale, np.vstack([new, X[:2]]) * scale)


@pytest.mark.parametrize("name", ["I", "BC-D", *(pytest.param(name, marks=real_data) for name in IN_FOLDER)])
def test_scores_of_measured_rows_are_those_of_the_plain_definition(name):
    data = load_uci(name)
    assert_plain(data.X[data.is_target][:MOST], data.X[:: 1 + len(data.X) // MOST])
