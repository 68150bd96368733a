from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eocc.measures import MEASURES, resolve_measure
from eocc.measures.base import LinearPrepared
from eocc.measures.protocol import FittedMeasure
from eocc.space.prototypes import (
    SELECTIONS,
    FarthestFirst,
    RandomSelection,
    count_of,
    resolve_selection,
    select_prototypes,
)
from eocc.space.prototypes.selections import dissimilarities, nearest_dissimilarities, spread, without_copies
from oracles import prototypes as oracle
from samples import samples


@dataclass
class Steps(FittedMeasure):
    """City-block distances of rows of integers: their sums are exact, so ties are exact."""

    n_parameters: int = 0
    n_pairs: int = 0
    largest_block: int = 0

    def prepare(self, patterns, prototypes):
        self.n_pairs += len(patterns) * len(prototypes)
        self.largest_block = max(self.largest_block, len(patterns) * len(prototypes))
        return LinearPrepared(np.abs(patterns[:, None, :] - prototypes[None, :, :]).sum(axis=2)[None].astype(float))


@dataclass
class Gives(FittedMeasure):
    """A measure that returns the given answer."""

    answer: object
    n_parameters: int = 1

    def prepare(self, patterns, prototypes):
        return LinearPrepared(np.full((1, len(patterns), len(prototypes)), self.answer))


# All but "content", which keeps copies in proportion and draws nothing.
DRAWN = [name for name in SELECTIONS if name != "content"]
# Few places on a small grid: many copies, many ties.
grids = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=24).map(np.array)


def whole(rows):
    return dissimilarities(Steps(), rows, rows)


def in_small_blocks(work):
    """Call work() with small blocks, so that few patterns use many of them."""
    with mock.patch("eocc.space.prototypes.selections.BLOCK_SIZE", 15):
        return work()


def patterns_of(name, n=20):
    measure, (training, _) = resolve_measure(name), samples(name, n)
    patterns = training if measure.read is None else measure.read(training)
    return measure.fit(patterns), patterns


def n_different(D):
    return len({tuple(row) for row in (D == 0).tolist()})


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("name", MEASURES)
def test_every_selection_with_every_measure_depends_on_the_seed_only(name, selection):
    fitted, patterns = patterns_of(name)
    for count in (1, 2, 7, 20):
        chosen = resolve_selection(selection).select(fitted, patterns, count, np.random.default_rng(3))
        assert chosen.dtype == np.int64
        assert chosen.shape == (count,)
        assert (np.diff(chosen) > 0).all()
        assert 0 <= chosen[0] <= chosen[-1] < 20
        again = select_prototypes(selection, fitted, patterns, count, np.random.default_rng(3))
        assert_array_equal(again, chosen)


@pytest.mark.parametrize("selection", DRAWN)
@pytest.mark.parametrize("name", MEASURES)
def test_selections_prefer_different_patterns_to_copies(name, selection):
    fitted, few = patterns_of(name)
    patterns = few[np.repeat(np.arange(20), [9] * 5 + [1] * 15)]
    D = dissimilarities(fitted, patterns, patterns)
    n = n_different(D)
    for count in (2, n // 2, n, n + 3):
        chosen = resolve_selection(selection).select(fitted, patterns, count, np.random.default_rng(count))
        assert len(np.unique(chosen)) == count
        assert n_different(D[chosen]) == min(count, n)


@pytest.mark.parametrize("selection", DRAWN)
def test_another_seed_gives_other_prototypes(selection):
    rows = np.random.default_rng(0).integers(0, 10**6, size=(200, 2))
    found = {tuple(SELECTIONS[selection]().select(Steps(), rows, 5, np.random.default_rng(seed))) for seed in range(5)}
    assert len(found) > 1


@pytest.mark.parametrize("selection", SELECTIONS)
def test_selections_in_parallel_threads_are_independent(selection):
    fitted, patterns = patterns_of("euclidean", 600)
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(
                lambda seed: SELECTIONS[selection]().select(fitted, patterns, 30, np.random.default_rng(seed % 2)),
                range(8),
            )
        )
    for seed, chosen in enumerate(found):
        assert_array_equal(
            chosen, SELECTIONS[selection]().select(fitted, patterns, 30, np.random.default_rng(seed % 2))
        )


@pytest.mark.parametrize("selection", ["random", "farthest-first"])
def test_work_is_patterns_times_prototypes_and_blocks_are_bounded(selection):
    rows = np.random.default_rng(0).integers(0, 10**6, size=(30_000, 2))
    measure, count = Steps(), 40
    SELECTIONS[selection]().select(measure, rows, count, np.random.default_rng(0))
    assert measure.n_pairs <= len(rows) * count + 2 * count**2
    assert measure.largest_block <= 512 * 512


def test_the_nearest_of_many_prototypes_is_found_block_by_block():
    rows = np.random.default_rng(0).integers(0, 100, size=(23, 2))
    found = in_small_blocks(lambda: nearest_dissimilarities(Steps(), rows, rows[::2]))
    assert_array_equal(found, whole(rows)[:, ::2].min(axis=1))


def test_farthest_first_by_hand_with_ties_to_the_lower_index():
    rows = np.array([[4], [0], [8], [6], [9]])
    # From 4: 9 is 5 away; then 0 is 4; then 6 is 2 from 4, ahead of 8, 1 from 9.
    assert spread(Steps(), rows, 4, 0).tolist() == [0, 4, 1, 3]
    # From 4, both 0 and 8 are 4 away.
    assert spread(Steps(), rows[:4], 2, 0).tolist() == [0, 1]


@given(grids, st.data())
def test_spread_equals_the_oracle_for_any_block_size(rows, data):
    count = data.draw(st.integers(1, len(rows)))
    first = data.draw(st.integers(0, len(rows) - 1))
    expected = oracle.spread(whole(rows), count, first)
    assert spread(Steps(), rows, count, first).tolist() == expected
    assert in_small_blocks(lambda: spread(Steps(), rows, count, first)).tolist() == expected


def test_spread_equals_the_oracle_with_many_rows():
    rows = np.random.default_rng(1).integers(0, 40, size=(900, 2))
    assert spread(Steps(), rows, 40, 7).tolist() == oracle.spread(whole(rows), 40, 7)


@given(grids, st.integers(0, 99))
def test_farthest_first_has_at_most_twice_the_least_radius(rows, seed):
    D = whole(rows)
    count = min(3, len(rows))
    chosen = FarthestFirst().select(Steps(), rows, count, np.random.default_rng(seed))
    assert oracle.radius(D, chosen) <= 2 * oracle.least_radius(D, count)


def test_random_is_the_start_of_a_permutation_without_copies():
    rows = np.arange(50)[:, None]
    chosen = RandomSelection().select(Steps(), rows, 9, np.random.default_rng(5))
    assert_array_equal(chosen, np.sort(np.random.default_rng(5).permutation(50)[:9]))


@given(grids, st.integers(0, 99), st.data())
def test_skipping_copies_equals_the_oracle(rows, seed, data):
    order = np.random.default_rng(seed).permutation(len(rows))
    count = data.draw(st.integers(1, len(rows)))
    expected = oracle.without_copies(whole(rows), order.tolist(), count)
    assert without_copies(Steps(), rows, order, count).tolist() == expected
    assert in_small_blocks(lambda: without_copies(Steps(), rows, order, count)).tolist() == expected


def test_one_pattern_is_its_own_prototype():
    for selection in SELECTIONS.values():
        assert selection().select(Steps(), np.array([[3]]), 1, np.random.default_rng(0)).tolist() == [0]


@pytest.mark.parametrize(
    ("prototypes", "expected"),
    [
        (None, 40), (1, 1), (39, 39), (41, 40), (np.int64(7), 7), (10**30, 40), (0.25, 10), (1.0, 40), (1e-9, 1),
        (np.float32(0.5), 20), (Fraction(1, 4), 10),
    ],
)  # fmt: skip
def test_counts(prototypes, expected):
    assert count_of(prototypes, 40) == expected


@pytest.mark.parametrize("bad", [0, -3, 0.0, -0.1, 1.5, 2.0, np.nan, np.inf, True, False, "8", [8], 1j])
def test_invalid_counts_are_refused(bad):
    with pytest.raises(ValueError, match=r"prototypes must be an integer >= 1, a fraction .* not ") as caught:
        count_of(bad, 40)
    assert repr(bad) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize(("count", "message"), [(0, ">= 1, not 0"), (2.0, ">= 1, not 2.0"), (4, "at most 3")])
def test_more_prototypes_than_patterns_or_none_are_refused(selection, count, message):
    with pytest.raises(ValueError, match=message):
        SELECTIONS[selection]().select(Steps(), np.arange(3)[:, None], count, np.random.default_rng(0))


@pytest.mark.parametrize("answer", [np.nan, np.inf, -1.0])
def test_invalid_dissimilarities_name_the_measure(answer):
    with pytest.raises(ValueError, match="Gives: evaluate gave a negative number, NaN or infinity"):
        FarthestFirst().select(Gives(answer), np.arange(3)[:, None], 2, np.random.default_rng(0))


def test_too_few_dissimilarities_name_the_measure():
    class Short(Steps):
        def prepare(self, patterns, prototypes):
            return LinearPrepared(np.zeros((1, 1, 1)))

    with pytest.raises(ValueError, match=r"Short: evaluate gave shape \(1, 1\) for 3 patterns and 1 prototypes"):
        FarthestFirst().select(Short(), np.arange(3)[:, None], 2, np.random.default_rng(0))


@pytest.mark.parametrize("answer", [[0, 0], [1, 0], [0, 5], [-1, 0], [0], [0.0, 1.0]])
def test_the_result_of_a_custom_selection_is_checked(answer):
    class Own:
        def select(self, measure, patterns, count, rng):
            return answer

    with pytest.raises(ValueError, match="Own: select must return"):
        select_prototypes(Own(), Steps(), np.arange(5)[:, None], 2, np.random.default_rng(0))


def test_selecting_all_patterns_needs_no_comparison():
    assert select_prototypes("farthest-first", Gives(np.nan), np.arange(4), 4, np.random.default_rng(0)).tolist() == [
        0, 1, 2, 3,
    ]  # fmt: skip


def test_unknown_selections_are_refused():
    with pytest.raises(ValueError, match=r"unknown selection 'farthest'; known: .* Did you mean 'farthest-first'"):
        resolve_selection("farthest")
