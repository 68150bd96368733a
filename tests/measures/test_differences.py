"""What makes two patterns differ: contributions that add up, and paths that are the measures' own."""

import json
from datetime import date, time, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from rapidfuzz.distance import Levenshtein

from eocc.measures import DTW, MEASURES, Composite, CosineBags, Gower, GraphEdit, LabelledGraph, resolve_measure
from eocc.measures.difference import Difference, Pair
from eocc.measures.graphs import graph_edit_path
from eocc.measures.series import stretches_of, warping_path
from eocc.measures.strings import edit_runs
from oracles import series as series_oracle
from samples import samples


def difference_of(*pair):
    return Pair(*pair).difference


NUMBER_ALONE = {"precomputed"}


def read(measure, X):
    return np.asarray(X) if measure.read is None else measure.read(X)


def all_differences(measure, training, new, weights=None, seed=3):
    """Every new pattern against every training pattern, beside the measure's own dissimilarity."""
    measure = resolve_measure(measure)
    patterns, prototypes = read(measure, new), read(measure, training)
    fitted = measure.fit(prototypes)
    p = np.random.default_rng(seed).random(fitted.n_parameters) if weights is None else np.array(weights, float)
    D = fitted.prepare(patterns, prototypes).evaluate(p)
    for i in range(len(patterns)):
        for j in range(len(prototypes)):
            yield difference_of(fitted, patterns[i : i + 1], prototypes[j : j + 1], p), D[i, j]


def total(difference):
    return sum(one.amount for one in difference.contributions)


def texts(difference):
    return [one.text for one in difference.contributions]


def single(measure, pattern, prototype, weights, training=None):
    measure = resolve_measure(measure)
    fitted = measure.fit(measure.read(training or [pattern, prototype]))
    return difference_of(fitted, measure.read([pattern]), measure.read([prototype]), np.array(weights, float))


@pytest.mark.parametrize("name", sorted(set(MEASURES) - NUMBER_ALONE))
@pytest.mark.parametrize("seed", [0, 1])
def test_contributions_add_up_to_the_dissimilarity_of_every_measure(name, seed):
    training, new = samples(name, seed=seed)
    for difference, dissimilarity in all_differences(name, training, new, seed=seed):
        assert difference.dissimilarity == dissimilarity
        assert_allclose(total(difference), dissimilarity, rtol=1e-9, atol=1e-15)
        assert all(one.amount >= 0 for one in difference.contributions)


@pytest.mark.parametrize("name", sorted(set(MEASURES) - NUMBER_ALONE))
def test_they_add_up_for_training_patterns_and_at_weights_of_0_and_1(name):
    training, _ = samples(name, n=7)
    n_parameters = resolve_measure(name).fit(read(resolve_measure(name), training)).n_parameters
    for weights in (np.ones(n_parameters), np.arange(n_parameters) == 0):
        for difference, dissimilarity in all_differences(name, training, training, weights):
            assert_allclose(total(difference), dissimilarity, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_differences_are_json_and_text(name):
    training, new = samples(name, n=6)
    for difference, _ in all_differences(name, training, new[:2]):
        assert json.loads(json.dumps(difference.to_dict(), allow_nan=False))["meaning"] == difference.meaning
        assert "Dissimilarity" in str(difference)


def test_a_number_alone_is_said_to_be_one():
    difference = single(lambda a, b: abs(a - b), 1, 3, [])
    assert difference.contributions == ()
    assert str(difference) == "Dissimilarity 1; the measure gives only this number, not its parts."


class Doubled(MEASURES["jaccard"].fitted_class):
    """A user's measure, derived from a known one."""


class Own(Doubled):
    def difference(self, pair):
        return Difference(pair.dissimilarity, (), "mine")

    def describe(self, pattern, names):
        return "mine too"


def test_a_derived_measure_explains_as_its_parent_unless_it_says_otherwise():
    pair = [frozenset("ab")], [frozenset("bc")]
    assert len(difference_of(Doubled(), *pair, np.empty(0)).contributions) == 2
    assert difference_of(Own(), *pair, np.empty(0)).meaning == "mine"
    assert Own().describe(pair[0], None) == "mine too"


def test_vectors_by_hand():
    training = np.array([[0.0, 0.0], [3.0, 4.0]])  # delta = 5
    fitted = resolve_measure("euclidean").fit(training)
    difference = difference_of(fitted, training[:1], training[1:], np.array([1.0, 0.25]), ["width", "height"])
    assert_allclose([one.amount for one in difference.contributions], np.sqrt(13) / 5 * np.array([9, 4]) / 13)
    assert difference.contributions[0].details == {"feature": "width", "value": 0, "prototype": 3, "weight": 1}
    assert texts(difference)[1] == "height: 0, prototype 4"


def test_records_by_hand_with_missing_values():
    rows = [{"age": 20, "city": "Oslo"}, {"age": 60, "city": "Rome"}, {"age": 30, "city": None}]
    difference = single("gower", rows[0], rows[2], [1.0, 0.5], rows)
    # Two rows have a city. Oslo is as frequent as Rome, and comes first.
    assert [one.amount for one in difference.contributions] == [0.25 / 2, 0]
    said = "(missing: counted as in the nearest training rows)"
    assert texts(difference)[1] == f"city: Oslo, prototype missing {said}"
    difference = single("gower", rows[2], rows[1], [1.0, 0.5], rows)
    assert [one.amount for one in difference.contributions] == [0.75 / 2, 0.5 / 2]
    assert texts(difference)[1] == f"city: missing, prototype Rome {said}"


def test_records_show_dates_times_durations_and_booleans_as_they_were_given():
    rows = [
        {"day": date(2024, 5, 1), "hour": time(7, 30), "run": timedelta(hours=2), "new": True, "none": None},
        {"day": date(2024, 5, 3), "hour": time(8, 0), "run": timedelta(hours=3), "new": False, "none": None},
    ]
    assert texts(single("gower", rows[0], rows[1], np.ones(5), rows)) == [
        "day: 2024-05-01, prototype 2024-05-03",
        "hour: 07:30:00, prototype 08:00:00",
        "run: 2:00:00, prototype 3:00:00",
        "new: yes, prototype no",
        "none: missing, prototype missing (no value in training: counts nothing)",
    ]


def test_columns_are_found_by_name_in_any_order():
    rows = [{"age": 20, "city": "Oslo"}, {"age": 60, "city": "Rome"}]
    fitted = Gower().fit(rows)
    turned = Gower().read([{"city": "Rome", "age": 20}])
    assert texts(difference_of(fitted, turned, Gower().read(rows[:1]), np.ones(2))) == [
        "age: 20, prototype 20",
        "city: Rome, prototype Oslo",
    ]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_edits_are_those_of_editops(pattern, prototype):
    names = {"insert": "insert", "delete": "delete", "replace": "substitute"}
    expected = [(names[op.tag], op.src_pos, op.dest_pos) for op in Levenshtein.editops(pattern, prototype)]
    assert [tuple(edit) for run in edit_runs(pattern, prototype) for edit in run] == expected


@given(st.lists(st.text("ab", max_size=9), min_size=2, max_size=5), st.tuples(*[st.floats(0, 1)] * 3))
def test_string_edits_add_up(strings, p):
    for difference, dissimilarity in all_differences("string-edit", strings, strings, p):
        assert_allclose(total(difference), dissimilarity, rtol=1e-9, atol=1e-15)


def test_long_strings_add_up():
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("abcd"), size)) for size in (64, 127, 129, 300)]
    for difference, dissimilarity in all_differences("string-edit", strings, strings):
        assert_allclose(total(difference), dissimilarity, rtol=1e-9)


def test_strings_in_words():
    words = single("string-edit", "xAB-1234", "AB-99345", [1.0, 1.0, 0.5])
    assert texts(words) == [
        "delete 'x' at position 0",
        "replace '12' by '99' at positions 4 to 5",
        "insert '5' at the end",
    ]
    assert [one.amount for one in words.contributions] == [1 / 8, 2 * 0.5 / 8, 1 / 8]
    assert texts(single("string-edit", ["to", "be"], ["not", "to", "be"], np.ones(3))) == [
        "insert 'not' before position 0"
    ]
    assert str(single("string-edit", "oak", "oak", np.ones(3))) == "Dissimilarity 0: no difference."


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=7),
    st.lists(st.integers(-3, 3), min_size=1, max_size=7),
    st.sampled_from([None, 0.0, 0.3]),
)
def test_the_warping_path_is_a_cheapest_one(one, other, band):
    x, y = (np.array(series, float)[:, None] for series in (one, other))
    cells = warping_path(x, y, np.array([0.5]), 1.0 if band is None else band)
    costs = 0.5 * (x[cells[:, 0]] - y[cells[:, 1]]) ** 2
    assert_allclose(costs.sum(), series_oracle.path_cost(x.tolist(), y.tolist(), [0.5], band))
    assert cells[0].tolist() == [0, 0]
    assert cells[-1].tolist() == [len(x) - 1, len(y) - 1]
    assert {tuple(step) for step in np.diff(cells, axis=0).tolist()} <= {(0, 1), (1, 0), (1, 1)}
    assert all(series_oracle.admitted(i, j, len(x), len(y), band) for i, j in cells.tolist())


def test_the_stretch_that_differs_is_found():
    x = np.zeros(30)
    y = x.copy()
    y[12:18] = 2.0
    series = DTW(band=0).read([x, y])
    fitted = DTW(band=0).fit(series)
    difference = difference_of(fitted, series[1:], series[:1], np.ones(1))
    greatest = max(difference.contributions, key=lambda one: one.amount)
    assert greatest.details["steps"] == [12, 17]
    assert_allclose(greatest.amount, difference.dissimilarity)
    assert greatest.text == "steps 12 to 17 average 2, steps 12 to 17 of the prototype 0: 2 apart"
    assert difference.details["alignment"] == [[i, i] for i in range(30)]


def test_stretches_cover_everything_once():
    costs = np.random.default_rng(0).random(40)
    stretches = stretches_of(costs, most=4)
    assert [i for start, stop in stretches for i in range(start, stop)] == list(range(40))
    assert stretches_of(costs[:3], most=4) == [(0, 1), (1, 2), (2, 3)]


def test_sets_and_bits_by_hand():
    difference = single("jaccard", {"oak", "elm"}, {"oak", "ash", "fir"}, [])
    assert [one.amount for one in difference.contributions] == [0.25, 0.5]
    assert texts(difference) == ["1 token only in this row: elm", "2 tokens only in the prototype: ash, fir"]
    assert difference.details["shared"] == ["oak"]
    bits = single("tanimoto", [1, 1, 0, 0], [0, 1, 0, 0], [])
    assert texts(bits) == ["1 bit only in this row: 0"]


def test_bags_by_hand():
    # (1, 0) and (1, 1) / sqrt(2): half the squared gaps are (1 - sqrt(1/2))^2 / 2 and 1/4.
    difference = single("cosine-bags", {"to": 3}, {"to": 1, "be": 1}, [])
    assert_allclose([one.amount for one in difference.contributions], [1 / 4, (1 - np.sqrt(0.5)) ** 2 / 2])
    assert texts(difference) == ["be: 0, prototype 1", "to: 3, prototype 1"]
    empty = single("cosine-bags", {}, {"to": 2, "be": 1}, [])
    assert_allclose([one.amount for one in empty.contributions], [0.2, 0.8])


def test_bags_in_proportion_do_not_differ_but_by_rounding():
    fitted = CosineBags().fit([])
    difference = difference_of(fitted, [{"a": 0.1, "b": 0.7}], [{"a": 0.3, "b": 2.1}], np.empty(0))
    assert total(difference) <= difference.dissimilarity <= 1e-15


def test_composites_nest_their_parts():
    measure = Composite({"size": "euclidean", "name": "string-edit"})
    records = measure.read([{"size": 1.0, "name": "oak"}, {"size": 3.0, "name": "oaks"}])
    difference = difference_of(measure.fit(records), records[:1], records[1:], np.array([1.0, 0.5, 1.0, 1, 1, 1]))
    size, name = difference.contributions
    assert (size.amount, name.amount) == (0.5, 0.5 * 0.25 / 2)
    assert total(name.inner) == name.inner.dissimilarity == 0.25
    assert total(difference) == difference.dissimilarity
    assert "insert 's' at the end" in str(difference)
    json.dumps(difference.to_dict(), allow_nan=False)


def test_many_edits_are_told_by_group():
    text = str(single("string-edit", "abcdefghijklmnop", "aXcXeXgXiXkXmXoXX", [1.0, 1.0, 1.0]))
    assert "replace, 8 times: 'b' by 'X' at position 1;" in text
    assert len(text.splitlines()) == 3


@st.composite
def attributed_graphs(draw, directed):
    n = draw(st.integers(0, 6))
    ends = [(a, b) for a in range(n) for b in range(n) if directed or a <= b]
    edges = draw(st.lists(st.sampled_from(ends), unique=True, max_size=8)) if ends else []
    values = {
        "x": st.sampled_from([0.0, 0.1, 0.2, 0.3, None, float("nan")]),
        "symbol": st.sampled_from(["C", "N", None]),
        "note": st.sampled_from(["alpha", "alpine", "beta", None]),
    }
    vertices, links = (
        {name: draw(st.lists(value, min_size=count, max_size=count)) for name, value in values.items()}
        for count in (n, len(edges))
    )
    return LabelledGraph(n, edges, vertices, links, directed=directed)


KINDS = {"x": "number", "symbol": "category", "note": "text"}


@pytest.mark.parametrize("directed", [False, True])
@given(data=st.data())
def test_edit_paths_have_the_counts_of_the_measure(directed, data):
    graphs = data.draw(st.lists(attributed_graphs(directed), min_size=2, max_size=4))
    measure = GraphEdit(vertex_kinds=KINDS, edge_kinds=KINDS)
    fitted, patterns = measure.fit(graphs), measure.read(graphs)
    components = fitted.prepare(patterns, patterns).components
    for i, one in enumerate(graphs):
        for j, other in enumerate(graphs):
            if one.n_vertices <= other.n_vertices:
                costs = {"substitute": 0.0, "insert": 0.0, "delete": 0.0}
                for edit in graph_edit_path(fitted, one, other):
                    costs[edit.kind] += edit.cost
                size = max(one.n_vertices + other.n_vertices + len(one.edges) + len(other.edges), 1)
                assert_allclose(np.array(list(costs.values())) / size, components[:, i, j], rtol=1e-9, atol=1e-15)
    for difference, dissimilarity in all_differences(measure, graphs, graphs):
        assert_allclose(total(difference), dissimilarity, rtol=1e-9, atol=1e-15)


def test_graph_edits_name_vertices_by_their_names_and_by_what_they_are():
    values = {"aromatic": [False, False], "charge": [0, 0], "symbol": ["C", "O"], "note": ["here", "there"]}
    one = LabelledGraph(2, [[0, 1]], values, {"double": [False]}, vertex_names=["left", "right"])
    changed = values | {"charge": [0, 1]}
    other = LabelledGraph(2, [[0, 1]], changed, {"double": [True]}, vertex_names=["a" * 30, "O"])
    fitted = GraphEdit().fit([one, other])
    difference = difference_of(fitted, [one], [other], np.ones(3))
    assert texts(difference) == [
        "substitute vertex right (O, charge 0) by vertex O (O, charge 1)",
        "substitute the edge left-right (C-O, double no) by aaaaaaaaaa...aaaaaaaaaa-O (C-O, double yes)",
    ]
    assert [one.details["from"] for one in difference.contributions] == ["right", ["left", "right"]]
    by_note = GraphEdit(vertex_name="note").fit([one, other])
    text = texts(difference_of(by_note, [one], [other], np.ones(3)))[0]
    assert text == "substitute vertex right (there, charge 0) by vertex O (there, charge 1)"


def test_a_vertex_with_the_name_of_its_label_is_named_once():
    one = LabelledGraph(2, [[0, 1]], {"name": ["Ada", "Bob"]}, vertex_names=["Ada", "Bob"])
    fitted = GraphEdit().fit([one, LabelledGraph(0)])
    difference = difference_of(fitted, [LabelledGraph(0)], [one], np.ones(3))
    assert texts(difference) == ["insert vertex Ada", "insert vertex Bob", "insert the edge Ada-Bob"]


def test_graph_edits_in_words():
    ethanol = LabelledGraph(3, [[0, 1], [1, 2]], {"symbol": ["C", "C", "O"]}, {"valence": [1, 1]})
    other = LabelledGraph(4, [[0, 1], [1, 2], [2, 3]], {"symbol": ["C", "C", "N", "F"]}, {"valence": [2, 1, 1]})
    fitted = GraphEdit().fit([ethanol, other])
    difference = difference_of(fitted, [ethanol], [other], np.array([1.0, 0.5, 0.25]))
    assert texts(difference) == [
        "substitute vertex 2 (O) by vertex 3 (F)",
        "insert vertex 2 (N)",
        "substitute the edge 0-1 (C-C, valence 1) by 0-1 (C-C, valence 2)",
        "delete the edge 1-2 (C-O, valence 1)",
        "insert the edge 1-2 (C-N, valence 1)",
        "insert the edge 2-3 (N-F, valence 1)",
    ]
    assert_allclose([one.amount * 12 for one in difference.contributions], [1, 0.5, 1, 0.25, 0.5, 0.5])
    assert difference.meaning == "by edits that turn the pattern into the prototype"
    back = difference_of(fitted, [other], [ethanol], np.array([1.0, 0.5, 0.25]))
    assert back.meaning == "by edits that turn the prototype into the pattern"
    assert_array_equal(texts(back), texts(difference))
