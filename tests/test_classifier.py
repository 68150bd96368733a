import pickle
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import eocc
from eocc import EntropicOneClassClassifier
from eocc.entropy import normalized_entropy, renyi_entropy
from eocc.graph import spanning_tree
from eocc.measures import Euclidean
from eocc.search import SEARCHES, GeneticSearch, resolve_search
from strategies import points

FITTED = {
    "entropy_",
    "fuzzy_model_",
    "history_",
    "labels_",
    "measure_",
    "modularity_",
    "modularity_curve_",
    "n_features_in_",
    "objective_",
    "offset_",
    "prototypes_",
    "raw_entropy_",
    "regions_",
    "spanning_tree_",
    "training_indices_",
    "weights_",
}


def plain(**settings):
    return EntropicOneClassClassifier(**{"search": None, **settings})


def fitted_names(clf):
    return {name for name in vars(clf) if name.endswith("_") and not name.startswith("__")}


@parametrize_with_checks([EntropicOneClassClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class TestPublicNames:
    def test_all_is_sorted_and_importable(self):
        assert eocc.__all__ == sorted(eocc.__all__)
        assert all(hasattr(eocc, name) for name in eocc.__all__)

    def test_keywords_and_defaults(self):
        assert EntropicOneClassClassifier().get_params() == {
            "measure": "euclidean",
            "synthesis": "entropy",
            "eta": 0.5,
            "beta": 0.5,
            "gamma": 0.02,
            "performance": "accuracy",
            "validation_fraction": 0.1,
            "extent": "mean",
            "representative": "medoid",
            "membership_function": "gaussian",
            "tconorm": "max",
            "search": "genetic",
            "weights": None,
            "n_jobs": None,
            "random_state": None,
            "verbose": False,
        }

    def test_what_a_fit_leaves(self, setosa):
        clf = EntropicOneClassClassifier(random_state=0).fit(setosa)
        assert fitted_names(clf) == FITTED
        n = len(setosa)
        assert clf.weights_.shape == (4,)
        assert sorted(np.concatenate([region.members for region in clf.regions_])) == list(range(n))
        assert all(clf.labels_[region.representative] == i for i, region in enumerate(clf.regions_))
        assert all(region.extent > 0 for region in clf.regions_)
        assert clf.spanning_tree_.edges.shape == (n - 1, 2)
        assert (np.diff(clf.spanning_tree_.lengths) <= 0).all()
        assert clf.modularity_curve_.shape == (n,)
        assert clf.objective_ == pytest.approx((clf.entropy_ + clf.modularity_) / 2)
        assert clf.history_.dtype.names == ("best", "mean", "entropy", "modularity")
        assert clf.history_["best"][-1] == clf.objective_ == clf.history_["best"].max()
        assert (clf.history_["mean"] <= clf.history_["best"]).all()
        assert tuple(clf.history_[-1])[2:] == (clf.entropy_, clf.modularity_)
        q = clf.modularity_curve_[len(clf.regions_) - 1]
        assert clf.modularity_ == pytest.approx(np.log(1.5 + q) / np.log(2.5))
        assert clf.raw_entropy_ == renyi_entropy(clf.spanning_tree_.lengths, n_dims=n)

    def test_gamma_is_the_exponent(self, setosa):
        clf = plain(gamma=0.5).fit(setosa)
        assert clf.entropy_ == normalized_entropy(clf.spanning_tree_.lengths, 0.5)
        assert clf.raw_entropy_ == renyi_entropy(clf.spanning_tree_.lengths, 50, 0.5)


class TestDecisions:
    def test_hard_soft_and_score_agree(self, iris, setosa):
        X, _ = iris
        clf = EntropicOneClassClassifier(random_state=0).fit(setosa)
        scores, decisions = clf.score_samples(X), clf.decision_function(X)
        assert len(np.unique(scores)) > 100
        assert np.isfinite(scores).all()
        assert_allclose(clf.membership(X), np.exp(scores))
        assert ((clf.membership(X) >= 0) & (clf.membership(X) <= 1)).all()
        assert_array_equal(clf.predict(X), np.where(decisions >= 0, 1, -1))
        assert_allclose(decisions, scores - clf.offset_)
        assert set(clf.predict(X)) == {1, -1}

    def test_representatives_have_full_membership(self, setosa):
        clf = plain().fit(setosa)
        centres = setosa[[region.representative for region in clf.regions_]]
        assert_array_equal(clf.membership(centres), 1)

    @given(points(min_rows=1, max_rows=10))
    def test_a_row_scores_the_same_alone_as_in_a_batch(self, X):
        clf = plain().fit(X)
        rng = np.random.default_rng(0)
        Y = np.vstack([X, rng.normal(size=(7, X.shape[1])), X[::-1]])
        together = clf.score_samples(Y)
        assert_array_equal(together, [clf.score_samples(row[None])[0] for row in Y])
        assert_array_equal(clf.score_samples(Y[::-1]), together[::-1])

    def test_blocks_make_no_difference(self, iris, setosa, monkeypatch):
        X, _ = iris
        clf = plain().fit(setosa)
        whole = clf.score_samples(X)
        monkeypatch.setattr("eocc.classifier.BLOCK", 7 * len(setosa))
        assert_array_equal(clf.score_samples(X), whole)

    @pytest.mark.parametrize("extent", ["mean", "median", "max"])
    @pytest.mark.parametrize("spread", [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14])
    def test_both_members_of_a_pair_belong_however_close(self, extent, spread):
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = np.vstack([rng.normal(size=(2, 3)) * spread, rng.normal(size=(2, 3)) * spread + 5])
            clf = plain(extent=extent).fit(X)
            assert [len(region.members) for region in clf.regions_] == [2, 2]
            assert (clf.predict(X) == 1).all()

    def test_a_hair_outside_is_outside(self):
        clf = plain().fit([[0.0], [1.0], [10.0]])
        (pair,) = [region for region in clf.regions_ if len(region.members) == 2]
        start, end = pair.representative, 1 - pair.representative
        outside = start + (end - start) * (1 + np.array([0.0, 1e-6, 1e-3]))
        assert clf.predict(outside[:, None]).tolist() == [1, -1, -1]

    def test_the_model_is_its_own(self, setosa):
        X, weights = setosa.copy(), np.ones(4)
        clf = plain(weights=weights).fit(X)
        before = clf.score_samples(setosa)
        X *= 100
        weights[:] = 0.1
        assert_array_equal(clf.score_samples(setosa), before)

    @given(points(min_rows=3, max_rows=10))
    def test_scale_of_the_data_does_not_matter(self, X):
        one, two = plain().fit(X), plain().fit(X * 1024.0)
        if np.ptp(X, axis=0).any():
            assert_array_equal(one.labels_, two.labels_)
            assert_array_equal(one.score_samples(X + 1), two.score_samples((X + 1) * 1024.0))

    def test_order_of_the_training_rows_does_not_matter(self, iris, setosa):
        X, _ = iris
        order = np.random.default_rng(0).permutation(len(setosa))
        one, two = plain().fit(setosa), plain().fit(setosa[order])
        assert_allclose(one.score_samples(X), two.score_samples(X), rtol=1e-9, atol=1e-12)


class TestReproducibility:
    @pytest.mark.parametrize("n_jobs", [2, -1])
    @pytest.mark.parametrize("synthesis", ["entropy", "validation"])
    @pytest.mark.parametrize("name", SEARCHES)
    def test_same_seed_same_model_at_any_number_of_threads(self, n_jobs, synthesis, name):
        X, y = np.random.default_rng(0).normal(size=(60, 5)), np.array([1] * 50 + [-1] * 10)
        search = replace(resolve_search(name), max_generations=4, population_size=10)
        one, two = (
            EntropicOneClassClassifier(synthesis=synthesis, search=search, eta=0.2, random_state=4, n_jobs=jobs).fit(
                X, y
            )
            for jobs in (1, n_jobs)
        )
        assert_array_equal(one.weights_, two.weights_)
        assert_array_equal(one.history_, two.history_)
        assert_array_equal(one.score_samples(X * 2), two.score_samples(X * 2))

    def test_fits_that_overlap_in_time(self, setosa):
        def fit(seed):
            return EntropicOneClassClassifier(eta=0.1, random_state=seed).fit(setosa).weights_.tolist()

        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(fit, range(8)))
        assert together == [fit(seed) for seed in range(8)]

    @pytest.mark.parametrize("make", [lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)])
    def test_kinds_of_seed(self, make, setosa):
        one, two = (EntropicOneClassClassifier(eta=0.1, random_state=make()).fit(setosa) for _ in range(2))
        assert_array_equal(one.weights_, two.weights_)

    def test_seeds_differ(self, setosa):
        one, two = (EntropicOneClassClassifier(eta=0.1, random_state=seed).fit(setosa) for seed in (0, 1))
        assert (one.weights_ != two.weights_).any()

    def test_search_never_ends_below_the_unweighted_dissimilarity(self, setosa):
        assert EntropicOneClassClassifier(random_state=0).fit(setosa).objective_ >= plain().fit(setosa).objective_

    def test_without_search_the_weights_are_taken(self, setosa):
        weights = [0.1, 0.2, 0.0, 1.0]
        clf = plain(weights=weights).fit(setosa)
        assert clf.weights_.tolist() == weights
        assert len(clf.history_) == 1


class TestInScikitLearn:
    def test_clone_set_params_and_pickle(self, iris, setosa):
        X, _ = iris
        clf = clone(EntropicOneClassClassifier()).set_params(eta=0.3, random_state=0).fit(setosa)
        again = pickle.loads(pickle.dumps(clf))
        assert_array_equal(again.score_samples(X), clf.score_samples(X))

    def test_pipeline_and_grid_search_with_auc(self, iris):
        X, y = iris
        pipeline = make_pipeline(StandardScaler(), plain())
        grid = {f"{pipeline.steps[-1][0]}__extent": ["mean", "max"]}

        train = np.flatnonzero(y == 1)[:40]
        test = np.setdiff1d(np.arange(len(y)), train)
        found = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=[(train, test)], refit=False).fit(X, y)
        assert found.cv_results_["mean_test_score"].shape == (2,)
        assert np.isfinite(found.cv_results_["mean_test_score"]).all()

    def test_y_is_ignored(self, iris, setosa):
        assert_array_equal(plain().fit(setosa, np.ones(50)).labels_, plain().fit(setosa).labels_)

    def test_measure_and_search_by_object(self, setosa):
        clf = EntropicOneClassClassifier(measure=Euclidean(), search=GeneticSearch(max_generations=2), random_state=0)
        assert len(clf.fit(setosa).history_) == 2
        assert clone(clf).search == GeneticSearch(max_generations=2)


@dataclass
class OneBatch:
    """A user's own search: the given batches, then done."""

    batches: list

    def start(self, n_parameters, rng):
        return OneBatchRun(list(self.batches))


@dataclass
class OneBatchRun:
    batches: list

    def ask(self):
        return self.batches.pop(0)

    def tell(self, candidates, values):
        pass

    def should_stop(self):
        return not self.batches


@dataclass(frozen=True)
class Manhattan:
    """A user's own measure, in plain numpy; `spoil` makes it break its promises."""

    spoil: Callable = lambda D: D

    def freeze(self, training):
        return FrozenManhattan(training.shape[1], np.ptp(training, axis=0).sum(), self.spoil)


@dataclass(frozen=True)
class FrozenManhattan:
    n_parameters: int
    span: float
    spoil: Callable

    def prepare(self, patterns, prototypes=None):
        prototypes = patterns if prototypes is None else prototypes
        return PreparedGaps(np.abs(patterns[:, None] - prototypes[None]) / self.span, self.spoil)


@dataclass(frozen=True)
class PreparedGaps:
    gaps: np.ndarray
    spoil: Callable

    def evaluate(self, p, out=None):
        return self.spoil(self.gaps @ p)


class TestUsersOwn:
    def test_search(self, setosa):
        clf = EntropicOneClassClassifier(search=OneBatch([np.full((2, 4), 0.5)])).fit(setosa)
        assert clf.weights_.tolist() == [0.5] * 4

    def test_the_earlier_of_equal_candidates_is_kept(self):
        # A lone pattern is worth the same at every p.
        clf = EntropicOneClassClassifier(search=OneBatch([np.array([[0.3], [0.6]]), np.array([[0.9]])])).fit([[1.0]])
        assert clf.weights_.tolist() == [0.3]

    @pytest.mark.parametrize(
        ("batches", "message"),
        [
            ([], "stopped before it proposed a candidate"),
            ([np.full((2, 3), 0.5)], r"OneBatch proposed an array of shape \(2, 3\); one row of 4 parameters"),
            ([np.empty((0, 4))], r"OneBatch proposed an array of shape \(0, 4\)"),
            ([np.full((2, 4), 2.0)], r"OneBatch proposed 2; parameters must lie in \[0, 1\]"),
            ([np.full((2, 4), np.nan)], r"OneBatch proposed nan; parameters must lie in \[0, 1\]"),
        ],
    )
    def test_search_that_errs(self, batches, message, setosa):
        with pytest.raises(ValueError, match=message):
            EntropicOneClassClassifier(search=OneBatch(batches)).fit(setosa)

    def test_measure(self, iris, setosa):
        X, y = iris
        clf = EntropicOneClassClassifier(measure=Manhattan(), search=None).fit(setosa)
        scores = clf.score_samples(X)
        assert scores[y == 1].mean() > scores[y == -1].mean()
        gaps = np.abs(setosa[:, None] - setosa[None]).sum(axis=2) / np.ptp(setosa, axis=0).sum()
        tree = spanning_tree(np.sqrt(((gaps[:, None] - gaps[None]) ** 2).mean(axis=2)))
        assert_allclose(clf.spanning_tree_.lengths, tree.lengths, atol=1e-10)

    @pytest.mark.parametrize("spoil", [np.asfortranarray, lambda D: D.copy()])
    def test_measure_in_another_layout(self, spoil, iris, setosa):
        X, _ = iris
        one = EntropicOneClassClassifier(measure=Manhattan(), random_state=0).fit(setosa)
        two = EntropicOneClassClassifier(measure=Manhattan(spoil), random_state=0).fit(setosa)
        assert_allclose(one.score_samples(X), two.score_samples(X), rtol=1e-9, atol=1e-12)

    def test_measure_that_gives_single_precision_or_its_own_matrix(self, setosa):
        clf = EntropicOneClassClassifier(measure=Manhattan(lambda D: D.astype(np.float32)), search=None)
        assert len({clf.fit(setosa).objective_ for _ in range(3)}) == 1
        kept = []

        def keep(D):
            kept.append((D, D.copy()))
            return D

        EntropicOneClassClassifier(measure=Manhattan(keep), search=None).fit(setosa)
        assert all((given == copy).all() for given, copy in kept)

    @pytest.mark.parametrize(
        ("spoil", "message"),
        [
            (lambda D: D * np.nan, "FrozenManhattan: evaluate gave NaN or infinity at p = 1"),
            (lambda D: D[:2, :2], r"FrozenManhattan: evaluate gave shape \(2, 2\) for 50 patterns"),
            (lambda D: D * 100, r"must lie in \[0, 1\], but .* occurs; scale in freeze"),
            (lambda D: D - 1, r"must lie in \[0, 1\], but -1 occurs"),
            (lambda D: D if D.max() > 0.1 else D * np.nan, r"gave NaN or infinity at p = \["),
        ],
    )
    def test_measure_that_errs(self, spoil, message, setosa):
        search = OneBatch([np.full((1, 4), 0.01)])
        with pytest.raises(ValueError, match=message):
            EntropicOneClassClassifier(measure=Manhattan(spoil), search=search).fit(setosa)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"extent": lambda pairs: -1.0}, r"an extent must be a number >= 0; .* gave -1.0"),
            ({"extent": lambda pairs: np.nan}, r"an extent must be a number >= 0; .* gave nan"),
            ({"extent": lambda pairs: None}, r"an extent must be a number >= 0; .* gave None"),
            ({"extent": lambda pairs: pairs}, "an extent must be a number >= 0"),
            (
                {"tconorm": lambda grades: grades},
                r"must turn log-grades of shape \(m, k\) into numbers of shape",
            ),
            ({"tconorm": lambda grades: 1.0}, "a t-conorm must turn log-grades"),
            ({"tconorm": lambda grades: grades[:, 0] * np.nan}, "a t-conorm must turn log-grades"),
        ],
    )
    def test_functions_that_err(self, settings, message, setosa):
        with pytest.raises(ValueError, match=message):
            plain(**settings).fit(setosa).score_samples(setosa)

    def test_membership_function_that_errs(self, setosa):
        rising = type("Rising", (), {"log_grade": lambda self, ratio: ratio})()
        with pytest.raises(ValueError, match="log_grade must be 0 at ratio 0 and never rise"):
            plain(membership_function=rising).fit(setosa)

    def test_hard_decisions_follow_distances_not_grades(self, iris, setosa):
        X, _ = iris
        plateau = type("Plateau", (), {"log_grade": lambda self, ratio: np.where(ratio <= 2, 0.0, -np.inf)})()
        assert_array_equal(plain(membership_function=plateau).fit(setosa).predict(X), plain().fit(setosa).predict(X))

    def test_extent_and_tconorm(self, iris, setosa):
        X, _ = iris
        clf = plain(extent=lambda pairs: 2 * pairs.mean(), tconorm=lambda grades: grades.min(axis=1)).fit(setosa)
        wide = {region.representative: region.extent for region in clf.regions_ if len(region.members) > 1}
        usual = {region.representative: region.extent for region in plain().fit(setosa).regions_}
        assert all(extent == pytest.approx(2 * usual[medoid]) for medoid, extent in wide.items())
        assert (clf.score_samples(X) <= plain().fit(setosa).score_samples(X)).any()


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
        assert np.isfinite(clf.score_samples(setosa)).all()

    def test_more_columns_than_rows(self):
        X = np.random.default_rng(0).normal(size=(5, 300))
        clf = EntropicOneClassClassifier(random_state=0, search=GeneticSearch(max_generations=3)).fit(X)
        assert np.isfinite(clf.score_samples(X)).all()

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
            ([[1.0, np.nan]], "NaN"),
            ([[1.0, np.inf]], "infinity"),
            ([["a", "b"]], "could not convert string to float"),
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
            ({"gamma": 0}, r"gamma must be a number in \(0, 1\), not 0"),
            ({"measure": "cosin"}, "unknown measure 'cosin'; known: 'cosine-bags', 'dtw', 'euclidean'"),
            ({"synthesis": "entropie"}, "unknown synthesis 'entropie'; known: 'entropy'.*Did you mean 'entropy'"),
            ({"extent": "avg"}, "unknown extent 'avg'; known: 'max', 'mean', 'median', 'quantile', 'std'"),
            ({"membership_function": "gauss"}, "unknown membership function 'gauss'; known: 'bell', 'gaussian'"),
            ({"tconorm": "min"}, "unknown t-conorm 'min'; known: 'einstein', 'lukasiewicz', 'max'"),
            ({"search": "annealing"}, "unknown search 'annealing'; known: 'cma-es', 'differential-evolution'"),
            ({"representative": "mean"}, "unknown representative 'mean'; known: 'centroid', 'medoid'"),
            ({"search": None, "weights": [1, 1]}, "weights must be 4 numbers"),
            ({"search": None, "weights": [1, 1, 1, 2]}, r"weights must lie in \[0, 1\]; found 2"),
            ({"random_state": -1}, "random_state must be an integer >= 0, a generator or None, not -1"),
            ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0, not 0"),
            ({"n_jobs": "2"}, "n_jobs must be None or an integer other than 0, not '2'"),
            ({"n_jobs": 1.5}, "n_jobs must be None or an integer other than 0, not 1.5"),
            ({"search": None, "weights": ["a"] * 4}, "weights must be numbers, not"),
            ({"search": None, "weights": [0, 0, 0, 0]}, "weights must not all be 0"),
            ({"extent": 0.3}, "unknown extent 0.3; known: .*; or pass a function"),
        ],
    )
    def test_settings(self, settings, message, setosa):
        with pytest.raises(ValueError, match=message) as caught:
            EntropicOneClassClassifier(**settings).fit(setosa)
        assert "\n" not in str(caught.value)

    def test_weights_beside_a_search_are_refused_rather_than_ignored(self, setosa):
        with pytest.raises(ValueError, match="weights are for search=None; this search would ignore them"):
            EntropicOneClassClassifier(weights=[1, 1, 1, 1]).fit(setosa)
        with pytest.raises(ValueError, match=r"weights must lie in \[0, 1\]; found 7"):
            EntropicOneClassClassifier(weights=[1, 1, 1, 7]).fit(setosa)

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
        for bad in ([[np.nan]], setosa[:, :2]):
            with pytest.raises(ValueError, match=r"NaN|weights"):
                clf.set_params(weights=[1, 1, 1, 1]).fit(bad)
        assert clf.n_features_in_ == 4
        assert_array_equal(clf.score_samples(setosa), before)

    def test_a_new_fit_forgets_the_old_one(self, setosa):
        clf = plain().fit(pd.DataFrame(setosa, columns=list("abcd")))
        clf.fit(setosa[:, :2])
        assert not hasattr(clf, "feature_names_in_")
        assert clf.n_features_in_ == 2


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
