"""What makes two patterns differ, in the language of their kind. One file per kind of measure, one row here."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.explain.differences.composite import composite_description, composite_difference
from eocc.explain.differences.fingerprints import fingerprint_description, fingerprint_difference
from eocc.explain.differences.graphs import graph_description, graph_difference
from eocc.explain.differences.number import no_description, number_difference, object_description
from eocc.explain.differences.records import record_description, record_difference
from eocc.explain.differences.series import series_description, series_difference
from eocc.explain.differences.sets import bag_description, bag_difference, set_description, set_difference
from eocc.explain.differences.strings import string_description, string_difference
from eocc.explain.differences.vectors import vector_description, vector_difference
from eocc.foundation.types import Matrix
from eocc.measures.composite import FittedComposite
from eocc.measures.difference import Contribution, Difference, Language, Pair
from eocc.measures.euclidean import FittedEuclidean
from eocc.measures.fingerprints import FittedTanimoto
from eocc.measures.graphs import FittedGraphEdit
from eocc.measures.precomputed import FittedPrecomputed
from eocc.measures.series import FittedDTW
from eocc.measures.sets import FittedCosineBags, FittedJaccard
from eocc.measures.strings import FittedStringEdit
from eocc.measures.tables import FittedGower

__all__ = [
    "LANGUAGES",
    "Contribution",
    "Difference",
    "Language",
    "Pair",
    "description_of",
    "difference_of",
]


# The type of a frozen measure -> how its patterns are spoken of.
LANGUAGES: dict[type, Language] = {
    FittedComposite: Language(composite_difference, composite_description),
    FittedCosineBags: Language(bag_difference, bag_description),
    FittedDTW: Language(series_difference, series_description),
    FittedEuclidean: Language(vector_difference, vector_description),
    FittedGower: Language(record_difference, record_description),
    FittedGraphEdit: Language(graph_difference, graph_description),
    FittedJaccard: Language(set_difference, set_description),
    FittedPrecomputed: Language(number_difference, no_description),
    FittedStringEdit: Language(string_difference, string_description),
    FittedTanimoto: Language(fingerprint_difference, fingerprint_description),
}
UNKNOWN = Language(number_difference, object_description)


def language_of(measure: Any) -> Language:
    """Return the language registered for the measure's type, or for one it derives from; else that of bare numbers."""
    return next((LANGUAGES[kind] for kind in type(measure).__mro__ if kind in LANGUAGES), UNKNOWN)


def difference_of(
    measure: Any,
    pattern: Any,
    prototype: Any,
    weights: Matrix,
    names: Sequence[str] | None = None,
    called: str = "prototype",
) -> Difference:
    """Return what makes a pattern differ from a prototype, each given as the measure's patterns of length 1.

    `called` is what the text calls the prototype.

    >>> from eocc.measures import StringEdit
    >>> frozen = StringEdit().fit(["oak"])
    >>> print(difference_of(frozen, ["oaks"], ["oak"], np.ones(3)))
    Dissimilarity 0.25, by edits that turn the pattern into the prototype:
      0.250  100%  delete 's' at position 3
    """
    dissimilarity = float(measure.prepare(pattern, prototype).evaluate(weights)[0, 0])
    pair = Pair(pattern, prototype, weights, dissimilarity, None if names is None else tuple(names), called)
    return language_of(measure).difference(measure, pair)


def description_of(measure: Any, pattern: Any, names: Sequence[str] | None = None) -> str:
    """Return a few words on a pattern, given as the measure's patterns of length 1; nothing where none can be said.

    >>> from eocc.measures import StringEdit
    >>> description_of(StringEdit().fit(["oak"]), ["oak"])
    "'oak'"
    """
    return language_of(measure).description(measure, pattern, names)
