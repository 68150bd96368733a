"""Notes of the command line: constant columns, row counters, figures of training rows, rows with gaps."""

import json

import numpy as np
import pandas as pd
import pytest

from eocc import load
from eocc.cli import main

ROWS = np.random.default_rng(0).normal(size=(100, 2))


def run(*arguments):
    return main([str(argument) for argument in arguments])


def test_constant_columns_are_noted(tmp_path, capsys):
    frame = pd.DataFrame(ROWS, columns=["a", "b"]).assign(volts=230.0)
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    said = "Note: volts is always 230: a row with any other value will be rejected; --drop volts leaves it out.\n"
    assert said in capsys.readouterr().err
    frame.assign(amperes=16).to_csv(tmp_path / "a.csv", index=False)
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    assert "Note: amperes is always 16: " in capsys.readouterr().err
    rows = frame.to_dict("records")
    (tmp_path / "new.csv").write_text("a,b,volts\n" + "".join(f"{row['a']},{row['b']},231\n" for row in rows))
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert run("-q", "fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    assert run("-q", "score", tmp_path / "m.eocc", tmp_path / "new.csv", "-o", tmp_path / "s.csv") == 0
    assert (pd.read_csv(tmp_path / "s.csv")["decision"] == -1).mean() > 0.9


def test_a_constant_column_of_dates_has_one_note(tmp_path, capsys):
    pd.DataFrame(ROWS, columns=["a", "b"]).assign(day="2026-01-02").to_csv(tmp_path / "a.csv", index=False)
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    said = capsys.readouterr().err
    assert "day is always 2026-01-02" in said
    assert "is compared by" not in said


def test_a_row_counter_is_set_aside_unless_asked_for(tmp_path, capsys):
    pd.DataFrame(ROWS, columns=["a", "b"]).assign(**{"row id": np.arange(1, 101)}).to_csv(
        tmp_path / "a.csv", index=False
    )
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    assert "Note: not compared: 'row id' (counts the rows); --all-columns compares it.\n" in capsys.readouterr().err
    assert load(tmp_path / "m.eocc").feature_names_in_.tolist() == ["a", "b"]
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc", "--drop", "row id") == 0
    assert "counts the rows" not in capsys.readouterr().err
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc", "--all-columns") == 0
    assert load(tmp_path / "m.eocc").feature_names_in_.tolist() == ["a", "b", "row id"]


def test_a_column_without_values_makes_no_row_incomplete(tmp_path, capsys):
    frame = pd.DataFrame(ROWS, columns=["a", "b"]).assign(empty=np.nan)
    frame.loc[7, "a"] = np.nan
    frame.to_csv(tmp_path / "a.csv", index=False)
    model = tmp_path / "m.eocc"
    assert run("fit", tmp_path / "a.csv", "-o", model, "--skip-incomplete") == 0
    said = capsys.readouterr().err
    assert "Note: not compared: 'empty' (holds no values)" in said
    assert "Note: 1 row with missing values left out: row 7." in said
    assert run("score", model, tmp_path / "a.csv", "-o", tmp_path / "s.csv", "--skip-incomplete") == 0
    assert len(pd.read_csv(tmp_path / "s.csv")) == 99
    assert run("fit", tmp_path / "a.csv", "-o", model, "--stream", "--skip-incomplete") == 0
    assert load(model).ignored_columns_ == ("empty",)
    capsys.readouterr()
    assert run("score", model, tmp_path / "a.csv") == 0
    assert "1 row has missing values" in capsys.readouterr().err


@pytest.fixture
def labelled(tmp_path):
    frame = pd.DataFrame(np.vstack([ROWS, ROWS[:20] + 3]), columns=["a", "b"])
    frame.assign(y=np.repeat(["bad", "ok"], [20, 100])).to_csv(tmp_path / "d.csv", index=False)
    assert run("fit", tmp_path / "d.csv", "-o", tmp_path / "m.eocc", "--label", "y", "--target", "ok") == 0
    return tmp_path


def test_figures_of_training_rows_are_noted_where_they_look_too_good(labelled, capsys):
    options = ["--data", labelled / "d.csv", "--label", "y", "--target", "ok"]
    # The surprise classifier scores a training row as if it had been left out, so its figures are fair.
    assert run("report", labelled / "m.eocc", *options, "-o", labelled / "r.html") == 0
    assert "trained on" not in capsys.readouterr().err
    fit = ["fit", labelled / "d.csv", "--label", "y", "--target", "ok", "--method", "eocc-1", "--search", "none"]
    assert run(*fit, "-o", labelled / "e.eocc") == 0
    assert run("report", labelled / "e.eocc", *options, "-o", labelled / "r.html") == 0
    assert "83% of the rows equal a row that the model was trained on" in capsys.readouterr().err
    assert run("plot", labelled / "e.eocc", "roc", *options, "-o", labelled / "r.png") == 0
    assert "so it looks better than it is" in capsys.readouterr().err
    (labelled / "new.csv").write_text("a,b,y\n0.1,0.2,ok\n3,3,bad\n")
    options[1] = labelled / "new.csv"
    assert run("report", labelled / "e.eocc", *options, "-o", labelled / "r.html") == 0
    assert "trained on" not in capsys.readouterr().err


def test_training_rows_are_named_by_their_rows_in_the_file(labelled, capsys):
    capsys.readouterr()
    assert run("explain", labelled / "m.eocc", labelled / "d.csv", "--rows", "33", "--format", "json") == 0
    nearest = json.loads(capsys.readouterr().out)["exemplars"]
    # Row 33 was trained on, so it is compared with the other rows, each named by its row in the file.
    frame = pd.read_csv(labelled / "d.csv")
    assert 33 not in [one["row"] for one in nearest]
    assert all(frame["y"][one["row"]] == "ok" and one["row"] == one["index"] + 20 for one in nearest)
    assert run("explain", labelled / "m.eocc", labelled / "d.csv", "--rows", "33") == 0
    short = capsys.readouterr().out
    assert run("explain", labelled / "m.eocc", labelled / "d.csv", "--rows", "33", "--detail") == 0
    detail = capsys.readouterr().out
    assert "training rows " in detail
    assert detail.startswith(short.rstrip())
    assert "training rows " not in short


def test_rows_with_gaps_can_be_skipped_in_every_command_that_scores(labelled, capsys):
    (labelled / "gaps.csv").write_text("a,b,y\n0.1,,ok\n3,3,bad\n0,0,ok\n")
    model, data = labelled / "m.eocc", labelled / "gaps.csv"
    commands = [
        ["explain", model, data],
        ["report", model, "--data", data, "-o", labelled / "r.html"],
        ["plot", model, "scores", "--data", data, "-o", labelled / "p.png"],
    ]
    for command in commands:
        capsys.readouterr()
        assert run(*command) == 0
        assert "left out" not in capsys.readouterr().err
        assert run(*command, "--skip-incomplete") == 0
        assert "1 row with missing values left out: row 0." in capsys.readouterr().err


def test_a_column_names_the_rows(labelled, capsys):
    (labelled / "ids.csv").write_text("a,b,my id,same\n3,3,x,1\n0,0,y,1\n")
    command = ["explain", labelled / "m.eocc", labelled / "ids.csv"]
    assert run(*command, "--id", "my id") == 0
    said = capsys.readouterr()
    assert said.out.startswith("Row x: ")
    assert all(len(line) <= 100 for line in said.out.splitlines())


def test_rows_keep_their_numbers_where_some_are_skipped(labelled, capsys):
    (labelled / "gaps.csv").write_text("a,b\n0.1,\n3,3\n0,0\n")
    command = ["explain", labelled / "m.eocc", labelled / "gaps.csv", "--skip-incomplete", "--rows"]
    assert run(*command, "1") == 0
    assert capsys.readouterr().out.startswith("Row 1: ")
    assert run(*command, "0") == 1
    assert "has no row '0'" in capsys.readouterr().err
    pd.DataFrame({"a": [np.nan, 1.0, np.inf], "b": 0.0}).to_parquet(labelled / "gaps.parquet")
    assert run("score", labelled / "m.eocc", labelled / "gaps.parquet", "--skip-incomplete", "--strict") == 1
    assert "gaps.parquet: row 3: column 'a': 'inf'" in capsys.readouterr().err


def test_gaps_are_refused_by_a_measure_of_numbers(labelled, capsys):
    (labelled / "gaps.csv").write_text("a,b,y\n0.1,1,bad\n3,3,ok\n0,,ok\n1,2,ok\n")
    options = [labelled / "gaps.csv", "--label", "y", "--target", "ok", "--measure", "standardised"]
    assert run("fit", *options, "-o", labelled / "n.eocc") == 1


def test_the_sample_proposed_is_smaller_than_the_file(labelled, capsys):
    options = ("--method", "eocc-1", "--drop", "y", "-o", labelled / "n.eocc", "--max-memory", "5")
    assert run("fit", labelled / "d.csv", *options) == 1
    assert "--sample 60" in capsys.readouterr().err


def test_inspect_leaves_regions_out_where_they_would_take_long(labelled, capsys, monkeypatch):
    assert run("inspect", labelled / "m.eocc") == 0
    assert "A row whose nearest training row is one of these" in capsys.readouterr().out
    monkeypatch.setattr("eocc.plots.projection.MOST_PROTOTYPES", 99)
    assert run("inspect", labelled / "m.eocc") == 0
    printed = capsys.readouterr()
    assert "IF" not in printed.out
    assert "Note: regions are left out: this model has too many or too long rows." in printed.err


def test_new_rows_are_read_as_the_training_file_is_written(tmp_path, capsys):
    prices = [f"{1000 + 37 * k % 900:,}".replace(",", ".") + f",{k % 10} €" for k in range(40)]
    (tmp_path / "a.csv").write_text("price;load\n" + "".join(f"{p};{k % 7},5\n" for k, p in enumerate(prices)))
    assert run("-q", "fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0

    def scored(rows):
        (tmp_path / "new.csv").write_text("price;load\n" + rows)
        assert run("score", tmp_path / "m.eocc", tmp_path / "new.csv", "-o", tmp_path / "s.csv") == 0
        return pd.read_csv(tmp_path / "s.csv")["score"].tolist(), capsys.readouterr().err

    capsys.readouterr()
    model = load(tmp_path / "m.eocc")
    found, said = scored("1.500 €;3\n")
    assert found == model.score_samples(pd.DataFrame({"price": [1500.0], "load": [3.0]})).tolist()
    assert "Note: column" not in said
    found, said = scored("1500.25 €;3\n")
    assert found == model.score_samples(pd.DataFrame({"price": [1500.25], "load": [3.0]})).tolist()


def test_new_dates_may_have_another_order(tmp_path):
    days = [f"{k % 28 + 1}/{k % 12 + 1}/2031" for k in np.random.default_rng(0).permutation(40)]
    (tmp_path / "a.csv").write_text("day,load\n" + "".join(f"{day},{k % 7}.5\n" for k, day in enumerate(days)))
    assert run("-q", "fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    found = []
    for day in ("12/31/2031", "31/12/2031"):
        (tmp_path / "new.csv").write_text(f"day,load\n{day},1.5\n")
        assert run("-q", "score", tmp_path / "m.eocc", tmp_path / "new.csv", "-o", tmp_path / "s.csv") == 0
        found.append((tmp_path / "s.csv").read_text())
    assert found[0] == found[1]


def test_exact_copies_are_noted_and_can_be_dropped(tmp_path, capsys):
    pd.DataFrame(np.tile(ROWS, (3, 1)), columns=["a", "b"]).to_csv(tmp_path / "a.csv", index=False)
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    assert "Note: 200 of 300 training rows are exact copies of other rows; --drop-copies" in capsys.readouterr().err
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc", "--drop-copies") == 0
    shown = capsys.readouterr()
    assert "exact copies" not in shown.err
    assert "training rows: 100" in shown.out


def test_a_column_of_another_case_is_proposed_and_the_file_is_named_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(ROWS, columns=["heat", "load"])
    frame.to_csv("a.csv", index=False)
    frame.rename(columns=str.upper).to_csv("b.csv", index=False)
    assert run("-q", "fit", "a.csv", "-o", "m.eocc") == 0
    told = "has no column 'heat', which the model needs; it has 'HEAT', 'LOAD'. Did you mean 'HEAT'?\n"
    assert run("-q", "score", "m.eocc", "b.csv") == 1
    assert capsys.readouterr().err == f"eocc: b.csv: {told}"
    assert run("-q", "score", "m.eocc", "a.csv", "--id", "Load") == 1
    told = "has no column 'Load'; it has 'heat', 'load'. Did you mean 'load'?\n"
    assert capsys.readouterr().err == f"eocc: a.csv: {told}"


def test_a_false_alarm_rate_that_few_rows_cannot_promise_is_noted(tmp_path, capsys):
    for n, rate in ((18, "Note: the false-alarm rate is 0.053, not 0.05: the least that 18 "), (19, "")):
        pd.DataFrame(ROWS[:n], columns=["a", "b"]).to_csv(tmp_path / "a.csv", index=False)
        assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
        printed = capsys.readouterr().err
        assert rate in printed
        assert ("not 0.05" in printed) == bool(rate)


def test_sql_says_which_columns_must_be_numbers(tmp_path, capsys):
    frame = pd.DataFrame({"heat": ROWS[:, 0], "price": [f"${1000 + value:,.2f}" for value in ROWS[:, 1]]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert run("-q", "fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc", "--method", "regions") == 0
    assert run("export", tmp_path / "m.eocc", "--to", "sql", "--table", "parts", "-o", tmp_path / "m.sql") == 0
    assert "Note: the table must hold numbers in 'heat', 'price': " in capsys.readouterr().err
    assert run("export", tmp_path / "m.eocc", "--to", "sql") == 2
    assert "--to sql needs --table" in capsys.readouterr().err
