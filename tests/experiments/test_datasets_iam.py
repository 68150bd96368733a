import hashlib
import os
from collections import Counter
from dataclasses import replace
from pathlib import PurePosixPath
from zipfile import ZipFile

import pytest

from eocc.datasets.published import IAM, load_iam
from eocc.formats.graphs.gxl import parse_cxl, read_gxl
from graph_files import TRIANGLE, cxl, gxl, message_of, write_zip

REAL = os.environ.get("EOCC_DATA")
real_data = pytest.mark.skipif(not REAL, reason="EOCC_DATA names no folder with the data sets")


def members(test_classes=("i", "i", "a")):
    """Files in the format of AIDS: 2 graphs in train, 1 in valid, one of each given class in test."""
    test = [(f"t{number}.gxl", label) for number, label in enumerate(test_classes)]
    indices = {
        "AIDS/train.cxl": cxl(("1.gxl", "i"), ("2.gxl", "a")),
        "AIDS/valid.cxl": cxl(("3.gxl", "i")),
        "AIDS/test.cxl": cxl(*test),
    }
    graphs = {f"AIDS/{file}": gxl("") for file, _ in [("2.gxl", ""), ("3.gxl", ""), *test]}
    return indices | graphs | {"AIDS/1.gxl": TRIANGLE}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EOCC_DATA", str(tmp_path))
    splits = ((2, 1), (1, 1), (3, 2))
    monkeypatch.setitem(IAM, "A", replace(IAM["A"], splits=splits))
    (tmp_path / "iam").mkdir()
    return tmp_path / "iam"


def test_load_iam_reads_the_three_splits_with_the_target_class_of_the_paper(folder):
    path = write_zip(folder / "AIDS.zip", members())
    data = load_iam("A")
    assert (data.name, data.title, data.target) == ("A", "AIDS", "i")
    assert [graph.n_vertices for graph in data.training.graphs] == [3, 0]
    assert [split.labels for split in (data.training, data.validation, data.test)] == [
        ["i", "a"],
        ["i"],
        ["i", "i", "a"],
    ]
    assert data.source == f"{path} (SHA-256 other than in the catalogue)"
    assert repr(data) == "<IamSet A: 2/1/3 graphs, target 'i'>"


def test_target_can_be_another_class(folder):
    write_zip(folder / "AIDS.zip", members())
    assert load_iam("A", target="a").target == "a"
    assert message_of(load_iam, "A", target="b") == "unknown class of AIDS 'b'; known: 'a', 'i'"
    assert message_of(load_iam, "A", target="") == "unknown class of AIDS ''; known: 'a', 'i'"


@pytest.mark.parametrize(("classes", "found"), [(("i", "a", "a"), "(3, 1)"), (("i", "i"), "(2, 2)")])
@pytest.mark.parametrize("target", [None, "a"])
def test_counts_that_differ_from_the_catalogue_are_an_error(folder, classes, found, target):
    path = write_zip(folder / "AIDS.zip", members(classes))
    expected = (
        f"{path}: holds [(2, 1), (1, 1), {found}] (graphs, graphs of class i) in train, valid and test; "
        "A has [(2, 1), (1, 1), (3, 2)]"
    )
    assert message_of(load_iam, "A", target=target) == expected


def test_missing_set_error_says_how_to_get_it_in_one_line(folder):
    with pytest.raises(FileNotFoundError) as caught:
        load_iam("L-H")
    message = str(caught.value)
    assert message.isprintable()
    for part in ("Letter-High", str(folder / "Letter-HIGH.zip"), "train.cxl", IAM["L-H"].home):
        assert part in message


def test_file_that_is_not_a_zip_is_an_error_that_names_it(folder):
    (folder / "AIDS.zip").write_bytes(b"not a zip")
    assert message_of(load_iam, "A").startswith(str(folder / "AIDS.zip"))


def test_unknown_name_error_lists_the_known_names():
    assert message_of(load_iam, "xyz") == "unknown IAM data set 'xyz'; known: 'A', 'G', 'L-H', 'L-L', 'M', 'P'"


@real_data
@pytest.mark.parametrize("name", IAM)
def test_real_archives_match_the_catalogue(name):
    row = IAM[name]
    if not row.path.is_file():
        pytest.skip(f"{row.path} does not exist")
    assert hashlib.sha256(row.path.read_bytes()).hexdigest() == row.sha256
    found, labels, graphs = [], Counter(), []
    with ZipFile(row.path) as archive:
        for split in ("train.cxl", "valid.cxl", "test.cxl"):
            (index,) = (member for member in archive.namelist() if member.endswith(f"/{split}"))
            classes = dict(entry[:2] for entry in parse_cxl(archive.read(index), index))
            found.append((len(classes), list(classes.values()).count(row.target_class)))
            labels.update(classes.values())
            for file in list(classes)[::20]:  # reading all graphs would take 10 s
                graphs.append(read_gxl(archive.open(str(PurePosixPath(index).parent / file))))
    assert min(graph.n_vertices for graph in graphs) > 0
    assert {key for graph in graphs for key in graph.vertex_attributes} == set(row.vertex_kinds)
    assert {key for graph in graphs for key in graph.edge_attributes} == set(row.edge_kinds)
    assert tuple(found) == row.splits
    # GREC, the letters and Protein are spread evenly over their classes.
    assert len(labels) == {"A": 2, "G": 22, "L-L": 15, "L-H": 15, "M": 2, "P": 6}[name]
    assert labels[row.target_class] == {"A": 1600, "G": 50, "L-L": 150, "L-H": 150, "M": 2401, "P": 100}[name]


@real_data
def test_a_real_set_is_loaded_with_its_checksum_its_kinds_and_its_damage():
    row = IAM["G"]
    if not row.path.is_file():
        pytest.skip(f"{row.path} does not exist")
    data = load_iam("G")
    assert data.source == f"{row.path} (SHA-256 as in the catalogue)"
    assert [remark.split()[0] for remark in data.remarks] == ["3"]
    targets = [g for g, y in zip(data.training.graphs, data.training.labels, strict=True) if y == data.target]
    fitted = data.measure().fit(targets)
    assert set(fitted.vertex.names) <= set(data.vertex_kinds)


def test_declared_numbers_are_read_from_text_and_broken_ones_are_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("EOCC_DATA", str(tmp_path))
    monkeypatch.setitem(IAM, "G", replace(IAM["G"], splits=((2, 1), (1, 1), (1, 1))))
    (tmp_path / "iam").mkdir()

    def line(angle):
        node = "<node id='{}'><attr name='x'><Integer>1</Integer></attr></node>"
        angle = f"<attr name='angle0'><String>{angle}</String></attr>"
        return gxl(f"{node.format(0)}{node.format(1)}<edge from='0' to='1'>{angle}</edge>")

    indices = {"GREC/train.cxl": cxl(("1.gxl", "1"), ("2.gxl", "2")), "GREC/valid.cxl": cxl(("3.gxl", "1")),
               "GREC/test.cxl": cxl(("4.gxl", "1"))}  # fmt: skip
    angles = {"1": ".50", "2": "-1.25", "3": "\ufffd", "4": "2"}
    write_zip(tmp_path / "iam" / "GREC.zip", indices | {f"GREC/{k}.gxl": line(a) for k, a in angles.items()})
    data = load_iam("G")
    found = [split.graphs[-1].edge_attributes["angle0"] for split in (data.training, data.validation, data.test)]
    assert found == [[-1.25], [None], [2.0]]
    assert data.remarks == ("1 value of the edge attribute angle0 ('\ufffd') cannot be read and count as missing",)
    for name in ("graph-edit", "twec"):
        measure = data.measure(name)
        assert (measure.vertex_kinds, measure.edge_kinds) == ({"x": "number"}, {"angle0": "number"})
