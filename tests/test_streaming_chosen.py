"""Rows of one kind, and rows that miss no value, of sources larger than memory."""

import csv

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eocc import load
from eocc.cli import main
from eocc.streaming import fit_stream, score_stream
from eocc.streaming.chosen import Chosen
from streams import classifier

N = 9000  # more than two chunks
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
@pytest.mark.parametrize("resolution", ["multi", "single"])
def test_a_fit_to_some_rows_is_that_to_these_alone(tmp_path, form, resolution):
    rows, where = source(GAPS, form, tmp_path)
    kept = kept_of(GAPS)
    options = {"resolution": resolution, "false_alarm_rate": 0.1}
    found = fit_stream(classifier(**options), rows, sample=200, where=where, incomplete="skip")
    alone = fit_stream(classifier(**options), GAPS.to_numpy()[kept, :3].astype(float), sample=200)
    assert found.n_rows_seen_ == len(kept)
    assert_array_equal(found.training_indices_, kept[alone.training_indices_])
    new = RNG.normal(size=(50, 3)) * 3
    found.__dict__.pop("feature_names_in_", None)
    assert_array_equal(found.score_samples(new), alone.score_samples(new))
    assert_array_equal(found.predict(new), alone.predict(new))
    assert_allclose(found.column_statistics_.mean, alone.column_statistics_.mean, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_rows_that_miss_a_number_end_a_fit_unless_they_are_skipped_or_of_another_kind(tmp_path, form):
    rows, where = source(GAPS, form, tmp_path)
    with pytest.raises(ValueError, match=r"has no number here|holds nan, no finite number"):
        fit_stream(classifier(), rows, sample=100, where=where)
    others = FRAME.copy()
    others.loc[STATES == "bad", "a"] = np.nan
    rows, where = source(others, form, tmp_path)
    assert fit_stream(classifier(), rows, sample=100, where=where).n_rows_seen_ == (STATES == "good").sum()


@pytest.mark.parametrize("form", ["csv", "parquet", "frames"])
def test_scores_skip_rows_and_keep_their_numbers(tmp_path, form):
    clf = classifier().fit(FRAME[["a", "b", "c"]][:200])
    rows, _ = source(GAPS, form, tmp_path)
    with pytest.raises(ValueError, match=r"has no number here|holds nan, no finite number"):
        score_stream(clf, rows, tmp_path / "scores.csv")
    assert not (tmp_path / "scores.csv").exists()
    found = score_stream(clf, rows, tmp_path / "scores.csv", incomplete="skip")
    complete = np.flatnonzero(GAPS.notna().all(axis=1))
    assert found.n_rows == len(complete) == N - 9
    table = pd.read_csv(tmp_path / "scores.csv")
    assert_array_equal(table["pattern"], complete)
    assert_allclose(table["score"], clf.score_samples(GAPS[["a", "b", "c"]].iloc[complete]), rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": "state"}, r"where must be a column and its value, \('state', 'good'\) say, not 'state'"),
        ({"where": ("stat", "good")}, "no column 'stat'"),
        ({"where": ("state", "best")}, "the source holds no rows with state = 'best'; at least 1 is required"),
        ({"incomplete": "drop"}, "unknown way with incomplete rows 'drop'; known: 'refuse', 'skip'"),
    ],
)
@pytest.mark.parametrize("form", ["csv", "frames"])
def test_choices_that_cannot_be_are_told(tmp_path, form, options, message):
    rows, _ = source(FRAME[:50], form, tmp_path) if form == "csv" else ([FRAME[:50]], None)
    with pytest.raises(ValueError, match=message):
        fit_stream(classifier(), rows, sample=20, **options)


def test_a_source_of_gaps_alone_holds_no_rows():
    with pytest.raises(ValueError, match="holds no rows with 1 = '1' that miss no value"):
        fit_stream(classifier(), np.array([[np.nan, 1.0], [2.0, 0.0]]), where=(1, 1), incomplete="skip")


def test_labels_are_the_same_text_number_or_truth_value():
    assert Chosen(("y", 1)).of_kind([1, 1.0, True, "1", "1.0", None, np.nan]).tolist() == [1, 1, 0, 1, 0, 0, 0]
    assert Chosen(("y", "true")).of_kind([True, False, "true", [1]]).tolist() == [1, 0, 1, 0]
    assert Chosen(("y", "x")).of_kind(np.array(["x", " x", "y"])).tolist() == [1, 1, 0]
    assert Chosen(("y", "x")).of_kind([]).tolist() == []


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.mark.parametrize("form", ["csv", "npy"])
def test_the_command_learns_from_a_sample_of_the_targets(tmp_path, capsys, form):
    rows, (column, value) = source(GAPS, form, tmp_path)
    command = ["fit", rows, "-o", tmp_path / "m.eocc", "--sample", 200, "--label", column, "--target", value]
    assert run(*command, "--drop", "c" if form == "csv" else 2) == 1
    assert "--skip-incomplete leaves such rows out" in capsys.readouterr().err
    assert run(*command, "--drop", "c" if form == "csv" else 2, "--skip-incomplete") == 0
    kept = kept_of(GAPS)
    said = f"Seen: {len(kept):,} rows with {column} = '{value}' that miss no value; learnt from 200 of them."
    assert said in capsys.readouterr().err
    alone = fit_stream(
        classifier(measure="standardised", random_state=0, prototypes=None),
        GAPS.to_numpy()[kept, :2].astype(float),
        sample=200,
    )
    found = load(tmp_path / "m.eocc")
    found.__dict__.pop("feature_names_in_", None)
    assert_array_equal(found.score_samples(np.eye(2)), alone.score_samples(np.eye(2)))
    assert run("plan", rows, "--sample", 9000, "--label", column, "--target", value, "--skip-incomplete") == 0
    assert f"{len(kept):,} patterns to learn from" in capsys.readouterr().err


def test_a_fit_of_the_whole_leaves_incomplete_rows_out_where_asked(tmp_path, capsys):
    rows, _ = source(GAPS[:5001], "csv", tmp_path)
    command = ["fit", rows, "-o", tmp_path / "m.eocc", "--label", "state", "--target", "good", "--prototypes", 64]
    assert run(*command, "--skip-incomplete") == 0
    said = capsys.readouterr().err
    assert "Note: 4 rows left out, for values that are missing: pattern 0, 4095, 4096, 5000.\n" in said
    assert "Compared by standardised" in said
    assert load(tmp_path / "m.eocc").measure == "standardised"
    assert run("score", tmp_path / "m.eocc", rows, "-o", tmp_path / "s.csv", "--skip-incomplete") == 0
    with (tmp_path / "s.csv").open() as file:
        assert [row["pattern"] for row in csv.DictReader(file)][:2] == ["1", "2"]


def test_records_may_have_gaps_or_be_left_out(tmp_path, capsys):
    (tmp_path / "r.csv").write_text("a,s\n" + "1,x\n2,y\n,x\n3,\n" * 5)
    assert run("fit", tmp_path / "r.csv", "-o", tmp_path / "m.eocc") == 0
    for options, count in (((), 20), (("--skip-incomplete",), 10)):
        capsys.readouterr()
        assert run("score", tmp_path / "m.eocc", tmp_path / "r.csv", "--format", "csv", *options) == 0
        assert len(capsys.readouterr().out.splitlines()) == 1 + count
