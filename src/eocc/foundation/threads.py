"""The number of threads allowed, and loops over blocks that use them."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from operator import length_hint
from typing import TypeVar

from eocc.foundation.progress import stage

Item = TypeVar("Item")
Result = TypeVar("Result")

# Items queued per thread: enough that no thread is idle while the next item is read.
QUEUED = 2
# New threads start from the default of 1, so that a worker starts no threads of its own.
_allowed: ContextVar[int] = ContextVar("eocc_threads", default=1)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Allow `count` threads inside the block."""
    token = _allowed.set(count)
    try:
        yield
    finally:
        _allowed.reset(token)


def for_each_block(n_rows: int, block: int, work: Callable[[int, int], None], name: str = "comparing rows") -> None:
    """Call work(start, stop) for blocks of rows, on all threads allowed; the caller only waits: Ctrl-C works.

    `name` says what is being done, for whoever watches the progress.
    """
    executor, starts = ThreadPoolExecutor(_allowed.get(), thread_name_prefix="eocc-blocks"), range(0, n_rows, block)
    try:
        futures = [executor.submit(work, start, min(start + block, n_rows)) for start in starts]
        with stage(name, len(starts)) as report:
            await_all(futures, lambda n_pending: report(len(starts) - n_pending))
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def await_all(futures: "list[Future[None]]", tick: Callable[[int], None] = lambda n_pending: None) -> None:
    """Wait for all futures; raise the first error. Now and then, call `tick` with the number of those not done."""
    pending = set(futures)
    while pending:
        # A signal that arrives just before a wait does not interrupt it, so every wait is short.
        done, pending = wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        tick(len(pending))


def in_order(
    work: Callable[[Item], Result], items: Iterator[Item], count: int, name: str = "scoring rows"
) -> Iterator[Result]:
    """Yield work(item) of every item in order, computed on `count` threads; the caller reads the items.

    `name` says what is being done, for whoever watches the progress; it needs items whose number is known.
    """
    total = length_hint(items)
    if total == 0:
        yield from _in_order(work, items, count)
        return
    with stage(name, total) as report:
        for done, result in enumerate(_in_order(work, items, count), 1):
            report(done)
            yield result


def _in_order(work: Callable[[Item], Result], items: Iterator[Item], count: int) -> Iterator[Result]:
    if count == 1:
        yield from map(work, items)
        return
    executor, waiting = ThreadPoolExecutor(count, thread_name_prefix="eocc-in-order"), deque[Future[Result]]()
    try:
        for item in items:
            waiting.append(executor.submit(work, item))
            while waiting and (waiting[0].done() or len(waiting) > QUEUED * count):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
