import json
import re

import numpy as np
import pytest

from eocc import EntropicOneClassClassifier
from eocc.classifiers.plan import plan_for
from eocc.cli import main
from eocc.io.files.chunk import CHUNK_ROWS
from eocc.io.model_file import load

N = 6000


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N, 3)).round(4)
    np.savetxt(made / "a.csv", rows, delimiter=",", header="load,heat,noise", comments="", fmt="%.4f")
    lines = [f"{x},{y},{'good' if k % 3 else 'bad'}" for k, (x, y, _) in enumerate(rows[:900])]
    (made / "labelled.csv").write_text("\n".join(["load,heat,state", *lines]))
    (made / "words.txt").write_text("\n".join("".join(rng.choice(list("abc"), size=6)) for _ in range(50)))
    (made / "good.csv").write_text("load,state\n1,good\n2,good\n4,good\n")
    (made / "empty.csv").write_text("load,heat\n")
    return made


def facts(capsys, *arguments):
    assert run("plan", *arguments, "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


def test_the_table_tells_parts_peak_budget_time_and_verdict(folder, capsys):
    assert run("plan", folder / "a.csv", "--max-memory", "2GiB", "--prototypes", "0.01") == 0
    out, err = capsys.readouterr()
    lines = dict(line.split("  ", 1) for line in out.splitlines())
    table = {name: value.strip() for name, value in lines.items()}
    plan = plan_for(N, 3, "standardised", 0.01)
    assert list(table) == [
        "part", *plan.parts, "peak", "budget", "time", "prototypes", "graph", "verdict",
    ]  # fmt: skip
    assert table["budget"] == "2 GiB"
    assert table["prototypes"] == "60 of 6000"
    assert table["graph"] == "knn"
    assert table["verdict"] == "fits"
    assert "6,000 patterns to learn from; at first sight rows of numbers in 3 columns" in err


def test_the_whole_file_is_counted_a_chunk_at_a_time(folder, capsys):
    assert N > CHUNK_ROWS
    told = facts(capsys, folder / "a.csv", "--max-memory", "900GB")
    plan = plan_for(N, 3, "standardised")
    assert told["patterns"] == N
    assert told["peak"] == plan.peak == sum(told["parts"].values())
    assert told["seconds"] == plan.seconds
    assert told["fits"]
    assert told["instead"] is None
    assert told["budget"] == 900e9


def test_labels_tell_what_is_learnt_from(folder, capsys):
    labelled = (folder / "labelled.csv", "--label", "state", "--target", "good")
    told = facts(capsys, *labelled)
    assert told["patterns"] == 600
    assert told["parts"] == plan_for(600, 2, "standardised").parts
    both = facts(capsys, *labelled, "--synthesis", "validation")
    assert both["parts"] == plan_for(600, 2, "standardised", n_others=300).parts


def test_validation_is_planned_with_the_split_that_a_fit_makes(folder, capsys):
    told = facts(capsys, folder / "labelled.csv", "--label", "state", "--target", "good", "--synthesis", "validation",
                 "--resolution", "single", "--search", "none", "--jobs", "1")  # fmt: skip
    table = np.loadtxt(folder / "labelled.csv", delimiter=",", skiprows=1, dtype=str)
    clf = EntropicOneClassClassifier(measure="standardised", synthesis="validation", resolution="single", search=None)
    plan = clf.fit(table[:, :2].astype(float), table[:, 2] == "good").plan_
    assert told["patterns"] == plan.n == 540  # of 600 targets a tenth validates, and a tenth of 300 others
    assert told["parts"] == plan.parts
    assert told["parts"] == plan_for(540, 2, "standardised", resolution="single", search=None, n_others=90).parts


def test_other_patterns_are_planned_by_their_kind(folder, capsys):
    assert facts(capsys, folder / "words.txt")["parts"] == plan_for(50, 6, "string-edit").parts


def test_what_does_not_fit_says_what_would_and_fit_takes_it(folder, capsys, tmp_path):
    told = facts(capsys, folder / "a.csv", "--max-memory", "50MB", "--graph", "complete")
    assert not told["fits"]
    assert told["instead"]["options"] == "--prototypes 128 --graph knn"
    assert told["instead"]["peak"] <= 50e6
    assert run("plan", folder / "a.csv", "--max-memory", "50MB", "--graph", "complete") == 0
    out = capsys.readouterr().out
    assert re.search("^verdict +does not fit$", out, re.MULTILINE)
    assert "--prototypes 128 --graph knn: " in out
    model = tmp_path / "m.eocc"
    options = told["instead"]["options"].split()
    assert run("fit", folder / "a.csv", "-o", model, "--max-memory", "50MB", *options) == 0
    assert len(load(model).prototypes_) == 128


def test_a_sample_is_planned_as_large_as_it_is(folder, capsys):
    assert facts(capsys, folder / "a.csv", "--sample", "500")["parts"] == plan_for(500, 3, "standardised").parts
    assert facts(capsys, folder / "a.csv", "--sample", "9999")["patterns"] == 6000
    days = folder / "days"
    days.mkdir()
    for day in "12":
        (days / f"{day}.csv").write_bytes((folder / "a.csv").read_bytes())
    assert facts(capsys, days, "--sample", "10000")["patterns"] == 10_000
    (folder / "gap.csv").write_text("a,b\n1,2\n,3\n")
    assert run("plan", folder / "gap.csv", "--sample", "9") == 1
    assert "gap.csv:3: column 'a' has no number here; fill it in, or drop the row" in capsys.readouterr().err
    assert run("plan", folder / "gap.csv") == 0
    assert "Note: column 'a' misses some numbers, so rows are compared by gower" in capsys.readouterr().err
    assert run("plan", folder / "a.csv", "--input-format", "csv", "--sample", "9") == 2
    assert "--sample reads files whose names tell their format" in capsys.readouterr().err


def test_what_can_never_fit_is_said_so(folder, capsys):
    assert run("plan", folder / "a.csv", "--max-memory", "1MB") == 0
    assert "nothing that eocc knows" in capsys.readouterr().out


def test_fit_refuses_in_one_line(folder, capsys, tmp_path):
    model = tmp_path / "m.eocc"
    assert run("-q", "fit", folder / "a.csv", "-o", model, "--max-memory", "50MB", "--graph", "complete") == 1
    err = capsys.readouterr().err
    assert err.startswith("eocc: this fit of 6000 patterns needs about 550 MiB of memory, but the budget is 47.7 MiB; ")
    assert err.count("\n") == 1
    assert not model.exists()


def test_fit_with_plan_auto_says_what_it_takes(folder, capsys, tmp_path):
    command = ("fit", folder / "a.csv", "-o", tmp_path / "m.eocc", "--max-memory", "50MB", "--plan", "auto")
    assert run(*command, "--selection", "farthest-first") == 0
    assert "Note: this fit of 6000 patterns needs" in capsys.readouterr().err
    clf = load(tmp_path / "m.eocc")
    assert (len(clf.prototypes_), clf.selection, clf.plan, clf.max_memory) == (128, "farthest-first", "auto", "50MB")
    assert run("-q", *command) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["a.csv", "--max-memory", "2 gigs"], "not '2 gigs'", 2),
        (["a.csv", "--max-memory", "0"], "not '0'", 2),
        (["a.csv", "--prototypes", "none"], "must be an integer >= 1 or a fraction in (0, 1], not 'none'", 2),
        (["a.csv", "--prototypes", "-3"], "must be an integer >= 1 or a fraction in (0, 1], not '-3'", 2),
        (["a.csv", "--graph", "full"], "unknown graph 'full'; known: 'auto', 'complete', 'knn'", 2),
        (["a.csv", "--label", "state"], "--label state needs --target", 2),
        (["a.csv", "--synthesis", "validation"], "needs patterns of both kinds: pass --label and --target", 2),
        (["a.csv", "--jobs", "0"], "0 threads do no work", 2),
        (["empty.csv"], "holds no patterns", 1),
        (["labelled.csv", "--label", "state", "--target", "fine"], "holds no patterns with state = 'fine'", 1),
        (["good.csv", "--label", "state", "--target", "good", "--synthesis", "validation"],
         "needs patterns that are not targets", 1),
        (["a.csv", "--false-alarm-rate", "2"], "the rate must be a number between 0 and 1", 2),
        (["absent.csv"], "no file 'absent.csv'", 1),
    ],
)  # fmt: skip
def test_mistakes_are_named_in_one_line(arguments, message, code, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert run("plan", *arguments) == code
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_an_unknown_plan_is_named(folder, capsys):
    assert run("fit", folder / "a.csv", "--plan", "maybe") == 2
    assert "unknown plan 'maybe'; known: 'auto', 'refuse'" in capsys.readouterr().err


def test_a_sample_that_is_refused_is_not_proposed_again(folder, capsys, tmp_path):
    command = ("fit", folder / "a.csv", "-o", tmp_path / "m.eocc", "--max-memory", "5MB", "--graph", "complete")
    assert run(*command, "--sample", "5000") == 1
    assert "raise --max-memory, or learn from fewer rows: --sample 2500" in capsys.readouterr().err
