"""Speed of Algorithm 2, as ratios in one run.

python benchmarks/validation.py    the table of docs/results/scale.md
"""

from functools import partial

import numpy as np
from core import SYNTHESIS, Candidate, D, patterns
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from timing import least_seconds, seconds, table

from eocc.base.threads import one_blas_thread
from eocc.entropic.regions import accuracy, performance_curve
from eocc.entropic.rules import BOUNDARY, mean_extent
from eocc.entropic.synthesis import ValidationSynthesis, embed
from eocc.space.representation import Representation

N, M = 1000, 300


def rebuilt_accuracy(distances, tree, rows, validation, k):
    """The accuracy of the partition into k clusters, its regions built anew with numpy."""
    n, scale = len(distances), 1 / np.sqrt(rows.shape[1])
    i, j = tree.edges[k - 1 :].T
    labels = connected_components(coo_array((np.ones(len(i)), (i, j)), shape=(n, n)), directed=False)[1]
    ratios = np.empty((len(validation), k))
    for cluster in range(k):
        members = np.flatnonzero(labels == cluster)
        inside = distances[np.ix_(members, members)]
        medoid = members[inside.sum(axis=1).argmin()]
        m = len(members)
        extent = inside.sum() / (m * (m - 1)) if m > 1 else tree.lengths.mean()
        away = np.sqrt(((validation - rows[medoid]) ** 2).sum(axis=1)) * scale
        ratios[:, cluster] = away / extent
    return ((ratios.min(axis=1) <= BOUNDARY) == (np.arange(len(validation)) < M // 2)).mean()


def main():
    candidate = Candidate(N)
    targets, others = patterns(M // 2, seed=1), patterns(M // 2, seed=2) * 1.5 + 1
    synthesis = ValidationSynthesis(0.5, 0.5, SYNTHESIS.gamma, accuracy, mean_extent, targets, others)
    assess = synthesis.assessor(
        Representation(candidate.measure, candidate.X, candidate.X, np.arange(len(candidate.X)), is_whole=True)
    )

    def validated():
        return assess(candidate.p, embed(candidate.prepared, candidate.p, candidate.workspace))

    with one_blas_thread():
        one, two = least_seconds([candidate.evaluate, validated], 30)
        graph = embed(candidate.prepared, candidate.p, candidate.workspace)
        rows = np.vstack([candidate.measure.prepare(X, candidate.X).evaluate(candidate.p) for X in (targets, others)])
        validation = rows - graph.space.means
        curve = performance_curve(graph, validation, M // 2, mean_extent, accuracy)
        # Every 37th partition, and from their mean time all of them.
        some = range(2, N + 1, 37)
        rebuild = partial(rebuilt_accuracy, graph.distances, graph.tree, graph.space.rows, validation)
        assert np.allclose([rebuild(k) for k in some], [curve[k - 2] for k in some])
        per_partition = np.mean([seconds(partial(rebuild, k)) for k in some])
        pass_ = least_seconds([partial(performance_curve, graph, validation, M // 2, mean_extent, accuracy)], 10)[0]
    rebuilt = one + per_partition * (N - 1)
    print(
        table(
            [
                ["what", "must", "measured"],
                [f"EOCC-2 candidate, n = {N}, {M} validation patterns, all {N - 1} partitions / EOCC-1 candidate",
                 "1.5", f"{two / one:.2f}"],
                ["the same candidate with regions rebuilt by numpy for every partition / EOCC-2 candidate", "300",
                 f"{rebuilt / two:.0f}"],
                ["the partitions alone: rebuilt by numpy / in one pass", "",
                 f"{per_partition * (N - 1) / pass_:.0f}"],
            ]
        )
    )  # fmt: skip
    print(f"\nd = {D}; the rebuilding was timed on {len(some)} of the partitions.")


if __name__ == "__main__":
    main()
