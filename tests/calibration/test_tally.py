"""Order statistics of numbers that come in parts: exact or a bin too high, whatever the parts and their order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eocc.calibration import conformal
from eocc.calibration.conformal import Tally, ranks_of
from streams import chunked


@given(
    numbers=st.lists(st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 1.0, 1.0000001]), min_size=1, max_size=80),
    step=st.integers(1, 30),
)
def test_a_tally_is_exact_up_to_its_number_of_bins(numbers, step):
    tally = Tally(np.empty(0))
    for chunk in chunked(np.array(numbers), step):
        tally.merge(Tally(chunk))
    ranks = np.arange(1, len(numbers) + 1)
    assert_array_equal(tally.largest(ranks), np.sort(numbers)[::-1])


@given(seed=st.integers(0, 50), step=st.integers(1, 700))
def test_a_tally_with_few_bins_errs_upwards_by_less_than_a_bin(seed, step):
    numbers = np.random.default_rng(seed).normal(size=2000)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conformal, "MOST_BINS", 256)
        for part in (step, 2000):
            tally = Tally(np.empty(0))
            for chunk in chunked(numbers, part):
                tally.merge(Tally(chunk))
                assert len(tally._values) <= 512
            found.append(tally.largest(np.arange(1, 2001)))
            assert len(tally._values) <= 256
    assert_array_equal(found[0], found[1])
    exact = np.sort(numbers)[::-1]
    assert (found[0] >= exact).all()
    # 256 bins for some 12 binades of either sign: at least 8 each.
    assert (found[0] <= exact + np.abs(exact) / 4).all()
    assert np.isin(found[0], numbers).all()


@given(
    parts=st.lists(st.lists(st.floats(-1e3, 1e3) | st.integers(-3, 3).map(float), max_size=40), max_size=8),
    data=st.data(),
    bins=st.sampled_from([4, 16, 2**16]),
)
def test_tallies_merge_to_the_same_bins_in_any_order(parts, data, bins):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conformal, "MOST_BINS", bins)
        whole = Tally(np.array([number for part in parts for number in part], float))
        tallies = [Tally(np.array(part, float)) for part in parts] or [Tally(np.empty(0))]
        while len(tallies) > 1:  # any tree of merges
            other = tallies.pop(data.draw(st.integers(0, len(tallies) - 1)))
            tallies[data.draw(st.integers(0, len(tallies) - 1))].merge(other)
        assert tallies[0].total == whole.total
        ranks = np.arange(1, whole.total + 1)
        assert_array_equal(tallies[0].largest(ranks), whole.largest(ranks))


@given(n=st.integers(1, 60), more=st.integers(0, 500), rate=st.floats(0.02, 0.9))
def test_ranks_are_increasing_and_keep_the_threshold(n, more, rate):
    total = n + more
    ranks = ranks_of(n, total, rate)
    assert (np.diff(ranks) > 0).all()
    assert ranks[0] >= 1
    assert ranks[-1] <= total
    kept = int(rate * (n + 1) + 1e-9)
    if kept:
        assert ranks[kept - 1] == int(rate * (total + 1) + 1e-9)
    assert_array_equal(ranks_of(total, total, rate), np.arange(1, total + 1))
