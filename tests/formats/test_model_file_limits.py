"""The memory and time that loading a model may take, and the values in it that must agree."""

import tracemalloc

import numpy as np
import pytest
from altered_models import pack, pack_as_is, repaired, unpack

from doubles import plain
from eocc import SurpriseClassifier, load, save
from eocc.cli import main
from eocc.formats.model_file import ModelFileError, container, document
from eocc.formats.model_file.codec import Decoder, TooLargeError
from eocc.formats.model_file.container import ROOM, array_bytes, array_from_bytes
from eocc.formats.strict_json import DECODER
from eocc.measures import DTW, GraphEdit, LabelledGraph, StringEdit
from eocc.measures.composite import FittedComposite, Records
from eocc.measures.objects import Objects
from samples import samples


def unpacked(clf, path):
    save(clf, path)
    return unpack(path.read_bytes())


@pytest.mark.parametrize("junk", ["[],", "[[[]]],", '{"":{}},', '"",'])
def test_a_manifest_that_would_fill_the_memory_is_not_parsed(junk, tmp_path, monkeypatch):
    path = tmp_path / "m.eocc"
    path.write_bytes(pack_as_is(b'{"format":2,"fitted":[' + junk.encode() * 12_000 + b"0]}", {}))
    monkeypatch.setattr(container, "DECODER", None)
    with pytest.raises(ModelFileError, match="pass a larger max_bytes if you trust the file"):
        load(path, max_bytes=2**20)


@pytest.mark.parametrize("mark", ["[", "{", ",", ":"])
def test_the_room_for_each_character_of_json_is_counted(mark, tmp_path):
    path, count = tmp_path / "m.eocc", 10_000
    path.write_bytes(pack_as_is(mark.encode() * count, {}))
    room = {"[": 110, "{": 320, ",": 90, ":": 90}[mark] * count
    with pytest.raises(ModelFileError, match=r"manifest\.json is not JSON"):
        load(path, max_bytes=room)
    with pytest.raises(ModelFileError, match=f"manifest.json would take {room} bytes, the limit is {room - 1} bytes"):
        load(path, max_bytes=room - 1)


@pytest.mark.parametrize("junk", ["[],", "[[[]]],", '{"":{}},', '"",', '{"ab":0.5},', "[0.5],", '{"a":0.5,"b":0.5},'])
def test_json_takes_no_more_memory_than_is_counted(junk):
    text = "[" + junk * 20_000 + "0]"
    tracemalloc.start()
    try:
        DECODER.decode(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= sum(text.encode().count(mark) * size for mark, size in ROOM.items()) + 2**16


N = 3000
FLAGS, NONE = np.ones(N, bool), np.zeros(N, np.int64)
COLUMNS = {
    "numbers": ({"array": "a"}, {"a": np.linspace(1e3, 1e6, N)}),
    "integers": ({"array": "a"}, {"a": np.arange(N) + 2**40}),
    "arrays": ({"arrays": {"values": {"array": "a"}, "lengths": {"array": "b"}}}, {"a": np.zeros((0, 2)), "b": NONE}),
    "lists": ({"lists": {"values": [], "lengths": {"array": "b"}}}, {"b": NONE}),
    "lists of one": ({"lists": {"values": {"array": "a"}, "lengths": {"array": "b"}}}, {"a": FLAGS, "b": NONE + 1}),
    "dicts": ({"dicts": {"count": N, "entries": [["x", {"array": "a"}, {"array": "b"}]]}}, {"a": FLAGS, "b": FLAGS}),
    "empty dicts": ({"dicts": {"count": N, "entries": [["x", {"array": "a"}, []]]}}, {"a": ~FLAGS}),
    "dicts of many": (
        {"dicts": {"count": N, "entries": [[k + 0.5, {"array": f"a{k}"}, {"array": f"b{k}"}] for k in range(12)]}},
        {f"{name}{k}": FLAGS for name in "ab" for k in range(12)},
    ),
    "graphs": (
        {
            "objects": [
                "LabelledGraph",
                {
                    "n_vertices": {"array": "n"},
                    "edges": {"arrays": {"values": {"array": "v"}, "lengths": {"array": "e"}}},
                    "vertex_attributes": {"dicts": {"count": N, "entries": [["x", {"array": "a"}, []]]}},
                    "edge_attributes": {"dicts": {"count": N, "entries": [["x", {"array": "b"}, []]]}},
                    "directed": {"array": "d"},
                    "vertex_names": {"lists": {"values": [], "lengths": {"array": "l"}}},
                },
            ]
        },
        {
            **{"n": NONE, "v": np.zeros((0, 2), np.int64), "e": NONE, "l": NONE},
            **dict.fromkeys("abd", ~FLAGS),
        },
    ),
}


COUNTED = {  # for each row
    "numbers": 64, "integers": 64, "arrays": 256, "lists": 256, "lists of one": 64 + 256, "dicts": 256 + 160 + 64,
    "empty dicts": 256, "dicts of many": 256 + 12 * (160 + 64), "graphs": 2 * 64 + 4 * 256 + 1024,
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_take_no_more_memory_than_is_counted(name):
    column, arrays = COLUMNS[name]
    Decoder(arrays).decode({"patterns": column})  # imports
    decoder = Decoder(arrays)
    tracemalloc.start()
    try:
        decoder.decode({"patterns": column})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    counted = COUNTED[name] * N
    assert decoder.taken == counted
    assert peak <= counted + 2**14
    with pytest.raises(TooLargeError, match=f"more memory than the limit of {counted - 1} bytes"):
        Decoder(arrays, counted - 1).decode({"patterns": column})


def test_a_small_file_of_many_dictionaries_is_refused(tmp_path):
    manifest, members = unpacked(plain(measure="jaccard").fit([["a"], ["b"]]), tmp_path / "m.eocc")
    column, arrays = COLUMNS["dicts"]
    manifest["fitted"]["prototypes"] = {"patterns": column}
    members |= {f"{name}.npy": array_bytes(array) for name, array in arrays.items()}
    (tmp_path / "m.eocc").write_bytes(pack(manifest, members))
    message = "its rows would take more memory than the limit of 1000000 bytes; pass a larger max_bytes if you trust"
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "m.eocc", max_bytes=10**6)


LONG = "a" * 90_000
SERIES, GRAPHS = Objects([np.zeros((2, 1)), np.ones((3, 1))]), Objects([LabelledGraph(1, [], {"w": ["ab"]})])
LARGE = {
    "strings": (StringEdit().fit(Objects(["a", "b"])), [LONG, LONG]),
    "tokens": (StringEdit().fit(Objects(["a", "b"])), [tuple(LONG), ("b",)]),
    "series": (DTW(band=None).fit(SERIES), [np.zeros((20_000, 1))] * 2),
    "series of two lengths": (DTW(band=0).fit(SERIES), [np.zeros((n, 1)) for n in (10**4, 10**6)]),
    "graphs": (GraphEdit().fit(GRAPHS), [LabelledGraph(3000)] * 2),
    "words in graphs": (GraphEdit({"w": "text"}).fit(GRAPHS), [LabelledGraph(1, [], {"w": [LONG]})] * 2),
}


@pytest.mark.parametrize("are_parts", [False, True], ids=["alone", "parts"])
@pytest.mark.parametrize("case", LARGE)
def test_patterns_too_large_to_try_are_not_compared(case, are_parts):
    measure, patterns = LARGE[case][0], Objects(LARGE[case][1])
    if are_parts:
        measure, patterns = FittedComposite({"w": measure}), Records({"w": patterns})
    for prototypes, outliers in ((patterns, None), (patterns[:1], patterns[1:])):
        state = {"measure": measure, "prototypes": prototypes, "outliers": outliers}
        assert document.first_score(None, state) is None


def test_a_model_of_huge_rows_is_inspected_without_comparing_them(tmp_path, capsys):
    path = tmp_path / "m.eocc"
    manifest, members = unpacked(SurpriseClassifier(measure="string-edit").fit(["ab", "cd", "c"]), path)
    manifest["fitted"]["prototypes"]["patterns"][:2] = ["a" * 10**6, "b" * 10**6]
    manifest["first_score"] = None
    path.write_bytes(pack(manifest, members))
    assert main(["inspect", str(path)]) == 0
    assert "regions are left out" in capsys.readouterr().err


@pytest.mark.parametrize("make", [plain, SurpriseClassifier])
@pytest.mark.parametrize("name", ["string-edit", "dtw", "graph-edit"])
def test_a_model_that_is_not_tried_comes_back_and_says_so(name, make, tmp_path, monkeypatch):
    training, new = samples(name)
    clf = make(measure=name).fit(training)
    tried, path = unpacked(clf, tmp_path / "m.eocc"), tmp_path / "m.eocc"
    monkeypatch.setattr(document, "MOST_WORK", 10)
    with pytest.raises(ModelFileError, match="first_score must be null if and only if the rows are too large to try"):
        load(path)
    untried = unpacked(clf, path)
    assert (type(tried[0]["first_score"]), untried[0]["first_score"]) == (float, None)
    np.testing.assert_array_equal(load(path).score_samples(new), clf.score_samples(new))


@pytest.mark.parametrize("make", [plain, SurpriseClassifier])
def test_the_first_score_is_that_of_the_first_prototype(make, tmp_path):
    training, _ = samples("euclidean")
    clf = make(prototypes=5).fit(training)
    manifest, _ = unpacked(clf, tmp_path / "m.eocc")
    first = training[clf.training_indices_[clf.prototype_indices_[0]]]
    assert manifest["first_score"] == pytest.approx(clf.score_samples([first])[0], rel=1e-9)


@pytest.mark.parametrize("sizes", [[2, 6000, 6000], [2, 1500, 1], [600, 600, 600]])
def test_graphs_may_not_declare_more_vertices_than_the_file_accounts_for(sizes, tmp_path):
    graphs = [LabelledGraph(2, [[0, 1]]), LabelledGraph(3), LabelledGraph(1)]
    manifest, members = unpacked(SurpriseClassifier(measure="graph-edit").fit(graphs), tmp_path / "m.eocc")
    members["prototypes.n_vertices.npy"] = array_bytes(np.array(sizes))
    manifest["first_score"] = None
    (tmp_path / "m.eocc").write_bytes(pack(manifest, members))
    too_large = f"graphs of up to {max(sizes)} vertices with few edges and attributes are too large for a model file"
    with pytest.raises(ModelFileError, match=too_large):
        load(tmp_path / "m.eocc")


def test_graphs_that_are_not_directed_as_the_measure_says_are_refused(tmp_path):
    graphs = [LabelledGraph(3), LabelledGraph(2, [[0, 1]]), LabelledGraph(1)]
    manifest, members = unpacked(SurpriseClassifier(measure="graph-edit").fit(graphs), tmp_path / "m.eocc")
    manifest["fitted"]["measure"]["object"][1]["directed"] = True
    (tmp_path / "m.eocc").write_bytes(pack(manifest, members))
    with pytest.raises(ModelFileError, match="graph 1 is undirected, the training graphs are not"):
        load(tmp_path / "m.eocc")


def test_the_number_of_vertices_follows_from_edges_and_attributes():
    fitted = GraphEdit().fit(GRAPHS)
    path = LabelledGraph(3000, [[k, k + 1] for k in range(2999)])
    for graphs in (
        [LabelledGraph(1010)],  # 10 for each graph, 1000 in all
        [LabelledGraph(10)] * 500,
        [path, LabelledGraph(1010 + 2999 // 4)],  # one for every 4 edges
        [LabelledGraph(3000, [], {"x": [1.0] * 3000})],
    ):
        fitted.check_patterns(Objects(graphs))
    for graphs in ([LabelledGraph(1011)], [LabelledGraph(11)] * 1001, [path, LabelledGraph(1011 + 2999 // 4)]):
        with pytest.raises(ValueError, match="with few edges and attributes"):
            fitted.check_patterns(Objects(graphs))


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    clf = SurpriseClassifier(measure="graph-edit").fit([LabelledGraph(1040), LabelledGraph(2), LabelledGraph(1)])
    with pytest.raises(ValueError, match="too large for a model file; give their vertices an attribute"):
        save(clf, tmp_path / "m.eocc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("likelihood_ratio.coefficients", 1.7e308, "coefficients must lie in"),
        ("likelihood_ratio.coefficients", -1e41, "coefficients must lie in"),
        ("correction.amounts", 1e300, "amounts must lie in"),
    ],
)
def test_numbers_that_would_overflow_are_refused(member, value, message, tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 3))
    clf = SurpriseClassifier().fit(X, np.repeat([1, -1], [9, 3])).teach(X[:1] + 5, [1])
    with pytest.raises(ModelFileError, match=message):
        _fill(clf, f"surprise.{member}.npy", value, tmp_path / "m.eocc")


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_numbers_that_load_give_finite_scores(sign, tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 3))
    clf = SurpriseClassifier().fit(X, np.repeat([1, -1], [9, 3]))
    _fill(clf, "surprise.likelihood_ratio.coefficients.npy", sign * 1e40, tmp_path / "m.eocc")
    loaded, rows = load(tmp_path / "m.eocc"), np.vstack([X, 1000 * X, 1e100 * X, X + 0.1])
    surprises = loaded._calibration_values(rows)
    assert np.isfinite(surprises).all()
    assert np.abs(surprises).max() > 1e100
    assert np.isfinite(loaded.decision_function(rows)).all()


def _fill(clf, member, value, path):
    """Write the model with one array full of a value; raise if it cannot be loaded."""
    manifest, members = unpacked(clf, path)
    members[member] = array_bytes(np.full_like(array_from_bytes(members[member]), value))
    path.write_bytes(repaired(manifest, members))


P = 2**61 - 1  # Python's hash of an integer is its remainder by this


@pytest.mark.parametrize(
    "token",
    [
        lambda k: {"integer": hex(k * P)},
        lambda k: {"decimal": str(k * P)},
        lambda k: {"tuple": [{"integer": hex(k * P)}]},
        lambda k: {"set": [{"integer": hex(k * P)}]},
    ],
    ids=["integers", "decimals", "tuples", "sets"],
)
def test_values_crafted_to_share_a_hash_are_refused(token, tmp_path):
    manifest, members = unpacked(plain(measure="jaccard").fit([["a"], ["b"]]), tmp_path / "m.eocc")
    manifest["fitted"]["prototypes"]["patterns"] = [{"set": [token(k)]} for k in range(1, 200)]
    (tmp_path / "m.eocc").write_bytes(pack(manifest, members))
    with pytest.raises(ModelFileError, match="more than 64 different values have one hash"):
        load(tmp_path / "m.eocc")


def test_equal_values_may_occur_often(tmp_path):
    clf = plain(measure="jaccard").fit([{(1, "a"), 2**70}, {(1, "b"), 2**70}] * 80)
    save(clf, tmp_path / "m.eocc")
    assert load(tmp_path / "m.eocc").predict([{(1, "a"), 2**70}]).tolist() == clf.predict([{(1, "a"), 2**70}]).tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rate: None, "calibration.rate must be a number in"),
        (lambda rate: 1.0, "calibration.rate must be a number in"),
        (lambda rate: 0.01, "needs at least 99 training rows; there are 12"),
        (lambda rate: 0.5, "threshold is not that of the calibration"),
    ],
)
@pytest.mark.parametrize("make", [plain, SurpriseClassifier])
def test_a_rate_that_does_not_fit_the_calibration_is_refused(make, change, message, tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 2))
    clf = make(false_alarm_rate=0.25).fit(X)
    manifest, members = unpacked(clf, tmp_path / "m.eocc")
    entry = next(pair for pair in manifest["fitted"]["calibration"]["dict"] if pair[0] == "rate")
    assert entry[1] == 0.25
    entry[1] = change(entry[1])
    (tmp_path / "m.eocc").write_bytes(pack(manifest, members))
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "m.eocc")


def test_an_argument_that_a_fit_would_refuse_becomes_a_note(tmp_path):
    clf = plain().fit(np.eye(4))
    save(clf.set_params(n_jobs=None, eta="half", random_state=10**2000), tmp_path / "m.eocc")
    loaded = load(tmp_path / "m.eocc")
    assert "set_params(eta=...) before fit" in repr(loaded)
    assert "set_params(random_state=...) before fit" in repr(loaded)
    save(loaded, tmp_path / "n.eocc")
    assert (tmp_path / "n.eocc").read_bytes() == (tmp_path / "m.eocc").read_bytes()
