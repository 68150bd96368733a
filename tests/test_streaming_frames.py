"""Frames keep their column names, strata may be missing, and fits that need too much are refused at once."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from numpy.testing import assert_array_equal

from eocc import SurpriseClassifier
from eocc.io.files import Schema
from eocc.scale.memory import MemoryLimitError
from eocc.streaming import fit_stream, score_stream
from eocc.streaming.sample import draw_sample
from eocc.streaming.source import source_of
from streams import ROWS, chunked, classifier, write_csv, write_parquet

NAMES = ["load", "heat", "wear"]
FRAME = pandas.DataFrame(ROWS, columns=NAMES)


def strata(source, **options):
    drawn = draw_sample(source_of(source, **options), 30, "equal", np.random.default_rng(0))
    return drawn.indices


class Counted:
    """Chunks that count how many of them were read."""

    def __init__(self, rows, step):
        self.chunks, self.count = chunked(rows, step), 0

    def __iter__(self):
        for chunk in self.chunks:
            self.count += 1
            yield chunk


class CountedArray:
    """An array on disk that counts the slices read."""

    def __init__(self, rows):
        self.rows, self.shape, self.count = rows, rows.shape, 0

    def __getitem__(self, key):
        self.count += 1
        return self.rows[key]


@pytest.mark.parametrize("settings", [{}, {"stratify": 2}])
def test_a_fit_that_needs_too_much_memory_is_refused_before_all_rows_are_read(settings):
    rows = np.column_stack([ROWS[:, :2], np.arange(900) % 3])
    for source, most in ((Counted(rows, 10), 20), (CountedArray(rows), 1)):
        with pytest.raises(
            MemoryLimitError, match=r"the fit needs about .* more than the limit of 586 KiB; pass prototypes=5"
        ):
            fit_stream(classifier(max_memory="600kB"), source, sample=200, chunk_rows=10, **settings)
        assert source.count == most


def test_files_of_known_length_are_refused_at_the_first_chunk(tmp_path, monkeypatch):
    rows, count = np.concatenate([ROWS] * 20), []
    write_parquet(tmp_path / "a.parquet", rows)
    np.save(tmp_path / "a.npy", rows)
    read = Schema.patterns
    monkeypatch.setattr(Schema, "patterns", lambda *chunk: count.append(chunk) or read(*chunk))
    for name in ("a.parquet", "a.npy"):
        with pytest.raises(MemoryLimitError, match="the fit needs about"):
            fit_stream(SurpriseClassifier(max_memory="20MB"), tmp_path / name, sample=20_000)
    assert len(count) == 2


@pytest.mark.parametrize("source", [chunked(ROWS, 100), ROWS])
def test_the_memory_for_a_small_source_is_that_of_its_own_length(source):
    enough = int(SurpriseClassifier().memory_needed(900, 3)[0]) + 1
    assert enough < SurpriseClassifier().memory_needed(20_000, 3)[0] / 1.2
    assert len(fit_stream(SurpriseClassifier(max_memory=enough), source).training_indices_) == 900


def test_a_rate_that_needs_a_larger_sample_is_refused_at_once():
    source = Counted(ROWS, 10)
    with pytest.raises(ValueError, match=r"0\.001 needs at least 999 training rows; there are 100"):
        fit_stream(classifier(false_alarm_rate=0.001), source, sample=100)
    assert source.count == 0


@pytest.mark.parametrize(
    "source",
    [
        chunked(FRAME, 70), FRAME, FRAME.set_index(ROWS[:, 0]), polars.from_pandas(FRAME),
        [polars.from_pandas(FRAME)], pyarrow.Table.from_pandas(FRAME, preserve_index=False),
    ],
    ids=["chunks", "pandas", "an index of numbers", "polars", "chunks of polars", "arrow"],
)  # fmt: skip
@pytest.mark.parametrize("sample", [20_000, 100])
def test_a_model_of_frames_has_the_names_and_scores_of_a_fit(source, sample):
    clf = fit_stream(classifier(), source, sample=sample, chunk_rows=64)
    plain = classifier().fit(FRAME.iloc[clf.training_indices_])
    assert_array_equal(clf.feature_names_in_, plain.feature_names_in_)
    assert (clf.feature_names_in_.dtype, clf.n_features_in_) == (plain.feature_names_in_.dtype, 3)
    assert_array_equal(clf.prototypes_, plain.prototypes_)
    assert clf.predict(FRAME).shape == (900,)  # without scikit-learn's warning about names


def test_columns_of_frames_are_found_by_name_in_any_order(tmp_path):
    shuffled = [FRAME[:400], FRAME.loc[400:, NAMES[::-1]].assign(more=7.0)]
    clf = fit_stream(classifier(), shuffled, sample=100)
    plain = fit_stream(classifier(), [FRAME], sample=100)
    assert_array_equal(clf.score_all(FRAME).ratios, plain.score_all(FRAME).ratios)
    assert clf.feature_names_in_.tolist() == NAMES
    for k, source in enumerate((FRAME, shuffled, [FRAME[NAMES[::-1]].assign(more="text")], ROWS, chunked(ROWS, 9))):
        score_stream(clf, source, tmp_path / f"{k}.csv")
        assert (tmp_path / f"{k}.csv").read_bytes() == (tmp_path / "0.csv").read_bytes()
    some = fit_stream(classifier(), [FRAME], sample=100, columns=["wear", 0])
    assert some.feature_names_in_.tolist() == ["wear", "load"]
    assert_array_equal(some.column_statistics_.minimum, ROWS[:, [2, 0]].min(axis=0))


def test_column_names_that_are_numbers_are_ignored():
    clf = fit_stream(classifier(), [pandas.DataFrame(ROWS)], sample=100)
    assert not hasattr(clf, "feature_names_in_")
    assert_array_equal(clf.prototypes_, fit_stream(classifier(), ROWS, sample=100).prototypes_)


@pytest.mark.parametrize(("source", "options", "message"), [
    ([FRAME, FRAME.rename(columns={"heat": "cold"})], {},
     "has no column 'heat', which the model needs; it has 'load', 'cold', 'wear'"),
    ([FRAME, ROWS[:, :2]], {}, "has 2 columns, but the model needs 3"),
    ([ROWS, FRAME[["load"]]], {}, "has 1 column, but the model needs 3"),
    (FRAME.set_axis(["a", "b", "a"], axis=1), {}, "two columns have the name 'a'; rename one"),
    (FRAME.set_axis(["a", "b", 3], axis=1), {}, "the name of column 3 is not text, other names are; rename it"),
    (FRAME, {"columns": ["load", "cold"]}, "has no column 'cold'; it has 'load', 'heat', 'wear'"),
    (FRAME, {"stratify": "shift"}, "the source: has no column 'shift'"),
    (FRAME, {"columns": [True]}, "has no column 'True'"),
    (FRAME.assign(shift="day"), {}, "the source: row 1: column 'shift' holds 'day', which is not a finite number"),
])  # fmt: skip
def test_frames_without_the_wanted_columns_are_errors(source, options, message):
    with pytest.raises(ValueError, match=message) as raised:
        fit_stream(classifier(), source, sample=60, **options)
    assert "\n" not in str(raised.value)


def test_rows_without_a_stratum_form_a_stratum(tmp_path):
    kinds = np.arange(900) % 3
    texts = np.array(["day", "night", ""], object)[kinds]
    write_csv(tmp_path / "a.csv", ROWS)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    absent = [["", "NA", " nan "][k // 3 % 3] for k in range(900)]
    cells = [text or gap for text, gap in zip(texts, absent, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(map(",".join, zip(lines, ["shift", *cells], strict=True))))
    write_parquet(tmp_path / "t.parquet", ROWS, shift=[text or None for text in texts])
    write_parquet(tmp_path / "n.parquet", ROWS, shift=np.array([-0.0, 1.0, np.nan])[kinds])
    numbers = np.column_stack([ROWS, np.array([0.0, 1.0, np.nan])[kinds]])
    numbers[::6, 3] *= -1  # -0.0 is 0.0
    framed = [FRAME.assign(shift=part) for part in (
        [text or None for text in texts], pandas.array([[1, 2, None][kind] for kind in kinds], "Int64"),
        pandas.to_datetime([["2024-01-01", "2024-01-02", None][kind] for kind in kinds]),
    )]  # fmt: skip
    named = [tmp_path / name for name in ("a.csv", "t.parquet", "n.parquet")]
    found = [strata(source, stratify="shift") for source in (*named, *framed)]
    found.append(strata(numbers, stratify=3, chunk_rows=50))
    for indices in found:
        assert_array_equal(indices, found[0])
        assert np.bincount(kinds[indices]).tolist() == [10, 10, 10]


@pytest.mark.parametrize("chunk", [ROWS.astype(complex), (ROWS + 0j).tolist(), pandas.DataFrame(ROWS + 0j)])
def test_complex_numbers_are_refused(tmp_path, chunk):
    odd = np.asarray(chunk).copy()
    odd[7, 1] += 2.5j
    clf = classifier().fit(ROWS[:30])
    before = dict(vars(clf))
    for source in ([ROWS, chunk], [ROWS, odd], odd):
        for work in (lambda s: fit_stream(clf, s), lambda s: score_stream(clf, s, tmp_path / "s.csv")):
            with pytest.raises(ValueError, match="holds complex numbers; pass real and imaginary parts as separate"):
                work(source)
    assert vars(clf) == before
    np.save(tmp_path / "a.npy", odd)
    with pytest.raises(ValueError, match=r"a\.npy: holds complex numbers \(complex128\)"):
        fit_stream(clf, tmp_path / "a.npy")


def test_swapped_arguments_are_an_error(tmp_path):
    clf = classifier().fit(ROWS[:30])
    for first, said in (("big.npy", "'big.npy'"), (tmp_path / "b.csv", "b.csv'"), (ROWS, "a ndarray"), ([], "a list")):
        with pytest.raises(
            ValueError, match=rf"is a classifier, not .*{said}; write fit_stream\(clf, source, \.\.\.\)"
        ):
            fit_stream(first, clf)
        with pytest.raises(
            ValueError, match=rf"is a classifier, not .*{said}; write score_stream\(clf, source, \.\.\.\)"
        ):
            score_stream(first, clf, tmp_path / "s.csv")


def test_an_unknown_suffix_is_an_error_that_names_no_command_line_option(tmp_path):
    np.savez(tmp_path / "a.npz", ROWS)
    for name, said in (
        ("a.npz", "with numpy.save, as .npy"),
        ("a.dat", "convert it to one of csv, .*npy"),
        ("a.gz", "gunzip"),
    ):
        (tmp_path / name).touch()
        with pytest.raises(ValueError, match=f"the suffix .* is not known; .*{said}") as raised:
            fit_stream(classifier(), tmp_path / name)
        assert "--" not in str(raised.value)


def test_an_array_file_needs_no_suffix(tmp_path):
    with (tmp_path / "rows").open("wb") as file:
        np.save(file, ROWS)
    clf = fit_stream(classifier(), tmp_path / "rows", sample=100)
    assert not hasattr(clf, "feature_names_in_")
    assert score_stream(clf, tmp_path / "rows", tmp_path / "s.csv").n_rows == 900
