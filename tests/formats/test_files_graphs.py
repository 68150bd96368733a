import json
import os
import zipfile

import numpy as np
import pytest

from eocc.formats.archive import Limits
from eocc.formats.files import objects as module
from eocc.formats.files.formats import open_files
from eocc.formats.files.rows import join_chunks, learn
from eocc.formats.graphs.gxl import read_graph_set
from eocc.measures import LabelledGraph
from graph_files import TRIANGLE, cxl, gxl, message_of, vertices, within_a_minute, write_folder, write_zip

NUMBERS, TEXTS = vertices("<int>1</int>", "<int>2</int>"), vertices("<string>a</string>")


def read(path, file_format=None):
    return list(open_files([path], file_format))


def graphs(path):
    return [graph for chunk in read(path) for graph in chunk.objects]


def lines(tmp_path, *values):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, values)))
    return path


def node_link(nodes=(), links=(), **more):
    return {"nodes": list(nodes), "links": list(links), **more}


def fault(path, file_format=None):
    return message_of(read, path, file_format).replace(f"{path.parent}/", "")


def test_a_gxl_file_is_one_graph(tmp_path):
    (chunk,) = read(write_folder(tmp_path, {"a.gxl": TRIANGLE}) / "a.gxl")
    assert (list(chunk.names), chunk.objects[0].n_vertices) == (["a.gxl"], 3)
    assert learn([chunk], "").known.kind == "graphs"


def test_a_folder_and_a_zip_give_their_graphs_by_name(tmp_path):
    members = {"b.gxl": TRIANGLE, "sub/a.GXL": gxl(""), ".hidden.gxl": "no", "notes.txt": "no", "a.gxl": gxl(NUMBERS)}
    folder, archive = write_folder(tmp_path / "folder", members), write_zip(tmp_path / "all.zip", members)
    for path in (folder, archive):
        (chunk,) = read(path)
        assert list(chunk.names) == ["a.gxl", "b.gxl", "sub/a.GXL"]
        assert [graph.n_vertices for graph in chunk.objects] == [2, 3, 0]


def test_chunks_of_graphs(tmp_path, monkeypatch):
    monkeypatch.setattr("eocc.formats.files.rows.CHUNK_ROWS", 2)
    chunks = read(write_folder(tmp_path, {f"{k}.gxl": gxl("") for k in range(5)}))
    assert [(chunk.rows[0], len(chunk)) for chunk in chunks] == [(0, 2), (2, 2), (4, 1)]


def test_rows_of_joined_chunks_are_placed_in_their_own_file(tmp_path):
    files = [write_folder(tmp_path, {"a.gxl": TRIANGLE}) / "a.gxl", lines(tmp_path, *[node_link()] * 3)]
    chunk = join_chunks(list(open_files(files)), "files").some(np.array([True, False, True, True]))
    assert chunk.names == ["a.gxl", "", ""]
    assert [chunk.place(row) for row in range(3)] == ["a.gxl", "line 2", "line 3"]
    assert str(chunk.fault(0, "is odd")) == f"{files[0]}: a.gxl: is odd"
    assert str(chunk.fault(2, "is odd")) == f"{files[1]}:3: is odd"


def test_kinds_of_attributes_are_the_same_in_all_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("eocc.formats.files.rows.CHUNK_ROWS", 1)
    folder = write_folder(tmp_path, {"1.gxl": gxl(NUMBERS), "2.gxl": gxl(""), "3.gxl": gxl(TEXTS)})
    assert "3.gxl:2: attribute 'v' is a text here, 'a', but a number in" in message_of(read, folder)


def test_an_index_gives_classes_and_counts_a_graph_once(tmp_path):
    index = cxl(("b.gxl", "x"), ("a.gxl", "y"), ("b.gxl", "x"))
    found = read_graph_set(write_folder(tmp_path, {"train.cxl": index, "a.gxl": gxl(""), "b.gxl": gxl(NUMBERS)}))
    assert (found.names, found.labels) == (["b.gxl", "a.gxl"], ["x", "y"])
    assert [graph.n_vertices for graph in found.graphs] == [2, 0]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([("../a.gxl", "x")], "train.cxl:2: '../a.gxl' leads out of the collection"),
        ([("/etc/passwd", "x")], "train.cxl:2: '/etc/passwd' leads out"),
        ([("link.gxl", "x")], "link.gxl: cannot be read: the link leads out of the folder"),
        ([("x" * 5000, "x")], "train.cxl:2: the file 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' does not exist"),
        ([("ring.gxl", "x")], "ring.gxl: cannot be read: "),
        ([("none.gxl", "x")], "train.cxl:2: the file 'none.gxl' does not exist"),
        ([("pipe.gxl", "x")], "pipe.gxl: cannot be read: not a regular file"),
        (
            [("b.gxl", "x"), ("b.gxl", "y")],
            "train.cxl:3: 'b.gxl' has two classes, 'x' and 'y'; correct the index, or pass two",
        ),
        ([], "train.cxl: names no graphs"),
    ],
)
def test_what_is_wrong_with_an_index(tmp_path, entries, message):
    folder = write_folder(tmp_path / "set", {"train.cxl": cxl(*entries), "b.gxl": gxl("")})
    write_folder(tmp_path, {"a.gxl": gxl("")})
    (folder / "link.gxl").symlink_to(tmp_path / "a.gxl")
    (folder / "ring.gxl").symlink_to(folder / "ring.gxl")
    os.mkfifo(folder / "pipe.gxl")
    with within_a_minute():
        assert message_of(read_graph_set, folder).replace(f"{folder}/", "").startswith(message)


def test_what_is_wrong_with_collections(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "holds no .gxl file; pass a folder or a zip file of graphs" in message_of(read, tmp_path / "empty")
    assert "a.gxl:2" in message_of(read, write_folder(tmp_path / "odd", {"a.gxl": "<gxl>\n<graph"}))
    (tmp_path / "no.zip").write_text("a,b\n1,2\n")
    assert "File is not a zip file" in message_of(read, tmp_path / "no.zip")
    os.mkfifo(tmp_path / "pipe.zip")
    with within_a_minute(), pytest.raises(OSError, match="not a regular file"):
        read(tmp_path / "pipe.zip")
    with pytest.raises(FileNotFoundError, match=r"no file .*none\.zip"):
        read(tmp_path / "none.zip")


def test_a_folder_read_as_a_file_and_a_file_of_another_format(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        read(tmp_path, "gxl")
    path = write_folder(tmp_path, {"a.csv": "a\n1\n"}) / "a.csv"
    assert "not well-formed XML" in message_of(read, path, "gxl")


def test_a_zip_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SAFE", Limits(file_bytes=10_000, total_bytes=25_000, members=20))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.gxl", gxl(" " * 100_000))
    assert "larger than the limit of 10000 bytes" in message_of(read, tmp_path / "bomb.zip")


def test_node_link_graphs_are_those_of_networkx(tmp_path):
    networkx = pytest.importorskip("networkx")
    drawn = networkx.DiGraph()
    drawn.add_node("x", symbol="C", charge=1)
    drawn.add_node("y", symbol="N")
    drawn.add_edge("y", "x", valence=2)
    (graph,) = graphs(lines(tmp_path, networkx.node_link_data(drawn, edges="links")))
    assert isinstance(graph, LabelledGraph)
    assert (graph.n_vertices, np.asarray(graph.edges).tolist(), graph.directed) == (2, [[1, 0]], True)
    assert graph.vertex_attributes == {"symbol": ["C", "N"], "charge": [1, None]}
    assert graph.vertex_names == ["x", "y"]
    assert graph.edge_attributes == {"valence": [2]}


def test_nodes_without_id_are_known_by_their_number(tmp_path):
    (graph,) = graphs(lines(tmp_path, node_link([{}, {}, {}], [{"source": 2, "target": 0}])))
    assert np.asarray(graph.edges).tolist() == [[2, 0]]
    assert not graph.directed


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (node_link([1]), "every node and every link must be an object"),
        (node_link([{"id": 1}], [[1, 1]]), "every node and every link must be an object"),
        (node_link([{"id": 1}, {"id": 1}]), "the node id '1' occurs twice; rename one"),
        (node_link([{"id": [1]}]), "a node id must be a number or text, not '[1]'"),
        (node_link([{"id": None}]), "a node id must be a number or text, not 'None'"),
        (node_link([{"id": True}]), "a node id must be a number or text, not 'True'"),
        (node_link([{"id": 1}], [{"source": 1}]), 'a link has no "target"'),
        (node_link([{"id": 1}], [{"source": 1, "target": "1"}]), "a link names the node '1', which does not exist"),
        (node_link([{"id": 1}], [{"source": 1, "target": {}}]), "a node id must be a number or text"),
        (node_link([{"id": 1, "v": [1]}]), "the attribute 'v' holds a list or an object"),
        (node_link([{"id": 1}, {"id": 2}], [{"source": 1, "target": 2}, {"source": 2, "target": 1}]), "parallel edges"),
        (node_link(multigraph=True), "multigraphs are not supported"),
        (node_link(directed="yes"), "\"directed\" must be true or false, not 'yes'"),
        (node_link([{f"a{k}": 1} for k in range(300)]), "300 attributes, most of them missing"),
    ],
)
def test_what_is_wrong_with_a_node_link_graph(tmp_path, value, message):
    said = fault(lines(tmp_path, node_link(), value))
    assert said.startswith("a.jsonl:2: ")
    assert message in said


def test_node_link_attributes_are_of_one_kind_in_all_lines(tmp_path):
    values = [node_link([{"id": 1, "v": value}]) for value in (1, None, 2.5, "x")]
    assert "a.jsonl:4: attribute 'v' is a text here, 'x', but a number in a.jsonl:1" in fault(lines(tmp_path, *values))
    assert len(graphs(lines(tmp_path, *values[:3]))) == 3


def test_a_graph_among_records_is_refused(tmp_path):
    assert "a.jsonl:2: a graph, but the first is a record" in fault(lines(tmp_path, {"a": 1}, node_link()))
