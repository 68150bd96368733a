"""A parameter of a classifier: its name, the check of its values, and one line of help.

Nothing heavy is imported here, so that the command line can list options and choices at once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from eocc.base.byte_sizes import bytes_of
from eocc.base.checks import Check, Sizes, is_integer, wanted

# The value that means: decide by the data.
AUTO = "auto"


def prototypes(*, allows_auto: bool = False) -> Check:
    """Accept an integer >= 1 or a fraction in (0, 1], and "auto" where that is allowed."""
    also = "'auto', " if allows_auto else ""

    def accepts(value: Any) -> bool:
        if isinstance(value, str):
            return allows_auto and value == AUTO
        is_share = isinstance(value, Real) and not is_integer(value) and not isinstance(value, bool)
        return 0 < value <= 1 if is_share else is_integer(value) and value >= 1

    def parse(text: str) -> int | float | str:
        word = text.strip()
        return AUTO if allows_auto and word == AUTO else int(word) if word.isdigit() else float(word)

    return wanted(f"an integer >= 1, a fraction in (0, 1], {also}or None for all rows", accepts, parse)


def _are_columns(value: Any) -> bool:
    names = value if isinstance(value, list | tuple) else [value]
    return bool(names) and all(isinstance(one, str | int) and not isinstance(one, bool) for one in names)


def _check_threads(name: str, value: Any, sizes: Sizes) -> None:
    wanted("None or an integer other than 0", lambda one: is_integer(one) and one != 0)(name, value)
    # A file from elsewhere must not start a million threads.
    wanted("at most 1024", lambda one: one <= 1024)(name, value)


# A number of bytes, or a text such as "2GiB" or "500MB".
MEMORY = Check(lambda name, value, sizes: bytes_of(value, name))
THREADS = Check(_check_threads, int)
# The name of a column, or a list of names; on the command line with commas.
COLUMN_NAMES = wanted(
    "the name of a column or a list of names",
    _are_columns,
    lambda text: [one.strip() for one in text.split(",") if one.strip()],
)
# Values that are checked where they are used: they depend on the data.
ANYTHING = Check(lambda name, value, sizes: None, lambda text: int(text) if text.isdigit() else text)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a classifier: its name, the check of its values, and one line of help."""

    name: str
    kind: Check
    help: str


def checked(parameters: Iterable[Parameter], estimator: Any) -> None:
    """Check all arguments of an estimator."""
    for parameter in parameters:
        parameter.kind(parameter.name, getattr(estimator, parameter.name))
