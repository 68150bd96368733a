"""Weights p -> the views of a dissimilarity: p itself, and p with every weight made equally telling."""

from typing import Any

import numpy as np

from eocc.foundation.types import Matrix
from eocc.measures.protocol import ComparesRows, Prepared
from eocc.space.representation import Representation

# Where pairs are many, what a weight tells is averaged over those of so many training patterns, drawn at random; if few
# are prototypes, over theirs with half as many of these, which are no more pairs.
SAMPLE = 400
# What is this small beside a column's values, or beside all that the weights tell, is nothing but rounding.
SILENT = 1e-12
# The inverse of its square is a finite weight.
LEAST_SHARE = 1e-150
# Two views whose weights are this close to proportional are one.
ALIKE = 1e-3


def checked_weights(weights: Any, n_parameters: int) -> Matrix:
    """Return p as an array, all ones for None, or say what is wrong with it."""
    if weights is None:
        return np.ones(n_parameters)
    try:
        p = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"weights must be numbers, not {weights!r}") from None
    if p.shape != (n_parameters,):
        raise ValueError(f"weights must be {n_parameters} numbers, one per parameter, not of shape {p.shape}")
    outside = p[~((p >= 0) & (p <= 1))]
    if len(outside):
        raise ValueError(f"weights must lie in [0, 1]; found {outside[0]:g}")
    if n_parameters and not p.any():
        raise ValueError("weights must not all be 0: every pattern would look the same")
    return p


def weightings_of(representation: Representation, p: Matrix) -> Matrix:
    """Return the views (v, u): p, and p equalised, in which every weight adds as much to the dissimilarities.

    What a weight adds is what mean d(x, r; p)^a loses without it, over training patterns x and prototypes r; d^a is
    linear in p, a = 2 for Euclidean distances. So equalised p_k are proportional to 1 / mean d(x, r; e_k)^a; of rows of
    numbers, to 1 / the variance of column k. The largest is 1. A weight of 0 stays 0, and one that adds nothing gets 0.
    There is one view where equalising changes nothing.

    >>> from eocc.measures import Euclidean
    >>> rows = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])
    >>> weightings_of(Representation(Euclidean().fit(rows), rows, rows, np.arange(3), is_whole=True), np.ones(2))
    array([[1.  , 1.  ],
           [1.  , 0.25]])
    """
    if len(p) < 2:
        return p[None].copy()
    added = (
        _added_by_columns(representation, p)
        if isinstance(representation.measure, ComparesRows)
        else _added(representation, p)
    )
    active = added > 0
    if not active.any() or added[active].min() > (1 - ALIKE) * added[active].max():
        return p[None].copy()
    equalised = np.zeros(len(p))
    equalised[active] = p[active] / added[active]
    return np.vstack([p, equalised / equalised.max()])


def _added_by_columns(representation: Representation, p: Matrix) -> Matrix:
    """Return what each weight adds to the mean of d^2, up to a factor: its share of the variance."""
    unit = representation.measure.unit  # type: ignore[attr-defined]
    spreads = unit.measure(representation.patterns).std(axis=0)
    # The deviation of a constant column is the rounding of its values, counted in the unit like them.
    with np.errstate(over="ignore"):
        sizes = np.ldexp(np.abs(representation.patterns).max(axis=0), -unit.exponent) / getattr(unit, "spreads", 1.0)
    spreads = np.where(spreads > SILENT * sizes, spreads, 0.0)
    # Shares of the largest spread: squares of tiny ones must not vanish.
    shares = np.where(spreads > 0, np.maximum(spreads / (spreads.max() or 1.0), LEAST_SHARE), 0.0)
    return np.asarray(p * shares**2)


def _added(representation: Representation, p: Matrix) -> Matrix:
    """Return what the mean of d^a over pairs loses without each weight."""
    pairs = _sampled(representation)
    power = _power(pairs, p)
    whole = _mean(pairs, p, power)
    added = np.array([whole - _mean(pairs, np.where(np.arange(len(p)) == k, 0.0, p), power) for k in range(len(p))])
    return np.where(added > SILENT * whole, added, 0.0)


def _sampled(representation: Representation) -> Prepared:
    """Return the patterns against the prototypes; where these pairs are many, a sample of both."""
    n, r = len(representation.patterns), len(representation.prototype_indices)
    if n * r <= SAMPLE**2:
        return representation.prepared
    draw = np.random.default_rng(0)  # of its own: the same patterns whatever the fit drew before
    some = np.sort(draw.permutation(n)[:SAMPLE])
    if representation.is_whole:
        return representation.measure.prepare(representation.patterns[some])
    return representation.measure.prepare(
        representation.patterns[some], representation.prototypes[np.sort(draw.permutation(r)[: SAMPLE // 2])]
    )


def _power(pairs: Prepared, p: Matrix) -> int:
    """Return the a for which d^a is linear in p: 2 where a quarter of p halves d, else 1."""
    whole, quarter = _mean(pairs, p, 1), _mean(pairs, p / 4, 1)
    return 2 if 0.4 * whole < quarter < 0.6 * whole else 1


def _mean(pairs: Prepared, p: Matrix, power: int) -> float:
    return float(np.mean(pairs.evaluate(p) ** power))
