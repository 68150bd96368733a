"""The command line: every command has help, documentation and an example that runs; errors are one line."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from eocc import __version__
from eocc.cli import app, main
from eocc.demo import DEMO_SETS

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
    assert COMMANDS == ["compare", "demo", "explain", "fit", "inspect", "plot", "report", "reproduce", "score"]


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
    options = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out)) - {"--help", "--version"}
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
        (["demo", "--seed", "-4"], "Invalid value for '--seed'", 2),
        (["demo", "--dataset", "moon"], "unknown data set 'moon'; known: 'breast-cancer', 'iris', 'wine'", 1),
        (["nothing"], "No such command 'nothing'; see eocc --help", 2),
        ([], "Missing command; see eocc --help", 2),
        (["fit"], "Missing argument", 2),
        (["fit", "nowhere.csv"], "no file 'nowhere.csv'", 1),
        (["score", "nowhere.eocc", "nowhere.csv"], "nowhere.eocc", 1),
        (["reproduce", "uci"], "unknown study 'uci'; known: 'all', 'figures', 'iam', 'uci-high', 'uci-low'", 1),
        (["reproduce", "uci-low", "--systems", "1NN"], "unknown system '1NN'", 1),
        (["reproduce", "uci-low", "--datasets", "XX"], "unknown data set 'XX'", 1),
        (["reproduce", "uci-low", "--budget", "soon"], "'soon' is not a time; write 90s, 20m or 2h", 2),
        (["plot", "m.eocc", "cube"], "unknown picture 'cube'", 1),
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


def test_debug_shows_where(capsys, tmp_path):
    assert main(["--debug", "fit", str(tmp_path / "nowhere.csv")]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_quiet_says_nothing_but_the_result(folder, capsys):
    assert main(["--quiet", "score", str(folder / "model.eocc"), str(folder / "new.csv"), "--format", "csv"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert len(told.out.splitlines()) == 21


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
