import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier
from eocc.entropic.search import GeneticSearch
from eocc.measures.sets import Tanimoto
from oracles import measures_text

NONE = np.empty(0)
ROWS = st.tuples(st.integers(1, 6), st.sampled_from([1, 7, 8, 63, 64, 65, 130])).flatmap(
    lambda shape: hnp.arrays(bool, shape, elements=st.booleans(), fill=st.booleans())
)


@given(ROWS)
def test_the_definition_the_unit_interval_and_single_rows(X):
    measure = Tanimoto()
    fitted = measure.fit(measure.read(X))
    D = fitted.prepare(X).evaluate(NONE)
    assert_allclose(D, [[measures_text.tanimoto(a, b) for b in X.tolist()] for a in X.tolist()], atol=1e-15)
    assert fitted.n_parameters == 0
    assert D.min() >= 0
    assert D.max() <= 1
    assert_array_equal(D, D.T)
    assert_array_equal(D[(X[:, None] == X).all(axis=2)], 0)
    for i in range(len(X)):
        assert_array_equal(fitted.prepare(X[[i]], X).evaluate(NONE), D[[i]])


def test_more_rows_than_a_block():
    rng = np.random.default_rng(0)
    X, R = rng.random((150, 200)) < 0.1, rng.random((70, 200)) < 0.1
    common = X.astype(int) @ R.T.astype(int)
    union = X.sum(axis=1)[:, None] + R.sum(axis=1) - common
    assert_allclose(Tanimoto().fit(R).prepare(X, R).evaluate(NONE), 1 - common / union, atol=1e-15)


@pytest.mark.parametrize("X", [[[1, 0], [0, 1]], [[True, False], [False, True]], np.eye(2), np.eye(2, dtype=object)])
def test_bits_may_be_written_in_several_ways(X):
    assert_array_equal(Tanimoto().read(X), np.eye(2, dtype=bool))


def test_what_was_read_no_longer_changes():
    X = np.eye(2, dtype=bool)
    bits = Tanimoto().read(X)
    X[:] = True
    assert_array_equal(bits, np.eye(2, dtype=bool))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([0, 1], r"X must be 2-D, one row of bits per pattern, not of shape \(2,\)"),
        (np.empty((0, 3)), "X holds no fingerprints"),
        ([[0, 1], [2, 0]], r"X must hold only 0 and 1, but X\[1, 0\] is 2"),
        ([[0, np.nan]], r"X\[0, 1\] is nan"),
        ([["a", "b"]], "X must hold only 0 and 1: could not convert"),
        ([[0, 1], [1]], "rows of bits, all of one length"),
    ],
)
def test_bad_input_is_named(X, message):
    with pytest.raises(ValueError, match=message):
        Tanimoto().read(X)


def test_sparse_input_is_told_what_to_do():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match=r"pass X.toarray\(\)"):
        Tanimoto().read(sparse.eye_array(3))


def test_end_to_end():
    rng = np.random.default_rng(0)
    X = rng.random((25, 100)) < np.linspace(0, 0.9, 100)
    clf = EntropicOneClassClassifier(measure=Tanimoto(), random_state=0, search=GeneticSearch(max_generations=3))
    clf.fit(X)
    new = np.vstack([X[[clf.regions_[0].representative]], ~X[:1], np.zeros((1, 100), bool)])
    scores = clf.score_samples(new)
    assert_array_equal(clf.predict(new), [1, -1, -1])
    assert_array_equal(scores, [clf.score_samples(new[[i]])[0] for i in range(3)])
    with pytest.raises(ValueError, match="X has 3 bits per row; the training rows had 100"):
        clf.predict(np.eye(3))
