import random
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier
from eocc.base.threads import threads
from eocc.entropic.search import GeneticSearch
from eocc.measures.strings import StringEdit
from oracles import measures_text
from strategies import TEXTS, TOKENS

WEIGHTS = st.tuples(*[st.floats(0, 1)] * 3).map(np.array)


def counts(patterns, prototypes):
    """The counts of operations, (n, r, 3), out of the measure."""
    measure = StringEdit()
    patterns, prototypes = measure.read(patterns), measure.read(prototypes)
    shares = measure.fit(prototypes).prepare(patterns, prototypes).components
    longer = np.array([[max(len(a), len(b), 1) for b in prototypes] for a in patterns])
    return np.moveaxis(np.rint(shares * longer).astype(int), 0, -1)


def expected_counts(patterns, prototypes):
    return np.array([[measures_text.edit_counts(a, b) for b in prototypes] for a in patterns])


def random_strings(n, longest, alphabet, seed=0):
    rng = random.Random(seed)
    return ["".join(rng.choices(alphabet, k=rng.randint(0, longest))) for _ in range(n)]


@given(st.lists(TEXTS, min_size=1, max_size=5), st.lists(TEXTS, min_size=1, max_size=5), WEIGHTS)
def test_strings_equal_the_definition(patterns, prototypes, p):
    measure = StringEdit()
    D = measure.fit(measure.read(prototypes)).prepare(patterns, prototypes).evaluate(p)
    assert_allclose(D, [[measures_text.string_edit(a, b, p) for b in prototypes] for a in patterns], atol=1e-15)


@given(st.lists(TOKENS, min_size=1, max_size=5), st.lists(TOKENS, min_size=1, max_size=5))
def test_tokens_equal_the_definition(patterns, prototypes):
    assert_array_equal(counts(patterns, prototypes), expected_counts(patterns, prototypes))


# By lanes, by bits, and both; more than a block of lanes; more symbols than a byte can tell apart.
@pytest.mark.parametrize(
    ("n", "longest", "alphabet"),
    [
        (300, 7, "ab"),
        (140, 12, string.ascii_lowercase),
        (30, 128, "abc"),
        (20, 190, "abcd"),
        (40, 30, "".join(map(chr, range(1000, 2000)))),
        (12, 200, "".join(map(chr, range(1000, 2000)))),
    ],
)
def test_many_strings_have_the_counts_of_editops(n, longest, alphabet):
    levenshtein = pytest.importorskip("rapidfuzz.distance").Levenshtein
    patterns, prototypes = random_strings(15, longest, alphabet), random_strings(n, longest, alphabet, seed=1)

    def triple(a, b):
        tags = [op.tag for op in levenshtein.editops(a, b)]
        return tags.count("insert"), tags.count("delete"), tags.count("replace")

    found = counts(patterns, prototypes)
    assert_array_equal(found, [[triple(a, b) for b in prototypes] for a in patterns])
    assert_array_equal(found[:3, :8], expected_counts(patterns[:3], prototypes[:8]))


def test_lengths_about_a_word_and_about_the_longest_lane():
    lengths = [0, 1, 63, 64, 65, 127, 128, 129, 191, 192, 193]
    rng = random.Random(0)
    strings = ["".join(rng.choices("ab", k=length)) for length in lengths]
    assert_array_equal(counts(strings, strings), expected_counts(strings, strings))


def test_by_hand():
    one, none = np.array([[1, 0, 0]]), np.array([[0, 0, 0]])
    assert_array_equal(counts(["oak"], ["oaks", "oak"])[0], np.vstack([one, none]))
    assert_array_equal(counts(["oaks"], ["oak"])[0], [[0, 1, 0]])
    assert_array_equal(counts(["cat"], ["cut"])[0], [[0, 0, 1]])
    assert_array_equal(counts(["", "abc"], ["", "ab"]), [[[0, 0, 0], [2, 0, 0]], [[0, 3, 0], [0, 1, 0]]])


@given(st.lists(TEXTS, min_size=1, max_size=6), WEIGHTS)
def test_training_values_stay_in_the_unit_interval_and_rows_do_not_depend_on_their_batch(strings, p):
    measure = StringEdit()
    patterns = measure.read(strings)
    fitted = measure.fit(patterns)
    D = fitted.prepare(patterns).evaluate(p)
    assert D.min() >= 0
    assert D.max() <= 1 + 1e-12
    assert_array_equal(D[[[a == b for b in strings] for a in strings]], 0)
    for i in range(len(strings)):
        assert_array_equal(fitted.prepare(patterns[[i]], patterns).evaluate(p), D[[i]])


def test_threads_change_nothing():
    strings = random_strings(200, 20, "abc") + random_strings(3, 200, "abc")
    fitted = StringEdit().fit(strings)
    alone = fitted.prepare(strings).components
    with threads(2):
        assert_array_equal(fitted.prepare(strings).components, alone)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("oak", "X must be a sequence of strings, not str"),
        ([], "X holds no strings"),
        (["oak", None], r"X\[1\]: expected a string or a list of tokens, not None \(NoneType\)"),
        ([{"oak"}], r"X\[0\]: expected a string or a list of tokens, not \{'oak'\} \(set\)"),
        ([["oak", ["elm"]]], r"X\[0\]: expected hashable tokens, such as strings or numbers: unhashable type: 'list'"),
    ],
)
def test_bad_input_is_named(X, message):
    with pytest.raises(ValueError, match=message):
        StringEdit().read(X)


def test_what_was_read_no_longer_changes():
    tokens = ["to", "be"]
    patterns = StringEdit().read([tokens, np.array([1, 2])])
    tokens.append("or")
    assert list(patterns) == [("to", "be"), (1, 2)]


@pytest.mark.parametrize("split", [str, list])
def test_end_to_end(split):
    words = [split(f"{stem}{end}") for stem in ("walk", "talk", "jump", "play") for end in ("", "s", "ed", "ing")]
    clf = EntropicOneClassClassifier(measure=StringEdit(), random_state=0, search=GeneticSearch(max_generations=3))
    clf.fit(words)
    new = [words[clf.regions_[0].representative], *map(split, ("zzzzzzzzzzzzzzzzzz", "", "Łódź", "stalked"))]
    scores = clf.score_samples(new)
    assert_array_equal(clf.predict(new[:2]), [1, -1])
    assert scores[1] < scores[-1]
    assert_array_equal(scores, [clf.score_samples([word])[0] for word in new])
