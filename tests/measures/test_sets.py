import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier
from eocc.entropic.search import GeneticSearch
from eocc.measures import sets
from eocc.measures.sets import CosineBags, Jaccard
from oracles import measures_text

NONE = np.empty(0)
TOKEN = st.sampled_from(["to", "be", "é", 3, ("a", 1), None])
SETS = st.lists(st.frozensets(TOKEN), min_size=1, max_size=6)
LISTS = st.lists(st.lists(TOKEN, max_size=8), min_size=1, max_size=6)
COUNTS = st.lists(st.dictionaries(TOKEN, st.integers(0, 5)), min_size=1, max_size=6)
REALS = st.lists(st.dictionaries(TOKEN, st.floats(0.01, 10)), min_size=1, max_size=6)


def dissimilarities(measure, patterns, prototypes):
    patterns, prototypes = measure.read(patterns), measure.read(prototypes)
    return measure.fit(prototypes).prepare(patterns, prototypes).evaluate(NONE)


def pairwise(function, patterns, prototypes):
    return [[function(a, b) for b in prototypes] for a in patterns]


@given(SETS | LISTS, SETS | LISTS)
def test_jaccard_equals_the_definition(patterns, prototypes):
    expected = pairwise(measures_text.jaccard, patterns, prototypes)
    assert_allclose(dissimilarities(Jaccard(), patterns, prototypes), expected, atol=1e-15)


@given(COUNTS | REALS, COUNTS | REALS)
def test_cosine_equals_the_definition(patterns, prototypes):
    present = [[{t: w for t, w in bag.items() if w} for bag in group] for group in (patterns, prototypes)]
    expected = pairwise(measures_text.cosine, *present)
    assert_allclose(dissimilarities(CosineBags(), patterns, prototypes), expected, atol=1e-14)


@given(LISTS)
def test_tokens_are_counted(lists):
    bags = [{token: tokens.count(token) for token in tokens} for tokens in lists]
    assert_array_equal(dissimilarities(CosineBags(), lists, lists), dissimilarities(CosineBags(), bags, bags))


@pytest.mark.parametrize("measure", [Jaccard(), CosineBags()])
@given(X=LISTS)
def test_training_values_and_single_rows(measure, X):
    patterns = measure.read(X)
    fitted = measure.fit(patterns)
    D = fitted.prepare(patterns).evaluate(NONE)
    assert fitted.n_parameters == 0
    assert D.min() >= 0
    assert D.max() <= 1
    assert_array_equal(D, D.T)
    assert_array_equal(D[[[a == b for b in patterns] for a in patterns]], 0)
    for i in range(len(X)):
        assert_array_equal(fitted.prepare(patterns[[i]], patterns).evaluate(NONE), D[[i]])


@given(REALS)
def test_rows_of_real_weights_do_not_depend_on_their_batch(X):
    measure = CosineBags()
    patterns = measure.read(X)
    D = measure.fit(patterns).prepare(patterns).evaluate(NONE)
    assert D.min() >= 0
    assert_allclose(D.diagonal(), 0, atol=1e-15)
    for i in range(len(X)):
        assert_array_equal(measure.fit(patterns).prepare(patterns[[i]], patterns).evaluate(NONE), D[[i]])


def test_by_hand():
    assert_array_equal(
        dissimilarities(Jaccard(), [{1, 2, 3}, set()], [{2, 3, 4}, {9}, set()]), [[0.5, 1, 1], [1, 1, 0]]
    )
    assert_allclose(dissimilarities(CosineBags(), [{"a": 3, "b": 4}], [{"a": 1}, {}, {"c": 1}]), [[0.4, 1, 1]])


@pytest.mark.parametrize("magnitude", [1e-320, 1e-200, 1e200, 1e308])
def test_huge_and_tiny_weights_are_measured_as_others_are(magnitude):
    bags = [{"a": magnitude, "b": magnitude}, {"a": magnitude}]
    assert_allclose(dissimilarities(CosineBags(), bags, bags), [[0, 1 - 0.5**0.5], [1 - 0.5**0.5, 0]], atol=1e-15)


@pytest.mark.parametrize(
    ("measure", "X", "message"),
    [
        (Jaccard(), "oak", "X must be a sequence of sets, not str"),
        (Jaccard(), [{1}, "oak elm"], r"X\[1\]: expected a set of tokens, not the text 'oak elm'; split it"),
        (Jaccard(), [3], r"X\[0\]: expected a set of tokens, not 3"),
        (Jaccard(), [{"oak": 2}], r"X\[0\]: .* for tokens with counts use CosineBags"),
        (Jaccard(), [[["oak"]]], r"X\[0\]: unhashable type: 'list'"),
        (CosineBags(), [], "X holds no bags of tokens"),
        (CosineBags(), [b"oak"], r"X\[0\]: expected a bag of tokens, not the text b'oak'"),
        (CosineBags(), [{"oak": -1}], r"X\[0\]: the count of 'oak' must be a finite number >= 0, not -1"),
        (CosineBags(), [{"oak": float("nan")}], "not nan"),
        (CosineBags(), [{"oak": None}], "not None"),
        (CosineBags(), [{"oak": 10**400}], "must be a finite number"),
    ],
)
def test_bad_input_is_named(measure, X, message):
    with pytest.raises(ValueError, match=message):
        measure.read(X)


@pytest.mark.parametrize("measure", [Jaccard(), CosineBags()])
def test_end_to_end(measure):
    rng = np.random.default_rng(0)
    baskets = [rng.choice(["bread", "milk", "eggs", "tea", "jam", "rice"], size=4).tolist() for _ in range(25)]
    clf = EntropicOneClassClassifier(measure=measure, random_state=0, search=GeneticSearch(max_generations=3))
    clf.fit(baskets)
    new = [baskets[clf.regions_[0].representative], ["drill", "saw", "nails"], []]
    scores = clf.score_samples(new)
    assert_array_equal(clf.predict(new), [1, -1, -1])
    assert_array_equal(scores, [clf.score_samples([basket])[0] for basket in new])


@pytest.mark.parametrize("measure", [Jaccard(), CosineBags()])
def test_sets_are_compared_in_blocks_on_another_thread_so_that_ctrl_c_works(measure, monkeypatch):
    X = measure.read([list("oak elm"[k % 5 :]) for k in range(9)])
    whole = measure.fit(X).prepare(X).evaluate(np.empty(0))
    blocks = []

    def by_hand(n, block, work):
        for start in range(0, n, block):
            blocks.append(start)
            work(start, min(start + block, n))

    monkeypatch.setattr(sets, "BLOCK_SIZE", 36)
    monkeypatch.setattr(sets, "for_each_block", by_hand)
    assert_array_equal(measure.fit(X).prepare(X).evaluate(np.empty(0)), whole)
    assert blocks == [0, 4, 8]
