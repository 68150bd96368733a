"""Asking and teaching: which rows to ask about, what answers change, and what they leave alone."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier, SurpriseClassifier, load, save
from eocc.classifiers.asking import HALF_WORTH, REACH, _candidates, _unlike
from eocc.io.model_file.document import first_score
from eocc.measures import Gower
from eocc.measures.joining import joined
from eocc.regions.memberships import resolve_membership_function
from eocc.regions.scores import Scores
from eocc.report import write_review


def pool(seed=1):
    """200 normal rows, then 20 outliers that differ in the second of three columns."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(200, 3)), rng.normal([0.0, 3.0, 0.0], size=(20, 3))])


def fitted(**settings):
    return SurpriseClassifier(**settings).fit(np.random.default_rng(0).normal(size=(300, 3)))


def taught(n=8):
    clf, rows = fitted(), pool()
    places = np.array([query.index for query in clf.queries(rows, n)])
    return clf, clf.teach(rows[places], places < 200), rows, places


def test_answered_rows_are_judged_as_the_answers_say():
    clf, better, rows, places = taught()
    assert_array_equal(better.predict(rows[places]), np.where(places < 200, 1, -1))
    assert (clf.predict(rows[places]) == -1).all()
    assert_array_equal(better.answers_.rows, rows[places])
    assert clf.answers_ is None


def test_near_copies_are_asked_once():
    rows = np.repeat([[9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]], 10, axis=0)
    rows += np.random.default_rng(0).normal(size=rows.shape) / 1e3
    assert sorted(query.index // 10 for query in fitted().queries(rows, 3)) == [0, 1, 2]


def test_reasons_name_groups_new_kinds_and_the_limit():
    group = np.array([9.0, 0.0, 0.0]) + np.random.default_rng(0).normal(size=(14, 3)) / 10
    rows = np.vstack([group, [[0.0, 40.0, 0.0], [0.0, 0.0, 2.2]]])
    reasons = {query.index: query.reason for query in fitted().queries(rows, 16)}
    assert [reasons[i] for i in range(14) if i in reasons] == ["a group of 14 alike"] * 14
    assert reasons[14] == "first of a new kind"
    assert reasons[15] == "near the limit"
    assert fitted().queries(np.zeros((1, 3)))[0].reason == "an ordinary row"


def test_candidates_are_the_most_unusual_rows_and_some_of_the_next():
    found = _candidates(Scores.of_ratios(np.linspace(2, 0, 10_000), resolve_membership_function("gaussian")))
    assert_array_equal(found[:201], np.arange(201))
    assert len(found) == 400
    assert (found[201], found[-1]) == (214, 2986)  # 200 of the rows 200 to 3000


def test_a_row_is_worth_half_as_much_at_a_p_value_of_one_in_twenty():
    # Far apart, all rows are unlike each other: the order of the questions is that of 1 / (p + 0.05).
    assert (HALF_WORTH, REACH) == (0.05, 2.0)
    # At twice the third nearest distance, a row is worth 1 - exp(-1 / 2) of what it was.
    assert_allclose(_unlike(np.array([0.0, 1.0, 10.0]), 1.0), [0.0, 1 - np.exp(-0.5), 1.0])
    assert_array_equal(_unlike(np.array([0.0, 1e-9]), 0.0), [0.0, 1.0])


def test_answered_rows_are_not_asked_again():
    _, better, rows, places = taught()
    assert not {query.index for query in better.queries(rows, 20)} & set(places.tolist())


def test_the_rows_alone_are_enough_to_teach_a_loaded_model(tmp_path):
    clf, better, rows, places = taught()
    save(clf, tmp_path / "m.eocc")
    loaded = load(tmp_path / "m.eocc").teach(rows[places], places < 200)
    assert_array_equal(loaded.score_samples(rows), better.score_samples(rows))
    save(loaded, tmp_path / "n.eocc")
    again = load(tmp_path / "n.eocc")
    assert_array_equal(again.score_samples(rows), better.score_samples(rows))
    assert_array_equal(again.answers_.y, better.answers_.y)
    assert_array_equal(again.answers_.rows, better.answers_.rows)


def test_a_file_from_before_there_were_answers_loads():
    clf, rows = fitted(), pool()
    state = clf.fitted_state()
    del state["answers"], state["surprise"]["correction"]
    old = SurpriseClassifier()
    old.restore_state(state)
    assert first_score(old, state) == first_score(clf, clf.fitted_state())
    assert_array_equal(old.score_samples(rows), clf.score_samples(rows))


def test_an_answer_reaches_half_the_way_to_the_nearest_training_row():
    clf = SurpriseClassifier(false_alarm_rate=0.1).fit(np.arange(20.0)[:, None])
    better = clf.teach([[29.0]], [1])  # 10 from the nearest training row
    before, after = (one.surprise_model_.surprises(np.array([[29.0], [31.5], [34.5]])) for one in (clf, better))
    median = np.median(clf.surprise_model_.surprises(np.arange(20.0)[:, None]))
    assert_allclose(after[0], median, atol=0.2)
    assert_allclose((after - before)[1] / (after - before)[0], (1 - 0.25) ** 2)
    assert after[2] == before[2]
    assert better.surprise_model_.threshold.value == clf.surprise_model_.threshold.value


def test_near_copies_with_opposite_answers_cancel():
    clf = fitted()
    better = clf.teach([[5.0, 5.0, 5.0], [5.0, 5.0, 5.001]], [1, -1])
    amounts = better.surprise_model_.correction.amounts
    assert np.abs(amounts).max() < 30 * np.abs(clf.surprise_model_.surprises(np.full((1, 3), 5.0)))[0]


def test_answers_are_added_revised_and_withdrawn():
    clf, better, rows, places = taught()
    step = clf.teach(rows[places[:5]], places[:5] < 200).teach(rows[places[5:]], places[5:] < 200)
    assert_array_equal(step.score_samples(rows), better.score_samples(rows))
    revised = better.teach(rows[places[:1]], [1 if places[0] >= 200 else -1])
    assert len(revised.answers_) == len(places)
    assert revised.answers_.y.tolist() == [-better.answers_.y[0], *better.answers_.y[1:]]  # it keeps its place
    assert_array_equal(better.withdraw([]).score_samples(rows), better.score_samples(rows))
    assert_array_equal(better.withdraw(range(len(places))).score_samples(rows), clf.score_samples(rows))
    without = better.withdraw(0)
    assert_array_equal(without.score_samples(rows), clf.teach(rows[places[1:]], places[1:] < 200).score_samples(rows))


def test_a_model_of_few_prototypes_is_itself_again_when_all_answers_are_withdrawn(tmp_path):
    clf, rows = fitted(prototypes=50), pool()
    save(clf.teach(rows[[0, 205]], [1, -1]).teach(rows[[1]], [1]), tmp_path / "m.eocc")
    back = load(tmp_path / "m.eocc").withdraw([0, 2]).withdraw(0)
    assert back.answers_ is None
    assert_array_equal(back.decision_function(rows), clf.decision_function(rows))
    assert_array_equal(back.p_values(rows), clf.p_values(rows))


def test_answers_keep_the_names_of_their_rows(tmp_path):
    rows = pool()
    clf = fitted().teach(rows[[0, 205]], [1, -1], ["a", 7]).teach(rows[[1]], [1]).teach(rows[[0]], [-1], ["b"])
    save(clf, tmp_path / "m.eocc")
    assert load(tmp_path / "m.eocc").answers_.names == clf.answers_.names == ("b", "7", "")
    assert clf.withdraw([0, 2]).answers_.names == ("7",)


def test_an_explanation_says_that_an_answer_decides():
    far = [0.0, 9.0, 0.0]
    explained = fitted().teach([far], [1]).explain([far, [0.0, 0.0, 0.0], [0.0, 90.0, 0.0]])
    assert [one.is_target for one in explained] == [True, True, False]
    assert ["because a similar row was answered as normal" in one.sentence for one in explained] == [True, False, False]


def test_outliers_of_the_fit_stay_when_answers_go():
    rows = pool()
    X, y = np.vstack([np.random.default_rng(0).normal(size=(300, 3)), rows[-5:]]), np.repeat([1, -1], [300, 5])
    clf = SurpriseClassifier().fit(X, y)
    better = clf.teach(rows[[0, 205]], [1, -1])
    assert better.surprise_model_.n_outliers == 6
    assert_array_equal(better.withdraw([0, 1]).score_samples(rows), clf.score_samples(rows))


def test_amounts_of_a_taught_model_add_up_to_the_surprise():
    _, better, rows, _ = taught()
    surprises = better.calibration_values(rows[::20])
    for one, surprise in zip(better.explain(rows[::20]), surprises, strict=True):
        assert one.terms[-1].kind == "answers"
        assert_allclose(sum(term.amount for term in one.terms), surprise, rtol=1e-12, atol=1e-12)
        assert "answers on similar rows" in " ".join(one.detail.split())


def test_a_row_scores_the_same_alone_as_in_a_batch():
    _, better, rows, _ = taught()
    some = rows[::7]
    assert_array_equal([better.score_samples(row[None])[0] for row in some], better.score_samples(some))


def test_the_false_alarm_rate_holds_after_teaching():
    rates = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = np.vstack([rng.normal(size=(300, 2)), rng.normal([0.0, 4.0], size=(30, 2))])
        clf = SurpriseClassifier().fit(rng.normal(size=(200, 2)))
        places = np.array([query.index for query in clf.queries(rows, 10)])
        better = clf.teach(rows[places], places < 300)
        rates.append((better.predict(rng.normal(size=(2000, 2))) == -1).mean())
    # The standard error of this mean is 0.004.
    assert 0.05 - 0.012 < np.mean(rates) < 0.05 + 0.012


def test_words_and_mixed_tables_can_be_asked_and_taught():
    stems = ["oak", "elm", "ash", "maple", "birch", "beech", "larch", "aspen", "alder", "hazel"]
    words = [stem + ending for stem in stems for ending in ("", "s", "en")]
    clf = SurpriseClassifier(measure="string-edit").fit(words)
    strange = ["internationalisation", "x", "internationalization"]
    assert clf.queries(strange, 1)[0].index in (0, 2)
    assert clf.teach(strange[:1], [1]).predict(strange[:1]).tolist() == [1]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=60), "colour": rng.choice(["red", "blue"], 60)})
    new = pd.DataFrame({"size": [0.0, 9.0], "colour": ["green", "red"]})
    better = SurpriseClassifier().fit(frame).teach(new[:1], [1]).teach(new[1:], [-1])
    assert better.predict(new).tolist() == [1, -1]
    assert better.answers_.rows[0] == {"size": 0.0, "colour": "green"}


@pytest.mark.parametrize("measure", ["euclidean", "standardised"])
def test_rows_with_missing_numbers_can_be_asked_and_taught(measure, tmp_path):
    X, new = np.random.default_rng(0).normal(size=(60, 3)), np.full((3, 3), 4.0)
    new[1:, 0] = np.nan
    clf = SurpriseClassifier(measure=measure).fit(X)
    assert [one.index for one in clf.queries(new, n=3)] == [0, 1]  # the third is a copy of the second
    taught = clf.teach(new[1:2], [1])
    assert taught.predict(new[1:]).tolist() == [1, 1]
    assert taught.predict(X).tolist() == clf.predict(X).tolist()
    save(taught, tmp_path / "m.eocc")
    assert_array_equal(load(tmp_path / "m.eocc").score_samples(new), taught.score_samples(new))


def test_tables_with_other_labels_are_joined():
    first, second = Gower().read([{"a": 1.0, "b": "x"}]), Gower().read([{"a": None, "b": "y"}, {"a": 2.0, "b": "x"}])
    both = joined(first, second)
    assert [both[i] for i in range(3)] == [{"a": 1.0, "b": "x"}, {"a": None, "b": "y"}, {"a": 2.0, "b": "x"}]


def test_the_entropic_classifier_asks_but_cannot_be_taught():
    X = np.random.default_rng(0).normal(size=(40, 2))
    clf = EntropicOneClassClassifier(random_state=0).fit(X)
    assert [query.index for query in clf.queries([[0.0, 0.0], [9.0, 9.0]], 1)] == [1]
    for call in (lambda: clf.teach(X, np.ones(40)), lambda: write_review(clf, "review.html", X)):
        with pytest.raises(ValueError, match="EntropicOneClassClassifier cannot be taught; fit a SurpriseClassifier"):
            call()


def test_precomputed_dissimilarities_ask_but_cannot_be_taught():
    X = np.random.default_rng(0).normal(size=(40, 2))
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    clf = SurpriseClassifier(measure="precomputed").fit(distances)
    assert len(clf.queries(distances + 5.0, 3)) >= 1
    with pytest.raises(ValueError, match="a model of precomputed dissimilarities cannot be taught"):
        clf.teach(distances, np.ones(40))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda clf: clf.queries(pool(), 0), "n must be an integer >= 1, not 0"),
        (lambda clf: clf.teach(pool(), [1, -1]), "X holds 220 rows, y 2 labels"),
        (lambda clf: clf.teach(pool()[:1], [3]), "y must hold .1 for normal rows"),
        (lambda clf: clf.teach(pool()[:2], [1, -1], ["a"]), "X holds 2 rows, names 1; pass one name per row"),
        (lambda clf: clf.withdraw([0]), "this model has learned no answers"),
        (
            lambda clf: fitted(prototypes=50, false_alarm_rate=0.01).teach(pool()[:1], [1]),
            "a model of 50 prototypes and a false_alarm_rate of 0.01 cannot be taught; fit it with at least 99",
        ),
        (lambda clf: clf.teach(pool()[:2], [1, -1]).withdraw([2]), "indices must be integers from 0 to 1"),
    ],
)
def test_bad_calls_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call(fitted())
