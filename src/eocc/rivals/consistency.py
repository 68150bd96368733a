"""Tax and Müller's consistency (2004): the most complex model that still accepts new targets as it promised."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Candidate = TypeVar("Candidate")


def folds(n: int, n_folds: int = 10) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield (kept, held out) indices; every n_folds-th row goes to the same fold, so sorted data are spread too.

    >>> [held.tolist() for _, held in folds(5, 2)]
    [[0, 2, 4], [1, 3]]
    """
    fold = np.arange(n) % min(n, n_folds)
    for index in range(min(n, n_folds)):
        yield np.flatnonzero(fold != index), np.flatnonzero(fold == index)


def most_complex_consistent(
    candidates: Sequence[Candidate], held_out_error: Callable[[Candidate], float], n: int, rejection_rate: float
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
        if held_out_error(candidate) > limit:
            break
        chosen = candidate
    return chosen
