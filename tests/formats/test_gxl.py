import os
from pathlib import Path

import numpy as np
import pytest

from eocc.formats.graphs.gxl import parse_cxl, read_graph_set, read_gxl
from graph_files import (
    SMALL,
    TRIANGLE,
    collection,
    cxl,
    gxl,
    message_of,
    read,
    vertex,
    vertices,
    within_a_minute,
    write_folder,
    write_zip,
)

DATA = os.environ.get("EOCC_DATA")


@pytest.fixture(params=[write_zip, write_folder], ids=["zip", "folder"])
def write(request, tmp_path):
    return lambda members: request.param(tmp_path / "set.zip", members)


# What a good file says


def test_a_graph_with_all_kinds_of_values():
    graph = read(TRIANGLE)
    assert graph.n_vertices == 3
    assert not graph.directed
    np.testing.assert_array_equal(graph.edges, [[0, 1], [1, 2], [2, 0]])
    assert graph.vertex_attributes == {"symbol": ["C", "O & H", ""], "x": [3.5, -0.25, None]}
    assert graph.vertex_names == ["_1", "_2", "_3"]
    assert graph.edge_attributes == {"valence": [1, 2, -3], "r": [True, None, None]}
    assert all(type(value) is int for value in graph.edge_attributes["valence"])


def test_paths_and_files_give_the_same_graph(tmp_path):
    path = tmp_path / "a.gxl"
    path.write_text(TRIANGLE)
    with path.open("rb") as file:
        assert read_gxl(file).vertex_attributes == read_gxl(str(path)).vertex_attributes
    with path.open() as file:
        assert "binary" in message_of(read_gxl, file)
    with pytest.raises(FileNotFoundError, match=r"no file .*b\.gxl"):
        read_gxl(tmp_path / "b.gxl")
    assert "not a regular file" in message_of(read_gxl, tmp_path)


@pytest.mark.parametrize(
    ("mode", "directed"),
    [("directed", True), ("undirected", False), ("defaultdirected", True), ("defaultundirected", False)],
)
def test_edgemode(mode, directed):
    assert read(gxl("", mode)).directed is directed


def test_graphs_are_directed_where_they_do_not_say():
    assert read("<gxl><graph/></gxl>").directed


def test_edges_may_stand_before_their_vertices_and_be_loops():
    graph = read(gxl('<edge from="b" to="a"/><edge from="b" to="b"/><node id="a"/><node id="b"/>'))
    np.testing.assert_array_equal(graph.edges, [[1, 0], [1, 1]])


def test_prefixes_types_and_attributes_of_the_graph_do_not_disturb():
    text = """<g:gxl xmlns:g="urn:g"><g:graph edgemode="undirected"><g:type href="x"/><g:attr name="v"><g:int>1</g:int>
    </g:attr><g:node id="a"><g:type href="y"/><g:attr name="v"><g:int>5</g:int></g:attr></g:node></g:graph></g:gxl>"""
    assert read(text).vertex_attributes == {"v": [5]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_declared_encodings_are_read(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + gxl(vertex("<string>Zürich</string>"))
    assert read(text.encode(encoding)).vertex_attributes == {"v": ["Zürich"]}


# Kinds of values


def test_words_in_int_are_text_as_in_the_proteins():
    graph = read(gxl(vertices("<int>TPEEALAL</int>", "<int>INF</int>", "<int>NAN</int>")))
    assert graph.vertex_attributes == {"v": ["TPEEALAL", "INF", "NAN"]}


def test_an_int_may_be_a_real_number():
    assert read(gxl(vertices("<int>1.5</int>", "<float>2</float>"))).vertex_attributes == {"v": [1.5, 2.0]}


@pytest.mark.parametrize(
    ("one", "other"),
    [("<int>1</int>", "<int>1x</int>"), ("<int>1</int>", "<string>1</string>"), ("<bool>true</bool>", "<int>1</int>")],
)
def test_an_attribute_is_of_one_kind(one, other, tmp_path):
    assert "<file>:3: attribute 'v' is a " in message_of(read, gxl(vertices(one, other)))
    members = {"train.cxl": cxl(("1", "a"), ("2", "a")), "1": gxl(vertices(one)), "2": gxl(vertices(other))}
    assert "set/2:2: attribute 'v' is a " in message_of(read_graph_set, write_folder(tmp_path / "set", members))


def test_a_word_like_inf_is_text_where_other_graphs_say_so(tmp_path):
    members = {"1": gxl(vertices("<int>INF</int>")), "2": gxl(vertices("<int>TPEE</int>"))}
    path = write_folder(tmp_path / "set", members | {"train.cxl": cxl(("1", "a"), ("2", "a"))})
    assert read_graph_set(path).graphs[0].vertex_attributes == {"v": ["INF"]}


@pytest.mark.parametrize("tag", ["int", "float", "double"])
@pytest.mark.parametrize("value", ["NaN", "inf", "-Infinity", "1e999", "9" * 400])
def test_numbers_are_finite(tag, value):
    text = gxl(vertices(f"<{tag}>1</{tag}>", f"<{tag}>{value}</{tag}>"))
    message = message_of(read, text)
    assert message.startswith("<file>:3: ")
    assert "not a finite number" in message


# Edges listed several times


def test_identical_edges_are_merged():
    edges = [("a", "b", 1), ("b", "a", 1), ("a", "b", 1)]
    body = "".join(f'<edge from="{s}" to="{t}"><attr name="w"><int>{w}</int></attr></edge>' for s, t, w in edges)
    graph = read(gxl('<node id="a"/><node id="b"/>' + body))
    np.testing.assert_array_equal(graph.edges, [[0, 1]])
    assert graph.edge_attributes == {"w": [1]}
    np.testing.assert_array_equal(read(gxl('<node id="a"/><node id="b"/>' + body, "directed")).edges, [[0, 1], [1, 0]])


@pytest.mark.parametrize(("mode", "start", "end"), [("undirected", "b", "a"), ("directed", "a", "b")])
def test_contradicting_edges_are_an_error(mode, start, end):
    edge = '<edge from="{}" to="{}"><attr name="w"><int>{}</int></attr></edge>\n'
    text = gxl('<node id="a"/><node id="b"/>\n' + edge.format("a", "b", 1) + edge.format(start, end, 2), mode)
    assert message_of(read, text).startswith("<file>:4: a second edge between")
    assert "line 3" in message_of(read, text)


# What is wrong, and where

EMPTY_VALUE = "<float></float>"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "no element found"),
        ("not XML at all", 1, "not well-formed"),
        ("\n<html/>", 2, "not GXL"),
        ("<gxl/>", None, "no <graph>"),
        ("<gxl><graph/>\n<graph/></gxl>", 2, "second <graph>"),
        ("<gxl><graph edgemode='both'/></gxl>", 1, "'both'"),
        (gxl("<node/>"), 2, "<node> has no 'id'"),
        (gxl("<node id=' '/>"), 2, "<node> has no 'id'"),
        (gxl("<node id='a'/>\n<node id='a'/>"), 3, "vertex 'a' appears twice"),
        (gxl("<node id='a'/>\n<edge from='a'/>"), 3, "<edge> has no 'to'"),
        (gxl("<node id='a'/>\n<edge from='a' to='b'/>\n"), 3, "vertex 'b', which does not exist"),
        (gxl("<edge from='a' to='b' isdirected='true'/>"), 2, "mixed graphs"),
        (gxl("<node id='a'><node id='b'/></node>"), 2, "<node> is not supported inside <node>"),
        (gxl("<node id='a'><graph/></node>"), 2, "<graph> is not supported inside <node>"),
        (gxl("<rel><relend/></rel>"), 2, "<rel> is not supported"),
        (gxl("<node id='a'><attr><int>1</int></attr></node>"), 2, "<attr> has no 'name'"),
        (gxl("<node id='a'><attr name='v'>1</attr></node>"), 2, "has no value"),
        (gxl(vertex("<int>1</int><int>2</int>")), 2, "more than one value"),
        (gxl(vertex("<int>1</int>", "<int>1</int>")), 2, "'v' appears twice"),
        (gxl(vertex("<seq><int>1</int></seq>")), 2, "<int> is not supported inside <seq>"),
        (gxl(vertex("<locator/>")), 2, "<locator> are not supported"),
        (gxl(vertex("<bool>yes</bool>")), 2, "'yes' is not a valid bool"),
        (gxl(vertex("<float>abc</float>")), 2, "'abc' is not a valid float"),
        (gxl(vertex("<float>1_000</float>")), 2, "'1_000' is not a valid float"),
        (gxl(vertex(EMPTY_VALUE)), 2, "'' is not a valid float"),
        (gxl(vertex("<int/>")), 2, "'' is not a valid int"),
        (gxl("<node id='&x;'/>"), 2, "undefined entity"),
        (gxl("<node id='a'>\x00</node>"), 2, "not well-formed"),
        (gxl("<node id='a'/>").encode().replace(b"'a'", b"'\xff'"), 2, "invalid token"),
        (gxl(vertex("<string>ü</string>")).encode("latin-1"), 2, "not well-formed"),
        ('<?xml version="1.0" encoding="utf-16"?><gxl/>', 1, "encoding"),
    ],
)  # fmt: skip
def test_errors_name_the_line(text, line, words):
    message = message_of(read, text)
    assert message.startswith(f"<file>:{line}: " if line else "<file>: ")
    assert words in message


def test_a_file_cut_anywhere_is_an_error():
    data = TRIANGLE.rstrip().encode()
    read(data)
    for end in range(len(data)):
        message_of(read, data[:end])


# Hostile XML

LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))


@pytest.mark.parametrize(
    "subset",
    [
        '<!ENTITY l0 "ha">' + LAUGHS,
        f'<!ENTITY x "{"x" * 1000}">',
        '<!ENTITY x SYSTEM "file:///etc/passwd">',
        '<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;',
        '<!ATTLIST node id CDATA "a">',
        "",
    ],
    ids=["billion laughs", "quadratic", "external", "parameter", "default attribute", "empty"],
)
def test_declarations_in_the_doctype_are_refused(subset):
    body = gxl(vertex("<string>" + "&x;" * 100 + "&l9;</string>"))
    assert "<file>:2: declarations inside the DOCTYPE" in message_of(read, f"\n<!DOCTYPE gxl [{subset}]>{body}")


@pytest.mark.parametrize("body", [vertex("<string>a&x;</string>"), vertex(identity="a&x;")], ids=["text", "attribute"])
def test_a_dtd_is_accepted_and_never_read(body, tmp_path):
    dtd = tmp_path / "gxl.dtd"
    dtd.write_text('<!ENTITY x "from the DTD">')
    head = f'<!DOCTYPE gxl PUBLIC "-//G//GXL" "{dtd.as_uri()}">'
    assert read(head + gxl(vertex("<string>a &lt; b</string>", identity="&amp;"))).n_vertices == 1
    assert "entity" in message_of(read, head + gxl(body))


@pytest.mark.parametrize("encoding", ["utf-7", "rot13", "idna", "undefined", "base64", "x" * 99])
def test_odd_encodings_are_refused(encoding):
    assert "encoding" in message_of(read, f'<?xml version="1.0" encoding="{encoding}"?><gxl/>')


def test_large_files_are_refused(tmp_path):
    text = gxl("<node id='a'/>" + " " * SMALL.file_bytes)
    assert "larger than the limit of 10000 bytes" in message_of(read, text, limits=SMALL)
    path = tmp_path / "a.gxl"
    path.write_text(text)
    assert "larger than the limit of 10000 bytes" in message_of(read_gxl, path, limits=SMALL)


def test_tables_do_not_outgrow_the_file():
    own = "".join(f'<node id="{i}"><attr name="{i}"><int>1</int></attr></node>' for i in range(20_000))
    with within_a_minute():
        assert "20000 attributes" in message_of(read, gxl(own))


def test_errors_show_no_control_characters_and_are_short():
    message = message_of(read, gxl(f"<node id='a'/><edge from='&#10;&#x9b;{'x' * 9999}' to='a'/>"))
    assert "'\\x9bxxx" in message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_a_pipe_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "1.gxl")
    (tmp_path / "train.cxl").write_text(cxl(("1.gxl", "a")))
    with within_a_minute():
        assert "not a regular file" in message_of(read_gxl, tmp_path / "1.gxl")
        assert "1.gxl: cannot be read: not a regular file" in message_of(read_graph_set, tmp_path)


# Indices and collections


def test_an_index(tmp_path):
    (tmp_path / "a.cxl").write_text(cxl(("1.gxl", "a"), ("2.gxl", " b ")))
    entries = parse_cxl((tmp_path / "a.cxl").read_bytes(), "a.cxl")
    assert [entry[:2] for entry in entries] == [("1.gxl", "a"), ("2.gxl", "b")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<GraphCollection/>", "<file>: names no graphs"),
        ("<x>\n<print class='a'/></x>", "<file>:2: <print> has no 'file'"),
        ("<x>\n<print file='a.gxl'/></x>", "<file>:2: <print> has no 'class'"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><x/>', "<file>:1: declarations"),
    ],
)
def test_errors_of_an_index(text, words):
    assert words in message_of(parse_cxl, text.encode(), "<file>")


def test_a_set_holds_the_graphs_of_the_index_in_its_order(write):
    found = read_graph_set(write(collection() | {"3.gxl": "not in the index"}), "train")
    assert (found.names, found.labels) == (["1.gxl", "2.gxl"], ["a", "b"])
    assert [graph.n_vertices for graph in found.graphs] == [3, 0]
    assert repr(found) == "<GraphSet of 2 graphs in 2 classes>"


@pytest.mark.parametrize(("name", "split"), [("Train", "train"), ("VALIDATION", "valid"), ("training", "train")])
def test_spellings_and_nested_folders(name, split, write):
    members = {f"top/data/{file}": text for file, text in collection(name).items()}
    assert read_graph_set(write(members | {"__MACOSX/._train.cxl": "junk"}), split).labels == ["a", "b"]


def test_all_splits_in_their_order_and_the_usual_spelling_first(write):
    members = collection("test") | collection("validation", "c") | collection("valid") | {
        "train.cxl": cxl(("3.gxl", "c")), "3.gxl": gxl("")}  # fmt: skip
    found = read_graph_set(write(members))
    assert (found.names, found.labels) == (["3.gxl", "1.gxl", "2.gxl"], ["c", "a", "b"])


def test_a_graph_of_two_classes_is_an_error(write):
    members = collection("train", "a") | collection("test", "x")
    message = message_of(read_graph_set, write(members))
    said = "test.cxl:2: '1.gxl' has two classes, 'a' and 'x'; correct the index, or pass two_classes="
    assert message.endswith(f"{said}'skip', 'first' or 'last'")


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("skip", ["b"]), ("first", ["a", "b"]), ("last", ["a again", "b"])],
)
def test_a_graph_of_several_classes_is_left_out_or_has_one_of_them(write, choice, expected):
    entries = [("1.gxl", "a"), ("2.gxl", "b"), ("1.gxl", "x"), ("1.gxl", "a again"), ("2.gxl", "b")]
    path = write(collection() | {"train.cxl": cxl(*entries)})
    assert read_graph_set(path, two_classes=choice).labels == expected
    both_splits = write(collection("train", "a") | collection("test", "a again"))
    assert read_graph_set(both_splits, two_classes=choice).labels == expected


def test_what_to_do_with_two_classes_is_one_of_the_choices(write):
    said = message_of(read_graph_set, write(collection()), two_classes="frist")
    assert said == "unknown two_classes 'frist'; known: 'first', 'last', 'skip'. Did you mean 'first'?"


def test_several_sets_in_one_place(write):
    members = {
        f"{level}/{file}": text for level in ("LOW", "HIGH") for file, text in collection("train", level).items()
    }
    path = write(members)
    assert "choose with folder=: ['HIGH', 'LOW']" in message_of(read_graph_set, path, "train")
    assert read_graph_set(path, "train", folder="LOW/").labels == ["LOW", "b"]
    assert "in its folder 'MED'" in message_of(read_graph_set, path, folder="MED")


def test_missing_things(write, tmp_path):
    path = write(collection())
    assert "set.zip: holds no test.cxl" in message_of(read_graph_set, path, "test")
    assert "'train', 'valid', 'test' or None" in message_of(read_graph_set, path, "tset")
    with pytest.raises(FileNotFoundError, match="no folder or zip file"):
        read_graph_set(tmp_path / "nothing")


def test_a_missing_graph_is_an_error_at_its_line_in_the_index(write):
    members = {"train.cxl": cxl(("1.gxl", "a"), ("no.gxl", "a")), "1.gxl": TRIANGLE}
    assert "train.cxl:3: the file 'no.gxl' does not exist" in message_of(read_graph_set, write(members))


def test_errors_inside_a_set_name_the_file_and_the_line(write):
    members = collection() | {"2.gxl": gxl("<node/>")}
    assert message_of(read_graph_set, write(members)).endswith(f"set.zip{os.sep}2.gxl:2: <node> has no 'id'")


# The real thing

TEXTS = {"AIDS": {"symbol"}, "GREC": {"type"}, "Mutagenicity": {"chem"}, "Protein": {"sequence"}}


@pytest.mark.skipif(not DATA, reason="EOCC_DATA does not name a folder with iam/*.zip")
@pytest.mark.parametrize(
    ("name", "counts", "n_classes"),
    [
        ("AIDS", [250, 250, 1500], 2),
        ("GREC", [286, 286, 528], 22),
        ("Letter-LOW", [750, 750, 750], 15),
        ("Protein", [200, 200, 200], 6),
    ],
)
def test_the_iam_sets(name, counts, n_classes):
    sets = [read_graph_set(Path(DATA) / "iam" / f"{name}.zip", split) for split in ("train", "valid", "test")]
    assert [len(found.graphs) for found in sets] == counts
    assert [len(set(found.labels)) for found in sets] == [n_classes] * 3
    graphs = [graph for found in sets for graph in found.graphs]
    assert all(graph.n_vertices and not graph.directed for graph in graphs)
    texts = {key for graph in graphs for key, column in graph.vertex_attributes.items() if isinstance(column[0], str)}
    assert texts == {"AIDS": {"symbol"}, "GREC": {"type"}, "Protein": {"sequence"}}.get(name, set())
    if name == "AIDS":
        assert set(sets[0].labels) == {"a", "i"}
        assert all(word == word.strip() for graph in graphs for word in graph.vertex_attributes["symbol"])


def test_a_long_run_of_digits_that_is_no_number_takes_no_time(tmp_path):
    path = tmp_path / "long.gxl"
    digits = "1" * 200_000
    path.write_text(f'<gxl><graph><node id="a"><attr name="n"><int>{digits}x</int></attr></node></graph></gxl>')
    with within_a_minute():
        assert read_gxl(path).vertex_attributes["n"] == [f"{digits}x"]
