"""What makes two patterns differ, in contributions that add up to their dissimilarity."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from eocc.foundation.types import Matrix
from eocc.foundation.wording import decimals_for, format_number, listing, share

# The text names so many contributions, the greatest first, and sums up the others.
MOST_NAMED = 5
# A group of contributions names so many of its members.
MOST_ITEMS = 3


@dataclass(frozen=True)
class Pair:
    """A pattern and a prototype, each as the measure's patterns of length 1, and d(pattern, prototype; `weights`).

    `names` are those of the features, if they are known and the measure has one weight per feature. `called` is what
    texts call the second pattern, where that is no region's prototype.
    """

    pattern: Any
    prototype: Any
    weights: Matrix
    dissimilarity: float
    names: tuple[str, ...] | None = None
    called: str = "prototype"


@dataclass(frozen=True)
class Contribution:
    """One reason for a difference: what it adds to the dissimilarity, in words, and as data (`details`).

    Where there are many, those of one `group` are told together; their texts begin with its name. A part of a
    composite has the difference of that part in `inner`.
    """

    amount: float
    text: str
    details: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""
    inner: "Difference | None" = None


@dataclass(frozen=True)
class Difference:
    """A dissimilarity and the contributions that add up to it, in their natural order.

    `meaning` says what the contributions are; where a measure gives only the number, there are none. The text names
    the greatest of them.

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
        """Return the text line by line, under a heading that ends with what the contributions are."""
        if self.dissimilarity == 0 or (self.contributions and not any(one.amount > 0 for one in self.contributions)):
            return [f"{heading}: no difference that counts."]
        if not self.contributions:
            return [f"{heading}; {self.meaning}."]
        return [f"{heading}, {self.meaning}:", *_table(self.dissimilarity, self.contributions)]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)


DifferenceFunction = Callable[[Any, Pair], Difference]
DescriptionFunction = Callable[[Any, Any, Sequence[str] | None], str]


@dataclass(frozen=True)
class Language:
    """How patterns of a kind are spoken of.

    `difference(measure, pair)` returns a Difference, `description(measure, pattern, names)` a few words on one
    pattern, given as patterns of length 1.
    """

    difference: DifferenceFunction
    description: DescriptionFunction


def shared_out(total: float, parts: Matrix) -> Matrix:
    """Return total * parts / sum of parts: what is nonnegative and adds up to the total; zeros if all parts are 0.

    >>> shared_out(0.5, np.array([1.0, 3.0]))
    array([0.125, 0.375])
    """
    whole = float(parts.sum())
    return total * (parts / whole) if whole > 0 else np.zeros(len(parts))


def _table(total: float, contributions: Sequence[Contribution]) -> list[str]:
    """Return a line per contribution, the greatest first, and one for those not named."""
    ranked = sorted((one for one in contributions if one.amount > 0), key=lambda one: -one.amount)
    if len(ranked) > MOST_NAMED + 1 and all(one.group for one in ranked):
        ranked = _grouped(ranked)
    # A line that says "and 1 more" would be no shorter than the one it stands for.
    n_named = len(ranked) if len(ranked) <= MOST_NAMED + 1 else MOST_NAMED
    lines: list[str] = []
    for one in ranked[:n_named]:
        lines.append(f"  {_amount(one.amount, total)}  {one.text}")
        lines.extend(_inner_lines(one))
    if len(ranked) > n_named:
        rest = sum(one.amount for one in ranked[n_named:])
        lines.append(f"  {_amount(rest, total)}  {len(ranked) - n_named} more")
    return lines


def _grouped(contributions: Sequence[Contribution]) -> list[Contribution]:
    """Return one contribution per group, the greatest first, that names the first of its members."""
    groups: dict[str, list[Contribution]] = {}
    for one in contributions:
        groups.setdefault(one.group, []).append(one)
    summed = [
        members[0]
        if len(members) == 1
        else Contribution(
            sum(one.amount for one in members),
            f"{group}, {len(members)} times: "
            + listing([one.text.removeprefix(group).strip() for one in members], MOST_ITEMS, "; "),
        )
        for group, members in groups.items()
    ]
    return sorted(summed, key=lambda one: -one.amount)


def _amount(amount: float, total: float) -> str:
    decimals = decimals_for(total)
    return f"{amount:{len(f'{total:.{decimals}f}')}.{decimals}f}  {share(amount, total)}"


def _inner_lines(contribution: Contribution) -> list[str]:
    inner = contribution.inner
    if inner is None or not inner.contributions:
        return []
    return [f"    {line}" for line in inner.lines(f"its own dissimilarity {format_number(inner.dissimilarity)}")]
