"""Fits of EOCC-1 on the graph of neighbours against PyOD's KNN; default fits against the number of rows, as a picture.

    python benchmarks/scale.py                  100,000 rows, 256 prototypes, with and without a search
    python benchmarks/scale.py --curve out.png  SurpriseClassifier, 1,000 to 1,000,000 rows

Every fit runs in its own process. Peaks are those of the process, less what it holds after a small fit that compiles.
`table.py` compares SurpriseClassifier with its peers.
"""

import argparse
import json

import numpy as np
from timing import apart, peak_bytes, seconds, table

DIMENSIONS, PROTOTYPES, ROWS = 10, 256, 100_000
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def rows(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, DIMENSIONS))


def surprise(n):
    from eocc import SurpriseClassifier

    return measured(SurpriseClassifier(n_jobs=2), n)


def entropic(n, searches):
    from eocc import EntropicOneClassClassifier
    from eocc.entropic.search import GeneticSearch

    search = GeneticSearch(population_size=30, max_generations=10, patience=10) if searches else None
    return measured(
        EntropicOneClassClassifier(graph="knn", search=search, prototypes=PROTOTYPES, random_state=0, n_jobs=2), n
    )


def knn(n):
    from pyod.models.knn import KNN

    return measured(KNN(), n)


def measured(model, n):
    """Return the seconds of a fit and the bytes that it adds."""
    X = rows(n)
    model.fit(rows(3_000))
    before = peak_bytes()
    return seconds(lambda: model.fit(X)), peak_bytes() - before


WORKS = {work.__name__: work for work in (surprise, entropic, knn)}


def compare():
    models = {
        "EOCC-1, knn graph, 300 candidates": apart(__file__, "entropic", ROWS, True),
        "EOCC-1, knn graph, no search": apart(__file__, "entropic", ROWS, False),
        "PyOD KNN": apart(__file__, "knn", ROWS),
    }
    cells = [[name, f"{time:.1f}", f"{peak / 2**30:.2f}"] for name, (time, peak) in models.items()]
    print(table([[f"model, {ROWS:,} rows", "fit s", "peak GiB"], *cells]))
    (searched, _), _, (peer, _) = models.values()
    print(f"\nthe first / the last: {searched / peer:.2f} (must 1, aim 1/3)")


def curve(path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    times, peaks = zip(*(apart(__file__, "surprise", n) for n in SIZES), strict=True)
    mebibytes = [max(peak, 2**20) / 2**20 for peak in peaks]
    cells = [[f"{n:,}", f"{time:.2f}", f"{peak:.0f}"] for n, time, peak in zip(SIZES, times, mebibytes, strict=True)]
    print(table([["n", "fit s", "peak MiB"], *cells]))
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    axes[0].loglog(SIZES, times, "o-", color="#2171b5")
    axes[0].set(title="Time of a fit", xlabel="training rows", ylabel="seconds")
    axes[1].loglog(SIZES, mebibytes, "o-", color="#2171b5")
    axes[1].set(title="Memory it adds at its peak", xlabel="training rows", ylabel="MiB")
    for one in axes:
        one.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curve")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.work:
        print(json.dumps(WORKS[wanted.work[0]](*json.loads(wanted.work[1]))))
    elif wanted.curve:
        curve(wanted.curve)
    else:
        compare()


if __name__ == "__main__":
    main()
