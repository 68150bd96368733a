"""The main reasons of an explanation, the most important first."""

from typing import Any, NamedTuple

from eocc.explain import Explanation
from eocc.foundation.wording import format_number
from eocc.measures.difference import ranked_contributions


class NamedReason(NamedTuple):
    """What makes a row differ: its name, for example a column, in words, and its share of the difference in [0, 1]."""

    name: str
    text: str
    share: float
    low: float | None = None
    high: float | None = None


def reasons_of(explanation: Explanation) -> list[Any]:
    """Return the reasons; one that gives the dissimilarity if the measure has no parts."""
    known = getattr(explanation, "reasons", ())
    if known:
        return list(known)
    total, ranked = explanation.difference.dissimilarity, ranked_contributions(explanation.difference.contributions)
    found = [NamedReason(_name(one.details), one.text, one.amount / total) for one in ranked]
    return found or [NamedReason("", f"dissimilarity {format_number(total)}", 1.0)]


def _name(details: Any) -> str:
    return str(next((details[key] for key in ("feature", "column", "part") if key in details), ""))
