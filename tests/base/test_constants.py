"""Constants that matter: each has a test that fails when the constant changes."""

import numpy as np

from doubles import plain
from eocc import SurpriseClassifier
from eocc.ellipsoids import model
from eocc.entropic.graph import DissimilaritySpace, EuclideanGraph, SpanningTree, point_spanning_tree
from eocc.entropic.regions import build_region
from eocc.entropic.rules import log_grades, std_extent


def test_an_extent_that_is_only_rounding_counts_as_0():
    # Three equal distances, one of which is 0.1 + 0.2 = 0.30000000000000004: their standard deviation is 2.6e-17.
    d, e = 0.3, 0.1 + 0.2
    distances = np.array([[0.0, d, e], [d, 0.0, d], [e, d, 0.0]])
    tree = SpanningTree(np.array([[0, 1], [1, 2]]), np.array([0.7, 0.7]))
    graph = EuclideanGraph(DissimilaritySpace(np.eye(3), np.zeros(3)), distances, tree)
    region = build_region(graph, std_extent, np.arange(3))
    assert std_extent(np.array([d, d, e])) > 0
    assert region.extent == 0.7


class Steep:
    """Falls to a grade of 1e-4e99 at half an extent, and to 0 beyond it."""

    def log_grade(self, ratio):
        return np.where(ratio > 0.5, -np.inf, -1.9e100 * ratio)


def test_a_grade_of_0_scores_below_every_other_grade():
    scores = log_grades(Steep(), np.array([[0.0, 0.2, 0.49, 0.51, 0.6, 5.0]]))[0]
    assert (np.diff(scores) < 0).all()


def test_both_members_of_a_close_pair_are_accepted_where_dissimilarities_cancel():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = np.vstack([rng.normal(size=(2, 3)), rng.normal(size=(2, 3)) + 5e13]) * 1e-13 + 1.0
        clf = plain().fit(X)
        assert [len(region.members) for region in clf.regions_] == [2, 2]
        assert (clf.predict(X) == 1).all()


def count_compared(n, n_columns, pair_bytes=0.0):
    """With how many of n training rows new rows are compared."""
    return SurpriseClassifier()._plan_fit(n, n_columns, pair_bytes)[2]


def test_how_many_rows_are_compared_with_by_default():
    counts = [count_compared(n, 20) for n in (20_001, 223_606, 250_000, 5_000_000, 10_000_000, 10**9)]
    assert counts == [20_001, 223_606, 200_000, 10_000, 5000, 5000]
    assert [count_compared(n, 10) for n in (200_000, 1_000_000, 4_000_000)] == [200_000, 50_000, 12_500]
    assert [count_compared(100_000, d) for d in (1, 100, 101)] == [100_000, 100_000, 99_009]


def test_how_many_other_patterns_are_compared_with_by_default():
    # 24 bytes per pair and three matrices: 6688^2 * 48 bytes are just below 2 GiB.
    assert [count_compared(n, 1, 24.0) for n in (6688, 10**6)] == [6688, 6688]
    assert 6688**2 * 48 <= 2**31 < 6689**2 * 48


def test_in_how_many_coordinates_the_tree_of_regions_comes_from_a_matrix_product(monkeypatch):
    # Of tied edges the two ways choose others, so the number decides for rows of zeros and ones.
    seen = []
    monkeypatch.setattr(
        model, "point_spanning_tree", lambda rows: seen.append(rows.shape[1]) or point_spanning_tree(rows)
    )
    for n_columns in (60, 61):
        model.cut_tree(np.random.default_rng(0).normal(size=(90, n_columns)), 3)
    assert seen == [60]
