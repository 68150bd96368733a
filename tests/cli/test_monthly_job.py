"""The script of docs/guides/monthly_job.md, with real files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eocc import load

SCRIPT = Path(__file__).parents[2] / "examples" / "monthly_job.sh"


def month(rng, n, warmer=0.0):
    return pd.DataFrame({"load": rng.normal(50, 5, n).round(3), "temp": rng.normal(20 + warmer, 2, n).round(3)})


def run(folder):
    """Run the script, with the eocc of these tests."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    (tools / "eocc").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m eocc "$@"\n')
    (tools / "eocc").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run([str(SCRIPT), str(folder)], capture_output=True, text=True, check=False, env=environment)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="the script is for a POSIX shell")
def test_files_are_scored_filed_away_or_put_aside_for_review(tmp_path):
    rng = np.random.default_rng(0)
    month(rng, 1000).to_csv(tmp_path / "normal.csv", index=False)
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    month(rng, 60).to_csv(incoming / "january.csv", index=False)
    first = run(tmp_path)
    assert (first.returncode, first.stderr) == (0, "")
    assert names(tmp_path / "done") == ["january.csv"]
    assert load(tmp_path / "model.eocc").n_rows_ > 1000  # learned
    strange = month(rng, 60)
    strange.loc[:3, "load"] = 500.0
    strange.to_csv(incoming / "february.csv", index=False)
    month(rng, 60, warmer=8).to_csv(incoming / "march.csv", index=False)
    second = run(tmp_path)
    assert (second.returncode, second.stderr) == (4, "")
    assert names(tmp_path / "review") == ["february.csv", "february.html", "march.csv", "march.html"]
    found = {name: json.loads((tmp_path / "scores" / f"{name}.json").read_text()) for name in ("february", "march")}
    assert found["february"]["discoveries"]["count"] >= 4
    assert found["march"]["drift"]["is_drift"]
    log = [json.loads(line) for line in (tmp_path / "scores" / "log.jsonl").read_text().splitlines()]
    assert [one["exit_code"] for one in log] == [4, 4]
    (incoming / "april.csv").write_text("load\n3\n")
    third = run(tmp_path)
    assert third.returncode == 1
    assert "temp" in third.stderr
    assert names(incoming) == ["april.csv"]
