import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eocc import EntropicOneClassClassifier
from eocc.base.registry import resolve
from eocc.datasets import make_narrow_band
from eocc.entropic import EXTENTS, PERFORMANCES, TCONORMS
from eocc.entropic.partition import cut, members_of
from eocc.entropic.regions import FuzzyModel, accuracy, build_region, performance_curve
from eocc.entropic.rules import BOUNDARY, MEMBERSHIP_FUNCTIONS, Gaussian, maximum, mean_extent
from eocc.entropic.search import GeneticSearch
from eocc.entropic.synthesis import ValidationSynthesis, embed
from eocc.measures import Euclidean
from eocc.space.representation import Representation
from oracles import core
from strategies import points

METRICS = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
    "f1": lambda y, decisions: f1_score(y, decisions, zero_division=0.0),
}


def assessed(synthesis, measure, X, p):
    """Return p with its partition and scores."""
    graph = embed(measure.prepare(X), p, np.empty((2, len(X), len(X))))
    return synthesis.assessor(Representation(measure, X, X, np.arange(len(X)), is_whole=True))(p, graph)


def rebuilt(graph, rows, n_targets, extent=mean_extent):
    """The accuracy of the partitions into 2, ..., n clusters, with regions built anew for each."""
    found = []
    y = np.repeat([1, -1], [n_targets, len(rows) - n_targets])
    for k in range(2, graph.tree.n_vertices + 1):
        members = members_of(cut(graph.tree, k))
        regions = [build_region(graph, extent, one) for one in members]
        ratios = FuzzyModel.of(graph, regions, Gaussian(), maximum).ratios(rows + graph.space.means)
        found.append(((ratios.min(axis=1) <= BOUNDARY) == (y == 1)).mean())
    return found


def stage(X, targets, outliers, p=None):
    """Return the graph and validation rows of a candidate."""
    p = np.linspace(1, 0.3, X.shape[1]) if p is None else p
    measure = Euclidean().fit(X)
    graph = embed(measure.prepare(X), p, np.empty((2, len(X), len(X))))
    rows = np.vstack([measure.prepare(group, X).evaluate(p) for group in (targets, outliers)]) - graph.space.means
    return graph, rows, len(targets)


@st.composite
def problems(draw, least=2):
    """Draw training rows, validation targets and outliers from one pool: many copies and ties across them."""
    pool = draw(points(min_rows=6, max_rows=14, max_columns=3))
    n = draw(st.integers(least, len(pool) - 2))
    cut = draw(st.integers(n + 1, len(pool) - 1))
    return pool[:n], np.vstack([pool[n:cut], pool[:1]]), pool[cut:]


def oracle(graph, rows, n_targets, eta, beta):
    edges = zip(graph.tree.lengths.tolist(), graph.tree.edges.tolist(), strict=True)
    return core.algorithm_2(
        graph.space.rows.tolist(),
        graph.distances.tolist(),
        [(length, i, j) for length, (i, j) in edges],
        rows.tolist(),
        np.repeat([1, -1], [n_targets, len(rows) - n_targets]).tolist(),
        eta,
        beta,
        0.02,
    )


@given(problems(), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.0, 0.5, 1.0]))
def test_algorithm_2_equals_rebuilding_everything_for_every_k(problem, eta, beta):
    X, targets, outliers = problem
    graph, *validation = stage(X, targets, outliers)
    synthesis = ValidationSynthesis(eta, beta, 0.02, accuracy, mean_extent, targets, outliers)
    candidate = assessed(synthesis, Euclidean().fit(X), X, np.linspace(1, 0.3, X.shape[1]))
    k, performance, objective = oracle(graph, *validation, eta, beta)
    assert candidate.n_clusters == k
    assert candidate.performance == pytest.approx(performance, abs=1e-10)
    assert candidate.objective == pytest.approx(objective, abs=1e-10)


@given(problems(least=1), st.sampled_from([0.0, 0.5, 1.0]))
def test_algorithm_2_from_raw_data_with_copies_and_ties_equals_the_definition(problem, beta):
    X, targets, outliers = problem
    p = np.linspace(1, 0.3, X.shape[1])
    measure = Euclidean().fit(X)
    synthesis = ValidationSynthesis(0.5, beta, 0.02, accuracy, mean_extent, targets, outliers)
    candidate = assessed(synthesis, measure, X, p)
    delta = core.largest_distance(X)
    rows = core.dissimilarities(X, X, p, delta)
    distances = core.rounded(core.space_distances(rows)).tolist()
    validation = core.dissimilarities(np.vstack([targets, outliers]), X, p, delta).tolist()
    y = [1] * len(targets) + [-1] * len(outliers)
    edges = core.heaviest_first(core.kruskal(distances))
    k, performance, objective = core.algorithm_2(rows.tolist(), distances, edges, validation, y, 0.5, beta, 0.02)
    assert (candidate.n_clusters, candidate.performance) == (k, pytest.approx(performance))
    assert candidate.objective == pytest.approx(objective, abs=1e-10)


@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-7, 1e-8, 1e-10, 1e-12])
def test_both_members_of_a_pair_are_accepted_however_close(gap):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = np.repeat(rng.normal(size=(3, 2)) * 5, 2, axis=0) + gap * rng.normal(size=(6, 2))
        curve = performance_curve(*stage(X, X.copy(), X + 100), mean_extent, accuracy)
        assert curve[1] == 1.0  # three pairs


@pytest.mark.parametrize("weight", [1.0, 1e-20, 1e-40, 1e-60, 1e-100])
def test_tiny_dissimilarities_give_the_same_decisions(weight):
    rng = np.random.default_rng(0)
    X, targets, outliers = rng.normal(size=(30, 2)), rng.normal(size=(10, 2)), rng.normal(1, 1, (10, 2))
    stages = stage(X, targets, outliers, p=np.full(2, weight))
    assert_allclose(performance_curve(*stages, mean_extent, accuracy), rebuilt(*stages), atol=1e-12)


@given(st.integers(2, 30), st.integers(0, 10**6))
def test_algorithm_2_from_raw_data_equals_the_definition(n, seed):
    rng = np.random.default_rng(seed)
    X, targets, outliers, p = rng.normal(size=(n, 3)), rng.normal(size=(8, 3)), rng.normal(1, 1, (9, 3)), rng.random(3)
    synthesis = ValidationSynthesis(0.5, 0.5, 0.02, accuracy, mean_extent, targets, outliers)
    measure = Euclidean().fit(X)
    candidate = assessed(synthesis, measure, X, p)
    delta = core.largest_distance(X)
    rows = core.dissimilarities(X, X, p, delta)
    distances = core.rounded(core.space_distances(rows)).tolist()
    k, performance, objective = core.algorithm_2(
        rows.tolist(),
        distances,
        core.heaviest_first(core.kruskal(distances)),
        core.dissimilarities(np.vstack([targets, outliers]), X, p, delta).tolist(),
        [1] * 8 + [-1] * 9,
        0.5,
        0.5,
        0.02,
    )
    assert (candidate.n_clusters, candidate.performance) == (k, pytest.approx(performance))
    assert candidate.objective == pytest.approx(objective, abs=1e-10)


@given(problems(), st.sampled_from(sorted(EXTENTS)))
def test_one_pass_and_rebuilding_agree(problem, name):
    stages, extent = stage(*problem), resolve("extent", EXTENTS, name, "__call__")
    quick = performance_curve(*stages, extent, accuracy)
    assert_allclose(quick, rebuilt(*stages, extent), atol=1e-12)
    assert len(quick) == len(problem[0]) - 1


def test_patterns_too_far_for_single_precision_are_rejected():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    graph, *validation = stage(X, X[:5], np.array([[1e30, 0.0], [1e200, 1e200], [3.0, 3.0]]))
    curve = performance_curve(graph, *validation, mean_extent, accuracy)
    assert_array_equal(curve, rebuilt(graph, *validation))
    assert curve[-1] == 1.0  # every training pattern a region: its copies accepted, the rest not


class OwnExtent:
    def __call__(self, pairs):
        return float(pairs.mean())


@pytest.mark.parametrize("extent", EXTENTS)
@pytest.mark.parametrize("function", MEMBERSHIP_FUNCTIONS)
def test_every_choice_is_evaluated_as_its_final_model_decides(extent, function):
    rng = np.random.default_rng(1)
    X, targets, outliers = rng.normal(size=(25, 2)), rng.normal(size=(12, 2)), rng.normal(2, 1, (10, 2))
    for tconorm, performance in zip(TCONORMS, METRICS, strict=True):
        clf = EntropicOneClassClassifier(
            synthesis="validation", search=None, extent=extent, membership_function=function,
            tconorm=tconorm, performance=performance,
        ).fit(X, validation=(np.vstack([targets, outliers]), [1] * 12 + [0] * 10))  # fmt: skip
        Y, y = np.vstack([targets, outliers]), np.repeat([1, -1], [12, 10])
        again = METRICS[performance](y, clf.predict(Y))
        assert clf.performance_ == pytest.approx(again, abs=1e-9)
        assert np.isfinite(clf.score_samples(Y)).all()


def test_a_custom_extent_gives_the_same_result_by_the_slower_path():
    rng = np.random.default_rng(2)
    X, validation = rng.normal(size=(30, 2)), (rng.normal(size=(20, 2)) * 2, np.arange(20) % 2)
    settings = {"synthesis": "validation", "search": GeneticSearch(max_generations=3), "random_state": 0}
    built_in = EntropicOneClassClassifier(**settings).fit(X, validation=validation)
    own = EntropicOneClassClassifier(**settings, extent=OwnExtent()).fit(X, validation=validation)
    assert_array_equal(built_in.weights_, own.weights_)
    assert built_in.objective_ == pytest.approx(own.objective_)


def test_a_single_training_pattern():
    clf = EntropicOneClassClassifier(synthesis="validation", search=None)
    clf.fit([[0.0]], validation=([[0.0], [1.0]], [1, -1]))
    assert clf.performance_ == 1.0
    assert len(clf.regions_) == 1


@pytest.mark.parametrize("seed", range(3))
def test_the_papers_second_example(seed):
    problem = make_narrow_band(random_state=seed)
    assert np.ptp(problem.X_test[problem.y_test == 1], axis=0)[1] < 0.02  # narrow in y
    one = EntropicOneClassClassifier.as_printed(random_state=seed).fit(problem.X_train)
    two = EntropicOneClassClassifier.as_printed("validation", random_state=seed).fit(
        problem.X_train, validation=(problem.X_validation, problem.y_validation)
    )
    wrong = one.predict(problem.X_test) != problem.y_test
    assert wrong.any()
    assert (problem.y_test[wrong] == 1).all()
    if seed == 0:  # the printed figures
        assert wrong.sum() == 8
        assert roc_auc_score(problem.y_test, one.score_samples(problem.X_test)) == pytest.approx(0.98, abs=0.005)
    assert (two.predict(problem.X_test) != problem.y_test).sum() == 0
    assert roc_auc_score(problem.y_test, two.score_samples(problem.X_test)) == 1


class TestFittingWithLabels:
    def fit(self, X, y, **settings):
        return EntropicOneClassClassifier(synthesis="validation", search=None, random_state=0, **settings).fit(X, y)

    def test_targets_are_trained_on_and_a_share_of_both_kinds_validates(self, iris):
        X, y = iris
        clf = self.fit(X, y)
        assert len(clf.training_indices_) == 45
        assert (y[clf.training_indices_] == 1).all()
        assert_array_equal(clf.prototypes_, X[clf.training_indices_])
        assert clf.history_.dtype.names == ("best", "mean", "entropy", "modularity", "performance")
        assert clf.history_["performance"][-1] == clf.performance_
        assert len(self.fit(X, y, validation_fraction=0.4).training_indices_) == 30

    def test_the_split_is_seeded(self, iris):
        X, y = iris
        one, two = self.fit(X, y), self.fit(X, y)
        assert_array_equal(one.training_indices_, two.training_indices_)
        three = EntropicOneClassClassifier(synthesis="validation", search=None, random_state=1).fit(X, y)
        assert (one.training_indices_ != three.training_indices_).any()

    @pytest.mark.parametrize("kind", [np.array, list, lambda y: np.array(y) == 1, lambda y: (np.array(y) + 1) // 2])
    def test_kinds_of_labels(self, kind, iris):
        X, y = iris
        assert_array_equal(self.fit(X, kind(y)).labels_, self.fit(X, y).labels_)

    def test_inside_a_pipeline_and_grid_search(self, iris):
        X, y = iris
        pipeline = make_pipeline(StandardScaler(), EntropicOneClassClassifier(synthesis="validation", search=None))
        name = pipeline.steps[-1][0]
        grid = GridSearchCV(
            pipeline, {f"{name}__beta": [0.2, 0.8]}, scoring="roc_auc", cv=StratifiedKFold(3), error_score="raise"
        )
        assert set(grid.fit(X, y).best_estimator_.predict(X)) == {1, -1}

    def test_outliers_in_y_are_not_trained_on_with_a_validation_set(self, iris):
        X, y = iris
        clf = EntropicOneClassClassifier(synthesis="validation", search=None).fit(X, y, validation=(X, y))
        assert_array_equal(clf.training_indices_, np.flatnonzero(y == 1))


class TestPerformances:
    @pytest.mark.parametrize(("name", "metric"), [("balanced_accuracy", balanced_accuracy_score), ("f1", f1_score)])
    def test_counted_performances_equal_scikit_learns(self, name, metric):
        y, decisions = np.repeat([1, -1], [4, 7]), np.array([1, 1, 1, -1, 1, 1, -1, -1, -1, -1, -1])
        assert PERFORMANCES[name](3, 2, n_targets=4, n_outliers=7) == pytest.approx(metric(y, decisions))

    def test_unknown_names_are_listed(self, iris):
        with pytest.raises(ValueError, match=r"unknown performance 'acuracy'; known: .*Did you mean 'accuracy'"):
            EntropicOneClassClassifier(synthesis="validation", performance="acuracy").fit(*iris)


class TestBadValidation:
    @pytest.mark.parametrize(
        ("y", "validation", "message"),
        [
            (None, None, r"rows that are not normal: pass validation=\(X_val, y_val\), or y with \+1 and -1"),
            ([1] * 50, None, "needs rows that are not normal"),
            (None, ([[1.0] * 4], [1]), "y_val holds normal rows only; validation needs both kinds"),
            (None, ([[1.0] * 4], [0]), "y_val holds outliers only; validation needs both kinds"),
            (None, ([[1.0] * 4] * 2, [1, 2]), r"y_val must hold \+1 for normal rows and -1 .* found 2"),
            (None, ([[1.0] * 4] * 2, ["a", "b"]), "not 'a'"),
            (None, ([[1.0] * 4] * 2, [[1, -1]]), r"y_val must be one label per row, not of shape \(1, 2\)"),
            (None, ([[1.0] * 4] * 3, [1, -1]), "X_val holds 3 rows, y_val 2 labels; pass one label per row"),
            (None, ([[1.0] * 3] * 2, [1, -1]), "X has 3 features, but EntropicOneClassClassifier is expecting 4"),
            (None, ([[np.nan] * 4] * 2, [1, -1]), "NaN"),
            (None, "everything", r"validation must be a pair \(X_val, y_val\), not str"),
            ([1, 0, -1] + [1] * 47, None, "y mixes 0 and -1; use one of them"),
            ([3] * 50, None, r"y must hold \+1 for normal rows .* found 3"),
            ([-1] * 50, None, r"y holds 0 normal rows \(\+1\); two are needed"),
            ([-1] * 50, ([[1.0] * 4] * 2, [1, -1]), r"y holds no normal rows \(\+1\) to train on"),
            ([1, -1], None, "X holds 50 rows, y 2 labels; pass one label per row"),
        ],
    )
    def test_raises_a_clear_error(self, y, validation, message, setosa):
        with pytest.raises(ValueError, match=message):
            EntropicOneClassClassifier(synthesis="validation").fit(setosa, y, validation=validation)

    def test_is_refused_if_it_would_be_ignored(self, setosa):
        with pytest.raises(ValueError, match="validation is for synthesis='validation'"):
            EntropicOneClassClassifier().fit(setosa, validation=(setosa, np.ones(50)))

    @pytest.mark.parametrize("fraction", [0, 1, 2, "half"])
    def test_fraction(self, fraction, iris):
        with pytest.raises(ValueError, match=r"validation_fraction must be a number in \(0, 1\), not"):
            EntropicOneClassClassifier(synthesis="validation", validation_fraction=fraction).fit(*iris)
