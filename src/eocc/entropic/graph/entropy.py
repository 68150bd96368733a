"""Spanning tree -> Rényi entropy of the patterns in the dissimilarity space.

The estimate from the length of an entropic graph is that of Hero and Michel (Asymptotic theory of greedy approximations
to minimal k-point random graphs, 1999), explained by Hero, Ma, Michel and Gorman (Applications of entropic spanning
graphs, 2002). Livi and Alippi (One-class classifiers based on entropic spanning graphs, 2017) build another classifier.
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike


def renyi_order(n_dims: int, gamma: float) -> float:
    """Return alpha = (d - gamma) / d, the order of the Rényi entropy, d = `n_dims`; gamma must lie in (0, d).

    >>> renyi_order(40, gamma=20)
    0.5
    """
    if not 0 < gamma < n_dims:
        raise ValueError(f"gamma must lie in (0, d), with d = {n_dims} the number of prototypes; not {gamma}")
    return (n_dims - gamma) / n_dims


def normalized_entropy(lengths: ArrayLike, gamma: float = 0.02) -> float:
    """Return L / (n - 1), L = sum |e|^gamma: in [0, 1] for lengths in [0, 1], increasing in the entropy.

    The entropy of a single pattern is 0. departure: entropy in the objective.

    >>> normalized_entropy([1.0, 0.0], gamma=0.5)
    0.5
    """
    lengths = np.asarray(lengths, dtype=np.float64)
    return float(np.sum(lengths**gamma) / len(lengths)) if len(lengths) else 0.0


def renyi_entropy(lengths: ArrayLike, n_dims: int, gamma: float = 0.02) -> float:
    """Return the Rényi entropy of order alpha = (d - gamma) / d, estimated from a spanning tree.

    H = (d / gamma) [ln(L / n^alpha) - (gamma / 2) ln(d / (2 pi e))], with n - 1 `lengths` and d = `n_dims`.
    If all patterns are equal, the entropy is -inf.

    >>> round(renyi_entropy([0.5, 0.5, 0.5], n_dims=2, gamma=1.0), 6)
    1.569366
    """
    lengths, alpha = np.asarray(lengths, dtype=np.float64), renyi_order(n_dims, gamma)
    n = len(lengths) + 1
    with np.errstate(divide="ignore"):  # powers may underflow where gamma is large, so their sum is taken in logs
        log_length = scipy.special.logsumexp(gamma * np.log(lengths)) if len(lengths) else -np.inf
    # The printed formula takes the logarithm of this term once more. departure: constant of the entropy
    log_beta = gamma / 2 * np.log(n_dims / (2 * np.pi * np.e))
    return float(n_dims / gamma * (log_length - alpha * np.log(n) - log_beta))
