import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eocc.datasets import make_isolated_pattern, make_three_clusters, make_two_clusters
from eocc.entropic.synthesis import EntropySynthesis, embed
from eocc.measures import Euclidean
from eocc.space.representation import checked_weights
from oracles import core
from strategies import points


@given(points(), st.data(), st.floats(0, 1))
def test_a_candidate_equals_the_stages_done_by_hand(X, data, eta):
    d = X.shape[1]
    p = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.3, 1.0]), min_size=d, max_size=d)))
    prepared = Euclidean().fit(X).prepare(X)
    workspace = np.empty((2, len(X), len(X)))
    candidate = EntropySynthesis(eta, 0.02).assessor(None)(p, embed(prepared, p, workspace))

    rows = core.dissimilarities(X, X, p, core.largest_distance(X))
    distances = core.rounded(core.space_distances(rows)).tolist()
    edges = core.heaviest_first(core.kruskal(distances))
    labels, q = core.algorithm_1(distances, edges)
    entropy = core.normalized_entropy([length for length, _, _ in edges], 0.02)
    modularity = np.log(1.5 + q) / np.log(2.5)
    assert candidate.n_clusters == len(set(labels))
    assert candidate.entropy == pytest.approx(entropy, abs=1e-10)
    assert candidate.modularity == pytest.approx(modularity, abs=1e-10)
    assert candidate.objective == pytest.approx(eta * entropy + (1 - eta) * modularity, abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
class TestThePapersExamples:
    def fit(self, X, seed):
        from eocc import EntropicOneClassClassifier

        return EntropicOneClassClassifier(random_state=seed).fit(X)

    def test_three_clusters_give_three_regions_and_no_errors(self, seed):
        problem = make_three_clusters(random_state=seed)
        clf = self.fit(problem.X_train, seed)
        assert [len(region.members) for region in clf.regions_] == [40, 40, 40]
        assert (clf.predict(problem.X_test) == problem.y_test).all()
        assert int(np.argmax(clf.modularity_curve_)) + 1 == 3

    def test_an_isolated_pattern_becomes_its_own_region(self, seed):
        problem = make_isolated_pattern(random_state=seed)
        clf = self.fit(problem.X_train, seed)
        assert [len(region.members) for region in clf.regions_] == [40, 40, 40, 1]

    def test_the_separating_coordinate_gets_the_weight(self, seed):
        problem = make_two_clusters(random_state=seed)
        clf = self.fit(problem.X_train, seed)
        assert len(clf.regions_) == 2
        assert clf.weights_[0] > 0.9
        assert clf.weights_[1] < 0.3


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"weights must be 2 numbers, one per parameter, not of shape \(1,\)"),
        ([0.5, 1.5], r"weights must lie in \[0, 1\]; found 1.5"),
        ([-0.1, 0.5], r"weights must lie in \[0, 1\]; found -0.1"),
        ([np.nan, 0.5], r"weights must lie in \[0, 1\]; found nan"),
    ],
)
def test_invalid_weights_raise_clear_errors(weights, message):
    with pytest.raises(ValueError, match=message):
        checked_weights(weights, Euclidean().fit(np.array([[0.0, 1.0], [2.0, 3.0]])))
