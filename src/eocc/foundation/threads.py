"""How many threads a piece of work may use, and loops over blocks that use them."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Items that wait for each thread: none idles while the next is read, and few are in memory.
WAITING = 2
# New threads start from the default, so that work inside a worker never spreads further.
_allowed: ContextVar[int] = ContextVar("eocc_threads", default=1)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Allow `count` threads inside the block."""
    token = _allowed.set(count)
    try:
        yield
    finally:
        _allowed.reset(token)


def for_each_block(n_rows: int, block: int, work: Callable[[int, int], None]) -> None:
    """Call work(start, stop) for blocks of rows, on as many threads as are allowed.

    The caller's thread only waits, so that Ctrl-C returns at once.

    >>> done = []
    >>> for_each_block(5, 2, lambda start, stop: done.append((start, stop)))
    >>> sorted(done)
    [(0, 2), (2, 4), (4, 5)]
    """
    executor = ThreadPoolExecutor(_allowed.get(), thread_name_prefix="eocc-blocks")
    try:
        starts = range(0, n_rows, block)
        await_all([executor.submit(work, start, min(start + block, n_rows)) for start in starts])
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def await_all(futures: "list[Future[None]]") -> None:
    """Wait for all, or for the first error, which is raised."""
    under_way = set(futures)
    while under_way:
        # A signal that comes just before a wait does not end it: so no wait is long.
        ended, under_way = wait(under_way, timeout=0.1, return_when=FIRST_EXCEPTION)
        for future in ended:
            future.result()


def in_order(work: Callable[[Item], Result], items: Iterator[Item], count: int) -> Iterator[Result]:
    """Yield work(item) of every item, in their order, from `count` threads; items are read on the caller's.

    >>> list(in_order(lambda number: number * 10, iter([3, 1, 2]), 2))
    [30, 10, 20]
    """
    if count == 1:
        yield from map(work, items)
        return
    executor, waiting = ThreadPoolExecutor(count, thread_name_prefix="eocc-in-order"), deque[Future[Result]]()
    try:
        for item in items:
            waiting.append(executor.submit(work, item))
            while waiting and (waiting[0].done() or len(waiting) > WAITING * count):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
