"""Why a pattern is a target or not, and what the regions say, in the words of the data."""

from eocc.explanations.differences import LANGUAGES, Contribution, Difference, Language, Pair
from eocc.explanations.explain import differences, explain
from eocc.explanations.explanation import Explanation
from eocc.explanations.regions import Place, Profile, ProfileColumn, TrainingPattern
from eocc.explanations.rules import FeatureRange, Rule, rules

__all__ = [
    "LANGUAGES",
    "Contribution",
    "Difference",
    "Explanation",
    "FeatureRange",
    "Language",
    "Pair",
    "Place",
    "Profile",
    "ProfileColumn",
    "Rule",
    "TrainingPattern",
    "differences",
    "explain",
    "rules",
]
