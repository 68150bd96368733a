"""Why two patterns differ: contributions that add up to their dissimilarity, and the cells of tables as numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from eocc.base.registry import listed
from eocc.base.types import Flags, Matrix
from eocc.base.wording import format_number, format_part, share

# The text names this many contributions, the largest first, and sums up the rest.
MOST_NAMED = 5


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """A pattern and a prototype, each as patterns of length 1, which the `measure` compares.

    `names` are the names of the features, if known. Texts call the prototype `called`.
    """

    measure: Any
    pattern: Any
    prototype: Any
    weights: Matrix
    names: Sequence[str] | None = None
    called: str = "prototype"

    @cached_property
    def dissimilarity(self) -> float:
        """The dissimilarity d(pattern, prototype; weights)."""
        return float(self.measure.prepare(self.pattern, self.prototype).evaluate(self.weights)[0, 0])

    @property
    def difference(self) -> "Difference":
        """What makes the two differ. It is not kept: for very many columns it is large."""
        difference: Difference = self.measure.difference(self)
        return difference


@dataclass(frozen=True)
class Contribution:
    """One reason for a difference: the amount it adds, in words (`text`) and as data (`details`).

    If there are many, those of one `group` share a line; their texts begin with the group's name. A part of a composite
    has its own difference in `inner`.
    """

    amount: float
    text: str
    details: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""
    inner: "Difference | None" = None


@dataclass(frozen=True)
class Difference:
    """A dissimilarity and the contributions that add up to it, in their natural order.

    `meaning` says what the contributions are. Some measures give only the number and no contributions. `str()` lists
    the largest ones.

    >>> print(Difference(0.5, (Contribution(0.1, "width"), Contribution(0.4, "height")), "by feature"))
    Dissimilarity 0.5, by feature:
      0.400   80%  height
      0.100   20%  width
    """

    dissimilarity: float
    contributions: tuple[Contribution, ...]
    meaning: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join(self.lines(f"Dissimilarity {format_number(self.dissimilarity)}"))

    def lines(self, heading: str) -> list[str]:
        """Return the text as lines; the heading ends with what the contributions are."""
        if self.dissimilarity == 0 or (self.contributions and not any(one.amount > 0 for one in self.contributions)):
            return [f"{heading}: no difference."]
        if not self.contributions:
            return [f"{heading}; {self.meaning}."]
        total, lines = self.dissimilarity, [f"{heading}, {self.meaning}:"]
        for one in ranked_contributions(self.contributions):
            amount = format_part(one.amount, total).rjust(len(format_part(total, total)))
            lines.append(f"  {amount}  {share(one.amount, total)}  {one.text}")
            if one.inner is not None and one.inner.contributions:
                own = f"its own dissimilarity {format_number(one.inner.dissimilarity)}"
                lines.extend(f"    {line}" for line in one.inner.lines(own))
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)


def shared_out(total: float, parts: Matrix) -> Matrix:
    """Return total * parts / sum(parts), which adds up to the total; zeros if all parts are 0."""
    whole = float(parts.sum())
    return total * (parts / whole) if whole > 0 else np.zeros(len(parts))


def feature_names(names: Sequence[str] | None, n_features: int) -> list[str]:
    """Return the names, or "feature 0", "feature 1", ... if there are none."""
    return [f"feature {k}" for k in range(n_features)] if names is None else [str(name) for name in names]


def ranked_contributions(contributions: Sequence[Contribution]) -> list[Contribution]:
    """Return the largest contributions and the sum of the others; many of them are summed up by group first.

    >>> many = tuple(Contribution(float(k), f"edit {k}") for k in range(1, 9))
    >>> [one.text for one in ranked_contributions(many)]
    ['edit 8', 'edit 7', 'edit 6', 'edit 5', 'edit 4', '3 more']
    """
    ranked = sorted((one for one in contributions if one.amount > 0), key=lambda one: -one.amount)
    if len(ranked) > MOST_NAMED + 1 and all(one.group for one in ranked):
        ranked = _grouped(ranked)
    # A line "1 more" would be no shorter than the contribution itself.
    if len(ranked) <= MOST_NAMED + 1:
        return ranked
    rest = ranked[MOST_NAMED:]
    return [*ranked[:MOST_NAMED], Contribution(sum(one.amount for one in rest), f"{len(rest)} more")]


def _grouped(contributions: Sequence[Contribution]) -> list[Contribution]:
    """Return one contribution per group, the largest first, which names the first of its members."""
    groups: dict[str, list[Contribution]] = {}
    for one in contributions:
        groups.setdefault(one.group, []).append(one)
    found = []
    for group, members in groups.items():
        # A group names three of its members.
        items = listed([one.text.removeprefix(group).strip() for one in members], 3, "; ")
        summed = Contribution(sum(one.amount for one in members), f"{group}, {len(members)} times: {items}")
        found.append(summed if len(members) > 1 else members[0])
    return sorted(found, key=lambda one: -one.amount)


@dataclass(frozen=True, eq=False)
class Cells:
    """Values as numbers or codes, NaN if missing: of patterns, `rows` (m, u), and of prototypes, `columns` (u, n).

    `is_code` (u,) says which columns hold codes. `value(i, k)` and `prototype_value(j, k)` return cells as they were
    given, None if missing.
    """

    names: tuple[str, ...]
    rows: Matrix
    columns: Matrix
    is_code: Flags
    value: Callable[[int, int], Any]
    prototype_value: Callable[[int, int], Any]

    def spreads(self) -> Matrix:
        """Return the standard deviation of each column of numbers, 0 of codes and where there is no value."""
        known = ~np.isnan(self.columns)
        counts = np.maximum(known.sum(axis=1), 1)
        columns = np.where(known, self.columns, 0.0)
        apart = np.where(known, self.columns - (columns.sum(axis=1) / counts)[:, None], 0.0)
        return np.where(self.is_code, 0.0, np.sqrt((apart**2).sum(axis=1) / counts))
