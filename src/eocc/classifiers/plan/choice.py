"""A plan and a budget -> that plan, or the one that fits instead, or a refusal that names it."""

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from eocc.classifiers.plan.estimate import AUTO, KNN, Plan, Request
from eocc.classifiers.plan.memory import SHARE, budget_of, shown_bytes
from eocc.foundation.registry import choose

REFUSE = "refuse"
MODES = {REFUSE: REFUSE, AUTO: AUTO}
# More prototypes than this are not proposed: scores change little, and the time to score grows with them.
MOST_PROTOTYPES, FEWEST_PROTOTYPES = 1024, 16
# Beyond so many prototypes a sparse graph is no way out: its components take minutes, then hours.
MOST_COLUMNS = 4096


class PlanWarning(UserWarning):
    """Says that a fit took other settings than were asked for, so as to fit in memory."""


class PlanRefusedError(ValueError):
    """Says that a fit needs more memory than there is: what it needs, and the `settings` of `size` that would fit."""

    def __init__(self, need: str, settings: Mapping[str, object], size: str) -> None:
        self.need, self.settings, self.size = need, settings, size
        instead = f"{told(settings)} would take {size}: set that, or plan='auto', or raise max_memory"
        nothing = "no other settings fit either: raise max_memory, or fit to fewer patterns"
        super().__init__(f"{need}; {instead if settings else nothing}")

    def __reduce__(self) -> tuple[Any, ...]:
        return PlanRefusedError, (self.need, self.settings, self.size)


def decide(request: Request, max_memory: int | str | None, mode: str) -> Plan:
    """Return the plan of a fit within the budget, before anything large is allocated.

    graph="auto" becomes what fits. Else settings that do not fit are refused in a ValueError that names those that
    would, or with mode "auto" these are taken, and a PlanWarning says so.
    """
    choose("plan", MODES, mode)
    budget = budget_of(max_memory)
    plan = within_choice(request, budget)
    if plan.peak <= budget:
        return plan
    instead = fitting_plan(request, budget)
    need = (
        f"this fit of {plan.n} patterns needs about {shown_bytes(plan.peak)} of memory, but the budget is "
        f"{told_budget(budget, max_memory)}"
    )
    if instead is None:
        raise PlanRefusedError(need, {}, "")
    wanted = changes(request, instead)
    if mode == REFUSE:
        raise PlanRefusedError(need, wanted, shown_bytes(instead.peak))
    warnings.warn(f"{need}; taken instead: {told(wanted)}, {shown_bytes(instead.peak)}", PlanWarning, stacklevel=4)
    return instead


def within_choice(request: Request, budget: float) -> Plan:
    """Return the plan asked for; graph="auto" is sparse where all pairs do not fit, if that takes less.

    >>> [within_choice(Request(3000, 5, prototypes=100), budget).graph for budget in (1e9, 5e7)]
    ['complete', 'knn']
    """
    plan = request.plan()
    if not _is_free(request) or plan.peak <= budget or plan.prototypes > MOST_COLUMNS:
        return plan
    return min(plan, replace(request, graph=KNN).plan(), key=lambda plan: plan.peak)


def _is_free(request: Request) -> bool:
    return isinstance(request.graph, str) and request.graph == AUTO


def fitting_plan(request: Request, budget: float) -> Plan | None:
    """Return the plan nearest to the request that fits: fewer threads, else a sparse graph, else fewer prototypes.

    >>> plan = fitting_plan(Request(100_000, 10), 2**30)
    >>> plan.prototypes, plan.graph
    (512, 'knn')
    >>> plan = fitting_plan(Request(1000, 10, graph="complete"), 1e7)
    >>> plan.prototypes, plan.graph
    (128, 'complete')
    """
    plans = (within_choice(other, budget) for other in _alternatives(request))
    return next((plan for plan in plans if plan.peak <= budget), None)


def _alternatives(request: Request) -> Iterator[Request]:
    plan = request.plan()
    if plan.n_jobs > 1:
        yield replace(request, n_jobs=1)
    asked = [request]
    if plan.graph != KNN and not _is_free(request):
        asked.append(replace(request, graph=KNN))
    if plan.prototypes <= MOST_COLUMNS:
        yield asked[-1]
        yield replace(asked[-1], n_jobs=1)
    for power in range(int(math.log2(MOST_PROTOTYPES)), int(math.log2(FEWEST_PROTOTYPES)) - 1, -1):
        if 2**power < plan.prototypes:
            for other in asked:
                yield replace(other, prototypes=2**power)
                yield replace(other, prototypes=2**power, n_jobs=1)


def changes(request: Request, plan: Plan) -> dict[str, object]:
    """Return the arguments in which a plan differs from what was asked for.

    >>> request = Request(100_000, 10, graph="complete")
    >>> changes(request, fitting_plan(request, 2**30))
    {'prototypes': 512, 'graph': 'knn'}
    """
    asked = request.plan()
    names = [name for name in ("prototypes", "graph", "n_jobs") if getattr(plan, name) != getattr(asked, name)]
    if _is_free(request):
        names = [name for name in names if name != "graph"]
    return {name: getattr(plan, name) for name in names}


def told(settings: Mapping[str, object]) -> str:
    """Return arguments as one writes them.

    >>> told({"prototypes": 512, "graph": "knn"})
    "prototypes=512, graph='knn'"
    """
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())


def told_budget(budget: float, max_memory: int | str | None) -> str:
    """Return the budget in words, and where it comes from if nobody named it."""
    if math.isinf(budget):
        return "unknown: this system does not tell how much memory is free"
    return shown_bytes(budget) + ("" if max_memory is not None else f", {SHARE:.0%} of what is free")
