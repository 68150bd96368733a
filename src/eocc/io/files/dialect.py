"""How a CSV file is written: the delimiter, the decimal mark and the order of its dates, given or found in the file."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from eocc.measures.spelling import COMMA, PLAIN, Spelling, number_of, spelling_of

# In the order of preference, if two cut a file equally well.
DELIMITERS = (";", "\t", "|", ",")
IN_WORDS = {";": "semicolons", "\t": "tabs", "|": "bars"}
# The delimiter is found in so many lines, the decimal mark and the order of dates in the first chunk.
LINES_AHEAD = 20
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"


@dataclass(frozen=True)
class Dialect:
    """The delimiter, the decimal mark and the order of dates that the user gave; "" for what is to be found.

    What cannot be found is as `usual`: as in the training file.
    """

    delimiter: str = ""
    decimal: str = ""
    dates: str = ""
    usual: Spelling = PLAIN

    def spelling(self, columns: Sequence[Sequence[str]], delimiter: str) -> Spelling:
        """Return how the cells of the first chunk write numbers and dates; raise if they can be read in two ways."""
        found = spelling_of(columns, self.decimal, self.usual, may_divide=delimiter == ",")
        return replace(found, day_first=self.dates == DAY_FIRST) if self.dates else found


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
    are_numbers = [any(number_of(cell, spelling) is not None for spelling in (PLAIN, COMMA)) for cell in filled]
    return sum(are_numbers) / max(1, len(filled)), width
