"""An explanation of one decision, and its text."""

from dataclasses import asdict, dataclass
from typing import Any

from eocc.explain.differences.difference import Difference
from eocc.explain.neighbourhoods import Neighbourhoods
from eocc.explain.regions import Place, Profile, TrainingPattern
from eocc.foundation.wording import counted, format_number, glued, known_of, share, wrapped
from eocc.regions.fuzzy import BOUNDARY

# Below this share of its extent a pattern is said to lie at a region's centre; it would be 0.00 with two decimals.
AT_CENTRE = 0.005
# A prototype that does not decide is told in words where these are no longer.
LONGEST_ASIDE = 60


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a pattern is a target or not; `str` gives the text, `repr` its first line.

    Where regions decide, `nearest` is the region of highest membership, `runner_up` the next (None if there is one
    only). A pattern is a target up to `reach` extents from a region: 1, but for models calibrated to a false alarm
    rate. `difference` is what makes the pattern differ from the nearest region's prototype, in the object's own
    language; it explains the input dissimilarity. `profile` tells what the decision went by: the distance between the
    pattern's dissimilarities to all prototypes and those of the region's representative.

    Where neighbourhoods of several sizes decide, `neighbourhoods` tells what the decision went by, and `nearest` is the
    region of the nearest training pattern, from which `difference` sets the pattern apart; its exemplars are the
    nearest of all training patterns. `reach` is 1, `runner_up` and `profile` are None.

    Where prototypes are fewer than training patterns, patterns are known by the prototypes alone: then these are the
    exemplars and neighbours, and the text says so.
    """

    is_target: bool
    reach: float
    membership: float
    nearest: Place
    runner_up: Place | None
    difference: Difference
    profile: Profile | None
    neighbourhoods: Neighbourhoods | None = None

    def __str__(self) -> str:
        if self.neighbourhoods is not None:
            return "\n".join(self._by_neighbourhoods(self.neighbourhoods))
        return "\n".join([self._first_line(), *self._regions(), *self._difference("prototype"), *self._profile()])

    def __repr__(self) -> str:
        return f"<{self._first_line()} print() tells why>"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)

    @property
    def ratio(self) -> float:
        """How far the pattern lies out, by what decides: a target's is `reach` or less."""
        return self.nearest.ratio if self.neighbourhoods is None else self.neighbourhoods.ratio

    @property
    def decision(self) -> str:
        """The decision in words."""
        region, verdict = self.nearest.region, "target" if self.is_target else "not a target"
        if self.neighbourhoods is not None:
            return f"{verdict}: {self.neighbourhoods.place}, {'in' if self.is_target else 'nearest to'} region {region}"
        where = ratio_in_words(self.nearest)
        accepted = "" if self.reach == 1 else f" (accepted up to {self.reach:.4g})"
        if self.is_target and self.nearest.ratio <= BOUNDARY:
            return f"target: inside region {region}, {where}{accepted}"
        return f"{verdict}: the nearest region is {region}, {where}{accepted}"

    def _first_line(self) -> str:
        return f"{self.decision[0].upper()}{self.decision[1:]}. Membership {format_number(self.membership)}."

    def _by_neighbourhoods(self, known: Neighbourhoods) -> list[str]:
        near = self.nearest
        alone = len(near.exemplars) == 1
        called = f"Nearest {'neighbour' if near.n_prototypes is None else 'prototype'}{'' if alone else 's'}"
        region = f"Region {near.region}{'' if alone else ', that of the first'}"
        known_as = f" ({near.description})" if 0 < len(near.description) <= LONGEST_ASIDE else ""
        return [
            *wrapped(self._first_line(), 0),
            *wrapped(known.rarity(), 2),
            *wrapped(f"{called}: {_alike(near.exemplars)}.", 2),
            *wrapped(f"{region}: {size_in_words(near)}{standing(near, known_as)}.", 2),
            *self._difference("neighbour"),
            *known.lines(),
        ]

    def _regions(self) -> list[str]:
        near, other = self.nearest, self.runner_up
        lines = wrapped(f"Region {near.region}: {place_in_words(near)}.", 2)
        if near.exemplars:
            among = "" if near.n_prototypes is None else " of the prototypes"
            lines += wrapped(f"Most alike there{among}: {_alike(near.exemplars)}.", 2)
        if other is not None:
            lines += wrapped(f"Next is region {other.region}, {ratio_in_words(other)}: {place_in_words(other)}.", 2)
        return lines

    def _difference(self, compared_with: str) -> list[str]:
        other = self.nearest.prototype if self.neighbourhoods is None else self.nearest.exemplars[0]
        heading = f"Dissimilarity {format_number(self.difference.dissimilarity)} from {compared_with} {other.row}"
        return [f"  {line}" for line in self.difference.lines(heading)]

    def _profile(self) -> list[str]:
        if self.profile is None:
            return []
        them = counted(self.profile.n_columns, "training pattern" if self.nearest.n_prototypes is None else "prototype")
        compared = f"compares the dissimilarities to all {them} with the region's own"
        if self.nearest.ratio < AT_CENTRE:
            return wrapped(f"The decision {compared}: they are the same.", 2)
        terms = ", ".join(
            f"{one.row} ({share(one.amount, self.profile.squared_ratio).strip()}: {format_number(one.here)} against "
            f"{format_number(one.there)})"
            for one in self.profile.columns
        )
        text = (
            f"These contributions are to the dissimilarity from the prototype. The decision {compared}; the greatest "
            f"shares of the squared distance between them are those of training {_patterns(self.profile.columns)} "
            f"{glued(terms)}."
        )
        return wrapped(text if self.difference.contributions else text.partition(". ")[2], 2)


def ratio_in_words(place: Place) -> str:
    """Return how far a pattern lies, in extents of a region."""
    extent = "its extent" if place.side is None else f"its extent on the {place.side} side"
    if place.ratio < AT_CENTRE:
        return "at its centre"
    if place.ratio <= BOUNDARY:
        return f"at {place.ratio:.2f} of {extent}"
    times = format_number(place.ratio)
    return f"at {times} times {extent}" if times != "1" else f"just beyond {extent}"


def place_in_words(place: Place) -> str:
    """Return the size of a region and its prototype."""
    description = f" ({glued(place.description)})" if place.description else ""
    return f"{size_in_words(place)}, extent {format_number(place.extent)}{standing(place, description)}"


def size_in_words(place: Place) -> str:
    """Return how many training patterns a region has, and how many of them are known."""
    return counted(place.n_members, "training pattern") + known_of(place.n_members, place.n_prototypes)


def standing(place: Place, known_as: str) -> str:
    """Return which training pattern stands for a region, and how: the end of a sentence on its size."""
    pattern = f"training pattern {place.prototype.row}{known_as}"
    if place.n_prototypes == 0:
        return f"; the prototype nearest to its centre is of another region, {pattern}"
    several = place.n_prototypes is not None and place.n_prototypes > 1
    return f"; {'of these nearest to its centre' if several else 'prototype'} is {pattern}"


def _alike(exemplars: tuple[TrainingPattern, ...]) -> str:
    rows, apart = (
        ", ".join(texts)
        for texts in zip(*((str(one.row), format_number(one.dissimilarity)) for one in exemplars), strict=True)
    )
    return f"training {_patterns(exemplars)} {rows} (dissimilarity {apart})"


def _patterns(items: tuple[Any, ...]) -> str:
    return "pattern" if len(items) == 1 else "patterns"
