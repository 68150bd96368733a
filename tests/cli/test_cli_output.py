"""Rows named by an id, input columns next to scores, explanations as a table."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

from eocc import SurpriseClassifier, load
from eocc.cli import main
from graph_files import gxl, vertex, write_folder
from pages import read

RNG = np.random.default_rng(0)


def run(*arguments):
    return main([str(argument) for argument in arguments])


def machines(n, prefix):
    return pd.DataFrame({
        "machine_id": [f"{prefix}-{k:03}" for k in range(n)][::-1],
        "temp_c": RNG.normal(60, 2, n).round(2), "load": RNG.normal(0, 1, n).round(3),
        "site": ["007", "012"] * (n // 2), "score": range(n),
    })  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files to learn from and to score, and a model that knows the ids of its rows."""
    folder = tmp_path_factory.mktemp("machines")
    train, new = machines(40, "old"), machines(12, "new")
    new.loc[5, "temp_c"] = 99.5
    train.to_csv(folder / "train.csv", index=False)
    new.to_csv(folder / "new.csv", index=False)
    new.to_parquet(folder / "new.parquet")
    fit = ("--quiet", "fit", folder / "train.csv", "--id", "machine_id", "--drop", "site,score", "-o")
    assert run(*fit, folder / "m.eocc") == 0
    return folder


def test_the_id_is_not_compared(folder):
    model, train = load(folder / "m.eocc"), pd.read_csv(folder / "train.csv")
    assert model._feature_names == ("temp_c", "load")
    assert model._row_names_ == train["machine_id"].tolist()
    rows = train[["temp_c", "load"]]
    own = SurpriseClassifier().fit(rows)
    assert own._row_names_ is None
    np.testing.assert_array_equal(model.score_samples(rows), own.score_samples(rows))


@pytest.mark.parametrize("source", ["new.csv", "new.parquet"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_scores_carry_the_id_and_other_columns_in_the_order_of_the_input(folder, tmp_path, form, source):
    out, new = tmp_path / f"s.{form}", pd.read_csv(folder / "new.csv", dtype={"site": str})
    keep = ("--id", "machine_id", "--keep", "site,temp_c,score")
    assert run("--quiet", "score", folder / "m.eocc", folder / source, *keep, "-o", out) == 0
    read = {"csv": lambda path: pd.read_csv(path, dtype={"site": str}), "parquet": pd.read_parquet}
    read["jsonl"] = lambda path: pd.DataFrame(map(json.loads, path.read_text().splitlines()))
    scores = read[form](out)
    figures = ["decision", "membership", "score", "how_far_out", "p_value", "notes"]
    assert list(scores) == ["row", "site", "temp_c", "input_score", *figures]
    assert scores["row"].tolist() == new["machine_id"].tolist()
    assert scores["site"].tolist() == new["site"].tolist()
    assert scores["temp_c"].tolist() == new["temp_c"].tolist()
    assert scores["input_score"].astype(int).tolist() == list(range(12))
    assert scores["decision"][5] == -1


def test_cells_of_csv_stay_as_they_are(folder, tmp_path, capsys):
    (tmp_path / "new.csv").write_text('temp_c,load,note\n6.10e1,0.0,\n61,+0.25,"a, b"\n')
    assert run("--quiet", "score", folder / "m.eocc", tmp_path / "new.csv", "--keep", "all", "--format", "csv") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("row,temp_c,load,note,decision,")
    assert lines[1].startswith("0,6.10e1,0.0,,1,")
    assert lines[2].startswith('1,61,+0.25,"a, b",1,')


def test_kept_columns_never_hide_one_another(folder, tmp_path, capsys):
    (tmp_path / "new.csv").write_text("score,input_score,temp_c,load\n7,8,60,0\n")
    assert run("--quiet", "score", folder / "m.eocc", tmp_path / "new.csv", "--keep", "all", "--format", "csv") == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split(",")[1:5] == ["input_input_score", "input_score", "temp_c", "load"]
    assert line.split(",")[1:3] == ["7", "8"]


def test_row_numbers_are_integers(folder, tmp_path, capsys):
    out = tmp_path / "s.parquet"
    assert run("--quiet", "score", folder / "m.eocc", folder / "new.csv", "-o", out) == 0
    table = pyarrow.parquet.read_table(out)
    assert table["row"].to_pylist() == list(range(12))
    assert str(table.schema.field("row").type) == "int64"
    assert run("--quiet", "score", folder / "m.eocc", folder / "new.csv", "--format", "json") == 0
    assert [json.loads(line)["row"] for line in capsys.readouterr().out.splitlines()] == list(range(12))


def test_ids_of_numbers_stay_numbers_and_a_missing_id_is_replaced_by_the_row_number(folder, tmp_path, capsys):
    frame = pd.read_csv(folder / "new.csv").assign(machine_id=range(100, 112))
    frame.to_parquet(tmp_path / "new.parquet")
    out = tmp_path / "s.parquet"
    assert run("score", folder / "m.eocc", tmp_path / "new.parquet", "--id", "machine_id", "-o", out) == 0
    assert pyarrow.parquet.read_table(out)["row"].to_pylist() == list(range(100, 112))
    fit = ("--quiet", "fit", tmp_path / "new.parquet", "--id", "machine_id", "--drop", "site,score", "-o")
    assert run(*fit, tmp_path / "m.eocc") == 0
    assert load(tmp_path / "m.eocc")._row_names_ == [str(number) for number in range(100, 112)]
    capsys.readouterr()
    (tmp_path / "new.csv").write_text("machine_id,temp_c,load\n a ,60,0\n,60,0\nb,,0\n")
    arguments = ("--id", "machine_id", "--skip-incomplete", "--format", "csv")
    assert run("score", folder / "m.eocc", tmp_path / "new.csv", *arguments) == 0
    printed = capsys.readouterr()
    assert [line.split(",")[0] for line in printed.out.splitlines()] == ["row", "a", "1"]
    assert "1 row with missing values left out: row b." in printed.err


def test_a_parquet_column_that_starts_empty_can_be_kept(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("eocc.streaming.score.GROUP_ROWS", 4)
    monkeypatch.setattr("eocc.formats.files.rows.CHUNK_ROWS", 4)
    lines = [{"temp_c": 60.0, "load": 0.0, "note": None if k < 6 else f"n{k}"} for k in range(12)]
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, lines)))
    out = tmp_path / "s.parquet"
    assert run("--quiet", "score", folder / "m.eocc", tmp_path / "new.jsonl", "--keep", "note", "-o", out) == 0
    assert pyarrow.parquet.read_table(out)["note"].to_pylist() == [line["note"] for line in lines]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "m.eocc", "new.csv", "--id", "machine"], "has no column 'machine'; it has 'machine_id', "),
        (["score", "m.eocc", "new.csv", "--keep", "sites"], "Did you mean 'site'?"),
        (["fit", "train.csv", "--id", "machine"], "has no column 'machine'"),
        (["explain", "m.eocc", "new.csv", "--id", "machine_id", "--rows", "x"], "machine_id = 'x'; different ids: 12"),
        (["score", "m.eocc", "mixed.jsonl", "--keep", "note", "-o", "s.parquet"], "hold values of one type; write CSV"),
    ],
)  # fmt: skip
def test_a_wrong_column_is_named(folder, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    (folder / "mixed.jsonl").write_text('{"temp_c": 1, "load": 1, "note": 1}\n{"temp_c": 1, "load": 1, "note": "x"}\n')
    assert main(arguments) == 1
    assert message in capsys.readouterr().err
    assert not (folder / "s.parquet").exists()


def test_a_type_that_changes_between_chunks_is_refused_for_parquet(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("eocc.formats.files.rows.CHUNK_ROWS", 1)
    (tmp_path / "new.jsonl").write_text('{"temp_c": 1, "load": 1, "note": 1}\n{"temp_c": 1, "load": 1, "note": "x"}\n')
    arguments = ("--keep", "note", "-o", tmp_path / "s.parquet")
    assert run("score", folder / "m.eocc", tmp_path / "new.jsonl", *arguments) == 1
    assert "Parquet columns hold values of one type; write CSV or JSON instead" in capsys.readouterr().err
    assert not (tmp_path / "s.parquet").exists()


def test_columns_and_ids_of_files_without_columns_are_refused(tmp_path, capsys):
    (tmp_path / "words.txt").write_text("oak\nelm\nash\nyew\n")
    assert run("fit", tmp_path / "words.txt", "-o", tmp_path / "m.eocc") == 0
    for option in ("--keep", "--id"):
        assert run("score", tmp_path / "m.eocc", tmp_path / "words.txt", option, "name") == 1
        assert f"words.txt has no columns; leave {option} out" in capsys.readouterr().err


def test_explanations_and_the_report_name_rows_by_id(folder, tmp_path, capsys):
    new = ("--id", "machine_id")
    rows = ("--rows", "new-006,new-011", "--detail")
    assert run("--quiet", "explain", folder / "m.eocc", folder / "new.csv", *new, *rows) == 0
    text = capsys.readouterr().out
    assert text.startswith("Row new-006: Rejected")
    assert "\nRow new-011: " in text
    assert "Nearest training rows: old-0" in text
    assert "from the nearest training row old-0" in text
    page = tmp_path / "r.html"
    assert run("--quiet", "report", folder / "m.eocc", "--data", folder / "new.csv", *new, "-o", page) == 0
    assert "<li>Not compared: machine_id, site, score.</li>" in page.read_text()
    shown = read(page).data
    assert "new-006" in {row["name"] for row in shown["rows"]}
    assert "old-039" in {one["name"] for one in shown["training"]}
    assert all(near["name"].startswith("old-0") for row in shown["rows"] for near in row["near"])
    assert run("--quiet", "inspect", folder / "m.eocc") == 0
    assert "row old-0" in capsys.readouterr().out


def test_all_rows_of_one_id_are_explained(folder, tmp_path, capsys):
    (tmp_path / "new.csv").write_text("machine_id,temp_c,load\na,60,0\nb,60,0\na,61,0\n")
    arguments = ("--id", "machine_id", "--rows", "a", "--format", "csv")
    assert run("--quiet", "explain", folder / "m.eocc", tmp_path / "new.csv", *arguments) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == ["row", "a", "a"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_explanations_as_a_table_are_those_of_python(folder, tmp_path, form):
    out, new = tmp_path / f"e.{form}", pd.read_csv(folder / "new.csv", index_col="machine_id")
    rows = ("--rows", "new-006,new-000", "--id", "machine_id")
    assert run("--quiet", "explain", folder / "m.eocc", folder / "new.csv", *rows, "-o", out) == 0
    table = (pd.read_csv if form == "csv" else pd.read_parquet)(out).set_index("row")
    frame = load(folder / "m.eocc").explain_frame(new.loc[["new-006", "new-000"], ["temp_c", "load"]])
    assert frame.index.tolist() == ["new-006", "new-000"]
    assert list(frame) == [
        "decision", "sentence", "membership", "how_far_out", "p_value", "training_row", "dissimilarity", "reason_1",
        "share_1", "reason_2", "share_2", "reason_3", "share_3", "notes",
    ]  # fmt: skip
    assert frame["decision"].tolist() == [-1, 1]
    assert frame["reason_1"].iloc[0].startswith("temp_c is 99.5; normal rows near it have 5")
    assert frame["reason_1"].iloc[0] in frame["sentence"].iloc[0]
    assert frame[["reason_3", "share_3"]].isna().all().all()  # there are two columns
    assert table["reason_1"].tolist() == frame["reason_1"].tolist()
    assert table["training_row"].tolist() == frame["training_row"].tolist()
    np.testing.assert_allclose(table["share_1"], frame["share_1"])


def test_training_graphs_are_named_by_their_files(tmp_path, capsys):
    files = {
        f"g{k}.gxl": gxl("".join(vertex(f"<int>{i}</int>", identity=str(i)) for i in range(2 + k))) for k in range(6)
    }
    write_folder(tmp_path / "set", files)
    assert run("--quiet", "fit", tmp_path / "set", "-o", tmp_path / "m.eocc") == 0
    assert load(tmp_path / "m.eocc")._row_names_ == sorted(files)
    assert run("--quiet", "explain", tmp_path / "m.eocc", tmp_path / "set", "--rows", "g3.gxl") == 0
    assert "normal row g" in " ".join(capsys.readouterr().out.split())


def test_an_id_can_be_left_out_of_a_streamed_fit(folder, tmp_path):
    fit = ("--quiet", "fit", folder / "train.csv", "--stream", "--id", "machine_id", "--drop", "site,score")
    assert run(*fit, "-o", tmp_path / "s.eocc") == 0
    model = load(tmp_path / "s.eocc")
    assert model._feature_names == ("temp_c", "load")
    assert model._row_names_ is None


def test_a_model_without_column_names_is_scored_with_ids(tmp_path, capsys):
    np.save(tmp_path / "train.npy", RNG.normal(size=(30, 2)))
    (tmp_path / "new.csv").write_text("id,a,b\nx,0,0\ny,1,1\n")
    assert run("--quiet", "fit", tmp_path / "train.npy", "-o", tmp_path / "m.eocc") == 0
    arguments = ("--id", "id", "--format", "csv", "--keep", "b")
    capsys.readouterr()
    assert run("--quiet", "score", tmp_path / "m.eocc", tmp_path / "new.csv", *arguments) == 0
    assert [line.split(",")[:2] for line in capsys.readouterr().out.splitlines()] == [
        ["row", "b"],
        ["x", "0"],
        ["y", "1"],
    ]


def test_new_data_need_not_have_a_frame_to_be_explained_as_one(folder):
    model = load(folder / "m.eocc")
    frame = model.explain_frame(pd.DataFrame({"temp_c": [60.0], "load": [0.0]}, index=["a"]))
    assert frame.index.tolist() == ["a"]
    own = SurpriseClassifier().fit(RNG.normal(size=(20, 2)))
    assert own.explain_frame([[0.0, 0.0], [9.0, 9.0]]).index.tolist() == [0, 1]


@pytest.mark.parametrize("suffix", [".xlsx", ".gz", ".pdf"])
@pytest.mark.parametrize("command", ["score", "explain"])
def test_no_text_is_written_under_the_name_of_another_format(folder, tmp_path, capsys, command, suffix):
    for form in ((), ("--format", "csv")):
        output = tmp_path / f"scores.csv{suffix}"
        assert run(command, folder / "m.eocc", folder / "new.csv", "-o", output, *form) == 2
        assert f"eocc writes no {suffix}; pass --output with .csv, .json or .parquet" in capsys.readouterr().err
        assert not output.exists()


def test_a_dash_is_standard_output(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, new = folder / "m.eocc", folder / "new.csv"
    for command in (("score", model, new), ("explain", model, new), ("inspect", model)):
        assert run("-q", *command) == 0
        expected = capsys.readouterr().out
        assert run("-q", *command, "-o", "-") == 0
        assert capsys.readouterr().out == expected
    labelled = ("--label", "site", "--target", "7")
    writing = (("fit", new), ("report", model), ("review", model, new), ("compare", new, *labelled))
    for command in (*writing, ("update", model, new), ("teach", model, new)):
        assert run(*command, "-o", "-") == 2
        assert "'-' is standard output; name a file" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_scores_in_json_can_be_read_again(folder, tmp_path):
    keep = ("--keep", "temp_c,load")
    assert run("-q", "score", folder / "m.eocc", folder / "new.csv", "-o", tmp_path / "s.json", *keep) == 0
    assert run("-q", "score", folder / "m.eocc", tmp_path / "s.json", "-o", tmp_path / "again.json") == 0
    one, two = ((tmp_path / name).read_text().splitlines() for name in ("s.json", "again.json"))
    assert [json.loads(line)["score"] for line in one] == [json.loads(line)["score"] for line in two]


def test_a_table_of_text_is_aligned_whatever_it_keeps(folder, tmp_path, capsys):
    new = pd.read_csv(folder / "new.csv").assign(remark=["a remark of thirty-one letters.", "short"] * 6)
    new.to_csv(tmp_path / "new.csv", index=False)
    assert run("-q", "score", folder / "m.eocc", tmp_path / "new.csv", "--keep", "remark") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 13
    last = lines[0].index("notes")  # the last column ends where its text does
    assert all(line[last - 1 : last] in ("", " ") for line in lines)
