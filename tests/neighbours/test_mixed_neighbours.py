"""Exact nearest rows of numbers and codes against all dissimilarities, bit for bit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eocc import SurpriseClassifier
from eocc.base.threads import threads
from eocc.neighbours import exact, tiles
from eocc.neighbours.exact import RowIndex
from eocc.surprise.comparison import Reference
from oracles import exact as oracle


@pytest.fixture(autouse=True)
def _small_tiles(monkeypatch):
    monkeypatch.setattr(tiles, "TILE", 3)


def check(index, rows, k):
    for found, p in zip(index.nearest(rows, k), index.weightings, strict=True):
        expected = [oracle.nearest_mixed(row, index.points, index.is_code, p, k) for row in rows]
        assert [list(zip(*pair, strict=True)) for pair in zip(*map(np.ndarray.tolist, found), strict=True)] == expected


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([1, 3, 10]))
def test_the_nearest_are_those_of_all_pairs(seed, n, k):
    rng = np.random.default_rng(seed)
    is_code = rng.random(4) < 0.5
    # Few different values, so that there are ties and copies; codes that share a bit; gaps that nothing filled.
    rows = np.where(is_code, rng.choice([0, 1, 64, 65], (n + 5, 4)), rng.integers(-3, 4, (n + 5, 4)) / 3)
    rows[rng.random(rows.shape) < rng.choice([0, 0.2])] = np.nan
    index = RowIndex.of(rows[:n], rng.choice([0.0, 0.3, 1.0], (2, 4)), is_code)
    assert_array_equal(index.points[index.point_of[:-1]], rows[:n])
    check(index, rows, k)


@given(st.integers(0, 2**32 - 1))
def test_numbers_far_apart_and_near(seed):
    rng = np.random.default_rng(seed)
    is_code = np.array([False, True, False])
    rows = rng.normal(size=(30, 3)) * 10.0 ** rng.integers(-9, 9, (30, 3))
    rows[:, 1] = rng.integers(0, 3, 30)
    check(RowIndex.of(rows[:20], rng.random((1, 3)), is_code), rows, 4)


def test_the_answer_does_not_depend_on_threads_or_on_the_batch(monkeypatch):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=300), rng.integers(0, 5, 300)])
    index = RowIndex.of(rows, np.ones((1, 2)), np.array([False, True]))
    monkeypatch.setattr(exact, "ROWS_PER_TASK", 7)
    with threads(2):
        (many,) = index.nearest(rows, 5)
    for number in (0, 150, 299):
        (one,) = index.nearest(rows[number : number + 1], 5)
        assert_array_equal(one.distances[0], many.distances[number])
        assert_array_equal(one.numbers[0], many.numbers[number])


def test_a_model_of_mixed_rows_is_that_of_all_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"load": rng.normal(size=90).round(1), "state": rng.choice(["a", "b", "c"], 90),
                          "level": np.where(rng.random(90) < 0.1, np.nan, rng.integers(0, 4, 90))})  # fmt: skip
    outliers = pd.DataFrame({"load": [9.0, 8.0], "state": ["z", "y"], "level": [0.0, np.nan]})
    X, y = pd.concat([frame, outliers]), np.r_[np.ones(90), -np.ones(2)]
    found = [SurpriseClassifier().fit(frame).score_samples(X), SurpriseClassifier().fit(X, y).score_samples(X)]
    made = Reference.__post_init__

    def without_lists(reference):
        made(reference)
        reference.length = 0

    monkeypatch.setattr(Reference, "__post_init__", without_lists)
    for scores, expected in zip(found, [SurpriseClassifier().fit(frame), SurpriseClassifier().fit(X, y)], strict=True):
        np.testing.assert_allclose(scores, expected.score_samples(X), rtol=1e-9)
