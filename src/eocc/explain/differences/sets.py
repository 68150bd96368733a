"""Sets and bags: the tokens that are not shared, or not in the same proportion."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from eocc.foundation.wording import counted, format_data_number, format_number, listing, to_json
from eocc.measures.difference import Contribution, Difference, Pair, shared_out
from eocc.measures.sets import FittedCosineBags, FittedJaccard


def set_difference(measure: FittedJaccard, pair: Pair) -> Difference:
    """Return what the tokens in one set alone add: 1 / |A or B| each; shared tokens add nothing."""
    return unshared_difference(pair, pair.pattern[0], pair.prototype[0], "token")


def unshared_difference(pair: Pair, one: Iterable[Any], other: Iterable[Any], noun: str) -> Difference:
    """Return two contributions, of the items in one set alone: their number / |A or B|."""
    here, there = set(one), set(other)
    each = 1.0 / max(len(here | there), 1)
    sides = [("only in the pattern", here - there), (f"only in the {pair.called}", there - here)]
    contributions = tuple(
        Contribution(
            len(items) * each,
            f"{counted(len(items), noun)} {where}: {listing(map(str, in_order(items)))}",
            {"where": where, f"{noun}s": [to_json(item) for item in in_order(items)], "each": each},
        )
        for where, items in sides
        if items
    )
    shared = [to_json(item) for item in in_order(here & there)]
    meaning = f"by {noun}s not shared, {format_number(each)} each, with {len(shared)} shared"
    return Difference(pair.dissimilarity, contributions, meaning, {"shared": shared})


def bag_difference(measure: FittedCosineBags, pair: Pair) -> Difference:
    """Return a contribution per token: d times its share of the sum of (a_t / |a| - b_t / |b|)^2.

    Half that sum is the cosine dissimilarity 1 - a.b / (|a| |b|) itself. If one bag is empty, tokens share d = 1 by
    the squares of their weights.
    """
    here, there = pair.pattern[0], pair.prototype[0]
    tokens = in_order({*here, *there})
    shares, prototype_shares = (_unit(bag, tokens) for bag in (here, there))
    amounts = shared_out(pair.dissimilarity, (shares - prototype_shares) ** 2)
    contributions = tuple(
        Contribution(
            float(amount),
            f"{token}: {format_data_number(here.get(token, 0.0))}, "
            f"{pair.called} {format_data_number(there.get(token, 0.0))}",
            {"token": to_json(token), "value": here.get(token, 0.0), "prototype": there.get(token, 0.0)},
        )
        for token, amount in zip(tokens, amounts, strict=True)
    )
    return Difference(pair.dissimilarity, contributions, "by the token's share in either bag")


def set_description(measure: FittedJaccard, pattern: Any, names: Sequence[str] | None) -> str:
    """Return the tokens, the first of many.

    >>> set_description(FittedJaccard(), [{"oak", "elm"}], None)
    '{elm, oak}'
    """
    return "{" + listing(map(str, in_order(pattern[0]))) + "}"


def bag_description(measure: FittedCosineBags, pattern: Any, names: Sequence[str] | None) -> str:
    """Return the heaviest tokens with their weights.

    >>> bag_description(FittedCosineBags(), [{"be": 1.0, "to": 2.0}], None)
    '{to: 2, be: 1}'
    """
    bag = pattern[0]
    heaviest = sorted(in_order(bag), key=lambda token: -bag[token])
    return "{" + listing([f"{token}: {format_data_number(bag[token])}" for token in heaviest]) + "}"


def in_order(tokens: Iterable[Any]) -> list[Any]:
    """Return tokens in the order of their kind: numbers and strings as they sort, a mixture by its text.

    >>> in_order({10, 9}), in_order({"b", "a", 1})
    ([9, 10], [1, 'a', 'b'])
    """
    try:
        return sorted(tokens)
    except TypeError:
        return sorted(tokens, key=lambda token: (str(token), repr(token)))


def _unit(bag: Mapping[Any, float], tokens: Sequence[Any]) -> Any:
    """Return the bag's weights divided by their norm, first by the largest so that squares stay finite."""
    largest = max(bag.values(), default=1.0)
    scaled = np.array([bag.get(token, 0.0) / largest for token in tokens])
    norm = math.sqrt(math.fsum(scaled**2))
    return scaled / norm if norm > 0 else scaled
