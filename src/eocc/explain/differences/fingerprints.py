"""Fingerprints: the bits set in one of two alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from eocc.explain.differences.sets import unshared_difference
from eocc.foundation.wording import listing
from eocc.measures.difference import Difference, Pair
from eocc.measures.fingerprints import FittedTanimoto


def fingerprint_difference(measure: FittedTanimoto, pair: Pair) -> Difference:
    """Return what the bits set in one fingerprint alone add: 1 / |a or b| each; shared bits add nothing."""
    return unshared_difference(pair, _ones(pair.pattern), _ones(pair.prototype), "bit")


def fingerprint_description(measure: FittedTanimoto, pattern: Any, names: Sequence[str] | None) -> str:
    """Return how many bits are set, and the first of them.

    >>> fingerprint_description(FittedTanimoto(4), np.array([[True, False, True, False]]), None)
    '2 of 4 bits: 0, 2'
    """
    ones = _ones(pattern)
    named = f": {listing(map(str, ones))}" if ones else ""
    return f"{len(ones)} of {measure.n_bits} bits{named}"


def _ones(pattern: Any) -> list[int]:
    return [int(bit) for bit in np.flatnonzero(pattern[0])]
