"""A sheet of a workbook, Excel or OpenDocument -> chunks of columns."""

import pickle
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import closing
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from signal import SIGXCPU
from typing import Any

from eocc.base.printing import complaint, has_instead, quoted
from eocc.base.wording import counted
from eocc.formats.files import workbook
from eocc.formats.files.chunk import Chunk, rows_per_chunk
from eocc.formats.files.tables import header_of
from eocc.tables.sources import column_of_cells
from eocc.tables.spelling import Dialect
from eocc.tables.table import Table

# A workbook may take this much memory, and this multiple of its size; this many seconds, and 5 more per MiB.
MEMORY, TIMES = 2**28, 64
SECONDS = 10
# What Excel writes into a cell whose formula has no value.
ERRORS = frozenset({"", "#N/A", "#DIV/0!", "#REF!", "#NAME?", "#VALUE!", "#NUM!", "#NULL!"})

Row = tuple[int, list[Any]]


def sheet_chunks(path: Path, sheet: str = "") -> Iterator[Chunk]:
    """Yield the rows of a sheet, by default the largest. Its first row is the header; empty rows are ignored."""
    with closing(_rows(path, sheet)) as rows:
        layout = next(rows)
        first = next(rows, None)
        header = header_of(first and (first[0], ["" if cell is None else str(cell) for cell in first[1]]), str(path))
        step, start = rows_per_chunk(len(header)), 0
        while part := list(islice(rows, step)):
            numbers, cells = zip(*(_of_width(row, len(header), str(path)) for row in part), strict=True)
            columns = map(column_of_cells, header, map(list, zip(*cells, strict=True)))
            yield Chunk(str(path), start, Table(tuple(columns), Dialect()), lines=numbers, layout=layout)
            start += len(part)


def _of_width(row: Row, width: int, where: str) -> Row:
    number, cells = row
    if len(cells) > width:
        raise complaint(where, number, f"{counted(len(cells), 'cell')}, but the header has {width}; name all columns")
    return number, cells + [None] * (width - len(cells))


def _rows(path: Path, sheet: str) -> Generator[Any]:
    """Yield the layout, and the number and the cells of each row, up to the last cell with a value."""
    if find_spec("python_calamine") is None:
        raise ModuleNotFoundError("Excel and OpenDocument files need python-calamine: pip install python-calamine")
    size = path.stat().st_size
    limit, seconds = MEMORY + TIMES * size, SECONDS + 5 * (size >> 20)
    program = [sys.executable, "-I", str(Path(workbook.__file__)), str(path), sheet, str(limit), str(seconds)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            names, chosen = _loaded(process, path, limit)
            if sheet and sheet not in names:
                raise complaint(str(path), None, f"has no sheet {quoted(sheet)}; {has_instead(sheet, names)}")
            more = f" of {len(names)}, --sheet chooses another" if len(names) > 1 and not sheet else ""
            yield f"sheet {quoted(chosen)}{more}" if len(names) > 1 else ""
            count = 0
            while part := _loaded(process, path, limit):
                for number, cells in enumerate(part, count + 1):
                    values = [None if isinstance(cell, str) and cell.strip() in ERRORS else cell for cell in cells]
                    while values and values[-1] is None:
                        del values[-1]
                    if values:
                        yield number, values
                count += len(part)
        finally:
            process.kill()


def _loaded(process: Any, path: Path, limit: int) -> Any:
    """Return the next pickle; None at the end."""
    try:
        return pickle.load(process.stdout)
    except (EOFError, pickle.UnpicklingError):
        said = process.stderr.read().decode(errors="replace")
        if process.wait() == 0:
            return None
        why = "cannot be read; is it a complete workbook, and does its name match its format?"
        if "password" in said.lower():
            why = "is protected by a password; save it without one"
        elif process.returncode == -SIGXCPU:
            why = f"takes more than {process.args[-1]} seconds; save the sheet as .csv if you trust it"
        elif process.returncode in (9, -6, -9, -11) or "memory" in said or "MemError" in said:
            why = f"needs more than {limit >> 20} MiB of memory; save the sheet as .csv if you trust it"
        raise complaint(str(path), None, why) from None
