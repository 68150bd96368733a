"""Plans: what a fit will take, before it is begun.

memory    what is free, and the budget
costs     a measure -> matrices and seconds
stages    a fit in numbers -> the arrays of every stage
estimate  a request -> its plan
choice    a plan and a budget -> go, go another way, or refuse
"""

from eocc.classifiers.plan.choice import (
    MODES,
    REFUSE,
    PlanRefusedError,
    PlanWarning,
    changes,
    decide,
    fitting_plan,
    told,
    told_budget,
    within_choice,
)
from eocc.classifiers.plan.estimate import AUTO, COMPLETE, COMPLETE_UP_TO, KNN, Plan, Request, name_of_graph, plan_for
from eocc.classifiers.plan.memory import budget_of, bytes_of, free_memory, shown_bytes

__all__ = [
    "AUTO",
    "COMPLETE",
    "COMPLETE_UP_TO",
    "KNN",
    "MODES",
    "REFUSE",
    "Plan",
    "PlanRefusedError",
    "PlanWarning",
    "Request",
    "budget_of",
    "bytes_of",
    "changes",
    "decide",
    "fitting_plan",
    "free_memory",
    "name_of_graph",
    "plan_for",
    "shown_bytes",
    "told",
    "told_budget",
    "within_choice",
]
