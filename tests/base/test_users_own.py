import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from doubles import Manhattan, OneBatch, plain
from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier
from eocc.entropic.graph import spanning_tree
from eocc.explain import differences
from eocc.measures.function import OwnFitted


class Largest:
    """The largest difference of two rows, over the largest in training. It has no weights."""

    def fit(self, training):
        self.span = np.ptp(training, axis=0).max()
        return self

    def prepare(self, patterns, prototypes=None):
        others = patterns if prototypes is None else prototypes
        return np.abs(patterns[:, None] - others[None]).max(axis=2) / self.span


class FindsLargest(Largest):
    """The same, which finds the nearest rows itself."""

    n_parameters = 1

    def nearest(self, patterns, prototypes, weightings, k):
        distances = self.prepare(patterns, prototypes)
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return [(p[0] * np.take_along_axis(distances, order, axis=1), order) for p in weightings]


class TestUsersOwn:
    @pytest.mark.parametrize("measures", [(Largest, FindsLargest), (FindsLargest, Largest)])
    def test_measures_with_and_without_a_hook_do_not_share_it(self, measures, setosa):
        assert [OwnFitted(measure().fit(setosa)).nearest is not None for measure in measures] == [
            measure is FindsLargest for measure in measures
        ]
        scores = [SurpriseClassifier(measure=measure()).fit(setosa).score_samples(setosa) for measure in measures]
        assert_allclose(*scores)

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

    def test_a_measure_of_two_methods_gets_the_rest(self, setosa):
        far = setosa[:1] + 9
        for classifier in (SurpriseClassifier, RegionClassifier, EntropicOneClassClassifier):
            clf = classifier(measure=Largest()).fit(setosa)
            assert clf.predict(far) == [-1]
            assert pickle.loads(pickle.dumps(clf)).score_samples(far) == clf.score_samples(far)
            assert differences(clf, far, setosa[:1])[0].contributions == ()
            assert clf.explain(far)

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
            (lambda D: D * np.nan, "FittedManhattan: evaluate gave NaN or infinity at p = 1"),
            (lambda D: D[:2, :2], r"FittedManhattan: evaluate gave shape \(2, 2\) for 50 patterns"),
            (lambda D: D * 100, r"must lie in \[0, 1\], but .* occurs; scale in fit"),
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
