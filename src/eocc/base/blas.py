"""BLAS limited to one thread, so that a product has the same bits for any number of workers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


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
