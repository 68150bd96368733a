"""A parameter of a classifier: its name, the kind of its values, and one line of help.

A kind has two methods: `check` raises a ValueError of one line for a value that it does not accept, `parse` returns the
value that a text on the command line means. Nothing heavy is imported here, so that the command line can list options
and choices at once.
"""

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from eocc.foundation.byte_sizes import bytes_of
from eocc.foundation.registry import choose

# The value that means: decide by the data.
AUTO = "auto"


@dataclass(frozen=True)
class Number:
    """A number in an interval, such as "in [0, 1]" or "in (0, 1)"."""

    interval: str

    def check(self, name: str, value: Any) -> None:
        """Accept numbers in the interval."""
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not self._holds(float(value)):
            raise ValueError(f"{name} must be a number in {self.interval}, not {value!r}")

    def parse(self, text: str) -> float:
        """Return the number."""
        return float(text)

    def _holds(self, value: float) -> bool:
        low, high = (float(end) for end in self.interval[1:-1].split(","))
        above = value >= low if self.interval[0] == "[" else value > low
        return above and (value <= high if self.interval[-1] == "]" else value < high)


@dataclass(frozen=True)
class Count:
    """An integer >= 1."""

    def check(self, name: str, value: Any) -> None:
        """Accept positive integers."""
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
            raise ValueError(f"{name} must be an integer >= 1, not {value!r}")

    def parse(self, text: str) -> int:
        """Return the integer."""
        return int(text)


@dataclass(frozen=True)
class Choice:
    """One of some `names`, or an object with one of the `methods`; "__call__" means any function."""

    names: tuple[str, ...]
    methods: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> None:
        """Accept the names, and objects with one of the methods."""
        if isinstance(value, str) or not self.methods:
            choose(name, dict.fromkeys(self.names), value)
        elif isinstance(value, type):
            raise ValueError(f"{name} must be an object, not a class: write {value.__name__}()")
        elif not any(callable(getattr(value, method, None)) for method in self.methods):
            wanted = ["a function" if one == "__call__" else f"an object with a method {one!r}" for one in self.methods]
            choose(name, dict.fromkeys(self.names), value, otherwise=f"pass {' or '.join(wanted)}")

    def parse(self, text: str) -> str:
        """Return the name."""
        return text


@dataclass(frozen=True)
class Optional:
    """None, or a value of the other kind. On the command line "none" means None."""

    kind: Any

    def check(self, name: str, value: Any) -> None:
        """Accept None too."""
        if value is not None:
            self.kind.check(name, value)

    def parse(self, text: str) -> Any:
        """Return None for "none"."""
        return None if text == "none" else self.kind.parse(text)


@dataclass(frozen=True)
class Prototypes:
    """An integer >= 1 or a fraction in (0, 1], or "auto" where that is allowed."""

    allows_auto: bool = False

    def check(self, name: str, value: Any) -> None:
        """Accept counts and fractions."""
        if self.allows_auto and isinstance(value, str) and value == AUTO:
            return
        is_count = isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1
        is_share = isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral) and 0 < float(value) <= 1
        if not is_count and not is_share:
            wanted = "an integer >= 1, a fraction in (0, 1], " + ("'auto', " if self.allows_auto else "")
            raise ValueError(f"{name} must be {wanted}or None for all rows, not {value!r}")

    def parse(self, text: str) -> int | float | str:
        """Return an integer, a fraction or "auto"."""
        if self.allows_auto and text.strip() == AUTO:
            return AUTO
        return int(text) if text.strip().isdigit() else float(text)


@dataclass(frozen=True)
class Memory:
    """A number of bytes, or a text such as "2GiB" or "500MB"."""

    def check(self, name: str, value: Any) -> None:
        """Accept positive sizes."""
        bytes_of(value, name)

    def parse(self, text: str) -> str:
        """Return the text."""
        return text


@dataclass(frozen=True)
class Threads:
    """An integer other than 0, at most `most`: a file from elsewhere must not start a million threads."""

    most: int = 1024

    def check(self, name: str, value: Any) -> None:
        """Accept integers but 0."""
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value == 0:
            raise ValueError(f"{name} must be None or an integer other than 0, not {value!r}")
        if int(value) > self.most:
            raise ValueError(f"{name} must be at most {self.most}, not {value!r}")

    def parse(self, text: str) -> int:
        """Return the integer."""
        return int(text)


@dataclass(frozen=True)
class ColumnNames:
    """The name of a column, or a list of names; on the command line with commas."""

    def check(self, name: str, value: Any) -> None:
        """Accept texts and integers, and lists of them."""
        names = value if isinstance(value, list | tuple) else [value]
        if not names or not all(isinstance(one, str | int) and not isinstance(one, bool) for one in names):
            raise ValueError(f"{name} must be the name of a column or a list of names, not {value!r}")

    def parse(self, text: str) -> list[str]:
        """Return the names."""
        return [one.strip() for one in text.split(",") if one.strip()]


@dataclass(frozen=True)
class Anything:
    """Values that are checked where they are used: they depend on the data."""

    def check(self, name: str, value: Any) -> None:
        """Accept all."""

    def parse(self, text: str) -> Any:
        """Return a number where the text is one."""
        return int(text) if text.isdigit() else text


@dataclass(frozen=True)
class Parameter:
    """A parameter of a classifier: its name, the kind of its values, and one line of help."""

    name: str
    kind: Any
    help: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names to choose from, if there are any."""
        kind = self.kind.kind if isinstance(self.kind, Optional) else self.kind
        return kind.names if isinstance(kind, Choice) else ()

    def check(self, value: Any) -> None:
        """Raise a ValueError of one line for a value that is not accepted."""
        self.kind.check(self.name, value)


def checked(parameters: Iterable[Parameter], estimator: Any) -> None:
    """Check all arguments of an estimator."""
    for parameter in parameters:
        parameter.kind.check(parameter.name, getattr(estimator, parameter.name))
