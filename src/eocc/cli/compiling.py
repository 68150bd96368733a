"""Says that numba compiles: that takes seconds, once, and is cached on disk."""

from typing import Any

import click
from numba.core import event

from eocc.cli.app import say

COMPILING = "Compiling, once: later runs start at once."


class _Compilations(event.Listener):
    """Hears of kernels that are compiled, not of those that are loaded from the cache."""

    has_said = False

    def on_start(self, event: Any) -> None:
        if not self.has_said:
            self.has_said = True
            say(COMPILING)

    def on_end(self, event: Any) -> None:
        pass


def say_when_compiling() -> None:
    """Print a line, once, when numba begins to compile during this command."""
    listener = _Compilations()
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    click.get_current_context().call_on_close(lambda: event.unregister("numba:compile", listener))  # type: ignore[no-untyped-call]
