"""Arrays that numpy saved, as tables whose columns have no names."""

import io

import numpy as np
import pytest

from eocc.formats.files.binary import mapped
from eocc.formats.files.formats import guess_format, open_files
from eocc.formats.files.rows import Choices, learn
from eocc.tables.reading import ReadColumn, Reading
from eocc.tables.sources import table_of
from graph_files import message_of
from tables import remarks

ROWS = np.arange(12.0).reshape(4, 3)
NAMED = Reading(tuple(ReadColumn(name, "number") for name in "abc"), is_numbers=True)


def saved(folder, array, name="a.npy"):
    with (folder / name).open("wb") as file:  # numpy.save would add a suffix
        np.save(file, array)
    return folder / name


def whole(path):
    return np.concatenate(
        [np.column_stack([column.values for column in chunk.columns.values()]) for chunk in open_files([path])]
    )


@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", "f2", "i8", "u1", "?", "g"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_every_type_of_number_are_read_as_doubles(tmp_path, dtype, order):
    array = np.asarray(ROWS, dtype, order=order)
    path = saved(tmp_path, array)
    (chunk,) = open_files([path])
    assert list(chunk.columns) == ["0", "1", "2"]
    assert not chunk.is_named
    assert all(column.values.dtype == np.float64 for column in chunk.columns.values())
    assert whole(path).tolist() == array.astype(float).tolist()


def test_the_array_stays_on_disk_and_comes_in_chunks(tmp_path):
    path = saved(tmp_path, np.arange(10_000.0)[:, None])
    assert isinstance(mapped(path), np.memmap)
    assert [(chunk.rows[0], len(chunk)) for chunk in open_files([path])] == [(0, 8192), (8192, 1808)]
    wide = saved(tmp_path, np.ones((2200, 2**10)))
    assert [len(chunk) for chunk in open_files([wide])] == [1024, 1024, 152]


def test_the_format_is_known_by_the_suffix(tmp_path):
    assert guess_format(saved(tmp_path, ROWS, "a.NPY")) == "npy"


def test_a_table_without_names_makes_a_model_without_names(tmp_path):
    chunks = list(open_files([saved(tmp_path, ROWS)]))
    learnt = learn(chunks, "a.npy")
    assert (learnt.known.kind, learnt.known.describe(), learnt.known.names) == (
        "numbers",
        "rows of numbers in 3 columns",
        [0, 1, 2],
    )
    assert learnt.known.patterns(learnt.X.patterns).tolist() == ROWS.tolist()
    apart = learn(chunks, "a.npy", choices=Choices(["1"]))
    assert (apart.known.names, apart.known.left_out) == (["0", "2"], {"1": ""})
    assert apart.known.patterns(apart.X.patterns).tolist() == ROWS[:, [0, 2]].tolist()


def test_the_columns_of_a_model_with_names_are_taken_in_their_order():
    array = table_of(ROWS)
    found, ignored = NAMED.matched(array, is_named=False)
    assert NAMED.patterns(NAMED.table(found)).tolist() == ROWS.tolist()
    assert ignored == []
    two = Reading(NAMED.columns[:2])
    assert message_of(two.matched, array, False) == (
        "has 3 columns, but the model needs 2, and one of the two has no names to match; drop the others"
    )


def test_gaps_make_records_and_infinity_is_refused_with_its_row(tmp_path):
    rows = ROWS.copy()
    rows[2, 1] = np.nan
    chunks = list(open_files([saved(tmp_path, rows)]))
    assert learn(chunks, "").known.kind == "records"
    assert remarks(chunks) == ["values are missing in column '1', so rows are compared by gower"]
    assert remarks(chunks, "gower") == []
    rows[2, 1] = -np.inf
    path = saved(tmp_path, rows)
    assert message_of(learn, list(open_files([path])), str(path)) == (
        f"{path}: row 3: column '1': '-inf' is not a finite number; correct it, empty the cell, or remove the row"
    )


def test_numbers_beyond_doubles_are_not_finite(tmp_path):
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("long doubles are doubles here")
    path = saved(tmp_path, np.array([[1, np.finfo(np.longdouble).max]]))
    assert "'inf' is not a finite number" in message_of(learn, list(open_files([path])), "")


def bytes_of(array):
    sink = io.BytesIO()
    np.save(sink, array, allow_pickle=True)
    return sink.getvalue()


def zipped():
    sink = io.BytesIO()
    np.savez(sink, ROWS)
    return sink.getvalue()


def with_shape(shape):
    return bytes_of(ROWS).replace(b"(4, 3), }" + b" " * 20, shape.ljust(29))


NO_ARRAY = "cannot be read; is the file complete, and written by numpy.save?"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", NO_ARRAY),
        (b"no array", NO_ARRAY),
        (zipped(), NO_ARRAY),
        (bytes_of(ROWS)[:-1], NO_ARRAY),
        (bytes_of(ROWS)[:40], NO_ARRAY),
        (with_shape(b"(4, -3), }"), NO_ARRAY),
        (with_shape(b"(4, 9999999999), }"), NO_ARRAY),
        (with_shape(b"(4, 3"), NO_ARRAY),
        (bytes_of(np.array([[1, None]], object)), "holds Python objects, which are not read; save an array of numbers"),
        (bytes_of(np.arange(3.0)), "an array of rows has 2 dimensions, not 1; reshape(-1, 1) makes one column"),
        (bytes_of(np.float64(3)), "an array of rows has 2 dimensions, not 0; reshape it"),
        (bytes_of(np.zeros((2, 2, 2))), "an array of rows has 2 dimensions, not 3; reshape it"),
        (bytes_of(ROWS + 1j), "holds complex numbers (complex128); save real and imaginary parts as separate"),
        (bytes_of(np.array([["oak"]])), "holds <U3, not numbers; save an array of numbers"),
        (bytes_of(np.zeros((2, 2), "M8[s]")), "holds datetime64[s], not numbers"),
        (bytes_of(np.zeros((2, 2), [("x", float)])), "holds [('x', '<f8')], not numbers"),
        (bytes_of(np.zeros((3, 0))), "has no columns; at least 1 is required"),
        (bytes_of(np.zeros((0, 3))), "holds no rows; at least 1 is required"),
    ],
)
def test_other_arrays_are_refused_in_one_line(tmp_path, data, message):
    path = tmp_path / "a.npy"
    path.write_bytes(data)
    said = message_of(lambda: learn(list(open_files([path])), str(path)))
    assert said.startswith(f"{path}: {message}")
    assert said.isprintable()
