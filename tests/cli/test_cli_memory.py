"""``eocc fit`` refuses what does not fit into memory, and names options that help."""

import numpy as np
import pytest

from eocc.cli import main

EOCC_1 = ("--method", "eocc-1")


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("files")
    rows = np.random.default_rng(0).normal(size=(9000, 3)).round(4)
    np.savetxt(made / "a.csv", rows, delimiter=",", header="load,heat,noise", comments="", fmt="%.4f")
    lines = [f"{x},{y},{'good' if k % 3 else 'bad'}" for k, (x, y, _) in enumerate(rows[:900])]
    (made / "labelled.csv").write_text("\n".join(["load,heat,state", *lines]))
    (made / "empty.csv").write_text("load,heat\n")
    return made


def test_what_does_not_fit_names_options_that_help(folder, capsys, tmp_path):
    asked = (folder / "a.csv", *EOCC_1, "--max-memory", "50MB")
    assert run("-q", "fit", *asked, "-o", tmp_path / "m.eocc") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("eocc: the fit needs about ")
    assert "more than the limit of 47.7 MiB; use --method regions, or pass fewer rows" in line
    assert line.endswith("or raise --max-memory, or learn from fewer rows: --sample 4500")
    assert not (tmp_path / "m.eocc").exists()


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["a.csv", "--max-memory", "2 gigs"], "not '2 gigs'", 2),
        (["a.csv", "--max-memory", "0"], "not '0'", 2),
        (["a.csv", "--prototypes", "many"], "--prototypes must be an integer >= 1, a fraction in (0, 1]", 2),
        (["a.csv", "--search", "genetic"], "--method surprise has no --search", 2),
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
    assert run("fit", *arguments) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
