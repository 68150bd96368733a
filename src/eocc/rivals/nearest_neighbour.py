"""The nearest neighbour."""

from typing import Any

from eocc.rivals.k_nearest_neighbours import KNearestNeighbours


class NearestNeighbour(KNearestNeighbours):
    """Distance to the nearest target: score_samples is minus that distance.

    `KNearestNeighbours` with k = 1: no assumption on the shape of the targets, and nothing to choose.
    Paper: Tax, One-class classification (2001), section 3.4.2, whose nndd divides by the neighbour's own distance;
    the published comparison's figures are those of the plain distance.
    The threshold is taken from distances to the other targets. Scored again, a training target is at distance 0 from
    itself: predict accepts every one.
    Good at: any shape, any dissimilarity, clean small samples. Bad at: outliers among the training targets, each of
    which brings a neighbourhood of its own.
    Automatic: nothing to choose.

    >>> NearestNeighbour().fit([[0.0], [1.0], [3.0]]).score_samples([[5.0]])
    array([-2.])
    """

    def __init__(self, *, metric: Any = "euclidean", rejection_rate: float = 0.05) -> None:
        super().__init__(k=1, metric=metric, rejection_rate=rejection_rate)
