import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eocc.entropic.graph import normalized_entropy, renyi_entropy
from oracles import core


def test_by_hand():
    # gamma = 1, d = 2: alpha = 1/2, L = 3, n = 3, H = 2 [ln(3 / sqrt 3) - ln(2 / (2 pi e)) / 2]
    expected = 2 * (math.log(3 / math.sqrt(3)) - math.log(2 / (2 * math.pi * math.e)) / 2)
    assert renyi_entropy([1.0, 2.0], n_dims=2, gamma=1.0) == pytest.approx(expected)
    assert normalized_entropy([1.0, 2.0], gamma=1.0) == 1.5


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.01, 0.9))
def test_normalized_entropy_equals_the_definition(lengths, gamma):
    assert normalized_entropy(lengths, gamma) == pytest.approx(core.normalized_entropy(lengths, gamma), abs=1e-12)
    assert 0 <= normalized_entropy(lengths, gamma) <= 1 + 1e-12


@given(st.lists(st.floats(1e-3, 1), min_size=2, max_size=20), st.integers(1, 50), st.floats(1.01, 5))
def test_both_entropies_rise_with_the_scale_of_the_data(lengths, n_dims, factor):
    wider = np.array(lengths) * factor
    assert renyi_entropy(wider, n_dims) > renyi_entropy(lengths, n_dims)
    assert normalized_entropy(wider) > normalized_entropy(lengths)


def test_small_dimensions_are_defined():
    assert all(math.isfinite(renyi_entropy([0.1, 0.2], n_dims)) for n_dims in range(1, 40))


def test_entropy_of_copies_and_of_a_single_pattern():
    assert renyi_entropy([0.0, 0.0], n_dims=3) == -math.inf
    assert normalized_entropy([0.0, 0.0]) == 0.0
    assert normalized_entropy([]) == 0.0


@pytest.mark.parametrize("gamma", [0.0, -1.0, 3.0])
def test_gamma_out_of_range_raises_a_clear_error(gamma):
    with pytest.raises(ValueError, match=rf"gamma must lie in \(0, d\), with d = 3 .*; not {gamma}"):
        renyi_entropy([1.0], n_dims=3, gamma=gamma)
