"""Rows -> their Gram matrix, by BLAS ``dsyrk`` or ``ssyrk``, without the interpreter lock.

SciPy's wrapper holds the lock, so candidates would run one after another; a call through ctypes releases it. BLAS is
limited to one thread, so that a product has the same bits for any number of workers.
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

ROUTINES = {np.dtype(np.float64): ("dsyrk", ctypes.c_double), np.dtype(np.float32): ("ssyrk", ctypes.c_float)}


@cache
def _syrk(name: str) -> "ctypes._CFunctionType":
    address = get_cython_function_address("scipy.linalg.cython_blas", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 10)(address)


def gram(rows: NDArray[np.floating[Any]], out: NDArray[np.floating[Any]]) -> None:
    """Write the upper triangle of rows rows^T into `out`; both are C-contiguous and of the same precision."""
    n, k = rows.shape
    name, number = ROUTINES[rows.dtype]
    # Fortran reads a C array as its transpose: its lower triangle of A^T A is our upper triangle of A A^T.
    values: tuple[Any, ...] = (
        ctypes.c_char(b"L"), ctypes.c_char(b"T"), ctypes.c_int(n), ctypes.c_int(k), ctypes.c_int(max(k, 1)),
        number(1.0), number(0.0),
    )  # fmt: skip
    lower, transposed, size, depth, leading, one, zero = map(ctypes.byref, values)
    _syrk(name)(lower, transposed, size, depth, one, rows.ctypes.data, leading, zero, out.ctypes.data, size)


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg.blas  # noqa: F401  (the controller sees loaded libraries only)

    return ThreadpoolController()


_lock = threading.Lock()
_limits: list[Any] = []  # one entry per active block of one_blas_thread; the first holds the original limits


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS, in the whole process, to one thread; the last of overlapping blocks restores the original limit."""
    with _lock:
        _limits.append(None if _limits else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            if len(_limits) == 1:
                _limits[0].restore_original_limits()
            _limits.pop()
