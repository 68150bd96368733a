"""Fitted model + rows -> explanations and rules, in the language of the data."""

from eocc.base.vocabulary import completed
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
for _name in __all__:
    completed(globals()[_name])
