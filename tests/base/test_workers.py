import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from eocc.base.threads import in_blocks, workers


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.parametrize("n_threads", [1, 3])
def test_results_come_in_the_order_of_the_tasks(n_threads):
    with workers(list, n_threads) as pool:
        assert pool.map(lambda task, _: task**2, range(50)) == [task**2 for task in range(50)]
        assert pool.map(lambda task, _: -task, []) == []


def test_there_are_as_many_workspaces_as_threads():
    made = []

    def make():
        made.append(threading.get_ident())
        return len(made)

    together = threading.Barrier(2)

    def work(task, workspace):
        if task < 2:  # the first two run at the same time
            together.wait(timeout=60)
        return workspace, threading.get_ident()

    with workers(make, 2) as pool:
        used = pool.map(work, range(100))
    assert made == [threading.get_ident()] * 2
    assert {workspace for workspace, _ in used} == {1, 2}
    assert len({thread for _, thread in used}) == 2


def test_blas_uses_one_thread_inside_the_block():
    before = blas_threads()
    with workers(list, 2) as pool:
        assert pool.map(lambda *_: blas_threads(), [0]) == [{1}]
    assert blas_threads() == before


def test_overlapping_blocks_restore_what_the_first_found():
    before = blas_threads()
    first, second = workers(list, 1), workers(list, 1)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_an_error_in_a_task_reaches_the_caller_and_drops_the_rest():
    with workers(list, 1) as pool:
        with pytest.raises(ZeroDivisionError):
            pool.map(lambda task, _: 1 / task, [1, 0, 1])
        assert pool.map(lambda task, _: task, [5]) == [5]


def test_leaving_early_drops_tasks_that_have_not_begun():
    begun, release = [], threading.Event()

    def task(number, _):
        begun.append(number)
        release.wait()

    with ThreadPoolExecutor(1) as caller:
        with workers(list, 1) as pool:
            mapping = caller.submit(pool.map, task, range(100))
            while not begun:
                pass
        release.set()
        with pytest.raises(CancelledError):
            mapping.result()
    assert begun == [0]


def test_one_thread_works_through_many_rows_in_blocks_so_that_ctrl_c_works():
    few, many, seen = np.zeros((2**11, 2**10)), np.zeros((2**11 + 1, 2**10)), []
    in_blocks(few, seen.append)
    assert seen == [slice(0, 2**11)]
    seen.clear()
    in_blocks(many, seen.append)
    assert [some.stop - some.start for some in seen] == [2**8] * 8 + [1]
    assert seen[-1].start == 2**11
