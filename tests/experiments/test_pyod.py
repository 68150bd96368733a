"""The PyOD adapter: what PyOD expects of every detector, and what the scores mean."""

import importlib
import pickle
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyod.models.base import BaseDetector
from pyod.utils.data import generate_data
from scipy.stats import rankdata
from sklearn.base import clone, is_outlier_detector
from sklearn.metrics import roc_auc_score
from sklearn.utils import get_tags

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.entropic.regions import Region, normal_regions
from eocc.entropic.rules import decision_margin
from eocc.entropic.search import GeneticSearch
from eocc.integrations.pyod import EOCC

# As in PyOD's own tests of its detectors: the data, the contamination and the least area under the curve.
CONTAMINATION = 0.1
FLOOR = 0.8
NO_SEARCH = {"method": "eocc-1", "search": None}


@pytest.fixture(scope="module")
def data():
    return generate_data(n_train=200, n_test=100, contamination=CONTAMINATION, random_state=42)


KINDS = {
    "surprise": {},
    "eocc-1": NO_SEARCH,
    "eocc-1 searched": {"method": "eocc-1", "search": GeneticSearch(max_generations=3), "random_state": 0},
}


@pytest.fixture(scope="module")
def detectors(data):
    return {name: EOCC(CONTAMINATION, **settings).fit(data[0]) for name, settings in KINDS.items()}


@pytest.fixture(params=KINDS)
def fitted(request, detectors):
    return detectors[request.param]


@pytest.fixture(params=["eocc-1", "eocc-1 searched"])
def by_regions(request, detectors):
    return detectors[request.param]


# What PyOD expects of every detector.


def test_fit_sets_the_attributes_of_a_pyod_detector(fitted, data):
    assert isinstance(fitted, BaseDetector)
    assert is_outlier_detector(fitted)
    assert fitted.decision_scores_.shape == fitted.labels_.shape == data[2].shape
    assert fitted._mu == fitted.decision_scores_.mean()
    assert fitted._sigma == fitted.decision_scores_.std()


def test_a_tenth_of_the_training_set_lies_above_the_threshold(fitted):
    assert fitted.threshold_ == np.quantile(fitted.decision_scores_, 0.9)
    assert_array_equal(fitted.labels_, fitted.decision_scores_ > fitted.threshold_)
    assert fitted.labels_.sum() == 20


@pytest.mark.parametrize("seed", [42, 0, 1])
def test_outliers_score_higher_among_training_and_new_rows(seed):
    X_train, X_test, y_train, y_test = generate_data(
        n_train=200, n_test=100, contamination=CONTAMINATION, random_state=seed
    )
    detector = EOCC(CONTAMINATION).fit(X_train)
    assert roc_auc_score(y_train, detector.decision_scores_) >= FLOOR
    assert roc_auc_score(y_test, detector.decision_function(X_test)) >= FLOOR


def test_every_method_reaches_the_floor_of_pyod(fitted, data):
    assert roc_auc_score(data[3], fitted.decision_function(data[1])) >= FLOOR


def test_regions_score_training_rows_like_new_rows(by_regions, data):
    assert_array_equal(by_regions.decision_function(data[0]), by_regions.decision_scores_)
    assert_array_equal(by_regions.predict(data[0]), by_regions.labels_)


def test_surprise_leaves_each_training_row_out(detectors, data):
    detector = detectors["surprise"]
    left_out = detector.classifier_.calibration_.margins  # from the fit, ascending
    assert_allclose(np.sort(decision_margin(detector.decision_scores_)), left_out, atol=1e-8)
    assert_allclose(detector.decision_function(data[0]), detector.decision_scores_)


def test_predict_is_1_above_the_threshold(fitted, data):
    assert_array_equal(fitted.predict(data[1]), fitted.decision_function(data[1]) > fitted.threshold_)


@pytest.mark.parametrize("method", ["linear", "unify"])
def test_probabilities_rise_with_the_score(fitted, data, method):
    probabilities, confidence = fitted.predict_proba(data[1], method=method, return_confidence=True)
    assert probabilities.shape == (100, 2)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert 0 <= probabilities.min() <= probabilities.max() <= 1
    assert (np.diff(probabilities[np.argsort(fitted.decision_function(data[1])), 1]) >= 0).all()
    assert_array_equal(probabilities, fitted.predict_proba(data[1], method=method))
    assert_array_equal(confidence, fitted.predict_confidence(data[1]))


def test_an_unknown_conversion_to_probabilities_is_an_error(fitted, data):
    with pytest.raises(ValueError, match="not a valid probability conversion"):
        fitted.predict_proba(data[1], method="something")


def test_confidence_is_full_far_from_the_threshold(fitted, data):
    labels, confidence = fitted.predict(data[1], return_confidence=True)
    assert_array_equal(labels, fitted.predict(data[1]))
    assert 0 <= confidence.min() <= confidence.max() <= 1
    middle = data[0][[np.argmin(fitted.decision_scores_)]]
    assert_allclose(fitted.predict_confidence(np.vstack([middle, [[1e3, 1e3]]])), 1)


def test_predict_with_rejection_marks_unsure_rows(fitted, data):
    labels, (expected, bound, cost) = fitted.predict_with_rejection(data[1], return_stats=True, c_r=CONTAMINATION)
    assert 0 <= expected <= bound <= 1
    assert cost >= 0
    kept = labels != -2
    assert_array_equal(labels[kept], fitted.predict(data[1])[kept])
    assert 0 < kept.sum() < len(kept)


def test_fit_predict_gives_the_training_labels(data):
    with pytest.warns(FutureWarning, match="fit_predict"):
        labels = EOCC().fit_predict(data[0])
    assert_array_equal(labels, EOCC().fit(data[0]).labels_)


@pytest.mark.parametrize("scoring", ["roc_auc_score", "prc_n_score"])
def test_fit_predict_score(data, scoring, capsys):
    with pytest.warns(FutureWarning, match="fit_predict_score"):
        assert EOCC().fit_predict_score(data[1], data[3], scoring=scoring) >= FLOOR
    assert scoring in capsys.readouterr().out


def test_fit_predict_score_refuses_an_unknown_score(data):
    with pytest.warns(FutureWarning), pytest.raises(NotImplementedError):
        EOCC().fit_predict_score(data[1], data[3], scoring="something")


def test_ranks_keep_the_order_of_the_scores(fitted, data):
    scores, ranks = fitted.decision_function(data[1]), fitted._predict_rank(data[1])
    assert_array_equal(ranks, [(fitted.decision_scores_ < score).sum() for score in scores])
    assert_allclose(rankdata(ranks), rankdata(scores), atol=6)
    assert_allclose(fitted._predict_rank(data[1], normalized=True), ranks / ranks.max())


def test_clone_copies_parameters_only(fitted):
    twin = clone(fitted)
    assert twin.get_params() == fitted.get_params()
    assert not hasattr(twin, "decision_scores_")


def test_a_pickle_scores_the_same(fitted, data):
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.decision_function(data[1]), fitted.decision_function(data[1]))


# What is specific to this adapter.


@pytest.mark.parametrize(
    ("method", "kind", "fixed"),
    [
        ("surprise", SurpriseClassifier, []),
        ("eocc-1", EntropicOneClassClassifier, ["synthesis"]),
        ("eocc-2", EntropicOneClassClassifier, ["synthesis"]),
    ],
)
def test_parameters_are_those_of_the_classifier(method, kind, fixed):
    ours, theirs = EOCC(method=method).get_params(), kind().get_params()
    own = {"contamination", "method"}  # a contamination of the classifier has another meaning
    assert set(ours) - own == set(theirs) - {"contamination", "false_alarm_rate", *fixed}
    assert all(ours[name] == theirs[name] for name in (set(ours) & set(theirs)) - own)


@pytest.mark.parametrize("wrong", [{"eta": 0.9}, {"false_alarm_rate": 0.1}, {"method": "eocc-1", "synthesis": "x"}])
def test_unknown_parameters_are_refused_in_one_line(wrong):
    with pytest.raises(ValueError, match=r"^unknown parameter of method '[a-z0-9-]+' '\w+'; known: [^\n]+$"):
        EOCC(**wrong)
    with pytest.raises(ValueError, match=r"^unknown parameter of method"):
        EOCC().set_params(**wrong)


def test_unknown_methods_are_refused():
    with pytest.raises(ValueError, match="unknown method 'eocc'; known: 'eocc-1', 'eocc-2', 'regions', 'surprise'"):
        EOCC(method="eocc")


def test_set_params_keeps_what_both_methods_have():
    detector = EOCC(method="eocc-1", prototypes=5, eta=0.9).set_params(method="surprise", contamination=0.2)
    assert detector.get_params()["prototypes"] == 5
    assert detector.get_params()["contamination"] == detector.contamination == 0.2
    assert set(detector.get_params()) == set(EOCC().get_params())
    assert detector.set_params(n_jobs=2).get_params()["n_jobs"] == 2


def test_arguments_reach_the_classifier(data):
    arguments = {"eta": 0.9, "gamma": 0.1, "extent": "max", "search": None, "weights": [1.0, 0.5]}
    model = EOCC(method="eocc-1", **arguments).fit(data[0]).classifier_
    own = EntropicOneClassClassifier(**arguments).fit(data[0])
    assert model.get_params() == own.get_params()
    assert_array_equal(model.score_samples(data[1]), own.score_samples(data[1]))


def test_score_is_the_distance_in_extents_of_the_nearest_normal_region(by_regions, data):
    model = by_regions.classifier_
    regions = by_regions.scorer_.regions_
    rows, centres = model.transform(data[1]), model.transform(data[0])[[region.representative for region in regions]]
    # Distances between rows of r dissimilarities are divided by sqrt(r), so that they lie in [0, 1].
    distances = np.sqrt(((rows[:, None] - centres) ** 2).mean(axis=2))
    expected = (distances / [region.extent for region in regions]).min(axis=1)
    assert_allclose(by_regions.decision_function(data[1]), expected, rtol=1e-6)


def test_a_cluster_of_outliers_is_not_a_normal_region(data):
    X, _, y, _ = data
    detector = EOCC(CONTAMINATION, **NO_SEARCH).fit(X)
    assert [len(region.members) for region in detector.classifier_.regions_] == [185, 15]
    assert [len(region.members) for region in detector.scorer_.regions_] == [185]
    assert y[detector.classifier_.regions_[1].members].all()
    # 15 of 200 are more than 0.07, so both regions are normal.
    strict = EOCC(0.07, **NO_SEARCH).fit(X)
    assert len(strict.scorer_.regions_) == 2
    assert_allclose(strict.decision_scores_**2 / 2, -strict.classifier_.score_samples(X), rtol=1e-12)
    assert roc_auc_score(y, strict.decision_scores_) < FLOOR < roc_auc_score(y, detector.decision_scores_)


@pytest.mark.parametrize(
    ("sizes", "share", "normal"),
    [
        ([58, 1, 4, 2], 0.1, [0]),  # 7 of 65 are more than a tenth together, but none is alone
        ([49, 5, 1], 0.1, [0]),
        ([49, 5, 1], 0.09, [0, 1]),  # 5 of 55 are 0.0909
        ([71, 29], 0.29, [0]),  # 0.29 * 100 is a little less than 29 in floating point
        ([50, 10, 10, 10, 10, 10], 0.1, [0]),  # one half goes
        ([48, 10, 10, 10, 10, 12], 0.1, [0, 5]),
        ([20, 20, 10, 10, 10, 10, 10, 10], 0.1, [0, 1, 2, 3, 4, 5, 6, 7]),  # but no more than that
        ([40, 20, 20, 10, 9, 1], 0.1, [0, 1, 2]),
        ([1, 1], 0.5, [0, 1]),
        ([7], 0.5, [0]),
        ([99, 1], 0.0, [0, 1]),
    ],
)
def test_regions_are_normal_unless_they_may_be_outliers(sizes, share, normal):
    regions = [Region(np.arange(size), 0, 1.0) for size in sizes]
    assert normal_regions(regions, share).tolist() == normal


def test_the_order_of_the_training_rows_does_not_matter(data):
    order = np.random.default_rng(0).permutation(200)
    straight, shuffled = EOCC(**NO_SEARCH).fit(data[0]), EOCC(**NO_SEARCH).fit(data[0][order])
    assert_allclose(shuffled.decision_scores_, straight.decision_scores_[order], rtol=1e-6, atol=1e-6)


def test_a_row_scores_the_same_alone(fitted, data):
    alone = np.concatenate([fitted.decision_function(row[None]) for row in data[1]])
    assert_array_equal(alone, fitted.decision_function(data[1]))


@pytest.mark.parametrize("function", ["gaussian", "triangular", "bell"])
@pytest.mark.parametrize("tconorm", ["max", "probabilistic", "lukasiewicz"])
def test_scores_are_finite_where_the_membership_is_0(data, function, tconorm):
    detector = EOCC(**NO_SEARCH, membership_function=function, tconorm=tconorm).fit(data[0])
    scores = detector.decision_function(np.vstack([data[1], [[1e9, 1e9], [1e10, 1e10]]]))
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    assert scores[:-2].max() < scores[-2] < scores[-1]


def test_copies_of_one_row_are_inliers_and_all_else_is_not():
    assert_array_equal(EOCC(**NO_SEARCH).fit(np.ones((5, 2))).decision_scores_, 0)
    detector = EOCC().fit(np.ones((5, 2)))
    assert_allclose(detector.decision_scores_, 1)
    assert_array_equal(detector.predict([[1.0, 1.0], [1.0, 1.5], [1e300, 0.0]]), [0, 1, 1])


def test_y_is_ignored(data):
    with_y, without = EOCC().fit(data[0], data[2]), EOCC().fit(data[0])
    assert_array_equal(with_y.decision_scores_, without.decision_scores_)
    assert with_y.predict_proba(data[1]).shape == (100, 2)


def test_eocc_2_takes_outliers_from_y_and_all_regions_are_normal(data):
    X, X_test, y, y_test = data
    detector = EOCC(method="eocc-2", search=None, random_state=0).fit(X, y)
    model = detector.classifier_
    assert not y[model.training_indices_].any()
    assert len(detector.scorer_.regions_) == len(model.regions_)
    assert detector.decision_scores_.shape == (200,)
    assert roc_auc_score(y_test, detector.decision_function(X_test)) >= FLOOR


@pytest.mark.parametrize(("y", "found"), [(None, "none"), ([0] * 200, "0"), ([1, -1] * 100, "-1, 1"), ([], "none")])
def test_eocc_2_needs_both_labels_of_pyod(data, y, found):
    with pytest.raises(ValueError, match=f"0 for inliers and 1 for known outliers, both; found {found}"):
        EOCC(method="eocc-2", search=None).fit(data[0], y)


class HalfOfTheGreatest:
    """Sets a threshold from the scores, as the objects of PyThresh do."""

    def fit(self, scores):
        self.thresh_ = scores.max() / 2
        self.labels_ = self.predict(scores)

    def predict(self, scores):
        return (scores > self.thresh_).astype(int)

    def eval(self, scores):  # what older versions of PyOD call instead of both
        self.thresh_ = getattr(self, "thresh_", scores.max() / 2)
        return self.predict(scores)


def test_an_object_may_set_the_threshold(data):
    detector = EOCC(HalfOfTheGreatest(), **NO_SEARCH).fit(data[0])
    assert detector.threshold_ == detector.decision_scores_.max() / 2
    assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)
    assert_array_equal(detector.predict(data[0]), detector.labels_)
    assert len(detector.scorer_.regions_) == len(EOCC(0.1, **NO_SEARCH).fit(data[0]).scorer_.regions_)


@pytest.mark.parametrize("contamination", [0.0, -0.1, 0.6, 1])
def test_contamination_is_at_most_one_half(contamination):
    with pytest.raises(ValueError, match="contamination must be in"):
        EOCC(contamination)


def test_an_unfitted_detector_says_so(data):
    with pytest.raises(ValueError, match="not fitted yet"):
        EOCC().decision_function(data[1])


def test_a_failed_fit_leaves_the_detector_as_it_was(data):
    detector = EOCC().fit(data[0])
    before = detector.decision_function(data[1])
    with pytest.raises(ValueError, match="infinity"):
        detector.fit(np.full((5, 2), np.inf))
    assert_array_equal(detector.decision_function(data[1]), before)


def test_takes_dissimilarities_and_strings(data):
    X = data[0]
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    detector = EOCC(measure="precomputed", **NO_SEARCH).fit(distances)
    by_rows = EOCC(**NO_SEARCH).fit(X)
    assert_allclose(detector.decision_scores_, by_rows.decision_scores_, rtol=1e-6, atol=1e-6)
    assert get_tags(detector).input_tags.pairwise
    assert not get_tags(EOCC()).input_tags.pairwise
    words = ["house", "mouse", "horse", "hose", "rose", "nose", "those", "whose", "goose", "qqqqqqqqqqqq"]
    assert EOCC(measure="string-edit").fit(words).labels_.tolist() == [0] * 9 + [1]


def test_without_pyod_the_import_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "eocc.integrations.pyod")
    monkeypatch.setitem(sys.modules, "pyod.models.base", None)
    with pytest.raises(ModuleNotFoundError, match=r"^this adapter needs PyOD: pip install pyod$"):
        importlib.import_module("eocc.integrations.pyod")
