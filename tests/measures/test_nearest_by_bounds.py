"""The nearest prototypes of strings, graphs and series, found with fewer comparisons."""

import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eocc.base.threads import threads
from eocc.measures import resolve_measure
from eocc.measures.base import nearest_prototypes
from eocc.measures.objects import Objects, derived
from eocc.measures.series import DTW
from eocc.measures.strings import StringEdit
from oracles import nearest as oracle
from oracles import series as series_oracle
from samples import samples
from strategies import BANDS, TEXTS, TOKENS, sets_of_series

MEASURES = ("string-edit", "dtw")


def weights_of(u):
    """One or two weightings, zeros included."""
    one = st.lists(st.sampled_from([0.0, 0.25, 0.7, 1.0]), min_size=u, max_size=u)
    return st.lists(one, min_size=1, max_size=2).map(np.array)


def assert_nearest(fitted, patterns, prototypes, weightings, k):
    found = fitted.nearest(patterns, prototypes, weightings, k)
    expected = oracle.nearest(fitted, patterns, prototypes, weightings, k)
    assert len(found) == len(weightings)
    for (distances, indices), (known, places) in zip(found, expected, strict=True):
        assert_array_equal(distances, known)
        assert_array_equal(indices, places)


def assert_nearest_of(measure, items, data, u):
    """The first few items against the others, which may be the same."""
    patterns = measure.read(items)
    fitted = measure.fit(patterns)
    k, n = data.draw(st.integers(1, len(items))), data.draw(st.integers(1, len(items)))
    assert_nearest(fitted, patterns[:n], patterns, data.draw(weights_of(u)), k)


@given(st.one_of(st.lists(TEXTS, min_size=1, max_size=12), st.lists(TOKENS, min_size=1, max_size=12)), st.data())
def test_strings(items, data):
    assert_nearest_of(StringEdit(), items, data, 3)


@given(sets_of_series(), st.sampled_from(BANDS), st.data())
def test_series(X, band, data):
    assert_nearest_of(DTW(band), X, data, X[0].shape[1])


def words(n, mean_length, seed=0, alphabet="abcdefgh"):
    """Families of similar strings of very different lengths."""
    rng = random.Random(seed)
    roots = ["".join(rng.choices(alphabet, k=rng.randint(1, 2 * mean_length))) for _ in range(20)]
    return [root[: rng.randint(0, 3)] + rng.choice(alphabet) + root[3:] for root in rng.choices(roots, k=n)]


@pytest.mark.parametrize(("n", "mean_length"), [(700, 15), (120, 90)])
@pytest.mark.parametrize("alphabet", ["abcdefgh", "".join(map(chr, range(0x4E00, 0x4E00 + 400)))])
def test_many_strings_short_and_long(n, mean_length, alphabet):
    strings = Objects(words(n, mean_length, alphabet=alphabet))
    weightings = np.array([[1.0, 1.0, 1.0], [0.3, 0.9, 0.5]])
    assert_nearest(StringEdit().fit(strings), strings[:60], strings[40:], weightings, 9)


@pytest.mark.parametrize("name", MEASURES)
def test_does_not_depend_on_threads_nor_on_the_batch(name):
    training, new = samples(name, n=90)
    measure = resolve_measure(name)
    prototypes, patterns = measure.read(training), measure.read(new)
    fitted = measure.fit(prototypes)
    weightings = np.random.default_rng(0).random((2, fitted.n_parameters))
    whole = fitted.nearest(patterns, prototypes, weightings, 5)
    with threads(3):
        for found, known in zip(fitted.nearest(patterns, prototypes, weightings, 5), whole, strict=True):
            assert_array_equal(found[0], known[0])
            assert_array_equal(found[1], known[1])
    for i in range(len(patterns)):
        for found, known in zip(fitted.nearest(patterns[[i]], prototypes, weightings, 5), whole, strict=True):
            assert_array_equal(found[0][0], known[0][i])
            assert_array_equal(found[1][0], known[1][i])


def counted_pairs(monkeypatch, module, name, n_pairs):
    """Return a list that collects how many pairs each call compares."""
    counts, function = [], getattr(module, name)

    def counting(*arguments):
        result = function(*arguments)
        counts.append(n_pairs(arguments, result))
        return result

    monkeypatch.setattr(module, name, counting)
    return counts


def test_short_strings_of_other_lengths_are_skipped_by_blocks(monkeypatch):
    from eocc.measures import strings

    counts = counted_pairs(monkeypatch, strings, "nearest_by_blocks", lambda _, compared: compared)
    # Two blocks of 128: strings of 2 and of 40 symbols. Those of 2 differ by at least 38 of 40 from the long ones.
    prototypes = Objects(["ab"] * 128 + ["ab" * 20] * 128)
    StringEdit().fit(prototypes).nearest(Objects(["ac", "ac" * 20]), prototypes, np.ones((1, 3)), 3)
    assert counts == [2]


def test_up_to_2048_pairs_are_all_compared(monkeypatch):
    from eocc.measures import strings

    counts = counted_pairs(monkeypatch, strings, "nearest_by_blocks", lambda _, compared: compared)
    strings = Objects(words(2049, 5))
    fitted, weightings = StringEdit().fit(strings), np.array([[1.0, 0.5, 0.2]])
    found = nearest_prototypes(fitted, strings[:1], strings[:2048], weightings, 9)
    assert counts == []
    for one, known in zip(found[0], oracle.nearest(fitted, strings[:1], strings[:2048], weightings, 9)[0], strict=True):
        assert_array_equal(one, known)
    nearest_prototypes(fitted, strings[:1], strings, weightings, 9)
    assert len(counts) == 1


@given(sets_of_series(), st.sampled_from(BANDS), st.data())
def test_series_bounds_equal_the_envelope_and_never_exceed_the_distance(X, band, data):
    from eocc.measures.series import _groups, _Rows

    width, p = 1.0 if band is None else band, data.draw(weights_of(X[0].shape[1]))
    pairs = _Rows(X, _groups(X), width, 1.0)
    for i, x in enumerate(X):
        found = pairs.bounds(i, p)
        for v, weights in enumerate(p):
            for g, members in enumerate(pairs.groups.members):
                own = [X[j] for j in members[members >= 0]]
                least = min(series_oracle.envelope_cost(x.tolist(), y.tolist(), weights, width) for y in own)
                assert found[v, g] == pytest.approx(np.sqrt(least), rel=1e-8)
                assert found[v, g] <= pairs.compare(i, np.array([g]), weights)[0, : len(own)].min()


def test_series_far_away_are_skipped(monkeypatch):
    from eocc.measures import series

    counts = counted_pairs(monkeypatch, series, "nearest_in_groups", lambda _, compared: compared)
    rng = np.random.default_rng(0)
    prototypes = DTW().read(np.concatenate([rng.random((8, 30)), 50 + rng.random((92, 30))]))
    DTW().fit(prototypes).nearest(DTW().read(rng.random((1, 30))), prototypes, np.ones((1, 1)), 4)
    assert counts == [2]  # groups of four


def test_training_series_are_compared_once(monkeypatch):
    from eocc.measures.series import _Rows

    counts = counted_pairs(monkeypatch, _Rows, "compare", lambda arguments, _: len(arguments[2]))
    series = DTW().read(np.random.default_rng(0).random((20, 12)))
    fitted = DTW().fit(series)
    once = sum(counts)
    D = fitted.prepare(series).evaluate(np.ones(1))
    assert sum(counts) == once
    assert_array_equal(D, fitted.prepare(series).evaluate(np.ones(1)))
    assert sum(counts) == 2 * once


def test_what_is_derived_from_objects_is_kept_for_one_owner_and_not_pickled():
    items, calls = Objects("abc"), []

    def make():
        calls.append(None)
        return len(calls)

    one, other = object(), object()
    assert [derived(items, owner, make) for owner in (one, one, other, other, one)] == [1, 1, 2, 2, 3]
    assert derived(pickle.loads(pickle.dumps(items)), one, make) == 4
