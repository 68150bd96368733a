"""Why a pattern is a target or not, and what the regions say, in the words of the data."""

from eocc.explanations.differences import LANGUAGES, Contribution, Difference, Language, Pair
from eocc.explanations.explain import differences, explain
from eocc.explanations.explanation import Explanation
from eocc.explanations.neighbourhoods import Equalised, LocalRatio, Neighbourhoods, NonTargets, Rung, Term
from eocc.explanations.regions import Place, Profile, ProfileColumn, TrainingPattern
from eocc.explanations.rules import FeatureRange, Rule, rules

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
