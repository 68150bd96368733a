"""Runs on several processes: written as they come, resumed after kill -9, not stopped by a cell that hangs or dies."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from eocc.experiments import pool
from eocc.experiments.cells import Cell, Figures
from eocc.experiments.store import Store
from eocc.experiments.studies import Request, plan_study, run_study, write_study
from troubled_source import Trouble, source

QUICK = ("EOCC-1", "Gauss", "1-NN")


@pytest.mark.parametrize(("what", "reason"), [("hang", "not done within 8 s"), ("die", "the process ended with exit")])
def test_a_cell_that_hangs_or_dies_costs_itself_alone(what, reason):
    cells = [Cell(Trouble("trouble", what), "raw", "Gauss", run, 0, 1) for run in range(4)]
    found = {cell.run: figures for cell, figures in pool.run_cells(cells, 2, 8.0)}
    assert sorted(found) == [0, 1, 2, 3]
    assert found[1].reason.startswith(reason)
    assert all(found[run].auc > 0.5 for run in (0, 2, 3))


def test_figures_do_not_depend_on_the_number_of_processes(tmp_path):
    tables = []
    for jobs in (1, 2):
        request = Request(runs=2, jobs=jobs, systems=QUICK, folder=tmp_path / str(jobs))
        study = plan_study("made", "Made", [source()], request)
        results = run_study(study, request, lambda progress: None)
        tables.append({key: [run.auc for run in runs] for key, runs in results.figures.items()})
    assert tables[0] == tables[1]


def test_figures_of_a_changed_file_are_not_taken_for_its_own():
    one, other = (Cell(made, "raw", "Gauss", 0, 0, 1).key for made in (source(seed=0), source(seed=1)))
    assert one != other
    assert one == Cell(source(seed=0), "raw", "Gauss", 0, 0, 1).key


def test_the_store_drops_a_cut_line_and_keeps_the_rest(tmp_path):
    cells = [Cell(source(), "raw", "Gauss", run, 0, 1) for run in range(3)]
    store = Store(tmp_path, "1")
    for cell in cells:
        store.add(cell, Figures(auc=0.25 * cell.run))
    path = tmp_path / "cells.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    again = Store(tmp_path, "1")
    assert set(again.finished) == {cells[0].key, cells[1].key}
    again.add(cells[2], Figures(reason="late"))
    assert Store(tmp_path, "1").finished[cells[2].key].reason == "late"
    assert Store(tmp_path, "2").finished == {}
    path.write_text('{"version": "1"}\n' + path.read_text())
    with pytest.raises(ValueError, match="line 1 is damaged; delete that line"):
        Store(tmp_path, "1")


def test_tables_are_written_in_three_forms_and_progress_is_told(tmp_path):
    told = []
    request = Request(runs=2, systems=QUICK, folder=tmp_path)
    study = plan_study("made", "Made <up>", [source()], request)
    results = run_study(study, request, told.append)
    paths = write_study(study, results, request)
    assert [path.name for path in paths] == ["made.md", "made.csv", "made.html"]
    assert [(progress.done, progress.total) for progress in told] == [(n, 12) for n in range(1, 13)]
    assert told[-1].seconds_left == 0
    text, page = paths[0].read_text(), paths[2].read_text()
    assert "## AUC, raw" in text
    assert "Friedman" not in text or "Nemenyi" in text
    assert "Made &lt;up&gt;" in page
    assert "<script" not in page
    assert "http" not in page.split("base64")[0]
    assert str(run_study(study, request, told.append).figures) == str(results.figures)
    assert len(told) == 12


CSV = "\n".join(
    ["a,b,kind"]
    + [f"{x:.3f},{y:.3f},good" for x, y in np.random.default_rng(0).normal(size=(40, 2))]
    + [f"{x:.3f},{y:.3f},bad" for x, y in np.random.default_rng(1).normal(size=(20, 2)) + 3]
)


def compare(folder, out, *options):
    command = [sys.executable, "-m", "eocc", "compare", "parts.csv", "--target-column", "kind", "--target", "good",
               "--systems", ",".join(QUICK), "--runs", "4", "--out", out, *options]  # fmt: skip
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def aucs(folder):
    lines = [json.loads(line) for line in (folder / "cells.jsonl").read_text().splitlines()]
    return {tuple(line["cell"]): line["figures"]["auc"] for line in lines}


def tables_of(path):
    """The tables without times and the line of date and duration."""
    return path.read_text().split("## Decisions")[0].split("## AUC")[1:]


def test_a_run_killed_half_way_and_started_again_gives_the_same_tables(tmp_path):
    (tmp_path / "parts.csv").write_text(CSV)
    whole = compare(tmp_path, "whole")
    assert whole.wait(120) == 0
    killed = compare(tmp_path, "killed")
    cells = tmp_path / "killed" / "cells.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not cells.exists() or cells.read_text().count("\n") < 5):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait(10)
    done = cells.read_text().count("\n")
    assert 5 <= done < 24
    resumed = compare(tmp_path, "killed", "--jobs", "2")
    assert resumed.wait(120) == 0
    assert len(cells.read_text().splitlines()) == 24
    assert aucs(tmp_path / "killed") == aucs(tmp_path / "whole")
    assert tables_of(tmp_path / "killed" / "parts.md") == tables_of(tmp_path / "whole" / "parts.md")
