"""eocc score for jobs: the summary, conditions with exit code 4, discoveries, rows to write, and logs as JSON."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eocc import load
from eocc.cli import main

KEYS = {
    "schema", "eocc_version", "model", "data", "rows", "accepted", "rejected", "rejected_by_chance", "discoveries",
    "drift", "new_categories", "gaps", "bad_cells", "notes",
}  # fmt: skip


def machines(rng, n):
    return pd.DataFrame({"load": rng.normal(50, 5, n).round(3), "state": rng.choice(["on", "off"], n),
                         "temp": rng.normal(20, 2, n).round(3)})  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("alarms"), np.random.default_rng(0)
    machines(rng, 500).to_csv(place / "normal.csv", index=False)
    new = machines(rng, 60)
    new.to_csv(place / "clean.csv", index=False)
    new.loc[:4, "load"] += 80
    new.loc[5, "state"] = "stuck"
    new.loc[[6, 7], "temp"] = np.nan
    new.to_csv(place / "new.csv", index=False)
    new = new.astype({"load": object})
    new.loc[8, "load"] = "broken"
    new.to_csv(place / "bad.csv", index=False)
    assert main(["fit", str(place / "normal.csv"), "-o", str(place / "m.eocc"), "-q"]) == 0
    return place


@pytest.fixture
def score(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(data, *options):
        return main(["score", str(folder / "m.eocc"), str(folder / data), *options])

    return run


def test_the_summary_is_that_of_python_and_quiet_hides_nothing_of_it(folder, score, tmp_path):
    for name, quiet in (("loud.json", []), ("quiet.json", ["-q"])):
        assert score("new.csv", "-o", "s.csv", "--summary", name, *quiet) == 0
    found = json.loads((tmp_path / "loud.json").read_text())
    assert found == json.loads((tmp_path / "quiet.json").read_text())
    assert set(found) == KEYS
    assert found["data"] == [str(folder / "new.csv")]
    assert any("2 rows have missing values" in note for note in found["notes"])
    summary = load(folder / "m.eocc").summary(pd.read_csv(folder / "new.csv"))
    in_python = summary.to_dict()
    assert {**in_python, "data": found["data"], "notes": found["notes"]} == json.loads(json.dumps(found))
    assert (found["schema"], found["rows"], found["rejected"]) == (1, 60, summary.n_rejected)
    assert found["rejected_by_chance"] == pytest.approx(3)
    assert found["new_categories"] == [{"column": "state", "rows": 1, "values": ["stuck"]}]
    assert found["gaps"] == {"rows": 2, "empty_rows": 0, "columns": [{"name": "temp", "rows": 2}]}
    assert found["discoveries"]["count"] >= 5


def test_rows_that_cannot_be_read_are_counted_and_named(score, tmp_path):
    assert score("bad.csv", "-o", "s.csv", "--summary", "out.json", "--fdr", "0.2", "-q") == 0
    found = json.loads((tmp_path / "out.json").read_text())
    assert (found["rows"], found["bad_cells"]["rows"], found["discoveries"]["rate"]) == (60, 1, 0.2)
    assert found["bad_cells"]["first"][0]["row"] == "8"
    assert "'broken'" in found["bad_cells"]["first"][0]["reason"]
    scores = pd.read_csv(tmp_path / "s.csv")
    assert scores.loc[8, ["decision", "discovery"]].tolist() == [-1, 0]
    assert found["rejected"] == (scores.decision == -1).sum()
    assert found["discoveries"]["count"] == scores.discovery.sum()


def test_rows_without_values_are_no_discoveries(score, folder, tmp_path):
    new = pd.read_csv(folder / "clean.csv")
    new.iloc[:3] = None
    new.to_csv(folder / "blank.csv", index=False)
    assert score("blank.csv", "-o", "s.csv", "--summary", "out.json", "--fdr", "0.2", "-q") == 0
    found, scores = json.loads((tmp_path / "out.json").read_text()), pd.read_csv(tmp_path / "s.csv")
    assert found["gaps"]["empty_rows"] == 3
    assert scores.discovery[:3].tolist() == [0, 0, 0]
    assert found["discoveries"]["count"] == scores.discovery.sum()
    assert score("blank.csv", "-o", "s.csv", "--fail-on", "bad>2", "-q") == 4
    assert score("blank.csv", "-o", "s.csv", "--fail-on", "bad>3", "-q") == 0


def test_the_id_of_a_model_is_that_of_its_fitted_values(folder, tmp_path):
    clf, new = load(folder / "m.eocc"), pd.read_csv(folder / "clean.csv")
    one = clf.summary(new).to_dict()["model"]["id"]
    clf.save(tmp_path / "again.eocc")
    clf.n_jobs = 2
    assert load(tmp_path / "again.eocc").summary(new).to_dict()["model"]["id"] == one
    assert clf.summary(new).to_dict()["model"]["id"] == one
    assert clf.fit(pd.read_csv(folder / "normal.csv")[:400]).summary(new).to_dict()["model"]["id"] != one


@pytest.mark.parametrize(
    ("data", "conditions", "why"),
    [
        ("new.csv", "rejected>4", "rows rejected, more than 4"),
        ("new.csv", "drift , discoveries", "discoveries in 60 rows"),
        ("new.csv", "rejected>1000,discoveries>4", "discoveries in 60 rows"),
        ("new.csv", "rejected>1000,discoveries>40", ""),
        ("clean.csv", "drift,discoveries", ""),
        ("bad.csv", "bad", "1 of 60 rows bad: not readable"),
        ("bad.csv", "bad>1", ""),
        ("clean.csv", "bad", ""),
    ],
)
def test_a_condition_ends_with_code_4_and_one_line_that_says_why(score, capsys, tmp_path, data, conditions, why):
    assert score(data, "-o", "s.csv", "--fail-on", conditions, "-q") == (4 if why else 0)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == bool(why)
    assert why in "".join(said)
    assert len(pd.read_csv(tmp_path / "s.csv")) == 60  # written all the same


def test_drift_is_a_condition(score, folder, capsys):
    drifted = pd.read_csv(folder / "clean.csv")
    drifted.assign(temp=drifted.temp + 9).to_csv("warm.csv", index=False)
    assert score(Path("warm.csv").resolve(), "-o", "s.csv", "--fail-on", "drift", "-q") == 4
    assert "most of all in temp" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fail-on", "drift,rejectd>3"], "'rejectd>3'"),
        (["--fail-on", "rejected"], "'rejected'"),
        (["--fail-on", "rejected>-1"], "'rejected>-1'"),
        (["--fdr", "1.5"], "not 1.5"),
        (["--fdr", "0"], "not 0"),
        (["--only", "accepted"], "'accepted'"),
        (["--summary", "-"], "'-' is standard output"),
    ],
)
def test_a_wrong_option_is_named_and_nothing_is_written(score, capsys, tmp_path, options, said):
    assert score("new.csv", "-o", "s.csv", *options) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["missing/out.json", "s.csv"])
def test_a_summary_that_cannot_be_written_leaves_nothing(score, capsys, tmp_path, place):
    assert score("new.csv", "-o", "s.csv", "--summary", place) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_summary_that_fails_while_it_is_written_leaves_no_scores(score, capsys, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("eocc.cli.score.json_line", full)
    assert score("new.csv", "-o", "s.csv", "--summary", "out.json", "-q") == 1
    assert "No space left" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_summary_that_cannot_get_its_name_leaves_no_scores(score, tmp_path, monkeypatch):
    replace = Path.replace

    def refused(draft, target):
        if target.name == "out.json":
            raise PermissionError(13, "Permission denied", str(draft))
        return replace(draft, target)

    monkeypatch.setattr(Path, "replace", refused)
    assert score("new.csv", "-o", "s.csv", "--summary", "out.json", "-q") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_a_row_that_can_be_read_has_a_summary(score, folder, tmp_path, capsys):
    frame = pd.read_csv(folder / "clean.csv")[:3].assign(load="broken")
    frame.to_csv(folder / "all_bad.csv", index=False)
    options = ["-o", "s.csv", "--summary", "out.json", "-q", "--fail-on"]
    assert score("all_bad.csv", *options, "drift,discoveries") == 0
    assert score("all_bad.csv", *options, "drift,bad>2") == 4
    assert capsys.readouterr().err.count("3 of 3 rows bad") == 1
    found = json.loads((tmp_path / "out.json").read_text())
    assert (found["rows"], found["rejected"], found["bad_cells"]["rows"]) == (3, 3, 3)
    assert found["drift"] is found["rejected_by_chance"] is None
    assert pd.read_csv(tmp_path / "s.csv").decision.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_only_some_rows_are_written(score, tmp_path, suffix):
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "jsonl": lambda path: pd.read_json(path, lines=True)}
    for name, options in (("all", ["--fdr", "0.1"]), ("rejected", ["--only", "rejected"]),
                          ("discoveries", ["--only", "discoveries"])):  # fmt: skip
        assert score("bad.csv", "-o", f"{name}.{suffix}", *options, "-q") == 0
    found = {path.stem: read[suffix](path) for path in tmp_path.iterdir()}
    everything = found["all"]
    assert found["rejected"].row.tolist() == everything.row[everything.decision == -1].tolist()
    assert found["discoveries"].row.tolist() == everything.row[everything.discovery == 1].tolist()
    assert 5 <= len(found["discoveries"]) <= len(found["rejected"]) < 60


def test_no_rows_to_write_is_a_file_with_a_header(score, tmp_path):
    for suffix in ("csv", "parquet"):
        assert score("clean.csv", "-o", f"s.{suffix}", "--only", "discoveries", "-q") == 0
    assert list(pd.read_csv(tmp_path / "s.csv").columns) == list(pd.read_parquet(tmp_path / "s.parquet").columns)
    assert len(pd.read_parquet(tmp_path / "s.parquet")) == 0


def test_messages_are_lines_of_json(score, capsys):
    assert score("bad.csv", "-o", "s.csv", "--log-format", "json", "--fail-on", "rejected>0") == 4
    records = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [set(one) for one in records[:-1]] == [{"time", "level", "message"}] * (len(records) - 1)
    assert {one["level"] for one in records} == {"info", "note", "alarm"}
    assert records[-1]["exit_code"] == 4
    assert main(["--log-format", "json", "score", "none.eocc", "none.csv"]) == 1
    (record,) = map(json.loads, capsys.readouterr().err.splitlines())
    assert (record["level"], record["exit_code"]) == ("error", 1)
    assert "none" in record["message"]


def test_a_model_that_is_not_calibrated_says_what_it_lacks(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    numbers = pd.read_csv(folder / "clean.csv")[["load", "temp"]]
    numbers.to_csv("n.csv", index=False)
    assert main(["fit", "n.csv", "-o", "m.eocc", "--method", "eocc-1", "--search", "none", "-q"]) == 0
    for options in (["--fdr", "0.1"], ["--fail-on", "drift"]):
        assert main(["score", "m.eocc", "n.csv", *options, "-q"]) == 1
        assert "needs a calibrated model" in capsys.readouterr().err
    assert (
        main(["score", "m.eocc", "n.csv", "-o", "s.csv", "--summary", "o.json", "--fail-on", "rejected>60", "-q"]) == 0
    )
    found = json.loads((tmp_path / "o.json").read_text())
    assert [found[key] for key in ("discoveries", "drift", "rejected_by_chance")] == [None] * 3
