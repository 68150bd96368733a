"""CSV and TSV -> chunks of columns of text."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from eocc.foundation.printing import complaint, quoted
from eocc.foundation.wording import counted
from eocc.io.files.chunk import Chunk, portions
from eocc.io.files.dialect import DELIMITERS, IN_WORDS, LINES_AHEAD, Dialect, delimiter_of
from eocc.io.files.source import Lines
from eocc.measures.spelling import NUMERAL, Spelling

# A part of the csv module's message -> what is wrong with the file.
FAULTS = {
    "new-line character": "a lone carriage return in a row; save the file with LF or CRLF line ends",
    "field larger": f"a cell has more than {csv.field_size_limit()} characters; is a quote not closed?",
    "unexpected end": "a quote is never closed; close it, or write two quotes for one in a quoted cell",
    "expected after": "text after a closing quote; write two quotes for one in a quoted cell",
}

Record = tuple[int, list[str]]


def tsv_chunks(lines: Lines, dialect: Dialect) -> Iterator[Chunk]:
    """Yield the rows of a file with tabs between its cells."""
    return csv_chunks(lines, replace(dialect, delimiter=dialect.delimiter or "\t"))


def csv_chunks(lines: Lines, dialect: Dialect) -> Iterator[Chunk]:
    """Yield the rows of a CSV file with a header; blank lines are ignored."""
    delimiter = dialect.delimiter or delimiter_of(lines.ahead(LINES_AHEAD))
    records = _records(lines, delimiter)
    header = header_of(next(records, None), lines.where, delimiter)
    spelling, layout = None, ""
    for first, part in portions(_of_width(records, len(header), lines.where), lines):
        numbers, rows = zip(*part, strict=True)
        cells = list(map(list, zip(*rows, strict=True)))
        if spelling is None:
            spelling = _spelling(dialect, cells, delimiter, lines.where)
            layout = _layout("" if dialect.delimiter else delimiter, spelling)
        columns = dict(zip(header, cells, strict=True))
        yield Chunk(lines.where, first, columns, lines=numbers, is_text=True, spelling=spelling, layout=layout)


def _spelling(dialect: Dialect, cells: Sequence[Sequence[str]], delimiter: str, where: str) -> Spelling:
    try:
        return dialect.spelling(cells, delimiter)
    except ValueError as error:
        raise complaint(where, None, str(error)) from None


def _layout(delimiter: str, spelling: Spelling) -> str:
    """Return in words what is not as usual: the delimiter if it was found, a decimal comma, the order of dates."""
    cut = f"{IN_WORDS[delimiter]} between cells" if delimiter in IN_WORDS else ""
    comma = "decimal commas" if spelling.decimal == "," else ""
    order = "" if spelling.day_first is None else f"dates with the {'day' if spelling.day_first else 'month'} first"
    return ", ".join(filter(None, [cut, comma, order]))


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


def header_of(record: Record | None, where: str, delimiter: str = "") -> list[str]:
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
    if all(map(NUMERAL.fullmatch, names)) and not all(name.lstrip("+-").isdigit() for name in names):
        return f"numbers such as {quoted(names[0])} where a header is expected; add a first line with column names"
    other = next((mark for mark in DELIMITERS if mark != delimiter and mark in names[0]), None)
    if len(names) == 1 and other and delimiter:
        return f"only one column, with {other!r} in its name; if that divides cells, pass --delimiter {other!r}"
    return ""
