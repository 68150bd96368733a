"""Rows chosen by content: by the definition, in proportion, whatever the chunks, the merges and the order of rows."""

import os
import pickle
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc.kernels import content as kernels
from eocc.kernels.content import row_hashes
from eocc.measures import MEASURES, resolve_measure
from eocc.space.prototypes import content
from eocc.space.prototypes.content import ByContent, Census, Sketch, words_of
from oracles import content as oracle
from samples import samples
from strategies import points

RNG = np.random.default_rng(0)
# Few different rows, each many times.
repeated = st.builds(
    lambda n, count, seed: np.random.default_rng(seed).integers(0, count, (n, 1)).astype(float),
    st.integers(60, 150), st.integers(2, 10), st.integers(0, 99),
)  # fmt: skip
tables = st.one_of(points(max_rows=40), repeated)


def kept(rows, size):
    return Sketch(Census().add(rows), size).add(rows, np.arange(len(rows))).kept()


def as_multiset(rows):
    return Counter(map(tuple, (rows + 0.0).tolist()))


def merged(parts, data):
    """Join the parts in any order, as any tree."""
    parts = list(parts)
    while len(parts) > 1:
        other = parts.pop(data.draw(st.integers(0, len(parts) - 1)))
        parts[data.draw(st.integers(0, len(parts) - 1))].merge(pickle.loads(pickle.dumps(other)))
    return parts[0]


def test_hashes_are_the_same_on_every_machine():
    hashes = row_hashes(words_of(np.array([[0.0], [1.0], [-1.5]])))
    assert hashes.tolist() == [0xE220A8397B1DCDAF, *(oracle.hash_of([value]) for value in (1.0, -1.5))]


def test_minus_zero_counts_as_zero():
    rows = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert len(set(row_hashes(words_of(rows)).tolist())) == 1
    assert Census().add(rows).counts.max() == 2


@given(rows=points(max_rows=20))
def test_kernels_agree_with_their_definitions(rows):
    hashes, census = row_hashes(words_of(rows)), Census().add(rows)
    assert hashes.tolist() == [oracle.hash_of(row) for row in rows.tolist()]
    counts = oracle.cell_counts(rows.tolist())
    assert {cell: census.counts[cell] for cell in np.flatnonzero(census.counts)} == counts
    keys = np.empty(len(hashes))
    kernels.content_keys(hashes, census.counts, keys)
    assert_allclose(keys, [oracle.key_of(row, counts) for row in rows.tolist()], rtol=1e-13)


@given(bits=st.integers(0, 2**44 - 1))
def test_the_logarithm_has_all_its_digits(bits):
    keys = np.empty(1)
    kernels.content_keys(np.array([bits << 20], np.uint64), np.ones(2**20, np.int64), keys)
    assert_allclose(keys, -np.log1p((bits + 0.5) / 2**44 - 1), rtol=1e-14)


@given(rows=tables, size=st.integers(1, 80))
def test_the_choice_is_that_of_the_definition(rows, size):
    found = kept(rows, size)
    assert found.numbers.tolist() == oracle.kept_numbers(rows.tolist(), size)
    assert_array_equal(found.values, rows[found.numbers])


@given(rows=tables, size=st.integers(1, 60), cuts=st.lists(st.integers(0, 150), min_size=3, max_size=8), data=st.data())
def test_neither_chunks_nor_merges_matter(rows, size, cuts, data):
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    parts = [(rows[start:stop], start) for start, stop in pairwise(bounds)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "WAITING", data.draw(st.sampled_from([0, 5, 2**18])))
        census = merged([Census().add(part) for part, _ in parts], data)
        assert census.n_rows == len(rows)
        assert_array_equal(census.counts, Census().add(rows).counts)
        sketches = [Sketch(census, size).add(part, start + np.arange(len(part))) for part, start in parts]
        found = merged(sketches, data).kept()
        one_by_one = Sketch(census, size)
        for part, start in parts:
            one_by_one.add(part, start + np.arange(len(part)))
    expected = kept(rows, size)
    assert_array_equal(one_by_one.kept().numbers, expected.numbers)
    assert_array_equal(found.numbers, expected.numbers)
    assert_array_equal(found.values, expected.values)


def test_copies_that_come_late_do_not_fill_the_places_of_others():
    rows = np.random.default_rng(10).integers(0, 11, (6000, 2)).astype(float)
    sketch = Sketch(Census().add(rows), 200)
    for start in range(0, 6000, 150):
        sketch.add(rows[start : start + 150], np.arange(start, start + 150))
    assert_array_equal(sketch.kept().numbers, kept(rows, 200).numbers)


@given(rows=tables, size=st.integers(1, 60), seed=st.integers(0, 99))
def test_any_order_of_the_rows_keeps_the_same_rows(rows, size, seed):
    order = np.random.default_rng(seed).permutation(len(rows))
    assert as_multiset(kept(rows[order], size).values) == as_multiset(kept(rows, size).values)


@given(rows=points(max_rows=20), more=st.integers(0, 5))
def test_a_small_table_is_kept_whole_and_in_order(rows, more):
    assert_array_equal(kept(rows, len(rows) + more).numbers, np.arange(len(rows)))


def test_nothing_is_kept_of_nothing():
    assert len(Sketch(Census(), 5).kept().numbers) == 0


def test_rows_that_occur_often_keep_their_share():
    rows = RNG.normal(size=(20_000, 2))
    places = RNG.permutation(20_000)
    rows[places[:6000]], rows[places[6000:8000]] = [1.0, 2.0], [3.0, 4.0]
    found = kept(rows, 1000)
    assert len(found.numbers) == 1000
    counts = as_multiset(found.values)
    assert counts[1.0, 2.0] == 300
    assert 100 <= counts[3.0, 4.0] <= 101  # another row may have its cell
    assert len(counts) >= 1000 - 300 - 101 + 2


def test_no_frequent_row_vanishes():
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], 100, axis=0)
    assert sorted(as_multiset(kept(rows, 20).values).values()) == [6, 7, 7]


def test_rows_that_occur_once_are_chosen_evenly():
    # Each of 10 equal parts has 2000 +- 42 of 20,000 kept rows: five deviations.
    rows = np.sort(RNG.normal(size=200_000))[:, None]
    found = kept(rows, 20_000).numbers
    assert len(found) == 20_000
    assert np.abs(np.bincount(found // 20_000) - 2000).max() < 5 * 42.5


def test_rows_that_occur_twice_are_chosen_twice_as_often():
    rows = np.repeat(RNG.normal(size=30_000), np.repeat([1, 2], 15_000))[:, None]
    is_twice = np.isin(kept(rows, 1000).values, rows[15_000:])
    assert abs(is_twice.mean() - 2 / 3) < 5 * np.sqrt(2 / 9 / 1000)


def test_a_sketch_holds_no_more_than_twice_its_size():
    rows = RNG.normal(size=(5000, 3))
    rows[::3] = 7.0
    census = Census().add(rows)
    sketch = Sketch(census, 50)
    for start in range(0, 5000, 20):
        sketch.add(rows[start : start + 20], np.arange(start, start + 20))
        assert sum(len(part[0]) for part in sketch._parts) <= 100
    assert len(pickle.dumps(sketch)) < 20_000
    assert_array_equal(sketch.kept().numbers, kept(rows, 50).numbers)


@pytest.mark.parametrize("name", MEASURES)
def test_patterns_of_every_kind_are_chosen_by_content(name):
    training = samples(name, 60)[0]
    order = np.random.default_rng(1).permutation(60)
    if name == "precomputed":
        changed = training[np.ix_(order, order)]
    elif hasattr(training, "iloc"):
        changed = training.iloc[order]
    else:
        changed = training[order] if isinstance(training, np.ndarray) else [training[i] for i in order]
    measure = resolve_measure(name)
    one, other = (X if measure.read is None else measure.read(X) for X in (training, changed))
    chosen, again = (ByContent().select(None, patterns, 12, RNG) for patterns in (one, other))
    found = [sorted(map(tuple, words_of(patterns[ids]).tolist())) for patterns, ids in ((one, chosen), (other, again))]
    assert found[0] == found[1]
    assert 0 < chosen[-1] - chosen[0] < 60


def test_equal_patterns_have_equal_words():
    composite = resolve_measure("graph-edit")
    graph = nx.Graph([(0, 1), (1, 2)], kind="path")
    words = words_of(composite.read([graph, nx.Graph([(0, 1), (1, 2)]), nx.Graph([(0, 1)])]))
    assert words[0] == words[1] != words[2]
    bags = resolve_measure("cosine-bags")
    assert len({int(word[0]) for word in words_of(bags.read([["a", "b", "a"], ["b", "a", "a"]]))}) == 1


NESTED = """
from eocc.space.prototypes.content import words_of
print(words_of([(frozenset("abcdefgh"), 1), [{"b": {"x", "y", "z"}, "a": 2}]]).tolist())
"""


def test_words_do_not_depend_on_the_process():
    found = {
        subprocess.run(
            [sys.executable, "-c", NESTED], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in "123"
    }
    assert len(found) == 1


def test_words_hold_all_of_long_arrays_inside_lists():
    long = [np.zeros(2000) for _ in range(2)]
    long[1][1000] = 1.0
    words = words_of([[long[0]], [long[1]], (long[0], 5), [["a", "b"]], [["a"], ["b"]], [np.array([None, "a"])]])
    assert len(np.unique(words)) == 6


class Own:
    """An object of a user, without a text of its own."""

    def __init__(self, size):
        self.size = size


def test_objects_without_a_text_are_compared_by_what_they_hold():
    words = words_of([Own(1), Own(1), Own(2)])
    assert words[0] == words[1] != words[2]


def test_other_copies_fill_free_places():
    # Shares of 4/3, 8/3 and 6 places are rounded to 1, 3 and 6.
    rows = np.repeat([[1.0], [2.0], [3.0]], 7, axis=0)
    for count, expected in ((4, [1, 1, 2]), (8, [2, 3, 3]), (18, [6, 6, 6])):
        assert sorted(as_multiset(rows[ByContent().select(None, rows, count, RNG)]).values()) == expected
