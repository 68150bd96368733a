"""Speed of the exact spanning tree of points against fast_hdbscan's, as ratios in one run.

python benchmarks/point_tree.py          10,000 points, then 100,000
python benchmarks/point_tree.py --wide   also rows of 256 columns, against the complete graph

fast_hdbscan is asked for min_samples=1: its core distances are then 0 and its tree is the plain Euclidean one, but in
single precision, and uses all cores; ours uses one. Compiling is left out on both sides.
"""

import argparse
from functools import partial

import numpy as np
from fast_hdbscan.hdbscan import compute_minimum_spanning_tree
from timing import least_seconds, seconds, table

from eocc.base.threads import one_blas_thread
from eocc.entropic.graph import point_spanning_tree, spanning_tree
from eocc.measures.euclidean import euclidean_pairwise_distance


def normal(n, d=10):
    return np.random.default_rng(0).normal(size=(n, d))


def compile_both():
    for d in (10, 256):
        point_spanning_tree(normal(300, d))
    compute_minimum_spanning_tree(normal(300), min_samples=1)


def timed_trees(X):
    """Seconds of each, ours first; both trees must have one length, as far as single precision goes."""
    totals = []

    def ours():
        totals.append(point_spanning_tree(X).lengths.sum())

    def theirs():
        totals.append(compute_minimum_spanning_tree(X, min_samples=1)[0][:, 2].sum())

    times = seconds(ours), seconds(theirs)
    assert np.isclose(*totals, rtol=1e-5)
    return times


def rounds_of(n, rounds):
    """Without a round unmeasured: compile_both has run, and one of theirs may take a minute."""
    X = normal(n)
    return [timed_trees(X) for _ in range(rounds)]


def against_fast_hdbscan(n, rounds, must, aim):
    times = rounds_of(n, rounds)
    mine, other = (min(column) for column in zip(*times, strict=True))
    ratios = ", ".join(f"{b / a:.1f}" for a, b in times)
    what = f"n = {n:,}, d = 10, against fast_hdbscan"
    return [what, f"{mine:.2f} s", f"{other:.2f} s", must, aim, f"{other / mine:.1f} x (each round: {ratios})"]


def complete_graph(X):
    spanning_tree(euclidean_pairwise_distance(X - X.mean(axis=0), 1.0))


def against_complete_graph(n, d):
    X = normal(n, d)
    with one_blas_thread():
        mine, other = least_seconds([partial(point_spanning_tree, X), partial(complete_graph, X)], 2)
    what = f"n = {n:,}, d = {d}, one thread, against our complete graph"
    return [what, f"{mine:.2f} s", f"{other:.2f} s", "", "", f"{other / mine:.1f} x"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--wide", action="store_true", help="also time rows of 256 columns")
    arguments.add_argument("--large-rounds", type=int, default=2, help="rounds with 100,000 points")
    wanted = arguments.parse_args()
    compile_both()
    rows = [against_fast_hdbscan(10_000, 5, "10 x", "18 x")]
    if wanted.large_rounds > 0:
        rows.append(against_fast_hdbscan(100_000, wanted.large_rounds, "2.5 x", "5 x"))
    if wanted.wide:
        rows += [against_complete_graph(5_000, 30), against_complete_graph(5_000, 256)]
    print(table([["spanning tree of points", "ours", "theirs", "must", "aim", "measured"], *rows]))


if __name__ == "__main__":
    main()
