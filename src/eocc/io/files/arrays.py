"""NumPy's .npy files -> chunks of columns whose names are numbers."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from tokenize import TokenError

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.printing import complaint
from eocc.io.files.chunk import Chunk, rows_per_chunk
from eocc.io.files.source import regular
from eocc.tables.sources import column_of_array
from eocc.tables.table import Table

# All that numpy raises for a damaged header, including what Python's parser raises.
FAULTS = (ValueError, TypeError, OverflowError, SyntaxError, TokenError, EOFError, OSError, MemoryError, RecursionError)


def npy_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of a 2-d array of numbers; its columns are called "0", "1" and so on."""
    array = mapped(path)
    step = rows_per_chunk(array.shape[1])
    for start in range(0, len(array), step):
        with np.errstate(over="ignore"):  # long doubles that are too large become infinite, and are refused later
            rows = np.array(array[start : start + step], np.float64, order="F")
        table = Table(tuple(column_of_array(str(k), column) for k, column in enumerate(rows.T)))
        yield Chunk(str(path), start, table, is_named=False)


def npy_rows(path: Path) -> int:
    """Return the number of rows."""
    return len(mapped(path))


def mapped(path: Path) -> NDArray[np.generic]:
    """Return the array of a .npy file as a memory map; raise unless it holds rows of numbers."""
    file = regular(path)
    try:
        with warnings.catch_warnings():  # headers written by Python 2, absurd sizes
            warnings.simplefilter("ignore")
            array = np.lib.format.open_memmap(file, mode="r")
    except FAULTS as error:
        raise complaint(str(path), None, _explained(error)) from None
    if fault := _fault_in(array):
        raise complaint(str(path), None, fault)
    return array


def _explained(error: Exception) -> str:
    message = (str(error).splitlines() or [""])[0][:200].rstrip(".")
    if "Python objects" in message:
        return "holds Python objects, which are not read; save an array of numbers"
    return f"cannot be read: {message or type(error).__name__}; is the file complete, and written by numpy.save?"


def _fault_in(array: NDArray[np.generic]) -> str:
    if array.ndim != 2:
        remedy = "reshape(-1, 1) makes one column" if array.ndim == 1 else "reshape it"
        return f"an array of rows has 2 dimensions, not {array.ndim}; {remedy}"
    if array.dtype.kind == "c":
        return f"holds complex numbers ({array.dtype}); save real and imaginary parts as separate columns"
    if array.dtype.kind not in "biuf":
        return f"holds {str(array.dtype)[:60]}, not numbers; save an array of numbers"
    return "" if array.shape[1] else "has no columns; at least 1 is required"
