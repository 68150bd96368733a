"""Fits and scores of sources larger than memory: the sample, the threshold from all rows, the files written."""

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
from eocc.foundation.threads import in_order
from eocc.io.files import open_chunks
from eocc.streaming import fit_stream, score_stream
from eocc.streaming import tally as tallies
from eocc.streaming.sample import draw_sample, quotas
from eocc.streaming.source import source_of
from eocc.streaming.tally import Tally, ranks_of
from streams import ROWS, Twice, chunked, classifier, entropic, write_csv, write_parquet


def sampled(source, size, seed=0, shares="proportional", **options):
    return draw_sample(source_of(source, **options), size, shares, np.random.default_rng(seed))


def state_of(clf):
    margins = clf.calibration_ and clf.calibration_.margins.tolist()
    return clf.prototypes_.tolist(), clf.training_indices_.tolist(), clf.threshold_, clf.offset_, margins, clf.facts()


@given(cuts=st.lists(st.integers(0, 200), max_size=6), size=st.integers(1, 250))
def test_the_sample_does_not_depend_on_the_chunks(cuts, size):
    rows = np.arange(200.0)[:, None]
    bounds = [0, *sorted(cuts), 200]
    found = sampled([rows[a:b] for a, b in pairwise(bounds)], size)
    # By hand: the rows of the least of 200 keys drawn at once.
    expected = np.sort(np.argsort(np.random.default_rng(0).random(200))[:size])
    assert_array_equal(found.indices, expected)
    assert_array_equal(found.values[:, 0], expected)
    assert found.n_rows == 200


def test_every_row_is_sampled_equally_often():
    rows = np.arange(30.0)[:, None]
    counts = np.zeros(30)
    for seed in range(1000):
        counts[sampled([rows[:4], rows[4:]], 6, seed).indices] += 1
    # Each count is binomial of 1000 and 0.2: five deviations for 30 counts.
    assert np.abs(counts - 200).max() < 5 * np.sqrt(1000 * 0.2 * 0.8)


def test_quotas_derived_by_hand():
    assert quotas({"a": 60, "b": 30, "c": 10}, 10, "proportional") == {"a": 6, "b": 3, "c": 1}
    assert quotas({"a": 60, "b": 30, "c": 10}, 12, "equal") == {"a": 4, "b": 4, "c": 4}
    assert quotas({"a": 60, "b": 2, "c": 30}, 12, "equal") == {"a": 5, "b": 2, "c": 5}
    assert quotas({"a": 998, "b": 1, "c": 1}, 10, "proportional") == {"a": 8, "b": 1, "c": 1}
    assert quotas({"a": 3, "b": 1}, 10, "proportional") == {"a": 3, "b": 1}


@pytest.mark.parametrize(("shares", "expected"), [("proportional", [45, 15]), ("equal", [30, 30])])
def test_strata_of_tables_and_arrays_get_their_shares(tmp_path, shares, expected):
    kinds = np.arange(400) % 4 == 3
    write_parquet(tmp_path / "a.parquet", ROWS[:400], shift=["night" if kind else "day" for kind in kinds])
    by_name = sampled(tmp_path / "a.parquet", 60, shares=shares, stratify="shift")
    by_number = sampled(
        np.column_stack([kinds, ROWS[:400]]), 60, shares=shares, stratify=0, chunk_rows=37
    )  # fmt: skip
    assert_array_equal(by_name.indices, by_number.indices)
    assert_array_equal(by_name.values, ROWS[by_name.indices])
    assert np.bincount(kinds[by_name.indices]).tolist() == expected


@given(
    numbers=st.lists(st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 1.0, 1.0000001]), min_size=1, max_size=80),
    step=st.integers(1, 30),
)
def test_a_tally_is_exact_up_to_its_number_of_bins(numbers, step):
    tally = Tally()
    for chunk in chunked(np.array(numbers), step):
        tally.add(chunk)
    ranks = np.arange(1, len(numbers) + 1)
    assert_array_equal(tally.largest(ranks), np.sort(numbers)[::-1])


@given(seed=st.integers(0, 50), step=st.integers(1, 700))
def test_a_tally_with_few_bins_errs_upwards_by_less_than_a_bin(seed, step):
    numbers = np.random.default_rng(seed).normal(size=2000)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tallies, "MOST_BINS", 256)
        for part in (step, 2000):
            tally = Tally()
            for chunk in chunked(numbers, part):
                tally.add(chunk)
            found.append(tally.largest(np.arange(1, 2001)))
            assert len(tally._values) <= 256
    assert_array_equal(found[0], found[1])
    exact = np.sort(numbers)[::-1]
    assert (found[0] >= exact).all()
    # 256 bins for some 12 binades of either sign: at least 8 each.
    assert (found[0] <= exact + np.abs(exact) / 4).all()
    assert np.isin(found[0], numbers).all()


@given(n=st.integers(1, 60), more=st.integers(0, 500), rate=st.floats(0.02, 0.9))
def test_ranks_are_increasing_and_keep_the_threshold(n, more, rate):
    total = n + more
    ranks = ranks_of(n, total, rate)
    assert (np.diff(ranks) > 0).all()
    assert ranks[0] >= 1
    assert ranks[-1] <= total
    kept = int(rate * (n + 1) + 1e-9)
    if kept:
        assert ranks[kept - 1] == int(rate * (total + 1) + 1e-9)
    assert_array_equal(ranks_of(total, total, rate), np.arange(1, total + 1))


@pytest.mark.parametrize("make", [classifier, entropic])
@pytest.mark.parametrize("settings", [{}, {"prototypes": None, "false_alarm_rate": 0.2}])
def test_a_source_within_the_sample_gives_the_model_of_fit(make, settings):
    rows = ROWS[:80]
    assert state_of(fit_stream(make(**settings), chunked(rows, 13))) == state_of(make(**settings).fit(rows))


def test_the_threshold_is_that_of_all_rows_with_the_sampled_ones_left_out():
    clf = fit_stream(classifier(false_alarm_rate=0.1), chunked(ROWS, 41), sample=120)
    plain = classifier(false_alarm_rate=0.1).fit(ROWS[clf.training_indices_])
    assert_array_equal(clf.prototypes_, plain.prototypes_)
    surprises = plain.calibration_values(ROWS)
    assert_array_equal(surprises[clf.training_indices_], plain.surprise_model_.left_out)
    # floor(0.1 * 901) = 90: the ninetieth largest of 900.
    threshold = clf.surprise_model_.threshold.value
    assert threshold == pytest.approx(np.sort(surprises)[-90], rel=1e-12)
    assert threshold != plain.surprise_model_.threshold.value
    assert len(clf.calibration_.margins) == 120
    new = np.random.default_rng(1).uniform(-4, 10, size=(500, 3))
    assert_array_equal(clf.predict(new) == 1, clf.p_values(new) > 0.1)
    exact = (1 + (surprises[None] >= clf.calibration_values(new)[:, None]).sum(axis=1)) / 901
    assert np.abs(clf.p_values(new) - exact).max() <= 1.5 / 121


@pytest.mark.parametrize("make", [classifier, entropic])
def test_statistics_are_those_of_all_rows(make):
    clf = fit_stream(make(), chunked(ROWS, 71), sample=150)
    assert clf.n_rows_seen_ == clf.column_statistics_.n_rows == 900
    assert_array_equal(clf.column_statistics_.minimum, ROWS.min(axis=0))
    assert_array_equal(clf.column_statistics_.maximum, ROWS.max(axis=0))
    assert_allclose(clf.column_statistics_.mean, ROWS.mean(axis=0), rtol=1e-12)
    assert_allclose(clf.column_statistics_.spread, ROWS.std(axis=0), rtol=1e-12)


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
        (fit_stream(make(false_alarm_rate=0.05), [rng.normal(size=(2000, 3))], sample=100).predict(
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


def test_every_kind_of_source_gives_the_same_model_and_scores(sources, tmp_path):
    models = [fit_stream(classifier(n_jobs=2), source, sample=100, chunk_rows=123) for source in sources]
    assert all(state_of(model) == state_of(models[0]) for model in models)
    assert models[1].feature_names_in_.tolist() == ["x0", "x1", "x2"]
    assert not hasattr(models[0], "feature_names_in_")
    scores = models[0].score_all(ROWS)
    for k, (model, source) in enumerate(zip(models, sources, strict=True)):
        out = tmp_path / f"out{k}.{'csv' if k % 2 else 'parquet'}"
        scored = score_stream(model, source, out)
        table = pyarrow.parquet.read_table(out).to_pydict() if k % 2 == 0 else read_csv(out)
        assert scored.n_rows == 900
        assert scored.n_accepted == table["decision"].count(1) == int((scores.margins >= 0).sum())
        assert table["row"] == list(range(900))
        assert table["distance"] == scores.ratios.tolist()
        assert table["score"] == scores.log_memberships.tolist()
        assert table["p_value"] == models[0].calibration_.p_values(scores.margins).tolist()


def read_csv(path):
    with path.open() as file:
        return {name: [float(cell) for cell in column] for name, *column in zip(*csv.reader(file), strict=True)}


def test_columns_are_chosen_by_name_and_by_number(tmp_path):
    write_parquet(tmp_path / "a.parquet", ROWS, note=["text"] * 900)
    by_name = fit_stream(classifier(), tmp_path / "a.parquet", sample=50, columns=["x2", "x0"])
    by_number = fit_stream(classifier(), ROWS, sample=50, columns=[2, 0])
    assert state_of(by_name) == state_of(by_number)
    assert score_stream(by_name, tmp_path / "a.parquet", tmp_path / "s.csv").n_rows == 900


def test_a_generator_of_chunks_is_scored(tmp_path):
    clf = classifier().fit(ROWS[:50])
    scored = score_stream(clf, (ROWS[start : start + 100] for start in range(0, 900, 100)), tmp_path / "s.csv")
    assert scored == score_stream(clf, ROWS, tmp_path / "t.csv")
    assert (tmp_path / "s.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()


def test_a_saved_model_scores_the_same_without_the_stream_statistics(tmp_path):
    for make in (classifier, entropic):
        clf = fit_stream(make(false_alarm_rate=0.07), chunked(ROWS, 50), sample=90)
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
    rng, n, peaks = np.random.default_rng(0), 150_000, []
    schema = pyarrow.schema([(f"x{k}", pyarrow.float64()) for k in range(10)])
    with pyarrow.parquet.ParquetWriter(tmp_path / "a.parquet", schema) as writer:
        for _ in range(20):
            writer.write_table(pyarrow.table({f"x{k}": rng.normal(size=n // 20) for k in range(10)}))
    clf = classifier(prototypes=32, measure="standardised")
    fit_stream(clf, tmp_path / "a.parquet", sample=500)  # compiles
    for work in (
        lambda: fit_stream(clf, tmp_path / "a.parquet", sample=500),
        lambda: score_stream(clf, tmp_path / "a.parquet", tmp_path / "s.csv"),
    ):
        tracemalloc.start()
        work()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert clf.n_rows_seen_ == n
    # The rows take 12 MB, and their dissimilarities 38 MB.
    assert max(peaks) < 10e6


def test_parquet_is_not_kept_in_memory(tmp_path):
    rng, schema = np.random.default_rng(0), pyarrow.schema([("x", pyarrow.float64())])
    with pyarrow.parquet.ParquetWriter(tmp_path / "a.parquet", schema) as writer:
        for _ in range(40):
            writer.write_table(pyarrow.table({"x": rng.normal(size=50_000)}))
    before = pyarrow.total_allocated_bytes()
    held = [pyarrow.total_allocated_bytes() - before for _ in open_chunks(tmp_path / "a.parquet")]
    # 40 row groups of 0.4 MB: a few at a time.
    assert max(held) < 4e6
