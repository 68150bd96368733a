"""Work on the parts of a stream, on several threads -> results in the order of the parts."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Items that wait for each thread: none idles while the next is read, and few are in memory.
WAITING = 2
# Dissimilarities of rows of numbers at a time, 1 MiB: they stay in the cache. Fewer rows would be spent on calls.
STEP = 2**17
LEAST_STEP = 64


def in_order(work: Callable[[Item], Result], items: Iterator[Item], count: int) -> Iterator[Result]:
    """Yield work(item) of every item, in their order, from `count` threads; items are read on the caller's.

    >>> list(in_order(lambda number: number * 10, iter([3, 1, 2]), 2))
    [30, 10, 20]
    """
    if count == 1:
        yield from map(work, items)
        return
    executor, waiting = ThreadPoolExecutor(count, thread_name_prefix="eocc-stream"), deque[Future[Result]]()
    try:
        for item in items:
            waiting.append(executor.submit(work, item))
            while waiting and (waiting[0].done() or len(waiting) > WAITING * count):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def slices_of(rows: Any, n_prototypes: int) -> Iterator[Any]:
    """Yield the rows in pieces whose dissimilarities to the prototypes stay in the cache.

    >>> [len(piece) for piece in slices_of(range(1200), 256)]
    [512, 512, 176]
    """
    step = max(LEAST_STEP, STEP // n_prototypes)
    return (rows[start : start + step] for start in range(0, len(rows), step))
