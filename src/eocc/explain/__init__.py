"""Why a pattern is a target or not, and what the regions say, in the words of the data."""

from eocc.explain.differences import LANGUAGES, Contribution, Difference, Language, Pair
from eocc.explain.explain import differences, explain
from eocc.explain.explanation import Explanation
from eocc.explain.neighbourhoods import Equalised, LocalRatio, Neighbourhoods, NonTargets, Rung, Term
from eocc.explain.regions import Place, Profile, ProfileColumn, TrainingPattern
from eocc.explain.rules import FeatureRange, Rule, rules

__all__ = [
    "LANGUAGES",
    "Contribution",
    "Difference",
    "Equalised",
    "Explanation",
    "FeatureRange",
    "Language",
    "LocalRatio",
    "Neighbourhoods",
    "NonTargets",
    "Pair",
    "Place",
    "Profile",
    "ProfileColumn",
    "Rule",
    "Rung",
    "Term",
    "TrainingPattern",
    "differences",
    "explain",
    "rules",
]
