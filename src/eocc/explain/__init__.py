"""Fitted model + rows -> explanations and rules, in the language of the data."""

from eocc.explain.by_neighbours import (
    Equalised,
    LocalRatio,
    NeighbourExplanation,
    OutlierComparison,
    ProfilePoint,
    Term,
    explain_by_neighbours,
)
from eocc.explain.by_regions import RegionExplanation, explain_by_regions
from eocc.explain.explanation import Explanation
from eocc.explain.pairwise import differences
from eocc.explain.regions import Place, Profile, ProfileColumn, TrainingPattern
from eocc.explain.rules import FeatureRange, Rule, rules_by_neighbours, rules_by_regions
from eocc.measures.difference import Contribution, Difference, Pair

__all__ = [
    "Contribution",
    "Difference",
    "Equalised",
    "Explanation",
    "FeatureRange",
    "LocalRatio",
    "NeighbourExplanation",
    "OutlierComparison",
    "Pair",
    "Place",
    "Profile",
    "ProfileColumn",
    "ProfilePoint",
    "RegionExplanation",
    "Rule",
    "Term",
    "TrainingPattern",
    "differences",
    "explain_by_neighbours",
    "explain_by_regions",
    "rules_by_neighbours",
    "rules_by_regions",
]
