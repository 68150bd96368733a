import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KernelDensity

from eocc import EntropicOneClassClassifier
from eocc.io.model_file import load, save
from eocc.kernels.density import finite_squares, kernel_sums
from eocc.measures import MEASURES, Euclidean
from eocc.space.representation import Representation
from eocc.surprise.likelihood_ratio import LEAST, Densities, NewPatterns, Pairs
from eocc.surprise.score import learn_surprise
from oracles import contrast as oracle


def both_kinds(seed, n=80, m=12):
    """Targets, and others that differ from them in the second of three features only."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(m, 3)) * [1.0, 0.5, 1.0] + [0.0, 2.0, 0.0]


def learnt(seed=0, **settings):
    X, others = both_kinds(seed)
    y = np.repeat([1, -1], [len(X), len(others)])
    return EntropicOneClassClassifier(synthesis="validation", **settings).fit(np.vstack([X, others]), y)


def auc(clf, seed):
    X, others = both_kinds(seed, 300, 300)
    return roc_auc_score(np.repeat([1, 0], 300), clf.score_samples(np.vstack([X, others])))


@given(
    arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 40)), elements=st.floats(0, 1e3) | st.just(np.inf)),
    st.floats(1e-3, 1e3),
)
def test_sums_of_kernels_are_those_of_their_definition(distances, width):
    sums = np.empty(len(distances))
    kernel_sums(distances, width, sums)
    wanted = [oracle.kernel_sum(row, width) for row in distances.tolist()]
    assert_allclose(sums, wanted, rtol=1e-12, atol=1e-15)


def test_a_sum_of_kernels_does_not_depend_on_the_batch():
    distances = np.abs(np.random.default_rng(0).normal(size=(9, 37)))
    together, alone = np.empty(9), np.empty((9, 1))
    kernel_sums(distances, 0.4, together)
    for i in range(9):
        kernel_sums(distances[i : i + 1], 0.4, alone[i])
    assert_array_equal(together, alone[:, 0])


def test_a_few_known_others_tell_what_targets_alone_cannot():
    gains = [
        auc(learnt(seed), 99) - auc(EntropicOneClassClassifier().fit(both_kinds(seed)[0]), 99) for seed in range(5)
    ]
    assert np.mean(gains) > 0.05
    assert min(gains) > 0


def test_the_feature_that_tells_gets_the_weight():
    contrast = learnt().surprise_model_.contrast
    single = contrast.coefficients[-3:]
    assert single.argmax() == 1
    assert contrast.densities.weights.tolist() == [0, 1, 2]


def test_targets_train_and_all_others_are_what_they_are_told_from():
    clf = learnt()
    assert_array_equal(clf.training_indices_, np.arange(80))
    assert_array_equal(clf.surprise_model_.others, both_kinds(0)[1])
    assert not hasattr(clf, "performance_")


def test_a_validation_set_counts_its_targets_too():
    X, others = both_kinds(0)
    more = both_kinds(1)[0][:10]
    alone = EntropicOneClassClassifier(synthesis="validation").fit(X, validation=_validation(more[:1], others))
    clf = EntropicOneClassClassifier(synthesis="validation").fit(X, validation=_validation(more, others))
    assert len(clf.prototypes_) == 80
    assert (clf.surprise_model_.contrast.coefficients != alone.surprise_model_.contrast.coefficients).any()


@pytest.mark.parametrize("block", [1, 100, 1000])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_and_threads_are_no_matter(block, n_jobs, monkeypatch):
    new = both_kinds(7)[0]
    expected = learnt(prototypes=20, random_state=0).judge(new).ratios
    monkeypatch.setattr("eocc.space.representation.BLOCK", block)
    assert_array_equal(learnt(prototypes=20, random_state=0, n_jobs=n_jobs).judge(new).ratios, expected)


def test_an_enormous_other_leaves_the_distances_of_the_rest_alone():
    X, others = np.random.default_rng(0).normal(size=(50, 1)), np.array([[4.0], [5.0], [7.0], [1e20]])
    measure = Euclidean().fit(X)
    rows = Representation(measure, others, others, np.arange(4), is_whole=False).each(np.ones(1), np.array)
    assert_allclose(rows[0, :3] * measure.delta, [np.inf, 1.0, 3.0])
    clf = EntropicOneClassClassifier(synthesis="validation").fit(np.vstack([X, others]), np.repeat([1, -1], [50, 4]))
    assert clf.predict([[0.0], [4.5]]).tolist() == [1, -1]


def _validation(targets, others):
    return np.vstack([targets, others]), np.repeat([1, -1], [len(targets), len(others)])


def test_the_density_ratio_is_that_of_two_kernel_densities():
    X, others = both_kinds(0)
    measure = Euclidean().fit(X)
    new = both_kinds(5)[0][:6]
    pairs = Pairs(NewPatterns(measure.prepare(new, X)), NewPatterns(measure.prepare(new, others)))
    widths = np.array([[0.05], [0.08]])
    ratio = Densities(np.array([1]), widths).columns(pairs, 3)[:, 1]
    rows, known, targets = (one[:, [1]] / measure.delta for one in (new, others, X))
    logs = []
    for kind, width in ((known, 0.08), (targets, 0.05)):
        density = np.exp(KernelDensity(bandwidth=width).fit(kind).score_samples(rows))
        # A twentieth of a kernel is everywhere, so that no logarithm is infinite.
        logs.append(np.log(density * np.sqrt(2 * np.pi) + 0.05 / (len(kind) * width)))
    assert_allclose(ratio, logs[0] - logs[1], rtol=1e-6)


def test_labels_that_contradict_all_distances_do_not_silence_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    clf = EntropicOneClassClassifier(synthesis="validation").fit(
        np.vstack([X, X[:20] * 0.01]), np.repeat([1, -1], [40, 20])
    )
    coefficients = clf.surprise_model_.contrast.coefficients
    assert (coefficients[:2] >= LEAST).all()
    assert len(np.unique(clf.score_samples(X))) > 30


def test_precomputed_dissimilarities_of_both_kinds_give_the_model_of_the_rows_but_for_single_weights():
    X, others = both_kinds(0)
    rows = np.vstack([X, others])
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    y = np.repeat([1, -1], [len(X), len(others)])
    clf = EntropicOneClassClassifier(synthesis="validation", measure="precomputed").fit(distances, y)
    assert len(clf.surprise_model_.others) == 12
    assert len(clf.surprise_model_.contrast.coefficients) == 3
    assert np.isfinite(clf.score_samples(distances)).all()


def test_dissimilarities_to_a_validation_set_apart_are_not_made_up():
    X, others = both_kinds(0)
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    beside = np.vstack([X[:5], others])
    block = np.sqrt(((beside[:, None] - X) ** 2).sum(axis=2))
    clf = EntropicOneClassClassifier(synthesis="validation", measure="precomputed")
    clf.fit(distances, validation=(block, np.repeat([1, -1], [5, 12])))
    assert clf.surprise_model_.others is None
    assert len(clf.surprise_model_.contrast.coefficients) == 2
    assert clf.predict(block).shape == (17,)


@pytest.mark.parametrize(("m", "n"), [(1, 20), (2, 1), (1, 1)])
def test_very_few_of_either_kind(m, n):
    X, others = both_kinds(0, n, m)
    clf = EntropicOneClassClassifier(synthesis="validation")
    clf.fit(np.vstack([X, others]), np.repeat([1, -1], [n, m]))
    assert np.isfinite(clf.score_samples(both_kinds(1)[0])).all()
    assert (clf.predict(X) == 1).all()


@pytest.mark.parametrize(
    ("y", "message"),
    [([1, 1, 1], "needs patterns that are not targets"), ([-1, -1, -1], "y holds no targets")],
)
def test_both_kinds_are_needed(y, message):
    with pytest.raises(ValueError, match=message):
        EntropicOneClassClassifier(synthesis="validation").fit([[0.0], [1.0], [2.0]], y)


def test_a_row_scores_the_same_alone_as_in_a_batch_and_copies_are_no_trouble():
    clf = learnt()
    new = np.vstack([both_kinds(7)[0], both_kinds(0)[0][:3], both_kinds(0)[1][:3]])
    scores = clf.score_samples(new)
    assert np.isfinite(scores).all()
    assert_array_equal([clf.score_samples(row[None])[0] for row in new], scores)


def test_a_weight_of_0_has_no_say():
    X, others = both_kinds(0)
    clf = EntropicOneClassClassifier(synthesis="validation", weights=[1.0, 0.0, 1.0])
    clf.fit(np.vstack([X, others]), np.repeat([1, -1], [80, 12]))
    new = np.zeros((3, 3))
    new[:, 1] = [0.0, 2.0, 90.0]
    assert clf.surprise_model_.contrast.densities.weights.tolist() == [0, 2]
    assert len(np.unique(clf.score_samples(new))) == 1


def test_a_non_target_beyond_all_measure_does_not_spoil_the_model(tmp_path):
    X, others = both_kinds(0)
    others[0] = 1e100
    clf = EntropicOneClassClassifier(synthesis="validation")
    clf.fit(np.vstack([X, others]), np.repeat([1, -1], [80, 12]))
    save(clf, tmp_path / "m.eocc")
    assert_array_equal(load(tmp_path / "m.eocc").score_samples(X), clf.score_samples(X))


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(6, 12))
def test_columns_units_and_coefficients_are_those_of_the_definition(seed, m, n):
    rng = np.random.default_rng(seed)
    X, others, new = rng.integers(0, 5, (n, 2)) * 1.0, rng.integers(2, 8, (m, 2)) * 1.0, rng.normal(size=(3, 2)) * 4
    if len(np.unique(X, axis=0)) < 3 or (np.ptp(X, axis=0) == 0).any():
        return
    clf = EntropicOneClassClassifier(synthesis="validation").fit(np.vstack([X, others]), np.repeat([1, -1], [n, m]))
    model = clf.surprise_model_
    views = [(view.weights, view.typical) for view in model.surprise.views]
    whole = Representation(clf.measure_, X, X, np.arange(n), is_whole=True)
    terms = {
        "targets": learn_surprise(whole, [p for p, _ in views])[1],
        "others": model.surprise.columns(clf.measure_.prepare(others, X)),
        "new": model.surprise.columns(clf.measure_.prepare(new, X)),
    }
    expected = oracle.Contrast(X, others, clf.measure_.delta, views, terms["targets"], terms["others"])
    assert_allclose(model.contrast.densities.widths, expected.widths, rtol=1e-6)
    assert_allclose(model.contrast.units.centre, expected.centre, rtol=1e-6, atol=1e-8)
    assert_allclose(model.contrast.units.spread, expected.spread, rtol=1e-6)
    found = np.append(model.contrast.coefficients, expected.best_intercept(model.contrast.coefficients))
    loss = expected.loss(found)
    for k in range(len(found) - 1):
        for step in (-1e-3, 1e-3):
            other = found.copy()
            other[k] = max(other[k] + step, expected.least[k])
            assert loss <= expected.loss(np.append(other[:-1], expected.best_intercept(other[:-1]))) + 1e-7
    pairs = Pairs(NewPatterns(clf.measure_.prepare(new, X)), NewPatterns(clf.measure_.prepare(new, others)))
    surprises = model.contrast.of(model.surprise, terms["new"], pairs)
    assert_allclose(surprises, expected.of(new, terms["new"], model.contrast.coefficients), rtol=1e-6, atol=1e-6)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 20)), elements=st.floats(0, 1e6) | st.just(np.inf))
)
def test_sums_of_squares_are_of_finite_distances(distances):
    sums = np.empty((len(distances), 2))
    finite_squares(distances, sums)
    finite = [row[np.isfinite(row)] for row in distances]
    assert_allclose(sums[:, 0], [(row**2).sum() for row in finite], rtol=1e-12)
    assert_array_equal(sums[:, 1], [len(row) for row in finite])


@pytest.mark.parametrize("measure", ["euclidean", "standardised"])
def test_blocks_along_some_columns_are_what_all_pairs_tell(measure):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 4)) * [1, 10, 1e-3, 5]
    fitted = MEASURES[measure]().fit(rows)
    prototypes = rows[::10]
    shown = Representation(fitted, rows, prototypes, np.arange(0, 3000, 10), is_whole=False)
    for p in (np.ones(4), np.eye(4)[2], np.array([0.5, 0, 0, 1])):
        wanted = fitted.prepare(rows, prototypes).evaluate(p)
        wanted[np.arange(0, 3000, 10), np.arange(300)] = np.inf
        assert_array_equal(shown.each(p, np.copy), wanted)
