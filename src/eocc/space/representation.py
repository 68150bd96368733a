"""Training patterns -> the fitted measure, the prototypes, and the weightings.

Weights p have up to two weightings: p itself, and p with equalised variances.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np

from eocc.base.checks import indices, numbers, real
from eocc.base.types import ROUNDING, TINY, Indices, Matrix
from eocc.measures.base import LinearPrepared
from eocc.measures.protocol import FittedMeasure, Measure, Prepared, prepare
from eocc.space.prototypes.selections import Selection, count_of, select_prototypes


@dataclass(frozen=True, eq=False)
class Representation:
    """Patterns and prototypes: prototype j is pattern prototype_indices[j]. `is_whole`: all patterns are prototypes."""

    measure: FittedMeasure
    patterns: Any
    prototypes: Any
    prototype_indices: Indices
    is_whole: bool

    @cached_property
    def prepared(self) -> Prepared:
        """All patterns compared with the prototypes; computed once, on the cluster in use if there is one."""
        return prepare(self.measure, self.patterns, None if self.is_whole else self.prototypes)


def represent(
    patterns: Any,
    measure: Measure,
    prototypes: int | float | None,
    selection: str | Selection,
    rng: np.random.Generator,
) -> Representation:
    """Fit the measure and choose the prototypes: all patterns (None), a number or a fraction of them.

    A measure with a scale is scaled by the largest dissimilarity to a prototype. While the prototypes are chosen, it is
    scaled by the largest dissimilarity to one pattern: at least half of any other, by the triangle inequality.
    """
    n = len(patterns)
    count = count_of(prototypes, n)
    if count == n:
        return Representation(measure.fit(patterns), patterns, patterns, np.arange(n), is_whole=True)
    # Not drawn from rng, so that the prototypes of a seed do not depend on whether the measure has a scale.
    reference = np.random.default_rng(0).integers(n, size=1)
    fitted = measure.fit_against(patterns, patterns[reference])
    prototype_indices = select_prototypes(selection, fitted, patterns, count, rng)
    chosen = patterns[prototype_indices]
    return Representation(measure.fit_against(patterns, chosen), patterns, chosen, prototype_indices, is_whole=False)


def check_measure(measure: FittedMeasure, prepared: Prepared, out: Matrix) -> None:
    """Raise a ValueError unless the training dissimilarities at p = 1 have the right shape and lie in [0, 1]."""
    D = np.asarray(prepared.evaluate(np.ones(measure.n_parameters), out))
    name = measure.called
    if D.shape != out.shape:
        raise ValueError(f"{name}: evaluate gave shape {D.shape} for {len(out)} patterns and {out.shape[1]} prototypes")
    least, most = float(D.min()), float(D.max())
    if not (np.isfinite(least) and np.isfinite(most)):
        raise ValueError(f"{name}: evaluate gave NaN or infinity at p = 1")
    if least < 0 or most > 1 + 1e-9:
        odd = least if least < 0 else most
        raise ValueError(f"{name}: training dissimilarities must lie in [0, 1], but {odd:g} occurs; scale in fit")


# The contribution of a weight in which d is not linear is averaged over a random sample of at most this many patterns.
SAMPLE = 400
# A contribution below this share of a column's values, or of the whole, is a rounding error.
UNINFORMATIVE = 1e-12
# A pattern that carries more than this share of the contribution of a weight does not take part in its own weighting.
LEVERAGE = 0.1


class LeftOutWeights(NamedTuple):
    """The equalised `weights` (h, u) of patterns `rows` (h,), each without that pattern. d^`power` is linear in p."""

    rows: Annotated[Indices, indices("h", "r", rising=True)]
    weights: Annotated[Matrix, numbers("h u", "[0, inf)")]
    power: Annotated[float, real("(0, 1e300]")]


def no_left_out_weights(n_weights: int) -> LeftOutWeights:
    """Return those of no pattern."""
    return LeftOutWeights(np.empty(0, np.int64), np.empty((0, n_weights)), 2.0)


def checked_weights(weights: Any, measure: FittedMeasure) -> Matrix:
    """Return p as an array; raise a ValueError for invalid weights."""
    n_parameters = measure.n_parameters
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
        raise ValueError("weights must not all be 0: all dissimilarities would be 0")
    return p


def fit_weightings(representation: Representation, p: Matrix) -> tuple[Matrix, LeftOutWeights]:
    """Return the weightings (v, u): p, and p equalised so that all weights contribute equally to the dissimilarities.

    All patterns are prototypes. The contribution of a weight is the loss of mean d(x, y; p)^a without it, over pairs.
    d^a is linear in p, with a = 2 for Euclidean distances. Equalised p_k are proportional to 1 / mean d(x, y; e_k)^a;
    for rows of numbers, to 1 / (variance of column k). The largest is 1. A weight of 0, or without contribution, is 0.
    If equalising changes nothing, only p is returned.

    Return also the equalised weights of the patterns without which they are different. A pattern that is extreme in a
    column lowers the weight of that column, and looks more normal than a new one would. If the weights come from a
    sample of the patterns, none of them matters much.
    """
    n, shares, power = len(representation.patterns), None, 2.0
    if len(p) < 2:
        return p[None].copy(), no_left_out_weights(len(p))
    if representation.measure.coordinates is not None:
        contributions, shares = _of_columns(representation, p)
    else:
        contributions = _contributions(representation, p)
    active = contributions > 0
    if not active.any() or contributions[active].min() > (1 - ROUNDING) * contributions[active].max():
        return p[None].copy(), no_left_out_weights(len(p))
    equalised = np.zeros(len(p))
    equalised[active] = p[active] / contributions[active]
    equalised /= equalised.max()
    weightings = np.vstack([p, equalised])
    if n < 3 or (shares is None and n > SAMPLE):
        return weightings, no_left_out_weights(len(p))
    if shares is None:
        shares, power = _pair_shares(representation.prepared, p)
    rows = np.unique(np.nonzero((shares > LEVERAGE) & (equalised > 0))[0])
    left = 1 - shares[rows] * n / (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(left > ROUNDING, equalised * (n - 1) / n / left, 0.0)
    return weightings, LeftOutWeights(rows, weights, power)


def _of_columns(representation: Representation, p: Matrix) -> tuple[Matrix, Matrix]:
    """Return the contribution of each weight to the mean of d^2, up to a factor: its share of the variance.

    Return also the share of each row in the sum of squares of each column (n, u).
    """
    unit = representation.measure.unit  # type: ignore[attr-defined]
    columns = unit.measure(representation.patterns)
    spreads = columns.std(axis=0)
    # The deviation of a constant column is a rounding error of its values.
    with np.errstate(over="ignore"):
        sizes = np.ldexp(np.abs(representation.patterns).max(axis=0), -unit.exponent) / getattr(unit, "spreads", 1.0)
    spreads = np.where(spreads > UNINFORMATIVE * sizes, spreads, 0.0)
    # Relative to the largest spread, so that the squares of tiny ones do not underflow.
    variances = np.where(spreads > 0, np.maximum(spreads / (spreads.max() or 1.0), TINY**0.5), 0.0) ** 2
    columns -= columns.mean(axis=0)
    columns /= np.abs(columns).max(axis=0, initial=TINY**0.5)
    columns *= columns
    return p * variances, columns / np.maximum(columns.sum(axis=0), 1.0)


def _pair_shares(pairs: Prepared, p: Matrix) -> tuple[Matrix, float]:
    """Return the shares (n, u) of pairs of patterns: that of the pairs of a pattern, less 1 / n; and the power."""
    power, shares = float(_power(pairs, p)), []
    for k in range(len(p)):
        sums = (pairs.evaluate(np.where(np.arange(len(p)) == k, p, 0.0)) ** power).sum(axis=1)
        shares.append(2 * sums / (sums.sum() or 1.0) - 1 / len(sums))
    return np.column_stack(shares), power


def _contributions(representation: Representation, p: Matrix) -> Matrix:
    """Return how much the mean of d^a over pairs falls without each weight."""
    if isinstance(representation.prepared, LinearPrepared) and representation.prepared.weights is None:
        losses = p * representation.prepared.components.mean(axis=(1, 2))
        whole = float(losses.sum())
    else:
        pairs, n = representation.prepared, len(representation.patterns)
        if n > SAMPLE:  # its own generator: the sample does not depend on earlier draws
            some = np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE])
            pairs = representation.measure.prepare(representation.patterns[some], None)
        power = _power(pairs, p)
        whole = _mean(pairs, p, power)
        without = [np.where(np.arange(len(p)) == k, 0.0, p) for k in range(len(p))]
        losses = np.array([whole - _mean(pairs, others, power) for others in without])
    return np.where(losses > UNINFORMATIVE * whole, losses, 0.0)


def _power(pairs: Prepared, p: Matrix) -> int:
    """Return the a for which d^a is linear in p: 2 if p / 4 halves d, otherwise 1."""
    whole, quarter = _mean(pairs, p, 1), _mean(pairs, p / 4, 1)
    return 2 if 0.4 * whole < quarter < 0.6 * whole else 1


def _mean(pairs: Prepared, p: Matrix, power: int) -> float:
    return float(np.mean(pairs.evaluate(p) ** power))
