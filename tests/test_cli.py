"""The command line: every command has help, documentation and an example that runs; errors are one line."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from eocc import __version__
from eocc.cli import app, main
from eocc.experiments.demo import DEMO_SETS

DOCS = Path(__file__).parent.parent / "docs" / "command_line.md"
COMMANDS = sorted((command.name or command.callback.__name__) for command in app.registered_commands)


def callback(name):
    return next(command.callback for command in app.registered_commands if command.callback.__name__ == name)


@pytest.mark.parametrize("name", DEMO_SETS)
def test_demo_tells_regions_decisions_memberships_and_auc(name, capsys):
    assert main(["demo", "--dataset", name]) == 0
    told = capsys.readouterr().out
    for word in ("Trained on", "region 1:", "accepted  rejected", "membership", "more normal"):
        assert word in told
    assert 0 <= float(re.search(r"AUC ([\d.]+):", told)[1]) <= 1


def test_demo_is_the_same_for_the_same_seed(capsys):
    told = [main(["demo", "--dataset", "iris", "--seed", "3"]) or capsys.readouterr().out for _ in range(2)]
    assert told[0] == told[1]


def test_the_commands_are_these():
    assert COMMANDS == ["compare", "demo", "explain", "fit", "inspect", "plan", "plot", "report", "reproduce", "score"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_documentation_and_an_example(name, capsys):
    assert main([name, "--help"]) == 0
    told = capsys.readouterr().out
    assert "Usage: eocc" in told
    assert f"## eocc {name}\n" in DOCS.read_text()
    assert f"Example: eocc {name}" in callback(name).__doc__


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_the_documentation(name, capsys):
    main([name, "--help"])
    options = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out)) - {
        "--help",
        "--version",
        "--quiet",
        "--debug",
    }
    part = DOCS.read_text().split(f"## eocc {name}\n")[1].split("\n## ")[0]
    assert options <= set(re.findall(r"--[a-z][a-z-]+", part))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the examples name."""
    made = tmp_path_factory.mktemp("examples")
    rng = np.random.default_rng(0)
    good, new = rng.normal(size=(40, 3)), np.vstack([rng.normal(size=(10, 3)), rng.normal(size=(10, 3)) + 4])
    header = "load,heat,noise"
    for name, rows in (("normal.csv", good), ("new.csv", new), ("test.csv", new)):
        np.savetxt(made / name, rows, delimiter=",", header=header, comments="", fmt="%.4f")
    states = ["good"] * 40 + ["bad"] * 20
    cells = [",".join(f"{x:.4f}" for x in row) for row in (*good, *new)]
    lines = [f"{row},{state}" for row, state in zip(cells, states, strict=True)]
    (made / "parts.csv").write_text("\n".join([header + ",state", *lines]) + "\n")
    assert main(["--quiet", "fit", str(made / "normal.csv"), "-o", str(made / "model.eocc"), "--search", "none"]) == 0
    return made


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_every_command_runs(name, folder, monkeypatch, capsys):
    example = re.search(r"Example: eocc (.*)", callback(name).__doc__)[1]
    monkeypatch.chdir(folder)
    assert main(shlex.split(example)) == 0
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["demo", "--seed", "-4"], "--seed must be 0 or more, not '-4'", 2),
        (["demo", "--dataset", "moon"], "unknown data set 'moon'; known: 'breast-cancer', 'iris', 'wine'", 2),
        (["nothing"], "No such command 'nothing'; see eocc --help", 2),
        ([], "Missing command; see eocc --help", 2),
        (["fit"], "Missing argument", 2),
        (["fit", "nowhere.csv"], "no file 'nowhere.csv'", 1),
        (["score", "nowhere.eocc", "nowhere.csv"], "nowhere.eocc", 1),
        (["reproduce", "uci"], "unknown study 'uci'; known: 'all', 'figures', 'iam', 'uci-high', 'uci-low'", 2),
        (["reproduce", "uci-low", "--systems", "1NN"], "unknown system '1NN'", 2),
        (["reproduce", "uci-low", "--datasets", "XX"], "unknown data set 'XX'", 2),
        (["reproduce", "uci-low", "--budget", "soon"], "'soon' is not a time; write 90s, 20m or 2h", 2),
        (["plot", "m.eocc", "cube"], "unknown picture 'cube'", 2),
        (["plot", "m.eocc", "space", "-o", "p.txt"], "unknown picture format 'txt'", 2),
        (["plot", "m.eocc", "roc", "--data", "none.csv"], "pass --label and --target; see eocc plot --help", 2),
        (["report", "m.eocc", "--label", "y"], "are about new patterns: pass --data", 2),
        (["score", "m.eocc", "none.csv", "--format", "xml"], "Invalid value for '--format': unknown format 'xml'", 2),
        (["score", "m.eocc", "none.csv", "--input-format", "xml"], "unknown format 'xml'", 2),
        (["inspect", "m.eocc", "--format", "csv"], "unknown format 'csv'; known: 'json', 'text'", 2),
        (["fit", "none.csv", "--measure", "nope"], "unknown measure 'nope'", 2),
        (["fit", "none.csv", "--search", "foo"], "unknown search 'foo'", 2),
        (["fit", "none.csv", "--synthesis", "foo"], "unknown synthesis 'foo'", 2),
        (["fit", "none.csv", "--resolution", "foo"], "unknown resolution 'foo'; known: 'multi', 'single'", 2),
        (["fit", "none.csv", "--synthesis", "validation"], "pass --label and --target", 2),
        (["fit", "none.csv", "--label", "y"], "--label y needs --target", 2),
        (["fit", "none.csv", "--false-alarm-rate", "5"], "must be a number between 0 and 1, not 5.0", 2),
        (["fit", "none.csv", "--jobs", "0"], "0 threads do no work", 2),
        (["compare", "none.csv", "--target-column", "y", "--target", "1", "--systems", "1NN"], "system '1NN'", 2),
    ],
)
def test_mistakes_are_named_in_one_line(arguments, message, code, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == code
    told = capsys.readouterr()
    assert message in told.err
    assert len(told.err.strip().splitlines()) == 1
    assert told.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", [0, 1, 2])
def test_debug_shows_where_before_the_command_or_after_it(capsys, tmp_path, place):
    asked = ["fit", str(tmp_path / "nowhere.csv")]
    asked.insert(place, "--debug")
    assert main(asked) == 1
    assert "Traceback" in capsys.readouterr().err
    assert main(["fit", str(tmp_path / "nowhere.csv")]) == 1  # the next command does not inherit it
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("place", [0, 1, 5])
def test_quiet_says_nothing_but_the_result_before_the_command_or_after_it(folder, capsys, place):
    asked = ["score", str(folder / "model.eocc"), str(folder / "new.csv"), "--format", "csv"]
    asked.insert(place, "-q")
    assert main(asked) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert len(told.out.splitlines()) == 21


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_quiet_and_debug(name, capsys):
    assert main([name, "--help"]) == 0
    assert {"--quiet", "--debug"} <= set(re.findall(r"--[a-z]+", capsys.readouterr().out))


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_an_error_nobody_foresaw_is_one_line_with_a_code_of_its_own(monkeypatch, capsys, debug):
    def broken(*_):
        raise KeyError("gone")

    monkeypatch.setattr("eocc.cli.demo.told", broken)
    assert main(["demo", *debug]) == 3
    *trace, line = capsys.readouterr().err.splitlines()
    assert line == "eocc: unexpected KeyError: 'gone'; run again with --debug to see where"
    assert bool(trace) == bool(debug)


WRITE = {
    "fit": ["fit", "normal.csv"],
    "score": ["score", "model.eocc", "new.csv"],
    "explain": ["explain", "model.eocc", "new.csv"],
    "inspect": ["inspect", "model.eocc"],
    "plot": ["plot", "model.eocc", "scores", "--data", "new.csv"],
    "report": ["report", "model.eocc", "--data", "new.csv"],
}


def test_no_command_overwrites_what_it_reads_nor_writes_where_it_cannot(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    with_output = [name for name in COMMANDS if main([name, "--help"]) == 0 and "-o," in capsys.readouterr().out]
    assert with_output == sorted(WRITE)
    (folder / "taken.png").mkdir(exist_ok=True)
    for asked in WRITE.values():
        sources = {name for name in asked if name.endswith((".csv", ".eocc"))}
        for source in sources:
            before = (folder / source).read_bytes()
            link = folder / "same.png"
            link.unlink(missing_ok=True)
            link.symlink_to(folder / source)
            assert main([*asked, "-o", "same.png"]) == 1
            assert "'same.png' is what is read" in capsys.readouterr().err
            assert (folder / source).read_bytes() == before
        assert main([*asked, "-o", "none/out.png"]) == 1
        assert f"no folder '{folder.resolve()}/none' to write 'out.png' in" in capsys.readouterr().err
        assert main([*asked, "-o", "taken.png"]) == 1
        assert "is a folder" in capsys.readouterr().err


@pytest.mark.parametrize("asked", [["--version"], ["-q", "--version"], ["--version", "nonsense"]])
def test_the_version_is_told_whatever_else_is_asked(asked, capsys):
    assert main(asked) == 0
    assert capsys.readouterr().out == f"eocc {__version__}\n"


def test_version_and_module_entry():
    answer = subprocess.run([sys.executable, "-m", "eocc", "--version"], capture_output=True, text=True, check=True)
    assert answer.stdout == f"eocc {__version__}\n"


def test_a_shell_can_be_taught_to_complete():
    answer = subprocess.run([sys.executable, "-m", "eocc", "--show-completion", "bash"], capture_output=True, text=True)
    assert answer.returncode == 0
    assert "eocc" in answer.stdout


def test_a_reader_that_stops_early_gets_no_complaint(folder):
    command = f"{sys.executable} -m eocc -q score model.eocc new.csv --format csv | head -n 1"
    answer = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    assert answer.stderr == ""


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_that_miss_a_number_are_left_out_where_asked(tmp_path, capsys, suffix):
    model, gaps, scores, whole = (tmp_path / name for name in ("m.eocc", f"g.{suffix}", "s.csv", f"w.{suffix}"))
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(9000, 2)), columns=["a", "b"])
    rows[:60].to_csv(tmp_path / "train.csv", index=False)
    assert run("fit", tmp_path / "train.csv", "-o", model) == 0
    getattr(rows, f"to_{suffix}")(whole, index=False)
    absent = [0, 4095, 4096, 5000, *range(6000, 6006)]
    rows.loc[absent, "b"] = np.nan
    getattr(rows, f"to_{suffix}")(gaps, index=False)
    capsys.readouterr()
    assert run("score", model, gaps, "-o", scores) == 1
    assert "column 'b' has no number here; fill it in, or drop the row; --skip-incomplete" in capsys.readouterr().err
    assert not scores.exists()
    assert run("score", model, gaps, "-o", scores, "--skip-incomplete") == 0
    said = (
        "10 rows left out, for values that are missing: pattern 0, 4095, 4096, 5000, 6000, 6001, 6002, 6003 and 2 more"
    )
    assert f"Note: {said}.\n" in capsys.readouterr().err
    assert run("score", model, whole, "-o", tmp_path / "all.csv") == 0
    everyone = pd.read_csv(tmp_path / "all.csv")
    assert_frame_equal(pd.read_csv(scores), everyone.drop(index=absent).reset_index(drop=True))


def test_what_is_no_number_is_not_skipped_nor_a_file_of_gaps_alone(tmp_path, capsys):
    model = tmp_path / "m.eocc"
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n2,5\n3,1\n" * 9)
    (tmp_path / "odd.csv").write_text("a,b\n1,\n1,oak\n")
    (tmp_path / "gaps.csv").write_text("a,b\n1,\nNA,2\n")
    assert run("fit", tmp_path / "a.csv", "-o", model) == 0
    capsys.readouterr()
    assert run("score", model, tmp_path / "odd.csv", "--skip-incomplete") == 1
    assert "odd.csv:3: column 'b' holds 'oak', which is no finite number" in capsys.readouterr().err
    assert run("score", model, tmp_path / "gaps.csv", "--skip-incomplete") == 1
    assert "gaps.csv holds no complete patterns; at least 1 is required" in capsys.readouterr().err


def test_a_lone_column_of_text_is_remarked_on(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("a,b,state of it\n" + "1,2,ok\n2,5,bad\n" * 9)
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    said = capsys.readouterr().err
    assert "(number: a, b; text: state of it)" in said
    assert "column 'state of it' holds text, so rows are compared by gower" in said
    assert "--label 'state of it', if it does not count, --drop 'state of it'." in said
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc", "--drop", "state of It") == 1
    assert "it has 'a', 'b', 'state of it'. Did you mean 'state of it'?" in capsys.readouterr().err


def test_records_without_a_value_are_named(tmp_path, capsys):
    path, model = tmp_path / "mixed.csv", tmp_path / "m.eocc"
    path.write_text("a,s\n1,x\n2,y\n,\n" + "3,x\n" * 9 + "NA,?\n")
    assert run("fit", path, "-o", model, "--search", "none") == 0
    capsys.readouterr()
    assert run("score", model, path) == 0
    assert capsys.readouterr().err.endswith(
        "Note: 2 patterns hold no values at all, so that the score says nothing: 2, 12.\n"
    )


def test_text_of_a_file_cannot_command_the_terminal(tmp_path, capsys):
    path, model = tmp_path / "a.csv", tmp_path / "m.eocc"
    path.write_text("a,\x1b[2Jb,c\x9b31m\n" + "".join(f"{k % 5},{k % 7},{k}\n" for k in range(20)))
    assert run("fit", path, "-o", model, "--search", "none") == 0
    assert run("inspect", model) == run("explain", model, path) == run("score", model, path) == 0
    told = capsys.readouterr()
    assert "?[2Jb" in told.out
    assert (told.out + told.err).replace("\n", "").isprintable()


@pytest.mark.parametrize("resolution", ["multi", "single"])
def test_explanations_of_standardised_columns_speak_of_them_as_they_are(tmp_path, capsys, resolution):
    path, model = tmp_path / "a.csv", tmp_path / "m.eocc"
    path.write_text("load,mass\n" + "".join(f"{k % 5},{1000 * k + 7}\n" for k in range(20)))
    (tmp_path / "new.csv").write_text("load,mass\n3,29007\n")
    assert run("fit", path, "-o", model, "--resolution", resolution, "--search", "none") == 0
    capsys.readouterr()
    assert run("explain", model, tmp_path / "new.csv") == 0
    assert "29007" in capsys.readouterr().out
