"""How a CSV file is written: the delimiter, the decimal mark and the order of its dates, given or found in the file."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from eocc.foundation.printing import quoted
from eocc.measures.spelling import Spelling, number_of, order_of_date

# In the order of preference, if two cut a file equally well.
DELIMITERS = (";", "\t", "|", ",")
IN_WORDS = {";": "semicolons", "\t": "tabs", "|": "bars"}
# The delimiter is found in so many lines, the decimal mark and the order of dates in the first chunk.
LINES_AHEAD = 20
POINT, COMMA = Spelling("."), Spelling(",")
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"


@dataclass(frozen=True)
class Dialect:
    """The delimiter, the decimal mark and the order of dates that the user gave; "" for what is to be found."""

    delimiter: str = ""
    decimal: str = ""
    dates: str = ""

    def spelling(self, columns: Sequence[Sequence[str]], delimiter: str) -> Spelling:
        """Return how the cells of the first chunk write numbers and dates; raise if they can be read in two ways."""
        decimal = self.decimal or _decimal(columns, delimiter)
        return Spelling(decimal, self.dates == DAY_FIRST if self.dates else _day_first(columns))


def delimiter_of(lines: Iterable[str]) -> str:
    r"""Return the delimiter that cuts all lines into the same number of cells, at least 2; a comma if none does.

    Of several, the one for which more of the cells are numbers wins, then the one with more cells.

    >>> delimiter_of(["load, kN;heat\n", "1,5;20\n"]), delimiter_of(["a\n", "1\n"])
    (';', ',')
    """
    filled = [line for line in lines if line.strip()]
    cut = {mark: fit for mark in DELIMITERS if (fit := _cut(filled, mark))}
    return max(cut, key=lambda mark: cut[mark], default=",")


def _cut(lines: list[str], mark: str) -> tuple[float, int] | None:
    """Return the share of numbers below the header, and the number of cells in a line; None if lines differ."""
    try:
        rows = [cells for cells in csv.reader(lines, delimiter=mark, skipinitialspace=True) if cells]
    except csv.Error:
        return None
    whole = rows[:-1] or rows  # the last row may go on in the next line
    width = len(whole[0]) if whole else 0
    # There may be a delimiter after the last cell, or none.
    if width < 2 or any(len(cells) - (not cells[-1].strip()) not in (width - 1, width) for cells in whole):
        return None
    filled = [cell.strip() for cells in whole[1:] for cell in cells if cell.strip()]
    are_numbers = [any(number_of(cell, spelling) is not None for spelling in (POINT, COMMA)) for cell in filled]
    return sum(are_numbers) / max(1, len(filled)), width


def _decimal(columns: Sequence[Sequence[str]], delimiter: str) -> str:
    """Return the decimal mark: a comma if numbers such as 1,5 occur, and none such as 1.5."""
    doubtful = ""
    has_comma = False
    for cell in _with(",", columns):
        if number_of(cell, COMMA) is not None:
            if number_of(cell, POINT) is None:
                has_comma = True
                break
            doubtful = doubtful or cell
    if not (has_comma or doubtful) or any(
        number_of(cell, COMMA) is None and number_of(cell, POINT) is not None for cell in _with(".", columns)
    ):
        return "."
    if has_comma or delimiter == ",":
        return "," if has_comma else "."
    remedy = "pass --decimal , for 1.234 or --decimal . for 1234" if doubtful == "1,234" else (
        "pass --decimal , if the comma is the decimal mark, --decimal . if it divides thousands"
    )  # fmt: skip
    raise ValueError(f"the number {quoted(doubtful)} can be read in two ways; {remedy}")


def _day_first(columns: Sequence[Sequence[str]]) -> bool | None:
    """Return whether dates such as 31/1/2031 begin with their day; None if no date says so, or some say otherwise."""
    found = {order_of_date(cell) for mark in "/-" for cell in _with(mark, columns) if cell[0].isdigit()} - {None}
    return found.pop() if len(found) == 1 else None


def _with(mark: str, columns: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the cells that hold a mark."""
    return (cell.strip() for cells in columns for cell in cells if mark in cell)
