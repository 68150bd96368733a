"""The views of the surprise: values by hand, kernels against their twins, what each sees, and how they combine."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc import SurpriseClassifier, load, save
from eocc.calibration.conformal import Threshold
from eocc.kernels.content import row_hashes
from eocc.measures import Euclidean, FittedMeasure, Gower, resolve_measure
from eocc.space.prototypes.content import exact_copies, words_of
from eocc.space.representation import no_left_out_weights
from eocc.surprise import helpers
from eocc.surprise.comparison import Comparison, Reference
from eocc.surprise.helpers import cells_of, fit_covariance, fit_far
from eocc.surprise.model import HANDICAPS, SurpriseModel, fit_surprise
from oracles import surprise as oracle


def reference(X, weightings=None):
    X = np.array(X, float)
    return Reference(Euclidean().fit(X), X, np.ones((1, X.shape[1])) if weightings is None else weightings)


def kinds_of(normal):
    """The first of each different row, and which of these each row is, in the order of their hashes."""
    return np.unique(row_hashes(words_of(normal.prototypes)), return_index=True, return_inverse=True)[1:]


def learned(fit, normal):
    """What a view learns from the rows of a reference."""
    first, kinds = kinds_of(normal)
    return fit(normal.among_itself(), *((first, kinds) if fit is fit_far else (kinds,)))


def values_of(normal, patterns):
    """The cells of patterns, in the columns whose weights are not 0."""
    return normal.measure.cell_values(patterns)[:, normal.active]


def tables(rows):
    """A reference to a table with categories and gaps, under Gower's measure."""
    measure = Gower()
    return Reference(
        (fitted := measure.fit(patterns := measure.read(rows))), patterns, np.ones((1, fitted.n_parameters))
    )


def views_of(clf, new):
    """The views of new rows by name."""
    model = clf.surprise_model_
    return dict(zip(model.names, model.views(*model.compare(clf._read(new))).T, strict=True))


def decisive(clf, new):
    """The name of the view that decides for each row."""
    found = views_of(clf, new)
    return [list(found)[place] for place in np.array(list(found.values())).argmax(axis=0)]


class TestCells:
    def test_numbers_by_hand(self):
        # The median is 3, the median deviation above it 4 (of 1 and 7), below it 1.5 (of 1 and 2): the training cells
        # are 4/3, 2/3, 0, 1/4 and 7/4 away.
        normal = reference([[1.0], [2.0], [3.0], [4.0], [10.0]])
        view, left_out = cells_of(normal)
        new = np.array([[3.0], [10.0], [24.0], [0.0], [1e9], [-1e9]])
        found = view.by_column(new)[:, 0]
        # At least as far as 3 are all five, as 10 one; 24 is 21/4 away, three times as far as any; 0 is 2 away.
        assert_allclose(found[:4], np.log([1.0, 5 / 2, 5 * 3.0, 5 * 2 / 1.75]), atol=1e-12)
        assert_allclose(found[4:], np.log(5) + 3)  # however far, a cell beyond all others adds at most 3
        assert_allclose(view.of(Comparison(normal, new)), found)
        assert_allclose(left_out[[0, 2, 4]], np.log([5 / 2, 1.0, 5 * 1.75 / (4 / 3)]), atol=1e-12)

    def test_the_only_cell_of_a_constant_column_that_differs_adds_at_most_three(self):
        X = np.zeros((20, 1))
        X[7] = 5.0
        assert_allclose(cells_of(reference(X))[1][[0, 7]], [0.0, np.log(20) + 3])

    @pytest.mark.parametrize(("jitter", "is_strange"), [(1e-8, True), (1e-10, False)])
    def test_deviations_by_rounding_are_none(self, jitter, is_strange):
        # Three units in a billion of the values are rounding: they set no unit, and nothing lies beyond them.
        X = np.full((9, 1), 1000.0)
        X[:4] += 1000 * jitter
        view, _ = cells_of(reference(X))
        assert (view.by_column(np.array([[1000.0 + 2000 * jitter]]))[0, 0] > np.log(9) + 0.1) == is_strange

    def test_categories_by_hand(self):
        frame = pd.DataFrame({"kind": [*"aaaaaabbc"]})
        view, left_out = cells_of(normal := tables(frame))
        cells = values_of(normal, Gower().read(pd.DataFrame({"kind": [*"abcz"]})))
        # Without itself, six cells share their category with five others, two with one, one with none. At least as
        # rare as a category of six are all nine, of two or one three, of none one.
        assert_allclose(view.by_column(cells)[:, 0], -np.log([1.0, 4 / 9, 4 / 9, 2 / 9]))
        # Left out, c was never seen: none of the others is as rare, and the rarest of them occurs twice as often.
        assert_allclose(left_out[[0, 6, 8]], [0.0, np.log(9 / 3), np.log(9) + np.log(2)])

    def test_a_category_that_never_occurred_among_common_ones(self):
        frame = pd.DataFrame({"kind": ["a"] * 10 + ["b"] * 10})
        view, left_out = cells_of(normal := tables(frame))
        unseen = values_of(normal, Gower().read(pd.DataFrame({"kind": ["z"]})))
        assert_allclose(view.by_column(unseen)[0, 0], np.log(20) + np.log(10))
        many = tables(pd.DataFrame({"kind": ["a"] * 50 + ["b"] * 50}))
        assert_allclose(cells_of(many)[0].by_column(unseen)[0, 0], np.log(100) + 3)  # log 50 is more than 3
        assert not left_out.any()

    def test_in_a_column_of_ids_no_value_is_strange(self):
        frame = pd.DataFrame({"id": [f"row {k}" for k in range(30)]})
        view, left_out = cells_of(normal := tables(frame))
        new = values_of(normal, Gower().read(pd.DataFrame({"id": ["another", "row 3"]})))
        assert not left_out.any()
        assert not view.of(SimpleNamespace(reference=normal, patterns=Gower().read(frame))).any()
        assert not view.by_column(new).any()

    def test_gaps_by_hand(self):
        frame = pd.DataFrame({"a": [None, None, *"xyxyxy"], "b": [*"pqpqpqpq"]})
        view, left_out = cells_of(normal := tables(frame))
        new = values_of(
            normal, Gower().read(pd.DataFrame({"a": [None, "x", None], "b": ["p", None, None]}, dtype=object))
        )
        found = view.by_column(new)
        assert_allclose(found[:, 0], [np.log(8 / 3), 0.0, np.log(8 / 3)], atol=1e-12)
        # No row lacks b: eight have it, and log(1 + 8) is less than 3.
        assert_allclose(found[1:, 1], np.log(8) + np.log(9))
        # The number of gaps: two rows have one, none has two.
        assert_allclose(found[:, 2], [np.log(8 / 3), np.log(8 / 3), np.log(8) + 1])
        assert_allclose(left_out[:3], [np.log(8 / 2), np.log(8 / 2), 0.0], atol=1e-12)

    def test_many_gaps_add_at_most_three(self):
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 9)))
        view, _ = cells_of(normal := tables(frame))
        new = frame[:1].copy()
        for n_gaps, beyond in ((1, 1.0), (2, 2.0), (3, 3.0), (9, 3.0)):
            new.iloc[0, :n_gaps] = np.nan
            found = view.by_column(values_of(normal, Gower().read(new)))
            assert_allclose(found[0, -1], np.log(50) + beyond)

    @given(st.data(), st.integers(1, 14), st.integers(1, 4))
    def test_the_kernels_are_the_definition(self, data, n, u):
        is_code = np.array(data.draw(st.lists(st.booleans(), min_size=u, max_size=u)))
        numbers = st.sampled_from([None, -50.0, -1.0, 0.0, 0.0, 1.0, 1.5, 7.0, 1e3])
        codes = st.sampled_from([None, 0.0, 0.0, 1.0, 2.0, 3.0])
        row = st.tuples(*(codes if code else numbers for code in is_code)).map(list)
        table, new = (data.draw(st.lists(row, min_size=m, max_size=m)) for m in (n, 5))

        class Measure(FittedMeasure):
            n_parameters = u

            def __init__(self):
                self.is_code = is_code

            def prepare(self, patterns, prototypes=None):
                raise NotImplementedError

            def cell_values(self, patterns):
                return patterns

        values, cells = (np.array(rows, dtype=float) for rows in (table, new))
        normal = Reference(Measure(), values, np.ones((1, u)))
        view, left_out = cells_of(normal)
        expected = oracle.cell_view(table, is_code, new)
        assert_allclose(left_out, expected[0], rtol=1e-9, atol=1e-12)
        assert_allclose(view.of(SimpleNamespace(reference=normal, patterns=cells)), expected[1], rtol=1e-9, atol=1e-12)
        by_cell = oracle.cells_of(table, is_code)
        assert_allclose(view.by_column(cells), [by_cell(row) for row in new], rtol=1e-9, atol=1e-12)


class TestFar:
    def test_five_points_on_a_line_by_hand(self, monkeypatch):
        # Of five landmarks the second nearest counts. Left out, 0, 1, 2, 3 and 10 have it at 2, 1, 1, 2 and 8.
        monkeypatch.setattr(helpers, "SHARE", 1)
        monkeypatch.setattr(helpers, "FEWEST", 3)
        normal = reference([[0.0], [1.0], [2.0], [3.0], [10.0]])
        view, left_out = learned(fit_far, normal)
        logs = np.log([2.0, 1, 1, 2, 8])
        assert_allclose(left_out, (logs - logs.mean()) / logs.std(), atol=1e-12)
        # 12 lies 2 from 10 and 9 from 3.
        assert_allclose(view.of(Comparison(normal, np.array([[12.0]]))), (np.log(9) - logs.mean()) / logs.std())

    def test_copies_of_a_landmark_are_left_out_with_it(self, monkeypatch):
        monkeypatch.setattr(helpers, "SHARE", 1)
        monkeypatch.setattr(helpers, "FEWEST", 3)
        normal = reference([[0.0], [1.0], [2.0], [3.0], [10.0], [10.0], [10.0]])
        view, left_out = learned(fit_far, normal)
        assert len(view.landmarks) == 5
        assert left_out[4] == left_out[5] == left_out[6] == left_out.max()

    @pytest.mark.parametrize(("n", "n_sizes"), [(32, 1), (36, 2), (64, 2), (68, 3), (300, 3)])
    def test_which_landmarks_count(self, n, n_sizes):
        # The 2nd, 4th and 8th of at most 64, none beyond half of the other landmarks.
        normal = reference(np.random.default_rng(0).normal(size=(n, 2)))
        view, _ = learned(fit_far, normal)
        assert len(view.mean) == n_sizes

    @pytest.mark.parametrize(("n", "n_landmarks"), [(350, 64), (200, 37), (98, 12)])
    def test_landmarks_are_a_quarter_of_the_different_rows_with_the_smallest_hashes(self, n, n_landmarks):
        X = np.random.default_rng(0).normal(size=(n, 2))
        X[-50:] = X[:50]
        normal = reference(X)
        view, _ = learned(fit_far, normal)
        keys = row_hashes(words_of(normal.prototypes))
        assert len(view.landmarks) == n_landmarks
        assert_array_equal(np.sort(keys[view.landmarks]), np.unique(keys)[:n_landmarks])
        assert (view.landmarks < n - 50).all()  # the first of equal rows

    def test_fewer_than_32_different_rows_have_none(self):
        normal = reference([[float(k % 31)] for k in range(62)])
        assert learned(fit_far, normal) is None

    @given(st.integers(3, 70), st.integers(1, 5), st.integers(0, 2), st.integers(0))
    def test_the_nearest_of_a_few_are_those_of_all_distances(self, n, d, decimals, seed):
        rng = np.random.default_rng(seed)
        new, rows = (rng.normal(size=(m, d)).round(decimals) for m in (11, n))
        places, skipped = np.sort(rng.permutation(n)[: max(2, n // 2)]), rng.integers(-1, max(2, n // 2), 11)
        ranks = np.unique(rng.integers(0, len(places) - 1, 3))
        normal = reference(rows)
        found = Comparison(normal, new).nearest_among(0, places, ranks, skipped)
        distances = np.sqrt(((new[:, None] - rows[places]) ** 2).sum(axis=2)) / normal.measure.delta
        distances[skipped >= 0, skipped[skipped >= 0]] = np.inf
        assert_allclose(found, np.sort(distances, axis=1)[:, ranks], rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("name", ["string-edit", "euclidean", "precomputed"])
    def test_pairs_rows_and_lists_give_the_same(self, name, monkeypatch):
        monkeypatch.setattr(helpers, "SHARE", 1)
        monkeypatch.setattr(helpers, "FEWEST", 3)
        X = np.array([[0.0], [1.0], [2.5], [4.0], [10.0], [13.0], [13.0]])
        made = {
            "euclidean": X,
            "precomputed": np.abs(X - X.T),
            "string-edit": ["a" * round(2 * x) for x in X.ravel()],
        }[name]
        measure = resolve_measure(name, made)
        patterns = made if name == "euclidean" else measure.read(made)
        fitted = measure.fit(patterns)
        normal = Reference(fitted, patterns, np.ones((1, fitted.n_parameters)))
        view, left_out = learned(fit_far, normal)
        distances = fitted.prepare(patterns, patterns).evaluate(np.ones(fitted.n_parameters))
        training = distances[:, view.landmarks].copy()
        training[training == 0] = np.inf
        new = distances[:, view.landmarks]
        expected = oracle.far_view([training.tolist()], [new.tolist()])
        assert_allclose(left_out, expected[0], rtol=1e-9)
        assert_allclose(view.of(Comparison(normal, patterns)), expected[1], rtol=1e-9)


class TestCovariance:
    def test_one_column_by_hand(self):
        normal = reference([[-3.0], [-1.0], [1.0], [3.0]])
        view, _ = learned(fit_covariance, normal)
        # The mean is 0 and the variance 5.
        assert_allclose(view.of(Comparison(normal, np.array([[5.0], [1.0]]))), np.log([5.0, 0.2]))
        assert_allclose(view.of(Comparison(normal, np.zeros((1, 1)))), np.log(1e-9))

    def test_a_training_row_is_compared_with_the_other_folds(self):
        X = np.random.default_rng(0).normal(size=(11, 1))
        normal = reference(X)
        folds, (_, left_out) = kinds_of(normal)[1] % 5, learned(fit_covariance, normal)
        others = X[folds != folds[4]]
        assert_allclose(left_out[4], np.log((X[4] - others.mean()) ** 2 / others.var())[0])

    def test_five_folds_of_equal_size_and_equal_rows_in_one(self):
        X = np.random.default_rng(0).normal(size=(23, 2))
        X[20:] = X[:3]
        order = np.random.default_rng(1).permutation(23)
        left_out = learned(fit_covariance, reference(X))[1]
        # Every fold has four of the twenty different rows, and is left out as a whole.
        folds = kinds_of(reference(X))[1] % 5
        assert np.bincount(folds[:20]).tolist() == [4] * 5
        assert_allclose(left_out, oracle.covariance_view(X, X, folds)[0], rtol=1e-9)
        assert_array_equal(left_out[20:], left_out[:3])
        assert_allclose(learned(fit_covariance, reference(X[order]))[1], left_out[order], rtol=1e-9)

    @pytest.mark.parametrize(("n", "d"), [(30, 4), (30, 29), (30, 30), (30, 31), (30, 90)])
    def test_columns_and_rows_give_the_same(self, n, d):
        rng = np.random.default_rng(0)
        X, new = (rng.normal(size=(m, d)) @ np.diag(rng.uniform(1, 3, d)) for m in (n, 9))
        normal = reference(X)
        view, left_out = learned(fit_covariance, normal)
        expected = oracle.covariance_view(X, new, kinds_of(normal)[1] % 5)
        assert view.basis.shape == (d, min(n, d))
        assert_allclose(left_out, expected[0], rtol=1e-9)
        assert_allclose(view.of(Comparison(normal, new)), expected[1], rtol=1e-9)

    def test_columns_that_copy_each_other_are_invertible(self):
        # Two rows of the other folds differ from their mean by the same amount, so that nothing is shrunk but the
        # least share of 1e-9 of the variance: across the only direction, the variance is 1e-9 of that along it.
        normal = reference([[0.0, 0.0], [1.0, 1.0]] * 3)
        view, left_out = learned(fit_covariance, normal)
        across = view.of(Comparison(normal, np.array([[2.0, -1.0]])))
        # (2, -1) is 1.5 * (1, -1) from the mean; the mean variance is 0.25.
        assert_allclose(across, np.log(4.5 / 0.25 * 1e9), rtol=1e-6)
        assert np.isfinite(left_out).all()

    def test_far_rows_are_finite(self):
        normal = reference(np.random.default_rng(0).normal(size=(40, 3)))
        view, _ = learned(fit_covariance, normal)
        values = view.of(Comparison(normal, np.array([[1e90, 0.0, 0.0], [1e250, 0.0, 0.0], [1e300, 1e300, 0.0]])))
        assert np.isfinite(values).all()
        # Coordinates are clipped at 1e120.
        assert values[0] < values[1]
        assert 2 * 120 * np.log(10) - 10 < values[1] < 2 * 120 * np.log(10) + 10

    def test_two_different_rows(self):
        normal = reference([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
        _, left_out = learned(fit_covariance, normal)
        # The rows of the other fold are all equal; their distance counts in the unit of the measure.
        assert_allclose(left_out, left_out[0])
        assert np.isfinite(left_out).all()

    def test_equal_rows_and_other_data_have_none(self):
        for normal in (reference(np.ones((5, 2))), reference([[1.0]])):
            assert learned(fit_covariance, normal) is None
        of_table = tables(pd.DataFrame({"a": [1.0, 2.0, 5.0]}))
        assert "covariance" not in fit_surprise(of_table, None, no_left_out_weights(1))[0].names


class TestCombination:
    def made(self, monkeypatch, neighbours, **helpers):
        """Views of one new row; every helper of the training rows is -1, 0 or 1."""
        view = SimpleNamespace(by_weighting=lambda near: np.array([[neighbours]]))
        known = {
            name: SimpleNamespace(of=lambda rows, value=value: np.array([value])) for name, value in helpers.items()
        }
        training = np.tile([[-1.0], [0.0], [1.0]], (1, len(known)))
        n = 1 + len(known)
        return SurpriseModel(None, view, known, training, np.arange(1.0, n + 1), np.full(n, 2.0), Threshold(0.0, 1.0))

    def test_each_view_is_centred_scaled_and_handicapped(self, monkeypatch):
        made = self.made(monkeypatch, 9.0, far=12.0, covariance=13.0, cell=14.0)
        rows = SimpleNamespace(own=np.array([-1]))
        assert made.names == ("neighbours", "far", "covariance", "cell")
        # (9 - 1) / 2 = 4, (12 - 2) / 2 - 2.5, (13 - 3) / 2 - 1 and (14 - 4) / 2 - 2.5
        assert made.views(rows, []).tolist() == [[4.0, 2.5, 4.0, 2.5]]
        assert made.surprises(None, (rows, [])).tolist() == [4.0]
        assert HANDICAPS == {"far": 2.5, "covariance": 1.0, "cell": 2.5}

    def test_a_copy_keeps_the_helpers_of_its_training_row(self, monkeypatch):
        made = self.made(monkeypatch, 0.0, far=12.0)
        assert made.views(SimpleNamespace(own=np.array([2])), []).tolist() == [[-0.5, (1 - 2) / 2 - 2.5]]

    @pytest.mark.parametrize("n_ties", [10, 80])
    def test_the_unit_is_that_of_the_quartiles_or_a_quarter_of_that_of_the_tails(self, n_ties, monkeypatch):
        values = np.append(np.zeros(n_ties), np.arange(1.0, 101 - n_ties))
        for name, fitted_view in (("fit_far", None), ("fit_covariance", None), ("cells_of", (None, values))):
            monkeypatch.setattr(f"eocc.surprise.model.{name}", lambda *_, fitted_view=fitted_view: fitted_view)
        X = np.random.default_rng(0).normal(size=(100, 1))
        found, _ = fit_surprise(reference(X), None, no_left_out_weights(1))
        low, high = np.quantile(values, [0.25, 0.75])
        least, most = np.quantile(values, [0.05, 0.95])
        units = (high - low) / 1.349, 0.25 * (most - least) / 3.290
        assert (units[0] > units[1]) == (n_ties == 10)
        assert_allclose(found.units[1], max(units))
        assert found.centres[1] == np.median(values)

    def test_a_view_that_does_not_vary_keeps_its_unit(self, monkeypatch):
        monkeypatch.setattr("eocc.surprise.model.fit_far", lambda *_: (None, np.full(9, 3.0)))
        found, _ = fit_surprise(reference(np.arange(9.0)[:, None] ** 2), None, no_left_out_weights(1))
        assert (found.centres[1], found.units[1]) == (3.0, 1.0)

    @pytest.mark.parametrize(
        ("rows", "names"),
        [
            (np.random.default_rng(0).normal(size=(33, 2)), "neighbours, far, covariance, cell"),
            (pd.DataFrame({"a": np.sin(np.arange(33.0)), "b": [*"xyz"] * 11}), "neighbours, far, cell"),
            (["a" * k for k in range(33)], "neighbours, far"),
            (["a" * k for k in range(31)], "neighbours"),
            (np.ones((33, 2)), "neighbours, cell"),
        ],
    )
    def test_which_views_the_data_have(self, rows, names):
        assert SurpriseClassifier().fit(rows)._facts()["views"] == names


class TestWhatTheySee:
    """Made-up data in which one view decides."""

    rng = np.random.default_rng(0)

    def test_neighbours_see_an_empty_place(self):
        angle = self.rng.uniform(0, 2 * np.pi, 300)
        ring = np.column_stack([np.cos(angle), np.sin(angle)]) + self.rng.normal(size=(300, 2)) / 20
        clf = SurpriseClassifier().fit(ring)
        assert decisive(clf, [[0.0, 0.0]]) == ["neighbours"]
        assert clf.predict([[0.0, 0.0]]) == -1

    def test_far_sees_a_clump(self):
        X = self.rng.normal(size=(400, 4))
        X[:20] = 9 + self.rng.normal(size=(20, 4)) / 100
        new = 9 + self.rng.normal(size=(5, 4)) / 100
        clf = SurpriseClassifier().fit(X)
        assert decisive(clf, new) == ["far"] * 5
        found = views_of(clf, new)
        assert (found["neighbours"] < 0).all()
        assert (clf.p_values(new) < 0.07).all()

    def test_covariance_sees_values_that_do_not_go_together(self):
        X = self.rng.normal(size=(300, 12))
        X[:, :6] = X[:, :1] + X[:, :6] / 10  # six columns that rise and fall together
        new = self.rng.normal(size=12)
        new[:6] = 0.7
        new[3] = -0.7
        clf = SurpriseClassifier().fit(X)
        assert decisive(clf, [new]) == ["covariance"]
        assert clf.predict([new]) == -1

    def test_cell_sees_one_of_many_columns_out_of_range(self):
        X = self.rng.uniform(size=(2000, 30))
        new = np.full(30, 0.5) + self.rng.normal(size=30) / 10
        new[4] = 1.9
        clf = SurpriseClassifier().fit(X)
        assert decisive(clf, [new]) == ["cell"]
        assert clf.p_values([new]) < 0.1

    def test_cell_sees_unseen_categories_and_gaps(self):
        n = 300
        frame = pd.DataFrame({f"c{k}": self.rng.choice([*"abcde"], n) for k in range(12)})
        frame["x"] = self.rng.normal(size=n)
        frame.loc[::30, "c0"] = None
        new = frame.iloc[:3].copy()
        new.loc[1, "c5"] = "ZZ"
        new.loc[2, ["c1", "c2", "c3"]] = None
        clf = SurpriseClassifier().fit(frame)
        assert decisive(clf, new)[1:] == ["cell", "cell"]
        assert clf.predict(new).tolist()[1:] == [-1, -1]


class TestExactness:
    def data(self, kind):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(160, 5)) * [1, 2, 5, 1, 9]
        X[100:120] = X[:20]
        X[130:, 1] = 0.0
        new = np.vstack([X[::8], rng.normal(size=(20, 5)) * 4])
        if kind == "wide":
            wide = rng.normal(size=(5, 300))
            return X @ wide, new @ wide
        if kind == "frame":
            frames = (pd.DataFrame(rows[:, :3], columns=[*"abc"]) for rows in (X, new))
            kinds = (np.where(rows[:, 3] > 0, "u", "v") for rows in (X, new))
            return tuple(frame.assign(kind=kind) for frame, kind in zip(frames, kinds, strict=True))
        if kind == "strings":
            return tuple(["".join("abcd"[int(abs(x)) % 4] for x in row) for row in rows] for rows in (X, new))
        return X, new

    KINDS = pytest.mark.parametrize("kind", ["rows", "wide", "frame", "strings"])

    @KINDS
    def test_a_row_scores_the_same_alone_as_in_a_batch(self, kind):
        X, new = self.data(kind)
        clf = SurpriseClassifier().fit(X)
        scores = clf.score_samples(new)
        assert_array_equal([clf.score_samples(new[i : i + 1])[0] for i in range(len(new))], scores)

    @KINDS
    def test_training_rows_and_copies_score_as_left_out(self, kind):
        X, _ = self.data(kind)
        clf = SurpriseClassifier().fit(X)
        assert_array_equal(clf.training_p_values_, clf.p_values(X))
        again = SurpriseClassifier(n_jobs=2).fit(X)
        assert_array_equal(again.training_p_values_, clf.training_p_values_)
        if kind != "strings":
            assert_array_equal(clf.p_values(X)[100:120], clf.p_values(X)[:20])

    @KINDS
    def test_threads_change_nothing(self, kind, monkeypatch):
        X, new = self.data(kind)
        expected = SurpriseClassifier().fit(X).score_samples(new)
        monkeypatch.setattr("eocc.classifiers.learning.BLOCK_ROWS", 7)
        assert_array_equal(SurpriseClassifier(n_jobs=3).fit(X).score_samples(new), expected)

    @KINDS
    def test_the_order_of_the_rows_does_not_matter(self, kind):
        X, new = self.data(kind)
        order = np.random.default_rng(0).permutation(len(X))
        turned = X.iloc[order].reset_index(drop=True) if kind == "frame" else [X[i] for i in order]
        clf, again = SurpriseClassifier().fit(X), SurpriseClassifier().fit(turned)
        for name, values in views_of(clf, new).items():
            assert_allclose(views_of(again, new)[name], values, rtol=1e-6, atol=1e-6, err_msg=name)
        expected = [clf.score_samples(X)[i] for i in order]
        assert_allclose(again.score_samples(turned), expected, rtol=1e-6, atol=1e-9)

    @KINDS
    def test_a_loaded_model_is_the_same(self, kind, tmp_path):
        X, new = self.data(kind)
        clf = SurpriseClassifier().fit(X)
        save(clf, tmp_path / "m.eocc")
        loaded = load(tmp_path / "m.eocc")
        for name, values in views_of(clf, new).items():
            assert_array_equal(views_of(loaded, new)[name], values, err_msg=name)
        assert_array_equal(loaded.score_samples(new), clf.score_samples(new))
        assert_array_equal(loaded.training_p_values_, clf.training_p_values_)

    def test_helpers_learn_from_the_rows_that_are_kept(self):
        X, new = self.data("rows")
        few = SurpriseClassifier(prototypes=80).fit(X)
        alone = SurpriseClassifier().fit(X[few.training_indices_])
        for name, values in views_of(alone, new).items():
            assert_array_equal(views_of(few, new)[name], values, err_msg=name)
        assert len(few.training_p_values_) == 80
        assert_array_equal(few.training_p_values_, few.p_values(X[few.training_indices_]))


def test_exact_copies_of_measured_rows_are_found_and_those_of_discrete_rows_are_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    assert exact_copies(np.vstack([X, X[[3, 3, 5]]])).tolist() == [20, 21, 22]
    assert exact_copies(X).tolist() == []
    assert exact_copies(rng.integers(0, 3, size=(50, 2)).astype(float)).tolist() == []
    assert exact_copies(np.tile(X, (3, 1))).tolist() == list(range(20, 60))
    grid = np.array([[a, b] for a in range(4) for b in range(2)] * 2, float)  # 8 different rows, 4 and 2 values
    assert exact_copies(grid).tolist() == []
    assert exact_copies(np.vstack([grid, [[9.0, 0.0]]])).tolist() == list(range(8, 16))  # 9 different rows, 5 values
    assert exact_copies(["a", "a"]).tolist() == []
