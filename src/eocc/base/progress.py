"""How far long work is: loops report it to a listener, if there is one. `shown` is a listener that prints."""

import json
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import length_hint
from typing import Any, TextIO, TypeVar

from eocc.base.printing import printable

Item = TypeVar("Item")

# Work that is expected to take no longer than this many seconds is not shown.
WORTH_SHOWING = 2.0
# Seconds until the first estimate on a terminal, and between two pictures of the bar.
FIRST_ESTIMATE, REDRAWN_AFTER = 0.5, 0.1
# Seconds until the first line where there is no terminal; the time until the next line doubles.
FIRST_LINE = 5.0
BAR_WIDTH = 20
# How a line begins that the user should know about.
NOTE = "Note: "
# Says how many steps of a stage are done, and how many are in progress, 1 unless given.
ReportProgress = Callable[..., None]


@dataclass(eq=False)
class Stage:
    """Work of `total` steps: how many are done, how many in progress, the `share` so far, and when to show it next.

    `begun` is the time and the share at the first report of any progress.
    """

    name: str
    total: float
    started: float
    due: float
    done: float = 0.0
    in_progress: float = 1.0
    note: str = ""
    share: float = 0.0
    begun: tuple[float, float] = (0.0, 0.0)

    def advance(self, seconds: float, share: float) -> float:
        """Take the share that is done after `seconds`, which never falls, and return the seconds left.

        The rate is that since the first progress: what came before may have been a start-up.
        """
        if self.share == 0:
            self.begun = seconds, share
        self.share = max(self.share, share)
        start, before = self.begun if self.share > self.begun[1] else (0.0, 0.0)
        return (seconds - start) * (1 - self.share) / (self.share - before) if self.share else math.inf


class ProgressLines:
    """Prints how far a stage is, by a line now and then: first after `first` seconds, then when `next_after` says."""

    def __init__(self, file: TextIO, first: float = FIRST_LINE) -> None:
        self._file, self.first = file, first

    def next_after(self, seconds: float) -> float:
        """Return when to show a stage again that was shown after these seconds."""
        return 2 * seconds

    def show(self, name: str, share: float, words: str) -> None:
        """Show the name of a stage, the share that is done, and words on the time left."""
        self.line(f"{name}: {f'{share:.0%}, ' if share else ''}{words}")

    def line(self, text: str) -> None:
        """Print a line of its own."""
        self.put(f"{printable(text)}\n")

    def put(self, text: str) -> None:
        """Print a text as it is."""
        print(text, end="", file=self._file, flush=True)

    def close(self, words: str = "") -> None:
        """End a stage that was shown; if it is done, with words on the time it took. Here, every line is complete."""


class JsonLines(ProgressLines):
    """Prints every message, and now and then how far a stage is, as one line of JSON."""

    def show(self, name: str, share: float, words: str) -> None:
        """Print how far a stage is."""
        self.put(log_record("progress", f"{name}: {words}", share=round(share, 4)) + "\n")

    def line(self, text: str) -> None:
        """Print a message; one that begins with "Note: " is a note."""
        self.put(log_record("note" if text.startswith(NOTE) else "info", text.removeprefix(NOTE)) + "\n")


def log_record(level: str, message: str, **more: Any) -> str:
    """Return one line of JSON: the time, the level (info, note, progress, alarm or error), and the message."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": now, "level": level, "message": message, **more})


class Bar(ProgressLines):
    """A bar on a terminal."""

    def __init__(self, file: TextIO, first: float = FIRST_ESTIMATE) -> None:
        super().__init__(file, first)
        self._name = ""  # of the stage whose bar is on the last line

    def next_after(self, seconds: float) -> float:
        """Return a little more than the time."""
        return seconds + REDRAWN_AFTER

    def show(self, name: str, share: float, words: str) -> None:
        """Draw the bar, cut to the width of the terminal."""
        if self._name != name:
            self.close()
        self._name = name
        text = f"{name}  [{'#' * int(share * BAR_WIDTH):-<{BAR_WIDTH}}]  {int(100 * share):3}%  {words}"
        self.put(f"\r{printable(text)[: shutil.get_terminal_size().columns - 1]}\x1b[K")

    def close(self, words: str = "") -> None:
        """Fill the bar of a stage that is done, and end its line."""
        if self._name:
            if words:
                self.show(self._name, 1.0, words)
            self.put("\n")
        self._name = ""


class Watch:
    """Shows the outermost stage, if that is expected to take long. Inner stages are parts of a step of the outer one.

    A stage is shown if it takes, or by extrapolation is going to take, more than `worth` seconds.
    """

    def __init__(
        self, view: ProgressLines, worth: float = WORTH_SHOWING, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._view, self._worth, self._clock = view, worth, clock
        self._stages: list[Stage] = []
        self._lock = threading.RLock()
        self._is_hidden = False

    @contextmanager
    def stage(self, name: str, total: float) -> Iterator[ReportProgress]:
        """Yield a function that reports how many of the `total` steps are done."""
        own = Stage(name, total or 1.0, self._clock(), self._view.first)

        def report(done: float, in_progress: float = 1.0, note: str = "") -> None:
            with self._lock:
                own.done, own.in_progress, own.note = done, in_progress, note or own.note
            self.look()

        self._stages.append(own)
        try:
            yield report
            with self._lock:
                if self._stages[:1] == [own]:
                    self._view.close(format_seconds(self._clock() - own.started))
        finally:
            with self._lock:
                if own in self._stages:
                    self._stages.remove(own)
                if not self._stages:
                    self._view.close()

    def note(self, text: str) -> None:
        """Show a note on the current stage at once, or as a line if there is no stage."""
        with self._lock:
            if self._stages:
                self._stages[0].note = text
                self.look(is_due=True)
            else:
                self.line(text)

    def line(self, text: str) -> None:
        """Print a line; a bar goes on below it."""
        with self._lock:
            self._view.close()
            self._view.line(text)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Show nothing inside the block."""
        with self._lock:
            self._is_hidden = True
            self._view.close()
        try:
            yield
        finally:
            self._is_hidden = False

    def close(self) -> None:
        """End all stages."""
        with self._lock:
            self._stages.clear()
            self._view.close()

    def look(self, is_due: bool = False) -> None:
        """Show the current stage if it is time."""
        with self._lock:
            if not self._stages:  # after Ctrl-C a thread may still report
                return
            outer = self._stages[0]
            passed = self._clock() - outer.started
            left = outer.advance(passed, share_done(self._stages))
            if self._is_hidden or not (is_due or passed >= outer.due):
                return
            if is_due or passed > self._worth or self._worth < passed + left < math.inf:
                words = f"about {format_seconds(max(1.0, left))} left"
                if left == math.inf:
                    words = f"{format_seconds(passed)} so far"
                self._view.show(outer.name, outer.share, f"{words}; {outer.note}" if outer.note else words)
                outer.due = self._view.next_after(passed)


def share_done(stages: list[Stage]) -> float:
    """Return the share of the outermost stage that is done, given the stages from the outermost to the innermost.

    >>> share_done([Stage("files", 4, 0, 0, done=1), Stage("rows", 10, 0, 0, done=5)])
    0.375
    """
    share = 0.0
    for stage in reversed(stages):
        share = min(1.0, (stage.done + stage.in_progress * share) / stage.total)
    return share


def format_seconds(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> format_seconds(12.3), format_seconds(400), format_seconds(7000)
    ('12 s', '7 min', '1.9 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


_watch: ContextVar[Watch | None] = ContextVar("eocc_watch", default=None)
# Returns the watch that stages are reported to.
current_watch: Callable[[], Watch | None] = _watch.get


@contextmanager
def watched_by(watch: Watch | None) -> Iterator[None]:
    """ReportProgress the stages inside the block to this watch. New threads start without one."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
def shown(worth: float = WORTH_SHOWING, as_json: bool = False, **first: float) -> Iterator[Watch]:
    """Show on standard error how far work inside the block is, if it takes more than `worth` seconds.

    A terminal shows a bar with an estimate of the time left; anything else gets a line now and then, also `as_json`.
    `first` is the time in seconds until the first estimate.

    >>> with shown():
    ...     [n**2 for n in track("squaring", range(3))]
    [0, 1, 4]
    """
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    kind = JsonLines if as_json else Bar if is_terminal else ProgressLines
    watch, is_over = Watch(kind(sys.stderr, **first), worth), threading.Event()

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


def track(name: str, items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, and report each when the next is asked for."""
    with stage(name, length_hint(items) or math.inf) as report:
        for done, item in enumerate(items):
            report(done)
            yield item
