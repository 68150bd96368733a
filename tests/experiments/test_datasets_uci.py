import hashlib
import os
from dataclasses import replace
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.datasets import load_iris

from eocc.datasets import published
from eocc.datasets.published import UCI, load_uci
from graph_files import message_of

REAL = os.environ.get("EOCC_DATA")
real_data = pytest.mark.skipif(not REAL, reason="EOCC_DATA names no folder with the data sets")
SMALL = "a,b,target\n1,2.5,1\n-3e1,4,0\n5,6,0\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EOCC_DATA", str(tmp_path))
    (tmp_path / "uci").mkdir()
    (tmp_path / "downloads").mkdir()
    return tmp_path


@pytest.fixture
def small(folder, monkeypatch):
    """Make BI a set of one target, two others and two features; return a function that writes its file."""
    row = replace(UCI["BI"], n_targets=1, n_others=2, n_features=2)
    monkeypatch.setitem(UCI, "BI", row)

    def write(text, **changes):
        monkeypatch.setitem(UCI, "BI", replace(row, **changes))
        path = folder / "uci" / "bi.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_file_in_the_data_folder_is_read(small):
    path = small(SMALL)
    data = load_uci("BI")
    np.testing.assert_array_equal(data.X, [[1, 2.5], [-30, 4], [5, 6]])
    assert data.X.dtype == np.float64
    assert data.is_target.tolist() == [True, False, False]
    assert data.feature_names == ("a", "b")
    assert data.source == f"{path} (SHA-256 other than in the catalogue)"
    assert repr(data) == "<UciSet BI: 1 targets, 2 others, 2 features>"


@pytest.mark.parametrize("text", [SMALL.replace("\n", "\r\n"), "\ufeff" + SMALL, SMALL + "\n", SMALL.rstrip()])
def test_line_endings_bom_and_blank_lines_are_accepted(small, text):
    small(text)
    np.testing.assert_array_equal(load_uci("BI").X, [[1, 2.5], [-30, 4], [5, 6]])


def test_source_says_whether_the_checksum_is_that_of_the_catalogue(small):
    path = small(SMALL, sha256=hashlib.sha256(SMALL.encode()).hexdigest())
    assert load_uci("BI").source == f"{path} (SHA-256 as in the catalogue)"
    assert small(SMALL, sha256=None) == load_uci("BI").source


def test_blank_cells_are_nan_only_if_the_set_has_missing_cells(small):
    text = SMALL.replace("2.5", "")
    path = small(text, n_missing=1)
    np.testing.assert_array_equal(load_uci("BI").X, [[1, np.nan], [-30, 4], [5, 6]])
    small(text)
    assert message_of(load_uci, "BI") == f"{path}:2: '' is not a finite number"


@pytest.mark.parametrize("cell", ["x", "nan", "inf", "1e999", "1_0", "\u0661", "?", "1 2"])
def test_bad_cell_error_names_file_line_and_cell(small, cell):
    path = small(SMALL.replace("-3e1", cell))
    assert message_of(load_uci, "BI") == f"{path}:3: {cell!r} is not a finite number"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: the header must name the features, then `target`"),
        ("target\n1\n", ":1: the header must name the features, then `target`"),
        (SMALL.replace("target", "class"), ":1: the header must name the features, then `target`"),
        (SMALL.replace("b", "a", 1), ":1: the header has a blank name, or a name twice"),
        (SMALL.replace("b", "", 1), ":1: the header has a blank name, or a name twice"),
        (SMALL.replace("2.5,", ""), ":2: 2 cells where 3 are expected"),
        (SMALL.replace("2.5,1", "2.5,2"), ":2: target must be 1 or 0, not '2'"),
        (SMALL.replace("2.5,1", "2.5,"), ":2: target must be 1 or 0, not ''"),
        (SMALL.encode() + b"\xff,1,1\n", ":5: is not UTF-8 text"),
        (SMALL + '"6"7,1,1\n', ":5: is not CSV: "),
    ],
)
def test_bad_file_error_names_file_and_line(small, text, said):
    path = small(text)
    assert message_of(load_uci, "BI").startswith(path + said)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SMALL + "7,8,1\n", "(2, 2, 2, 0)"),
        (SMALL.replace("5,6,0\n", ""), "(1, 1, 2, 0)"),
        ("a,target\n1,1\n2,0\n3,0\n", "(1, 2, 1, 0)"),
        ("a,b,target\n", "(0, 0, 2, 0)"),
    ],
)
def test_counts_that_differ_from_the_catalogue_are_an_error(small, text, found):
    path = small(text)
    message = message_of(load_uci, "BI")
    assert message.startswith(path)
    assert f"holds {found} targets, others, features, missing cells; BI has (1, 2, 2, 0)" in message


def test_unknown_name_error_lists_the_known_names():
    message = message_of(load_uci, "BCD")
    assert all(repr(name) in message for name in UCI)
    assert "Did you mean 'BC-D'?" in message


@pytest.mark.parametrize("name", [name for name, row in UCI.items() if not (name in ("I", "BC-D") or row.public_file)])
def test_missing_set_error_says_how_to_get_it_in_one_line(folder, name):
    with pytest.raises(FileNotFoundError) as caught:
        load_uci(name)
    assert str(caught.value).isprintable()
    assert str(folder / UCI[name].file) in str(caught.value)


def test_concordia_file_in_the_documented_format_is_read(folder, monkeypatch):
    monkeypatch.setitem(UCI, "CO", replace(UCI["CO"], n_targets=40, n_others=360))
    names = [f"pixel_{number}" for number in range(1024)]
    rows = [",".join(["0"] * 1023 + [str(number % 7), str(int(number < 40))]) for number in range(400)]
    (folder / "uci" / "co.csv").write_text("\n".join([",".join([*names, "target"]), *rows]))
    data = load_uci("CO")
    assert data.X.shape == (400, 1024)
    assert (data.X[:, -1] == np.arange(400) % 7).all()
    assert data.is_target.sum() == 40


def test_iris_is_read_from_scikit_learn(folder):
    data, iris = load_uci("I"), load_iris()
    assert data.source == "scikit-learn"
    np.testing.assert_array_equal(data.X, iris.data)
    np.testing.assert_array_equal(data.is_target, iris.target == 0)


def sonar(n_mines, n_rocks):
    lines = [",".join([f"{row / 1000:.4f}"] * 60 + ["M" if row < n_mines else "R"]) for row in range(n_mines + n_rocks)]
    return "\n".join(lines) + "\n"


def test_file_is_downloaded_once_and_then_read_from_the_data_folder(folder, monkeypatch):
    asked = []

    def pretend(address, folder, name, sha256, n_retries):
        asked.append((address, sha256))
        (folder / name).write_text(sonar(111, 97))
        return folder / name

    monkeypatch.setattr(published, "fetch_file", pretend)
    first, second = load_uci("S"), load_uci("S")
    public = UCI["S"].public_file
    assert asked == [(public.address, public.sha256)]
    assert (first.source, second.source) == (public.address, str(folder / "downloads" / "sonar.all-data"))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.X[:, 59], np.arange(208) / 1000)
    assert first.is_target.tolist() == [True] * 111 + [False] * 97


def test_failed_download_error_says_how_to_get_the_set_in_one_line(folder, monkeypatch):
    def fail(address, *arguments, **options):
        raise URLError("no route\nto host")

    monkeypatch.setattr(published, "fetch_file", fail)
    with pytest.raises(FileNotFoundError) as caught:
        load_uci("S")
    message = str(caught.value)
    assert message.isprintable()
    for part in ("no route", UCI["S"].public_file.address, str(folder / "uci" / "s.csv"), "60 columns", UCI["S"].home):
        assert part in message


def test_abalone_is_read_in_its_original_format(folder, monkeypatch):
    monkeypatch.setitem(UCI, "AB", replace(UCI["AB"], n_targets=1, n_others=2))
    numbers = "0.1,0.2,0.3,0.4,0.5,0.6,0.7"
    (folder / "downloads" / "abalone.data").write_text(f"I,{numbers},8\nM,{numbers},9\nF,{numbers},10\n")
    data = load_uci("AB")
    tail = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    np.testing.assert_array_equal(data.X, [[0, 0, 1, *tail], [1, 0, 0, *tail], [0, 1, 0, *tail]])
    assert data.feature_names[:4] == ("sex_M", "sex_F", "sex_I", "length")
    assert data.is_target.tolist() == [True, False, False]


@real_data
def test_sonar_in_its_original_format_has_the_checksum_of_the_public_file():
    data = load_uci("S")
    rows = zip(data.X, data.is_target, strict=True)
    text = "".join(",".join([*(f"{x:.4f}" for x in row), "M" if mine else "R"]) + "\n" for row, mine in rows)
    assert hashlib.sha256(text.encode()).hexdigest() == UCI["S"].public_file.sha256


@real_data
@pytest.mark.parametrize("name", UCI)
def test_real_sets_match_the_catalogue_and_scikit_learn(name, tmp_path, monkeypatch):
    row = UCI[name]
    if not row.path.is_file():
        pytest.skip(f"{row.path} does not exist")
    data = load_uci(name)
    assert data.source == f"{row.path} (SHA-256 as in the catalogue)"
    if name in ("I", "BC-D"):
        monkeypatch.setenv("EOCC_DATA", str(tmp_path))
        shipped = load_uci(name)
        assert shipped.source == "scikit-learn"
        np.testing.assert_array_equal(shipped.X, data.X)
        np.testing.assert_array_equal(shipped.is_target, data.is_target)
