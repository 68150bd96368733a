"""Default fits of SurpriseClassifier against the number of rows, 1,000 to 1,000,000, as a table and a picture.

    python benchmarks/scale.py out.png

Every fit runs in its own process. Peaks are those of the process, less what it holds after a small fit that compiles.
`table.py` compares SurpriseClassifier with its peers.
"""

import argparse
import json

import numpy as np
from timing import apart, peak_bytes, seconds, table

DIMENSIONS = 10
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def rows(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, DIMENSIONS))


def surprise(n):
    """Return the seconds of a fit and the bytes that it adds."""
    from eocc import SurpriseClassifier

    X, model = rows(n), SurpriseClassifier(n_jobs=2)
    model.fit(rows(3_000))
    before = peak_bytes()
    return seconds(lambda: model.fit(X)), peak_bytes() - before


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
    parser.add_argument("picture", nargs="?", default="scale.png")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.work:
        print(json.dumps(surprise(*json.loads(wanted.work[1]))))
    else:
        curve(wanted.picture)


if __name__ == "__main__":
    main()
