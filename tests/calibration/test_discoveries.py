"""Discoveries: Benjamini-Hochberg on p-values, the false discovery rate, and what a model with few rows can find."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.calibration.conformal import Calibration, DiscoveryCounts


def held_out(n):
    return Calibration(np.arange(float(n)), 0.5)


@given(st.integers(1, 60), st.lists(st.integers(1, 61), min_size=1, max_size=80), st.sampled_from([0.05, 0.1, 0.37]))
def test_discoveries_are_those_of_scipy(n, ranks, rate):
    p_values = np.minimum(np.array(ranks), n + 1) / (n + 1)
    found = DiscoveryCounts(held_out(n)).add(p_values).result(rate)
    assert (found.among(p_values) == (false_discovery_control(p_values) <= rate * (1 + 1e-12))).all()
    assert found.count == found.among(p_values).sum()


def test_parts_count_like_the_whole():
    p_values = np.random.default_rng(0).integers(1, 100, 500) / 100
    counts = DiscoveryCounts(held_out(99))
    for part in np.split(p_values, [3, 3, 200]):
        counts.add(part)
    assert counts.result(0.2) == DiscoveryCounts(held_out(99)).add(p_values).result(0.2)


def test_a_single_row_needs_as_many_training_rows_as_rows_over_the_rate():
    # 1 / (n + 1) <= rate / rows: 10 rows at 0.1 need n = 99.
    p_values = np.ones(10)
    for n, is_enough in ((98, False), (99, True)):
        p_values[0] = 1 / (n + 1)
        found = DiscoveryCounts(held_out(n)).add(p_values).result(0.1)
        assert (found.count == 1) == is_enough
        assert (found.remark == "") == is_enough


def test_with_fewer_rows_several_are_found_together_and_a_line_says_so_if_none_are():
    found = DiscoveryCounts(held_out(49)).add(np.full(10, 1 / 50)).result(0.1)
    assert (found.fewest, found.count, found.remark) == (2, 10, "")
    found = DiscoveryCounts(held_out(49)).add(np.ones(10)).result(0.1)
    assert "49 calibration rows are too few to find a single one of 10 rows" in found.remark
    assert "at least 2 must be" in found.remark
    assert "too few to find any of 2 rows" in DiscoveryCounts(held_out(4)).add(np.ones(2)).result(0.1).remark


def test_the_classifier_warns_and_refuses_rates_outside_0_and_1():
    rng = np.random.default_rng(0)
    clf = SurpriseClassifier().fit(rng.normal(size=(200, 3)))
    new = np.vstack([rng.normal(size=(19, 3)), [[30.0, 0, 0]]])
    assert clf.discoveries(new).nonzero()[0].tolist() == [19]
    with pytest.warns(UserWarning, match="too few to find a single one of 400 rows"):
        clf.discoveries(np.tile(new[:1], (400, 1)))
    for rate in (0, 1, -0.1, 2.5, "0.1", True):
        with pytest.raises(ValueError, match=rf"rate must be a number in \(0, 1\), not {rate!r}"):
            clf.discoveries(new, rate)
        with pytest.raises(ValueError, match=rf"not {rate!r}"):
            clf.summary(new, rate)


def test_rows_without_any_value_are_left_out_as_in_the_summary():
    X = np.random.default_rng(0).normal(size=(300, 3))
    clf = SurpriseClassifier(measure="gower").fit(np.where(X > 2.2, np.nan, X))
    strange = np.random.default_rng(1).normal(size=(20, 3)) * 3
    new = np.vstack([strange, np.full((2, 3), np.nan)])
    with pytest.warns(UserWarning, match="no values"):
        found = clf.discoveries(new)
    assert found.tolist() == [*clf.discoveries(strange), False, False]
    with pytest.warns(UserWarning, match="no values"):
        assert found.sum() == clf.summary(new).discoveries.count == 13


def test_a_model_without_p_values_has_no_discoveries():
    clf = EntropicOneClassClassifier(search=None, random_state=0).fit(np.random.default_rng(0).normal(size=(20, 2)))
    with pytest.raises(ValueError, match="not calibrated"):
        clf.discoveries([[0.0, 0.0]])
    assert clf.summary([[0.0, 0.0]]).discoveries is None


def test_the_false_discovery_rate_holds():
    """A small form of benchmarks/discoveries.py: at most 0.12 of discoveries are false, and clean files have none."""
    false, clean = [], 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        clf = SurpriseClassifier().fit(rng.normal(size=(600, 3)))
        new = rng.normal(size=(300, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clean += bool(clf.discoveries(new).any())
            new[:10] += 6
            found = clf.discoveries(new)
        assert found[:10].all()
        false.append(found[10:].sum() / found.sum())
    assert 0 < np.mean(false) <= 0.12
    assert clean <= 0.1 * 25
