"""CSV and TSV -> chunks of columns of text."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence

from eocc.foundation.printing import complaint, quoted
from eocc.foundation.wording import counted
from eocc.io.files.cells import is_numeral
from eocc.io.files.chunk import Chunk, portions
from eocc.io.files.source import Lines

# A part of the csv module's message -> what is wrong with the file.
FAULTS = {
    "new-line character": "a lone carriage return in a row; save the file with LF or CRLF line ends",
    "field larger": f"a cell has more than {csv.field_size_limit()} characters; is a quote not closed?",
    "unexpected end": "a quote is never closed; close it, or write two quotes for one in a quoted cell",
    "expected after": "text after a closing quote; write two quotes for one in a quoted cell",
}
OTHER_DELIMITERS = (";", "\t", "|", ",")

Record = tuple[int, list[str]]


def tsv_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the rows of a file with tabs between its cells."""
    return csv_chunks(lines, "\t")


def csv_chunks(lines: Lines, delimiter: str = ",") -> Iterator[Chunk]:
    """Yield the rows of a CSV file with a header; blank lines are ignored."""
    records = _records(lines, delimiter)
    header = _header(next(records, None), lines.where, delimiter)
    for first, part in portions(_of_width(records, len(header), lines.where), lines):
        numbers, rows = zip(*part, strict=True)
        columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
        yield Chunk(lines.where, first, columns, lines=numbers, is_text=True)


def _records(lines: Lines, delimiter: str) -> Iterator[Record]:
    """Yield the line in which a row begins, and its cells."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    while True:
        begin = lines.number + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            fault = next((fault for words, fault in FAULTS.items() if words in str(error)), str(error))
            raise complaint(lines.where, begin, fault) from None
        if cells is None:
            return
        if len(cells) > 1 or any(cell.strip() for cell in cells):
            yield begin, cells


def _of_width(records: Iterator[Record], width: int, where: str) -> Iterator[Record]:
    """Yield the rows, as long as the header; an empty cell after the last delimiter is dropped."""
    for line, cells in records:
        if len(cells) == width + 1 and not cells[-1].strip():
            del cells[-1]
        if len(cells) != width:
            remedy = "quote cells that hold the delimiter, leave missing ones empty"
            raise complaint(where, line, f"{counted(len(cells), 'cell')}, but the header has {width}; {remedy}")
        yield line, cells


def _header(record: Record | None, where: str, delimiter: str) -> list[str]:
    """Return the names of the columns, or raise if they cannot be names."""
    if record is None:
        raise complaint(where, None, "is empty; it needs a header and rows")
    names = [cell.strip() for cell in record[1]]
    if len(names) > 1 and not names[-1]:
        del names[-1]
    if fault := _fault_in(names, delimiter):
        raise complaint(where, record[0], fault)
    return names


def _fault_in(names: Sequence[str], delimiter: str) -> str:
    if "" in names:
        return f"column {names.index('') + 1} of the header has no name; give it one, or delete it"
    ((twice, count),) = Counter(names).most_common(1)
    if count > 1:
        return f"the column {quoted(twice)} occurs twice; rename one"
    if all(map(is_numeral, names)) and not all(name.lstrip("+-").isdigit() for name in names):
        return f"numbers such as {quoted(names[0])} where a header is expected; add a first line with column names"
    other = next((mark for mark in OTHER_DELIMITERS if mark != delimiter and mark in names[0]), None)
    if len(names) == 1 and other:
        return f"only one column, with {other!r} in its name; CSV needs commas between cells, TSV tabs: convert it"
    return ""
