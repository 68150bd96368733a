"""The first sheet of an Excel workbook (.xlsx) -> chunks of columns, read row by row."""

import warnings
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from eocc.foundation.printing import complaint
from eocc.foundation.wording import counted
from eocc.io.archive import Limits, open_collection
from eocc.io.files.chunk import Chunk, rows_per_chunk
from eocc.io.files.source import check_regular
from eocc.io.files.tables import header_of

LIMITS = Limits(file_bytes=2**28)
# What Excel writes into a cell whose formula has no value.
ERRORS = frozenset({"#N/A", "#DIV/0!", "#REF!", "#NAME?", "#VALUE!", "#NUM!", "#NULL!"})

Row = tuple[int, list[Any]]


def sheet_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of the first sheet. Its first row is the header; empty rows are ignored."""
    check_regular(path)
    with open_collection(path, LIMITS) as files:  # refuses what unpacks to more than the limits
        for name in files.names:
            for _ in files.chunks(name):
                pass
    with closing(_rows(path)) as rows:
        first = next(rows, None)
        header = header_of(first and (first[0], ["" if cell is None else str(cell) for cell in first[1]]), str(path))
        step, start = rows_per_chunk(len(header)), 0
        while part := list(islice(rows, step)):
            numbers, cells = zip(*(_of_width(row, len(header), str(path)) for row in part), strict=True)
            columns = dict(zip(header, map(list, zip(*cells, strict=True)), strict=True))
            yield Chunk(str(path), start, columns, lines=numbers, is_text=True)
            start += len(part)


def _of_width(row: Row, width: int, where: str) -> Row:
    number, cells = row
    if len(cells) > width:
        raise complaint(where, number, f"{counted(len(cells), 'cell')}, but the header has {width}; name all columns")
    return number, cells + [None] * (width - len(cells))


def _rows(path: Path) -> Generator[Row]:
    """Yield the number and the cells of each row, up to the last cell with a value."""
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError:
        raise ModuleNotFoundError("Excel files need openpyxl: pip install 'eocc[tables]'") from None
    try:
        with warnings.catch_warnings(), closing(load_workbook(path, read_only=True, data_only=True)) as book:
            warnings.simplefilter("ignore")  # styles and extensions that are not read
            for number, cells in enumerate(book.worksheets[0].iter_rows(values_only=True), 1):
                values = [None if cell in ERRORS or str(cell).strip() == "" else cell for cell in cells]
                while values and values[-1] is None:
                    del values[-1]
                if values:
                    yield number, values
    except Exception as error:  # openpyxl lets through what its parsers raise for a damaged file
        message = (str(error).splitlines() or [""])[0][:200] or type(error).__name__
        raise complaint(str(path), None, f"cannot be read: {message}; is it a complete Excel workbook?") from None
