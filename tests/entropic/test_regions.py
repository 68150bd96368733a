import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist, squareform

from eocc.base.registry import resolve
from eocc.entropic import EXTENTS, TCONORMS
from eocc.entropic.graph import DissimilaritySpace, EuclideanGraph, spanning_tree
from eocc.entropic.partition import cut, members_of
from eocc.entropic.regions import CANCELLED, LEAST_EXTENT, FuzzyModel, build_region, log_grades
from eocc.entropic.rules import (
    MEMBERSHIP_FUNCTIONS,
    Bell,
    Gaussian,
    QuantileExtent,
    Triangular,
    decision_margin,
    maximum,
    resolve_membership_function,
)
from eocc.kernels.distances import pairs_among, sums_among
from oracles import core
from strategies import distance_matrices


def graph_of(distances, rows=None):
    rows = np.asarray(distances, dtype=float) if rows is None else rows
    space = DissimilaritySpace(rows, np.zeros(rows.shape[1]))
    return EuclideanGraph(space, np.asarray(distances, dtype=float), spanning_tree(distances))


def model(centres, extents, function=None):
    return FuzzyModel(np.array(centres, float), np.array(extents, float), function or Gaussian(), maximum)


def regions_of(graph, labels, extent="mean"):
    extent = resolve("extent", EXTENTS, extent, "__call__")
    return [build_region(graph, extent, members) for members in members_of(labels)]


@given(distance_matrices(), st.data())
def test_regions_equal_the_definition(distances, data):
    graph = graph_of(distances)
    labels = cut(graph.tree, data.draw(st.integers(1, len(distances))))
    mean_edge = float(graph.tree.lengths.mean()) if len(distances) > 1 else 0.0
    for number, region in enumerate(regions_of(graph, labels)):
        members = [i for i, label in enumerate(labels) if label == number]
        medoid, extent = core.region(distances.tolist(), members, mean_edge if mean_edge > 0 else LEAST_EXTENT)
        assert region.members.tolist() == members
        assert region.representative == medoid
        assert region.extent == pytest.approx(extent, abs=1e-12)


@given(distance_matrices(), st.data())
def test_sums_and_pairs_of_members_equal_the_definition(distances, data):
    everyone = list(range(len(distances)))
    members = data.draw(st.lists(st.sampled_from(everyone), min_size=1, unique=True).map(sorted))
    sums, largest, pairs = core.among(distances.tolist(), members)
    found, found_pairs = np.empty(len(members)), np.empty(len(pairs))
    assert sums_among(distances, np.array(members), found) == largest
    assert_allclose(found, sums, rtol=1e-12)
    pairs_among(distances, np.array(members), found_pairs)
    assert found_pairs.tolist() == pairs


@pytest.mark.parametrize("extent", ["mean", "max"])
def test_an_extent_of_your_own_gets_all_pairs(extent):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    graph, labels = graph_of(squareform(pdist(rows)), rows), np.arange(20) % 3
    of_sums = resolve("extent", EXTENTS, extent, "__call__")
    found, expected = regions_of(graph, labels, lambda pairs: of_sums(pairs)), regions_of(graph, labels, of_sums)
    for one, other in zip(found, expected, strict=True):
        assert one.representative == other.representative
        assert one.extent == pytest.approx(other.extent, rel=1e-12)


def test_three_points_on_a_line_by_hand():
    x = np.array([0.0, 0.1, 0.4])
    (region,) = regions_of(graph_of(np.abs(x[:, None] - x)), np.zeros(3, int))
    assert region.representative == 1
    assert region.extent == pytest.approx((0.1 + 0.3 + 0.4) / 3)


@pytest.mark.parametrize(("name", "expected"), [("mean", 2.5), ("median", 2.0), ("max", 5.0), ("std", 1.5)])
def test_extents_by_hand(name, expected):
    assert EXTENTS[name](np.array([1.0, 2.0, 2.0, 5.0])) == expected


def test_single_patterns_and_copies_get_the_mean_edge_as_extent():
    x = np.array([0.0, 0.0, 0.3, 0.9])
    graph = graph_of(np.abs(x[:, None] - x))
    regions = regions_of(graph, cut(graph.tree, 3))
    assert [region.members.tolist() for region in regions] == [[0, 1], [2], [3]]
    assert [region.extent for region in regions] == pytest.approx([0.3, 0.3, 0.3])


def test_of_equally_central_members_the_first_is_the_medoid_despite_rounding():
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) / 3
    distances = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
    distances[0, 3] = distances[3, 0] = np.nextafter(distances[0, 3], 1)
    (region,) = regions_of(graph_of(distances), np.zeros(4, int), "max")
    assert region.representative == 0


@given(st.lists(st.floats(0, 1), min_size=2, max_size=5), st.lists(st.floats(1e-3, 1), min_size=2, max_size=2))
def test_score_and_decision_equal_the_definition(row, extents):
    representatives = [[0.0] * len(row), [1.0] * len(row)]
    fuzzy = model(representatives, extents)
    rows = np.array([row])
    expected = core.score(row, representatives, [extent + CANCELLED for extent in extents])
    assert fuzzy.log_membership(rows)[0] == pytest.approx(expected, abs=1e-10)
    if abs(expected + 0.5) > 1e-6:
        assert (decision_margin(fuzzy.ratios(rows)[0].min()) >= 0) == (expected >= -0.5)


def test_the_boundary_belongs_to_the_region():
    fuzzy = model([[0.0]], [0.3])
    ratios = fuzzy.ratios(np.array([[0.3], [0.1 + 0.2], [0.3001]]))[:, 0]
    assert (decision_margin(ratios) >= 0).tolist() == [True, True, False]


def test_scores_of_far_rows_are_finite_and_ranked():
    fuzzy = model([[0.0]], [1e-3])
    scores = fuzzy.log_membership(np.array([[1.0], [2.0], [1e200], [np.finfo(float).max]]))
    assert np.isfinite(scores).all()
    assert scores[0] > scores[1] > scores[2]
    assert np.exp(scores[0]) == 0


def test_least_extent_keeps_different_distances_different():
    fuzzy = model([[0.0]], [LEAST_EXTENT])
    assert_allclose(np.argsort(-fuzzy.log_membership(np.array([[2.0], [0.0], [1e50], [1.0]]))), [1, 3, 0, 2])


@pytest.mark.parametrize("name", MEMBERSHIP_FUNCTIONS)
def test_every_membership_function_falls_from_one(name):
    function = resolve_membership_function(name)
    ratios = np.concatenate([np.linspace(0, 5, 51), [1e10, 1e200, np.inf]])
    assert function.log_grade(np.zeros(1))[0] == 0
    scores = log_grades(function, ratios)
    assert np.isfinite(scores).all()
    assert (np.diff(scores) <= 0).all()
    assert (np.diff(scores[5:51]) < 0).all()  # ranks also where the grade itself is 0


def test_unknown_names_are_listed():
    with pytest.raises(ValueError, match=r"unknown membership function 'nothing'; known: '"):
        resolve_membership_function("nothing")
    with pytest.raises(ValueError, match=r"unknown extent 'nothing'; known: '"):
        resolve("extent", EXTENTS, "nothing", "__call__")


@pytest.mark.parametrize("name", TCONORMS)
@given(hnp.arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 5)), elements=st.floats(0, 1)))
def test_every_tconorm_satisfies_the_axioms(name, grades):
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(grades), -1000.0)
    tconorm = TCONORMS[name]
    united = tconorm(logs)
    assert (united <= 1e-12).all()
    assert (united >= logs.max(axis=1) - 1e-9).all()  # the maximum is the least t-conorm
    assert_allclose(tconorm(logs[:, ::-1]), united, atol=1e-9)
    nothing = np.full((len(logs), 1), -1000.0)
    assert_allclose(np.exp(tconorm(np.hstack([logs, nothing]))), np.exp(united), atol=1e-12)
    if logs.shape[1] > 2:
        pairwise = np.column_stack([tconorm(logs[:, :2]), logs[:, 2:]])
        assert_allclose(np.exp(tconorm(pairwise)), np.exp(united), atol=1e-9)


@pytest.mark.parametrize("name", TCONORMS)
def test_tconorms_rank_grades_that_underflow(name):
    united = TCONORMS[name](np.array([[-2000.0, -2500.0], [-2001.0, -2001.5], [-31.0, -40.0], [-29.0, -40.0]]))
    assert np.isfinite(united).all()
    assert np.argsort(-united).tolist() == [3, 2, 0, 1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: QuantileExtent(2), r"q must be a number in \[0, 1\], not 2"),
        (lambda: Triangular(support=1), "support must be a number > 1, not 1"),
        (lambda: Bell(slope=0), "slope must be a number > 0, not 0"),
    ],
)
def test_invalid_settings_raise_clear_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_probabilistic_sum_ranks_grades_close_to_1():
    tconorm = TCONORMS["probabilistic"]
    with_many = tconorm(np.log([[0.9] * 20, [0.95] * 20, [0.99] * 20]))
    assert (np.diff(with_many) > 0).all()
    with_two = tconorm(np.array([[-2e-9, -2e-9], [-1e-9, -1e-9]]))
    assert with_two[0] < with_two[1] < 0


def test_zero_grades_score_below_all_others_and_are_ranked():
    class CutOff:
        def log_grade(self, ratio):
            return np.where(ratio < 60, -(ratio**2) / 2, -np.inf)

    scores = log_grades(CutOff(), np.array([[50.0, 59.0, 61.0, 70.0]]))
    assert (np.diff(scores) < 0).all()


def test_values_of_settings_by_hand():
    assert QuantileExtent(0.25)(np.array([0.0, 1.0, 2.0, 3.0, 4.0])) == 1.0
    assert np.exp(Bell(slope=1.0).log_grade(np.array([2.0]))) == pytest.approx(1 / 5)
    assert np.exp(Bell(slope=2.0).log_grade(np.array([2.0]))) == pytest.approx(1 / 17)
    with pytest.raises(ValueError, match=r"write QuantileExtent\(\)"):
        resolve("extent", EXTENTS, QuantileExtent, "__call__")
