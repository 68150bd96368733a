"""The minimum spanning tree of the targets."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Matrix
from eocc.graph.complete import spanning_tree
from eocc.kernels.point_to_edges import lower_to_edges, lower_to_triangles
from eocc.rivals.base import DistanceRival
from eocc.rivals.distances import EuclideanRows


class SpanningTreeDescription(DistanceRival):
    """Distance to the targets' minimum spanning tree: score_samples is minus that to the nearest point of any edge.

    With metric="euclidean" an edge is the segment between its two targets: the distance is that to the foot of the
    perpendicular, or to the nearer end if the foot lies outside. Any other metric gives three distances for a pattern
    and an edge; the distance is the height over the edge of the triangle with these sides, which is the same number if
    the distances are Euclidean, and 0 if the triangle inequality fails. `tree_` holds the edges.
    Training scores are distances to the other targets and to the edges that do not end in the pattern. For leaves of
    the tree this is leave-one-out; for other targets it is never smaller. Scored again, a training target lies on the
    tree, so predict accepts every training target.
    Paper: Juszczak, Tax, Pękalska, Duin, Minimum spanning tree based one-class classifier (2009); dd_tools' mst_dd.
    Good at: few targets, many features, targets along curves. Bad at: outliers among the training targets, which the
    tree reaches out to; clusters far apart, whose joining edge counts as target.
    Automatic: nothing to choose.

    >>> tree = SpanningTreeDescription().fit([[0.0, 0.0], [4.0, 0.0], [4.0, 9.0]])
    >>> tree.score_samples([[2.0, 1.0], [7.0, 13.0]])
    array([-1., -5.])
    """

    def _learn(self, D: Matrix) -> Matrix:
        # A measure may differ by rounding between (i, j) and (j, i); otherwise the mean changes nothing.
        symmetric = D / 2 + D.T / 2
        np.fill_diagonal(symmetric, 0.0)
        self.tree_ = spanning_tree(symmetric)
        if len(D) == 1:
            return np.zeros(1)
        np.fill_diagonal(symmetric, np.inf)
        return self._minus_distance(symmetric, self.prototypes_, own=np.arange(len(D)))

    def _score_block(self, patterns: Any) -> Matrix:
        return self._score(self._distances(patterns), patterns)

    def _score(self, D: Matrix, patterns: Any = None) -> Matrix:
        return self._minus_distance(D, patterns, own=np.full(len(D), -1))

    def _minus_distance(self, D: Matrix, patterns: Any, own: NDArray[np.int64]) -> Matrix:
        nearest: Matrix = D.min(axis=1)
        if isinstance(self.metric_, EuclideanRows):
            lower_to_edges(patterns, own, self.prototypes_, self.tree_.edges, nearest)
        else:
            lower_to_triangles(np.ascontiguousarray(D), own, self.tree_.edges, self.tree_.lengths, nearest)
        return -nearest
