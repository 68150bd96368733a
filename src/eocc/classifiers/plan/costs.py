"""A measure -> what it takes to compare n patterns with r prototypes: matrices of doubles, and seconds a pair."""

from dataclasses import dataclass
from typing import Any

from eocc.measures import MEASURES
from eocc.measures.composite import Composite
from eocc.measures.function import FunctionMeasure
from eocc.measures.resolve import resolve_measure

# Seconds are those of one core of 2025, as measured by benchmarks/memory.py: a guess for any other machine.


@dataclass(frozen=True)
class MeasureCost:
    """Memory in matrices of n x r doubles, but for `freezing*`, n x n; `seconds` a pair, and more for its size.

    `kept` from prepare to the end of the fit, `preparing` more while that is done, `evaluating` more than the result
    for one p. `freezing` finds the scale where every pattern is a prototype, `freezing_few` where few are. `numbers` is
    how often a pattern of numbers is held in all, the user's own copy apart. Where a measure `is_euclidean` and
    prototypes are few, what surprises is found a block of patterns at a time. One without weights is not searched.
    """

    kept: float = 0.0
    preparing: float = 0.0
    evaluating: float = 0.0
    freezing: float = 0.0
    freezing_few: float = 0.0
    numbers: float = 0.0
    seconds: float = 1e-9
    seconds_by_size: float = 0.0
    size_power: int = 1
    is_euclidean: bool = False
    has_weights: bool = True

    def seconds_a_pair(self, size: float) -> float:
        """Return the time to compare two patterns of that size: features, symbols, steps, vertices."""
        return self.seconds + self.seconds_by_size * size**self.size_power


EUCLIDEAN = MeasureCost(freezing=1, numbers=3, seconds_by_size=0.15e-9, is_euclidean=True)
COSTS = {
    "cosine-bags": MeasureCost(kept=1, preparing=3, seconds=40e-9, seconds_by_size=5e-9, has_weights=False),
    "dtw": MeasureCost(kept=1, freezing=2, numbers=3, seconds=1e-7, seconds_by_size=0.2e-9, size_power=2),
    "euclidean": EUCLIDEAN,
    "gower": MeasureCost(numbers=4, seconds_by_size=1e-9),
    "graph-edit": MeasureCost(kept=3, seconds=4e-7, seconds_by_size=2e-9, size_power=2),
    "jaccard": MeasureCost(kept=1, preparing=3, seconds=40e-9, seconds_by_size=5e-9, has_weights=False),
    "precomputed": MeasureCost(
        kept=1, preparing=1, freezing=4, freezing_few=4, numbers=1, seconds=20e-9, has_weights=False
    ),
    "standardised": EUCLIDEAN,
    "string-edit": MeasureCost(kept=3, seconds=50e-9, seconds_by_size=0.02e-9, size_power=2),
    "tanimoto": MeasureCost(kept=1, numbers=0.3, seconds=2e-9, seconds_by_size=0.02e-9, has_weights=False),
}
# Python floats in lists before they are an array: 32 bytes each.
FUNCTION = MeasureCost(kept=1, preparing=5, freezing=1, seconds=1e-6, has_weights=False)
# Of a measure of the user's own nothing is known: it is taken to keep one matrix, and to find its scale with another.
UNKNOWN = MeasureCost(kept=1, preparing=1, freezing=1, numbers=2, seconds=1e-6)


def cost_of(measure: Any) -> MeasureCost:
    """Return what a measure costs, by its name or itself; of several parts, the sum.

    >>> cost_of("string-edit").kept, cost_of(lambda a, b: 0.0).kept
    (3, 1)
    """
    if isinstance(measure, str) and measure in COSTS:
        return COSTS[measure]
    known = resolve_measure(measure)
    if isinstance(known, Composite):
        return _sum([cost_of(part) for part in known.measures.values()])
    if isinstance(known, FunctionMeasure):
        return FUNCTION
    return next((COSTS[name] for name, kind in MEASURES.items() if type(known) is kind), UNKNOWN)


def _sum(costs: list[MeasureCost]) -> MeasureCost:
    """Return the cost of a composite, which evaluates one part after another and adds up what they give."""
    names = ("kept", "preparing", "seconds", "seconds_by_size", "freezing_few")
    total = {name: sum(getattr(cost, name) for cost in costs) for name in names}
    largest = {name: max(getattr(cost, name) for cost in costs) for name in ("freezing", "numbers", "evaluating")}
    return MeasureCost(**total, **{**largest, "evaluating": 2 + largest["evaluating"]})
