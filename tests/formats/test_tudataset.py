import random
import warnings

import numpy as np
import pytest

from eocc.formats.archive import Limits
from eocc.formats.graphs.tudataset import read_tudataset
from graph_files import damaged, message_of, outcome, within_a_minute, write_folder, write_zip

# Graph 1: a path 1 - 2 - 3. Graph 2: a vertex with a loop. Graph 3: an edge. Graph 4: nothing.
FILES = {
    "T_A.txt": "1, 2\n2, 1\n2, 3\n3, 2\n4, 4\n6, 5\n5, 6\n",
    "T_graph_indicator.txt": "1\n1\n1\n2\n3\n3\n",
    "T_graph_labels.txt": "1\n-1\n 1\n2",
    "T_node_labels.txt": "0\n1\n0\n2\n2\n0\n",
    "T_node_attributes.txt": "0.5, 1\n1.5, 2\n-1e3, 3\n0, 4\n0, 5\n0, 6\r\n\n",
    "T_edge_labels.txt": "7, a\n7, a\n8, b\n8, b\n9, c\n9, d\n9, d\n",
    "README.txt": "no part of it",
}


@pytest.fixture(params=[write_zip, write_folder], ids=["zip", "folder"])
def write(request, tmp_path):
    return lambda members: request.param(tmp_path / "T.zip", members)


def test_graphs_with_all_attributes(write):
    found = read_tudataset(write(FILES))
    assert (found.names, found.labels) == (["T_1", "T_2", "T_3", "T_4"], ["1", "-1", "1", "2"])
    path, loop, edge, nothing = found.graphs
    assert [graph.n_vertices for graph in found.graphs] == [3, 1, 2, 0]
    assert [np.asarray(graph.edges).tolist() for graph in found.graphs] == [[[0, 1], [1, 2]], [[0, 0]], [[1, 0]], []]
    assert not any(graph.directed for graph in found.graphs)
    assert path.vertex_attributes == {
        "label": ["0", "1", "0"], "attribute_0": [0.5, 1.5, -1000.0], "attribute_1": [1.0, 2.0, 3.0]}  # fmt: skip
    assert path.edge_attributes == {"label_0": ["7", "8"], "label_1": ["a", "b"]}
    assert loop.edge_attributes == {"label_0": ["9"], "label_1": ["c"]}
    assert edge.vertex_attributes["attribute_1"] == [5.0, 6.0]
    assert nothing.vertex_attributes == {}


def test_the_three_files_suffice_and_may_lie_in_a_folder(write):
    members = {f"top/{name}": FILES[name] for name in ("T_A.txt", "T_graph_indicator.txt", "T_graph_labels.txt")}
    found = read_tudataset(write(members))
    assert found.names[0] == "T_1"
    assert found.graphs[0].vertex_attributes == found.graphs[0].edge_attributes == {}


def test_vertices_may_come_in_any_order(write):
    members = {
        "T_A.txt": "1,3\n3,1\n2,4\n4,2\n",
        "T_graph_indicator.txt": "2\n1\n2\n1\n",
        "T_graph_labels.txt": "a\nb\n",
        "T_node_labels.txt": "p\nq\nr\ns\n",
    }
    found = read_tudataset(write(members))
    assert [graph.vertex_attributes["label"] for graph in found.graphs] == [["q", "s"], ["p", "r"]]
    assert [np.asarray(graph.edges).tolist() for graph in found.graphs] == [[[0, 1]], [[0, 1]]]


def test_graphs_without_edges(write):
    found = read_tudataset(write(FILES | {"T_A.txt": "", "T_edge_labels.txt": "", "T_edge_attributes.txt": ""}))
    assert all(len(np.asarray(graph.edges)) == 0 for graph in found.graphs)


def test_edges_without_their_reverse_are_told(write):
    members = {name: text for name, text in FILES.items() if "edge" not in name}
    path = write(members | {"T_A.txt": "1, 2\n2, 1\n2, 3\n4, 4\n6, 5\n6, 5\n"})
    with pytest.warns(UserWarning, match=r"T_A\.txt: 2 edges .* the first in line 3") as told:
        found = read_tudataset(path)
    assert told[0].filename == __file__
    assert [len(np.asarray(graph.edges)) for graph in found.graphs] == [2, 1, 1, 0]


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("A", "1, 2\n2, 7\n", "T_A.txt:2: an edge [2, 7], but there are 6 vertices"),
        ("A", "0, 2\n", "T_A.txt:1: an edge [0, 2]"),
        ("A", "1, 2\n2, 1\n3, 4\n", "T_A.txt:3: the edge [3, 4] joins two graphs"),
        ("A", "1, 2\n2\n", "T_A.txt:2: 1 values, but 2 are expected"),
        ("A", "1, 2, 3\n", "T_A.txt:1: 3 values, but 2"),
        ("A", "1, -2\n", "T_A.txt:1: '1, -2' are not integers"),
        ("A", "1, 2_0\n", "T_A.txt:1: '1, 2_0'"),
        ("A", "1, " + "9" * 99, "T_A.txt:1: '1, 999"),
        ("A", "1, 2\n\n2, 1\n", "T_A.txt:2: the line is empty"),
        ("A", "1, 2\n2, 1\n", "T_edge_labels.txt:3: more lines than the 2"),
        ("graph_indicator", "1\n1\n5\n", "T_graph_indicator.txt:3: graph 5 does not exist: there are 4"),
        ("graph_indicator", "1\n0\n", "T_graph_indicator.txt:2: graph 0"),
        ("graph_indicator", "1\n1.5\n", "T_graph_indicator.txt:2: '1.5'"),
        ("graph_indicator", "1\n", "T_node_labels.txt:2: more lines than the 1"),
        ("graph_labels", "\n\n", "T_graph_labels.txt:1: the file is empty"),
        ("graph_labels", b"1\n\xff\n", "T_graph_labels.txt:2: the line is not UTF-8"),
        ("node_labels", "0\n1\n", "T_node_labels.txt:3: the file ends, but 6 lines are expected"),
        ("node_labels", "", "T_node_labels.txt:1: the file ends"),
        ("node_labels", "0\n1, 2\n", "T_node_labels.txt:2: 2 values, but 1"),
        ("node_attributes", "0\nx\n", "T_node_attributes.txt:2: 'x' are not finite"),
        ("node_attributes", "0\nNaN\n", "T_node_attributes.txt:2: 'NaN'"),
        ("node_attributes", "0, 1\n2, 1e999\n", "T_node_attributes.txt:2: '2, 1e999'"),
        ("node_attributes", "0\n1_0\n", "T_node_attributes.txt:2: '1_0'"),
        ("edge_labels", "7\n8\n8\n8\n9\n9\n9\n", "T_edge_labels.txt:2: the edge [2, 1] is listed again, and line 1"),
        ("edge_attributes", "0\n0\n0\n0\n0\n.1\n.2\n", "T_edge_attributes.txt:7: the edge [5, 6] is listed again"),
        ("node_labels", "x" * (2**20 + 2**17), "T_node_labels.txt:1: the line is longer"),
    ],
)
def test_errors_name_the_file_and_the_line(file, text, words, write):
    assert words in message_of(read_tudataset, write(FILES | {f"T_{file}.txt": text}))


@pytest.mark.parametrize("file", ["T_A.txt", "T_graph_indicator.txt", "T_graph_labels.txt"])
def test_missing_files(file, write):
    message = message_of(read_tudataset, write({name: text for name, text in FILES.items() if name != file}))
    assert f"holds no {file.replace('T_A', 'NAME_A')}" in message


def test_several_sets(write):
    path = write(FILES | {name.replace("T_", "U/S_"): text for name, text in FILES.items()})
    assert "choose with name=: ['T', 'U/S']" in message_of(read_tudataset, path)
    assert read_tudataset(path, name="S").names[0] == "S_1"
    assert "holds no V_A.txt" in message_of(read_tudataset, path, name="V")


def test_limits(write):
    path = write(FILES | {"T_node_labels.txt": " " * 1000})
    assert "larger than the limit of 999 bytes" in message_of(read_tudataset, path, limits=Limits(file_bytes=999))
    assert "more than the limit of 6 files" in message_of(read_tudataset, path, limits=Limits(members=6))
    assert "more than the limit of 99 bytes" in message_of(read_tudataset, path, limits=Limits(total_bytes=99))


def test_many_columns_and_many_graphs_stay_small(write):
    wide = ",".join(map(str, range(100_000)))
    members = {"T_A.txt": "", "T_graph_indicator.txt": "1\n", "T_graph_labels.txt": "1\n" * 20_000}
    with within_a_minute():
        assert len(read_tudataset(write(members | {"T_node_labels.txt": wide})).graphs) == 20_000


def test_links_out_of_the_folder_are_refused(tmp_path):
    path = write_folder(tmp_path / "T", FILES)
    (path / "T_A.txt").rename(tmp_path / "secret")
    (path / "T_A.txt").symlink_to(tmp_path / "secret")
    assert "the link leads out of the folder" in message_of(read_tudataset, path)


def test_damaged_sets_read_or_say_why(tmp_path):
    rng = random.Random(2)
    path = write_folder(tmp_path / "T", FILES)

    def attempt(name):
        (path / name).write_bytes(damaged(FILES[name].encode(), rng))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read_tudataset(path)
            finally:
                (path / name).write_text(FILES[name])

    names = [name for name in FILES if name.startswith("T_")]
    with within_a_minute():
        assert {outcome(attempt, rng.choice(names)) for _ in range(300)} == {"graph", "error"}


def test_more_graphs_than_memory_holds_are_refused_at_once(write, monkeypatch):
    monkeypatch.setattr("eocc.formats.graphs.tudataset.MOST_GRAPHS", 3)
    with pytest.raises(ValueError, match=r"T_graph_labels.txt:4: more than 3 graphs"):
        read_tudataset(write(FILES))
