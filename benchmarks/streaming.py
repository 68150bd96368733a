"""Rows a second and peak memory of fits and scores from a Parquet file: the figures of docs/results/scale.md.

python benchmarks/streaming.py [rows] [jobs]
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow
import pyarrow.parquet
from timing import table

from eocc import SurpriseClassifier, load
from eocc.streaming import fit_stream, score_stream

COLUMNS = [f"x{k}" for k in range(10)]
STEP = 200_000


def write_rows(path, n_rows):
    """Write two clusters of normal rows, one part at a time."""
    rng = np.random.default_rng(0)
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in COLUMNS])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, STEP):
            rows = rng.normal(size=(min(STEP, n_rows - start), len(COLUMNS)))
            rows[:, :3] += 4 * (rng.random(len(rows)) < 0.4)[:, None]
            writer.write_table(pyarrow.table(dict(zip(COLUMNS, rows.T, strict=True))))


def read(folder, jobs):
    with pyarrow.parquet.ParquetFile(folder / "rows.parquet") as file:
        sum(batch.num_rows for batch in file.iter_batches())


def fit(folder, jobs):
    clf = SurpriseClassifier(measure="standardised", prototypes=256, n_jobs=jobs)
    fit_stream(clf, folder / "rows.parquet").save(folder / "model.eocc")


def score_to_parquet(folder, jobs):
    score_stream(load(folder / "model.eocc"), folder / "rows.parquet", folder / "scores.parquet")


def score_to_csv(folder, jobs):
    score_stream(load(folder / "model.eocc"), folder / "rows.parquet", folder / "scores.csv")


WORKS = {work.__name__: work for work in (read, fit, score_to_parquet, score_to_csv)}


class Figures(NamedTuple):
    """Wall-clock seconds, processor seconds and peak memory in MiB."""

    wall: float
    processor: float
    peak: float


def measured(name, folder, jobs):
    """Return the figures of a work, in a process of its own."""
    command = [sys.executable, __file__, "--work", name, str(folder), str(jobs)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Figures(*map(float, done.stdout.split()))


def figures(n_rows, jobs, works):
    """Return the figures of some works on one file, by name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "rows.parquet", n_rows)
        return {work: measured(work, folder, jobs) for work in works}


def work_alone(name, folder, jobs):
    wall, processor = time.perf_counter(), time.process_time()
    WORKS[name](Path(folder), int(jobs))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(time.perf_counter() - wall, time.process_time() - processor, peak)


def show(n_rows, jobs):
    rows = [["work", "rows a second", "rows a second of processor time", "peak memory, MiB"]]
    for work, (wall, processor, peak) in figures(n_rows, jobs, WORKS).items():
        rows.append([work.replace("_", " "), f"{n_rows / wall:,.0f}", f"{n_rows / processor:,.0f}", f"{peak:.0f}"])
    print(f"{n_rows:,} rows of {len(COLUMNS)} numbers, 256 prototypes\n\n{table(rows)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?", type=int, default=2_000_000)
    parser.add_argument("jobs", nargs="?", type=int, default=-1)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.work:
        work_alone(*wanted.work)
    else:
        show(wanted.rows, wanted.jobs)


if __name__ == "__main__":
    main()
