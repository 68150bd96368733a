"""How far long work is: loops report it to a watch, if there is one. `shown` is a watch that prints."""

import json
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import length_hint
from typing import Any, TextIO, TypeVar

from eocc.base.printing import printable

Item = TypeVar("Item")
Value = TypeVar("Value")

# Work that is expected to take no longer than this many seconds is not shown.
WORTH_SHOWING = 2.0
# Seconds between two pictures of the bar.
REDRAWN_AFTER = 0.1
# Says how many steps of a stage are done, and how many are in progress, 1 unless given.
ReportProgress = Callable[..., None]


@dataclass(eq=False)
class Stage:
    """Work of `total` steps: how many are done, how many in progress, the largest `share` so far, when it is due."""

    name: str
    total: float
    started: float
    due: float
    done: float = 0.0
    in_progress: float = 1.0
    note: str = ""
    share: float = 0.0


def plain_line(level: str, message: str, **facts: Any) -> str:
    """Return the message for people."""
    return printable(message)


def log_record(level: str, message: str, **facts: Any) -> str:
    """Return a line of JSON: the time, the level (info, note, progress, alarm or error), the message, the facts."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": now, "level": level, "message": message.removeprefix("Note: "), **facts})


class Watch:
    """Shows the outermost stage, if that is expected to take long. Inner stages are parts of a step of the outer one.

    A terminal shows a bar, redrawn all the time. Other files get a line after 5 seconds, then after twice the time, and
    so on. A stage is shown if it takes, or by extrapolation is going to take, more than `worth` seconds.
    """

    def __init__(
        self, file: TextIO, is_terminal: bool = False, worth: float = WORTH_SHOWING, first: float | None = None,
        clock: Callable[[], float] = time.monotonic, as_line: Callable[..., str] = plain_line,
    ) -> None:  # fmt: skip
        self._file, self._is_terminal, self._worth, self._clock = file, is_terminal, worth, clock
        self._as_line = as_line
        self._first = (0.5 if is_terminal else 5.0) if first is None else first
        self._stages: list[Stage] = []
        self._lock = threading.RLock()
        self._is_hidden = False
        self._bar = ""  # the name of the stage whose bar is on the last line

    @contextmanager
    def stage(self, name: str, total: float) -> Iterator[ReportProgress]:
        """Yield a function that reports how many of the `total` steps are done."""
        own = Stage(name, total or 1.0, self._clock(), self._first)

        def report(done: float, in_progress: float = 1.0, note: str = "") -> None:
            with self._lock:
                own.done, own.in_progress, own.note = done, in_progress, note or own.note
            self.look()

        self._stages.append(own)
        try:
            yield report
            with self._lock:
                if self._stages[:1] == [own] and self._bar:
                    self.show(self._bar, 1.0, format_seconds(self._clock() - own.started))
        finally:
            with self._lock:
                if own in self._stages:
                    self._stages.remove(own)
                if not self._stages:
                    self._end_bar()

    def look(self) -> None:
        """Show the current stage if it is time."""
        with self._lock:
            if not self._stages:  # after Ctrl-C a thread may still report
                return
            outer = self._stages[0]
            passed = self._clock() - outer.started
            share = 0.0  # of the outermost stage; inner stages are parts of its step
            for one in reversed(self._stages):
                share = min(1.0, (one.done + one.in_progress * share) / one.total)
            outer.share = max(outer.share, share)
            left = passed * (1 - outer.share) / outer.share if outer.share else math.inf
            if self._is_hidden or passed < outer.due:
                return
            if passed > self._worth or self._worth < passed + left < math.inf:
                words = f"about {format_seconds(max(1.0, left))} left"
                words = f"{format_seconds(passed)} so far" if left == math.inf else words
                words = "almost done" if outer.share >= 0.995 else words  # shown as 100 %
                self.show(outer.name, outer.share, f"{words}; {outer.note}" if outer.note else words)
                outer.due = passed + REDRAWN_AFTER if self._is_terminal else 2 * passed

    def show(self, name: str, share: float, words: str) -> None:
        """Show the name of a stage, the share that is done, and words on the time left."""
        if not self._is_terminal:
            text = f"{name}: {f'{share:.0%}, ' if share else ''}{words}"
            self.line(text, "progress", share=round(share, 4))
            return
        if self._bar != name:
            self._end_bar()
        self._bar = name
        text = f"{name}  [{'#' * int(share * 20):-<20}]  {int(100 * share):3}%  {words}"
        self._print(f"\r{printable(text)[: shutil.get_terminal_size().columns - 1]}\x1b[K")

    def line(self, text: str, level: str = "info", **facts: Any) -> None:
        """Print a line; a bar goes on below it."""
        with self._lock:
            self._end_bar()
            self._print(self._as_line("note" if text.startswith("Note: ") else level, text, **facts) + "\n")

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Show nothing inside the block."""
        with self._lock:
            self._is_hidden = True
            self._end_bar()
        try:
            yield
        finally:
            self._is_hidden = False

    def close(self) -> None:
        """End all stages."""
        with self._lock:
            self._stages.clear()
            self._end_bar()

    def _end_bar(self) -> None:
        if self._bar:
            self._bar = ""
            self._print("\n")

    def _print(self, text: str) -> None:
        print(text, end="", file=self._file, flush=True)


def format_seconds(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> format_seconds(12.3), format_seconds(400), format_seconds(7000)
    ('12 s', '7 min', '1.9 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def having(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Give a context variable a value inside the block. New threads start with its default."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


_watch: ContextVar[Watch | None] = ContextVar("eocc_watch", default=None)
# Returns the watch that stages are reported to.
current_watch: Callable[[], Watch | None] = _watch.get


def watched_by(watch: Watch | None) -> AbstractContextManager[None]:
    """Report the stages inside the block to this watch."""
    return having(_watch, watch)


@contextmanager
def shown(
    worth: float = WORTH_SHOWING, first: float | None = None, as_line: Callable[..., str] = plain_line
) -> Iterator[Watch]:
    """Show on standard error how far work inside the block is, if it takes more than `worth` seconds.

    A terminal shows a bar with an estimate of the time left, anything else gets a line now and then, `first` after that
    many seconds. `log_record` as `as_line` gives lines of JSON.

    >>> with shown():
    ...     [n**2 for n in track("squaring", range(3))]
    [0, 1, 4]
    """
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and as_line is plain_line
    watch, is_over = Watch(sys.stderr, is_terminal, worth, first, as_line=as_line), threading.Event()

    def look() -> None:  # a step may take long
        with suppress(OSError, ValueError):  # standard error is closed
            while not is_over.wait(REDRAWN_AFTER):
                watch.look()

    threading.Thread(target=look, name="eocc-progress", daemon=True).start()
    with watched_by(watch):
        try:
            yield watch
        finally:
            is_over.set()
            watch.close()


@contextmanager
def stage(name: str, total: float = math.inf) -> Iterator[ReportProgress]:
    """Yield a function that reports how many of the `total` steps are done; it does nothing if nobody listens.

    The name says what is being done, for example "comparing 1,000 strings". A stage of one step gives a name to the
    stage inside it.
    """
    watch = _watch.get()
    if watch is None:
        yield lambda *done, **more: None
        return
    with watch.stage(name, total) as report:
        yield report


def track(name: str, items: Iterable[Item], total: int = 0) -> Iterator[Item]:
    """Yield the items, and report each when the next is asked for; they are `total`, if they do not say so."""
    with stage(name, total or length_hint(items) or math.inf) as report:
        for done, item in enumerate(items, 1):
            yield item
            report(done)
