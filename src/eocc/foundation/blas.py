"""The one matrix product of a candidate: BLAS ``dsyrk`` or ``ssyrk``, called so that Python threads run beside it.

SciPy's own wrapper holds the interpreter lock, which would serialise the candidates; a foreign function
called through ctypes releases it. BLAS is held to one thread, so that a product has the same bits
whatever the number of workers.
"""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

NUMBERS = {np.dtype(np.float64): ("dsyrk", ctypes.c_double), np.dtype(np.float32): ("ssyrk", ctypes.c_float)}


@cache
def _syrk(name: str) -> "ctypes._CFunctionType":
    address = get_cython_function_address("scipy.linalg.cython_blas", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 10)(address)


def gram(rows: NDArray[np.floating[Any]], out: NDArray[np.floating[Any]]) -> None:
    """Write the upper triangle of rows rows^T, diagonal included, into `out`. Both C-contiguous, of one precision.

    >>> rows, out = np.array([[3.0, 4.0], [1.0, 0.0]]), np.zeros((2, 2))
    >>> gram(rows, out)
    >>> out
    array([[25.,  3.],
           [ 0.,  1.]])
    """
    n, k = rows.shape
    name, number = NUMBERS[rows.dtype]
    size, depth = ctypes.c_int(n), ctypes.c_int(k)
    leading, one, zero = ctypes.c_int(max(k, 1)), number(1.0), number(0.0)
    # Fortran reads a C array as its transpose: the lower triangle of A^T A is our upper one of A A^T.
    _syrk(name)(
        ctypes.byref(ctypes.c_char(b"L")),
        ctypes.byref(ctypes.c_char(b"T")),
        ctypes.byref(size),
        ctypes.byref(depth),
        ctypes.byref(one),
        rows.ctypes.data,
        ctypes.byref(leading),
        ctypes.byref(zero),
        out.ctypes.data,
        ctypes.byref(size),
    )


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg.blas  # noqa: F401  (the controller sees only libraries already loaded)

    return ThreadpoolController()


class _OneThread:
    """Holds BLAS to one thread while anybody wants it so: the limit is the whole process's, and fits may overlap."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            self._wanted += 1
            if self._wanted == 1:
                self._limit = _controller().limit(limits=1, user_api="blas")

    def leave(self) -> None:
        with self._lock:
            self._wanted -= 1
            if self._wanted == 0:
                self._limit.restore_original_limits()


_one_thread = _OneThread()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread inside the block; the last of overlapping blocks restores what the first found."""
    _one_thread.enter()
    try:
        yield
    finally:
        _one_thread.leave()
