"""pandas and polars, and the pipelines, searches and configuration of scikit-learn."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import Parallel, delayed
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  # makes HalvingGridSearchCV importable
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import eocc
from doubles import plain
from eocc import SurpriseClassifier
from eocc.entropic.search import GeneticSearch
from eocc.tables import TableWarning

NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
FRAMES = {"pandas": lambda X: pd.DataFrame(X, columns=NAMES), "polars": lambda X: pl.DataFrame(X, schema=NAMES)}
# A scaler's sums round otherwise where a frame keeps its columns apart.
ROUNDED = {"rtol": 1e-9, "atol": 1e-12}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


def scaled():
    return make_pipeline(StandardScaler(), plain())


def target_folds(y, n_splits=3):
    """Folds whose training part is the targets alone."""
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=0).split(y, y)
    return [(train[y[train] == 1], test) for train, test in folds]


# frames


@frames
def test_a_frame_gives_the_model_of_its_array(frame, iris, setosa):
    X, _ = iris
    from_frame, from_array = plain().fit(frame(setosa)), plain().fit(setosa)
    assert_array_equal(from_frame.score_samples(frame(X)), from_array.score_samples(X))
    assert_array_equal(from_frame.transform(frame(X)), from_array.transform(X))


@frames
def test_the_names_of_the_columns_are_kept(frame, setosa):
    clf = plain().fit(frame(setosa))
    assert clf.feature_names_in_.tolist() == NAMES
    assert clf.n_features_in_ == 4


@frames
def test_results_are_arrays_whatever_comes_in(frame, setosa):
    clf = plain().fit(frame(setosa))
    results = [clf.predict, clf.decision_function, clf.score_samples, clf.membership, clf.transform]
    assert [type(result(frame(setosa))) for result in results] == [np.ndarray] * 5


@frames
def test_columns_in_another_order_are_an_error(frame, setosa):
    clf = plain().fit(frame(setosa))
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        clf.predict(frame(setosa)[NAMES[::-1]])


@frames
def test_missing_columns_are_named(frame, setosa):
    clf = plain().fit(frame(setosa))
    with pytest.raises(ValueError, match="now missing:\n- petal width"):
        clf.predict(frame(setosa)[NAMES[:3]])


@frames
def test_names_on_one_side_only_are_a_warning(frame, setosa):
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        plain().fit(frame(setosa)).predict(setosa)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        plain().fit(setosa).predict(frame(setosa))


@frames
def test_a_model_of_one_kind_of_frame_reads_the_other(frame, setosa):
    clf = plain().fit(frame(setosa))
    assert_array_equal(clf.predict(FRAMES["pandas"](setosa)), clf.predict(FRAMES["polars"](setosa)))


def test_a_refit_forgets_the_names(setosa):
    clf = plain().fit(FRAMES["pandas"](setosa)).fit(setosa)
    assert not hasattr(clf, "feature_names_in_")


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_columns_that_may_hold_nulls_are_read_if_they_hold_none(backend, setosa):
    frame = FRAMES["pandas"](setosa).convert_dtypes(dtype_backend=backend)
    assert_array_equal(plain().fit(frame).score_samples(frame), plain().fit(setosa).score_samples(setosa))


@frames
def test_a_missing_number_in_training_needs_a_measure_that_allows_it(frame, setosa):
    X = frame(np.vstack([setosa, [[np.nan, 1.0, 1.0, 1.0]]]))
    with pytest.raises(ValueError, match="contains NaN"):
        plain(measure="euclidean").fit(X)
    assert plain().fit(X).weights_.shape == (4,)


@frames
def test_a_missing_number_in_a_new_row_is_filled_from_the_nearest_rows(frame, setosa):
    gaps, filled = setosa.copy(), setosa.copy()
    gaps[:3, 1] = np.nan
    for row in range(3):
        apart = (np.abs(setosa - setosa[row]) / np.ptp(setosa, axis=0))[:, [0, 2, 3]].sum(axis=1)
        near = np.sort(setosa[apart <= np.sort(apart)[7] * (1 + 1e-9), 1])
        filled[row, 1] = near[(len(near) - 1) // 2]
    for clf in (plain(), SurpriseClassifier(), SurpriseClassifier(measure="standardised")):
        clf.fit(frame(setosa))
        one, known = (clf.explain(frame(rows))[0] for rows in (gaps, filled))
        if isinstance(clf, SurpriseClassifier):
            # The cell view sees a gap that no normal row has; all others see the filled row.
            assert one.decided_by == "cell"
            assert not one.is_target
            for name in ("neighbours", "far", "covariance"):
                assert one.views[name] == pytest.approx(known.views[name], rel=1e-9)
        else:
            assert_allclose(clf.score_samples(frame(gaps)), clf.score_samples(frame(filled)), rtol=1e-9)
            assert one.how_far_out == pytest.approx(known.how_far_out, rel=1e-9)
        assert f"missing (counted as {filled[0, 1]:g}, as in the nearest training rows)" in one.detail
        assert "NaN" not in json.dumps(one.to_dict())
        with pytest.raises(ValueError, match="'inf' is not a finite number"):
            clf.predict(frame(np.where(np.isnan(gaps), np.inf, gaps)))


@frames
def test_validation_patterns_must_have_the_names_of_the_training_frame(frame, iris):
    X, y = iris
    clf, training, validating = plain(synthesis="validation"), frame(X[:40]), frame(X[40:])
    fitted = clone(clf).fit(training, validation=(validating, y[40:]))
    assert_array_equal(
        fitted.score_samples(training), clone(clf).fit(X[:40], validation=(X[40:], y[40:])).score_samples(X[:40])
    )
    with pytest.raises(ValueError, match="same order"):
        clf.fit(training, validation=(validating[NAMES[::-1]], y[40:]))


@pytest.mark.parametrize("series", [pl.Series, lambda y: pd.Series(y, index=range(len(y), 0, -1))])
def test_labels_count_by_position_not_by_index(series, iris):
    X, y = iris
    clf = plain(synthesis="validation", random_state=0)
    expected = clone(clf).fit(X, y).training_indices_
    assert_array_equal(clf.fit(X, series(y)).training_indices_, expected)


@pytest.mark.parametrize("series", [pd.Series, pl.Series])
def test_a_series_of_strings_is_a_sequence_of_patterns(series):
    words = ["house", "mouse", "horse", "qqqq"]
    clf = plain(measure="string-edit").fit(series(words))
    assert_array_equal(clf.score_samples(series(words)), plain(measure="string-edit").fit(words).score_samples(words))


def test_gower_knows_columns_by_name_in_any_order_and_from_either_frame():
    table = pd.DataFrame({"load": [1.0, 2.0, 4.0, 8.0, 2.5], "kind": ["fan", "fan", "pump", "pump", "fan"]})
    clf = plain(measure="gower").fit(table)
    expected = clf.score_samples(table)
    assert_array_equal(clf.score_samples(table[["kind", "load"]]), expected)
    assert_array_equal(clf.score_samples(pl.from_pandas(table)), expected)
    with pytest.raises(ValueError, match="has no column 'kind'"):
        clf.predict(table[["load"]])


# pipelines and configuration


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_pipeline_hands_the_names_on_where_its_steps_give_frames(output, iris, setosa):
    X = FRAMES["pandas"](iris[0])
    expected = scaled().fit(setosa).score_samples(iris[0])
    by_step = scaled().set_output(transform=output).fit(FRAMES["pandas"](setosa))
    assert by_step[-1].feature_names_in_.tolist() == NAMES
    assert_allclose(by_step.score_samples(X), expected, **ROUNDED)
    with config_context(transform_output=output):
        by_config = scaled().fit(FRAMES["pandas"](setosa))
        assert by_config[-1].feature_names_in_.tolist() == NAMES
        assert_allclose(by_config.score_samples(X), expected, **ROUNDED)


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_a_table_of_mixed_columns_goes_through_a_column_transformer(output, setosa):
    table = FRAMES["pandas"](setosa).assign(flower=np.where(setosa[:, 0] > 5, "large", "small"))
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), NAMES), ("names", OneHotEncoder(sparse_output=False), ["flower"])]
    )
    coded = np.column_stack([StandardScaler().fit_transform(setosa), setosa[:, 0] > 5, setosa[:, 0] <= 5])
    with config_context(transform_output=output):
        pipeline = make_pipeline(columns, plain()).fit(table)
        assert_allclose(pipeline.score_samples(table), plain().fit(coded).score_samples(coded), **ROUNDED)


def test_labels_pass_through_a_pipeline(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), plain(synthesis="validation", random_state=0)).fit(X, y)
    alone = plain(synthesis="validation", random_state=0).fit(StandardScaler().fit_transform(X), y)
    assert_allclose(pipeline[-1].fuzzy_model_.extents, alone.fuzzy_model_.extents, rtol=1e-6)


def test_a_sparse_matrix_is_compared_as_an_array():
    colours = pd.DataFrame({"colour": list("abcdefabcdef")})
    sparse, dense = (make_pipeline(OneHotEncoder(sparse_output=one), plain()).fit(colours) for one in (True, False))
    assert_array_equal(sparse.score_samples(colours), dense.score_samples(colours))


def test_a_huge_sparse_matrix_is_an_error():
    with pytest.raises(ValueError, match="sparse matrix of 100,000 x 100,000 cells, too many"):
        plain().fit(csr_array((100_000, 100_000)))


@pytest.mark.parametrize("file", [False, True])
def test_a_mixed_frame_names_its_features(file, tmp_path):
    frame = pd.DataFrame({"id": [f"r{k}" for k in range(40)], "load": np.arange(40.0) % 7, "state": ["a", "b"] * 20})
    with pytest.warns(TableWarning, match="not compared: 'id'"):
        model = SurpriseClassifier().fit(frame)
    if file:
        model.save(tmp_path / "m.eocc")
        model = eocc.load(tmp_path / "m.eocc")
    assert (model.n_features_in_, model.feature_names_in_.tolist()) == (2, ["load", "state"])


def test_a_column_with_a_single_value_is_a_warning(setosa):
    frame = FRAMES["pandas"](setosa).assign(month=1)
    for table in (frame, frame.assign(state=["a", "b"] * 25)):
        with pytest.warns(TableWarning, match="month is always 1: a row with any other value will be rejected"):
            model = SurpriseClassifier().fit(table)
        assert (model.predict(table.assign(month=2)) == -1).all()


def test_one_row_of_a_frame_is_an_error_that_says_how_to_pass_it(setosa):
    mixed = pd.DataFrame({"load": [1.0, 2.5, 3.5], "state": ["a", "b", "a"]})
    for frame in (mixed, FRAMES["pandas"](setosa)):
        with pytest.raises(ValueError, match=r"df.iloc\[\[0\]\]"):
            SurpriseClassifier().fit(frame).predict(frame.iloc[0])


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_is_an_array():
    for cells in ([[1, "a"], [2, "b"], [4, "a"]] * 4, [[1.0, 2.0], [3.0, 1.0], [4.0, 0.0]] * 4):
        array = np.array(cells, object if isinstance(cells[0][1], str) else float)
        found, expected = (SurpriseClassifier().fit(X).score_samples(X) for X in (np.matrix(array), array))
        assert_array_equal(found, expected)


def test_a_validation_set_reaches_its_step_by_name_and_as_it_is(iris):
    X, y = iris
    scaler = StandardScaler().fit(X[:40])
    prepared = scaler.transform(X[40:]), y[40:]
    pipeline = make_pipeline(StandardScaler(), plain(synthesis="validation"))
    pipeline.fit(X[:40], entropiconeclassclassifier__validation=prepared)
    alone = plain(synthesis="validation").fit(scaler.transform(X[:40]), validation=prepared)
    assert_allclose(pipeline[-1].fuzzy_model_.extents, alone.fuzzy_model_.extents, rtol=1e-6)


def test_a_validation_set_is_routed_to_the_step_that_asks_for_it(iris):
    X, y = iris
    scaler = StandardScaler().fit(X[:40])
    prepared = scaler.transform(X[40:]), y[40:]
    with config_context(enable_metadata_routing=True):
        clf = plain(synthesis="validation").set_fit_request(validation=True)
        pipeline = make_pipeline(StandardScaler(), clf).fit(X[:40], validation=prepared)
        alone = plain(synthesis="validation").fit(scaler.transform(X[:40]), validation=prepared)
        assert_allclose(pipeline[-1].fuzzy_model_.extents, alone.fuzzy_model_.extents, rtol=1e-6)
        scores = cross_validate(
            clf, X[:40], y[:40], cv=4, scoring="accuracy", params={"validation": (X[40:], y[40:])}, error_score="raise"
        )["test_score"]
    folds = StratifiedKFold(4).split(X[:40], y[:40])
    refits = [plain(synthesis="validation").fit(X[train], validation=(X[40:], y[40:])) for train, _ in folds]
    tests = [test for _, test in StratifiedKFold(4).split(X[:40], y[:40])]
    assert_allclose(scores, [(clf.predict(X[test]) == 1).mean() for clf, test in zip(refits, tests, strict=True)])


def test_a_validation_set_that_no_step_asked_for_is_an_error(iris):
    X, y = iris
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=r"\[validation\] are passed but are not explicitly set"),
    ):
        make_pipeline(StandardScaler(), plain(synthesis="validation")).fit(X[:40], validation=(X[40:], y[40:]))


# cross-validation and searches


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy"])
def test_cross_validation_scores_models_of_targets_alone(scoring, iris):
    X, y = iris
    folds = target_folds(y)
    scores = cross_val_score(plain(), X, y, cv=folds, scoring=scoring, error_score="raise")
    for found, (train, test) in zip(scores, folds, strict=True):
        clf = plain().fit(X[train])
        by_hand = {
            "roc_auc": roc_auc_score(y[test], clf.score_samples(X[test])),
            "accuracy": (clf.predict(X[test]) == y[test]).mean(),
        }
        assert_allclose(found, by_hand[scoring])


def test_an_integer_for_folds_does_not_stratify_as_for_every_outlier_detector(iris):
    X, y = iris
    with pytest.warns(UndefinedMetricWarning, match="Only one class is present"):
        cross_val_score(plain(), X, y, cv=3, scoring="roc_auc")  # the rows of iris are sorted by class


def test_scores_of_held_out_targets(setosa):
    held_out = cross_val_predict(plain(), setosa, cv=5, method="decision_function")
    assert_array_equal(held_out[:10], plain().fit(setosa[10:]).decision_function(setosa[:10]))


def test_a_learning_curve_trains_on_more_and_more_targets(iris):
    X, y = iris
    sizes, _, scores = learning_curve(
        plain(), X, y, cv=target_folds(y), scoring="accuracy", train_sizes=[0.5, 1.0], error_score="raise"
    )
    assert sizes.tolist() == [16, 33]
    assert scores.shape == (2, 3)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_search_finds_what_a_loop_finds(n_jobs, iris):
    X, y = iris
    folds = target_folds(y)
    tried = GridSearchCV(
        scaled(),
        {"entropiconeclassclassifier__extent": ["mean", "max"]},
        scoring="balanced_accuracy",
        cv=folds,
        refit=False,
        n_jobs=n_jobs,
        error_score="raise",
    ).fit(X, y)
    for extent, found in zip(["mean", "max"], tried.cv_results_["mean_test_score"], strict=True):
        pipeline = make_pipeline(StandardScaler(), plain(extent=extent))
        assert found == cross_val_score(pipeline, X, y, cv=folds, scoring="balanced_accuracy").mean()


def test_a_grid_search_with_validation_refits_on_the_targets(iris):
    X, y = iris
    clf = plain(synthesis="validation", random_state=0)
    tried = GridSearchCV(
        clf, {"extent": ["mean", "max"]}, scoring="roc_auc", cv=StratifiedKFold(3), error_score="raise"
    )
    tried.fit(X, y)
    best = clone(clf).set_params(**tried.best_params_).fit(X, y)
    assert_array_equal(tried.score_samples(X), best.score_samples(X))
    assert (y[tried.best_estimator_.training_indices_] == 1).all()


def test_a_halving_search_gives_the_better_settings_more_patterns(iris):
    X, y = iris
    grid = {"eta": [0.2, 0.8], "extent": ["mean", "max"]}
    tried = HalvingGridSearchCV(
        plain(synthesis="validation", random_state=0),
        grid,
        scoring="balanced_accuracy",
        cv=StratifiedKFold(3),
        random_state=0,
        error_score="raise",
    ).fit(X, y)
    assert tried.n_candidates_ == [4, 2]
    assert tried.n_resources_ == [50, 150]
    survivors = tried.cv_results_["mean_test_score"][tried.cv_results_["iter"] == 1]
    assert tried.best_score_ == survivors.max()
    assert (y[tried.best_estimator_.training_indices_] == 1).all()


def test_a_halving_search_takes_folds_of_targets_alone(iris):
    X, y = iris
    tried = HalvingGridSearchCV(
        plain(),
        {"extent": ["mean", "median", "max"]},
        scoring="accuracy",
        cv=target_folds(y),
        refit=False,
        min_resources=50,
        random_state=0,
        error_score="raise",
    ).fit(X, y)
    last = tried.cv_results_["iter"] == tried.n_iterations_ - 1
    extent = tried.best_params_["extent"]
    whole = cross_val_score(plain(extent=extent), X, y, cv=target_folds(y), scoring="accuracy").mean()
    assert tried.n_resources_ == [50, 150]
    assert tried.cv_results_["mean_test_score"][last].max() == whole


# copies and workers


def test_a_clone_of_a_model_with_objects_for_arguments_fits_the_same(iris, setosa):
    clf = plain(search=GeneticSearch(max_generations=2), random_state=0).fit(setosa)
    assert_array_equal(clone(clf).fit(setosa).score_samples(iris[0]), clf.score_samples(iris[0]))


@frames
def test_a_pickled_pipeline_scores_the_same_and_keeps_the_names(frame, setosa):
    pipeline = scaled().fit(frame(setosa))
    again = pickle.loads(pickle.dumps(pipeline))
    assert_array_equal(again.score_samples(frame(setosa)), pipeline.score_samples(frame(setosa)))
    assert again.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_fit_and_score_as_one_process_does(backend, setosa):
    folds = [setosa[:30], setosa[10:40], setosa[20:]]
    models = Parallel(n_jobs=2, backend=backend)(delayed(plain().fit)(fold) for fold in folds)
    scores = Parallel(n_jobs=2, backend=backend)(delayed(clf.score_samples)(setosa) for clf in models)
    assert_array_equal(scores, [plain().fit(fold).score_samples(setosa) for fold in folds])


@pytest.mark.parametrize("clf", [SurpriseClassifier(prototypes=7), plain(prototypes=7, random_state=0)])
@pytest.mark.parametrize(("output", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_transform_gives_frames_alone_and_as_the_last_step_of_a_pipeline(clf, output, kind, setosa):
    names = [f"{type(clf).__name__.lower()}{k}" for k in range(7)]
    alone = clone(clf).set_output(transform=output).fit(setosa).transform(setosa)
    pipeline = make_pipeline(StandardScaler(), clone(clf)).set_output(transform=output).fit(FRAMES[output](setosa))
    for found in (alone, pipeline.transform(FRAMES[output](setosa))):
        assert isinstance(found, kind)
        assert list(found.columns) == names
        assert found.shape == (50, 7)


def test_a_warning_names_the_line_of_the_user():
    with pytest.warns(UserWarning, match="no -1") as told:
        SurpriseClassifier().fit(np.eye(4), [0, 1, 1, 1])
    assert told[0].filename == __file__
