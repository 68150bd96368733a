"""The methods of the command line: what each learns, which options it has, and how labels are used."""

import csv
import io
import json
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest

from eocc import EntropicOneClassClassifier, SurpriseClassifier, load
from eocc.cli import main

ROWS = np.random.default_rng(3).normal(size=(30, 2)).round(6)
METHODS = {"surprise": (), "eocc-1": ("--method", "eocc-1", "--search", "none")}


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("files")
    pd.DataFrame(ROWS, columns=["load", "heat"]).to_csv(made / "a.csv", index=False)
    lines = [f"{x},{y},good" for x, y in ROWS] + [f"{x + 5},{y - 5},bad" for x, y in ROWS[:12]]
    lines += [f"{x - 5},{y + 5},odd" for x, y in ROWS[:3]]
    (made / "labelled.csv").write_text("\n".join(["load,heat,state", *lines]))
    (made / "new.csv").write_text("load,heat\n0,0\n30,0\n")
    for name, options in METHODS.items():
        assert run("-q", "fit", made / "a.csv", "-o", made / f"{name}.eocc", *options) == 0
    return made


def facts(model, capsys):
    capsys.readouterr()
    assert run("-q", "inspect", model, "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


def test_the_default_is_the_surprise_classifier_as_in_python(folder):
    found = load(folder / "surprise.eocc")
    assert isinstance(found, SurpriseClassifier)
    frame = pd.read_csv(folder / "a.csv")
    assert found.score_samples(frame).tolist() == SurpriseClassifier().fit(frame).score_samples(frame).tolist()


def test_a_table_with_a_category_and_gaps_gives_the_same_model_as_a_frame(tmp_path):
    frame = pd.DataFrame({"load": ROWS[:, 0], "state": ["a", "b", None] * 10, "heat": ROWS[:, 1]})
    frame.loc[4, "heat"] = np.nan
    frame.to_csv(tmp_path / "mixed.csv", index=False)
    assert run("-q", "fit", tmp_path / "mixed.csv", "-o", tmp_path / "m.eocc") == 0
    own = SurpriseClassifier().fit(frame)
    assert load(tmp_path / "m.eocc").score_samples(frame).tolist() == own.score_samples(frame).tolist()


def messy():
    """Readings as a machine writes them: ids, times, signs, dates, truth values, categories, codes and gaps."""
    n, rng = 60, np.random.default_rng(0)
    frame = pd.DataFrame({
        "machine": [f"M-{k}" for k in rng.permutation(n)], "row": range(n),
        "time": pd.date_range("2031-03-01", periods=n, freq="7min").astype(str), "heat": rng.normal(70, 3, n).round(1),
        "load": [f"{share}%" for share in rng.integers(0, 100, n)], "state": rng.choice(["run", "idle"], n),
        "closed": rng.choice(["yes", "no"], n), "code": rng.choice(["007", "012", "130"], n),
        "spare": None, "served": [f"{day}.1.2031" for day in rng.integers(1, 20, n)],
        "shift": [f"2031-02-{day:02d} {hour}:30" for day, hour in np.c_[rng.integers(1, 20, n), 10 + np.arange(n) % 3]],
    })  # fmt: skip
    return frame.assign(state=frame["state"].mask(np.arange(n) % 20 == 0), heat=frame["heat"].mask(np.arange(n) == 3))


def test_a_messy_table_gives_the_same_model_as_a_frame(tmp_path, capsys):
    messy().to_csv(tmp_path / "a.csv", index=False)
    messy().to_csv(tmp_path / "b.csv", index=False, sep=";", decimal=",")
    messy().to_excel(tmp_path / "c.xlsx", index=False)
    messy().to_parquet(tmp_path / "d.parquet")
    with pytest.warns(UserWarning, match="not compared: 'machine' .*, 'row' .*, 'spare' "):
        own = SurpriseClassifier().fit(pd.read_csv(tmp_path / "a.csv", dtype={"code": str}))
    expected = own.score_samples(messy()).tolist()
    for name in ("a.csv", "b.csv", "c.xlsx", "d.parquet"):
        capsys.readouterr()
        assert run("fit", tmp_path / name, "-o", tmp_path / "m.eocc") == 0
        said = capsys.readouterr().err
        assert (
            "Note: not compared: 'machine' (has a different text in nearly every row), 'row' (counts the rows), "
            in said
        )
        assert "'spare' (holds no values); --all-columns compares them." in said
        assert "'time' is compared by its time of day, not by its moment, which runs on from row" in said
        assert "'shift' is compared by its moment, time of day and weekday: rows later than all training rows" in said
        assert "will stand out; --kind shift=hours leaves the moment out." in said
        assert "'served' is compared by its moment: rows later than all training rows will stand out; --drop s" in said
        model = load(tmp_path / "m.eocc")
        assert model.measure_.names == own.measure_.names
        assert model.ignored_columns_ == own.ignored_columns_ == ("machine", "row", "spare")
        assert model.score_samples(messy()).tolist() == expected
        for data in ("a.csv", "b.csv", "c.xlsx"):
            assert run("-q", "score", tmp_path / "m.eocc", tmp_path / data, "-o", tmp_path / "s.csv") == 0
            assert pd.read_csv(tmp_path / "s.csv")["score"].tolist() == pytest.approx(expected, rel=1e-14)


def test_a_third_truth_value_in_new_rows_is_scored_as_a_new_category(tmp_path):
    messy().to_csv(tmp_path / "a.csv", index=False)
    messy().assign(closed="maybe").to_csv(tmp_path / "new.csv", index=False)
    assert run("-q", "fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    model = load(tmp_path / "m.eocc")
    odd, usual = (model.transform(pd.read_csv(tmp_path / name, dtype=str)).min(axis=1) for name in ("new.csv", "a.csv"))
    assert (usual == 0).all()
    n_parts = sum(len(one.parts) for one in model.reading_.columns)
    assert (odd >= 1 / n_parts).all()  # differs from all training rows in one column
    assert run("-q", "score", tmp_path / "m.eocc", tmp_path / "new.csv", "-o", tmp_path / "s.csv") == 0
    assert pd.read_csv(tmp_path / "s.csv")["notes"].str.contains("closed is maybe, which no training row has").all()


def test_eocc_1_is_the_papers_classifier(folder):
    found = load(folder / "eocc-1.eocc")
    assert isinstance(found, EntropicOneClassClassifier)
    assert (found.synthesis, found.search) == ("entropy", None)


def test_scores_have_p_values_if_the_model_is_calibrated(folder, capsys):
    printed = {}
    for name in METHODS:
        assert run("-q", "score", folder / f"{name}.eocc", folder / "new.csv", "--format", "csv") == 0
        printed[name] = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(printed["surprise"][0]) == [*list(printed["eocc-1"][0])[:-1], "p_value", "notes"]
    inside, outside = printed["surprise"]
    assert (inside["decision"], outside["decision"]) == ("1", "-1")
    assert float(inside["how_far_out"]) < 1 < float(outside["how_far_out"])
    assert float(outside["p_value"]) == pytest.approx(1 / 31)


@pytest.mark.parametrize("name", METHODS)
def test_inspect_shows_the_facts_of_the_model_and_its_rules(folder, capsys, name):
    shown, model = facts(folder / f"{name}.eocc", capsys), load(folder / f"{name}.eocc")
    assert (shown["method"], shown["measure"], shown["training rows"]) == (name, "Euclidean", 30)
    assert set(model._facts()) <= set(shown)
    assert len(shown["rules"]) == len(model.regions_)


@pytest.mark.parametrize("name", ["surprise", "eocc-1"])
def test_inspect_shows_how_many_of_the_rows_are_compared_with(folder, tmp_path, capsys, name):
    assert run("-q", "fit", folder / "a.csv", "-o", tmp_path / "m.eocc", *METHODS[name], "--prototypes", 10) == 0
    shown = facts(tmp_path / "m.eocc", capsys)
    assert (shown["training rows"], shown["prototypes"]) == (30, 10)
    assert facts(folder / f"{name}.eocc", capsys)["prototypes"] is None


@pytest.mark.parametrize("option", [("--seed", 3), ("--selection", "random")])
def test_nothing_is_random_in_a_surprise(folder, tmp_path, capsys, option):
    assert run("fit", folder / "a.csv", "-o", tmp_path / "m.eocc", *option) == 2
    assert option[0] in capsys.readouterr().err
    asked = (*METHODS["eocc-1"], "--prototypes", 10, *option)
    assert run("-q", "fit", folder / "a.csv", "-o", tmp_path / "m.eocc", *asked) == 0


@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_a_false_alarm_rate_is_kept_by_every_method(folder, tmp_path, capsys, options):
    asked = (*options, "--false-alarm-rate", 0.25)
    assert run("-q", "fit", folder / "a.csv", "-o", tmp_path / "m.eocc", *asked) == 0
    assert facts(tmp_path / "m.eocc", capsys)["false-alarm rate"] == 0.25


def test_pictures_of_rows_are_drawn(folder, tmp_path):
    for kind in ("rows", "calibration"):
        data = "--data", folder / "new.csv"
        assert run("-q", "plot", folder / "surprise.eocc", kind, *data, "-o", tmp_path / f"{kind}.svg") == 0
    assert "rejected; the most unusual" in (tmp_path / "rows.svg").read_text()
    assert run("-q", "plot", folder / "surprise.eocc", "rows", "-o", tmp_path / "x.svg") == 2


LABELS = ("--label", "state", "--target", "good")


@pytest.mark.parametrize(
    ("options", "n_training", "n_outliers"),
    [
        ((), 30, None),
        (("--outliers", "bad"), 30, 12),
        (("--outliers", "bad,odd"), 30, 15),
        (("--outliers", "bad,odd", "--stream"), 30, 15),
        (("--method", "eocc-1", "--search", "none"), 30, None),
        (("--method", "eocc-2", "--search", "none"), 27, None),
        (("--method", "eocc-2", "--search", "none", "--outliers", "odd"), 27, None),
    ],
)
def test_labels_choose_normal_rows_and_known_outliers(folder, tmp_path, options, n_training, n_outliers):
    model = tmp_path / "m.eocc"
    assert run("-q", "fit", folder / "labelled.csv", "-o", model, *LABELS, *options) == 0
    found = load(model)
    assert len(found.training_indices_) == n_training
    assert found._facts().get("known outliers") == n_outliers
    assert found.predict([[30.0, 0.0]]).tolist() == [-1] if found._feature_names is None else True


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (("--eta", "0.2"), "--method surprise has no --eta; use --method eocc-1 or eocc-2, or leave it out", 2),
        (("--method", "eocc-1", "--beta", "0.2"), "--method eocc-1 has no --beta; use --method eocc-2", 2),
        (("--method", "eocc-1", *LABELS, "--outliers", "bad"), "eocc-1 learns from normal rows only", 2),
        (("--method", "eocc-2"), "--method eocc-2 needs labelled rows of both kinds: pass --label and --target", 2),
        (("--outliers", "bad"), "--outliers needs --label", 2),
        ((*LABELS, "--outliers", "worn"), "has no row with state = 'worn'; its values are 'bad', 'good', 'odd'", 1),
        (
            ("--method", "eocc-2", *LABELS, "--stream"),
            "--method eocc-2 validates on labelled rows; leave --stream out",
            2,
        ),
        (("--sample", "9"), "--sample is for --method eocc-1; pass --stream", 2),
    ],
)
def test_options_that_the_method_does_not_have_are_refused(folder, tmp_path, capsys, options, message, code):
    assert run("-q", "fit", folder / "labelled.csv", "-o", tmp_path / "m.eocc", *options) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (tmp_path / "m.eocc").exists()


@pytest.mark.parametrize("name", METHODS)
def test_rows_are_explained_and_reported(folder, tmp_path, capsys, name):
    assert run("-q", "explain", folder / f"{name}.eocc", folder / "new.csv", "--rows", "1") == 0
    assert capsys.readouterr().out.startswith("Row 1: Rejected")
    assert run("-q", "report", folder / f"{name}.eocc", "--data", folder / "new.csv", "-o", tmp_path / "r.html") == 0
    assert "</html>" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("kind", ["space", "membership", "modularity"])
def test_models_of_every_method_are_drawn(folder, tmp_path, kind):
    for name in METHODS:
        assert run("-q", "plot", folder / f"{name}.eocc", kind, "-o", tmp_path / "p.png") == 0
        assert (tmp_path / "p.png").stat().st_size > 3000


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_a_model_from_the_command_line_scores_its_own_table_in_python(tmp_path, stream):
    rng = np.random.default_rng(0)
    whole = pd.DataFrame({
        "machine": rng.choice(["a", "b"], 40), "load": rng.normal(size=40), "heat": rng.normal(size=40),
        "site": rng.choice([1.5, 2.5], 40), "state": "good",
    })  # fmt: skip
    if not stream:
        whole["mode"] = rng.choice(["x", "y"], 40)
    whole.to_csv(tmp_path / "a.csv", index=False)
    options = ("--id", "machine", "--drop", "site", "--label", "state", "--target", "good", *stream)
    assert run("-q", "fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc", *options) == 0
    model = load(tmp_path / "m.eocc")
    assert model.ignored_columns_ == ("machine", "site", "state")
    fewer = whole.drop(columns=["machine", "site", "state"])
    assert model.score_samples(whole).tolist() == model.score_samples(fewer).tolist()


def test_a_stream_takes_the_decimal_mark_that_it_asks_for(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("a;b\n" + "".join(f"1,{100 + 37 * k % 899};{k % 7}\n" for k in range(50)))
    arguments = ("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc", "--stream")
    assert run(*arguments) == 1
    assert "pass --decimal" in capsys.readouterr().err
    assert run(*arguments, "--decimal", ",") == 0
    assert load(tmp_path / "m.eocc").prototypes_.max() < 7


def test_the_model_card_lists_facts_columns_and_calibration(tmp_path, capsys):
    rng = np.random.default_rng(0)
    lines = [f"{k},{load:.2f},{kind},2031-03-{1 + k % 28:02}"
             for k, (load, kind) in enumerate(zip(rng.normal(size=60), ["pump", "a|b"] * 30, strict=True))]  # fmt: skip
    data, model = tmp_path / "rows.csv", tmp_path / "m.eocc"
    data.write_text("id,load,kind,day\n" + "\n".join(lines) + "\n")
    assert run("-q", "fit", data, "--id", "id", "-o", model) == 0
    capsys.readouterr()
    assert run("-q", "inspect", model, "--format", "json") == 0
    card = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in card["columns"]] == ["load", "kind", "day"]
    assert [one["kind"] for one in card["columns"]] == ["number", "text", "date"]
    assert card["columns"][2]["normal"] == "2031-03-01 to 2031-03-28"
    assert (card["training rows"], card["calibration rows, each left out"]) == (60, 60)
    assert card["smallest p-value"] == pytest.approx(1 / 61)
    assert "id" in card["not compared"]
    assert card["written by"] == card["read by"] == f"eocc {version('eocc')}"
    assert run("-q", "inspect", model, "-o", tmp_path / "card.md") == 0
    text = (tmp_path / "card.md").read_text()
    assert text.startswith("# Model card: m.eocc\n")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {3}  # no cell breaks the table
    assert run("-q", "inspect", model) == 0
    assert "column load (number): " in capsys.readouterr().out
