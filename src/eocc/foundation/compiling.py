"""Tells when numba compiles: that takes seconds, once, and is cached on disk."""

from collections.abc import Callable
from typing import Any

from numba.core import event


class _FirstCompilation(event.Listener):
    """Calls a function when the first kernel is compiled; kernels that come from the cache do not count."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._calls = [call]

    def on_start(self, event: Any) -> None:
        if self._calls:
            self._calls.pop()()

    def on_end(self, event: Any) -> None:
        pass


def call_when_compiling(call: Callable[[], None]) -> Callable[[], None]:
    """Call a function, once, when numba begins to compile; return a function that ends the listening."""
    listener = _FirstCompilation(call)
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    return lambda: event.unregister("numba:compile", listener)  # type: ignore[no-untyped-call]
