"""Sources that cannot be fitted or scored: the errors, and that nothing is left half done."""

import os

import dask.dataframe
import numpy as np
import pandas
import pytest

from eocc import SurpriseClassifier
from eocc.streaming import fit_stream, score_stream
from streams import ROWS, Twice, chunked, classifier, entropic, write_csv, write_parquet


def with_cell(row, column, value):
    changed = ROWS.copy()
    changed[row, column] = value
    return changed


def dask_frame():
    return dask.dataframe.from_pandas(pandas.DataFrame(ROWS), npartitions=2)


@pytest.mark.parametrize(("source", "message"), [
    (chunked(with_cell(850, 1, np.nan), 50), "the source: row 851: column '1' has no number here"),
    (with_cell(0, 2, -np.inf), "row 1: column '2': '-inf' is not a finite number"),
    ([], "the source holds no rows; at least 1 is required"),
    (np.empty((0, 3)), "the source holds no rows"),
    (iter([ROWS]), "an iterator can be read only once"),
    (dask_frame(), "the length of this dask.* is not known; pass it to fit, or pass a list of chunks"),
    (7, "a source is a path, an array or chunks of rows, not a int"),
    ([ROWS[:5], ROWS[5:9, :2]], "has 2 columns, but the model needs 3"),
    (ROWS[0], "2 dimensions, not 1"),
    ([ROWS[0]], "1 dimensions, not 2; pass rows as one array, or chunks of many rows each"),
    ([ROWS, [["a", "b", "c"]]], "row 901: column '0': 'a' is not a number"),
    (Twice([ROWS], [ROWS], [ROWS[:899]]), "the source changed while it was read: it had 900 rows, then 899"),
    (Twice([ROWS], [ROWS], [ROWS, ROWS[:1]]), "it had 900 rows, then 901"),
    (Twice([ROWS], [ROWS], [ROWS[::-1]]), "the source changed while it was read: it has other values"),
    ("-", "standard input cannot be read twice"),
])  # fmt: skip
def test_a_bad_source_is_a_one_line_error_and_the_classifier_is_unchanged(source, message):
    clf = classifier().fit(ROWS[:30])
    before = dict(vars(clf))
    with pytest.raises(ValueError, match=message) as raised:
        fit_stream(clf, source)
    assert "\n" not in str(raised.value)
    assert vars(clf) == before


def test_a_pipe_of_the_shell_is_scored_and_refused_by_a_fit(tmp_path):
    write_csv(tmp_path / "rows.csv", ROWS[:50])
    clf, (end, start) = fit_stream(classifier(), tmp_path / "rows.csv"), os.pipe()
    os.write(start, (tmp_path / "rows.csv").read_bytes())
    os.close(start)
    with pytest.raises(ValueError, match="is a pipe, which can be read only once; write it to a file first"):
        fit_stream(classifier(), f"/dev/fd/{end}")
    assert score_stream(clf, f"/dev/fd/{end}", tmp_path / "s.csv").n_rows == 50
    os.close(end)


@pytest.mark.parametrize(("settings", "options", "message"), [
    ({"measure": "precomputed"}, {}, "rows, not dissimilarities"),
    ({"false_alarm_rate": 7}, {}, "false_alarm_rate must be a number"),
    ({"false_alarm_rate": 0.001}, {}, "0.001 needs at least 999 training rows; there are 900"),
    ({}, {"sample": 0}, "sample must be an integer >= 1, not 0"),
    ({}, {"drop": [0, 3]}, "has no column '3'; it has '0', '1', '2'"),
    ({}, {"drop": ["x0"]}, "no column 'x0'"),
])  # fmt: skip
def test_bad_arguments_are_errors(settings, options, message):
    with pytest.raises(ValueError, match=message):
        fit_stream(classifier(**settings), ROWS, **options)


def test_the_entropic_classifier_is_checked_too():
    with pytest.raises(ValueError, match="a stream holds normal rows only; use synthesis='entropy'"):
        fit_stream(entropic(synthesis="validation"), ROWS)
    with pytest.raises(ValueError, match="needs at least 999"):
        fit_stream(entropic(false_alarm_rate=0.001), ROWS, sample=100)


def test_errors_in_files_name_the_row(tmp_path):
    write_parquet(tmp_path / "nan.parquet", with_cell(70, 1, np.nan))
    write_csv(tmp_path / "text.csv", ROWS)
    lines = (tmp_path / "text.csv").read_text().splitlines()
    lines[501] = "1,oak,3"
    (tmp_path / "text.csv").write_text("\n".join(lines))
    (tmp_path / "codes.csv").write_text("plz,x1\n80331,1\n01067,2\n")
    (tmp_path / "empty.csv").write_text("x0,x1\n")
    (tmp_path / "odd.npy").write_bytes(b"no array")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "words.txt").write_text("oak\nelm\n")
    cases = {
        "nan.parquet": "nan.parquet: row 71: column 'x1' has no number here",
        "empty.csv": "holds no rows", "odd.npy": "cannot be read", "nothing": "holds no files", ".": "several kinds",
        "words.txt": "has no columns",
    }  # fmt: skip
    for name, message in cases.items():
        with pytest.raises(ValueError, match=message) as raised:
            fit_stream(classifier(), tmp_path / name)
        assert "\n" not in str(raised.value)
    with pytest.raises(FileNotFoundError, match="no file"):
        fit_stream(classifier(), tmp_path / "none.csv")
    with pytest.warns(UserWarning, match="column 'x1' counts as text because 'oak' is not a number"):
        assert fit_stream(classifier(), tmp_path / "text.csv").measure_.kinds[1] == "categorical"
    assert fit_stream(SurpriseClassifier(), tmp_path / "codes.csv").measure_.kinds == ["categorical", "numeric"]


def test_an_interrupted_fit_leaves_the_classifier_unchanged():
    class Interrupted(Twice):
        def __iter__(self):
            yield from super().__iter__()
            if self.count == 2:
                raise KeyboardInterrupt

    clf = classifier().fit(ROWS[:30])
    before = dict(vars(clf))
    with pytest.raises(KeyboardInterrupt):
        fit_stream(clf, Interrupted([ROWS]))
    assert vars(clf) == before


def test_scores_are_written_whole_or_not_at_all(tmp_path):
    clf = classifier().fit(ROWS[:30])
    for name in ("s.csv", "s.parquet"):
        (tmp_path / name).write_text("before")
        with pytest.raises(ValueError, match="row 851"):
            score_stream(clf, chunked(with_cell(850, 1, np.inf), 50), tmp_path / name)
        with pytest.raises(ValueError, match="holds no rows"):
            score_stream(clf, [], tmp_path / name)
        assert (tmp_path / name).read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(ValueError, match=r"'\.csv'|csv"):
        score_stream(clf, ROWS, tmp_path / "s.xlsx")
    np.save(tmp_path / "a.npy", ROWS)
    write_csv(tmp_path / "s.csv", ROWS)
    with pytest.raises(ValueError, match="is also the input; name another file"):
        score_stream(clf, tmp_path / "s.csv", tmp_path / "s.csv")


def test_an_unknown_suffix_of_the_output_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"unknown suffix of the output '.txt'; known: '.csv', '.parquet'"):
        score_stream(classifier().fit(ROWS), ROWS, tmp_path / "scores.txt")
