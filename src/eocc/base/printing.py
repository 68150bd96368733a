"""Text from files made safe to print: without control characters, on one line, cut if long."""

import re
import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches

from eocc.base.registry import listed

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def printable(text: str) -> str:
    r"""Return text on one line, with a question mark for every character that cannot be printed.

    >>> printable("two\nlines, \x1b[31mred")
    'two?lines, ?[31mred'
    """
    return text if text.isprintable() else "".join(letter if letter.isprintable() else "?" for letter in text)


def on_one_line(text: str) -> str:
    r"""Return text with a question mark for every control character and line end; any other character stays.

    >>> on_one_line("two\nlines, \x1b[31mred, no\xa0break")
    'two?lines, ?[31mred, no\xa0break'
    """
    return CONTROL.sub("?", text)


def printable_lines(text: str) -> str:
    """Return text of several lines, each of them printable."""
    return "\n".join(map(printable, text.split("\n")))


def has_instead(absent: str, names: Iterable[str]) -> str:
    """Return the columns that exist, and the one that was probably meant.

    >>> has_instead("laod", ["heat", "load"])
    "it has 'heat', 'load'. Did you mean 'load'?"
    >>> has_instead("ct_result", ["result", "CT_Result "])
    "it has 'result', 'CT_Result '. Did you mean 'CT_Result '?"
    """
    known = list(names)
    plain = {name.strip().lower(): name for name in known}
    close = [plain[one] for one in get_close_matches(absent.strip().lower(), plain, n=1)]
    return f"it has {listed(map(quoted, known))}" + (f". Did you mean {quoted(close[0])}?" if close else "")


def complaint(where: str, line: int | None, message: str) -> ValueError:
    """Return the error "where:line: message", always on one line."""
    return ValueError(printable(f"{where}:{line}: {message}" if line else f"{where}: {message}"))


def quoted(text: str) -> str:
    """Return the text in quotes, cut if it is long, for an error."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package, however deep inside it we are."""
    frame, depth, outermost = sys._getframe(1), 2, 2
    while frame.f_back:
        frame, depth = frame.f_back, depth + 1
        if frame.f_globals.get("__name__", "").startswith("eocc."):
            outermost = depth
    warnings.warn(message, category, stacklevel=outermost + 1)
