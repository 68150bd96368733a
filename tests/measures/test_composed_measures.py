"""Precomputed blocks, functions and composites."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV

from eocc import EntropicOneClassClassifier
from eocc.entropic.search import GeneticSearch
from eocc.measures import Composite, Euclidean, FunctionMeasure, GraphEdit


def length_gap(a, b):
    return abs(len(a) - len(b))


class TestPrecomputed:
    def blocks(self):
        rng = np.random.default_rng(0)
        x, new = rng.normal(size=(30, 3)), rng.normal(size=(7, 3)) * 2
        return x, new, _distances(x, x), _distances(new, x)

    def test_equals_the_measure_it_was_computed_from(self):
        x, new, square, rectangle = self.blocks()
        one = EntropicOneClassClassifier(search=None).fit(x)
        two = EntropicOneClassClassifier(measure="precomputed").fit(square)
        assert_array_equal(one.labels_, two.labels_)
        assert_allclose(one.score_samples(new), two.score_samples(rectangle), rtol=1e-7, atol=1e-12)
        assert two.weights_.shape == (0,)
        assert len(two.history_) == 1

    def test_with_labels_only_the_targets_columns_count(self):
        _, _, square, _ = self.blocks()
        y = np.array([1] * 22 + [-1] * 8)
        clf = EntropicOneClassClassifier(measure="precomputed", synthesis="validation", random_state=0).fit(square, y)
        assert (y[clf.training_indices_] == 1).all()
        changed = square.copy()
        changed[:, 25] = 99.0  # the column of a non-target
        assert_array_equal(clf.score_samples(changed), clf.score_samples(square))

    def test_grid_search_cuts_rows_and_columns(self):
        _, _, square, _ = self.blocks()
        y = np.array([1] * 15 + [-1] * 15)
        clf = EntropicOneClassClassifier(measure="precomputed", synthesis="validation", random_state=0)
        folds = [(np.r_[0:10, 15:25], np.r_[10:15, 25:30])]
        grid = GridSearchCV(clf, {"beta": [0.2, 0.8]}, scoring="roc_auc", cv=folds, error_score="raise").fit(square, y)
        assert np.isfinite(grid.cv_results_["mean_test_score"]).all()

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (np.ones((3, 2)), "must be square; this block has 2 columns for 3 rows"),
            (np.ones((4, 9)), "must be square; this block has 9 columns for 4 rows"),
            ([[0, np.nan], [1, 0]], "hold NaN or infinity"),
            ([[0, -1.0], [1, 0]], "must not be negative; the smallest is -1"),
            ([[1.0, 0.5], [0.5, 1.0]], r"must be 0 on the diagonal; found 1: are these similarities\?"),
            ([[0.0, 0.5], [0.9, 0.0]], "must be symmetric"),
            ([1.0, 2.0], r"must be a matrix, not of shape \(2,\)"),
            ([["a"]], "must be a matrix of numbers"),
        ],
    )
    def test_bad_blocks(self, X, message):
        with pytest.raises(ValueError, match=message):
            EntropicOneClassClassifier(measure="precomputed").fit(X)

    def test_wrong_columns_at_predict(self):
        _, _, square, rectangle = self.blocks()
        clf = EntropicOneClassClassifier(measure="precomputed").fit(square)
        with pytest.raises(ValueError, match="this block has 29 columns; it needs 30, one per training row"):
            clf.predict(rectangle[:, :29])


def _distances(a, b):
    return np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=2))


class TestFunctions:
    def test_any_function_of_two_objects(self):
        words = ["oak", "elm", "ash", "beech", "larch", "alder", "hazel"]
        clf = EntropicOneClassClassifier(measure=length_gap).fit(words)
        assert clf.predict(["yew", "x" * 50]).tolist() == [1, -1]

    def test_each_training_pair_is_asked_for_once_beyond_the_sample(self):
        calls = []

        def count(a, b):
            calls.append((a, b))
            return abs(a - b)

        EntropicOneClassClassifier(measure=count).fit(list(range(30)))
        assert len(calls) == 30 * 31 // 2 + 10 * 10

    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (lambda a, b: a - b, "must return a finite number >= 0; it returned -"),
            (lambda a, b: max(a - b, 0), r"not symmetric: .* use \(f\(a, b\) \+ f\(b, a\)\) / 2"),
            (lambda a, b: np.nan, "must return a finite number >= 0; it returned nan"),
            (lambda a, b: "far", "must return a number; it returned 'far'"),
        ],
    )
    def test_functions_that_are_no_measure(self, function, message):
        with pytest.raises(ValueError, match=message):
            EntropicOneClassClassifier(measure=function).fit([1, 2, 3])


class TestComposite:
    MEASURE = Composite({"shape": GraphEdit(), "name": FunctionMeasure(length_gap), "numbers": Euclidean()})

    def records(self, n, seed):
        rng = np.random.default_rng(seed)
        return [
            {"shape": nx.path_graph(int(rng.integers(2, 5))), "name": "x" * int(rng.integers(1, 4)),
             "numbers": rng.normal(size=2)}
            for _ in range(n)
        ]  # fmt: skip

    def test_is_the_weighted_mean_of_its_parts(self):
        records = self.MEASURE.read(self.records(8, 0))
        fitted_measure = self.MEASURE.fit(records)
        assert fitted_measure.n_parameters == 3 + 3 + 0 + 2
        assert fitted_measure.parameter_names == [
            "shape", "name", "numbers", "shape[0]", "shape[1]", "shape[2]", "numbers[0]", "numbers[1]",
        ]  # fmt: skip
        p = np.linspace(0.1, 0.8, 8)
        parts = {name: fitted_measure.measures[name].prepare(records.parts[name]) for name in self.MEASURE.measures}
        expected = (
            p[0] * parts["shape"].evaluate(p[3:6])
            + p[1] * parts["name"].evaluate(p[6:6])
            + p[2] * parts["numbers"].evaluate(p[6:8])
        ) / 3
        assert_allclose(fitted_measure.prepare(records).evaluate(p), expected, atol=1e-15)

    def test_fits_records_and_frames_alike(self):
        train, new = self.records(15, 1), self.records(4, 2)
        settings = {"measure": self.MEASURE, "search": GeneticSearch(max_generations=2), "random_state": 0}
        one = EntropicOneClassClassifier(**settings).fit(train)
        two = EntropicOneClassClassifier(**settings).fit(pd.DataFrame(train))
        assert_array_equal(one.weights_, two.weights_)
        assert_array_equal(one.score_samples(new), two.score_samples(pd.DataFrame(new)))
        assert_array_equal(one.score_samples(new), [one.score_samples([record])[0] for record in new])

    def test_the_search_finds_the_part_that_separates(self):
        rng = np.random.default_rng(0)
        records = [{"group": float(k % 2) + 0.01 * rng.normal(), "noise": rng.normal()} for k in range(60)]
        measure = Composite({"group": Euclidean(), "noise": Euclidean()})
        clf = EntropicOneClassClassifier(measure=measure, search="genetic", eta=0.1, random_state=0).fit(records)
        weights = dict(zip(clf.measure_.parameter_names, clf.weights_, strict=True))
        assert weights["group"] * weights["group[0]"] > weights["noise"] * weights["noise[0]"]

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            ([{"shape": nx.path_graph(2), "name": "a"}], "record 0 has no part 'numbers'"),
            ([], "X holds no records"),
            ("records", "records must be a sequence of mappings or a frame, not str"),
            (
                [{"shape": "C-C", "name": "a", "numbers": [1.0]}],
                r"part 'shape': X\[0\]: graphs must be",
            ),
            ([{"shape": nx.path_graph(2), "name": "a", "numbers": ["b"]}], "part 'numbers': could not convert"),
            (
                [{"shape": nx.path_graph(2), "name": "a", "numbers": [np.nan]}],
                "part 'numbers': expected rows of finite numbers",
            ),
            (pd.DataFrame({"name": ["a"]}), "the frame has no column 'shape'; it has 'name'"),
        ],
    )
    def test_bad_records(self, X, message):
        with pytest.raises(ValueError, match=message):
            EntropicOneClassClassifier(measure=self.MEASURE).fit(X)

    @pytest.mark.parametrize(("fitted", "new"), [([1.0, 2.0, 3.0], 5.0), (1.0, [1.0, 2.0, 3.0])])
    def test_rows_of_another_length_at_predict(self, fitted, new):
        clf = EntropicOneClassClassifier(measure=Composite({"x": Euclidean()}), search=None)
        clf.fit([{"x": fitted}, {"x": fitted}])
        with pytest.raises(ValueError, match=r"part 'x': rows have \d numbers; the training rows had \d"):
            clf.predict([{"x": new}])

    def test_bad_parts(self):
        for none in ({}, ["x"]):
            with pytest.raises(ValueError, match="a composite needs a mapping"):
                Composite(none)
        with pytest.raises(ValueError, match="part 'x': unknown measure 'euclid'"):
            Composite({"x": "euclid"})

    def test_parts_by_name_and_by_function(self):
        measure = Composite({"x": "euclidean", "name": length_gap})
        assert measure.measures["x"] == Euclidean()
        assert isinstance(measure.measures["name"], FunctionMeasure)
