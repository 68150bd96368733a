"""Speed of dynamic time warping against dtaidistance's C, one thread each, as ratios in one run.

python benchmarks/dtw.py
"""

import itertools
from functools import partial

import numpy as np
from dtaidistance import dtw, dtw_ndim
from timing import least_seconds, table

from eocc.measures.series import DTW

BAND = 0.1


def walks(n, length, channels=1):
    return np.random.default_rng(0).normal(size=(n, length, channels)).cumsum(axis=1)


def window(*lengths):
    """The band in dtaidistance's count, in which 1 is the diagonal alone."""
    return round(BAND * max(lengths)) + 1


def ours(X):
    """All pairs, the laying out included."""
    measure = DTW(BAND)
    series = measure.read(X)
    fitted, p = measure.fit(series), np.ones(series[0].shape[1])
    return lambda: fitted.prepare(series).evaluate(p) * fitted.delta


def row(what, X, theirs, rounds):
    n = len(X)
    pairs = n * (n - 1) / 2
    work = ours(X)
    upper = np.triu_indices(n, 1)
    assert np.allclose(work()[upper], theirs()[upper])
    mine, other = (seconds / pairs * 1e6 for seconds in least_seconds([work, theirs], rounds))
    return [what, f"{mine:.2f}", f"{other:.2f}", "0.67 x", f"{other / mine:.1f} x"]


def equal_lengths_row(length, n, rounds):
    X = walks(n, length)
    theirs = partial(dtw.distance_matrix_fast, X[:, :, 0].copy(), window=window(length), parallel=False)
    return row(f"length {length}, {n} series", X, theirs, rounds)


def channels_row(length, n, channels, rounds):
    X = walks(n, length, channels)
    theirs = partial(dtw_ndim.distance_matrix_fast, X, window=window(length), parallel=False)
    return row(f"length {length}, {channels} channels, {n} series", X, theirs, rounds)


def unequal_lengths_row(length, n, rounds):
    """No two of one length: every group of lanes holds a single series, the worst case."""
    X = [walk[: length - n // 2 + i, 0].copy() for i, walk in enumerate(walks(n, 2 * length))]

    def theirs():
        distances = np.zeros((n, n))
        for i, j in itertools.combinations(range(n), 2):
            distances[i, j] = dtw.distance_fast(X[i], X[j], window=window(len(X[i]), len(X[j])))
        return distances

    return row(f"lengths {len(X[0])} to {len(X[-1])}, all different, {n} series", X, theirs, rounds)


def main():
    rows = [
        equal_lengths_row(50, 200, 10),
        equal_lengths_row(200, 100, 6),
        equal_lengths_row(1000, 32, 4),
        channels_row(200, 100, 3, 6),
        unequal_lengths_row(200, 60, 6),
    ]
    print(table([["band 10 %, one thread", "µs per pair", "dtaidistance's C", "must", "measured"], *rows]))


if __name__ == "__main__":
    main()
