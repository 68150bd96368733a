"""The neighbours view: kernels against their twins, the terms by hand, copies, thresholds and weightings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc import SurpriseClassifier
from eocc.base.threads import threads
from eocc.calibration.conformal import Threshold
from eocc.kernels.smallest import Lists, LocalScales, Remaining, mean_scales, smallest_entries, summarise_lists
from eocc.measures import Euclidean, GraphEdit, resolve_measure
from eocc.space.representation import Representation, fit_weightings, no_left_out_weights
from eocc.surprise import comparison
from eocc.surprise.comparison import Comparison, Reference, nearest_in
from eocc.surprise.model import fit_surprise
from eocc.surprise.neighbours import (
    NeighboursView,
    Standardisation,
    Weighting,
    fit_neighbours,
    larger_first,
    neighbourhood_sizes,
    sum_columns,
)
from oracles import surprise as oracle
from samples import samples


def plain(scales):
    """Local scales that do not depend on what is left out."""
    return LocalScales(np.asarray(scales, float), *np.zeros((2, len(scales))), 0.0)


def represented(X):
    return Representation(Euclidean().fit(X), X, X, np.arange(len(X)), is_whole=True)


def weightings_of(representation, p):
    return fit_weightings(representation, p)[0]


def reference(X, weightings):
    return Reference(Euclidean().fit(X), X, np.array(weightings, float))


def learned(X, weightings):
    """The view of rows X, and its numbers of them, each left out."""
    among = reference(X, weightings).among_itself()
    view = fit_neighbours(among, no_left_out_weights(2))
    return view, larger_first(view.by_weighting(view.nearest(among)))


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
def test_the_mean_scale_within_a_bound_is_over_the_entries_up_to_it(rows, slack):
    matrix, values = np.array(rows), np.array([1.0, 2.0, 4.0, 8.0])
    bounds, means = matrix.min(axis=1) + slack, np.empty(len(rows))
    mean_scales(matrix, bounds, plain(values), 2, np.zeros(len(rows), bool), means)
    expected = [oracle.mean_within(row, bound, values) for row, bound in zip(rows, bounds, strict=True)]
    assert_allclose(means, expected, rtol=1e-12)


# Lists of the nearest few of some points, each of which occurs once or more.
POINTS = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=14, unique_by=lambda one: one)


@given(POINTS, st.integers(1, 8), st.integers(1, 4), st.integers(2, 12), st.sampled_from([-1.0, 0.0, 1.0]))
def test_lists_are_summarised_as_all_prototypes_are(points, k, m, length, above):
    order = sorted(range(len(points)), key=lambda j: (points[j][0], j))[:length]
    numbers = np.full((1, length), -1)
    numbers[0, : len(order)] = order
    distances = np.where(numbers >= 0, np.array([points[j][0] for j in numbers[0]], float), np.inf)
    counts = np.array([count for _, count in points])
    own = next((j for j in order if counts[j] > 1), -1)
    twin = next((j for j in order if counts[j] > 1 + (j == own)), -1)
    values = np.arange(1.0, len(points) + 1)
    near, means, is_short = np.empty((1, k)), np.empty(1), np.empty(1, bool)
    is_whole = length >= len(points)
    m = min(m, k)
    left = Remaining(np.array([own]), np.array([twin]), counts, np.arange(len(points)), plain(values))
    summarise_lists(Lists(distances, numbers), left, above, m, is_whole, near, means, is_short)
    rows = [
        (float(distance), values[j])
        for j, (distance, count) in enumerate(points)
        for _ in range(count - (j == own) - (j == twin))
    ]
    expected = oracle.smallest([distance for distance, _ in rows], above, k)
    kept = [value for distance, value in rows if above < distance <= expected[m - 1] * (1 + 1e-9)]
    if not is_short[0]:
        assert near[0].tolist() == expected
        if kept:
            assert_allclose(means[0], sum(kept) / len(kept), rtol=1e-12)
    if is_whole:
        assert not is_short[0]


def test_a_list_too_short_to_tell_says_so():
    distances, numbers = np.ones((1, 10)), np.arange(10)[None]
    counts, is_short = np.ones(20, np.int64), np.empty(1, bool)
    found = np.empty((1, 8)), np.empty(1)
    left = Remaining(np.array([-1]), np.array([-1]), counts, np.arange(20), plain(np.ones(20)))
    summarise_lists(Lists(distances, numbers), left, -1.0, 4, False, *found, is_short)
    assert is_short[0]


def test_rows_that_tie_with_the_last_neighbour_count_too():
    angles = np.arange(40) * np.pi / 20
    circle = np.column_stack([np.cos(angles), np.sin(angles)])  # all as far from the centre, but for rounding
    compared = Comparison(reference(circle, np.ones((1, 2))), np.zeros((1, 2)))
    near = compared.nearest(0, 8, 4, plain(np.arange(1.0, 41.0)))
    assert_allclose(near.distances, near.distances[0, 0])
    assert near.scales.tolist() == [20.5]


@given(st.integers(1, 40), st.integers(1, 11), st.integers(0, 10**6))
def test_the_nearest_of_rows_are_those_of_their_dissimilarities(n_prototypes, n_columns, seed):
    draw = np.random.default_rng(seed)
    decimals = int(draw.integers(4))  # few: then ties and copies are common
    prototypes, new = (draw.normal(size=(n, n_columns)).round(decimals) for n in (n_prototypes, 5))
    weightings, scales = draw.uniform(0.1, 1, size=(2, n_columns)).round(1), draw.uniform(size=n_prototypes)
    scales = scales[np.unique(prototypes, axis=0, return_inverse=True)[1].ravel()]  # copies have the same scale
    k, m = min(8, n_prototypes), min(4, max(1, n_prototypes - 1))
    normal = reference(prototypes, weightings)
    for number, p in enumerate(weightings):
        expected = nearest_in(
            normal.measure.prepare(new, prototypes).evaluate(p), k, m, plain(scales), np.zeros(5, bool)
        )
        found = Comparison(normal, new).nearest(number, k, m, plain(scales))
        assert_allclose(found.distances, expected.distances, rtol=1e-12, atol=1e-14)
        assert_allclose(found.scales, expected.scales, rtol=1e-9)


def test_neighbourhood_sizes_double_up_to_8_and_half_of_the_rows():
    assert [neighbourhood_sizes(n).tolist() for n in (0, 1, 2, 3, 4, 7, 8, 16, 999)] == [
        [1], [1], [1], [1], [1, 2], [1, 2], [1, 2, 4], [1, 2, 4, 8], [1, 2, 4, 8]]  # fmt: skip


@pytest.mark.parametrize(("n", "sizes"), [(2, [1]), (4, [1]), (5, [1, 2]), (8, [1, 2]), (9, [1, 2, 4])])
def test_a_row_does_not_count_among_its_own_neighbours(n, sizes):
    model, _ = learned(np.arange(float(n))[:, None] ** 1.5, [[1.0]])
    assert neighbourhood_sizes(n - 1).tolist() == sizes
    assert len(model.weightings[0].median_profile) == len(sizes)


@given(ROWS, st.lists(st.lists(st.integers(-1, 6), min_size=2, max_size=2), min_size=1, max_size=3))
def test_the_view_is_that_of_the_plain_definition(rows, new):
    X, Y = np.array(rows, float), np.array(new, float)
    measure = Euclidean().fit(X)
    weightings = np.array([[1.0, 1.0], [1.0, 0.25]])
    normal = reference(X, weightings)
    view = fit_neighbours(normal.among_itself(), no_left_out_weights(2))
    squares, others = ([measure.prepare(one, X).evaluate(p).tolist() for p in weightings] for one in (X, Y))
    expected = oracle.neighbours_view(squares, others, oracle.copies_of(squares, others))
    found = larger_first(view.by_weighting(view.nearest(Comparison(normal, Y))))
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def as_new(normal):
    """The view of every training row as a new row of a model without it."""
    among = normal.among_itself()
    view = fit_neighbours(among, no_left_out_weights(normal.weightings.shape[1]))
    view.leave_twins_out(among)
    return larger_first(view.by_weighting(view.nearest(among)))


@given(ROWS)
def test_training_rows_are_calibrated_as_new_rows_of_a_model_without_them(rows):
    X, weightings = np.array(rows, float), np.array([[1.0, 1.0], [1.0, 0.25]])
    measure = Euclidean().fit(X)
    squares = [measure.prepare(X, X).evaluate(p).tolist() for p in weightings]
    without = oracle.itself_and_twin(squares)
    expected = oracle.neighbours_view(squares, squares, without)
    assert_allclose(as_new(reference(X, weightings)), expected, rtol=1e-6, atol=1e-6)
    given_pairs = resolve_measure("precomputed", np.array(squares[0]))
    patterns = given_pairs.read(np.array(squares[0]))
    pairs = Reference(given_pairs.fit(patterns), patterns, np.ones((1, 1)))
    expected = oracle.neighbours_view(squares[:1], squares[:1], without)
    assert_allclose(as_new(pairs), expected, rtol=1e-6, atol=1e-6)


def test_a_row_with_a_twin_is_calibrated_without_both():
    X = np.random.default_rng(5).normal(size=(30, 2))
    X[7] = X[3]
    normal = reference(X, np.ones((1, 2)))
    view, found = learned(X, np.ones((1, 2)))
    rows = normal.measure.prepare(X[[3]], X).evaluate(np.ones(2))
    rows[0, [3, 7]] = np.inf
    alone = larger_first(view.by_weighting([nearest_in(rows, *view.weightings[0].needed, np.ones(1, bool))]))
    assert_allclose(as_new(normal)[[3, 7]], alone[0])
    assert alone[0] > found[3] + 0.1  # a new copy of it has one neighbour at 0
    single = np.delete(np.arange(30), [3, 7])
    assert_array_equal(as_new(normal)[single], found[single])
    model, surprises = fit_surprise(normal, None, no_left_out_weights(2))
    assert_array_equal(surprises[single], model.surprises(X[single]))
    assert (surprises[[3, 7]] >= model.surprises(X[[3]])).all()


@pytest.mark.parametrize("n_columns", [3, 8])
def test_blocks_and_threads_do_not_change_the_model(n_columns, monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, n_columns)).round(1)
    X[::4, 1:] = 0  # many copies and ties, for which all prototypes are looked at
    expected, left_out = learned(X, np.ones((1, n_columns)))
    monkeypatch.setattr("eocc.surprise.comparison.BLOCK_SIZE", 1000)
    monkeypatch.setattr("eocc.neighbours.exact.ROWS_PER_TASK", 17)
    with threads(3):
        found, again = learned(X, np.ones((1, n_columns)))
    assert_array_equal(again, left_out)
    assert found.weightings[0].mean_ratio == expected.weightings[0].mean_ratio


def test_three_points_on_a_line_by_hand():
    D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    scales, mean_distance, mean_ratio, terms = oracle.weighting(D.tolist())
    # Mean distances to the two others.
    assert_allclose(scales(), [2.0, 1.5, 2.5])
    assert mean_distance == 2.0
    assert_allclose([terms[0][0], terms[2][0]], np.log([1 + 2, 2 + 2]))
    ratios = np.array([(2 / 2.0) ** 2, (1.5 / 2.25) ** 2, (2.5 / 1.75) ** 2])
    assert_allclose(mean_ratio, ratios.mean())
    assert_allclose([ratio for _, ratio in terms], ratios / ratios.mean())


def model_of(X):
    return learned(X, np.ones((1, X.shape[1])))[0]


def surprises(view: NeighboursView, X, new):
    return larger_first(view.by_weighting(view.nearest(Comparison(reference(X, np.ones((1, X.shape[1]))), new))))


class TestCopies:
    X = np.random.default_rng(5).normal(size=(30, 2))

    def test_a_training_row_scores_as_it_did_when_left_out(self):
        view, left_out = learned(self.X, np.ones((1, 2)))
        assert_array_equal(surprises(view, self.X, self.X), left_out)

    def test_a_copy_that_differs_by_rounding_is_a_copy(self):
        # 1e-10 of a typical distance: a row computed in another order, not another row.
        near = self.X[[3]] + 1e-10
        expected = surprises(model_of(self.X), self.X, self.X[[3]])
        assert_allclose(surprises(model_of(self.X), self.X, near), expected, rtol=1e-6)

    def test_a_row_close_to_a_training_row_is_no_copy(self):
        near = self.X[[3]] + 1e-6
        assert surprises(model_of(self.X), self.X, near) < surprises(model_of(self.X), self.X, self.X[[3]]) - 0.1

    def test_one_enormous_row_makes_no_copies(self):
        X = np.vstack([self.X, [[1e10, 1e10]]])
        assert model_of(X).weightings[0].local_scales[:30].min() > 0
        near = self.X[[3]] + 1e-3
        found = Comparison(reference(X, np.ones((1, 2))), near)
        model_of(X).nearest(found)
        assert found.own.tolist() == [-1]

    def test_near_copies_do_not_count_in_local_scales(self):
        # Three rows that differ by rounding: their local scales come from the other rows.
        X = np.vstack([self.X, self.X[[3]] + 1e-12, self.X[[3]] - 1e-12])
        assert model_of(X).weightings[0].local_scales.min() > 0.01


def test_the_profile_counts_four_fifths_and_the_more_surprising_weighting_too(monkeypatch):
    two = (Weighting(np.ones(1), np.ones(5), np.zeros(5), np.zeros(5), 1.0, 0.0, np.ones(1)),) * 2
    view = NeighboursView(two, Standardisation(np.zeros(4), np.ones(4)), no_left_out_weights(1))
    terms = iter(np.array([[[1.0, 2.0], [5.0, 5.0], [3.0, 3.0]], [[5.0, 5.0], [1.0, 2.0], [3.0, 3.0]]]))
    monkeypatch.setattr(Weighting, "terms", lambda self, near: next(terms))
    # 0.8 * 1 + 0.2 * 2 = 1.2 and 5: 0.8 * 5 + 0.2 * 1.2 = 4.24.
    assert_allclose(larger_first(view.by_weighting([None, None])), [4.24, 4.24, 3.0])


def test_the_threshold_leaves_the_rate_beyond_it():
    surprises = np.arange(1.0, 100.0)  # 99 of them: 5 % of 100 lie at or beyond the 95th
    threshold = Threshold.fit(surprises, 0.05)
    assert (threshold.value, threshold.scale) == (95.0, 22.5)
    assert_allclose(threshold.ratios(np.array([95.0])), 1.0)
    assert (np.diff(threshold.ratios(np.array([-1e9, 0.0, 50.0, 95.0, 1e9, 1e200]))) > 0).all()
    assert np.isfinite(threshold.ratios(np.array([1e250]))).all()


def test_the_threshold_of_equal_surprises_has_a_scale():
    threshold = Threshold.fit(np.zeros(7), 1 / 8)
    assert (threshold.value, threshold.scale) == (0.0, 0.5)


def test_sums_do_not_depend_on_the_batch():
    columns = np.random.default_rng(0).normal(size=(7, 5))
    assert_allclose(sum_columns(columns), columns.sum(axis=1))
    assert sum_columns(columns[[3]])[0] == sum_columns(columns)[3]


def test_the_profile_holds_the_distances_at_each_neighbourhood_size():
    weighting = Weighting(np.ones(1), np.ones(5), np.zeros(5), np.zeros(5), 1.0, 0.0, np.empty(0))
    rows = np.array([[0.0, 0.3, 0.1, 0.2, 0.4], [np.inf, 0.1, 0.2, 0.3, 0.4]])
    near = nearest_in(rows, 4, *weighting.needed[1:], np.zeros(2, bool))
    expected = np.log(1 + np.array([[0.0, 0.1], [0.1, 0.2]])).mean(axis=1)
    assert_allclose(weighting.terms(near)[:, 0], expected)


class TestWeightings:
    def test_equalised_weights_add_as_much_each(self):
        X = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 10.0, 0.1]
        one, two = weightings_of(represented(X), np.ones(3))
        assert_array_equal(one, 1)
        assert_allclose(two * X.var(axis=0), (two * X.var(axis=0))[0], rtol=1e-6)
        assert two.max() == 1

    def test_a_constant_column_gets_no_weight(self):
        X = np.column_stack([np.arange(5.0), np.full(5, 3.0), 2 * np.arange(5.0)])
        assert_allclose(weightings_of(represented(X), np.ones(3))[1], [1.0, 0.0, 0.25])

    def test_a_constant_column_far_from_0_is_constant(self):
        X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 0.0, 3.0] + [0.0, 1e6 / 3, 0.0]
        assert weightings_of(represented(X), np.ones(3))[1, 1] == 0

    def test_a_weight_of_0_stays_0(self):
        X = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 10.0, 0.1]
        assert (weightings_of(represented(X), np.array([1.0, 0.0, 0.5]))[:, 1] == 0).all()

    @pytest.mark.parametrize("X", [np.ones((4, 2)), np.eye(2), np.arange(6.0)[:, None]])
    def test_there_is_one_weighting_where_equalising_changes_nothing(self, X):
        assert weightings_of(represented(X), np.ones(X.shape[1])).shape == (1, X.shape[1])

    def test_measures_linear_in_p_are_equalised_by_their_means(self):
        graphs, _ = samples("graph-edit")
        patterns = GraphEdit().read(graphs)
        fitted = GraphEdit().fit(patterns)
        views = weightings_of(Representation(fitted, patterns, patterns, np.arange(20), is_whole=True), np.ones(3))
        pairs = fitted.prepare(patterns)
        means = [pairs.evaluate(one * p).mean() for p in views[1:] for one in np.eye(3)]
        active = [mean for mean in means if mean > 0]
        assert_allclose(active, active[0], rtol=1e-9)

    def test_the_order_of_many_rows_does_not_matter(self):
        X = np.random.default_rng(0).normal(size=(2000, 2)) * [1.0, 3.0]
        X[::5] *= [100.0, 1.0]
        order = np.random.default_rng(1).permutation(2000)
        found, again = (weightings_of(represented(rows), np.ones(2)) for rows in (X, X[order]))
        assert_allclose(found, again, rtol=1e-9)

    def test_sums_of_components_are_equalised_by_all_pairs(self):
        rng = np.random.default_rng(0)
        words = ["".join(rng.choice(list("abc"), rng.integers(2, 6))) for _ in range(450)]
        fitted, patterns = _fitted("string-edit", words)
        means = fitted.prepare(patterns).components.mean(axis=(1, 2))
        expected = [np.ones(3), means.min() / means]
        assert_allclose(weightings_of(_whole(fitted, patterns), np.ones(3)), expected)

    def test_many_series_are_equalised_by_a_sample(self):
        series = list(np.random.default_rng(0).normal(size=(450, 2, 2)) * [1.0, 3.0])
        fitted, patterns = _fitted("dtw", series)
        some = patterns[np.sort(np.random.default_rng(0).permutation(450)[:400])]
        found, expected = (weightings_of(_whole(fitted, part), np.ones(2)) for part in (patterns, some))
        assert len(found) == 2
        assert_allclose(found, expected)


def _fitted(name, objects):
    measure = resolve_measure(name)
    patterns = measure.read(objects)
    return measure.fit(patterns), patterns


def _whole(fitted, patterns):
    return Representation(fitted, patterns, patterns, np.arange(len(patterns)), is_whole=True)


def test_rows_with_many_ties_are_not_compared_with_all_prototypes(monkeypatch):
    # Zeros and ones: at the distance of the fourth nearest there are often more rows than a short list holds.
    X = np.random.default_rng(0).integers(0, 2, (700, 10)).astype(float)
    monkeypatch.setattr(comparison, "LONG_LIST", 10_000)  # longer than there are rows, so never used
    expected = SurpriseClassifier().fit(X).calibration_.margins
    monkeypatch.undo()
    monkeypatch.setattr(comparison, "nearest_in", None)
    assert_allclose(SurpriseClassifier().fit(X).calibration_.margins, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("is_whole", [False, True])
def test_a_copy_is_one_under_every_weighting(is_whole):
    # Next to the first column, the second vanishes; equalised weights show it.
    X = np.column_stack([1e12 * np.arange(30.0), np.arange(30.0) % 7])
    normal = reference(X, np.array([[1.0, 1.0], [1e-24, 1.0]]))
    view = fit_neighbours(normal.among_itself(), no_left_out_weights(2))
    new = X[[3, 3]] + [[0.0, 0.0], [0.0, 50.0]]
    compared = Comparison(normal, new) if is_whole else Comparison(normal, new, length=0)
    view.nearest(compared)
    assert compared.own.tolist() == [3, -1]
