"""CSV and TSV -> chunks of columns of text."""

import csv
from collections.abc import Iterator, Sequence

from eocc.foundation.printing import complaint, quoted
from eocc.io.files.cells import is_numeral, is_whole_numeral
from eocc.io.files.chunk import Chunk
from eocc.io.files.source import Lines, portions

# What the csv module says -> what it means for the file.
FAULTS = {
    "new-line character": "a lone carriage return in a row; save the file with LF or CRLF at the end of lines",
    "field larger": f"a cell of more than {csv.field_size_limit()} characters; is a quote not closed?",
    "unexpected end": "a quote is opened and never closed; close it, or write two quotes for one in a quoted cell",
    "expected after": "text after a closing quote; write two quotes for one in a quoted cell",
}
OTHER_DELIMITERS = (";", "\t", "|", ",")

Record = tuple[int, list[str]]


def csv_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the rows of a CSV file with a header; blank lines do not count."""
    return _delimited(lines, ",")


def tsv_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the rows of a file with tabs between its cells."""
    return _delimited(lines, "\t")


def _delimited(lines: Lines, delimiter: str) -> Iterator[Chunk]:
    records = _records(lines, delimiter)
    header = _header(next(records, None), lines.where, delimiter)
    for first, part in portions(_fitting(records, len(header), lines.where), lines):
        numbers, rows = zip(*part, strict=True)
        columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
        yield Chunk(lines.where, first, columns, lines=numbers, is_text=True)


def _records(lines: Lines, delimiter: str) -> Iterator[Record]:
    """Yield the line where a row begins, and its cells."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    while True:
        begin = lines.number + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            found = next((said for words, said in FAULTS.items() if words in str(error)), str(error))
            raise complaint(lines.where, begin, found) from None
        if cells is None:
            return
        if len(cells) > 1 or any(cell.strip() for cell in cells):
            yield begin, cells


def _fitting(records: Iterator[Record], width: int, where: str) -> Iterator[Record]:
    """Yield rows as long as the header; an empty cell after the last delimiter does not count."""
    for line, cells in records:
        if len(cells) == width + 1 and not cells[-1].strip():
            del cells[-1]
        if len(cells) != width:
            counted = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            raise complaint(where, line, f"{counted}, but the header has {width}; quote a cell that holds the "
                            "delimiter, leave a missing one empty")  # fmt: skip
        yield line, cells


def _header(record: Record | None, where: str, delimiter: str) -> list[str]:
    """Return the names of the columns, or say what is wrong with them."""
    if record is None:
        raise complaint(where, None, "is empty; it needs a header and rows")
    line, cells = record
    names = [cell.strip() for cell in cells]
    if len(names) > 1 and not names[-1]:
        del names[-1]
    fault = _fault_in(names, delimiter)
    if fault:
        raise complaint(where, line, fault)
    return names


def _fault_in(names: Sequence[str], delimiter: str) -> str:
    if "" in names:
        return f"column {names.index('') + 1} of the header has no name; name it, or leave it out"
    seen = set[str]()
    twice = [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    if twice:
        return f"the column {quoted(twice[0])} occurs twice; rename one"
    if all(map(is_numeral, names)) and not all(map(is_whole_numeral, names)):
        return f"numbers, {quoted(names[0])} say, where the header belongs; add a first line with names of columns"
    other = next((mark for mark in OTHER_DELIMITERS if mark != delimiter and mark in names[0]), None)
    if len(names) == 1 and other:
        return f"one column, with {other!r} in its name; CSV has commas between cells, TSV tabs: convert the file"
    return ""
