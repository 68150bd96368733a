"""Records with parts of several kinds: each part's share, and the part's own difference in it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.wording import format_number
from eocc.measures.composite import FittedComposite
from eocc.measures.difference import Contribution, Difference, Pair


def composite_difference(measure: FittedComposite, pair: Pair) -> Difference:
    """Return w_k d_k / K for each of the K parts; `inner` holds the difference whose contributions add up to d_k."""
    from eocc.explain.differences import difference_of  # which knows this function too

    contributions = []
    for number, (name, own_weights) in enumerate(_parts(measure, pair.weights)):
        pattern, prototype = pair.pattern.parts[name], pair.prototype.parts[name]
        inner = difference_of(measure.measures[name], pattern, prototype, own_weights, None, pair.called)
        weight = float(pair.weights[number])
        amount = weight * inner.dissimilarity / len(measure.measures)
        details = {"part": str(name), "weight": weight}
        contributions.append(Contribution(amount, f"{name}, of weight {format_number(weight)}", details, inner=inner))
    return Difference(pair.dissimilarity, tuple(contributions), "by part")


def composite_description(measure: FittedComposite, pattern: Any, names: Sequence[str] | None) -> str:
    """Return a few words on each part.

    >>> from eocc.measures import Composite
    >>> composite = Composite({"size": "euclidean", "name": "string-edit"})
    >>> records = composite.read([{"size": 1.5, "name": "oak"}])
    >>> composite_description(composite.fit(records), records, None)
    "size: feature 0 = 1.5; name: 'oak'"
    """
    from eocc.explain.differences import description_of  # which knows this function too

    described = {name: description_of(part, pattern.parts[name], None) for name, part in measure.measures.items()}
    return "; ".join(f"{name}: {text}" for name, text in described.items() if text)


def _parts(measure: FittedComposite, weights: NDArray[np.float64]) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield each part's name and its own parameters, which follow the weights of all parts."""
    start = len(measure.measures)
    for name, part in measure.measures.items():
        yield name, weights[start : start + part.n_parameters]
        start += part.n_parameters
