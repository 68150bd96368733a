"""Stand-in until merged."""

from typing import Any


def auto_measure(X: Any) -> Any:
    """Return Euclidean."""
    from eocc.measures.euclidean import Euclidean

    return Euclidean()
