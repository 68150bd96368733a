"""NumPy's .npy files -> chunks of columns that have numbers for names."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from tokenize import TokenError

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.printing import complaint
from eocc.io.files.chunk import Chunk, rows_a_chunk
from eocc.io.files.source import check_regular

# Kinds of numpy's types whose values are numbers of a row: truth values, integers, reals.
NUMBERS = "biuf"
# What numpy raises for a damaged header, from its own complaints to those of Python's parser.
FAULTS = (ValueError, TypeError, OverflowError, SyntaxError, TokenError, EOFError, OSError, MemoryError, RecursionError)


def npy_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of a 2-d array of numbers; its columns are called "0", "1" and so on."""
    array = mapped(path)
    step = rows_a_chunk(array.shape[1])
    for start in range(0, len(array), step):
        with np.errstate(over="ignore"):  # what is beyond doubles becomes infinite, and is told with its row
            rows = np.array(array[start : start + step], np.float64, order="F")
        columns = {str(k): column for k, column in enumerate(rows.T)}
        yield Chunk(str(path), start, columns, is_named=False)


def npy_rows(path: Path) -> int:
    """Return the number of rows."""
    return len(mapped(path))


def mapped(path: Path) -> NDArray[np.generic]:
    """Return the array of a .npy file, mapped into memory, if it is one of rows of numbers; else say what it is.

    >>> np.save("rows.npy", np.eye(3, 2))
    >>> mapped(Path("rows.npy")).shape
    (3, 2)
    """
    check_regular(path)
    try:
        with warnings.catch_warnings():  # of headers that Python 2 wrote, which are read all the same; of absurd sizes
            warnings.simplefilter("ignore")
            array = np.lib.format.open_memmap(path, mode="r")
    except FAULTS as error:
        raise complaint(str(path), None, _refusal(error)) from None
    what = _unlike_rows(array)
    if what:
        raise complaint(str(path), None, what)
    return array


def _refusal(error: Exception) -> str:
    said = (str(error).splitlines() or [""])[0][:200].rstrip(".")
    if "Python objects" in said:
        return "holds Python objects, which are not read; save an array of numbers"
    return f"cannot be read: {said or type(error).__name__}; is it whole, and an array that numpy.save wrote?"


def _unlike_rows(array: NDArray[np.generic]) -> str:
    if array.ndim != 2:
        remedy = "reshape(-1, 1) makes a column of numbers" if array.ndim == 1 else "reshape it"
        return f"an array of rows has 2 dimensions, not {array.ndim}; {remedy}"
    if array.dtype.kind == "c":
        return f"holds complex numbers ({array.dtype}); save real and imaginary parts as columns of their own"
    if array.dtype.kind not in NUMBERS:
        return f"holds no numbers but {str(array.dtype)[:60]}; save an array of numbers"
    return "" if array.shape[1] else "has no columns; at least 1 is required"
