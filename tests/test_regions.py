import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from eocc.extents import EXTENTS, resolve_extent
from eocc.graph import EuclideanGraph, spanning_tree
from eocc.memberships import MEMBERSHIP_FUNCTIONS, Gaussian, resolve_membership_function
from eocc.partition import cut
from eocc.regions import LEAST_EXTENT, FuzzyModel, build_regions
from eocc.tconorms import maximum, resolve_tconorm
from oracles import core
from strategies import distance_matrices


def graph_of(distances):
    return EuclideanGraph(np.asarray(distances, dtype=float), spanning_tree(distances))


def model(representatives, extents):
    return FuzzyModel(np.array(representatives, float), np.array(extents, float), Gaussian(), maximum)


@given(distance_matrices(), st.data())
def test_regions_equal_the_definition(distances, data):
    graph = graph_of(distances)
    labels = cut(graph.tree, data.draw(st.integers(1, len(distances))))
    mean_edge = float(graph.tree.lengths.mean()) if len(distances) > 1 else 0.0
    for number, region in enumerate(build_regions(graph, labels, resolve_extent("mean"))):
        members = [i for i, label in enumerate(labels) if label == number]
        medoid, extent = core.region(distances.tolist(), members, mean_edge if mean_edge > 0 else LEAST_EXTENT)
        assert region.members.tolist() == members
        assert region.representative == medoid
        assert region.extent == pytest.approx(extent, abs=1e-12)


def test_three_points_on_a_line_by_hand():
    x = np.array([0.0, 0.1, 0.4])
    (region,) = build_regions(graph_of(np.abs(x[:, None] - x)), np.zeros(3, int), resolve_extent("mean"))
    assert region.representative == 1
    assert region.extent == pytest.approx((0.1 + 0.3 + 0.4) / 3)


@pytest.mark.parametrize(("name", "expected"), [("mean", 2.5), ("median", 2.0), ("max", 5.0), ("std", 1.5)])
def test_extents_by_hand(name, expected):
    assert EXTENTS[name](np.array([1.0, 2.0, 2.0, 5.0])) == expected


def test_lone_pattern_takes_the_mean_edge_and_copies_too():
    x = np.array([0.0, 0.0, 0.3, 0.9])
    graph = graph_of(np.abs(x[:, None] - x))
    regions = build_regions(graph, cut(graph.tree, 3), resolve_extent("mean"))
    assert [region.members.tolist() for region in regions] == [[0, 1], [2], [3]]
    assert [region.extent for region in regions] == pytest.approx([0.3, 0.3, 0.3])


def test_equally_central_members_give_the_first_although_sums_round_differently():
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) / 3
    distances = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
    distances[0, 3] = distances[3, 0] = np.nextafter(distances[0, 3], 1)
    (region,) = build_regions(graph_of(distances), np.zeros(4, int), resolve_extent("max"))
    assert region.representative == 0


@given(st.lists(st.floats(0, 1), min_size=2, max_size=5), st.lists(st.floats(1e-3, 1), min_size=2, max_size=2))
def test_score_and_decision_equal_the_definition(row, extents):
    representatives = [[0.0] * len(row), [1.0] * len(row)]
    fuzzy = model(representatives, extents)
    rows = np.array([row])
    expected = core.score(row, representatives, extents)
    assert fuzzy.log_membership(rows)[0] == pytest.approx(expected, abs=1e-10)
    if abs(expected + 0.5) > 1e-6:
        assert (fuzzy.decision(rows)[0] >= 0) == (expected >= -0.5)


def test_the_boundary_belongs_to_the_region():
    fuzzy = model([[0.0]], [0.3])
    assert (fuzzy.decision(np.array([[0.3], [0.1 + 0.2], [0.3001]])) >= 0).tolist() == [True, True, False]


def test_far_patterns_still_rank_and_stay_finite():
    fuzzy = model([[0.0]], [1e-3])
    scores = fuzzy.log_membership(np.array([[1.0], [2.0], [1e200], [np.finfo(float).max]]))
    assert np.isfinite(scores).all()
    assert scores[0] > scores[1] > scores[2]
    assert np.exp(scores[0]) == 0


def test_least_extent_keeps_distances_apart():
    fuzzy = model([[0.0]], [LEAST_EXTENT])
    assert_allclose(np.argsort(-fuzzy.log_membership(np.array([[2.0], [0.0], [1e50], [1.0]]))), [1, 3, 0, 2])


@pytest.mark.parametrize("name", MEMBERSHIP_FUNCTIONS)
def test_every_membership_function_falls_from_one(name):
    grades = resolve_membership_function(name).log_grade(np.linspace(0, 5, 50))
    assert grades[0] == 0
    assert (np.diff(grades) <= 0).all()


@pytest.mark.parametrize("resolve", [resolve_extent, resolve_membership_function, resolve_tconorm])
def test_unknown_names_are_listed(resolve):
    with pytest.raises(ValueError, match=r"unknown .* 'nothing'; known: '"):
        resolve("nothing")
