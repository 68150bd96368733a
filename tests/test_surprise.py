import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier
from eocc.foundation.threads import threads
from eocc.kernels.smallest import mean_within, nearest_by_columns, smallest_entries
from eocc.measures import Euclidean, GraphEdit, resolve_measure
from eocc.space.representation import Representation
from eocc.space.weightings import views_of
from eocc.surprise.score import Border, Surroundings, learn_surprise, rungs, sum_of
from oracles import surprise as oracle
from samples import samples


def shown(X, own=None):
    """All rows against those of the indices `own`, by default all."""
    own = np.arange(len(X)) if own is None else np.array(own)
    is_whole = len(own) == len(X)
    return Representation(Euclidean().fit(X), X, X if is_whole else X[own], own, is_whole)


# Few values, so that ties and copies are common.
ROWS = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=n, max_size=n)
)


@given(
    st.integers(1, 20).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.7, np.inf]), min_size=n, max_size=n), min_size=1, max_size=3
        )
    ),
    st.integers(1, 9),
)
def test_the_smallest_entries_are_those_of_a_sorted_row(rows, k):
    values = np.empty((len(rows), k))
    smallest_entries(np.array(rows), 0.0, values)
    assert values.tolist() == [oracle.smallest(row, 0.0, k) for row in rows]


@given(st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1, max_size=4), st.floats(0.0, 1.0))
def test_the_mean_within_a_bound_is_over_the_entries_up_to_it(rows, slack):
    matrix, values = np.array(rows), np.array([1.0, 2.0, 4.0, 8.0])
    bounds, means = matrix.min(axis=1) + slack, np.empty(len(rows))
    mean_within(matrix, bounds, values, means)
    expected = [oracle.mean_within(row, bound, values) for row, bound in zip(rows, bounds, strict=True)]
    assert_allclose(means, expected, rtol=1e-12)


# Few values, many rows: ties, copies and more rows than groups of columns.
POINTS = st.integers(1, 6).flatmap(
    lambda d: st.tuples(
        *[st.lists(st.lists(st.integers(0, 3), min_size=d, max_size=d), min_size=1, max_size=most) for most in (3, 30)]
    )
)


@given(POINTS, st.integers(1, 8), st.sampled_from([1.0, 1e-150, 1e150]))
def test_the_nearest_of_rows_are_those_of_all_distances(points, k, size):
    left, right = (np.array(part, float) * size for part in points)
    m, values = min(4, k, len(right)), np.arange(1.0, len(right) + 1)
    near, means = np.empty((len(left), k)), np.empty(len(left))
    nearest_by_columns(left, np.ascontiguousarray(right.T), 1 / size, m, values, near, means)
    expected = oracle.nearest(*points, k, m, values)
    assert_allclose(near, [near for near, _ in expected], rtol=1e-12)
    assert_allclose(means, [mean for _, mean in expected], rtol=1e-12)


def test_who_ties_with_the_last_of_the_nearest_counts_too():
    angles = np.arange(40) * np.pi / 20
    circle = np.column_stack([np.cos(angles), np.sin(angles)])  # all as far from the centre, but for rounding
    near, means = np.empty((1, 8)), np.empty(1)
    nearest_by_columns(np.zeros((1, 2)), np.ascontiguousarray(circle.T), 1.0, 4, np.arange(1.0, 41.0), near, means)
    assert_allclose(near, 1.0)
    assert means.tolist() == [20.5]


@given(st.integers(1, 40), st.integers(1, 11), st.integers(0, 10**6))
def test_rows_know_of_their_nearest_what_their_dissimilarities_tell(n_prototypes, n_columns, seed):
    draw = np.random.default_rng(seed)
    decimals = int(draw.integers(4))  # few: then ties are common
    prototypes, new = (draw.normal(size=(n, n_columns)).round(decimals) for n in (n_prototypes, 5))
    weights = draw.uniform(size=n_columns).round(1)
    prepared = Euclidean().fit(prototypes).prepare(new, prototypes)
    view = Surroundings(weights, draw.uniform(size=n_prototypes), 1.0, np.empty(0))
    few = view.among(prepared.evaluate(weights))
    found = prepared.nearest_and_means(weights, few[0].shape[1], min(4, max(1, n_prototypes - 1)), view.extents)
    assert_array_equal(found[0], few[0])
    assert_array_equal(found[1], few[1])


def test_the_ladder_doubles_up_to_8_and_half_of_the_others():
    assert [rungs(n).tolist() for n in (0, 1, 2, 3, 4, 7, 8, 16, 999)] == [
        [1], [1], [1], [1], [1, 2], [1, 2], [1, 2, 4], [1, 2, 4, 8], [1, 2, 4, 8]]  # fmt: skip
    view = Surroundings(np.ones(1), np.ones(5), 1.0, np.empty(0))
    near, _ = view.among(np.array([[0.0, 0.3, 0.1, 0.2, 0.4], [np.inf, 0.1, 0.2, 0.3, 0.4]]))
    assert view.radii(near).tolist() == [[0.0, 0.1], [0.1, 0.2]]


@given(ROWS, st.lists(st.lists(st.integers(-1, 6), min_size=2, max_size=2), min_size=1, max_size=3))
def test_surprise_is_that_of_one_neighbour_at_a_time(rows, new):
    X, Y = np.array(rows, float), np.array(new, float)
    measure = Euclidean().fit(X)
    views = [np.array([1.0, 1.0]), np.array([1.0, 0.25])]
    prepared, against = measure.prepare(X, X), measure.prepare(Y, X)
    model, _ = learn_surprise(shown(X), views)
    squares = [prepared.evaluate(p).tolist() for p in views]
    expected = oracle.surprise(squares, [against.evaluate(p).tolist() for p in views])
    assert_allclose(model.of(against), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("block", [1, 7, 30, 10**6])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_blocks_and_threads_are_no_matter(block, n_threads, monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 3)).round(1)
    few = shown(X, own=[3, 30, 7, 22, 39])
    expected = learn_surprise(few, [np.ones(3)])
    left_out = few.each(np.ones(3), np.array)
    assert np.argwhere(np.isinf(left_out)).tolist() == [[3, 0], [7, 2], [22, 3], [30, 1], [39, 4]]
    monkeypatch.setattr("eocc.space.representation.BLOCK", block)
    with threads(n_threads):
        found = learn_surprise(few, [np.ones(3)])
        assert_array_equal(few.each(np.ones(3), np.array), left_out)
    assert_array_equal(found[1], expected[1])
    assert found[0].views[0].ratio == expected[0].views[0].ratio


def test_three_points_on_a_line_by_hand():
    D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    extents, typical, unit, terms = oracle.view(D.tolist())
    # Mean distances to the two others: 2, 1.5 and 2.5, of which a tenth is replaced by their mean, 2.
    assert_allclose(extents, [2.0, 1.55, 2.45])
    assert typical == 2.0
    assert_allclose([terms[0][0], terms[2][0]], np.log([1 + 2, 2 + 2]))
    ratios = np.array([(2 / 2.0) ** 2, (1.5 / 2.225) ** 2, (2.5 / 1.775) ** 2])
    assert_allclose(unit, ratios.mean())
    assert_allclose([ratio for _, ratio in terms], ratios / ratios.mean())


def test_the_border_leaves_the_rate_beyond_and_is_half_way_soft():
    surprises = np.arange(1.0, 100.0)  # 99 of them: 5 % of 100 lie at or beyond the 95th
    border = Border.of(surprises, 0.05)
    assert (border.at, border.width) == (95.0, 22.5)
    assert_allclose(border.ratios(np.array([95.0])), 1.0)
    assert (np.diff(border.ratios(np.array([-1e9, 0.0, 50.0, 95.0, 1e9, 1e200]))) > 0).all()
    assert np.isfinite(border.ratios(np.array([1e250]))).all()


def test_copies_have_a_border_with_a_width():
    border = Border.of(np.zeros(7), 1 / 8)
    assert (border.at, border.width) == (0.0, 0.1)


class TestViews:
    def test_equalised_weights_add_as_much_each(self):
        X = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 10.0, 0.1]
        one, two = views_of(shown(X), np.ones(3))
        assert_array_equal(one, 1)
        assert_allclose(two * X.var(axis=0), (two * X.var(axis=0))[0], rtol=1e-6)
        assert two.max() == 1

    def test_what_never_varies_gets_no_weight(self):
        X = np.column_stack([np.arange(5.0), np.full(5, 3.0), 2 * np.arange(5.0)])
        assert_allclose(views_of(shown(X), np.ones(3))[1], [1.0, 0.0, 0.25])

    @pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e6, 1e9])
    def test_units_that_differ_by_much_are_no_matter(self, scale):
        X = np.random.default_rng(0).normal(size=(200, 2)) * [1.0, scale]
        clf = EntropicOneClassClassifier().fit(X)
        assert clf.predict([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0 * scale]]).tolist() == [1, -1, -1]

    def test_a_constant_column_far_from_0_is_constant(self):
        X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 0.0, 3.0] + [0.0, 1e6 / 3, 0.0]
        assert views_of(shown(X), np.ones(3))[1, 1] == 0

    def test_a_weight_of_0_stays_0(self):
        X = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 10.0, 0.1]
        views = views_of(shown(X), np.array([1.0, 0.0, 0.5]))
        assert (views[:, 1] == 0).all()

    @pytest.mark.parametrize("X", [np.ones((4, 2)), np.eye(2), np.arange(6.0)[:, None]])
    def test_one_view_where_equalising_changes_nothing(self, X):
        assert views_of(shown(X), np.ones(X.shape[1])).shape == (1, X.shape[1])

    def test_measures_linear_in_p_are_equalised_by_their_means(self):
        graphs, _ = samples("graph-edit")
        patterns = GraphEdit().read(graphs)
        fitted = GraphEdit().fit(patterns)
        views = views_of(Representation(fitted, patterns, patterns, np.arange(20), is_whole=True), np.ones(3))
        pairs = fitted.prepare(patterns)
        means = [pairs.evaluate(one * p).mean() for p in views[1:] for one in np.eye(3)]
        told = [mean for mean in means if mean > 0]
        assert_allclose(told, told[0], rtol=1e-9)

    def test_the_order_of_many_rows_does_not_matter(self):
        X = np.random.default_rng(0).normal(size=(2000, 2)) * [1.0, 3.0]
        X[::5] *= [100.0, 1.0]
        order = np.random.default_rng(1).permutation(2000)
        assert_allclose(views_of(shown(X), np.ones(2)), views_of(shown(X[order]), np.ones(2)), rtol=1e-9)

    def test_of_many_other_patterns_some_are_asked(self):
        rng = np.random.default_rng(0)
        words = ["".join(rng.choice(list("abc"), rng.integers(2, 6))) for _ in range(900)]
        measure = resolve_measure("string-edit")
        patterns = measure.read(words)
        fitted = measure.fit(patterns)
        some, all_ = (
            views_of(Representation(fitted, part, part, np.arange(len(part)), is_whole=True), np.ones(3))
            for part in (patterns, patterns[np.sort(np.random.default_rng(0).permutation(900)[:400])])
        )
        assert_allclose(some, all_)


def targets(seed, n=100):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(n // 2, 3)), rng.normal(size=(n - n // 2, 3)) * 0.3 + 4])


class TestTheClassifier:
    def test_follows_a_ring_that_one_ball_cannot(self):
        angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        clf = EntropicOneClassClassifier().fit(ring)
        assert clf.predict([[0.0, 0.0], [1.5, 0.0], [0.0, 1.0], [-0.7, 0.72]]).tolist() == [-1, -1, 1, 1]

    @pytest.mark.parametrize("rate", [None, 0.2])
    def test_about_the_rate_of_new_targets_is_rejected(self, rate):
        rejected = [
            (EntropicOneClassClassifier(false_alarm_rate=rate).fit(targets(s)).predict(targets(s + 1000)) == -1).mean()
            for s in range(60)
        ]
        wanted = rate or 0.05
        assert abs(np.mean(rejected) - wanted) < 0.2 * wanted

    def test_left_out_verdicts_are_those_of_models_without_the_pattern_but_for_its_neighbours_extents(self):
        X = targets(0, 60)
        whole = EntropicOneClassClassifier().fit(X).left_out().log_memberships
        for index in (0, 17, 59):
            without = EntropicOneClassClassifier().fit(np.delete(X, index, axis=0)).score_samples(X[[index]])[0]
            assert abs(without - whole[index]) < 0.15

    def test_left_out_verdicts_keep_the_rate(self):
        X = targets(3)
        for rate in (0.05, 0.3):
            clf = EntropicOneClassClassifier(false_alarm_rate=rate).fit(X)
            assert (clf.left_out().margins < 0).sum() == round(rate * 101) - 1
            assert_array_equal(np.sort(clf.left_out().margins), clf.calibration_.margins)

    @pytest.mark.parametrize("rate", [0.3, 0.5, 0.6, 0.9])
    def test_high_rates_are_kept_by_decisions_and_p_values_alike(self, rate):
        clf = EntropicOneClassClassifier(false_alarm_rate=rate).fit(targets(0, 200))
        new = targets(1, 2000)
        assert_array_equal(clf.predict(new) == -1, clf.p_values(new) <= rate)
        assert abs((clf.predict(new) == -1).mean() - rate) < 0.1
        assert (np.diff(clf.judge(new).ratios[np.argsort(clf.p_values(new))]) <= 0).mean() > 0.4

    def test_one_far_training_row_does_not_open_the_border(self):
        X = np.vstack([targets(0), [[1e4, 1e4, 1e4]]])
        clf = EntropicOneClassClassifier().fit(X)
        away = np.random.default_rng(0).normal(loc=[8.0, -8.0, 8.0], size=(200, 3))
        assert (clf.predict(away) == -1).all()

    def test_single_resolution_has_no_left_out_verdicts(self):
        clf = EntropicOneClassClassifier(resolution="single", search=None).fit(targets(0))
        with pytest.raises(ValueError, match="left-out verdicts need resolution='multi'"):
            clf.left_out()

    def test_the_order_and_the_unit_of_the_data_do_not_matter(self):
        X, new = targets(1), targets(2)
        scores = EntropicOneClassClassifier().fit(X).score_samples(new)
        order = np.random.default_rng(0).permutation(len(X))
        assert_allclose(EntropicOneClassClassifier().fit(X[order]).score_samples(new), scores, rtol=1e-9)
        assert_allclose(EntropicOneClassClassifier().fit(X * 8 - 5).score_samples(new * 8 - 5), scores, rtol=1e-9)

    @pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0, 2.0]] * 6, [[0.0, 0.0], [1.0, 1.0]]])
    def test_one_pattern_copies_and_two_patterns(self, X):
        clf = EntropicOneClassClassifier().fit(X)
        assert (clf.predict(X) == 1).all()
        assert clf.predict([[500.0, -900.0]]) == -1
        scores = clf.score_samples([[500.0, -900.0], [1e9, 0.0], [1e300, 0.0]])
        assert np.isfinite(scores).all()
        assert (np.diff(scores) < 0).all()

    def test_a_search_changes_the_first_view(self):
        clf = EntropicOneClassClassifier(weights=[1.0, 0.5, 0.0]).fit(targets(0))
        assert_array_equal(clf.surprise_model_.surprise.views[0].weights, [1.0, 0.5, 0.0])
        assert all(view.weights[2] == 0 for view in clf.surprise_model_.surprise.views)

    def test_ratios_memberships_and_margins_agree(self):
        clf = EntropicOneClassClassifier().fit(targets(0))
        verdicts = clf.judge(targets(1))
        assert_array_equal(verdicts.log_memberships, clf.score_samples(targets(1)))
        assert_allclose(verdicts.log_memberships, -(verdicts.ratios**2) / 2)
        assert_array_equal(verdicts.margins, clf.decision_function(targets(1)))
        assert_allclose(clf.score_samples(targets(1)) - clf.offset_, clf.decision_function(targets(1)), atol=1e-8)

    @pytest.mark.parametrize("name", ["triangular", "trapezoidal", "bell", "two-sided"])
    def test_every_membership_function_grades_the_same_ratios(self, name):
        clf = EntropicOneClassClassifier(membership_function=name).fit(targets(0))
        gaussian = EntropicOneClassClassifier().fit(targets(0))
        assert_array_equal(clf.judge(targets(1)).ratios, gaussian.judge(targets(1)).ratios)
        assert_array_equal(clf.predict(targets(1)), gaussian.predict(targets(1)))

    def test_sums_are_taken_in_order(self):
        columns = np.random.default_rng(0).normal(size=(7, 5))
        assert_allclose(sum_of(columns), columns.sum(axis=1))
        assert sum_of(columns[[3]])[0] == sum_of(columns)[3]

    @pytest.mark.parametrize("name", ["euclidean", "gower", "string-edit"])
    def test_the_model_takes_the_measure_it_is_given(self, name):
        training, new = samples(name)
        clf = EntropicOneClassClassifier(measure=name).fit(training)
        assert clf.surprise_model_.surprise.views[0].extents.shape == (20,)
        assert len(resolve_measure(name).read(new) if name != "euclidean" else new) == len(clf.predict(new))
