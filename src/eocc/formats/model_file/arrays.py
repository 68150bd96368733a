"""Plain arrays as the bytes of ``.npy`` files, version 1.0: numbers and booleans in C order, never pickled."""

import math
import re

import numpy as np
from numpy.typing import NDArray

MAGIC = b"\x93NUMPY\x01\x00"
# Little-endian on any machine, so that the same model gives the same bytes.
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
SHAPE = rb"\((|\d{1,15},|\d{1,15}(?:, \d{1,15}){1,7})\)"
HEADER = re.compile(rb"\{'descr': '([|<][biuf][1248])', 'fortran_order': False, 'shape': " + SHAPE + rb", \} *\n")


def descr_of(array: NDArray[np.generic]) -> str | None:
    """Return the name of the dtype in the file, None if it cannot be written."""
    descr = array.dtype.newbyteorder("<").str
    return descr if descr in DTYPES else None


def array_bytes(array: NDArray[np.generic]) -> bytes:
    """Return the array as a ``.npy`` file. Its header does not depend on the version of numpy."""
    descr = descr_of(array)
    if descr is None:
        raise ValueError(f"an array of {array.dtype} cannot be written to a model file")
    shape = f"({array.shape[0]},)" if array.ndim == 1 else str(tuple(map(int, array.shape)))
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    room = -(len(MAGIC) + 2 + len(header) + 1) % 64  # the data of a .npy file begin at a multiple of 64
    header += b" " * room + b"\n"
    return MAGIC + len(header).to_bytes(2, "little") + header + np.ascontiguousarray(array, descr).tobytes()


def array_from_bytes(data: bytes) -> NDArray[np.generic]:
    """Return a new array from the bytes of a ``.npy`` file; a ValueError says what is wrong with them."""
    start = len(MAGIC) + 2
    stop = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header = HEADER.fullmatch(data[start:stop]) if data.startswith(MAGIC) else None
    if header is None or header[1].decode() not in DTYPES:
        raise ValueError("is not a .npy file of plain numbers, version 1.0 and in C order")
    shape = tuple(int(size) for size in header[2].decode().replace(",", " ").split())
    dtype = np.dtype(header[1].decode())
    if 0 in shape and max(shape) > 2**20:  # an array without entries could declare any length
        raise ValueError(f"declares an array of shape {shape} that holds nothing")
    if math.prod(shape) * dtype.itemsize != len(data) - stop:
        raise ValueError(f"holds {len(data) - stop} bytes of data, which is not an array of shape {shape}")
    if dtype.kind == "b" and (np.frombuffer(data, np.uint8, offset=stop) > 1).any():
        raise ValueError("holds a boolean that is neither 0 nor 1")
    # A copy, because kernels are compiled for writable arrays.
    return np.frombuffer(data, dtype, offset=stop).reshape(shape).astype(dtype.newbyteorder("="), copy=True)
