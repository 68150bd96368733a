"""The settings of the paper, both readings of Algorithm 1, and the objective as printed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from eocc import EntropicOneClassClassifier
from eocc.datasets import make_three_clusters, make_two_clusters
from eocc.entropic.graph import renyi_entropy, spanning_tree
from eocc.entropic.partition import modularity_curve, normalized_modularity, prune
from eocc.entropic.search import GeneticSearch


def test_the_preset_holds_every_printed_number():
    for synthesis in ("entropy", "validation"):
        clf = EntropicOneClassClassifier.as_printed(synthesis)
        assert clf.synthesis == synthesis
        assert (clf.eta, clf.beta, clf.gamma) == (0.5, 0.5, 0.02)
        search = clf.search
        assert type(search) is GeneticSearch
        assert (search.population_size, search.mutation_rate) == (30, 0.3)
        assert (search.max_generations, search.patience, search.first_population) == (100, 10, "random")
        assert (clf.extent, clf.membership_function, clf.tconorm) == ("mean", "gaussian", "max")
        assert (clf.performance, clf.prototypes) == ("accuracy", None)


def test_the_preset_is_an_estimator_that_can_be_changed_and_cloned():
    clf = EntropicOneClassClassifier.as_printed("validation", random_state=3, extent="max")
    assert (clf.random_state, clf.extent) == (3, "max")
    assert clone(clf).get_params(deep=False).keys() == clf.get_params(deep=False).keys()
    with pytest.raises(TypeError, match="spread"):
        EntropicOneClassClassifier.as_printed(spread=2)


def test_the_default_differs_from_the_preset_in_the_start_and_the_graph_alone():
    default, printed = EntropicOneClassClassifier(), EntropicOneClassClassifier.as_printed()
    names = {name for name, value in printed.get_params().items() if default.get_params()[name] != value}
    assert names == {"search"}


def test_the_first_cut_is_made_only_if_modularity_does_not_fall():
    # Four equal distances: cutting one vertex off lowers Q.
    w = np.full((4, 4), 0.5)
    np.fill_diagonal(w, 0.0)
    tree = spanning_tree(w)
    assert modularity_curve(w, tree)[1] < 0
    assert len(set(prune(w, tree).tolist())) == 2
    assert set(prune(w, tree, first_cut="if-better").tolist()) == {0}
    with pytest.raises(ValueError, match="first_cut"):
        prune(w, tree, first_cut="never")


def test_both_readings_agree_where_the_first_cut_gains():
    X = make_three_clusters().X_train
    one, other = (EntropicOneClassClassifier(search=None, first_cut=cut).fit(X) for cut in ("always", "if-better"))
    assert_array_equal(one.labels_, other.labels_)
    lone = EntropicOneClassClassifier(search=None, first_cut="if-better")
    assert len(lone.fit(np.random.default_rng(0).uniform(size=(40, 6))).regions_) == 1


def test_the_printed_objective_is_the_renyi_entropy():
    X = make_two_clusters().X_train
    clf = EntropicOneClassClassifier(search=None, objective="printed", eta=0.25).fit(X)
    m = normalized_modularity(clf.modularity_curve_[len(clf.regions_) - 1])
    raw = renyi_entropy(clf.spanning_tree_.lengths, len(X))
    assert_allclose(clf.objective_, 0.25 * raw + 0.75 * m)
    assert clf.raw_entropy_ == raw


def test_the_printed_objective_sends_all_weights_to_1():
    X = make_two_clusters().X_train
    printed = EntropicOneClassClassifier(objective="printed", random_state=0).fit(X)
    assert_array_equal(printed.weights_, [1.0, 1.0])
    assert EntropicOneClassClassifier(random_state=0).fit(X).weights_[1] < 0.5


def test_the_printed_objective_of_copies_is_finite():
    clf = EntropicOneClassClassifier(objective="printed", random_state=0).fit(np.ones((5, 2)))
    assert np.isfinite(clf.objective_)
    assert clf.raw_entropy_ == -np.inf


def test_memberships_by_region_combine_to_the_membership():
    problem = make_three_clusters()
    clf = EntropicOneClassClassifier(search=None).fit(problem.X_train)
    grades = clf.region_memberships(problem.X_test)
    assert grades.shape == (len(problem.X_test), len(clf.regions_))
    assert_allclose(grades.max(axis=1), clf.membership(problem.X_test))
    own = [region.representative for region in clf.regions_]
    assert_allclose(np.diag(clf.region_memberships(problem.X_train[own])), 1.0)
