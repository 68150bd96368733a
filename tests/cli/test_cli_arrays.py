"""Commands on arrays that numpy saved, and what is said where a format is not known."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from eocc import SurpriseClassifier, load
from eocc.cli import main

ROWS = np.random.default_rng(0).normal(size=(60, 3)).round(6)
LABELLED = np.column_stack([ROWS[:, 0], np.arange(60) % 3 == 0, ROWS[:, 1:]])


def run(*arguments):
    return main([str(argument) for argument in arguments])


def scores(capsys, *arguments):
    capsys.readouterr()
    assert run("-q", "score", *arguments, "--format", "csv") == 0
    return [float(row["score"]) for row in csv.DictReader(io.StringIO(capsys.readouterr().out))]


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    np.savetxt(tmp_path / "a.csv", ROWS, delimiter=",", header="x,y,z", comments="", fmt="%.6f")
    return tmp_path


def test_an_array_is_a_table_without_column_names(folder, capsys):
    assert run("fit", folder / "a.npy", "-o", folder / "m.eocc") == 0
    assert "a.npy (npy): 60 rows: rows of numbers in 3 columns.\n" in capsys.readouterr().err
    clf, own = load(folder / "m.eocc"), SurpriseClassifier().fit(ROWS)
    assert not hasattr(clf, "feature_names_in_")
    expected = own.score_samples(ROWS).tolist()
    assert clf.score_samples(ROWS).tolist() == expected
    assert run("fit", folder / "a.csv", "-o", folder / "named.eocc") == 0
    for model in ("m.eocc", "named.eocc"):
        for data in ("a.npy", "a.csv"):
            assert scores(capsys, folder / model, folder / data) == expected


def test_columns_of_an_array_are_labels_and_left_out_by_their_numbers(folder, capsys):
    np.save(folder / "l.npy", LABELLED)
    assert run("fit", folder / "l.npy", "-o", folder / "m.eocc", "--label", "1", "--target", "1", "--drop", "3") == 0
    assert "60 rows, 20 with 1 = '1': rows of numbers in 2 columns (0, 2)" in capsys.readouterr().err
    own = SurpriseClassifier().fit(ROWS[::3, :2])
    expected = own.score_samples(ROWS[:, :2]).tolist()
    np.save(folder / "two.npy", ROWS[:, :2])
    for name in ("l.npy", "two.npy"):
        assert scores(capsys, folder / "m.eocc", folder / name) == expected


def test_a_model_learns_from_an_array_part_by_part(folder, capsys):
    assert run("fit", folder / "a.npy", "-o", folder / "m.eocc", "--stream") == 0
    assert "Read 60 rows; learned from 60 of them." in capsys.readouterr().err
    assert run("fit", folder / "a.npy", "-o", folder / "few.eocc", "--stream", "--prototypes", 20) == 0
    assert "Read 60 rows; learned from 60 of them, and compares new rows with 20." in capsys.readouterr().err
    assert (
        load(folder / "m.eocc").score_samples(ROWS).tolist()
        == SurpriseClassifier().fit(ROWS).score_samples(ROWS).tolist()
    )
    assert run("fit", folder / "a.npy", "-o", folder / "m.eocc", "--method", "eocc-1", "--sample", 40) == 0
    assert "Read 60 rows; learned from 40 of them." in capsys.readouterr().err


@pytest.mark.parametrize("command", [["fit"], ["score", "m.eocc"]])
@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("one.npy", np.arange(3.0), "an array of rows has 2 dimensions, not 1"),
        ("odd.npy", ROWS + 1j, "holds complex numbers (complex128); save real and imaginary parts"),
        ("object.npy", np.array([[1, None]], object), "holds Python objects, which are not read"),
        ("cut.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'", "cannot be read"),
        ("text.npy", b"a,b\n1,2\n", "cannot be read"),
        ("a.npz", b"PK", "save the array that you need with numpy.save, as .npy"),
        (
            "a.dat",
            b"1 2",
            "pass --input-format, one of csv, tsv, jsonl, json, text, smiles, parquet, arrow, npy, xlsx, ods, xls, gxl",
        ),
        ("a.gz", b"", "a packed file holds csv, tsv, jsonl, json, text, smiles, as in rows.csv.gz"),
    ],
)
def test_other_arrays_are_refused_in_one_line(folder, monkeypatch, capsys, command, name, data, message):
    monkeypatch.chdir(folder)
    assert run("-q", "fit", "a.npy", "-o", "m.eocc") == 0
    if isinstance(data, bytes):
        (folder / name).write_bytes(data)
    else:
        np.save(folder / name, data, allow_pickle=True)
    capsys.readouterr()
    assert run(*command, name) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert line.startswith(f"eocc: {name}: ")
    assert message in line
    assert not (folder / "model.eocc").exists()


def test_an_array_of_another_width_is_refused(folder, capsys):
    assert run("fit", folder / "a.csv", "-o", folder / "m.eocc") == 0
    np.save(folder / "wide.npy", LABELLED)
    capsys.readouterr()
    assert run("score", folder / "m.eocc", folder / "wide.npy") == 1
    assert "wide.npy: has 4 columns, but the model needs 3, and one of the two has no names" in capsys.readouterr().err


def test_the_suffix_decides_the_format_of_scores(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert run("fit", "a.npy") == 0
    for name in ("scores.csv", "scores.parquet", "scores.jsonl", "scores.txt"):
        assert run("score", "model.eocc", "a.npy", "-o", name) == 0
    capsys.readouterr()
    table = pyarrow.parquet.read_table("scores.parquet").to_pylist()
    assert len(table) == len(Path("scores.csv").read_text().splitlines()) - 1
    assert json.loads(Path("scores.jsonl").read_text().splitlines()[0])["score"] == table[0]["score"]
    assert Path("scores.csv").read_text().startswith("row,decision,")
    assert Path("scores.txt").read_text().split()[:2] == ["row", "decision"]


def test_columns_of_text_are_dropped_from_a_stream(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    rows = np.random.default_rng(0).normal(size=(200, 2))
    lines = [f"{a},m{i % 3},{b}" for i, (a, b) in enumerate(rows)]
    Path("named.csv").write_text("\n".join(["x,machine,y", *lines]))
    assert run("fit", "named.csv", "--stream") == 0
    assert load("model.eocc").measure_.kinds == ["numeric", "categorical", "numeric"]
    assert run("fit", "named.csv", "--stream", "--drop", "machine") == 0
    assert load("model.eocc").feature_names_in_.tolist() == ["x", "y"]
    assert run("fit", "named.csv", "--stream", "--drop", "colour") == 1
    assert "has no column 'colour'; it has 'x', 'machine', 'y'" in " ".join(capsys.readouterr().err.split())
    np.save("wide.npy", np.column_stack([rows, np.full(200, np.nan)]))
    assert run("fit", "wide.npy", "--stream", "--drop", "2") == 0
    assert load("model.eocc").n_features_in_ == 2


def test_a_stream_of_a_missing_file_is_refused_first(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert run("fit", "none.npy", "--stream") == 1
    assert "Read" not in capsys.readouterr().err
