"""The nearest neighbour."""

from typing import Any

from eocc.rivals.k_nearest_neighbours import KNearestNeighbours


class NearestNeighbour(KNearestNeighbours):
    """Distance to the nearest target: score_samples is minus that distance.

    `KNearestNeighbours` with k = 1. The threshold comes from distances to the other targets, but a training target
    scored again is at distance 0 from itself, so predict accepts every training target.
    Paper: Tax, One-class classification (2001), section 3.4.2, whose nndd divides by the neighbour's own distance;
    the published comparison's figures are those of the plain distance.
    Good at: any shape, any dissimilarity, clean small samples. Bad at: outliers among the training targets, whose
    surroundings are all accepted.
    Automatic: nothing to choose.
    """

    def __init__(self, *, metric: Any = "euclidean", rejection_rate: float = 0.05) -> None:
        super().__init__(k=1, metric=metric, rejection_rate=rejection_rate)
