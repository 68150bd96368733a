"""Parquet and Arrow files, NumPy's .npy files and sheets of workbooks -> chunks of typed columns."""

import pickle
import re
import signal
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.base.printing import complaint, has_instead, quoted
from eocc.base.wording import counted
from eocc.formats.files import workbook
from eocc.formats.files.rows import Chunk, rows_per_chunk
from eocc.formats.files.tables import header_of
from eocc.tables.sources import column_of_array, column_of_cells, table_of
from eocc.tables.spelling import Dialect
from eocc.tables.table import Table

# The name that pandas gives to an index without a name.
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
# All that numpy raises for a damaged header, including what Python's parser raises.
FAULTS = (ValueError, TypeError, OverflowError, SyntaxError, TokenError, EOFError, OSError, MemoryError, RecursionError)
# A workbook may take this much memory, and this multiple of its size; this many seconds, and 5 more per MiB.
MEMORY, TIMES = 2**28, 64
SECONDS = 10
# What Excel writes into a cell whose formula has no value.
ERRORS = frozenset({"", "#N/A", "#DIV/0!", "#REF!", "#NAME?", "#VALUE!", "#NUM!", "#NULL!"})

Row = tuple[int, list[Any]]


def parquet_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of a Parquet file."""
    with _readable(path) as arrow, arrow.parquet.ParquetFile(
        path, buffer_size=2**16, page_checksum_verification=True, pre_buffer=False
    ) as file:  # fmt: skip
        n_rows = rows_per_chunk(len(file.schema_arrow.names))
        yield from _chunks(file.iter_batches(batch_size=n_rows), str(path), arrow, file.metadata.num_rows)


def arrow_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of an Arrow (Feather, IPC) file or stream."""
    with _readable(path) as arrow, arrow.memory_map(str(path)) as source:
        try:
            file = arrow.ipc.open_file(source)
            batches = map(file.get_batch, range(file.num_record_batches))
        except arrow.lib.ArrowInvalid:
            source.seek(0)
            batches = arrow.ipc.open_stream(source)
        yield from _chunks(batches, str(path), arrow)


def _chunks(batches: Iterator[Any], where: str, arrow: Any, n_rows: int = 0) -> Iterator[Chunk]:
    for batch in batches:
        batch.validate(full=True)  # damaged offsets could point anywhere
        names = {k: name for k, name in enumerate(batch.schema.names) if not PANDAS_INDEX.fullmatch(name)}
        if not names:
            raise complaint(where, None, "has no columns; at least 1 is required")
        ((twice, count),) = Counter(names.values()).most_common(1)
        if count > 1:
            raise complaint(where, None, f"the column {quoted(twice)} occurs twice; rename one")
        step = rows_per_chunk(len(names))
        for start in range(0, batch.num_rows, step):
            part = batch.slice(start, step)
            table = arrow.table({name: part.column(k) for k, name in names.items()})
            yield Chunk(where, table_of(table), file_rows=n_rows)


@contextmanager
def _readable(path: Path) -> Iterator[Any]:
    """Yield pyarrow; an error in reading the file is one line that names it."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError("Parquet and Arrow files need pyarrow: pip install pyarrow") from None
    try:
        yield pyarrow
    except (pyarrow.lib.ArrowException, OSError, MemoryError, UnicodeDecodeError, EOFError) as error:
        message = (str(error).splitlines() or [""])[0][:200].rstrip(".") or type(error).__name__
        remedy = "is the file complete, and does its name match its format?"
        raise complaint(str(path), None, f"cannot be read: {message}; {remedy}") from None


def npy_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of a 2-d array of numbers; its columns are called "0", "1" and so on."""
    array = mapped(path)
    step = rows_per_chunk(array.shape[1])
    for start in range(0, len(array), step):
        with np.errstate(over="ignore"):  # long doubles that are too large become infinite, and are refused later
            rows = np.array(array[start : start + step], np.float64, order="F")
        table = Table(tuple(column_of_array(str(k), column) for k, column in enumerate(rows.T)))
        yield Chunk(str(path), table, is_named=False, file_rows=len(array))


def mapped(path: Path) -> NDArray[np.generic]:
    """Return the array of a .npy file as a memory map; raise unless it holds rows of numbers."""
    try:
        with warnings.catch_warnings():  # headers written by Python 2, absurd sizes
            warnings.simplefilter("ignore")
            array = np.lib.format.open_memmap(path, mode="r")
    except FAULTS as error:
        if "Python objects" in str(error):
            fault = "holds Python objects, which are not read; save an array of numbers"
            raise complaint(str(path), None, fault) from None
        raise complaint(str(path), None, "cannot be read; is the file complete, and written by numpy.save?") from None
    fault = "" if array.shape[1:] != (0,) else "has no columns; at least 1 is required"
    if array.ndim != 2:
        remedy = "reshape(-1, 1) makes one column" if array.ndim == 1 else "reshape it"
        fault = f"an array of rows has 2 dimensions, not {array.ndim}; {remedy}"
    elif array.dtype.kind == "c":
        fault = f"holds complex numbers ({array.dtype}); save real and imaginary parts as separate columns"
    elif array.dtype.kind not in "biuf":
        fault = f"holds {str(array.dtype)[:60]}, not numbers; save an array of numbers"
    if fault:
        raise complaint(str(path), None, fault)
    return array


def sheet_chunks(path: Path, sheet: str = "") -> Iterator[Chunk]:
    """Yield the rows of a sheet, by default the largest. Its first row is the header; empty rows are ignored."""
    with closing(_rows(path, sheet)) as rows:
        layout = next(rows)
        first = next(rows, None)
        header = header_of(first and (first[0], ["" if cell is None else str(cell) for cell in first[1]]), str(path))
        step = rows_per_chunk(len(header))
        while part := list(islice(rows, step)):
            numbers, cells = zip(*(_of_width(row, len(header), str(path)) for row in part), strict=True)
            columns = map(column_of_cells, header, map(list, zip(*cells, strict=True)))
            yield Chunk(str(path), Table(tuple(columns), Dialect()), lines=numbers, layout=layout)


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
        elif process.returncode == -getattr(signal, "SIGXCPU", 0):  # not on Windows
            why = f"takes more than {process.args[-1]} seconds; save the sheet as .csv if you trust it"
        elif process.returncode in (9, -6, -9, -11) or "memory" in said or "MemError" in said:
            why = f"needs more than {limit >> 20} MiB of memory; save the sheet as .csv if you trust it"
        raise complaint(str(path), None, why) from None
