"""The edit scheme that the authors of the paper published."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.explain import differences
from eocc.measures.graphs import Twec, term_weights
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.objects import Objects
from oracles import graphs as oracle
from samples import samples
from strategies import flat, plain_graphs, ranges

two_kinds = st.booleans().flatmap(lambda directed: st.lists(plain_graphs(directed), min_size=1, max_size=5))


@given(two_kinds, st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_costs_equal_the_definition_and_d_is_their_mixture(graphs, p):
    patterns = Objects(map(flat, graphs))
    measure = Twec().fit(patterns)
    vertex = ranges(graphs, lambda graph: graph["vertices"])
    edge = ranges(graphs, lambda graph: graph["edges"].values())
    expected = np.array([[oracle.twec_costs(a, b, vertex, edge) for b in graphs] for a in graphs])
    square = measure.prepare(patterns)
    assert_allclose(np.moveaxis(square.components, 0, 2), expected, atol=1e-10)
    assert_array_equal(measure.prepare(patterns, patterns).components, square.components)
    a, b, g = p
    c_n, c_e, c_ed, c_nd = np.moveaxis(expected, 2, 0)
    d = square.evaluate(np.array(p))
    assert_allclose(d, (1 - a) * ((1 - b) * c_n + b * ((1 - g) * c_e + g * c_ed)) + a * c_nd, atol=1e-10)
    assert d.min() >= 0
    assert d.max() <= 1 + 1e-12
    assert not d.diagonal().any()


def test_it_is_symmetric_only_where_the_pairing_is():
    one, other = LabelledGraph(2, [], {"x": [0.0, 4.0]}), LabelledGraph(2, [], {"x": [3.0, 10.0]})
    costs = Twec().fit(Objects([one, other])).prepare(Objects([one, other])).components[0]
    # 0 takes 3, 4 takes 10; the other way 3 takes 4, 10 takes 0.
    assert_allclose(costs, [[0.0, 0.45], [0.55, 0.0]])


def test_the_neutral_weights_count_all_costs_alike():
    graphs, _ = samples("twec")
    assert_allclose(term_weights(np.array(Twec().fit(Twec().read(graphs)).neutral_weights())), 0.25)
    clf = EntropicOneClassClassifier(measure="twec", search=None).fit(graphs)
    assert_allclose(clf.weights_, [0.25, 2 / 3, 0.5])
    assert_allclose(SurpriseClassifier(measure="twec").fit(graphs).weights_, [0.25, 2 / 3, 0.5])


@pytest.mark.parametrize("weights", [[0.2, 0.5, 0.3], [0.0, 0.0, 1.0], [1.0, 0.3, 0.3]])
def test_the_edits_add_up_to_the_dissimilarity(weights):
    graphs, new = samples("twec")
    clf = EntropicOneClassClassifier(measure="twec", weights=weights).fit(graphs)
    for some in (new[:3], graphs[:3]):
        for shift in range(len(graphs) - 3):
            for difference in differences(clf, some, graphs[shift : shift + 3]):
                total = sum(one.amount for one in difference.contributions)
                assert_allclose(total, difference.dissimilarity, atol=1e-12)
