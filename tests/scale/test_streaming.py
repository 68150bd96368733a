"""Fits and scores of sources larger than memory: the rows kept, the threshold from all rows, the files written."""

import csv
import tracemalloc
from itertools import pairwise

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import eocc
from eocc.base.threads import in_order
from eocc.formats.files.formats import open_files
from eocc.space.prototypes.content import Census, Sketch
from eocc.streaming import fit_stream, score_stream
from streams import ROWS, Twice, chunked, classifier, entropic, fitted, write_csv, write_parquet


def state_of(clf):
    margins = clf.calibration_ and clf.calibration_.margins.tolist()
    return clf.prototypes_.tolist(), clf.training_indices_.tolist(), clf.threshold_, clf.offset_, margins, clf._facts()


@given(cuts=st.lists(st.integers(0, 200), max_size=6))
def test_the_rows_are_chosen_by_content_whatever_the_chunks(cuts):
    rows = ROWS[:200]
    bounds = [0, *sorted(cuts), 200]
    clf = fit_stream(classifier(prototypes=50, n_jobs=2), [rows[a:b] for a, b in pairwise(bounds)])
    expected = Sketch(Census().add(rows), 50).add(rows, np.arange(200)).kept().numbers
    assert_array_equal(clf.training_indices_, expected)


@pytest.mark.parametrize("make", [classifier, entropic])
@pytest.mark.parametrize("settings", [{}, {"prototypes": None, "false_alarm_rate": 0.2}])
def test_a_source_within_the_sample_gives_the_model_of_fit(make, settings):
    rows = ROWS[:80]
    assert state_of(fit_stream(make(**settings), chunked(rows, 13))) == state_of(make(**settings).fit(rows))


@pytest.mark.parametrize("settings", [{"prototypes": 120}, {"prototypes": None}, {"prototypes": 0.5, "n_jobs": 2}, {}])
def test_a_stream_gives_the_model_of_a_fit_in_memory(settings):
    whole = classifier(**settings).fit(ROWS)
    for step in (41, 300, 900):
        clf = fit_stream(classifier(**settings), chunked(ROWS, step))
        assert state_of(clf) == state_of(whole)
        assert_array_equal(clf.score_samples(ROWS), whole.score_samples(ROWS))


@pytest.mark.parametrize("step", [150, 1100])
def test_copies_and_products_do_not_change_that(step):
    # 8 columns and more than 512 different prototypes are compared by products.
    rows = np.random.default_rng(10).normal(size=(3000, 8))
    rows[:1500] = rows[: 1500 // 30].repeat(30, axis=0)
    whole = classifier(prototypes=1200).fit(rows)
    clf = fit_stream(classifier(prototypes=1200, n_jobs=2), chunked(rows, step))
    assert len(np.unique(clf.prototypes_, axis=0)) > 512
    assert state_of(clf) == state_of(whole)


def test_the_order_of_the_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(900)
    one, other = (fit_stream(classifier(prototypes=100), chunked(rows, 80)) for rows in (ROWS, ROWS[order]))
    assert_array_equal(np.sort(order[other.training_indices_]), one.training_indices_)
    assert_allclose(other.score_samples(ROWS), one.score_samples(ROWS), rtol=1e-9)


def test_the_threshold_is_that_of_all_rows_with_the_kept_ones_left_out():
    clf = fit_stream(classifier(prototypes=120, false_alarm_rate=0.1), chunked(ROWS, 41))
    alone = classifier(prototypes=None, false_alarm_rate=0.1).fit(ROWS[clf.training_indices_])
    assert_array_equal(clf.prototypes_, alone.prototypes_)
    surprises = alone._calibration_values(ROWS)
    # floor(0.1 * 901) = 90: the ninetieth largest of 900.
    threshold = clf.surprise_model_.threshold.value
    assert threshold == pytest.approx(np.sort(surprises)[-90], rel=1e-12)
    assert threshold != alone.surprise_model_.threshold.value
    assert len(clf.calibration_.margins) == 900
    new = np.random.default_rng(1).uniform(-4, 10, size=(500, 3))
    assert_array_equal(clf.predict(new) == 1, clf.p_values(new) > 0.1)
    exact = (1 + (surprises[None] >= clf._calibration_values(new)[:, None]).sum(axis=1)) / 901
    assert_allclose(clf.p_values(new), exact, rtol=1e-12)


def test_kept_rows_with_copies_are_calibrated_as_new_rows():
    # Half of the rows are present twice. All rows that are kept count as calibrated by the fit, all others as new.
    rows = np.vstack([ROWS[:300], ROWS[:300]])
    clf = fit_stream(classifier(prototypes=400, false_alarm_rate=0.1), chunked(rows, 41))
    kept, rest = clf.training_indices_, np.delete(np.arange(600), clf.training_indices_)
    alone = classifier(prototypes=None, false_alarm_rate=0.1)
    alone._read(rows[kept], reset=True)
    as_new = alone._learn(rows[kept], kept, None)
    assert (as_new > alone._calibration_values(rows[kept]) + 0.01).any()
    surprises = np.concatenate([as_new, alone._calibration_values(rows[rest])])
    assert clf.surprise_model_.threshold.value == pytest.approx(np.sort(surprises)[-60], rel=1e-12)


def test_a_rate_needs_rows_to_calibrate_on_not_rows_to_compare_with():
    clf = fit_stream(classifier(prototypes=20, false_alarm_rate=0.002), chunked(ROWS, 100))
    assert clf.calibration_.rate == 0.002
    assert clf.p_values(ROWS).min() == 2 / 901


@pytest.mark.parametrize("make", [classifier, entropic])
def test_the_number_of_rows_is_that_of_all_rows(make):
    clf = fitted(make, chunked(ROWS, 71), 150)
    assert clf.n_rows_seen_ == 900


def test_the_entropic_classifier_is_calibrated_on_the_rows_not_sampled():
    clf = fit_stream(entropic(false_alarm_rate=0.1), chunked(ROWS, 100), sample=100)
    plain = entropic().fit(ROWS[clf.training_indices_])
    rest = np.delete(np.arange(900), clf.training_indices_)
    margins = np.sort(plain.decision_function(ROWS[rest]))
    assert clf.threshold_ == margins[int(0.1 * 801) - 1]
    assert clf.offset_ == plain.offset_ + clf.threshold_
    assert (clf.predict(ROWS[rest]) == -1).mean() <= 0.1


def test_the_entropic_classifier_without_a_rate_is_not_calibrated():
    clf = fit_stream(entropic(), chunked(ROWS, 100), sample=100)
    assert clf.threshold_ == 0
    assert clf.calibration_ is None


@pytest.mark.parametrize("make", [classifier, entropic])
def test_new_normal_rows_are_rejected_at_the_rate(make):
    rng = np.random.default_rng(2)
    found = [
        (fitted(make, [rng.normal(size=(2000, 3))], 100, settings={"false_alarm_rate": 0.05}).predict(
            rng.normal(size=(2000, 3))) == -1).mean() for _ in range(15)
    ]  # fmt: skip
    # 2000 rows set the threshold and 2000 test it: the standard deviation of one model is sqrt(2 * 0.05 * 0.95 / 2000).
    assert abs(np.mean(found) - 0.05) < 4 * 0.0069 / np.sqrt(15)


@pytest.fixture
def sources(tmp_path):
    """The same rows in every kind of source."""
    np.save(tmp_path / "a.npy", ROWS)
    write_parquet(tmp_path / "a.parquet", ROWS)
    write_csv(tmp_path / "a.csv", ROWS)
    for name in ("parts", "arrays"):
        (tmp_path / name).mkdir()
    write_parquet(tmp_path / "parts" / "p1.parquet", ROWS[:500])
    write_parquet(tmp_path / "parts" / "p2.parquet", ROWS[500:])
    (tmp_path / "parts" / "_SUCCESS").touch()
    np.save(tmp_path / "arrays" / "1.npy", ROWS[:10])
    np.save(tmp_path / "arrays" / "2.npy", ROWS[10:])
    named = [tmp_path / name for name in ("a.npy", "a.parquet", "a.csv", "parts", "arrays")]
    return [*map(str, named), np.load(tmp_path / "a.npy", mmap_mode="r"), chunked(ROWS, 7), Twice([ROWS])]


def test_every_kind_of_source_gives_the_same_model_and_scores(sources, tmp_path, monkeypatch):
    monkeypatch.setattr("eocc.formats.files.rows.CHUNK_ROWS", 123)
    models = [fit_stream(classifier(n_jobs=2), source) for source in sources]
    assert all(state_of(model) == state_of(models[0]) for model in models)
    assert models[1].feature_names_in_.tolist() == ["x0", "x1", "x2"]
    assert not hasattr(models[0], "feature_names_in_")
    scores = models[0]._score_all(ROWS)
    for k, (model, source) in enumerate(zip(models, sources, strict=True)):
        out = tmp_path / f"out{k}.{'csv' if k % 2 else 'parquet'}"
        scored = score_stream(model, source, out)
        table = pyarrow.parquet.read_table(out).to_pydict() if k % 2 == 0 else read_csv(out)
        assert scored.n_rows == 900
        assert scored.n_accepted == table["decision"].count(1) == int((scores.margins >= 0).sum())
        assert table["row"] == list(range(900))
        assert table["how_far_out"] == scores.ratios.tolist()
        assert table["score"] == scores.log_memberships.tolist()
        assert table["p_value"] == models[0].calibration_.p_values(scores.margins).tolist()


def read_csv(path):
    with path.open() as file:
        return {name: [float(cell) for cell in column] for name, *column in zip(*csv.reader(file), strict=True)}


def test_columns_are_left_out_by_name_and_by_number(tmp_path):
    write_parquet(tmp_path / "a.parquet", ROWS, note=["text"] * 900)
    by_name = fit_stream(classifier(), tmp_path / "a.parquet", drop=["x1", "note"])
    by_number = fit_stream(classifier(), ROWS, drop=[1])
    assert state_of(by_name) == state_of(by_number)
    assert score_stream(by_name, tmp_path / "a.parquet", tmp_path / "s.csv").n_rows == 900


def test_a_generator_of_chunks_is_scored(tmp_path):
    clf = classifier().fit(ROWS[:50])
    scored = score_stream(clf, (ROWS[start : start + 100] for start in range(0, 900, 100)), tmp_path / "s.csv")
    assert scored == score_stream(clf, ROWS, tmp_path / "t.csv")
    assert (tmp_path / "s.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()


def test_a_saved_model_scores_the_same_without_the_stream_statistics(tmp_path):
    for make in (classifier, entropic):
        clf = fitted(make, chunked(ROWS, 50), 90, settings={"false_alarm_rate": 0.07})
        clf.save(tmp_path / "m.eocc")
        back = eocc.load(tmp_path / "m.eocc")
        assert_array_equal(back.p_values(ROWS), clf.p_values(ROWS))
        assert_array_equal(back.decision_function(ROWS), clf.decision_function(ROWS))
        assert_array_equal(back.training_indices_, clf.training_indices_)
        assert not hasattr(back, "n_rows_seen_")
        assert not hasattr(clf.fit(ROWS[:40]), "n_rows_seen_")


def test_results_and_errors_of_threads_come_in_order():
    assert list(in_order(lambda number: number**2, iter(range(50)), 3)) == [number**2 for number in range(50)]
    results = in_order(lambda number: 1 // (5 - number), iter(range(50)), 3)
    assert [next(results) for _ in range(5)] == [0, 0, 0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_memory_does_not_grow_with_the_rows(tmp_path):
    rng, n, peaks = np.random.default_rng(0), 400_000, []
    schema = pyarrow.schema([(f"x{k}", pyarrow.float64()) for k in range(10)])
    with pyarrow.parquet.ParquetWriter(tmp_path / "a.parquet", schema) as writer:
        for _ in range(20):
            writer.write_table(pyarrow.table({f"x{k}": rng.normal(size=n // 20) for k in range(10)}))
    clf = classifier(prototypes=32, measure="standardised")
    fit_stream(clf, tmp_path / "a.parquet")  # compiles
    for work in (
        lambda: fit_stream(clf, tmp_path / "a.parquet"),
        lambda: score_stream(clf, tmp_path / "a.parquet", tmp_path / "s.csv"),
    ):
        tracemalloc.start()
        work()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert clf.n_rows_seen_ == n
    # The rows take 32 MB, and their dissimilarities 100 MB; the counts of the first pass take 8 MB.
    assert max(peaks) < 22e6


def test_parquet_is_not_kept_in_memory(tmp_path):
    rng, schema = np.random.default_rng(0), pyarrow.schema([("x", pyarrow.float64())])
    with pyarrow.parquet.ParquetWriter(tmp_path / "a.parquet", schema) as writer:
        for _ in range(40):
            writer.write_table(pyarrow.table({"x": rng.normal(size=50_000)}))
    before = pyarrow.total_allocated_bytes()
    held = [pyarrow.total_allocated_bytes() - before for _ in open_files([tmp_path / "a.parquet"])]
    # 40 row groups of 0.4 MB: a few at a time.
    assert max(held) < 4e6


def test_a_sample_is_refused_where_prototypes_say_how_many():
    with pytest.raises(ValueError, match=r"pass SurpriseClassifier\(prototypes=...\) instead"):
        fit_stream(classifier(), ROWS, sample=50)
