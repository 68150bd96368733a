"""Fits and scores of chosen rows: those of one kind, and those without missing values."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eocc.streaming import fit_stream, score_stream
from eocc.tables.table import rows_with
from streams import classifier, entropic, fitted

N = 9000  # more than two chunks of a file
RNG = np.random.default_rng(0)
STATES = np.where(RNG.random(N) < 0.7, "good", "bad")
FRAME = pd.DataFrame(RNG.normal(size=(N, 3)) + 9 * (STATES == "bad")[:, None], columns=["a", "b", "c"])
FRAME["state"] = STATES
GAPS = FRAME.copy()
GAPS.loc[[0, 4095, 4096, 8999, *range(5000, 5005)], "b"] = np.nan
FORMS = ["csv", "parquet", "frames", "npy", "array"]


def kept_of(frame):
    return np.flatnonzero((STATES == "good") & frame.notna().all(axis=1).to_numpy())


def source(frame, form, folder):
    """The frame as a source, and the column that tells the kind with its value."""
    if form in ("csv", "parquet"):
        getattr(frame, f"to_{form}")(folder / f"rows.{form}", index=False)
        return folder / f"rows.{form}", ("state", "good")
    if form == "frames":
        return [frame[:10], frame[10:10], frame[10:]], ("state", "good")
    cells = frame.assign(state=(STATES == "good") * 1.0).to_numpy()
    if form == "npy":
        np.save(folder / "rows.npy", cells)
    return cells if form == "array" else folder / "rows.npy", (3, 1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", [classifier, entropic])
def test_a_fit_to_chosen_rows_equals_a_fit_to_these_rows_alone(tmp_path, form, make):
    rows, where = source(GAPS, form, tmp_path)
    kept = kept_of(GAPS)
    settings = {"false_alarm_rate": 0.1}
    found = fitted(make, rows, 200, settings=settings, where=where, incomplete="skip")
    alone = fitted(make, GAPS.to_numpy()[kept, :3].astype(float), 200, settings=settings)
    assert found.n_rows_seen_ == len(kept)
    assert_array_equal(found.training_indices_, kept[alone.training_indices_])
    new = RNG.normal(size=(50, 3)) * 3
    found.__dict__.pop("feature_names_in_", None)
    assert_array_equal(found.score_samples(new), alone.score_samples(new))
    assert_array_equal(found.predict(new), alone.predict(new))


@pytest.mark.parametrize("outliers", ["bad", ["bad", "worn"]])
def test_known_outliers_of_a_stream_give_the_model_of_a_fit_in_memory(outliers):
    frame, y = FRAME[:600], np.where(STATES[:600] == "good", 1, -1)
    whole = classifier(prototypes=100).fit(frame[["a", "b", "c"]], y)
    chunks = [frame[:250], frame[250:]]
    found = fit_stream(classifier(prototypes=100), chunks, where=("state", "good"), outliers=outliers)
    assert found.surprise_model_.n_outliers == whole.surprise_model_.n_outliers == (y == -1).sum()
    assert_array_equal(found.training_indices_, whole.training_indices_)
    assert_array_equal(found.calibration_.margins, whole.calibration_.margins)
    new = frame[["a", "b", "c"]]
    assert_array_equal(found.score_samples(new), whole.score_samples(new))


def test_outliers_that_cannot_be_used_are_refused():
    chunks = [FRAME[:250]]
    with pytest.raises(ValueError, match="outliers needs where"):
        fit_stream(classifier(), chunks, outliers="bad")
    with pytest.raises(ValueError, match="the source holds no rows with state = 'worn' or 'odd'"):
        fit_stream(classifier(), chunks, where=("state", "good"), outliers=["worn", "odd"])
    with pytest.raises(ValueError, match="outliers is for SurpriseClassifier"):
        fit_stream(entropic(), chunks, where=("state", "good"), outliers="bad")


@pytest.mark.parametrize("form", FORMS)
def test_a_missing_number_is_an_error_unless_the_row_is_skipped_or_not_chosen(tmp_path, form):
    rows, where = source(GAPS, form, tmp_path)
    with pytest.raises(ValueError, match="has no number here"):
        fit_stream(classifier(), rows, where=where)
    others = FRAME.copy()
    others.loc[STATES == "bad", "a"] = np.nan
    rows, where = source(others, form, tmp_path)
    assert fit_stream(classifier(), rows, where=where).n_rows_seen_ == (STATES == "good").sum()


@pytest.mark.parametrize("form", ["csv", "parquet", "frames"])
def test_scores_skip_incomplete_rows_and_keep_row_numbers(tmp_path, form):
    clf = classifier().fit(FRAME[["a", "b", "c"]][:200])
    rows, _ = source(GAPS, form, tmp_path)
    assert score_stream(clf, rows, tmp_path / "scores.csv").n_rows == N
    found = score_stream(clf, rows, tmp_path / "scores.csv", incomplete="skip")
    complete = np.flatnonzero(GAPS.notna().all(axis=1))
    assert found.n_rows == len(complete) == N - 9
    table = pd.read_csv(tmp_path / "scores.csv")
    assert_array_equal(table["row"], complete)
    assert_allclose(table["score"], clf.score_samples(GAPS[["a", "b", "c"]].iloc[complete]), rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": "state"}, r"where must be a column and its value, for example \('state', 'good'\), not 'state'"),
        ({"where": ("stat", "good")}, "no column 'stat'"),
        ({"where": ("state", "best")}, "the source holds no rows with state = 'best'; at least 1 is required"),
        ({"incomplete": "drop"}, "unknown value of incomplete 'drop'; known: 'refuse', 'skip'"),
    ],
)
@pytest.mark.parametrize("form", ["csv", "frames"])
def test_impossible_choices_are_errors(tmp_path, form, options, message):
    rows, _ = source(FRAME[:50], form, tmp_path) if form == "csv" else ([FRAME[:50]], None)
    with pytest.raises(ValueError, match=message):
        fit_stream(classifier(), rows, **options)


def test_a_source_of_incomplete_rows_holds_no_rows():
    with pytest.raises(ValueError, match="holds no rows with 1 = '1' without missing values"):
        fit_stream(classifier(), np.array([[np.nan, 1.0], [2.0, 0.0]]), where=(1, 1), incomplete="skip")


def test_values_match_as_text_number_or_truth_value():
    assert rows_with([1, 1.0, True, "1", "1.0", None, np.nan], 1).tolist() == [1, 1, 0, 1, 0, 0, 0]
    assert rows_with([True, False, "true", [1]], "true").tolist() == [1, 0, 1, 0]
    assert rows_with(np.array(["x", " x", "y"]), "x").tolist() == [1, 1, 0]
    assert rows_with([], "x").tolist() == []
