"""Frames keep their column names, and fits that need too much memory are refused."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from numpy.testing import assert_array_equal

from eocc import SurpriseClassifier
from eocc.scale.memory import MemoryLimitError
from eocc.streaming import fit_stream, score_stream
from streams import ROWS, chunked, classifier, entropic

NAMES = ["load", "heat", "wear"]
FRAME = pandas.DataFrame(ROWS, columns=NAMES)


class Counted:
    """Chunks that count how many of them were read."""

    def __init__(self, rows, step):
        self.chunks, self.count = chunked(rows, step), 0

    def __iter__(self):
        for chunk in self.chunks:
            self.count += 1
            yield chunk


def test_a_fit_that_needs_too_much_memory_is_refused_after_the_first_pass():
    source = Counted(ROWS, 10)
    said = r"the fit needs about .* more than the limit of 586 KiB; pass prototypes=5"
    with pytest.raises(MemoryLimitError, match=said):
        fit_stream(classifier(max_memory="600kB"), source)
    assert source.count == 91  # the first chunk is read once more


@pytest.mark.parametrize("source", [chunked(ROWS, 100), ROWS])
def test_the_memory_for_a_small_source_is_that_of_its_own_length(source):
    enough = int(SurpriseClassifier()._plan_fit(900, 3)[0]) + 1
    assert enough < SurpriseClassifier()._plan_fit(20_000, 3)[0] / 1.2
    assert len(fit_stream(SurpriseClassifier(max_memory=enough), source).training_indices_) == 900


def test_a_rate_that_needs_more_rows_is_refused_after_the_first_pass():
    source = Counted(ROWS, 10)
    with pytest.raises(ValueError, match=r"0\.001 needs at least 999 training rows; there are 900"):
        fit_stream(classifier(false_alarm_rate=0.001), source)
    assert source.count == 91  # the first chunk is read once more
    with pytest.raises(ValueError, match=r"0\.001 needs at least 999 training rows; there are 100"):
        fit_stream(entropic(false_alarm_rate=0.001), source, sample=100)
    assert source.count == 92


@pytest.mark.parametrize(
    "source",
    [
        chunked(FRAME, 70), FRAME, FRAME.set_index(ROWS[:, 0]), polars.from_pandas(FRAME),
        [polars.from_pandas(FRAME)], pyarrow.Table.from_pandas(FRAME, preserve_index=False),
    ],
    ids=["chunks", "pandas", "an index of numbers", "polars", "chunks of polars", "arrow"],
)  # fmt: skip
@pytest.mark.parametrize("prototypes", [None, 100])
def test_a_model_of_frames_has_the_names_and_scores_of_a_fit(source, prototypes, monkeypatch):
    monkeypatch.setattr("eocc.formats.files.rows.CHUNK_ROWS", 64)
    clf = fit_stream(classifier(prototypes=prototypes), source)
    plain = classifier(prototypes=prototypes).fit(FRAME)
    assert_array_equal(clf.feature_names_in_, plain.feature_names_in_)
    assert (clf.feature_names_in_.dtype, clf.n_features_in_) == (plain.feature_names_in_.dtype, 3)
    assert_array_equal(clf.prototypes_, plain.prototypes_)
    assert clf.predict(FRAME).shape == (900,)  # without scikit-learn's warning about names


def test_columns_of_frames_are_found_by_name_in_any_order(tmp_path):
    shuffled = [FRAME[:400], FRAME.loc[400:, NAMES[::-1]].assign(more=7.0)]
    clf = fit_stream(classifier(), shuffled)
    plain = fit_stream(classifier(), [FRAME])
    assert_array_equal(clf._score_all(FRAME).ratios, plain._score_all(FRAME).ratios)
    assert clf.feature_names_in_.tolist() == NAMES
    for k, source in enumerate((FRAME, shuffled, [FRAME[NAMES[::-1]].assign(more="text")], ROWS, chunked(ROWS, 9))):
        score_stream(clf, source, tmp_path / f"{k}.csv")
        assert (tmp_path / f"{k}.csv").read_bytes() == (tmp_path / "0.csv").read_bytes()
    some = fit_stream(classifier(), [FRAME], drop=["load", 2])
    assert some.feature_names_in_.tolist() == ["heat"]
    assert some.reading_.columns[0].low == ROWS[:, 1].min()


def test_column_names_that_are_numbers_are_ignored():
    clf = fit_stream(classifier(), [pandas.DataFrame(ROWS)])
    assert not hasattr(clf, "feature_names_in_")
    assert_array_equal(clf.prototypes_, fit_stream(classifier(), ROWS).prototypes_)


@pytest.mark.parametrize(("source", "options", "message"), [
    ([FRAME, FRAME.rename(columns={"heat": "cold"})], {},
     "has no column 'heat', which the model needs; it has 'load', 'cold', 'wear'"),
    ([FRAME, ROWS[:, :2]], {}, "has 2 columns, but the model needs 3"),
    ([ROWS, FRAME[["load"]]], {}, "has 1 column, but the model needs 3"),
    (FRAME.set_axis(["a", "b", "a"], axis=1), {}, "X has two columns named 'a'; rename one"),
    (FRAME.set_axis(["a", "b", 3], axis=1), {}, "the name of column 3 is not text, other names are; rename it"),
    (FRAME, {"drop": ["load", "cold"]}, "has no column 'cold'; it has 'load', 'heat', 'wear'"),
    (FRAME, {"drop": [True]}, "has no column 'True'"),
])  # fmt: skip
def test_frames_without_the_wanted_columns_are_errors(source, options, message):
    with pytest.raises(ValueError, match=message) as raised:
        fit_stream(classifier(), source, **options)
    assert "\n" not in str(raised.value)


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
        with pytest.raises(ValueError, match=rf"first, not .*{said}: write fit_stream\(clf, source, \.\.\.\)"):
            fit_stream(first, clf)
        with pytest.raises(ValueError, match=rf"first, not .*{said}: write score_stream\(clf, source, \.\.\.\)"):
            score_stream(first, clf, tmp_path / "s.csv")


def test_an_unknown_suffix_is_an_error_that_names_no_command_line_option(tmp_path):
    np.savez(tmp_path / "a.npz", ROWS)
    for name, said in (
        ("a.npz", "with numpy.save, as .npy"),
        ("a.dat", "convert it to one of csv, .*npy"),
        ("a.zst", "unzstd"),
    ):
        (tmp_path / name).touch()
        with pytest.raises(ValueError, match=f"the suffix .* is not known; .*{said}") as raised:
            fit_stream(classifier(), tmp_path / name)
        assert "--" not in str(raised.value)


def test_a_model_of_an_array_file_has_no_names(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    clf = fit_stream(classifier(), tmp_path / "rows.npy")
    assert not hasattr(clf, "feature_names_in_")
    assert score_stream(clf, tmp_path / "rows.npy", tmp_path / "s.csv").n_rows == 900
