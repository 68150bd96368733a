"""Says when numba compiles: that takes seconds, once, and is cached on disk."""

from contextlib import suppress
from typing import Any

from numba.core import event

from eocc.base.printing import warn_user

COMPILING = "compiling code for this machine takes a few seconds, once; the command eocc warm-up does it in advance"


class CompilingWarning(UserWarning):
    """Says why the first call on a machine takes longer than the next."""


class _FirstCompilation(event.Listener):
    """Warns when numba compiles the first kernel of this package; those that come from the cache do not count."""

    def on_start(self, event_: Any) -> None:
        if event_.data["dispatcher"].py_func.__module__.startswith("eocc."):
            event.unregister("numba:compile", self)  # type: ignore[no-untyped-call]
            with suppress(CompilingWarning):  # the cache should not decide whether a program fails
                warn_user(COMPILING, CompilingWarning)

    def on_end(self, event_: Any) -> None:
        pass


def say_when_compiling() -> None:
    """Warn, once in this process, when numba begins to compile."""
    event.register("numba:compile", _FirstCompilation())  # type: ignore[no-untyped-call]
