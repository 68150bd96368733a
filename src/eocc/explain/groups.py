"""Reasons about values relative to a group -> words in the unit of the column, about the group."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from eocc.base.printing import printable
from eocc.explain.explanation import Explanation
from eocc.explain.reasons import Reason, range_reason
from eocc.space.baseline import Baseline, group_keys
from eocc.tables.table import Table


def in_groups(classifier: Any, patterns: Any, explanations: Sequence[Explanation]) -> Sequence[Explanation]:
    """Return explanations that speak of a value and its group: "volume is 12; machine A7 usually has 55 to 71"."""
    baseline: Baseline | None = classifier.baseline_
    if baseline is None:
        return explanations
    places = {baseline.relative_name(name): k for k, name in enumerate(baseline.names)}
    keys, codes, found = group_keys(patterns, baseline.by), baseline.codes(patterns), []
    for row, one in enumerate(explanations):
        group = ", ".join(f"{by} {label}" for by, label in zip(baseline.by, keys[row], strict=True))
        who = f"{group} usually has" if codes[row] >= 0 else f"{group} is new: all groups together usually have"
        reasons = [
            _in_group(baseline, places[reason.name], patterns[row : row + 1], printable(who), reason)
            if reason.name in places
            else reason
            for reason in one.reasons
        ]
        reasons.sort(key=lambda reason: not reason.stands_out)  # what is usual in the group comes last
        found.append(replace(one, reasons=tuple(reasons)))
    return found


def _in_group(baseline: Baseline, k: int, row: Table, who: str, reason: Reason) -> Reason:
    name, value = str(baseline.names[k]), row.column(baseline.names[k])[0]
    low, high = (float(end[0]) for end in baseline.usual(k, row))
    if value is None:
        return replace(reason, name=name, text=f"{name} is missing", said="missing")
    stands_out = not low <= value <= high
    if high - low <= 1e-6 * abs(low):  # constant in the group
        value, low, high = (float(f"{one:.7g}") for one in (value, low, high))
    return range_reason(name, value, low, high, reason.share, f"{who} {{}}", stands_out)
