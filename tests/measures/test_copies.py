"""Equal rows get equal dissimilarities: no stage of the paper's method depends on rounding or on the order of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from copied_rows import differing_stages, random_problem
from eocc import EntropicOneClassClassifier
from eocc.measures.euclidean import distinct_rows, euclidean_pairwise_distance
from oracles import core
from strategies import points


@pytest.mark.parametrize("seed", range(40))
def test_every_stage_equals_the_definition(seed):
    assert differing_stages(*random_problem(np.random.default_rng(seed))) == []


def fitted(X, p, **settings):
    return EntropicOneClassClassifier(measure="euclidean", weights=p, **settings).fit(X)


def partition_of(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_the_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, _, p, first_cut = random_problem(rng, 12, 40)
    order = rng.permutation(len(X))
    one, other = fitted(X, p, first_cut=first_cut), fitted(X[order], p, first_cut=first_cut)
    assert_allclose(other.entropy_, one.entropy_, rtol=1e-12)
    first = distinct_rows(X * np.sqrt(p))[1]
    # Copies are cut apart last, in the order of the rows.
    n_distinct = len(set(first))
    assert_allclose(other.modularity_curve_[:n_distinct], one.modularity_curve_[:n_distinct], atol=1e-12)
    if len(one.regions_) > n_distinct:
        return
    assert_allclose(sorted(r.extent for r in other.regions_), sorted(r.extent for r in one.regions_), rtol=1e-9)
    labels = np.empty_like(other.labels_)
    labels[order] = other.labels_
    assert partition_of(labels) == partition_of(one.labels_)


@pytest.mark.parametrize("seed", range(20))
def test_precomputed_dissimilarities_give_the_same_model(seed):
    X, new, p, first_cut = random_problem(np.random.default_rng(seed), 12, 40)
    p = np.ones(len(p))
    D, tested = (core.dissimilarities(rows, X, p, core.largest_distance(X)) for rows in (X, new))
    rows = fitted(X, p, first_cut=first_cut)
    given_ = EntropicOneClassClassifier(measure="precomputed", first_cut=first_cut).fit(D)
    assert_allclose(given_.entropy_, rows.entropy_, rtol=1e-12)
    assert_allclose(given_.modularity_curve_, rows.modularity_curve_, atol=1e-12)
    assert_array_equal(given_.labels_, rows.labels_)
    assert_allclose([r.extent for r in given_.regions_], [r.extent for r in rows.regions_], rtol=1e-9)
    assert_array_equal(given_.predict(tested), rows.predict(new))


def test_a_copy_adds_an_edge_of_length_0():
    X = np.random.default_rng(6).normal(size=(14, 2))
    X[-1] = X[0]
    entropies = [EntropicOneClassClassifier(search=None).fit(rows).entropy_ for rows in (X, X[::-1])]
    assert_allclose(entropies, 0.8828085484863712, rtol=1e-12)


def test_a_region_of_copies_has_the_default_extent_in_any_order():
    X = np.random.default_rng(7).normal(size=(14, 2)) * 0.3
    X[-1] = X[0] = [6, 6]
    for rows in (X, X[::-1]):
        assert EntropicOneClassClassifier(search=None).fit(rows).predict(X[:1] + 1e-6) == 1


@given(points(), st.data())
def test_distances_of_equal_rows_are_equal(X, data):
    copies = data.draw(st.lists(st.integers(0, len(X) - 1), max_size=8))
    rows = np.vstack([X, X[copies]])
    distances = euclidean_pairwise_distance(rows, 0.5)
    assert_allclose(distances, core.pairwise(rows) * 0.5, rtol=1e-10, atol=1e-10)
    distinct, number = distinct_rows(rows)
    assert_array_equal(distinct[number] if len(distinct) < len(rows) else rows, rows)
    assert len(distinct) == len({tuple(row) for row in (rows + 0.0).tolist()})
    for i, j in enumerate(copies, len(X)):
        assert distances[i, j] == 0
        assert_array_equal(distances[i], distances[j])
        assert_array_equal(distances[:, i], distances[:, j])


def test_weights_of_0_make_copies():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[5, :2] = X[20, :2]
    D = fitted(X, [0.3, 0.7, 0.0]).measure_.prepare(X).evaluate(np.array([0.3, 0.7, 0.0]))
    assert_array_equal(D[5], D[20])
    assert D[5, 20] == 0
