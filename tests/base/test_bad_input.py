import signal
import threading

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from doubles import Manhattan, fitted_names, plain
from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.entropic.search import GeneticSearch


class TestDataOfAnotherKind:
    def test_an_error_names_the_measure_for_text_and_gaps(self):
        with pytest.raises(ValueError, match=r"holds text, but euclidean compares numbers; .* 'gower'") as caught:
            plain(measure="euclidean").fit(pd.DataFrame({"kind": ["fan", "pump"], "load": [1.0, 2.0]}))
        assert "\n" not in str(caught.value)
        with pytest.raises(ValueError, match="contains NaN; measure='gower' allows missing values") as caught:
            plain(measure="euclidean").fit([[1.0, np.nan], [2.0, 3.0]])
        assert "\n" not in str(caught.value)


class TestUnusualInput:
    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_few_rows(self, n):
        X = np.random.default_rng(0).normal(size=(n, 2))
        clf = plain().fit(X)
        assert len(clf.regions_) == min(n, 2)
        assert (clf.predict(X) == 1).all()
        assert (clf.predict(X + 100) == -1).all()

    def test_one_row_with_search(self):
        assert EntropicOneClassClassifier(random_state=0).fit([[1.0, 2.0]]).predict([[1.0, 2.0]]) == 1

    @pytest.mark.parametrize("constant", [0.0, 1e17, 1e170, -1e300])
    def test_a_constant_column_of_any_size_changes_nothing(self, constant):
        X = np.array([[constant, 1.0], [constant, 2.0], [constant, 3.0], [constant, 9.0]])
        clf = plain().fit(X)
        assert_array_equal(clf.spanning_tree_.lengths, plain().fit(X[:, 1:]).spanning_tree_.lengths)
        assert clf.predict([[constant, 1e6]]) == -1

    @pytest.mark.parametrize("value", [1e-300, 1e-260, 1.0, 1e300, 1.7e308])
    def test_equal_rows_of_any_size_reject_what_differs(self, value):
        clf = plain().fit(np.full((3, 2), value))
        assert clf.predict([[value, value], [value + 1, value * 0.5], [5.0, -3.0]]).tolist() == [1, -1, -1]

    def test_the_largest_floats(self):
        X = np.array([[-1.7e308, 0.0], [1.7e308, 0.0], [1.6e308, 0.0]])
        clf = plain().fit(X)
        assert_allclose(clf.spanning_tree_.lengths, plain().fit(X / 1e300).spanning_tree_.lengths)

    def test_constant_columns(self, setosa):
        padded = np.column_stack([setosa, np.full(50, 3.0)])
        assert_allclose(plain().fit(padded).score_samples(padded), plain().fit(setosa).score_samples(setosa), rtol=1e-9)

    def test_all_rows_equal(self):
        X = np.full((6, 3), 2.5)
        clf = EntropicOneClassClassifier(random_state=0).fit(X)
        assert (clf.predict(X) == 1).all()
        scores = clf.score_samples([[2.5, 2.5, 2.5], [2.5, 2.5, 2.6], [2.5, 2.5, 9.0]])
        assert np.isfinite(scores).all()
        assert scores[0] > scores[1] > scores[2]
        assert clf.raw_entropy_ == -np.inf

    def test_many_duplicates(self, setosa):
        X = np.repeat(setosa[:10], 20, axis=0)
        clf = plain().fit(X)
        assert (clf.spanning_tree_.lengths == 0).sum() == 190 + 10 - len(np.unique(setosa[:10], axis=0))
        assert clf.score_samples(setosa[:10]).min() > clf.score_samples(setosa[:10] + 1).max() > -np.inf

    def test_more_columns_than_rows(self):
        X = np.random.default_rng(0).normal(size=(5, 300))
        clf = EntropicOneClassClassifier(random_state=0, search=GeneticSearch(max_generations=3)).fit(X)
        assert clf.predict(np.vstack([X, X + 3])).tolist() == [1] * 5 + [-1] * 5

    @pytest.mark.parametrize("magnitude", [1e300, 1e-300])
    def test_huge_and_tiny_magnitudes_give_the_same_model(self, magnitude, iris, setosa):
        X, _ = iris
        clf = plain().fit(setosa * magnitude)
        assert_array_equal(clf.labels_, plain().fit(setosa).labels_)
        assert_array_equal(clf.predict(X * magnitude), plain().fit(setosa).predict(X))

    def test_new_patterns_out_of_all_proportion(self, setosa):
        clf = plain().fit(setosa)
        far = [[1e300, -1e300, 1e300, 0], [1e10, 0, 0, 0]]
        assert np.isfinite(clf.score_samples(far)).all()
        assert (clf.predict(far) == -1).all()

    @pytest.mark.parametrize(
        "layout",
        [
            np.asfortranarray,
            lambda X: X.astype(np.float32).astype(np.float64),
            lambda X: np.repeat(X, 2, axis=1)[:, ::2],
            lambda X: X.tolist(),
            lambda X: pd.DataFrame(X),
        ],
    )
    def test_layout_makes_no_difference(self, layout, setosa):
        X = setosa.astype(np.float32).astype(np.float64)
        assert_array_equal(plain().fit(layout(X)).score_samples(layout(X)), plain().fit(X).score_samples(X))

    def test_float32(self, setosa):
        X = setosa.astype(np.float32)
        assert_array_equal(plain().fit(X).score_samples(X), plain().fit(X.astype(float)).score_samples(X.astype(float)))


class TestBadInput:
    @pytest.mark.parametrize(
        ("X", "message"),
        [
            ([[1.0, np.inf]], "infinity"),
            (np.empty((0, 3)), r"0 sample\(s\)"),
            (np.empty((3, 0)), r"0 feature\(s\)"),
            ([1.0, 2.0], "Expected 2D array"),
        ],
    )
    def test_data(self, X, message):
        with pytest.raises(ValueError, match=message):
            EntropicOneClassClassifier().fit(X)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"eta": 1.5}, r"eta must be a number in \[0, 1\], not 1.5"),
            ({"eta": "half"}, r"eta must be a number in \[0, 1\], not 'half'"),
            ({"eta": float("nan")}, r"eta must be a number in \[0, 1\], not nan"),
            ({"beta": -1}, r"beta must be a number in \[0, 1\], not -1"),
            ({"gamma": 0}, r"gamma must be a number > 0, not 0"),
            ({"gamma": 50}, r"gamma must lie in \(0, d\), with d = 50 the number of prototypes; not 50"),
            ({"measure": "cosin"}, "unknown measure 'cosin'; known: 'auto', 'cosine-bags', 'dtw', 'euclidean'"),
            ({"synthesis": "entropie"}, "unknown synthesis 'entropie'; known: 'entropy'.*Did you mean 'entropy'"),
            ({"extent": "avg"}, "unknown extent 'avg'; known: 'max', 'mean', 'median', 'quantile', 'std'"),
            ({"membership_function": "gauss"}, "unknown membership_function 'gauss'; known: 'bell', 'gaussian'"),
            ({"tconorm": "min"}, "unknown tconorm 'min'; known: 'lukasiewicz', 'max'"),
            ({"search": "annealing"}, "unknown search 'annealing'; known: 'genetic'"),
            ({"search": None, "weights": [1, 1]}, "weights must be 4 numbers"),
            ({"search": None, "weights": [1, 1, 1, 2]}, r"weights must lie in \[0, 1\]; found 2"),
            ({"random_state": -1}, "random_state must be an integer >= 0, a generator or None, not -1"),
            ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0, at most 1024, not 0"),
            ({"n_jobs": "2"}, "n_jobs must be None or an integer other than 0, at most 1024, not '2'"),
            ({"n_jobs": 1.5}, "n_jobs must be None or an integer other than 0, at most 1024, not 1.5"),
            ({"search": None, "weights": ["a"] * 4}, "weights must be numbers, not"),
            ({"search": None, "weights": [0, 0, 0, 0]}, "weights must not all be 0"),
            ({"extent": 0.3}, "unknown extent 0.3; known: .*; or pass a function"),
        ],
    )
    def test_settings(self, settings, message, setosa):
        with pytest.raises(ValueError, match=message) as caught:
            EntropicOneClassClassifier(**settings).fit(setosa)
        assert "\n" not in str(caught.value)

    def test_fixed_weights_need_no_search(self, setosa):
        clf = EntropicOneClassClassifier(weights=[1, 1, 0.5, 1]).fit(setosa)
        assert clf.weights_.tolist() == [1, 1, 0.5, 1]
        assert len(clf.history_) == 1

    @pytest.mark.parametrize("method", ["predict", "membership", "score_samples", "decision_function"])
    def test_before_fit(self, method, setosa):
        with pytest.raises(NotFittedError):
            getattr(EntropicOneClassClassifier(), method)(setosa)

    def test_other_columns_at_predict(self, setosa):
        frame = pd.DataFrame(setosa, columns=list("abcd"))
        clf = plain().fit(frame)
        with pytest.raises(ValueError, match="Feature names must be in the same order"):
            clf.predict(frame[list("badc")])
        with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4"):
            plain().fit(setosa).predict(setosa[:, :3])
        assert clf.feature_names_in_.tolist() == list("abcd")

    def test_a_failed_fit_leaves_the_estimator_as_it_was(self, setosa):
        clf = plain().fit(setosa)
        before = clf.score_samples(setosa)
        for bad in ([[0.0, np.nan]], setosa[:, :2]):
            with pytest.raises(ValueError, match=r"NaN|weights"):
                clf.set_params(weights=[1, 1, 1, 1]).fit(bad)
        assert clf.n_features_in_ == 4
        assert_array_equal(clf.score_samples(setosa), before)

    def test_a_new_fit_forgets_the_old_one(self, setosa):
        clf = plain().fit(pd.DataFrame(setosa, columns=list("abcd")))
        clf.fit(setosa[:, :2])
        assert not hasattr(clf, "feature_names_in_")
        assert clf.n_features_in_ == 2


class TestLabelsTheWrongWayRound:
    """PyOD's 1 is an outlier; here it is normal."""

    @staticmethod
    def labels(n_rows, n_ones, rest=0):
        return np.repeat([1, rest], [n_ones, n_rows - n_ones])

    def test_few_ones_among_zeros_give_a_warning(self, iris):
        clf = plain(synthesis="validation", random_state=0)
        with pytest.warns(UserWarning, match="^y marks 15 of 150 rows as normal, with a 1; .* swap 0 and 1"):
            clf.fit(iris[0], self.labels(150, 15))

    def test_those_of_a_validation_set_do_too(self, iris, setosa):
        with pytest.warns(UserWarning, match="^y_val marks 30 of 150 rows"):
            plain(synthesis="validation").fit(setosa, validation=(iris[0], self.labels(150, 30)))

    @pytest.mark.parametrize(
        "y",
        [
            labels(150, 31),
            labels(150, 15, -1),
            labels(150, 15).astype(bool),
            labels(150, 15).astype(bool).astype(object),
            labels(150, 150, -1),
        ],
    )
    def test_clear_labels_do_not(self, y, iris):
        clf = plain(synthesis="validation").fit(iris[0], y, validation=iris)
        assert len(clf.training_indices_) == (y == 1).sum()

    def test_nor_do_labels_that_are_ignored(self, iris):
        assert len(plain().fit(iris[0], self.labels(150, 15)).training_indices_) == 150


class TestInterruption:
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_ctrl_c_in_an_endless_search_leaves_the_estimator_as_it_was(self, n_jobs, setosa):
        endless = GeneticSearch(max_generations=10**9, patience=10**9)
        clf = EntropicOneClassClassifier(search=endless, random_state=0, n_jobs=n_jobs)
        self.interrupt(clf, np.random.default_rng(0).normal(size=(300, 5)))
        assert fitted_names(clf) == set()
        clf = plain().fit(setosa)
        before = clf.score_samples(setosa)
        self.interrupt(clf.set_params(search=endless), setosa[:, :3])
        assert_array_equal(clf.score_samples(setosa), before)

    @staticmethod
    def interrupt(clf, X):
        main = threading.main_thread().ident
        timer = threading.Timer(0.3, signal.pthread_kill, [main, signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            clf.fit(X)
        timer.join()

    def test_ctrl_c_does_not_wait_for_the_candidate_under_way(self, setosa):
        begun, release, finished = threading.Event(), threading.Event(), threading.Event()
        main, evaluations = threading.main_thread().ident, []

        def slow(D):
            evaluations.append(threading.get_ident())
            if len(evaluations) == 2:  # the first one is the check of the measure
                begun.set()
                release.wait(timeout=60)
                finished.set()
            return D

        def interrupt():
            begun.wait()
            signal.pthread_kill(main, signal.SIGINT)

        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                EntropicOneClassClassifier(measure=Manhattan(slow), search=None).fit(setosa)
            assert not finished.is_set()
            assert main not in evaluations
        finally:
            release.set()
            interrupter.join()


@pytest.mark.parametrize("rows", [np.arange(60.0).reshape(20, 3), [{"a": i % 7, "b": "xyz"[i % 3]} for i in range(20)]])
def test_rows_without_values_are_reported(rows):
    clf = SurpriseClassifier(measure="euclidean" if isinstance(rows, np.ndarray) else "gower").fit(rows)
    new = np.full((2, 3), np.nan) if isinstance(rows, np.ndarray) else [{"a": None, "b": None}] * 2
    with pytest.warns(UserWarning, match="2 rows have no values at all, so the score means nothing"):
        clf.predict(new)
