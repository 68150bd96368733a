"""What a value must be: one vocabulary for arguments, for parameters and for what a model file holds.

A check is called with the name of a value and the value. It raises a ValueError of one line that names both. Intervals
are texts such as "[0, 1)". The shape of an array names its sizes: "n 2" means (n, 2), and the first array with an n
says how large n is.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

Sizes = dict[str, int]
# No number of a fit is larger, and no count of rows: beyond 2^53 an integer has no exact double.
FITTED, LARGEST_INTEGER = "[-1e300, 1e300]", 2**53
ANY_NUMBER = "(-inf, inf)"
# Equal numbers differ by no more than this, by the rounding of another machine's mathematical library.
AGREEMENT = 1e-6
# A message shows this many characters of a value.
MOST_SHOWN = 200


def demand(condition: Any, message: str) -> None:
    """Raise a ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


@dataclass(frozen=True)
class Check:
    """A check of values; `parse` returns what a text on the command line means, `names` are those to choose from."""

    rule: Callable[[str, Any, Sizes], object]
    parse: Callable[[str], Any] = str
    names: tuple[str, ...] = ()
    allows_none: bool = False

    def __call__(self, name: str, value: Any, sizes: Sizes | None = None) -> None:
        """Raise a ValueError unless the value is accepted. Sizes that the value is the first to name are added."""
        if value is not None or not self.allows_none:
            self.rule(name, value, {} if sizes is None else sizes)


def wanted(what: str, accepts: Callable[[Any], Any], parse: Callable[[str], Any] = str) -> Check:
    """Accept what the function accepts.

    >>> wanted("an even number", lambda value: value % 2 == 0)("n", 3)
    Traceback (most recent call last):
    ...
    ValueError: n must be an even number, not 3
    """

    def rule(name: str, value: Any, sizes: Sizes) -> None:
        if not accepts(value):
            raise ValueError(f"{name} must be {what}, not {repr(value)[:MOST_SHOWN]}")

    return Check(rule, parse)


def is_number(value: Any) -> bool:
    """Say whether a value is a number, of Python or of numpy; truth values and durations are none."""
    kind = getattr(getattr(value, "dtype", None), "kind", "i")
    return isinstance(value, Real) and not isinstance(value, bool) and kind in "iuf"


def is_integer(value: Any) -> bool:
    """Say whether a value is an integer, of Python or of numpy."""
    return isinstance(value, Integral) and is_number(value)


def number(interval: str = ANY_NUMBER, otherwise: str = "", *, exactly: type = Real) -> Check:
    """Accept numbers in the interval; `otherwise` names other values that the caller accepts.

    >>> number("[0, 1]")("eta", 0.5), number("(0, inf)", " or 'auto'")("width", True)
    Traceback (most recent call last):
    ...
    ValueError: width must be a number > 0 or 'auto', not True
    """
    holds, words = interval_of(interval)
    what = f"a finite number{otherwise}" if interval == ANY_NUMBER else f"a number {words}{otherwise}"
    return wanted(what, lambda value: isinstance(value, exactly) and is_number(value) and holds(value), float)


def real(interval: str = ANY_NUMBER) -> Check:
    """Accept floats in the interval, and no integers: kernels would be compiled anew for them."""
    return number(interval, exactly=float)


def integer(low: float = -math.inf, high: float = math.inf, otherwise: str = "") -> Check:
    """Accept integers in [low, high].

    >>> integer(1)("k", 0)
    Traceback (most recent call last):
    ...
    ValueError: k must be an integer >= 1, not 0
    """
    words = f" in [{low}, {high}]" if high < math.inf else f" >= {low}" if low > -math.inf else ""
    return wanted(f"an integer{words}{otherwise}", lambda value: is_integer(value) and low <= value <= high, int)


def interval_of(interval: str) -> tuple[Callable[[Any], Any], str]:
    """Return whether numbers, also those of an array, lie in an interval, and the interval in words."""
    low, high = map(float, interval[1:-1].split(","))
    above = operator.ge if interval[0] == "[" else operator.gt
    below = operator.le if interval[-1] == "]" else operator.lt
    words = f"in {interval}" if high < math.inf else f"{'>=' if interval[0] == '[' else '>'} {low:g}"
    return lambda value: above(value, low) & below(value, high), words


def instance(*classes: type) -> Check:
    """Accept objects of exactly these classes; for dataclasses, also of classes derived from them."""
    derived = tuple(one for one in classes if hasattr(one, "__dataclass_fields__"))
    names = " or ".join(one.__name__ for one in classes)
    return wanted(f"of type {names}", lambda value: type(value) in classes or isinstance(value, derived))


def one_of(*values: Any) -> Check:
    """Accept some values."""
    known = f"one of {', '.join(map(repr, values))}"
    return wanted(known, lambda value: any(type(value) is type(one) and value == one for one in values))


def optional(check: Check) -> Check:
    """Accept None too; on the command line it is written "none"."""
    return replace(check, parse=lambda text: None if text == "none" else check.parse(text), allows_none=True)


def tuple_of(check: Check, least: int = 0) -> Check:
    """Accept tuples of at least `least` accepted values."""

    def rule(name: str, value: Any, sizes: Sizes) -> None:
        demand(type(value) is tuple and len(value) >= least, f"{name} must be a tuple of at least {least} values")
        for item in value:
            check(f"a part of {name}", item, sizes)

    return Check(rule)


def mapping(key: Check, content: Check) -> Check:
    """Accept dictionaries of accepted keys and values."""

    def rule(name: str, value: Any, sizes: Sizes) -> None:
        demand(type(value) is dict, f"{name} must be a dictionary")
        for one, part in value.items():
            key(f"a key of {name}", one, sizes)
            content(f"a value of {name}", part, sizes)

    return Check(rule)


def has_hash(value: Any) -> bool:
    """Say whether a value can be looked up."""
    try:
        return isinstance(hash(value), int)
    except TypeError:
        return False


hashable = wanted("a value that can be looked up", has_hash)
text = instance(str)


def texts(n: str) -> Check:
    """Accept lists of texts, as many as the size n."""

    def rule(name: str, value: Any, sizes: Sizes) -> None:
        is_right = type(value) is list and len(value) == sizes[n] and all(type(one) is str for one in value)
        demand(is_right, f"{name} must be {sizes[n]} texts")

    return Check(rule)
