"""Fitted model + rows -> explanations and rules, in the language of the data."""

from eocc.base.registry import Registry

__getattr__, __all__ = Registry("eocc", {}).exports(
    "explain.by_neighbours.NeighbourExplanation", "explain.by_regions.RegionExplanation",
    "explain.explanation.Explanation", "explain.explanation.TrainingRow", "explain.explanation.differences",
    "explain.reasons.Reason", "explain.rules.Rule",
    "measures.difference.Contribution", "measures.difference.Difference", "measures.difference.Pair",
)  # fmt: skip
