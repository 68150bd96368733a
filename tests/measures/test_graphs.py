from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier, SurpriseClassifier, load
from eocc.base.threads import threads
from eocc.entropic.search import GeneticSearch
from eocc.explain import differences
from eocc.measures.graphs import GraphEdit
from eocc.measures.labelled_graph import LabelledGraph, labelled_graph
from eocc.measures.objects import Objects
from oracles import graphs as oracle
from strategies import flat, plain_graphs, ranges


@given(st.booleans().flatmap(lambda directed: st.lists(plain_graphs(directed), min_size=1, max_size=5)))
def test_components_equal_the_definition(graphs):
    measure = GraphEdit().fit(Objects(map(flat, graphs)))
    vertex = ranges(graphs, lambda graph: graph["vertices"])
    edge = ranges(graphs, lambda graph: graph["edges"].values())
    expected = np.array([[oracle.edit_counts(a, b, vertex, edge) for b in graphs] for a in graphs])
    patterns = Objects(map(flat, graphs))
    square = measure.prepare(patterns).components
    assert_allclose(np.moveaxis(square, 0, 2), expected, atol=1e-10)
    assert_array_equal(measure.prepare(patterns, patterns).components, square)


def random_graph(rng, n=None, directed=False):
    n = int(rng.integers(3, 9)) if n is None else n
    graph = nx.gnp_random_graph(n, 0.4, seed=int(rng.integers(10**6)), directed=directed)
    for node in graph.nodes:
        graph.nodes[node]["x"] = float(rng.random())
        graph.nodes[node]["symbol"] = str(rng.choice(list("CNO")))
    for edge in graph.edges:
        graph.edges[edge]["valence"] = int(rng.integers(1, 4))
    return graph


@pytest.fixture(scope="module")
def molecules():
    rng = np.random.default_rng(0)
    return [random_graph(rng) for _ in range(25)]


def test_dissimilarities_stay_in_the_unit_interval_and_vanish_between_copies(molecules):
    measure = GraphEdit()
    patterns = measure.read(molecules)
    fitted = measure.fit(patterns)
    prepared = fitted.prepare(patterns)
    for p in np.random.default_rng(1).random((10, 3)):
        D = prepared.evaluate(p)
        assert D.min() >= 0
        assert D.max() <= 1
        assert_array_equal(D.diagonal(), 0)


def test_a_row_is_the_same_alone_as_in_a_batch_and_at_any_number_of_threads(molecules):
    measure = GraphEdit()
    patterns = measure.read(molecules)
    fitted = measure.fit(patterns)
    whole = fitted.prepare(patterns, patterns).components
    with threads(3):
        assert_array_equal(fitted.prepare(patterns, patterns).components, whole)
    for index in (0, 7, 24):
        assert_array_equal(fitted.prepare(patterns[[index]], patterns).components[:, 0], whole[:, index])


@pytest.mark.parametrize("directed", [False, True])
def test_networkx_and_arrays_give_the_same(directed):
    rng = np.random.default_rng(2)
    graphs = [random_graph(rng, directed=directed) for _ in range(6)]
    arrays = [labelled_graph(graph) for graph in graphs]
    measure = GraphEdit()
    one, two = (measure.fit(measure.read(X)).prepare(measure.read(X)).components for X in (graphs, arrays))
    assert_array_equal(one, two)


def test_fit_and_predict_on_new_graphs(molecules):
    rng = np.random.default_rng(5)
    others = [random_graph(rng, n=30) for _ in range(5)]
    clf = EntropicOneClassClassifier(measure="graph-edit", random_state=0, search=GeneticSearch(max_generations=3))
    clf.fit(molecules[:20])
    assert clf.weights_.shape == (3,)
    scores = clf.score_samples(molecules[20:] + others)
    assert np.isfinite(scores).all()
    assert scores[:5].min() > scores[5:].max()
    assert_array_equal(clf.predict(others), -1)
    alone = [clf.score_samples([graph])[0] for graph in molecules[20:] + others]
    assert_array_equal(scores, alone)
    labels = [1] * 20 + [-1] * 5
    labelled = EntropicOneClassClassifier(measure=GraphEdit(), synthesis="validation", search=None, random_state=0)
    assert labelled.fit(molecules[:20] + others, labels).predict(others).tolist() == [-1] * 5


def test_texts_are_compared_by_edit_distance_and_kinds_can_be_declared():
    names = ["threonine", "threonone", "leucine", "valine"]
    graphs = [LabelledGraph(1, (), {"name": [name], "code": [k]}) for k, name in enumerate(names)]
    by_text = GraphEdit(vertex_kinds={"code": "ignore"}).fit(graphs).prepare(graphs).components[0] * 2
    assert by_text[0, 1] == pytest.approx(1 / 9)
    by_name = GraphEdit(vertex_kinds={"name": "category", "code": "ignore"}).fit(graphs).prepare(graphs)
    assert by_name.components[0, 0, 1] * 2 == 1
    by_code = GraphEdit(vertex_kinds={"name": "ignore", "code": "category"}).fit(graphs).prepare(graphs)
    assert by_code.components[0, 0, 3] * 2 == 1


def test_numbers_written_as_text_are_numbers_if_declared():
    def graph(*angles):
        return LabelledGraph(2, [[0, 1]], {}, {"angle": list(angles)})

    graphs = Objects([graph(".00"), graph("-1.5"), graph("1e0"), graph(None)])
    written = GraphEdit(edge_kinds={"angle": "number"}).fit(graphs)
    assert written.edge.numbers == {"angle": (-1.5, 2.5)}
    numbers = Objects([graph(0.0), graph(-1.5), graph(1.0), graph(None)])
    expected = GraphEdit().fit(numbers).prepare(numbers).components
    assert_array_equal(written.prepare(graphs).components, expected)
    assert_array_equal(written.prepare(numbers).components, expected)


def test_values_unseen_in_training():
    training = [LabelledGraph(1, (), {"symbol": [s], "x": [x]}) for s, x in (("C", 0.0), ("N", 2.0))]
    new = [LabelledGraph(1, (), {"symbol": ["Pb"], "x": [6.0]}), LabelledGraph(1)]
    measure = GraphEdit().fit(training)
    far, bare = measure.prepare(new, training).components[0] * 2
    assert_allclose(far, [(1 + 3) / 2, (1 + 2) / 2])
    assert_allclose(bare, [1, 1])


@given(st.lists(plain_graphs(False), min_size=2, max_size=4), st.sampled_from([1.0, 1000.0, 2.0**30]))
def test_a_shift_of_all_numbers_changes_nothing(graphs, shift):
    moved = [
        {**graph, "vertices": [{**v, "x": None if v["x"] is None else v["x"] + shift} for v in graph["vertices"]]}
        for graph in graphs
    ]
    one, two = ([flat(graph) for graph in group] for group in (graphs, moved))
    assert_array_equal(GraphEdit().fit(one).prepare(one).components, GraphEdit().fit(two).prepare(two).components)


def test_what_was_read_no_longer_changes():
    values = [1.0, 2.0]
    graph = LabelledGraph(2, [[0, 1]], {"x": values})
    values[0] = 99.0
    assert graph.vertex_attributes["x"] == [1.0, 2.0]


def test_texts_equal_their_definition_on_both_sides_and_on_edges():
    rng = np.random.default_rng(0)
    words = ["threonine", "threonate", "leucine", "valine", "glycine", None]

    def graph(n):
        edges = [[i, i + 1] for i in range(n - 1)]
        pick = lambda k: [words[i] for i in rng.integers(0, 6, k)]  # noqa: E731
        return LabelledGraph(n, edges, {"name": pick(n)}, {"bond": pick(n - 1)})

    training, new = [graph(int(n)) for n in rng.integers(2, 5, 6)], [graph(int(n)) for n in rng.integers(1, 6, 4)]
    kinds = {"vertex_kinds": {"name": "text"}, "edge_kinds": {"bond": "text"}}
    measure = GraphEdit(**kinds).fit(training)
    whole = measure.prepare(new + training, training).components
    assert_array_equal(measure.prepare(new, training).components, whole[:, :4])
    assert_array_equal(measure.prepare(training).components, whole[:, 4:])
    for i, a in enumerate(new):
        assert_array_equal(measure.prepare([a], training).components[:, 0], whole[:, i])


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), np.nan])
def test_kinds_of_missing(missing):
    training = [LabelledGraph(1, (), {"x": [value]}) for value in (0.0, 4.0, missing)]
    D = GraphEdit().fit(training).prepare(training).components[0] * 2
    assert_allclose(D, [[0, 1, 1], [1, 0, 1], [1, 1, 0]])


NODES = ["ant", 7, 3.5, frozenset({1}), ("row", 2)]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_graphs_of_all_kinds_go_straight_into_fit_and_keep_their_names(kind, tmp_path):
    def path(nodes):
        graph = kind()
        graph.add_nodes_from(nodes)
        graph.add_edges_from(pairwise(nodes))
        return graph

    isolated = kind()
    isolated.add_nodes_from("ab")
    training = [path(NODES[:n]) for n in (3, 4, 5, 4, 3)] + [kind(), isolated]
    fitted = SurpriseClassifier().fit(training)
    fitted.save(tmp_path / "m.eocc")
    clf = load(tmp_path / "m.eocc")
    assert_array_equal(clf.score_samples(training), fitted.score_samples(training))
    difference = differences(clf, [path(NODES[3:])], [kind()])[0]
    joint = "->" if training[0].is_directed() else "-"
    assert [one.text for one in difference.contributions] == [
        "insert vertex frozenset({1})",
        "insert vertex ('row', 2)",
        f"insert the edge frozenset({{1}}){joint}('row', 2)",
    ]
    assert difference.contributions[2].details["to"] == ["frozenset({1})", "('row', 2)"]


def test_vertices_with_the_numbers_from_0_need_no_names():
    assert labelled_graph(nx.path_graph(3)).vertex_names == []
    assert labelled_graph(nx.path_graph(3)).called(2) == 2
    assert labelled_graph(nx.Graph([(1, 0)])).vertex_names == ["1", "0"]


@pytest.mark.parametrize("form", [list, tuple, np.array])
def test_several_numbers_in_one_attribute_are_compared_one_by_one(form):
    graph = nx.path_graph(2)
    graph.nodes[0]["pos"], graph.nodes[1]["pos"], graph.edges[0, 1]["w"] = form([0.5, 2]), form([1, 3]), form([9])
    read = labelled_graph(graph)
    assert read.vertex_attributes == {"pos[0]": [0.5, 1], "pos[1]": [2, 3]}
    assert read.edge_attributes == {"w[0]": [9]}
    assert GraphEdit().fit([read]).vertex.numbers == {"pos[0]": (0.5, 0.5), "pos[1]": (2.0, 1.0)}
    assert GraphEdit(vertex_kinds={"pos": "ignore"}).fit([read]).vertex.numbers == {}


@pytest.mark.parametrize(
    ("attributes", "naming", "said"),
    [
        ({"aromatic": "y", "charge": "0", "symbol": "C", "type": "t"}, "symbol", "C"),
        ({"aromatic": True, "Label": "b", "name": "a"}, "Label", "b"),
        ({"charge": 1, "element": 6, "in_ring": True}, "element", "element 6"),
        ({"type": "arc", "name": "a", "x": 1.0}, "type", "arc"),
        ({"active": True, "role": "lead", "x": 1.0}, "role", "lead"),
        ({"active": True, "x": 1.0}, None, ""),
        ({}, None, ""),
    ],
)
def test_the_attribute_that_names_a_vertex(attributes, naming, said):
    graph = LabelledGraph(1, (), {name: [value] for name, value in attributes.items()})
    fitted = GraphEdit().fit([graph])
    assert fitted.vertex.naming == naming
    assert fitted.vertex_labels(graph) == [said]
    assert fitted.describe([graph]) == "1 vertex and 0 edges" + (f": 1 {said}" if said else "")


def test_the_user_names_the_attribute_that_names_a_vertex():
    graph = LabelledGraph(2, [[0, 1]], {"symbol": ["C", "C"], "part": ["lid", None]})
    fitted = GraphEdit(vertex_kinds={"part": "ignore"}, vertex_name="part").fit([graph])
    assert fitted.vertex.names == ["symbol"]
    assert fitted.describe([graph]) == "2 vertices and 1 edge: 1 lid, 1 missing"


class TestBadGraphs:
    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: nx.MultiGraph([(0, 1), (0, 1)]), r"X\[1\]: vertices 0 and 1 are joined by 2 parallel edges"),
            (lambda: nx.MultiDiGraph([("a", "b"), ("a", "b")]), r"X\[1\]: vertices a and b .* as nx.DiGraph\(g\) does"),
            (lambda: 3, r"X\[1\]: graphs must be networkx graphs, RDKit molecules or LabelledGraph, not int"),
        ],
    )
    def test_is_named_with_its_number(self, make, message):
        with pytest.raises(ValueError, match=message):
            EntropicOneClassClassifier(measure="graph-edit").fit([nx.path_graph(3), make()])

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((2, [[0, 1], [1, 0]]), "vertices 0 and 1 are joined by 2 parallel edges"),
            ((2, [[0, 5]]), r"edges must join vertices 0\.\.1; found 5"),
            ((2, [[0.0, 1.0]]), "edges must be pairs of integers"),
            ((4, [[0, 1, 2], [1, 2, 3]]), r"edges must be of shape \(m, 2\), one pair of vertices each, not \(2, 3\)"),
            ((-1,), "n_vertices must be an integer >= 0, not -1"),
            ((2.5,), "n_vertices must be an integer >= 0, not 2.5"),
            ((2, [[0, 1]], {"x": [1.0]}), "vertex attribute 'x' needs 2 values, not 1"),
            ((2, [[0, 1]], {}, {"w": []}), "edge attribute 'w' needs 1 values, not 0"),
            ((2, [[0, 1]], {}, {}, False, ["a"]), "vertex_names needs 2 names, not 1"),
        ],
    )
    def test_arrays(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            LabelledGraph(*arguments)

    def test_directed_and_undirected_together(self):
        with pytest.raises(ValueError, match="some graphs are directed and some are not"):
            EntropicOneClassClassifier(measure="graph-edit").fit([nx.path_graph(3), nx.DiGraph([(0, 1)])])
        clf = EntropicOneClassClassifier(measure="graph-edit", search=None).fit([nx.path_graph(3), nx.path_graph(4)])
        with pytest.raises(ValueError, match="graph 0 is directed, the training graphs are not"):
            clf.predict([nx.DiGraph([(0, 1)])])

    @pytest.mark.parametrize(
        ("value", "message"),
        [(np.inf, "attribute 'x' holds infinity"), ([1, 2], "attribute 'x' should hold numbers, but holds")],
    )
    def test_odd_values_in_new_graphs(self, value, message):
        measure = GraphEdit().fit([LabelledGraph(1, (), {"x": [1.0]})])
        with pytest.raises(ValueError, match=message):
            measure.prepare([LabelledGraph(1, (), {"x": [value]})], [LabelledGraph(1)])

    def test_ranges_too_large_to_be_measured(self):
        graphs = [LabelledGraph(1, (), {"x": [value]}) for value in (-1e308, 1e308)]
        with pytest.raises(ValueError, match="too far apart to be subtracted; rescale it"):
            GraphEdit().fit(graphs)

    def test_mixed_values(self):
        graphs = [LabelledGraph(1, (), {"c": [value]}) for value in (1.0, 2.0, "hi")]
        with pytest.raises(
            ValueError, match=r"vertex attribute 'c' mixes numbers and other values such as 'hi'; .*'category'"
        ):
            GraphEdit().fit(graphs)
        with pytest.raises(ValueError, match=r"vertex attribute 'c' holds a dict; .*vertex_kinds={'c': 'ignore'}"):
            GraphEdit().fit([LabelledGraph(1, (), {"c": [{}]})])
        fitted = GraphEdit().fit([LabelledGraph(1, (), {"c": ["a"]})])
        with pytest.raises(ValueError, match=r"attribute 'c' held single values in training, but here \[1\]"):
            fitted.prepare([LabelledGraph(1, (), {"c": [[1]]})])

    def test_one_graph_alone(self):
        with pytest.raises(ValueError, match=r"not one graph: write \[graph\]"):
            EntropicOneClassClassifier(measure="graph-edit").fit(nx.path_graph(3))

    def test_kinds(self):
        with pytest.raises(ValueError, match="attribute 'x' has unknown kind 'numeric'; known: 'category', 'number'"):
            GraphEdit(vertex_kinds={"x": "numeric"})
        with pytest.raises(ValueError, match="no graph has a vertex attribute 'z'; known: 'x'"):
            GraphEdit(vertex_kinds={"z": "number"}).fit([LabelledGraph(1, (), {"x": [1]})])
        with pytest.raises(ValueError, match="no graph has a vertex attribute 'z'; known: 'x'"):
            GraphEdit(vertex_name="z").fit([LabelledGraph(1, (), {"x": [1]})])
        with pytest.raises(ValueError, match="attribute 'x' should hold numbers, but holds 'a'; replace it by None"):
            GraphEdit(vertex_kinds={"x": "number"}).fit([LabelledGraph(1, (), {"x": ["a"]})])
        measure = GraphEdit().fit([LabelledGraph(1, (), {"x": [1]})])
        with pytest.raises(ValueError, match="attribute 'x' should hold numbers, but holds 'a'"):
            measure.prepare([LabelledGraph(1, (), {"x": ["a"]})], [LabelledGraph(1)])

    @pytest.mark.parametrize("X", [[], "graphs", 3])
    def test_no_sequence(self, X):
        with pytest.raises(ValueError, match=r"X holds no graphs|X must be a sequence of graphs"):
            EntropicOneClassClassifier(measure="graph-edit").fit(X)
