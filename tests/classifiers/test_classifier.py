import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import eocc
from doubles import fitted_names, plain
from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier
from eocc.entropic.graph import normalized_entropy, renyi_entropy
from eocc.entropic.search import GeneticSearch
from eocc.measures import Euclidean
from strategies import points

BOTH = (EntropicOneClassClassifier(search=None), SurpriseClassifier())
COMMON = {
    "calibration_",
    "measure_",
    "n_features_in_",
    "offset_",
    "prototype_indices_",
    "prototypes_",
    "resolved_measure_",
    "threshold_",
    "training_indices_",
    "weights_",
}
ENTROPIC = {
    "alpha_",
    "entropy_",
    "fuzzy_model_",
    "history_",
    "labels_",
    "modularity_",
    "modularity_curve_",
    "objective_",
    "performance_",
    "raw_entropy_",
    "regions_",
    "spanning_tree_",
}


def expected_failures(estimator):
    """Checks whose `contamination` is the share of training rows to reject; here it moves the limit by half of it."""
    if not isinstance(estimator, SurpriseClassifier):
        return {}
    reason = "contamination is the share of foreign training rows, not the share of rows to reject"
    return dict.fromkeys(("check_outliers_train", "check_outliers_fit_predict"), reason)


@pytest.mark.filterwarnings("ignore:y holds")  # the checks pass labels of two classes, which are all normal here
@parametrize_with_checks(
    [EntropicOneClassClassifier(), RegionClassifier(), SurpriseClassifier()], expected_failed_checks=expected_failures
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class TestPublicNames:
    def test_all_is_sorted_and_importable(self):
        assert eocc.__all__ == sorted(eocc.__all__)
        assert all(hasattr(eocc, name) for name in eocc.__all__)

    def test_keywords_and_defaults(self):
        assert EntropicOneClassClassifier().get_params() == {
            "measure": "auto",
            "synthesis": "entropy",
            "prototypes": None,
            "selection": "random",
            "first_cut": "always",
            "objective": "normalised",
            "max_memory": None,
            "false_alarm_rate": None,
            "eta": 0.5,
            "beta": 0.5,
            "gamma": 0.02,
            "performance": "accuracy",
            "validation_fraction": 0.1,
            "extent": "mean",
            "membership_function": "gaussian",
            "tconorm": "max",
            "search": "genetic",
            "weights": None,
            "n_jobs": None,
            "random_state": None,
            "verbose": False,
        }

    def test_what_a_fit_leaves(self, setosa):
        surprise = SurpriseClassifier().fit(setosa)
        assert fitted_names(surprise) == COMMON | {"membership_function_", "n_rows_", "outliers_", "surprise_model_"}
        clf = EntropicOneClassClassifier(random_state=0).fit(setosa)
        assert fitted_names(clf) == COMMON | ENTROPIC
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
        assert clf.alpha_ == 1 - 0.5 / 50

    def test_gamma_may_be_as_large_as_the_number_of_prototypes(self, setosa):
        clf = plain(gamma=25).fit(setosa)
        assert clf.alpha_ == 0.5
        clf.set_params(gamma=1e9)  # concerns the next fit
        assert clf._facts()["order of the Rényi entropy"] == 0.5
        assert np.isfinite(clf.raw_entropy_)
        with pytest.raises(ValueError, match=r"d = 10 the number of prototypes; not 25"):
            plain(gamma=25, prototypes=10).fit(setosa)


class TestDecisions:
    @pytest.mark.parametrize("clf", BOTH)
    def test_hard_soft_and_score_agree(self, clf, iris, setosa):
        X, _ = iris
        clf = clone(clf).fit(setosa)
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

    @pytest.mark.parametrize("clf", BOTH)
    @given(X=points(min_rows=1, max_rows=10))
    def test_a_row_scores_the_same_alone_as_in_a_batch(self, clf, X):
        clf = clone(clf).fit(X)
        rng = np.random.default_rng(0)
        Y = np.vstack([X, rng.normal(size=(7, X.shape[1])), X[::-1]])
        together = clf.score_samples(Y)
        assert_array_equal(together, [clf.score_samples(row[None])[0] for row in Y])
        assert_array_equal(clf.score_samples(Y[::-1]), together[::-1])

    @pytest.mark.parametrize("clf", BOTH)
    def test_blocks_make_no_difference(self, clf, iris, setosa, monkeypatch):
        X, _ = iris
        clf = clone(clf).fit(setosa)
        scores, space = clf.score_samples(X), clf.transform(X)
        monkeypatch.setattr("eocc.classifiers.base.BLOCK_SIZE", 7 * len(setosa))
        for n_jobs in (1, 2):
            assert_array_equal(clf.set_params(n_jobs=n_jobs).score_samples(X), scores)
            assert_array_equal(clf.transform(X), space)

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

    @pytest.mark.parametrize("clf", BOTH)
    def test_a_model_does_not_change_with_the_arrays_it_was_fitted_to(self, clf, setosa):
        X, weights = setosa.copy(), np.ones(4)
        clf = clone(clf).set_params(weights=weights).fit(X)
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
    def test_same_seed_same_model_at_any_number_of_threads(self, n_jobs, synthesis):
        X, y = np.random.default_rng(0).normal(size=(60, 5)), np.array([1] * 50 + [-1] * 10)
        search = GeneticSearch(max_generations=4, population_size=10)
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
        searched = EntropicOneClassClassifier(random_state=0).fit(setosa)
        assert searched.objective_ >= plain().fit(setosa).objective_

    def test_without_search_the_weights_are_taken(self, setosa):
        weights = [0.1, 0.2, 0.0, 1.0]
        clf = plain(weights=weights).fit(setosa)
        assert clf.weights_.tolist() == weights
        assert len(clf.history_) == 1


class TestInScikitLearn:
    @pytest.mark.parametrize("clf", BOTH)
    def test_clone_set_params_and_pickle(self, clf, iris, setosa):
        X, _ = iris
        clf = clone(clf).set_params(prototypes=20).fit(setosa)
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

    def test_eocc_1_ignores_y(self, setosa):
        assert_array_equal(plain().fit(setosa, np.ones(50)).labels_, plain().fit(setosa).labels_)

    def test_measure_and_search_by_object(self, setosa):
        clf = EntropicOneClassClassifier(measure=Euclidean(), search=GeneticSearch(max_generations=2), random_state=0)
        assert len(clf.fit(setosa).history_) == 2
        assert clone(clf).search == GeneticSearch(max_generations=2)
