"""Time and memory of large fits, compared with other detectors; and against the number of rows, as a picture.

    python benchmarks/scale.py                  the tables of docs/scale.md; half an hour
    python benchmarks/scale.py --curve out.png  fits of 1,000 to 1,000,000 rows, each in its own process

Peaks are those of the process, less what it holds after a small fit that compiles everything.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from functools import partial

import numpy as np
from timing import least_seconds, table

DIMENSIONS, PROTOTYPES = 10, 256
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def rows(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, DIMENSIONS))


def classifier(searches):
    from eocc import EntropicOneClassClassifier, SurpriseClassifier
    from eocc.search import GeneticSearch

    settings = {"prototypes": PROTOTYPES, "random_state": 0, "n_jobs": -1, "max_memory": 2**40}
    if not searches:
        return SurpriseClassifier(**settings)
    search = GeneticSearch(population_size=30, max_generations=10, patience=10)
    return EntropicOneClassClassifier(graph="knn", search=search, **settings)


def ours(n, searches):
    X = rows(n)
    classifier(searches).fit(rows(3_000))
    return measured(lambda: classifier(searches).fit(X), lambda model: model.score_samples)


def both(n, _):
    """Scores in turns, on one thread each."""
    from sklearn.ensemble import IsolationForest

    X, new = rows(n), rows(n, seed=1)
    models = [model.fit(X) for model in (classifier(False).set_params(n_jobs=1), IsolationForest(random_state=0))]
    least = least_seconds([partial(model.score_samples, new) for model in models], repeats=5)
    return dict(zip(("ours", "forest"), (seconds / n for seconds in least), strict=True))


def knn(n, _):
    from pyod.models.knn import KNN

    X = rows(n)
    KNN().fit(rows(500))
    return measured(lambda: KNN().fit(X), lambda model: model.decision_function)


def forest(n, _):
    from sklearn.ensemble import IsolationForest

    X = rows(n)
    IsolationForest(random_state=0).fit(rows(500))
    return measured(lambda: IsolationForest(random_state=0).fit(X), lambda model: model.score_samples)


def measured(fit, scorer, n_new=20_000):
    before, started = peak(), time.perf_counter()
    model = fit()
    seconds, added = time.perf_counter() - started, peak() - before
    new, score = rows(n_new, seed=1), scorer(model)
    score(new[:100])
    started = time.perf_counter()
    score(new)
    return {"fit": seconds, "peak": added, "score": (time.perf_counter() - started) / n_new}


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


WHO = {"ours": ours, "both": both, "knn": knn, "forest": forest}


def apart(who, n, searches=False):
    """The figures of one fit in a process of its own."""
    line = [sys.executable, __file__, "--one", who, str(n), str(int(searches))]
    return json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)


def compare():
    searched, plain, million = apart("ours", 100_000, searches=True), apart("ours", 100_000), apart("ours", 1_000_000)
    models = {
        "eocc, knn graph, 300 candidates, 100,000": searched,
        "eocc, knn graph, no search, 100,000": plain,
        "eocc, knn graph, no search, 1,000,000": million,
        "PyOD KNN, 100,000": apart("knn", 100_000),
        "isolation forest, 100,000": apart("forest", 100_000),
    }
    print(table([["model", "fit s", "peak GiB", "score µs a row"], *(
        [name, f"{found['fit']:.1f}", gib(found), f"{found['score'] * 1e6:.1f}"] for name, found in models.items()
    )]))  # fmt: skip
    share = searched["fit"] / models["PyOD KNN, 100,000"]["fit"]
    score = apart("both", 100_000)
    print()
    print(table([
        ["what", "must", "aim", "measured"],
        ["fit 100,000 x 10, 300 candidates: time / PyOD KNN's", "1", "1/3", f"{share:.2f}"],
        ["its peak, GiB", "2", "", gib(searched)],
        ["score, time / isolation forest's", "1", "1/3", f"{score['ours'] / score['forest']:.2f}"],
        ["fit 1,000,000 x 10, peak GiB", "6", "", gib(million)],
        ["its time / that of 100,000", "", "12", f"{million['fit'] / plain['fit']:.1f}"],
        *spanning_trees(),
        *streamed(),
        *spread(),
    ]))  # fmt: skip


def gib(found):
    return f"{found['peak'] / 2**30:.2f}"


def spanning_trees():
    import point_tree

    point_tree.compile_both()
    for n, rounds, must, aim in ((10_000, 5, "10", "18"), (100_000, 1, "2.5", "5")):
        ratio = point_tree.times_as_fast(n, rounds)
        yield [f"exact spanning tree of {n:,} points, times as fast as fast_hdbscan", must, aim, f"{ratio:.0f}"]


def streamed(n_rows=10_000_000):
    import streaming

    figures = streaming.figures(n_rows, jobs=-1, works=("read", "fit", "score_to_parquet"))
    peak = figures["score_to_parquet"].peak
    slower = figures["score_to_parquet"].processor / figures["read"].processor
    yield [f"score a Parquet file of {n_rows:,} rows, peak MiB", "1024", "", f"{peak:.0f}"]
    yield ["its processor time / that of reading the file", "", "1", f"{slower:.0f}"]


def spread():
    import cluster

    for what, _, _, ratio, by_processor in cluster.two_against_one():
        yield [f"Dask, 2 workers / 1: {what}", "1.7", "1.9", f"{ratio:.2f} ({by_processor:.2f} by processor time)"]


def curve(path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found = [apart("ours", n) for n in SIZES]
    print(table([["n", "fit s", "peak MiB"]] + [
        [f"{n:,}", f"{one['fit']:.2f}", f"{one['peak'] / 2**20:.0f}"] for n, one in zip(SIZES, found, strict=True)
    ]))  # fmt: skip
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    axes[0].loglog(SIZES, [one["fit"] for one in found], "o-", color="#2171b5")
    axes[0].set(title="Time of a fit", xlabel="training patterns", ylabel="seconds")
    axes[1].loglog(SIZES, [max(one["peak"], 2**20) / 2**20 for one in found], "o-", color="#2171b5")
    axes[1].set(title="Memory it adds at its peak", xlabel="training patterns", ylabel="MiB")
    for one in axes:
        one.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--curve")
    parser.add_argument("--one", nargs=3)
    arguments = parser.parse_args()
    if arguments.one:
        who, n, searches = arguments.one
        print(json.dumps(WHO[who](int(n), bool(int(searches)))))
    elif arguments.curve:
        curve(arguments.curve)
    else:
        compare()


if __name__ == "__main__":
    main()
