"""Passes over rows in chunks and on a cluster: the same folds, in order, a few parts at a time."""

import threading
from dataclasses import replace

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from eocc.calibration.conformal import Tally
from eocc.scale.cluster import DaskPasses
from eocc.scale.passes import are_dask_numbers
from eocc.space.prototypes.content import Census, Sketch
from eocc.streaming.fit import source_of
from streams import ROWS, Twice, chunked

FRAME = pd.DataFrame(ROWS, columns=["load", "heat", "wear"])


def passes_over(source, count):
    return replace(source, count=count)


PASSES = {
    "chunks": lambda: passes_over(source_of(chunked(ROWS, 70)), 2),
    "frames": lambda: passes_over(source_of(chunked(FRAME, 70)), 1),
    "dask array": lambda: DaskPasses(da.from_array(ROWS, chunks=(130, 2))),
    "dask array of unknown length": lambda: DaskPasses(da.from_array(ROWS, chunks=(130, 3))[da.ones(900) > 0]),
    "dask frame": lambda: DaskPasses(dd.from_pandas(FRAME, npartitions=7)),
}


@pytest.fixture(params=PASSES)
def passes(request):
    with dask.config.set(scheduler="synchronous"):
        yield PASSES[request.param]()


def test_all_parts_come_once_and_in_order(passes):
    for _ in range(2):
        found = passes.fold(lambda part: [(part.values, part.numbers)], lambda left, right: left + right)
        assert len(found) > 1
        assert_array_equal(np.concatenate([values for values, _ in found]), ROWS)
        assert_array_equal(np.concatenate([numbers for _, numbers in found]), np.arange(900))
        assert all(values.flags.c_contiguous and values.dtype == np.float64 for values, _ in found)
    assert (passes.n_rows, passes.n_columns) == (900, 3)


def test_three_passes_choose_and_count_the_same_rows(passes):
    census = passes.fold(lambda part: Census().add(part.values), Census.merge)
    assert census.n_rows == 900
    assert_array_equal(census.counts, Census().add(ROWS).counts)
    kept = passes.fold(lambda part: Sketch(census, 60).add(part.values, part.numbers), Sketch.merge).kept()
    whole = Sketch(census, 60).add(ROWS, np.arange(900)).kept()
    assert_array_equal(kept.numbers, whole.numbers)
    assert_array_equal(kept.values, whole.values)
    tally = passes.fold(lambda part: Tally(part.values[:, 0]), Tally.merge)
    assert_array_equal(tally.largest(np.arange(1, 901)), np.sort(ROWS[:, 0])[::-1])


def test_an_error_of_the_work_is_raised(passes):
    def work(part):
        if 333 in part.numbers:
            raise ZeroDivisionError("row 333")
        return 0

    with pytest.raises(ZeroDivisionError, match="row 333"):
        passes.fold(work, lambda left, right: 0)


def test_gaps_are_refused_with_a_remedy():
    frame = FRAME.copy()
    frame.loc[333, "heat"] = np.nan
    remedy = "row 333 of X holds nan in column 'heat', .*; drop such rows, fill them in, or fit X.compute()"
    with dask.config.set(scheduler="synchronous"), pytest.raises(ValueError, match=remedy):
        DaskPasses(dd.from_pandas(frame, npartitions=7)).fold(lambda part: 0, lambda left, right: 0)


class Live:
    """Chunks that count how many of them are alive."""

    def __init__(self, count):
        self.count, self.alive, self.most, self.lock = count, 0, 0, threading.Lock()

    def __iter__(self):
        for _ in range(self.count):
            with self.lock:
                self.alive += 1
                self.most = max(self.most, self.alive)
            yield np.ones((10, 2))


def test_few_chunks_are_alive_at_a_time():
    live = Live(100)

    def work(part):
        with live.lock:
            live.alive -= 1
        return len(part.values)

    assert passes_over(source_of(live), 2).fold(work, lambda left, right: left + right) == 1000
    assert live.most <= 8  # 2 threads, 4 queued, and those being read and joined


def test_the_ends_of_columns_do_not_depend_on_the_parts():
    for parts in ([ROWS], np.split(ROWS, [1, 7, 500])):
        passes = passes_over(source_of(list(parts)), 2)
        passes.fold(lambda part: len(part.values), lambda left, right: left + right)
        assert_array_equal(passes.ends, [ROWS.min(axis=0), ROWS.max(axis=0)])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ([ROWS[:899]], "it had 900 rows, then 899"),
        ([ROWS[::-1]], "it has other values"),
        ([ROWS[:450], ROWS[450:] + 1e-9], "it has other values"),
    ],
)
def test_a_source_that_changes_between_passes_is_an_error(second, message):
    passes = passes_over(source_of(Twice([ROWS], second)), 1)
    assert passes.fold(lambda part: 1, lambda left, right: left + right) == 1
    with pytest.raises(ValueError, match=f"the source changed while it was read: {message}; try again when nothing"):
        passes.fold(lambda part: 1, lambda left, right: left + right)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_no_finite_number_is_named_by_its_row(value):
    rows = ROWS.copy()
    rows[777, 1] = value
    frame = pd.DataFrame(rows, columns=FRAME.columns)
    cases = (da.from_array(rows, chunks=(100, 3)), "1"), (dd.from_pandas(frame, npartitions=3), "'heat'")
    with dask.config.set(scheduler="synchronous"):
        for X, column in cases:
            with pytest.raises(
                ValueError, match=f"row 777 of X holds {value} in column {column}, which is not a finite"
            ):
                DaskPasses(X).fold(lambda part: 0, lambda left, right: 0)


def test_missing_integers_are_named_too():
    frame = pd.DataFrame({"a": pd.array([1, 2, None, 4], "Int64"), "b": [1.5, 2.5, 3.5, 4.5]})
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match="row 2 of X holds nan in column 'a'"),
    ):
        DaskPasses(dd.from_pandas(frame, npartitions=2)).fold(lambda part: 0, lambda left, right: 0)


def test_empty_partitions_are_left_out_and_empty_collections_refused():
    X = da.from_array(ROWS, chunks=(100, 3))
    with dask.config.set(scheduler="synchronous"):
        some = X[X[:, 0] > 5]
        expected = ROWS[ROWS[:, 0] > 5]
        found = DaskPasses(some).fold(lambda part: [part.values], lambda left, right: left + right)
        assert_array_equal(np.concatenate(found), expected)
        with pytest.raises(ValueError, match="X holds no rows; at least 1 is required"):
            DaskPasses(X[X[:, 0] > 99]).fold(lambda part: 0, lambda left, right: 0)


def test_collections_of_numbers_are_recognised():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    assert are_dask_numbers(da.zeros((4, 2)))
    assert are_dask_numbers(da.zeros((4, 2), dtype=int))
    assert are_dask_numbers(dd.from_pandas(frame[["a"]], npartitions=1))
    assert not are_dask_numbers(dd.from_pandas(frame, npartitions=1))
    assert not are_dask_numbers(da.zeros(4))
    assert not are_dask_numbers(da.zeros((4, 2), dtype=complex))
    assert not are_dask_numbers(db.from_sequence([1, 2], npartitions=1))


def test_joins_on_a_cluster_change_no_result_that_may_be_needed_again():
    made = []

    def work(part):
        made.append(part.values[0].copy())
        return made[-1]

    def join(left, right):
        left += right  # changes its first argument
        return left

    with dask.config.set(scheduler="synchronous"):
        assert DaskPasses(da.from_array(np.ones((8, 1)), chunks=(1, 1))).fold(work, join) == 8
    assert made == [1] * 8
