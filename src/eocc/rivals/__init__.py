"""The rivals: the other one-class classifiers of the published comparison, and those in use today.

Each is a scikit-learn outlier estimator: fit(X) on targets, score_samples higher = more normal, predict +1 or -1, and
`rejection_rate`, the fraction of training targets that the threshold may reject. `RIVALS` holds them by name.
"""

from collections.abc import Callable

from eocc.rivals.base import DistanceRival, Rival
from eocc.rivals.gauss import Gauss
from eocc.rivals.k_nearest_neighbours import KNearestNeighbours
from eocc.rivals.nearest_neighbour import NearestNeighbour

__all__ = ["RIVALS", "DistanceRival", "Gauss", "KNearestNeighbours", "NearestNeighbour", "Rival"]

RIVALS: dict[str, Callable[..., Rival]] = {
    "Gauss": Gauss,
    "1-NN": NearestNeighbour,
    "k-NN": KNearestNeighbours,
}
