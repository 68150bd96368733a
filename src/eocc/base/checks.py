"""What a value must be: one vocabulary for arguments, for parameters and for what a model file holds.

A check is called with the name of a value and the value. It raises a ValueError of one line that names both. Intervals
are texts such as "[0, 1)". The shape of an array names its sizes: "n 2" means (n, 2), and the first array with an n
says how large n is.

Nothing heavy is imported here before it is used, so that the command line can list options and choices at once.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from numbers import Integral, Real
from typing import Any

Sizes = dict[str, int]
# No number of a fit is larger, and no count of rows: beyond 2^53 an integer has no exact double.
FITTED, LARGEST_INTEGER = "[-1e300, 1e300]", 2**53
ANY_NUMBER = "(-inf, inf)"
# How much numbers that agree may differ.
AGREEMENT = 1e-6
# A message shows this many characters of a value.
MOST_SHOWN = 200
BYTE_UNITS = {"": 1, "B": 1} | {
    f"{prefix}{suffix}": base**power
    for power, prefix in enumerate("KMGT", start=1)
    for suffix, base in (("B", 1000), ("IB", 1024))
}
SIZE_IN_WORDS = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


def demand(condition: Any, message: str) -> None:
    """Raise a ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


@dataclass(frozen=True)
class Check:
    """A check of values: `what` it accepts in words, and the function that does, or a `rule` that raises the error.

    `parse` returns what a text on the command line means, `names` are those to choose from. `words` are accepted too.

    >>> Check("an even number", lambda value: value % 2 == 0)("n", 3)
    Traceback (most recent call last):
    ...
    ValueError: n must be an even number, not 3
    """

    what: str = ""
    accepts: Callable[[Any], Any] | None = None  # any value
    parse: Callable[[str], Any] = str
    names: tuple[str, ...] = ()
    allows_none: bool = False
    words: tuple[str, ...] = ()
    rule: Callable[[str, Any, Sizes], object] | None = None

    def __call__(self, name: str, value: Any, sizes: Sizes | None = None) -> None:
        """Raise a ValueError unless the value is accepted. Sizes that the value is the first to name are added."""
        if (value is None and self.allows_none) or (isinstance(value, str) and value in self.words):
            return
        if self.rule is not None:
            self.rule(name, value, {} if sizes is None else sizes)
        elif self.accepts is not None and not self.accepts(value):
            raise ValueError(f"{name} must be {self.what}, not {repr(value)[:MOST_SHOWN]}")


def agrees(found: float, expected: float) -> bool:
    """Say whether two numbers are equal but for the rounding of another machine's mathematical library."""
    return math.isclose(found, expected, rel_tol=AGREEMENT, abs_tol=AGREEMENT)


def is_number(value: Any, kind: Any = Real, low: float | None = None, high: float = math.inf) -> bool:
    """Say whether a value is a number in [low, high], of Python or of numpy; truth values and durations are none."""
    code = getattr(getattr(value, "dtype", None), "kind", "i")
    is_one = isinstance(value, kind) and not isinstance(value, bool) and code in "iuf"
    return is_one and (low is None or bool(low <= value <= high))


# Says whether a value is an integer.
is_integer = partial(is_number, kind=Integral)


@cache
def number(interval: str = ANY_NUMBER, otherwise: str = "", *, exactly: Any = Real) -> Check:
    """Accept numbers in the interval; `otherwise` names other values that the caller accepts.

    >>> number("[0, 1]")("eta", 0.5), number("(0, inf)", " or 'auto'")("width", True)
    Traceback (most recent call last):
    ...
    ValueError: width must be a number > 0 or 'auto', not True
    """
    low, high = ends_of(interval)
    words = f"a number in {interval}"
    if interval.endswith(("inf)", "inf]")):
        words = f"a number {'>=' if interval[0] == '[' else '>'} {interval[1:].partition(',')[0]}"
    what = f"{'a finite number' if interval == ANY_NUMBER else words}{otherwise}"
    return Check(what, partial(is_number, kind=exactly, low=low, high=high), float)


def ends_of(interval: str) -> tuple[float, float]:
    """Return the least and the largest double in an interval.

    >>> ends_of("[0, 1)")
    (0.0, 0.9999999999999999)
    """
    low, high = map(float, interval[1:-1].split(","))
    above, below = math.nextafter(low, math.inf), math.nextafter(high, -math.inf)
    return low if interval[0] == "[" else above, high if interval[-1] == "]" else below


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
    return Check(f"an integer{words}{otherwise}", partial(is_integer, low=low, high=high), int)


def instance(*classes: type) -> Check:
    """Accept objects of exactly these classes; for dataclasses, also of classes derived from them."""
    derived = tuple(one for one in classes if hasattr(one, "__dataclass_fields__"))
    names = " or ".join(one.__name__ for one in classes)
    return Check(f"of type {names}", lambda value: type(value) in classes or isinstance(value, derived))


def one_of(*words: str) -> Check:
    """Accept some texts, and nothing else."""
    return Check(f"one of {', '.join(map(repr, words))}", ().__contains__, words=words)


def optional(check: Check) -> Check:
    """Accept None too; on the command line it is written "none"."""
    return replace(check, parse=lambda text: None if text == "none" else check.parse(text), allows_none=True)


def tuple_of(check: Check, least: int = 0) -> Check:
    """Accept tuples of at least `least` accepted values."""
    return _parts(tuple, f"a tuple of at least {least} values", least, part=check)


def mapping(key: Check, content: Check) -> Check:
    """Accept dictionaries of accepted keys and values."""
    return _parts(dict, "a dictionary", key=key, value=content)


def _parts(kind: Any, words: str, least: int = 0, **checks: Check) -> Check:
    """Accept containers of one kind whose parts are accepted, each by the check of what it is called."""

    def rule(name: str, value: Any, sizes: Sizes) -> None:
        demand(type(value) is kind and len(value) >= least, f"{name} must be {words}")
        for parts in value.items() if kind is dict else ((one,) for one in value):
            for (called, check), part in zip(checks.items(), parts, strict=True):
                check(f"a {called} of {name}", part, sizes)

    return Check(rule=rule)


def has_hash(value: Any) -> bool:
    """Say whether a value can be looked up."""
    try:
        return isinstance(hash(value), int)
    except TypeError:
        return False


hashable = Check("a value that can be looked up", has_hash)
text = instance(str)


def texts(n: str) -> Check:
    """Accept lists of texts, as many as the size n."""

    def rule(name: str, value: Any, sizes: Sizes) -> None:
        is_right = type(value) is list and len(value) == sizes[n] and all(type(one) is str for one in value)
        demand(is_right, f"{name} must be {sizes[n]} texts")

    return Check(rule=rule)


def numbers(shape: str, interval: str = ANY_NUMBER, *, gaps: bool = False) -> Check:
    """Accept arrays of finite doubles in the interval, with `gaps` also NaN."""
    words = "numbers or gaps" if gaps else "finite numbers"
    return _arrays(shape, "float64", words, *ends_of(interval), interval=interval, gaps=gaps)


def indices(shape: str, stop: str = "", *, least: int = 0, most: int = 2**62, rising: bool = False) -> Check:
    """Accept arrays of 64-bit integers in [least, most], or below the size `stop`; they may have to rise."""
    return _arrays(shape, "int64", "integers", least, most, stop=stop, rising=rising)


def _arrays(
    shape: str, dtype: str, words: str, low: float, high: float, *,
    interval: str = "", stop: str = "", gaps: bool = False, rising: bool = False,
) -> Check:  # fmt: skip
    names = shape.split()

    def rule(name: str, value: Any, sizes: Sizes) -> None:
        import numpy as np

        is_right = type(value) is np.ndarray and value.dtype == dtype and value.ndim == len(names)
        for size, length in zip(names, value.shape if is_right else (), strict=False):
            sizes.setdefault(size, int(size) if size.isdigit() else length)
        expected = tuple(sizes.get(size, size) for size in names)
        demand(is_right and value.shape == expected, f"{name} must be {words} of shape {expected}")
        demand(gaps or np.isfinite(value).all(), f"{name} must be {words} of shape {expected}")
        most = sizes[stop] - 1 if stop else high
        is_inside = (value >= low) & (value <= most) | np.isnan(value)
        demand(is_inside.all(), f"{name} must lie in {interval or f'{low}..{most}'}")
        demand(not rising or (np.diff(value) > 0).all(), f"{name} must rise")

    return Check(rule=rule)


def is_array(value: Any, dtype: type, n_dims: int) -> bool:
    """Say whether a value is an array of that dtype and that many dimensions, finite throughout."""
    import numpy as np

    is_right = type(value) is np.ndarray and value.dtype == dtype and value.ndim == n_dims
    return is_right and bool(np.isfinite(value).all())


def bytes_of(max_memory: Any, name: str = "max_memory") -> int:
    """Return a size in bytes, given as an integer or as a text with a unit.

    >>> bytes_of(4096), bytes_of("2GiB"), bytes_of("500 MB")
    (4096, 2147483648, 500000000)
    """
    size = int(max_memory) if is_integer(max_memory) else 0
    if isinstance(max_memory, str) and (match := SIZE_IN_WORDS.fullmatch(max_memory.strip())):
        size = int(float(match[1]) * BYTE_UNITS.get(match[2].upper(), 0))
    if size <= 0:
        raise ValueError(f"{name} must be a number of bytes or a text such as '2GiB' or '500MB', not {max_memory!r}")
    return size


def prototypes(*words: str) -> Check:
    """Accept an integer >= 1, a fraction in (0, 1] or one of the words."""

    def accepts(value: Any) -> bool:
        return value >= 1 if is_integer(value) else is_number(value) and 0 < value <= 1

    def parse(text: str) -> int | float:
        return int(text) if text.strip().isdigit() else float(text)

    known = "".join(f"{word!r}, " for word in words)
    return or_word(Check(f"an integer >= 1, a fraction in (0, 1], {known}or None for all rows", accepts, parse), *words)


def or_word(check: Check, *words: str) -> Check:
    """Accept some words too."""
    return replace(check, words=words, parse=lambda text: text.strip() if text.strip() in words else check.parse(text))


def _are_columns(value: Any) -> bool:
    names = value if isinstance(value, list | tuple) else [value]
    return bool(names) and all(isinstance(one, str) or type(one) is int for one in names)


# A number of bytes, or a text such as "2GiB" or "500MB".
MEMORY = Check(rule=lambda name, value, sizes: bytes_of(value, name))
# A file from elsewhere must not start a million threads.
THREADS = Check(
    "None or an integer other than 0, at most 1024", lambda one: is_integer(one) and one != 0 and one <= 1024, int
)
# The name of a column, or a list of names; on the command line with commas.
COLUMN_NAMES = Check(
    "the name of a column or a list of names",
    _are_columns,
    lambda text: [one.strip() for one in text.split(",") if one.strip()],
)
# Values that are checked where they are used: they depend on the data.
ANYTHING = Check(parse=lambda text: int(text) if text.isdigit() else text)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a classifier: its name, the check of its values, and what it means."""

    name: str
    kind: Check
    help: str
