"""How long one row and one command take.

Medians in thread time of one row at a time in Python: numbers, a dict and a frame of mixed columns; beside them
IsolationForest of scikit-learn on the same row of numbers. Processor time of `eocc score` of 20 rows and of `eocc fit`
of 20,000 rows of five mixed columns with a warm cache, beside `import numba` alone, its floor, and `import
sklearn.base`.

Run: python benchmarks/latency.py
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest
from timing import table

from eocc import SurpriseClassifier

N_TRAINING, N_ROWS, N_RUNS = 1000, 300, 7


def median_ms(work: Callable[[Any], Any], rows: Sequence[Any]) -> float:
    """Return the median thread time of one call in ms, after some calls unmeasured."""
    times = []
    for row in (*rows[:20], *rows):
        start = time.thread_time()
        work(row)
        times.append(time.thread_time() - start)
    return 1000 * statistics.median(times[20:])


def processor_seconds(*arguments: str) -> float:
    """Return the least processor time of a Python process with these arguments."""
    found = []
    for _ in range(N_RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def mixed(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return a table of three columns of numbers and two of text."""
    return pd.DataFrame({
        "a": rng.normal(size=n), "b": rng.integers(0, 50, n), "c": rng.choice(["x", "y", "z"], n),
        "d": rng.choice(["red", "green", "blue"], n), "e": rng.normal(size=n),
    })  # fmt: skip


def main() -> None:
    """Print both tables."""
    rng = np.random.default_rng(0)
    lines = [["one row", "ms", "IsolationForest, ms"]]
    for n_columns in (5, 10):
        X, new = rng.normal(size=(N_TRAINING, n_columns)), rng.normal(size=(N_ROWS, n_columns))
        rows = [row[None] for row in new]
        own = median_ms(SurpriseClassifier().fit(X).predict, rows)
        other = median_ms(IsolationForest(random_state=0).fit(X).predict, rows)
        lines.append([f"{n_columns} numbers", f"{own:.2f}", f"{other:.2f}"])
    model, new_table = SurpriseClassifier().fit(mixed(rng, N_TRAINING)), mixed(rng, N_ROWS)
    lines.append(
        [
            "5 mixed columns, dict",
            f"{median_ms(model.predict, [[one] for one in new_table.to_dict('records')]):.2f}",
            "-",
        ]
    )
    lines.append(
        ["5 mixed columns, frame", f"{median_ms(model.predict, [new_table.iloc[[k]] for k in range(N_ROWS)]):.2f}", "-"]
    )
    print(table(lines), end="\n\n")

    lines = [["process", "processor time, s", "over import numba"]]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        SurpriseClassifier().fit(rng.normal(size=(N_TRAINING, 5))).save(place / "numbers.eocc")
        pd.DataFrame(rng.normal(size=(20, 5)), columns=list("abcde")).to_csv(place / "numbers.csv", index=False)
        model.save(place / "mixed.eocc")
        mixed(rng, 20).to_csv(place / "mixed.csv", index=False)
        floor = processor_seconds("-c", "import numba")
        work = {"import numba": floor, "import sklearn.base": processor_seconds("-c", "import sklearn.base")}
        for kind in ("numbers", "mixed"):
            asked = "score", str(place / f"{kind}.eocc"), str(place / f"{kind}.csv"), "-o", str(place / "scores.csv")
            work[f"eocc score, 20 rows, {kind}"] = processor_seconds("-m", "eocc", *asked)
        mixed(rng, 20_000).to_csv(place / "normal.csv", index=False)
        asked = "fit", str(place / "normal.csv"), "-o", str(place / "normal.eocc")
        work["eocc fit, 20,000 rows, mixed"] = processor_seconds("-m", "eocc", *asked)
        work["eocc --help"] = processor_seconds("-m", "eocc", "--help")
    lines += [[name, f"{found:.2f}", f"{found / floor:.2f}"] for name, found in work.items()]
    print(table(lines))


if __name__ == "__main__":
    main()
