"""SurpriseClassifier's speed and memory, line by line, against its peers in the same run, with what must be reached.

python benchmarks/table.py                    all lines, on two cores
python benchmarks/table.py --only fit score   some lines
python benchmarks/table.py --quick            small sizes, to try this script

Every line runs in processes of its own, after a smaller run that loads and compiles. Rows are normal, with 10 columns
unless said.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from timing import apart, least_seconds, peak_bytes, seconds, table_line

COLUMNS, NEW_ROWS, OUTLIERS, CHUNK = 10, 2_000, 100, 100_000


@dataclass(frozen=True)
class Sizes:
    fits: tuple[int, ...] = (1_000, 10_000, 100_000)
    wide: int = 10_000
    tied: int = 8_000
    million: int = 1_000_000
    models: tuple[int, ...] = (10_000, 100_000)
    outliers: int = 10_000
    objects: int = 1_000
    parquet: int = 10_000_000
    dask: int = 4_000_000


QUICK = Sizes((200, 500, 1_000), 500, 1_000, 2_000, (500, 1_000), 1_000, 100, 50_000, 10_000)


@dataclass(frozen=True)
class Line:
    """What was measured, `found`, in `unit`: at most `must` and `aim`, or at least these if `more` is better."""

    what: str
    figures: str
    found: float
    must: float
    aim: float | None
    unit: str = ""
    more: bool = False

    def cells(self) -> list[str]:
        bounds = [("aim", self.aim), ("must", self.must)]
        reached = [name for name, bound in bounds if bound is not None and (self.found <= bound) != self.more]
        figures = [self.what, self.figures, *map(self._figure, (self.found, self.must, self.aim))]
        return [*figures, reached[0] if reached else "missed"]

    def _figure(self, value: float | None) -> str:
        return "" if value is None else f"{value:.2g}{self.unit}" if value < 10 else f"{value:.0f}{self.unit}"


HEAD = ["what", "eocc, peer", "measured", "must", "aim", "reached"]


def against(what: str, ours: float, peer: float, must: float, aim: float | None, named: str) -> Line:
    return Line(what, f"{duration(ours)}, {named} {duration(peer)}", ours / peer, must, aim)


def duration(value: float) -> str:
    return f"{value:.3g} s" if value >= 0.1 else f"{value * 1e3:.3g} ms" if value >= 1e-4 else f"{value * 1e6:.3g} µs"


# The lines. What is called `apart` is one of the works below, in a process of its own.


def fit_lines(sizes: Sizes) -> Iterator[Line]:
    for n, must, aim in zip(sizes.fits, (1, 1, 0.7), (0.5, 0.4, 0.3), strict=True):
        ours, lof = apart(__file__, "fits", n, COLUMNS)
        yield against(f"fit, n = {n:,}, against LOF", ours, lof, must, aim, "LOF")


def wide_lines(sizes: Sizes) -> Iterator[Line]:
    ours, lof = apart(__file__, "fits", sizes.wide, 100)
    yield against(f"fit, n = {sizes.wide:,}, d = 100, against LOF", ours, lof, 1.5, 0.8, "LOF")


def tied_lines(sizes: Sizes) -> Iterator[Line]:
    for kind, d, top in (("integers 0 to 9", 10, 10), ("zeros and ones", 40, 2)):
        ours, lof = apart(__file__, "fits", sizes.tied, d, top)
        yield against(f"fit, n = {sizes.tied:,}, d = {d}, {kind}, against LOF", ours, lof, 1.5, 0.8, "LOF")


def million_lines(sizes: Sizes) -> Iterator[Line]:
    time, peak = apart(__file__, "large_fit", sizes.million)
    yield Line(f"fit, n = {sizes.million:,}: time", "", time, 180, 60, " s")
    yield Line("its peak memory, the rows included", "", peak, 3, 1, " GiB")


def score_lines(sizes: Sizes) -> Iterator[Line]:
    bounds = ((0.2, 0.1, 4, 1.5), (0.05, 0.02, 10, 3))
    for n, (must, aim, forest_must, forest_aim) in zip(sizes.models, bounds, strict=True):
        ours, lof, forest = apart(__file__, "scores", n)
        what = f"score a row, model of {n:,} rows, one thread, against"
        yield against(f"{what} LOF", ours, lof, must, aim, "LOF")
        yield against(f"{what} IsolationForest", ours, forest, forest_must, forest_aim, "forest")


def object_lines(sizes: Sizes) -> Iterator[Line]:
    for kind, named in (("strings", "strings of length 20"), ("graphs", "graphs of 15 vertices")):
        ours, pairs = apart(__file__, "object_fits", kind, sizes.objects)
        yield against(f"fit of {sizes.objects:,} {named}, against all pairs once", ours, pairs, 1.3, 1.1, "pairs")


def outlier_lines(sizes: Sizes) -> Iterator[Line]:
    known, none = apart(__file__, "outlier_fits", sizes.outliers)
    what = f"fit, n = {sizes.outliers:,}, with {OUTLIERS} known outliers, against none"
    yield against(what, known, none, 1.5, None, "none")


def parquet_lines(sizes: Sizes) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as name:
        paths = [str(Path(name) / file) for file in ("rows.parquet", "few.parquet")]
        for path, n in zip(paths, (sizes.parquet, sizes.parquet // 100), strict=True):
            apart(__file__, "write_parquet", path, n)
        reading = apart(__file__, "read_parquet", *paths)
        time, peak = apart(__file__, "fit_parquet", *paths)
    what = f"fit from Parquet, n = {sizes.parquet:,}, against reading it"
    yield against(what, time, reading, 20, 8, "reading")
    yield Line("its peak memory", "", peak, 1, 0.5, " GiB")


def dask_lines(sizes: Sizes) -> Iterator[Line]:
    one, two = (apart(__file__, "dask_fit", sizes.dask, count) for count in (1, 2))
    figures = f"{duration(two)}, one {duration(one)}"
    yield Line(f"Dask fit of {sizes.dask:,} rows, two workers against one", figures, one / two, 1.6, 1.9, " x", True)


def first_lines(sizes: Sizes) -> Iterator[Line]:
    # Up to 512 rows, or 1,024 of 10 columns, do not compile the products.
    for kind, n, must in (("rows", 1_000, 4), ("rows", 10_000, 4), ("graphs", 200, 6), ("strings", 200, 4)):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / f"{kind}.jsonl"
            apart(__file__, "write_lines", str(path), kind, n)
            command = [sys.executable, "-m", "eocc", "fit", str(path), "-o", str(path.with_suffix(".eocc"))]
            environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(name) / "cache")}
            run = partial(subprocess.run, command, env=environment, capture_output=True, check=True)
            first, again = seconds(run), seconds(run)
        yield Line(f"first `eocc fit` after install, {n:,} {kind}", f"again {duration(again)}", first, must, 2, " s")


LINES = {
    "fit": fit_lines, "wide": wide_lines, "tied": tied_lines, "million": million_lines, "score": score_lines,
    "objects": object_lines, "outliers": outlier_lines, "parquet": parquet_lines,
    "dask": dask_lines, "first": first_lines,
}  # fmt: skip


# The works.


def rows(n, d=COLUMNS, seed=0):
    import numpy as np

    return np.random.default_rng(seed).normal(size=(n, d))


def surprise(n_jobs=2):
    from eocc import SurpriseClassifier

    return SurpriseClassifier(n_jobs=n_jobs)


def in_turns(make, n):
    """Return the least time of each work of make(n): several rounds if short, else one, after works of fewer rows."""
    if n <= 20_000:
        return least_seconds(make(n), 20 if n <= 2_000 else 5)
    for work in make(n // 4):
        work()
    return [seconds(work) for work in make(n)]


def fits(n, d, top=None):
    """Return the seconds of a fit to normal rows, or to integers below `top`: ours and LOF's."""
    import numpy as np
    from sklearn.neighbors import LocalOutlierFactor

    def works(n):
        X = rows(n, d) if top is None else np.random.default_rng(0).integers(0, top, (n, d)).astype(float)
        return [partial(model.fit, X) for model in (surprise(), LocalOutlierFactor(novelty=True, n_jobs=2))]

    return in_turns(works, n)


def large_fit(n):
    surprise()
    before = peak_bytes()
    surprise().fit(rows(n // 4))
    X = rows(n)
    time = seconds(lambda: surprise().fit(X))
    return time, (peak_bytes() - before) / 2**30


def scores(n):
    """Return the seconds per new row of ours, LOF and IsolationForest, on one thread each."""
    from sklearn.ensemble import IsolationForest
    from sklearn.neighbors import LocalOutlierFactor
    from threadpoolctl import threadpool_limits

    X, new = rows(n), rows(NEW_ROWS, seed=1)
    # Neighbours are found on two threads for the fit only.
    lof = LocalOutlierFactor(novelty=True, n_jobs=2).fit(X).set_params(n_jobs=1)
    models = [surprise().fit(X).set_params(n_jobs=1), lof, IsolationForest(random_state=0, n_jobs=1).fit(X)]
    with threadpool_limits(1):
        least = least_seconds([partial(model.score_samples, new) for model in models], 5)
    return [time / NEW_ROWS for time in least]


def objects(kind, n):
    import random

    if kind == "graphs":
        from graph_edit import random_graph

        return [random_graph(15, seed) for seed in range(n)]
    draw = random.Random(0)
    return ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=20)) for _ in range(n)]


def object_fits(kind, n):
    from eocc.base.threads import threads
    from eocc.measures import GraphEdit, StringEdit

    patterns, measure = objects(kind, n), {"graphs": GraphEdit, "strings": StringEdit}[kind]()

    def pairs():
        read = measure.read(patterns)
        with threads(2):
            measure.fit(read).prepare(read)

    return least_seconds([lambda: surprise().fit(patterns), pairs], 5)


def outlier_fits(n):
    import numpy as np

    def works(n):
        X = rows(n)
        both, y = np.vstack([X, rows(OUTLIERS, seed=1) + 1]), np.repeat([1, -1], [n, OUTLIERS])
        return [partial(surprise().fit, both, y), partial(surprise().fit, X)]

    return in_turns(works, n)


def write_parquet(path, n):
    """Write normal rows, one part at a time."""
    import pyarrow
    import pyarrow.parquet

    names = [f"x{k}" for k in range(COLUMNS)]
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in names])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for seed, start in enumerate(range(0, n, CHUNK)):
            part = rows(min(CHUNK, n - start), seed=seed)
            writer.write_table(pyarrow.table(dict(zip(names, part.T, strict=True))))


def read_parquet(path, few):
    """Return the seconds of reading all columns of a file as numpy arrays, batch by batch."""
    import pyarrow.parquet

    def read(path):
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for column in batch.columns:
                    column.to_numpy()

    read(few)
    return seconds(partial(read, path))


def fit_parquet(path, few):
    import pyarrow.parquet  # noqa: F401

    from eocc.streaming import fit_stream

    surprise()
    before = peak_bytes()
    fit_stream(surprise(), few)
    time = seconds(lambda: fit_stream(surprise(), path))
    return time, (peak_bytes() - before) / 2**30


def dask_fit(n, n_workers):
    """Return the seconds of a fit to an array that lies in the memory of worker processes of one thread."""
    import dask.array
    from distributed import Client, LocalCluster, wait

    def array(n):
        made = dask.array.random.default_rng(0).normal(size=(n, COLUMNS), chunks=(min(n // 8, CHUNK), COLUMNS))
        return made.persist()

    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        client.run(warm)
        surprise(1).fit(array(n // 8))
        X = array(n)
        wait(X)
        return seconds(lambda: surprise(1).fit(X))


def warm():
    surprise(1).fit(rows(1_000))


def write_lines(path, kind, n):
    """Write rows, strings or graphs as JSON lines."""
    if kind == "rows":
        items = rows(n).tolist()
    elif kind == "strings":
        items = objects(kind, n)
    else:
        items = [node_link(graph) for graph in objects(kind, n)]
    Path(path).write_text("".join(json.dumps(item) + "\n" for item in items))


def node_link(graph):
    x, y = (graph.vertex_attributes[name] for name in "xy")
    edges = zip(graph.edges.tolist(), graph.edge_attributes["w"], strict=True)
    return {
        "nodes": [{"id": v, "x": float(x[v]), "y": float(y[v])} for v in range(graph.n_vertices)],
        "links": [{"source": a, "target": b, "w": float(w)} for (a, b), w in edges],
    }


WORKS = {work.__name__: work for work in (
    fits, large_fit, scores, object_fits, outlier_fits, write_parquet, read_parquet, fit_parquet,
    dask_fit, write_lines,
)}  # fmt: skip


def show(names, sizes):
    print(f"{os.cpu_count()} cores\n\n{table_line(HEAD)}\n{table_line(['---'] * len(HEAD))}", flush=True)
    for name in names:
        try:
            for line in LINES[name](sizes):
                print(table_line(line.cells()), flush=True)
        except subprocess.CalledProcessError as error:
            text = error.stderr if isinstance(error.stderr, str) else error.stderr.decode()
            print(table_line([name, f"failed: {(text.strip().splitlines() or ['?'])[-1]}", *[""] * 4]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=LINES, default=list(LINES), help="the lines to measure")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.work:
        print(json.dumps(WORKS[wanted.work[0]](*json.loads(wanted.work[1]))))
    else:
        if wanted.quick:
            print("Small sizes: must and aim are meant for the full ones.\n")
        show(wanted.only, QUICK if wanted.quick else Sizes())


if __name__ == "__main__":
    main()
