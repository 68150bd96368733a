"""Measures that say no more than a number: precomputed dissimilarities, functions, measures not known here."""

from collections.abc import Sequence
from typing import Any

from eocc.foundation.wording import shortened
from eocc.measures.difference import Difference, Pair


def number_difference(measure: Any, pair: Pair) -> Difference:
    """Return the dissimilarity without contributions."""
    return Difference(pair.dissimilarity, (), "the measure gives this number alone, not what it is made of")


def object_description(measure: Any, pattern: Any, names: Sequence[str] | None) -> str:
    """Return the object as Python prints it, shortened.

    >>> object_description(None, [("oak", 3)], None)
    "('oak', 3)"
    """
    return shortened(" ".join(repr(pattern[0]).split()))


def no_description(measure: Any, pattern: Any, names: Sequence[str] | None) -> str:
    """Return nothing: of precomputed patterns only dissimilarities are known.

    >>> no_description(None, None, None)
    ''
    """
    return ""
