"""Arguments that are a count or "auto"."""

from typing import Any

from eocc.foundation.arguments import check_count


def is_automatic(name: str, value: Any) -> bool:
    """Return whether `value` is "auto"; raise a ValueError unless it is that or an integer >= 1.

    >>> is_automatic("k", "auto"), is_automatic("k", 5)
    (True, False)
    """
    if isinstance(value, str) and value == "auto":
        return True
    check_count(name, value, otherwise=" or 'auto'")
    return False
