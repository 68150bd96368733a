"""Notes of the command line: constant columns, row counters, figures of training rows, rows with gaps."""

import json

import numpy as np
import pandas as pd
import pytest

from eocc.cli import main

ROWS = np.random.default_rng(0).normal(size=(100, 2))


def run(*arguments):
    return main([str(argument) for argument in arguments])


def test_columns_that_never_vary_are_told(tmp_path, capsys):
    frame = pd.DataFrame(ROWS, columns=["a", "b"]).assign(volts=230.0)
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    assert "Note: column 'volts' never varies, so that new values there count in their own units" in (
        capsys.readouterr().err
    )
    frame.assign(amperes=16).to_csv(tmp_path / "a.csv", index=False)
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    assert "columns 'volts', 'amperes' never vary" in capsys.readouterr().err


def test_a_column_that_counts_the_rows_is_told(tmp_path, capsys):
    pd.DataFrame(ROWS, columns=["a", "b"]).assign(**{"row id": np.arange(1, 101)}).to_csv(
        tmp_path / "a.csv", index=False
    )
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    assert "Note: column 'row id' counts the rows; if it only names them, --drop 'row id'." in capsys.readouterr().err
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc", "--drop", "row id") == 0
    assert "counts the rows" not in capsys.readouterr().err


@pytest.fixture
def labelled(tmp_path):
    frame = pd.DataFrame(np.vstack([ROWS, ROWS[:20] + 3]), columns=["a", "b"])
    frame.assign(y=np.repeat(["bad", "ok"], [20, 100])).to_csv(tmp_path / "d.csv", index=False)
    assert run("fit", tmp_path / "d.csv", "-o", tmp_path / "m.eocc", "--label", "y", "--target", "ok") == 0
    return tmp_path


def test_figures_of_the_rows_learnt_from_are_said_to_flatter(labelled, capsys):
    options = ["--data", labelled / "d.csv", "--label", "y", "--target", "ok"]
    assert run("report", labelled / "m.eocc", *options, "-o", labelled / "r.html") == 0
    assert "83% of the patterns do not differ from one that the model knows" in capsys.readouterr().err
    assert "100 of them do not differ from a training pattern: if the model was trained on them" in (
        (labelled / "r.html").read_text()
    )
    assert run("plot", labelled / "m.eocc", "roc", *options, "-o", labelled / "r.png") == 0
    assert "figures flatter it" in capsys.readouterr().err
    (labelled / "new.csv").write_text("a,b,y\n0.1,0.2,ok\n3,3,bad\n")
    options[1] = labelled / "new.csv"
    assert run("report", labelled / "m.eocc", *options, "-o", labelled / "r.html") == 0
    assert "flatter" not in capsys.readouterr().err + (labelled / "r.html").read_text()


def test_training_patterns_are_called_by_their_rows_in_the_file(labelled, capsys):
    capsys.readouterr()
    assert run("explain", labelled / "m.eocc", labelled / "d.csv", "--patterns", "33", "--format", "json") == 0
    nearest = json.loads(capsys.readouterr().out)["nearest"]["exemplars"][0]
    assert (nearest["row"], nearest["index"], nearest["dissimilarity"]) == (33, 13, 0.0)
    assert run("explain", labelled / "m.eocc", labelled / "d.csv", "--patterns", "33") == 0
    assert "training patterns 33, " in capsys.readouterr().out


def test_incomplete_rows_are_left_out_of_all_that_judges(labelled, capsys):
    (labelled / "gaps.csv").write_text("a,b,y\n0.1,,ok\n3,3,bad\n0,0,ok\n")
    model, data = labelled / "m.eocc", labelled / "gaps.csv"
    commands = [
        ["explain", model, data],
        ["report", model, "--data", data, "-o", labelled / "r.html"],
        ["plot", model, "scores", "--data", data, "-o", labelled / "p.png"],
    ]
    for command in commands:
        capsys.readouterr()
        assert run(*command) == 1
        assert "gaps.csv:2: column 'b' has no number here; fill it in, or drop the row; --skip-incomplete" in (
            capsys.readouterr().err
        )
        assert run(*command, "--skip-incomplete") == 0
        assert "1 row left out, for values that are missing: pattern 0." in capsys.readouterr().err


def test_patterns_keep_their_numbers_where_some_are_left_out(labelled, capsys):
    (labelled / "gaps.csv").write_text("a,b\n0.1,\n3,3\n0,0\n")
    command = ["explain", labelled / "m.eocc", labelled / "gaps.csv", "--skip-incomplete", "--patterns"]
    assert run(*command, "1") == 0
    assert capsys.readouterr().out.startswith("Pattern 1: ")
    assert run(*command, "0") == 1
    assert "has no pattern '0'; they are called '1' to '2'" in capsys.readouterr().err
    pd.DataFrame({"a": [np.nan, 1.0, np.inf], "b": 0.0}).to_parquet(labelled / "gaps.parquet")
    assert run("score", labelled / "m.eocc", labelled / "gaps.parquet", "--skip-incomplete") == 1
    assert "gaps.parquet: row 3: column 'a' holds 'inf'" in capsys.readouterr().err


def test_a_plan_refuses_what_a_fit_would(labelled, capsys):
    (labelled / "gaps.csv").write_text("a,b,y\n0.1,,bad\n3,3,ok\n0,0,ok\n1,2,ok\n")
    options = [labelled / "gaps.csv", "--label", "y", "--target", "ok", "--measure", "standardised"]
    for sample, code in (([], 1), (["--sample", 3], 0)):
        assert run("plan", *options, *sample) == code
        assert run("fit", *options, *sample, "-o", labelled / "n.eocc") == code


def test_the_sample_proposed_is_smaller_than_the_file(labelled, capsys):
    assert run("fit", labelled / "d.csv", "--drop", "y", "-o", labelled / "n.eocc", "--max-memory", "5") == 1
    assert "--sample 60" in capsys.readouterr().err
