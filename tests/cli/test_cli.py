"""The command line: help, completion, a fast start, documentation, examples that run, and errors of one line."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from eocc import __version__
from eocc.classifiers.parameters import ENTROPIC_PARAMETERS, SURPRISE_PARAMETERS
from eocc.cli import app, main
from eocc.cli.app import COMMANDS
from eocc.cli.options import NOT_OPTIONS, option_of
from eocc.cli.studies import STUDIES
from eocc.experiments import studies
from eocc.report.review import HEAD, digests_of

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "command_line.md"
HEAVY = ("numpy", "scipy", "sklearn", "numba", "pandas", "pyarrow", "matplotlib")


def command(name):
    return app.get_command(click.Context(app), name)


def options(name):
    return {option for parameter in command(name).params for option in parameter.opts if option.startswith("--")}


def python(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )


IMPORTS = """
import sys
from eocc.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print("HEAVY", *(name for name in {heavy} if name in sys.modules))
"""


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        (["--help"], {}, "Learn what is normal from a file, and write a model."),
        (["--version"], {}, f"eocc {__version__}"),
        (["fit", "--help"], {}, "--false-alarm-rate"),
        (["plot", "--help"], {}, "calibration"),
        ([], {"COMP_WORDS": "eocc fi", "COMP_CWORD": "1"}, "plain,fit"),
        ([], {"COMP_WORDS": "eocc fit --method eo", "COMP_CWORD": "3"}, "plain,eocc-2"),
        ([], {"COMP_WORDS": "eocc fit --measure g", "COMP_CWORD": "3"}, "plain,gower"),
        ([], {"COMP_WORDS": "eocc plot m.eocc sp", "COMP_CWORD": "3"}, "plain,space"),
        ([], {"COMP_WORDS": "eocc score --format p", "COMP_CWORD": "3"}, "plain,parquet"),
        ([], {"COMP_WORDS": "eocc fit --input-format n", "COMP_CWORD": "3"}, "plain,npy"),
    ],
)
def test_help_version_and_completion_import_nothing_heavy(arguments, environment, expected):
    completion = {"_EOCC_COMPLETE": "bash_complete", **environment} if environment else {}
    answer = python("-c", IMPORTS.format(heavy=HEAVY), *arguments, **completion).stdout
    assert expected in answer
    assert answer.splitlines()[-1] == "HEAVY"


def test_no_summary_is_cut_off(capsys):
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert "..." not in printed.split("Commands:")[1]
    for name in COMMANDS:
        assert command(name).help.splitlines()[0] in printed


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_completion_code_is_printed_for_every_shell(shell):
    assert "_EOCC_COMPLETE" in python("-m", "eocc", _EOCC_COMPLETE=f"{shell}_source").stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name, capsys):
    assert main([name, "--help"]) == 0
    assert f"Usage: eocc {name}" in capsys.readouterr().out
    assert f"Example: eocc {name}" in command(name).help
    assert f"## eocc {name}\n```{{eocc-command}} {name}\n" in DOCS.read_text()  # lists all options
    assert {"--quiet", "--debug"} <= options(name)


def test_the_documentation_names_no_option_that_does_not_exist():
    known = {"--help", "--version"}.union(*map(options, COMMANDS))
    assert set(re.findall(r"--[a-z][a-z-]+", DOCS.read_text())) <= known


def test_every_parameter_has_an_option_of_fit():
    names = {parameter.name for parameter in (*SURPRISE_PARAMETERS, *ENTROPIC_PARAMETERS)} - set(NOT_OPTIONS)
    assert {option_of(name) for name in names} <= options("fit")


def test_names_that_are_listed_for_completion_are_those_that_exist():
    assert tuple(studies.STUDIES) == STUDIES


def test_demo_compares_the_classifiers_at_one_rate_and_explains_a_row(monkeypatch, capsys):
    monkeypatch.setattr("eocc.experiments.demo.N_TRAINING", 60)
    assert main(["demo", "--seed", "3"]) == 0
    printed = capsys.readouterr().out
    rows = [line.split()[-4:] for line in printed.splitlines() if line.endswith(tuple("0123456789")) and "%" in line]
    alarms, found = ([float(row[k].rstrip("%")) for row in rows[:3]] for k in (0, 1))
    assert max(alarms) < 15
    assert found[0] == max(found)
    assert "temp_c is 52.5" in printed
    assert "Region 0" in printed


def test_demo_writes_files_that_can_be_fitted(tmp_path, capsys):
    assert main(["demo", "--files", str(tmp_path / "pumps")]) == 0
    assert "Next: eocc fit" in capsys.readouterr().out
    model = str(tmp_path / "model.eocc")
    assert main(["fit", str(tmp_path / "pumps" / "normal.csv"), "-o", model, "-q"]) == 0
    assert main(["score", model, str(tmp_path / "pumps" / "new.csv"), "-q"]) == 0


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
    assert main(["--quiet", "fit", str(made / "normal.csv"), "-o", str(made / "model.eocc")]) == 0
    regions = ["fit", str(made / "normal.csv"), "--method", "regions", "-o", str(made / "regions.eocc")]
    assert main(["--quiet", *regions]) == 0
    answer = f"12,not normal,unusual,new.csv,{digests_of(new.round(4))[12]}"
    (made / "answers.csv").write_text(f"{','.join(HEAD)}\n{answer}\n")
    return made


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("demo", "warm-up")])
def test_the_example_of_every_command_runs(name, folder, monkeypatch, capsys):
    example = re.search(r"Example: eocc (.*)", command(name).help)[1]
    short = ["--generations", "2"] if "--generations" in options(name) else []
    monkeypatch.chdir(folder)
    assert main([*shlex.split(example), *short]) == 0
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["demo", "--seed", "-4"], "Invalid value for '--seed': -4 is not in the range x>=0", 2),
        (["nothing"], "No such command 'nothing'; see eocc --help", 2),
        ([], "no command given; see eocc --help", 2),
        (["fit"], "Missing argument 'DATA...'; see eocc fit --help", 2),
        (["fit", "nowhere.csv"], "no file 'nowhere.csv'", 1),
        (["score", "nowhere.eocc", "nowhere.csv"], "nowhere.eocc", 1),
        (["reproduce", "uci"], "unknown study 'uci'; known: 'all', 'figures', 'iam', 'uci-high', 'uci-low'", 2),
        (["reproduce", "uci-low", "--systems", "1NN"], "unknown system '1NN'", 2),
        (["reproduce", "uci-low", "--datasets", "XX"], "unknown data set 'XX'", 2),
        (["reproduce", "uci-low", "--limit", "soon"], "'soon' is not a valid float", 2),
        (["plot", "m.eocc", "cube"], "unknown picture 'cube'", 2),
        (["plot", "m.eocc", "space", "-o", "p.txt"], "unknown picture format 'txt'", 2),
        (["plot", "m.eocc", "roc", "--data", "none.csv"], "pass --label and --target; see eocc plot --help", 2),
        (["report", "m.eocc", "--label", "y"], "--label describes the data: pass --data", 2),
        (["score", "m.eocc", "none.csv", "--format", "xml"], "Invalid value for '--format': unknown format 'xml'", 2),
        (["score", "m.eocc", "none.csv", "--format", "parquet"], "--format parquet needs a file", 2),
        (["inspect", "m.eocc", "--format", "csv"], "unknown format 'csv'; known: 'json', 'markdown', 'text'", 2),
        (["fit", "none.csv", "--method", "eocc"], "unknown method 'eocc'; known: 'eocc-1', 'eocc-2', 'regions', ", 2),
        (["export", "m.eocc", "--to", "json", "--table", "t"], "--table is for --to sql; leave it out", 2),
        (["export", "m.eocc", "--to", "sql", "--table", "t", "--dialect", "oracle"], "unknown dialect 'oracle'", 2),
        (["fit", "none.csv", "--measure", "gowr"], "unknown measure 'gowr'", 2),
        (["fit", "none.csv", "--search", "foo"], "unknown search 'foo'", 2),
        (["fit", "none.csv", "--label", "y"], "--label y needs --target", 2),
        (["fit", "none.csv", "--false-alarm-rate", "5"], "--false-alarm-rate must be a number in (0, 1), not 5.0", 2),
        (["fit", "none.csv", "--false-alarm-rate", "few"], "must be a number in (0, 1), not 'few'", 2),
        (["compare", "none.csv", "--label", "y", "--target", "1", "--systems", "1NN"], "system '1NN'", 2),
        (["compare", "none.csv"], "--label and --target are required", 2),
    ],
)
def test_mistakes_are_reported_in_one_line(arguments, message, code, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == code
    printed = capsys.readouterr()
    assert message in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    assert printed.out == ""
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
def test_quiet_prints_the_result_only_before_the_command_or_after_it(folder, capsys, place):
    asked = ["score", str(folder / "model.eocc"), str(folder / "new.csv"), "--format", "csv"]
    asked.insert(place, "-q")
    assert main(asked) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert len(printed.out.splitlines()) == 21


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_an_unexpected_error_is_one_line_with_its_own_code(monkeypatch, capsys, debug):
    def broken(*_):
        raise KeyError("gone")

    monkeypatch.setattr("eocc.experiments.demo.run_demo", broken)
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
    "export": ["export", "regions.eocc", "--to", "python"],
    "review": ["review", "model.eocc", "new.csv"],
    "teach": ["teach", "model.eocc", "answers.csv", "--data", "new.csv"],
    "answers": ["answers", "model.eocc", "--withdraw", "0"],
}


def test_no_command_overwrites_what_it_reads_or_writes_where_it_cannot(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert {name for name in COMMANDS if "--output" in options(name)} == {
        *WRITE,
        "compare",
        "reproduce",
        "update",
    }  # update may write the model that it read, as teach and answers may
    (folder / "taken.png").mkdir(exist_ok=True)
    for asked in WRITE.values():
        sources = {name for name in asked if name.endswith((".csv", ".eocc"))}
        for source in sources - ({"model.eocc"} if asked[0] in ("teach", "answers") else set()):
            before = (folder / source).read_bytes()
            link = folder / "same.png"
            link.unlink(missing_ok=True)
            link.symlink_to(folder / source)
            assert main([*asked, "-o", "same.png"]) == 1
            assert "'same.png' is also the input" in capsys.readouterr().err
            assert (folder / source).read_bytes() == before
        assert main([*asked, "-o", "none/out.png"]) == 1
        assert f"no folder '{folder.resolve()}/none' to write 'out.png' in" in capsys.readouterr().err
        assert main([*asked, "-o", "taken.png"]) == 1
        assert "is a folder" in capsys.readouterr().err


@pytest.mark.parametrize("asked", [["--version"], ["-q", "--version"], ["--version", "nonsense"]])
def test_the_version_is_printed_whatever_else_is_asked(asked, capsys):
    assert main(asked) == 0
    assert capsys.readouterr().out == f"eocc {__version__}\n"


def test_the_module_is_the_command():
    assert python("-m", "eocc", "--version").stdout == f"eocc {__version__}\n"


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_incomplete_rows_are_left_out_with_the_option(tmp_path, capsys, suffix):
    model, gaps, scores, whole = (tmp_path / name for name in ("m.eocc", f"g.{suffix}", "s.csv", f"w.{suffix}"))
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(9000, 2)), columns=["a", "b"])
    rows[:60].to_csv(tmp_path / "train.csv", index=False)
    assert run("fit", tmp_path / "train.csv", "-o", model) == 0
    getattr(rows, f"to_{suffix}")(whole, index=False)
    absent = [0, 4095, 4096, 5000, *range(6000, 6006)]
    rows.loc[absent, "b"] = np.nan
    getattr(rows, f"to_{suffix}")(gaps, index=False)
    capsys.readouterr()
    assert run("fit", gaps, "-o", model, "--stream") == 1
    assert "column 'b' has no number here; fill it in, or drop the row; --skip-incomplete" in capsys.readouterr().err
    assert run("score", model, gaps, "-o", scores) == 0
    said = "10 rows have missing values: row 0, 4095, 4096, 5000, 6000, 6001, 6002, 6003 and 2 more"
    assert f"Note: {said}.\n" in capsys.readouterr().err
    assert len(pd.read_csv(scores)) == 9000
    assert run("score", model, gaps, "-o", scores, "--skip-incomplete") == 0
    said = "10 rows with missing values left out: row 0, 4095, 4096, 5000, 6000, 6001, 6002, 6003 and 2 more"
    assert f"Note: {said}.\n" in capsys.readouterr().err
    assert run("score", model, whole, "-o", tmp_path / "all.csv") == 0
    everyone = pd.read_csv(tmp_path / "all.csv")
    assert_frame_equal(pd.read_csv(scores), everyone.drop(index=absent).reset_index(drop=True))


def test_text_is_not_skipped_and_a_file_without_complete_rows_is_refused(tmp_path, capsys):
    model = tmp_path / "m.eocc"
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n2,5\n3,1\n" * 9)
    (tmp_path / "odd.csv").write_text("a,b\n1,\n1,oak\n")
    (tmp_path / "gaps.csv").write_text("a,b\n1,\nNA,2\n")
    assert run("fit", tmp_path / "a.csv", "-o", model) == 0
    capsys.readouterr()
    assert run("score", model, tmp_path / "odd.csv", "--skip-incomplete", "--strict") == 1
    assert "odd.csv:3: column 'b': 'oak' is not a number" in capsys.readouterr().err
    assert run("score", model, tmp_path / "gaps.csv", "--skip-incomplete") == 1
    assert "gaps.csv holds no complete rows; at least 1 is required" in capsys.readouterr().err


def test_a_single_column_of_text_gets_a_note(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("a,b,state of it\n" + "1,2,ok\n2,5,bad\n" * 9)
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc") == 0
    said = capsys.readouterr().err
    assert "(number: a, b; text: state of it)" in said
    assert "column 'state of it' holds text, so rows are compared by gower" in said
    assert "pass --label 'state of it', if it does not matter pass --drop 'state of it'." in said
    (tmp_path / "b.csv").write_text("a,b,site,state\n" + "1,2,x,ok\n2,5,y,ok\n" * 9)
    assert run("fit", tmp_path / "b.csv", "-o", tmp_path / "m.eocc", "--label", "state", "--target", "ok") == 0
    assert (
        "holds text, so rows are compared by gower; if it does not matter pass --drop site." in capsys.readouterr().err
    )
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.eocc", "--drop", "state of It") == 1
    assert "it has 'a', 'b', 'state of it'. Did you mean 'state of it'?" in capsys.readouterr().err


@pytest.mark.filterwarnings("always:2 rows have no values")
def test_records_without_any_value_get_a_note(tmp_path, capsys):
    path, model = tmp_path / "mixed.csv", tmp_path / "m.eocc"
    path.write_text("a,s\n1,x\n2,y\n,\n" + "3,x\n" * 9 + "NA,?\n")
    assert run("fit", path, "-o", model) == 0
    assert "Note: 2 rows have no values at all, so the score means nothing.\n" in capsys.readouterr().err
    assert run("score", model, path) == 0
    said = capsys.readouterr().err
    assert said.endswith("Note: 2 rows have no values at all, so the score means nothing: row 2, 12.\n")
    assert said.count("no values") == 1


def test_text_of_a_file_cannot_control_the_terminal(tmp_path, capsys):
    path, model = tmp_path / "a.csv", tmp_path / "m.eocc"
    path.write_text("a,\x1b[2Jb,c\x9b31m\n" + "".join(f"{k % 5},{k % 7},{k}\n" for k in range(20)))
    assert run("fit", path, "-o", model) == 0
    assert run("inspect", model) == run("explain", model, path) == run("score", model, path) == 0
    printed = capsys.readouterr()
    assert "?[2Jb" in printed.out
    assert (printed.out + printed.err).replace("\n", "").isprintable()
    rows = "".join(f'{k % 5},"{"ab"[k % 2]}\nc"\n' for k in range(20))
    path.write_text('a,"two\nlines"\n' + rows + '9,"x\ty\nz"\n')
    assert run("fit", path, "-o", model) == run("explain", model, path, "--rows", "20", "--detail") == 0
    printed = capsys.readouterr().out
    assert "\n  two?lines  x?y?z" in printed
    assert "a?c" in printed
    assert "y\nz" not in printed


@pytest.mark.parametrize("options", [(), ("--method", "eocc-1", "--search", "none")])
def test_standardised_columns_are_explained_in_their_own_units(tmp_path, capsys, options):
    path, model = tmp_path / "a.csv", tmp_path / "m.eocc"
    path.write_text("load,mass\n" + "".join(f"{k % 5},{7000 * k % 20_000 + 7}\n" for k in range(20)))
    (tmp_path / "new.csv").write_text("load,mass\n3,29007\n")
    assert run("fit", path, "-o", model, "--measure", "standardised", *options) == 0
    capsys.readouterr()
    assert run("explain", model, tmp_path / "new.csv") == 0
    assert "29007" in capsys.readouterr().out
