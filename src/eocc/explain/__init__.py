"""Fitted model + rows -> explanations and rules, in the language of the data."""

from typing import TYPE_CHECKING

from eocc.base.registry import Registry

if TYPE_CHECKING:
    from eocc.explain.by_neighbours import NeighbourExplanation, explain_by_neighbours
    from eocc.explain.by_regions import RegionExplanation, explain_by_regions
    from eocc.explain.explanation import Explanation, differences, explanations_frame
    from eocc.explain.fitted import TrainingRow, reach_of
    from eocc.explain.reasons import Reason
    from eocc.explain.rules import Rule, rules_of
    from eocc.measures.difference import Contribution, Difference, Pair

__all__ = [
    "Contribution", "Difference", "Explanation", "NeighbourExplanation",
    "Pair", "Reason", "RegionExplanation", "Rule", "TrainingRow", "differences", "explain_by_neighbours",
    "explain_by_regions", "explanations_frame", "reach_of", "rules_of",
]  # fmt: skip

__getattr__, _ = Registry("eocc", {}).exports(
    "explain.by_neighbours.NeighbourExplanation", "explain.by_neighbours.explain_by_neighbours",
    "explain.by_regions.RegionExplanation", "explain.by_regions.explain_by_regions",
    "explain.explanation.Explanation", "explain.explanation.differences", "explain.explanation.explanations_frame",
    "explain.fitted.TrainingRow", "explain.fitted.reach_of", "explain.reasons.Reason",
    "explain.rules.Rule", "explain.rules.rules_of",
    "measures.difference.Contribution", "measures.difference.Difference", "measures.difference.Pair",
)  # fmt: skip
