"""Tax and Müller's consistency (2004): the most complex model that still accepts new targets at the given rate."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.rivals.base import threshold

Tried = TypeVar("Tried")


def folds(n: int, n_folds: int = 10) -> Iterator[tuple[Indices, Indices]]:
    """Yield (kept, held out) indices; every n_folds-th row goes to the same fold, so sorted data are spread too.

    >>> [held.tolist() for _, held in folds(5, 2)]
    [[0, 2, 4], [1, 3]]
    """
    fold = np.arange(n) % min(n, n_folds)
    for index in range(min(n, n_folds)):
        yield np.flatnonzero(fold != index), np.flatnonzero(fold == index)


def most_complex_consistent(
    candidates: Sequence[Tried], scores_of: Callable[[Tried, Indices], Matrix], n: int, rejection_rate: float
) -> Tried:
    """Return the last of `candidates`, simplest first, before targets held out in ten folds are rejected too often.

    `scores_of`(candidate, kept) returns the scores of all n targets by the model fitted to the kept ones. A held-out
    target is rejected if it scores below the threshold of the kept ones, which are scored as fitted. Too often means
    more than two standard deviations of a binomial above the rejection rate. The first candidate is not tested.

    >>> most_complex_consistent([1, 2, 3], lambda c, kept: np.isin(np.arange(100), kept) >= c - 2, 100, 0.05)
    2
    """
    limit = rejection_rate + 2 * np.sqrt(max(rejection_rate, 1 / n) * (1 - rejection_rate) / n)
    chosen = candidates[0]
    for candidate in candidates[1:]:
        n_rejected = 0
        for kept, held_out in folds(n):
            scores = scores_of(candidate, kept)
            n_rejected += int((scores[held_out] < threshold(scores[kept], rejection_rate)).sum())
        if n_rejected / n > limit:
            break
        chosen = candidate
    return chosen
