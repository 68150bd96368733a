"""Processor time of reading CSV files, against pandas in the same run: ``python benchmarks/reading.py [rows]``.

Reading here means all that comes before a fit: the cells, what each column holds, what is left out, and the patterns.
pandas only splits the cells and converts plain numbers.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute
import pyarrow.csv  # noqa: F401  (both are imported before anything is timed)

from eocc.formats.files.formats import open_files
from eocc.formats.files.rows import learn

TIMES = 5


def numbers(n, rng):
    return pd.DataFrame(rng.normal(size=(n, 10)), columns=[f"c{k}" for k in range(10)])


def mixed(n, rng):
    frame = pd.DataFrame({f"c{k}": rng.normal(size=n).round(4) for k in range(4)})
    return frame.assign(
        i=rng.integers(0, 1000, n), j=rng.integers(0, 10**6, n), city=rng.choice(["Oslo", "Rome", "Bern", "Graz"], n),
        job=rng.choice([f"job {k}" for k in range(200)], n), ok=rng.choice(["yes", "no"], n),
        day=pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), unit="D"),
        gap=np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(3)),
    )  # fmt: skip


def read(path):
    learnt = learn(list(open_files([path])), str(path))
    return learnt.known.patterns(learnt.X.patterns)


def least(function, path):
    """Return the least processor time of several runs."""
    found = []
    for _ in range(TIMES):
        start = time.process_time()
        function(path)
        found.append(time.process_time() - start)
    return min(found)


def main(n=200_000):
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (("numbers", numbers), ("mixed", mixed)):
            path = Path(folder) / f"{name}.csv"
            make(n, np.random.default_rng(0)).to_csv(path, index=False)
            own, known = least(read, path), least(pd.read_csv, path)
            print(f"{name}: {own:.3f} s, pandas {known:.3f} s, {own / known:.1f} times", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
