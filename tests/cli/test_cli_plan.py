"""``eocc plan`` shows the memory that a fit needs, and ``eocc fit`` refuses what does not fit."""

import json

import numpy as np
import pytest

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.cli import main
from eocc.formats.files.chunk import CHUNK_ROWS

N = 9000

EOCC_1 = ("--method", "eocc-1")


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N, 3)).round(4)
    np.savetxt(made / "a.csv", rows, delimiter=",", header="load,heat,noise", comments="", fmt="%.4f")
    np.save(made / "a.npy", rows)
    lines = [f"{x},{y},{'good' if k % 3 else 'bad'}" for k, (x, y, _) in enumerate(rows[:900])]
    (made / "labelled.csv").write_text("\n".join(["load,heat,state", *lines]))
    (made / "words.txt").write_text("\n".join("".join(rng.choice(list("abc"), size=6)) for _ in range(50)))
    (made / "gap.csv").write_text("a,b\n1,2\n,3\n4,5\n")
    (made / "empty.csv").write_text("load,heat\n")
    return made


def facts(capsys, *arguments):
    assert run("-q", "plan", *arguments, "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["a.csv", "a.npy"])
def test_the_whole_file_is_counted_and_needs_what_the_classifier_says(folder, capsys, name):
    assert N > CHUNK_ROWS
    shown = facts(capsys, folder / name, "--max-memory", "900GB", "--jobs", 1)
    assert (shown["rows"], shown["columns"], shown["memory limit"]) == (N, 3, 900e9)
    assert shown["memory needed"] == round(SurpriseClassifier(n_jobs=1)._memory_needed(N, 3, 0.0)[0])
    assert shown["fits"]
    assert shown["remedy"] is None


def test_options_and_method_count(folder, capsys):
    shown = facts(capsys, folder / "a.csv", "--method", "eocc-1", "--jobs", 1)
    own = EntropicOneClassClassifier(n_jobs=1)
    assert shown["memory needed"] == round(own._memory_needed(N, 3, 0.0)[0])


def test_labels_and_samples_choose_the_rows(folder, capsys):
    labels = (folder / "labelled.csv", "--label", "state", "--target", "good")
    shown = facts(capsys, *labels)
    assert (shown["rows"], shown["outliers"], shown["columns"]) == (600, 0, 2)
    assert facts(capsys, *labels, "--outliers", "bad")["outliers"] == 300
    assert facts(capsys, *labels, "--method", "eocc-2")["outliers"] == 300
    assert facts(capsys, folder / "a.csv", *EOCC_1, "--sample", 500)["rows"] == 500
    assert facts(capsys, folder / "a.csv", *EOCC_1, "--sample", 9999)["rows"] == N
    assert facts(capsys, folder / "gap.csv", "--skip-incomplete")["rows"] == 2


def test_a_folder_of_tables_is_counted_as_one(folder, capsys):
    (folder / "days").mkdir()
    for day in "12":
        (folder / "days" / f"{day}.csv").write_text("a,b\n" + "1,2\n2,1\n" * 10)
    assert facts(capsys, folder / "days", *EOCC_1, "--sample", 1000)["rows"] == 40


def test_other_data_is_counted_with_the_cost_of_its_pairs(folder, capsys):
    shown = facts(capsys, folder / "words.txt", "--jobs", 1)
    assert shown["rows"] == 50
    assert shown["memory needed"] > 0


def test_what_does_not_fit_names_options_that_help(folder, capsys, tmp_path):
    asked = (folder / "a.csv", "--method", "eocc-1", "--max-memory", "50MB")
    shown = facts(capsys, *asked)
    assert not shown["fits"]
    assert shown["remedy"].startswith("use --method regions, or pass fewer rows, --prototypes ")
    assert shown["remedy"].endswith("or raise --max-memory, or learn from fewer rows: --sample 4500")
    assert run("plan", *asked) == 0
    lines = dict(line.split(":", 1) for line in capsys.readouterr().out.splitlines())
    assert lines["memory limit"].strip() == "47.7 MiB"
    assert lines["fits"].strip() == "no"
    assert run("-q", "fit", *asked, "-o", tmp_path / "m.eocc") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("eocc: the fit needs about ")
    assert shown["remedy"] in line
    assert not (tmp_path / "m.eocc").exists()


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["a.csv", "--max-memory", "2 gigs"], "not '2 gigs'", 2),
        (["a.csv", "--max-memory", "0"], "not '0'", 2),
        (["a.csv", "--prototypes", "many"], "--prototypes must be an integer >= 1, a fraction in (0, 1]", 2),
        (["a.csv", "--label", "state"], "--label state needs --target", 2),
        (["a.csv", "--jobs", "0"], "--jobs must be None or an integer other than 0", 2),
        (["a.csv", "--input-format", "csv", *EOCC_1, "--sample", "9"], "--stream reads the format from the suffix", 2),
        (["empty.csv"], "holds no rows", 1),
        (["labelled.csv", "--label", "state", "--target", "fine"], "has no row with state = 'fine'", 1),
        (["absent.csv"], "no file 'absent.csv'", 1),
    ],
)
def test_mistakes_are_reported_in_one_line(arguments, message, code, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert run("plan", *arguments) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
