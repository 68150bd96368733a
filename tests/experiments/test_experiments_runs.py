"""Runs on several processes: saved at once, resumed after kill -9, and independent of cells that hang or die."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from doubles import Recorder
from eocc.base.progress import watched_by
from eocc.cli import main
from eocc.experiments.cells import Cell, Figures
from eocc.experiments.studies import STUDIES, Request, open_store, plan_study, run_cells, run_study
from eocc.experiments.writing import write_study
from troubled_source import Trouble, source

QUICK = ("EOCC-1", "Gauss", "1-NN")


@pytest.mark.parametrize(("what", "reason"), [("hang", "not done within 4 s"), ("die", "the process ended with exit")])
def test_a_cell_that_hangs_or_dies_does_not_affect_the_others(what, reason):
    cells = [Cell(Trouble("trouble", what), "raw", "Gauss", run, 0, 1) for run in range(4)]
    found = {cell.run: figures for cell, figures in run_cells(cells, 2, 4.0)}
    assert sorted(found) == [0, 1, 2, 3]
    assert found[1].reason.startswith(reason)
    assert all(found[run].auc > 0.5 for run in (0, 2, 3))


def test_results_do_not_depend_on_the_number_of_processes(tmp_path):
    tables = []
    for jobs in (1, 2):
        request = Request(jobs=jobs, systems=QUICK, folder=tmp_path / str(jobs))
        study = plan_study("made", "Made", [source()], request)
        results = run_study(study, request)
        tables.append({key: [run.auc for run in runs] for key, runs in results.figures.items()})
    assert tables[0] == tables[1]


def test_a_changed_file_does_not_reuse_old_results():
    one, other = (Cell(made, "raw", "Gauss", 0, 0, 1).key for made in (source(seed=0), source(seed=1)))
    assert one != other
    assert one == Cell(source(seed=0), "raw", "Gauss", 0, 0, 1).key


def test_the_store_drops_a_cut_line_and_keeps_the_rest(tmp_path):
    cells = [Cell(source(), "raw", "Gauss", run, 0, 1) for run in range(3)]
    with open_store(tmp_path) as (_, add):
        for cell in cells:
            add(cell, Figures(auc=0.25 * cell.run))
    path = tmp_path / "cells" / "made.csv"
    path.write_bytes(path.read_bytes()[:-2])
    with open_store(tmp_path) as (finished, add):
        assert str(finished) == str({cell.key: Figures(auc=0.25 * cell.run) for cell in cells[:2]})
        add(cells[2], Figures(reason="late"))
    with open_store(tmp_path) as (finished, _):
        assert finished[cells[2].key].reason == "late"
    path.write_text(path.read_text() + "made,raw,Gauss,one\n")
    with pytest.raises(ValueError, match="line 5 is damaged; delete that line"), open_store(tmp_path):
        pass


def test_the_store_keeps_nine_digits_and_of_a_cell_the_last_result_by_whatever_code(tmp_path):
    cells = [Cell(source(), "raw", "Gauss", run, 0, 1, code) for run, code in ((1, "old"), (0, "new"), (1, "new"))]
    with open_store(tmp_path) as (_, add):
        for number, cell in enumerate(cells):
            add(cell, Figures(auc=0.1234567891234 + number, reason="a, b"))
    with open_store(tmp_path) as (finished, _):
        assert list(finished) == [cells[1].key, cells[2].key]
        assert finished[cells[2].key].auc == 2.12345679
        assert finished[cells[2].key].reason == "a, b"
        assert np.isnan(finished[cells[2].key].regions)


def test_a_folder_is_locked_during_a_run(tmp_path):
    with open_store(tmp_path), pytest.raises(ValueError, match="another run uses"), open_store(tmp_path):
        pass
    with open_store(tmp_path):
        pass


def test_a_failed_cell_runs_again_on_the_next_start(tmp_path):
    request = Request(systems=("Gauss",), folder=tmp_path)
    study = plan_study("made", "Made", [source()], request)
    with open_store(tmp_path) as (_, add):
        for cell in study.cells:
            add(cell, Figures(reason="not done within 0.01 s"))
    results = run_study(study, request)
    assert results.reasons() == []
    assert all(runs[0].auc > 0.5 for runs in results.figures.values())


def test_tables_of_the_finished_runs_say_what_is_missing(tmp_path):
    request = Request(systems=("Gauss", "1-NN"), folder=tmp_path, finished=True)
    study = plan_study("made", "Made", [source()], request)
    cells = [cell for cell in study.cells if cell.system == "Gauss" and cell.normalisation == "raw"]
    with open_store(tmp_path) as (_, add):
        for cell in cells[:4]:
            add(cell, Figures(auc=0.75))
    results = run_study(study, request)
    text = write_study(study, results, request)[0].read_text()
    assert "| Gauss | **0.750** (-, -) | 0.750 |" in text
    name = cells[0].source.name
    assert f"Not finished: Gauss on {name} (raw), 4 of 10 runs" in text
    assert f"Not finished: 1-NN on {name} (raw), 0 of 10 runs" in text


def test_a_set_that_is_not_available_is_named_and_the_rest_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("EOCC_DATA", str(tmp_path / "nothing"))
    request = Request(1, systems=("Gauss", "1-NN", "PCA"), datasets=("I", "BI"), folder=tmp_path)
    study = plan_study("uci-low", "UCI", STUDIES["uci-low"], request)
    assert list(study.absent) == ["BI"]
    results = run_study(study, request)
    text = write_study(study, results, request)[0].read_text()
    assert study.name == "uci-low-part"
    assert "No results on BI: " in text
    assert "| Gauss | - [0.900] | **1.000** (-, 0.000) [1.000] | 1.000 |" in text


def test_a_study_without_any_set_is_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EOCC_DATA", str(tmp_path / "nothing"))
    for sets, more in (("BI", ""), ("BI,BW", " (and 1 more set not available)")):
        arguments = ["reproduce", "uci-low", "--datasets", sets, "--systems", "1-NN", "-o", str(tmp_path / "results")]
        assert main(arguments) == 1
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert "was not found: put the file at" in said.err
        assert said.err.endswith(f"{more}\n")
    (tmp_path / "few.csv").write_text("a,b,site,state\n1,2,x,good\n2,1,y,bad\n")
    compare = ["compare", str(tmp_path / "few.csv"), "--label", "state", "--target", "good"]
    assert main([*compare, "-o", str(tmp_path / "results")]) == 1
    assert "column 'site' holds text, but euclidean compares numbers; drop it, or choose" in capsys.readouterr().err
    assert main([*compare, "--drop", "site", "-o", str(tmp_path / "results")]) == 1
    assert capsys.readouterr().err.endswith("a comparison needs at least 10 targets and 1 outlier; there are 1 and 1\n")
    assert not (tmp_path / "results").exists()


def test_the_length_of_the_search_does_not_change_the_cells_of_the_rivals():
    plans = [plan_study("made", "", [source()], Request(generations=most)) for most in (100, 2)]
    one, other = ({cell.system: cell.key for cell in plan.cells} for plan in plans)
    assert one["Gauss"] == other["Gauss"]
    assert one["EOCC-1"] != other["EOCC-1"]


def test_tables_are_written_in_two_formats_and_progress_is_reported(tmp_path):
    view = Recorder()
    request = Request(systems=QUICK, folder=tmp_path)
    study = plan_study("made", "Made <up>", [source()], request)
    with watched_by(view):
        results = run_study(study, request)
    paths = write_study(study, results, request)
    assert [path.name for path in paths] == ["made-part.md", "made-part.csv"]
    assert not list(tmp_path.glob("*.png"))  # one set gives no ranks
    assert [words.split("; ")[1] for words in view.words] == [f"{n} of 60 runs" for n in range(1, 61)]
    assert view.seen[-1] == ("made-part", 1.0)
    text = paths[0].read_text()
    assert "## AUC, raw" in text
    assert "none is bold" not in text
    assert str(run_study(study, request).figures) == str(results.figures)


CSV = "\n".join(
    ["a,b,kind"]
    + [f"{x:.3f},{y:.3f},good" for x, y in np.random.default_rng(0).normal(size=(40, 2))]
    + [f"{x:.3f},{y:.3f},bad" for x, y in np.random.default_rng(1).normal(size=(20, 2)) + 3]
)


RESULT = "parts-comparison-part.md"


def test_the_tables_of_a_folder_are_ranked_with_intervals_and_a_picture(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    for seed, name in enumerate(("b.csv", "a.csv", "c.tsv")):
        lines = CSV.splitlines()[: 50 + seed]
        (folder / name).write_text("\n".join(lines).replace(",", "\t" if name == "c.tsv" else ","))
    (folder / "origins.md").write_text("where the tables came from")
    options = ["--label", "kind", "--target", "good", "--systems", "1-NN,Gauss,PCA", "--output", str(tmp_path / "out")]
    assert main(["--quiet", "compare", str(folder), *options]) == 0
    text = (tmp_path / "out" / "tables-comparison-part.md").read_text()
    assert "| system | a | b | c | mean |" in text
    assert "| system | average rank | 95 % interval over the sets | mean AUC |" in text
    assert "(tables-comparison-part-ranks-raw.png)" in text
    assert (tmp_path / "out" / "tables-comparison-part-ranks-unit-variance.png").stat().st_size > 5_000


def test_a_folder_without_tables_is_an_error(tmp_path, capsys):
    assert main(["compare", str(tmp_path), "--label", "kind", "--target", "good"]) == 1
    assert "holds no tables; put files such as" in capsys.readouterr().err


def compare(folder, out, *options):
    given = ["--label", "kind", "--target", "good", "--systems", ",".join(QUICK), "--output", str(folder / out)]
    return ["compare", str(folder / "parts.csv"), *given, *options]


def descendants(pid):
    """The processes that a process started, directly or not."""
    answer = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in (line.split() for line in answer.splitlines())}
    found, new = set(), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout


def wait_for(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def aucs(folder):
    with open_store(folder) as (finished, _):
        return {key: figures.auc for key, figures in finished.items()}


def tables_of(path):
    """The tables without times, dates and durations."""
    return path.read_text().split("## Decisions")[0].split("## AUC")[1:]


def test_a_killed_run_that_is_started_again_gives_the_same_tables(tmp_path):
    (tmp_path / "parts.csv").write_text(CSV)
    assert main(compare(tmp_path, "whole")) == 0
    command = [sys.executable, "-m", "eocc", *compare(tmp_path, "killed")]
    killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cells = tmp_path / "killed" / "cells" / "parts.csv"
    wait_for(lambda: cells.exists() and cells.read_text().count("\n") >= 6, 120)
    children = descendants(killed.pid)
    assert children
    killed.send_signal(signal.SIGKILL)
    killed.wait(10)
    wait_for(lambda: not any(is_alive(child) for child in children), 15)
    done = cells.read_text().count("\n") - 1
    assert 5 <= done < 60
    assert main(compare(tmp_path, "killed", "--jobs", "2")) == 0
    assert len(cells.read_text().splitlines()) == 61
    assert aucs(tmp_path / "killed") == aucs(tmp_path / "whole")
    assert tables_of(tmp_path / "killed" / RESULT) == tables_of(tmp_path / "whole" / RESULT)
