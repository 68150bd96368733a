"""Messy files on the command line: cells that cannot be read, declared kinds, facts, several files, pipes."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from eocc import load
from eocc.cli import main

RNG = np.random.default_rng(0)
N = 60


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path):
    frame = pd.DataFrame({"id": [f"M{k}" for k in range(N)], "load": RNG.normal(5, 1, N).round(1),
                          "city": RNG.choice(["Oslo", "Rome"], N), "heat": RNG.normal(size=N).round(2)})  # fmt: skip
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert run("-q", "fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc", "--id", "id") == 0
    (tmp_path / "new.csv").write_text(
        "id,load,city,heat\nx,5.1,Oslo,0.1\ny,oops,Rome,0.2\nz,5.2,Mars,\nx,500,Rome,0.3\n"
        + (tmp_path / "a.csv").read_text().splitlines()[1] + "\n"
    )  # fmt: skip
    return tmp_path


def test_a_row_with_a_cell_that_cannot_be_read_is_rejected_and_the_others_are_scored(folder, capsys):
    assert run("score", folder / "m.eocc", folder / "new.csv", "--id", "id", "-o", folder / "s.csv") == 0
    scores = pd.read_csv(folder / "s.csv", keep_default_na=False)
    assert scores["row"].tolist() == ["x", "y", "z", "x", "M0"]
    assert scores["decision"].tolist()[1] == -1
    assert scores["notes"][1] == "line 3: column 'load': 'oops' is not a number (0.5 and 1e3 are)"
    said = capsys.readouterr().err
    assert "Note: 1 row rejected, with a cell that cannot be read (line 3: column 'load': 'oops' is not" in said
    assert "(5 rows, " in said
    assert run("score", folder / "m.eocc", folder / "new.csv", "--strict") == 1
    assert "new.csv:3: column 'load': 'oops' is not a number" in capsys.readouterr().err
    alone = pd.read_csv(folder / "new.csv")[["load", "city", "heat"]].drop(index=1).astype({"load": float})
    expected = load(folder / "m.eocc").score_samples(alone)
    assert scores.drop(index=1)["score"].astype(float).tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_typed_results_have_gaps_where_a_row_cannot_be_read(folder, form):
    assert run("-q", "score", folder / "m.eocc", folder / "new.csv", "-o", folder / f"s.{form}") == 0
    if form == "json":
        rows = [json.loads(line) for line in (folder / "s.json").read_text().splitlines()]
        assert (rows[1]["decision"], rows[1]["score"]) == (-1, None)
    else:
        assert pd.read_parquet(folder / "s.parquet")["score"].isna().tolist() == [False, True, False, False, False]


def test_facts_stand_beside_every_decision(folder, capsys):
    assert run("-q", "score", folder / "m.eocc", folder / "new.csv", "--id", "id", "-o", folder / "s.csv") == 0
    notes = pd.read_csv(folder / "s.csv", keep_default_na=False)["notes"].tolist()
    assert notes[0] == ""
    assert notes[2] == "city is Mars, which no training row has; 1 of 3 values missing"
    assert notes[3].startswith("load is 500, above all training values (up to ")
    assert notes[3].endswith("; repeated id x")
    assert notes[4] == "copy of training row M0"
    capsys.readouterr()
    assert run("-q", "explain", folder / "m.eocc", folder / "new.csv", "--id", "id", "--strangest", 5) == 0
    said = capsys.readouterr().out
    assert "Row y: Rejected: line 3: column 'load': 'oops' is not a number" in said
    assert "Notes: city is Mars, which no training row has; 1 of 3 values missing." in said
    assert run("-q", "explain", folder / "m.eocc", folder / "new.csv", "--format", "csv", "--strangest", 5) == 0
    assert "copy of training row M0" in capsys.readouterr().out
    assert run("-q", "report", folder / "m.eocc", "--data", folder / "new.csv", "-o", folder / "r.html") == 0
    assert "city is Mars, which no training row has" in (folder / "r.html").read_text()


def test_an_explanation_shows_the_value_as_it_stands_in_the_file(folder, capsys):
    (folder / "odd.csv").write_text("load,city,heat\n4.7,Oslo,400\n61.25,Rome,0.1\n")
    assert run("-q", "explain", folder / "m.eocc", folder / "odd.csv", "--rows", "1") == 0
    assert "61.25" in capsys.readouterr().out


def test_rows_that_cannot_be_read_are_left_out_of_a_fit_if_asked(folder, capsys):
    lines = (folder / "a.csv").read_text().splitlines()
    lines[7] = "M6,oops,Oslo,0.1"
    (folder / "bad.csv").write_text("\n".join(lines))
    assert run("fit", folder / "bad.csv", "-o", folder / "b.eocc", "--id", "id") == 0
    assert "column 'load' counts as text because 'oops' (line 8) is not a number" in capsys.readouterr().err
    assert run("fit", folder / "bad.csv", "-o", folder / "b.eocc", "--id", "id", "--skip-bad") == 0
    said = capsys.readouterr().err
    assert "Note: 1 row with cells that cannot be read left out (line 8: column 'load': 'oops'" in said
    assert ": row M6.\n" in said
    model = load(folder / "b.eocc")
    assert (model._n_training, model.reading_.columns[0].kind) == (N - 1, "number")


@pytest.mark.parametrize("drop", ["id", "id,city"])
def test_a_stream_declares_kinds_and_skips_rows_that_cannot_be_read(folder, drop, capsys):
    lines = (folder / "a.csv").read_text().splitlines()
    lines[7] = "M6,oops,Oslo,0.1"
    (folder / "bad.csv").write_text("\n".join(lines))
    made = {}
    for name, more in {"whole": [], "stream": ["--stream"]}.items():
        fit = ["fit", folder / "bad.csv", "-o", folder / "b.eocc", "--drop", drop, *more]
        assert run(*fit, "--skip-bad", "--kind", "load=number") == 0
        assert "Note: 1 row with cells that cannot be read left out (" in capsys.readouterr().err
        made[name] = load(folder / "b.eocc")
        assert run(*fit, "--kind", "load=number") == 1
        assert "'oops' is not a number" in capsys.readouterr().err
    whole, stream = made.values()
    assert stream.reading_ == whole.reading_
    numbers = [row for row in range(N) if row != 6]  # as in the file
    assert sorted(stream.training_indices_) == sorted(whole.training_indices_) == numbers
    rows = pd.read_csv(folder / "a.csv")
    assert stream.score_samples(rows).tolist() == whole.score_samples(rows).tolist()


def test_rows_that_cannot_be_read_are_explained_by_id_or_by_number(folder, capsys):
    def explained(*options):
        assert run("-q", "explain", folder / "m.eocc", folder / "new.csv", *options) == 0
        return capsys.readouterr().out

    bad = "Row y: Rejected: line 3: column 'load': 'oops' is not a number"
    said = explained("--id", "id", "--rows", "z,y")
    assert bad in said
    assert "Row z: " in said
    assert "Row x: " not in said
    assert explained("--rows", "2").startswith("Row 2: ")  # numbers count all rows
    assert explained("--rows", "1", "--format", "csv").splitlines()[1].startswith("1,-1,")
    assert run("-q", "explain", folder / "m.eocc", folder / "new.csv", "--id", "id", "--rows", "1") == 1
    assert "has no row with id = '1'; different ids: 4" in capsys.readouterr().err


def test_a_report_counts_rows_that_cannot_be_read_as_score_does(folder):
    assert run("-q", "score", folder / "m.eocc", folder / "new.csv", "-o", folder / "s.csv") == 0
    rejected = (pd.read_csv(folder / "s.csv")["decision"] == -1).sum()
    assert run("-q", "report", folder / "m.eocc", "--data", folder / "new.csv", "-o", folder / "page.html") == 0
    assert f"{rejected} of 5 rows look unusual (1 cannot be read); fewer" in (folder / "page.html").read_text()


def test_a_missing_date_is_one_missing_value(tmp_path):
    when = pd.date_range("2024-01-01", periods=N, freq="7h").astype(str)
    pd.DataFrame({"when": when, "load": RNG.normal(size=N)}).to_csv(tmp_path / "d.csv", index=False)
    assert run("-q", "fit", tmp_path / "d.csv", "-o", tmp_path / "d.eocc") == 0
    assert sum(len(one.parts) for one in load(tmp_path / "d.eocc").reading_.columns) > 2
    (tmp_path / "gap.csv").write_text("when,load\n,0.5\n")
    assert run("-q", "score", tmp_path / "d.eocc", tmp_path / "gap.csv", "-o", tmp_path / "s.csv") == 0
    assert pd.read_csv(tmp_path / "s.csv")["notes"].tolist() == ["1 of 2 values missing"]


def test_a_column_too_many_is_refused_with_the_remedy(folder):
    clf, new = load(folder / "m.eocc"), pd.read_csv(folder / "a.csv").assign(tag=1)
    with pytest.raises(ValueError, match=r"'tag', .*; leave it out: X\[clf.feature_names_in_\]$"):
        clf.predict(new)
    assert len(clf.predict(new[clf.feature_names_in_])) == N


def test_pages_name_rows_that_cannot_be_read(folder):
    for command in (["report", "--data"], ["review"]):
        run("-q", *command[:1], folder / "m.eocc", *command[1:], folder / "new.csv", "-o", folder / "page.html")
        assert "Row 1 cannot be read, so it is rejected: line 3: column" in (folder / "page.html").read_text()


def test_a_kind_can_be_declared(folder, capsys):
    fit = ["fit", folder / "a.csv", "-o", folder / "k.eocc"]
    assert run(*fit, "--kind", "load=category", "--kind", "id=text") == 0
    kinds = {one.name: one.kind for one in load(folder / "k.eocc").reading_.columns}
    assert kinds == {"id": "text", "load": "text", "city": "text", "heat": "number"}
    assert run(*fit, "--kind", "city=number") == 1
    assert "a.csv:2: column 'city': " in capsys.readouterr().err
    assert run(*fit, "--kind", "city=colour") == 2
    assert run(*fit, "--kind", "town=text") == 1
    assert "has no column 'town'; it has 'id', 'load', 'city', 'heat'" in capsys.readouterr().err


def log(month, order):
    """Return a month of departures, each up to four hours after its planned hour, in the order of one of these."""
    rng = np.random.default_rng(month)
    hours = 24 * np.repeat(np.arange(28), 10) + np.tile(np.arange(10), 28)
    planned = pd.Timestamp(2031, month, 1, 6) + pd.to_timedelta(hours, "h")
    left = planned + pd.to_timedelta(rng.uniform(0, 4, 280), "h")
    load, city = rng.normal(size=280).round(3), rng.choice(["Oslo", "Rome"], 280)
    frame = pd.DataFrame({"planned": planned.astype(str), "load": load, "city": city})
    return frame.iloc[left.argsort() if order else rng.permutation(280)]


def test_a_later_month_of_a_log_is_accepted_although_its_hours_are_not_quite_in_order(tmp_path, capsys):
    log(2, True).to_csv(tmp_path / "feb.csv", index=False)
    for options, order, is_accepted in (([], True, True), ([], False, False), (["planned=hours"], False, True)):
        log(1, order).to_csv(tmp_path / "jan.csv", index=False)
        declared = [part for one in options for part in ("--kind", one)]
        assert run("fit", tmp_path / "jan.csv", "-o", tmp_path / "m.eocc", *declared) == 0
        said = capsys.readouterr().err
        assert ("--kind planned=hours leaves the moment out" in said) != is_accepted
        assert run("-q", "score", tmp_path / "m.eocc", tmp_path / "feb.csv", "-o", tmp_path / "s.csv") == 0
        assert ((pd.read_csv(tmp_path / "s.csv")["decision"] == 1).mean() > 0.85) == is_accepted
        capsys.readouterr()


def test_hours_are_declared_of_dates_with_different_hours_only(folder, capsys):
    for cells, why in (("2031-03-04", "has no different times of day to compare; drop it"), ("x", "'x' is not a date")):
        pd.DataFrame({"at": cells, "load": np.arange(30) % 7}).to_csv(folder / "a.csv", index=False)
        assert run("fit", folder / "a.csv", "-o", folder / "k.eocc", "--kind", "at=hours") == 1
        assert why in capsys.readouterr().err


def test_a_declared_text_keeps_the_country_na(folder):
    frame = pd.DataFrame({"country": ["NA", "DE", "FR"] * 20, "load": np.arange(60) % 7 / 7})
    frame.to_csv(folder / "c.csv", index=False)
    for options, labels in ((["--kind", "country=text"], ("DE", "FR", "NA")), ([], ("DE", "FR"))):
        assert run("-q", "fit", folder / "c.csv", "-o", folder / "k.eocc", *options) == 0
        model = load(folder / "k.eocc")
        assert model.reading_.columns[0].labels == labels
        assert (model._read(frame)[0]["country"] == "NA") == bool(options)


def test_several_files_are_scored_as_one(folder, capsys):
    header, *lines = (folder / "new.csv").read_text().splitlines()
    for k, part in enumerate((lines[:2], lines[2:])):
        (folder / f"part-{k}.csv").write_text("\n".join([header, *part]) + "\n")
    found = []
    for data in ([folder / "new.csv"], [folder / "part-0.csv", folder / "part-1.csv"], [folder / "part-?.csv"]):
        assert run("-q", "score", folder / "m.eocc", *data, "-o", folder / "s.csv") == 0
        found.append(pd.read_csv(folder / "s.csv").drop(columns="notes"))
        pd.testing.assert_frame_equal(found[-1], found[0])
    turned = pd.read_csv(folder / "part-1.csv", dtype=str, keep_default_na=False).iloc[:, ::-1]
    turned.to_csv(folder / "turned.csv", index=False)  # the order of the columns does not matter
    assert (
        run("-q", "score", folder / "m.eocc", folder / "part-0.csv", folder / "turned.csv", "-o", folder / "s.csv") == 0
    )
    pd.testing.assert_frame_equal(pd.read_csv(folder / "s.csv").drop(columns="notes"), found[0])
    both = [[folder / "part-0.csv", folder / name] for name in ("part-1.csv", "turned.csv")]
    models = [run("-q", "fit", *paths, "-o", folder / "f.eocc") or (folder / "f.eocc").read_bytes() for paths in both]
    assert models[0] == models[1]
    (folder / "part-2.csv").write_text("load,heat\n1,2\n")
    assert run("-q", "score", folder / "m.eocc", folder / "part-0.csv", folder / "part-2.csv") == 1
    assert "part-2.csv: has no column 'city', which the model needs" in capsys.readouterr().err
    assert run("-q", "fit", folder / "part-0.csv", folder / "part-2.csv", "-o", folder / "f.eocc") == 1
    assert "part-2.csv: has other columns than" in capsys.readouterr().err


def test_a_process_substitution_is_read(folder):
    command = f"{sys.executable} -m eocc -q score {folder}/m.eocc <(cat {folder}/new.csv) -o {folder}/p.csv"
    subprocess.run(["bash", "-c", command], check=True)
    assert run("-q", "score", folder / "m.eocc", folder / "new.csv", "-o", folder / "s.csv") == 0
    assert (folder / "p.csv").read_text() == (folder / "s.csv").read_text()


def test_events_at_night_among_office_hours_are_rejected(folder):
    rng = np.random.default_rng(1)

    def events(n, hours):
        days, seconds = rng.integers(0, 60, n), rng.integers(hours[0] * 3600, hours[1] * 3600, n)
        at = pd.Timestamp("2031-01-06") + pd.to_timedelta(days, unit="D") + pd.to_timedelta(seconds, unit="s")
        return pd.DataFrame({"at": at, "load": rng.normal(size=n).round(3)})

    events(1000, (9, 17)).to_csv(folder / "office.csv", index=False)
    events(100, (3, 4)).to_csv(folder / "night.csv", index=False)
    assert run("-q", "fit", folder / "office.csv", "-o", folder / "o.eocc") == 0
    assert load(folder / "o.eocc").measure_.names == ["at", "at (time of day)", "at (weekday)", "load"]
    assert run("-q", "score", folder / "o.eocc", folder / "night.csv", "-o", folder / "s.csv") == 0
    assert (pd.read_csv(folder / "s.csv")["decision"] == -1).mean() > 0.9
