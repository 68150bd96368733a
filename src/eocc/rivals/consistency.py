"""Tax and Müller's consistency (2004): the most complex model that still accepts new targets at the given rate."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.rivals.base import threshold

Candidate = TypeVar("Candidate")


def folds(n: int, n_folds: int = 10) -> Iterator[tuple[Indices, Indices]]:
    """Yield (kept, held out) indices; every n_folds-th row goes to the same fold, so sorted data are spread too.

    >>> [held.tolist() for _, held in folds(5, 2)]
    [[0, 2, 4], [1, 3]]
    """
    fold = np.arange(n) % min(n, n_folds)
    for index in range(min(n, n_folds)):
        yield np.flatnonzero(fold != index), np.flatnonzero(fold == index)


def held_out_error(n: int, rejection_rate: float, scores_from: Callable[[Indices], Matrix]) -> float:
    """Return the fraction of n targets, at least 2, that a model fitted without them rejects, in ten folds.

    `scores_from`(kept) are the scores of all n by the model of the kept ones. The threshold is on the scores of those
    as fitted: they are the promise that consistency puts to the test, so nothing is left out of them.

    >>> values = np.array([0.0, 1.0, 2.0, 9.0])
    >>> held_out_error(4, 0.0, lambda kept: -abs(values - values[kept].mean()))
    0.25
    """
    n_rejected = 0
    for kept, held_out in folds(n):
        scores = scores_from(kept)
        n_rejected += int((scores[held_out] < threshold(scores[kept], rejection_rate)).sum())
    return n_rejected / n


def most_complex_consistent(
    candidates: Sequence[Candidate], error: Callable[[Candidate], float], n: int, rejection_rate: float
) -> Candidate:
    """Return the last of `candidates`, simplest first, before held-out targets are rejected too often.

    Too often is more than two standard deviations of a binomial above the rejection rate; the first candidate is taken
    whatever its error.

    >>> most_complex_consistent([1, 2, 3, 4], lambda c: 0.04 * c, n=100, rejection_rate=0.05)
    2
    """
    limit = rejection_rate + 2 * np.sqrt(max(rejection_rate, 1 / n) * (1 - rejection_rate) / n)
    chosen = candidates[0]
    for candidate in candidates[1:]:
        if error(candidate) > limit:
            break
        chosen = candidate
    return chosen
