"""CSV and TSV -> chunks of columns of text: by pyarrow if it is installed, and by the csv module where it refuses."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from eocc.base.printing import complaint, quoted
from eocc.base.wording import counted
from eocc.formats.files.formats import Lines
from eocc.formats.files.rows import CHUNK_BYTES, Chunk
from eocc.tables.spelling import COMMA, NUMERAL, PLAIN, Dialect, number_of
from eocc.tables.table import Table, TextColumn, text_column

# In the order of preference, if two cut a file equally well.
DELIMITERS = (";", "\t", "|", ",")
IN_WORDS = {";": "semicolons", "\t": "tabs", "|": "bars"}
# The delimiter is found in this many lines.
LINES_AHEAD = 20
# A part of the csv module's message -> what is wrong with the file.
FAULTS = {
    "new-line character": "a lone carriage return in a row; save the file with LF or CRLF line ends",
    "field larger": f"a cell has more than {csv.field_size_limit()} characters; is a quote not closed?",
    "unexpected end": "a quote is never closed; close it, or write two quotes for one in a quoted cell",
    "expected after": "text after a closing quote; write two quotes for one in a quoted cell",
}

Record = tuple[int, list[str]]


def csv_chunks(lines: Lines, dialect: Dialect | None, usual: str = "") -> Iterator[Chunk]:
    """Yield the rows of a CSV file with a header and perhaps a usual delimiter; blank lines are ignored."""
    dialect = dialect or Dialect()
    dialect = replace(dialect, delimiter=dialect.delimiter or usual)
    data, number = lines.block(CHUNK_BYTES)
    start = data.removeprefix(codecs.BOM_UTF8).split(b"\n", LINES_AHEAD)[:LINES_AHEAD]
    delimiter = dialect.delimiter or delimiter_of([line.decode(errors="replace") for line in start])
    head = Lines(io.BytesIO(data), lines.where)
    header = header_of(next(_records(head, delimiter), None), lines.where, delimiter)
    data, number = data[head.size :], number + head.number
    dialect = replace(dialect, may_divide=delimiter == ",")
    layout = "" if dialect.delimiter or delimiter not in IN_WORDS else f"{IN_WORDS[delimiter]} between cells"
    while data:
        read = _by_arrow(data, header, delimiter)
        places: Sequence[int] = range(number, number + len(data))
        if read is None:
            part = Lines(io.BytesIO(data), lines.where, number - 1)
            records = list(_of_width(_records(part, delimiter), len(header), lines.where))
            cells = zip(*(record[1] for record in records), strict=True) if records else [()] * len(header)
            texts = ([cell or None for cell in some] for some in cells)
            read = list(map(text_column, header, texts))
            places = [line for line, _ in records]
        if len(read[0]):
            table = Table(tuple(read), dialect)
            yield Chunk(lines.where, table, lines=places[: len(table)], layout=layout)
        data, number = lines.block(CHUNK_BYTES)


def _by_arrow(data: bytes, header: list[str], delimiter: str) -> Any:
    """Return the columns of a block with one row per line; None if it has others, or pyarrow refuses it."""
    try:
        import pyarrow
        from pyarrow import csv as reader
    except ModuleNotFoundError:
        return None
    cut = re.escape(delimiter.encode())
    if b"\0" in data or (b'"' in data and re.search(rb'(?<![\n"%b])"(?![\r\n"%b])|%b +"' % (cut, cut, cut), data)):
        return None  # pyarrow would accept a NUL, and text before or after a quoted cell
    if len(header) == 1 and re.search(rb"(?m)^[ \t]+\r?$", data):
        return None  # a blank line
    try:
        found = reader.read_csv(
            pyarrow.BufferReader(data),
            reader.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=header),
            reader.ParseOptions(delimiter=delimiter),
            reader.ConvertOptions(
                column_types=dict.fromkeys(header, pyarrow.string()), strings_can_be_null=True, null_values=[""]
            ),
        )
    except pyarrow.ArrowInvalid:
        return None
    if found.num_rows != data.count(b"\n") + (not data.endswith(b"\n")):
        return None
    return [TextColumn(name, column.combine_chunks()) for name, column in zip(header, found.columns, strict=True)]


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
    """Return the names of the columns, "column 1" if the first has none, or raise if they cannot be names."""
    if record is None:
        raise complaint(where, None, "is empty; it needs a header and rows")
    names, fault = [cell.strip() for cell in record[1]], ""
    if len(names) > 1 and not names[-1]:
        del names[-1]
    if len(names) > 1 and not names[0]:
        names[0] = "column 1"  # the index of a frame, as pandas writes it
    other = next((mark for mark in DELIMITERS if mark != delimiter and mark in names[0]), None)
    ((twice, count),) = Counter(names).most_common(1)
    if "" in names:
        fault = f"column {names.index('') + 1} of the header has no name; give it one, or delete it"
    elif count > 1:
        fault = f"the column {quoted(twice)} occurs twice; rename one"
    elif all(map(NUMERAL.fullmatch, names)) and not all(name.lstrip("+-").isdigit() for name in names):
        fault = f"numbers such as {quoted(names[0])} where a header is expected; add a first line with column names"
    elif len(names) == 1 and other and delimiter:
        fault = f"only one column, with {other!r} in its name; if that divides cells, pass --delimiter {other!r}"
    if fault:
        raise complaint(where, record[0], fault)
    return names


def delimiter_of(lines: Iterable[str]) -> str:
    r"""Return the delimiter that cuts all lines into the same number of cells, at least 2; a comma if none does.

    Of several, the one for which more of the cells are numbers wins, then the one with more cells.

    >>> delimiter_of(["load, kN;heat\n", "1,5;20\n"]), delimiter_of(["a\n", "1\n"])
    (';', ',')
    """
    filled, fits = [line for line in lines if line.strip()], dict[str, tuple[float, int]]()
    for mark in DELIMITERS:
        try:
            rows = [cells for cells in csv.reader(filled, delimiter=mark, skipinitialspace=True) if cells]
        except csv.Error:
            continue
        whole = rows[:-1] or rows  # the last row may go on in the next line
        width = len(whole[0]) if whole else 0
        # There may be a delimiter after the last cell, or none.
        if width < 2 or any(len(cells) - (not cells[-1].strip()) not in (width - 1, width) for cells in whole):
            continue
        texts = [cell.strip() for cells in whole[1:] for cell in cells if cell.strip()]
        n_numbers = sum(any(number_of(text, spelling) is not None for spelling in (PLAIN, COMMA)) for text in texts)
        fits[mark] = n_numbers / max(1, len(texts)), width
    return max(fits, key=lambda mark: fits[mark], default=",")
