import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.measures import Hamming
from eocc.measures.difference import Pair
from oracles import hamming as oracle


def difference_of(*pair):
    return Pair(*pair).difference


@st.composite
def sequences(draw):
    length = draw(st.integers(1, 6))
    text = st.text("abc", min_size=length, max_size=length)
    tokens = st.lists(st.sampled_from(["to", "be", 1]), min_size=length, max_size=length)
    return draw(st.lists(draw(st.sampled_from([text, tokens])), min_size=1, max_size=6))


@given(sequences(), st.integers(0, 10**6))
def test_equals_the_definition_and_contributions_add_up(X, seed):
    patterns = Hamming().read(X)
    fitted = Hamming().fit(patterns)
    p = np.random.default_rng(seed).random(fitted.n_parameters)
    D = fitted.prepare(patterns).evaluate(p)
    assert_allclose(D, [[oracle.dissimilarity(x, y, p) for y in X] for x in X], rtol=1e-12, atol=1e-15)
    assert_array_equal(D, fitted.prepare(patterns, patterns).evaluate(p))
    difference = difference_of(fitted, patterns[:1], patterns[-1:], p)
    assert_allclose(sum(one.amount for one in difference.contributions), D[0, -1], rtol=1e-12, atol=1e-15)


def test_by_hand():
    fitted = Hamming().fit(["AB-12"])
    difference = difference_of(fitted, ["AC-19"], ["AB-12"], np.array([1.0, 1.0, 1.0, 1.0, 0.5]))
    assert difference.dissimilarity == 0.3
    assert [(one.amount, one.text) for one in difference.contributions] == [
        (0.2, "position 1: 'C', prototype 'B'"),
        (0.1, "position 4: '9', prototype '2'"),
    ]


@pytest.mark.parametrize(
    "classifier", [SurpriseClassifier(measure="hamming"), EntropicOneClassClassifier(measure="hamming")]
)
def test_end_to_end(classifier):
    rng = np.random.default_rng(0)
    normal = [f"AB-{number:02d}" for number in rng.integers(0, 20, size=40)]
    clf = classifier.fit(normal)
    scores = clf.score_samples(["AB-07", "zz!zz"])
    assert scores[0] > scores[1]
    assert "position" in str(clf.explain(["zz!zz"])[0])


@pytest.mark.parametrize(
    ("X", "message"),
    [(["oak", "oaks"], r"X\[1\] has 4 symbols, X\[0\] has 3; sequences must be of equal length"), ([""], "at least 1")],
)
def test_unequal_lengths_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        Hamming().read(X)


def test_new_sequences_of_another_length_are_refused():
    clf = SurpriseClassifier(measure="hamming").fit(["oak", "elm", "ash"])
    with pytest.raises(ValueError, match=r"a sequence has 4 symbols, the training sequences 3; .*'string-edit'"):
        clf.predict(["oaks"])
