"""The minimum spanning tree of the targets."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Matrix
from eocc.graph.complete import spanning_tree
from eocc.kernels.point_to_edges import lower_to_edges, lower_to_triangles
from eocc.rivals.base import DistanceRival
from eocc.rivals.distances import EuclideanRows

Vertices = NDArray[np.int64]


class SpanningTreeDescription(DistanceRival):
    """Distance to the targets' minimum spanning tree: score_samples is minus that to the nearest point of any edge.

    With metric="euclidean" an edge is the segment between its two targets: the distance is that to the foot of the
    perpendicular, or to the nearer end where the foot lies outside. Any other metric gives three distances for a
    pattern and an edge; they make a triangle in the plane, whose height over the edge is taken instead. It is the same
    number where the distances are Euclidean. Where the triangle inequality fails the height is 0: such a pattern is
    nearer to one end than half the edge.
    Training scores are distances to the other targets and to the edges that do not end in the pattern. A tree without
    one of its leaves is the tree of the rest, so for leaves this is leave-one-out; for the others it leaves out the
    edges that would close the gap, and is never below it. Scored again, a training target lies on the tree: predict
    accepts every one. `tree_` holds the edges.
    Paper: Juszczak, Tax, Pękalska, Duin, Minimum spanning tree based one-class classifier (2009); dd_tools' mst_dd.
    Good at: few targets, many features, targets along curves. Bad at: outliers among the training targets, which the
    tree reaches out to; clusters far apart, whose joining edge is taken for target.
    Automatic: nothing to choose.

    >>> tree = SpanningTreeDescription().fit([[0.0, 0.0], [4.0, 0.0], [4.0, 9.0]])
    >>> tree.score_samples([[2.0, 1.0], [7.0, 13.0]])
    array([-1., -5.])
    """

    def __init__(self, *, metric: Any = "euclidean", rejection_rate: float = 0.05) -> None:
        self.metric = metric
        self.rejection_rate = rejection_rate

    def _learn(self, D: Matrix) -> Matrix:
        # A measure may differ by rounding between (i, j) and (j, i); where it does not, the mean changes nothing.
        symmetric = D / 2 + D.T / 2
        np.fill_diagonal(symmetric, 0.0)
        self.tree_ = spanning_tree(symmetric)
        if len(D) == 1:  # nothing is left to be far from
            return np.zeros(1)
        np.fill_diagonal(symmetric, np.inf)
        own = np.arange(len(D))
        if not isinstance(self.metric_, EuclideanRows):
            return self._minus_height(symmetric, own)
        return self._minus_distance(self.prototypes_, symmetric, own)

    def _score_block(self, patterns: Any) -> Matrix:
        D = self._distances(patterns)
        if not isinstance(self.metric_, EuclideanRows):
            return self._score(D)
        return self._minus_distance(patterns, D, own=np.full(len(D), -1))

    def _score(self, D: Matrix) -> Matrix:
        return self._minus_height(D, own=np.full(len(D), -1))

    def _minus_distance(self, patterns: Matrix, D: Matrix, own: Vertices) -> Matrix:
        nearest: Matrix = D.min(axis=1)
        lower_to_edges(patterns, own, self.prototypes_, self.tree_.edges, nearest)
        return -nearest

    def _minus_height(self, D: Matrix, own: Vertices) -> Matrix:
        nearest: Matrix = D.min(axis=1)
        lower_to_triangles(np.ascontiguousarray(D), own, self.tree_.edges, self.tree_.lengths, nearest)
        return -nearest
