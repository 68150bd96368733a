"""Asking and teaching: which rows to ask about, what answers change, and what they leave alone."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier, SurpriseClassifier, load, save
from eocc.classifiers.answers import HALF_WORTH, REACH, _candidates, _unlike
from eocc.entropic.rules import Scores
from eocc.measures import Gower
from eocc.measures.precomputed import joined
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
    found = _candidates(Scores(ratios := np.linspace(2, 0, 10_000), -(ratios**2) / 2))
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


def test_an_explanation_says_what_answers_add():
    _, better, rows, places = taught()
    some = rows[[*places, *range(0, 220, 20)]]
    model = better.surprise_model_
    explained, added = better.explain(some), model.correction.of(some)
    assert_array_equal([one.surprise for one in explained], better._calibration_values(some))
    assert_array_equal([one.answered for one in explained], added)
    assert added.any()
    said = ["Answers on similar rows add" in " ".join(one.detail.split()) for one in explained]
    assert said == (added != 0).tolist()


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


def dirty(seed=0, n_outliers=20):
    """200 normal rows and some outliers, all of them training rows."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(200, 3)), rng.normal([0.0, 6.0, 0.0], size=(n_outliers, 3))])


NEW = np.random.default_rng(9).normal(size=(80, 3)) * 3


class TestAnswersOnTrainingRows:
    X, y = dirty(), np.repeat([1, -1], [200, 20])
    clf = SurpriseClassifier().fit(X)

    def test_outliers_leave_the_normal_rows(self):
        taught = self.clf.teach(self.X[200:], self.y[200:])
        assert_array_equal(taught.training_indices_, np.arange(200))
        assert (taught._n_training, taught._is_whole, taught.surprise_model_.n_outliers) == (200, True, 20)
        assert_array_equal(taught.answers_.removed.places, np.arange(200, 220))
        assert len(taught.calibration_.margins) == 200
        assert len(self.clf.prototypes_) == 220  # the model that was taught is as it was

    def test_the_regions_are_those_of_the_remaining_rows(self):
        clf = SurpriseClassifier().fit(self.X)
        assert len(clf.labels_) == 220
        taught = clf.teach(self.X[200:], self.y[200:])
        assert len(taught.labels_) == len(taught.prototypes_) == 200

    def test_the_model_is_that_of_a_fit_with_the_same_labels(self):
        taught, labelled = self.clf.teach(self.X[200:], self.y[200:]), SurpriseClassifier().fit(self.X, self.y)
        assert not taught.surprise_model_.correction.of(NEW).any()
        assert_array_equal(taught._calibration_values(NEW), labelled._calibration_values(NEW))
        assert_array_equal(taught.p_values(NEW), labelled.p_values(NEW))
        assert_array_equal(taught.predict(NEW), labelled.predict(NEW))

    def test_new_outliers_are_found_after_teaching(self):
        new = np.random.default_rng(5).normal([0.0, 6.0, 0.0], size=(200, 3))
        before, after = (
            (one.predict(new) == -1).mean() for one in (self.clf, self.clf.teach(self.X[200:], self.y[200:]))
        )
        assert after > 0.95 > before

    def test_copies_of_an_answered_row_leave_too(self):
        X = self.X.copy()
        X[5] = X[7] = X[210]
        taught = SurpriseClassifier().fit(X).teach(X[[210]], [-1])
        assert_array_equal(taught.training_indices_, np.delete(np.arange(220), [5, 7, 210]))
        assert not SurpriseClassifier().fit(X).teach(X[[210]], [1]).answers_.removed

    def test_a_row_that_is_no_training_row_removes_none(self):
        assert self.clf.teach([[0.0, 30.0, 0.0]], [-1]).answers_.removed is None

    def test_steps_and_parts_give_the_same_model(self):
        at_once = self.clf.teach(self.X[200:], self.y[200:])
        in_steps = self.clf.teach(self.X[200:210], self.y[200:210]).teach(self.X[210:], self.y[210:])
        assert_array_equal(in_steps.score_samples(NEW), at_once.score_samples(NEW))
        part = at_once.withdraw(range(10))
        expected = self.clf.teach(self.X[210:], self.y[210:])
        assert_array_equal(part.score_samples(NEW), expected.score_samples(NEW))
        assert_array_equal(part.training_indices_, expected.training_indices_)

    @pytest.mark.parametrize("settings", [{}, {"prototypes": 100}, {"contamination": 0.1}, {"measure": "gower"}])
    def test_withdrawing_gives_back_the_model(self, settings, tmp_path):
        clf = SurpriseClassifier(**settings).fit(self.X)
        taught = clf.teach(self.X[200:], self.y[200:]).teach(self.X[:3], [1, 1, 1])
        save(taught, tmp_path / "m.eocc")
        loaded = load(tmp_path / "m.eocc")
        assert_array_equal(loaded.score_samples(NEW), taught.score_samples(NEW))
        assert_array_equal(loaded.training_indices_, taught.training_indices_)
        for back in (taught.withdraw(range(23)), loaded.withdraw(range(23))):
            assert back.answers_ is None
            assert_array_equal(back.decision_function(NEW), clf.decision_function(NEW))
            assert_array_equal(back.p_values(self.X), clf.p_values(self.X))
            assert_array_equal(back.training_indices_, clf.training_indices_)
            assert_array_equal(back.prototypes_, clf.prototypes_)
            assert (back._n_training, back.calibration_.rate) == (clf._n_training, clf.calibration_.rate)

    def test_few_rows_have_their_own_rate_again(self, tmp_path):
        clf = SurpriseClassifier().fit(self.X[:21])
        taught = clf.teach(self.X[:5], [-1] * 5)
        assert_allclose([clf.calibration_.rate, taught.calibration_.rate], [0.05, 1 / 17])
        save(taught, tmp_path / "m.eocc")
        for back in (taught.withdraw(range(5)), load(tmp_path / "m.eocc").withdraw(range(5))):
            assert back.calibration_.rate == 0.05
            assert_array_equal(back.predict(NEW), clf.predict(NEW))

    def test_names_of_the_rows_leave_and_come_back(self, tmp_path):
        clf = SurpriseClassifier().fit(self.X)
        clf._row_names_ = [f"row {i}" for i in range(220)]
        taught = clf.teach(self.X[[3, 210]], [-1, -1])
        assert taught._row_names_ == [f"row {i}" for i in range(220) if i not in (3, 210)]
        save(taught, tmp_path / "m.eocc")
        assert load(tmp_path / "m.eocc").withdraw([0, 1])._row_names_ == clf._row_names_

    def test_a_revised_answer_brings_the_row_back(self):
        taught = self.clf.teach(self.X[200:], self.y[200:]).teach(self.X[200:], np.ones(20))
        assert (taught._n_training, taught.answers_.removed) == (220, None)
        assert (taught.predict(self.X[200:]) == 1).all()

    def test_confirmed_training_rows_do_not_move_the_limit(self):
        X = self.X[:200]
        clf = SurpriseClassifier().fit(X)
        strangest = np.argsort(clf.p_values(X), kind="stable")[:40]
        taught = clf.teach(X[strangest], np.ones(40))
        assert taught.surprise_model_.threshold.value == clf.surprise_model_.threshold.value
        assert_array_equal(taught.calibration_.margins, clf.calibration_.margins)
        assert (taught.predict(X[strangest]) == 1).all()
        new = np.random.default_rng(3).normal(size=(2000, 3))
        assert_array_equal(taught.predict(new), clf.predict(new))

    def test_the_limit_has_no_correction_by_answers(self):
        rows = np.vstack([NEW[:5], self.X[:5]])
        taught = self.clf.teach(rows, [1] * 10)
        among = taught.surprise_model_
        plain_model = SurpriseClassifier().fit(self.X).surprise_model_
        assert among.threshold.value == plain_model.threshold.value

    def test_all_rows_cannot_leave(self):
        clf = SurpriseClassifier(false_alarm_rate=0.2).fit(self.X[:5])
        with pytest.raises(
            ValueError, match="the answers call every training row not normal; fit a model to other rows"
        ):
            clf.teach(self.X[:5], [-1] * 5)


class TestFinding:
    X = dirty()

    def test_the_strangest_rows_come_first(self):
        clf = SurpriseClassifier().fit(self.X)
        found = clf.queries(self.X, 12, goal="find")
        order = np.argsort(clf.decision_function(self.X), kind="stable")[:12]
        assert [one.index for one in found] == order.tolist()
        p_values = clf.p_values(self.X[order])
        assert found[0].reason == f"rejected, p-value {p_values[0]:.3g}"
        assert {one.reason.split(",")[0] for one in found} <= {"rejected", "accepted"}

    def test_answered_rows_and_copies_are_not_shown_again(self):
        rows = np.vstack([self.X, self.X[-3:]])
        clf = SurpriseClassifier().fit(self.X)
        first = [one.index for one in clf.queries(rows, 223, goal="find")]
        assert sorted(first) == list(range(220))  # the three copies are shown once
        taught = clf.teach(rows[first[:30]], np.ones(30))
        again = [one.index for one in taught.queries(rows, 300, goal="find")]
        assert not set(again) & set(first[:30])
        assert len(again) == 190

    def test_answered_rows_with_gaps_are_not_shown_again(self):
        clf, rows = SurpriseClassifier().fit(self.X), np.full((4, 3), 4.0)
        rows[1:3, 0] = np.nan
        rows[3] = 9.0
        assert sorted(one.index for one in clf.queries(rows, 4, goal="find")) == [0, 1, 3]
        assert sorted(one.index for one in clf.teach(rows[1:2], [1]).queries(rows, 4, goal="find")) == [0, 3]

    def test_outliers_among_the_training_rows_are_found(self):
        clf = SurpriseClassifier().fit(self.X)
        for _ in range(4):
            places = np.array([one.index for one in clf.queries(self.X, 5, goal="find")])
            clf = clf.teach(self.X[places], np.where(places < 200, 1, -1))
        shown = clf.answers_.y
        assert (shown == -1).sum() >= 15

    def test_objects_are_found_by_their_content(self):
        words = ["oak", "oaks", "elm", "elms", "ash", "ashes", "internationalisation", "internationalisation"] * 3
        clf = SurpriseClassifier(measure="string-edit", false_alarm_rate=0.2).fit(words)
        found = [words[one.index] for one in clf.queries(words, 20, goal="find")]
        assert len(found) == len(set(found)) == 7

    def test_learning_is_the_default(self):
        clf, rows = fitted(), pool()
        assert clf.queries(rows, 8) == clf.queries(rows, 8, goal="learn")
        assert clf.queries(rows, 8) != clf.queries(rows, 8, goal="find")

    def test_an_unknown_goal_is_named(self):
        with pytest.raises(ValueError, match=r"^unknown goal 'seek'; known: 'find', 'learn'$"):
            fitted().queries(pool(), 3, goal="seek")
