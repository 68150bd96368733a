import datetime
import decimal
import math
import os

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

from eocc.io.files import guess_schema, open_chunks
from eocc.io.files.chunk import CHUNK_BYTES, CHUNK_ROWS
from graph_files import message_of, within_a_minute


def read(path, file_format=None):
    return list(open_chunks(path, file_format))


def columns(path, file_format=None):
    (chunk,) = read(path, file_format)
    return dict(chunk.columns)


def csv(tmp_path, data, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def parquet(tmp_path, table, **options):
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", **options)
    return tmp_path / "a.parquet"


def kinds(path):
    return dict(guess_schema(read(path), str(path)).columns)


def fault(path, file_format=None):
    """What is wrong with a file, without the folder it is in."""
    return message_of(lambda: guess_schema(read(path, file_format), str(path))).replace(f"{path.parent}/", "")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("a,b\n1,x\n2,y\n", {"a": ["1", "2"], "b": ["x", "y"]}),
        (b"\xef\xbb\xbfa,b\r\n1,x\r\n", {"a": ["1"], "b": ["x"]}),
        ("\n\na , b\n\n1,x\n\n\n2,y", {"a": ["1", "2"], "b": ["x", "y"]}),
        ('a,"b, c"\n1,"two\nlines"\n2,"a ""q"""\n', {"a": ["1", "2"], "b, c": ["two\nlines", 'a "q"']}),
        ('a, b\n1, "x, y"\n', {"a": ["1"], "b": ["x, y"]}),
        ("a,b,\n1,x,\n", {"a": ["1"], "b": ["x"]}),
        ("a,b\n1,x,\n", {"a": ["1"], "b": ["x"]}),
        ("a,b\n,\n", {"a": [""], "b": [""]}),
        ("a\n1\n \n2\n", {"a": ["1", "2"]}),
        ("0,1\n5,6\n", {"0": ["5"], "1": ["6"]}),
    ],
    ids=["plain", "BOM and CRLF", "blank lines", "quotes", "quote after a blank", "trailing delimiter",
         "trailing delimiter in rows", "empty cells", "one column", "numbers as names"],
)  # fmt: skip
def test_csv_cells(tmp_path, data, expected):
    assert columns(csv(tmp_path, data)) == expected


def test_tsv_cells_and_format_by_name(tmp_path):
    assert columns(csv(tmp_path, "a\tb\n1,5\tx y\n", "a.TSV")) == {"a": ["1,5"], "b": ["x y"]}
    assert columns(csv(tmp_path, "a\tb\n1\t2\n", "a.dat"), "tsv") == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a.csv: is empty; it needs a header and rows"),
        (b"\n\n", "a.csv: is empty"),
        (b"a,b\n", "a.csv: holds no rows"),
        (b"a,b\n1,2\n3\n", "a.csv:3: 1 cell, but the header has 2; quote cells"),
        (b"a,b\n1,2,3\n", "a.csv:2: 3 cells, but the header has 2"),
        (b"a,b,a\n1,2,3\n", "a.csv:1: the column 'a' occurs twice; rename one"),
        (b",a\n0,1\n", "a.csv:1: column 1 of the header has no name; give it one, or delete it"),
        (b"0.5,1.5\n2.5,3.5\n", "a.csv:1: numbers such as '0.5' where a header is expected"),
        (b"a;b\n1;2\n", "a.csv:1: only one column, with ';' in its name"),
        (b'a,b\n1,"x\n2,y\n', "a.csv:2: a quote is never closed"),
        (b'a,b\n1,"x"y\n', "a.csv:2: text after a closing quote"),
        (b"a,b\r1,2\r", "a.csv:1: a lone carriage return in a row; save"),
        (b"a,b\n1,\0\n", "a.csv:2: a NUL byte"),
        ("a,b\n1,é\n".encode("latin-1"), "a.csv:2: byte 3, 0xe9, is not UTF-8; save the file as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "a.csv:1: a NUL byte"),
        (b"a,b\n1," + b"x" * 200_000 + b"\n", "a.csv:2: a cell has more than 131072 characters"),
        (b"a,b\n1,inf\n2,3\n", "a.csv:2: column 'b': 'inf' is not a finite number; correct it"),
        (b"a,b\n1,2\n1,1e400\n", "a.csv:3: column 'b': '1e400' is not a finite number"),
    ],
)
def test_errors_in_a_csv_name_the_line(tmp_path, data, message):
    assert fault(csv(tmp_path, data)).startswith(message)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2.5e3", ".5", " 7 "], "number"),
        (["1", "", "NA"], "number"),
        (["1_000", "2"], "text"),
        (["1,000", "2"], "text"),
        (["٣", "4"], "text"),
        (["0x10", "4"], "text"),
        (["infinity", "low"], "text"),
        (["true", "FALSE", "?"], "boolean"),
        (["yes", "no"], "boolean"),
        (["yes", "1"], "text"),
        (["2024-01-31", "2024-02-01 12:30"], "date"),
        (["2024-02-30", "2024-02-01"], "text"),
        (["", "NaN"], "text"),
    ],
)
def test_what_a_column_of_text_holds(tmp_path, cells, kind):
    path = csv(tmp_path, "x,y\n" + "".join(f'"{cell}",1\n' for cell in cells))
    assert kinds(path)["x"] == kind


def test_lines_of_rows_are_where_they_begin(tmp_path):
    (chunk,) = read(csv(tmp_path, 'a,b\n\n1,"x\ny"\n2,z\n'))
    assert list(chunk.lines) == [3, 5]


def test_a_column_of_numbers_in_one_chunk_and_text_in_another_is_text(tmp_path):
    path = csv(tmp_path, "x\n" + "1\n" * CHUNK_ROWS + "one\n")
    schema = guess_schema(read(path), str(path))
    assert dict(schema.columns) == {"x": "text"}
    (remark,) = schema.remarks
    assert remark.startswith(
        f"column 'x' counts as text because 'one' (line {CHUNK_ROWS + 2}) is not a number; correct it"
    )


def test_chunks_are_bounded_in_rows_and_in_bytes(tmp_path):
    tall = read(csv(tmp_path, "x\n" + "1\n" * (CHUNK_ROWS + 5)))
    assert [(chunk.first, len(chunk)) for chunk in tall] == [(0, CHUNK_ROWS), (CHUNK_ROWS, 5)]
    n_rows, row = 200, "9" * 100_000 + "\n"
    wide = read(csv(tmp_path, "x\n" + row * n_rows))
    in_full_chunk = CHUNK_BYTES // len(row) + 1
    assert [len(chunk) for chunk in wide] == [in_full_chunk, in_full_chunk, n_rows - 2 * in_full_chunk]


def test_folders_pipes_and_nothing_are_refused_in_one_line(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for name, said in {"pipe.csv": "not a regular file", "none.csv": "no file", ".": "is a folder"}.items():
        with within_a_minute(), pytest.raises(OSError, match=said):
            read(tmp_path / name, "csv")


def test_a_link_to_a_file_is_read(tmp_path):
    csv(tmp_path, "a\n1\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    assert columns(tmp_path / "link.csv") == {"a": ["1"]}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.gz", "unpack it first: gunzip FILE"),
        ("a.xlsx", "save the sheet as CSV"),
        ("a.npz", "save the array that you need with numpy.save, as .npy"),
        ("a.dat", "convert it to one of csv, tsv, jsonl, json, text, parquet, arrow, npy, gxl, cxl, gxl-collection"),
    ],
)
def test_unknown_suffixes_come_with_a_remedy_that_is_no_option_of_a_command(tmp_path, name, message):
    path = csv(tmp_path, "a\n1\n", name)
    assert message_of(read, path) == f"{path}: the suffix '{path.suffix}' is not known; {message}"


def test_formats_are_found_by_their_first_bytes(tmp_path):
    table = pyarrow.table({"x": [1.5]})
    pyarrow.parquet.write_table(table, tmp_path / "one")
    pyarrow.feather.write_feather(table, str(tmp_path / "two.data"), compression="uncompressed")
    assert columns(tmp_path / "one") == columns(tmp_path / "two.data") == {"x": [1.5]}
    assert "unknown format 'exel'" in message_of(read, tmp_path / "one", "exel")


def test_parquet_types(tmp_path):
    moment = datetime.datetime(2024, 1, 31, 12, 30)
    table = pyarrow.table({
        "whole": [1, 2], "gap": [1, None], "real": pyarrow.array([0.5, 1.5], pyarrow.float32()),
        "decimal": [decimal.Decimal("1.25"), None], "truth": [True, None], "text": ["007", "NA"],
        "category": pyarrow.array(["a", "b"]).dictionary_encode(), "day": [datetime.date(2024, 1, 31), None],
        "moment": pyarrow.array([moment, moment], pyarrow.timestamp("ns")), "time": [datetime.time(12), None],
        "duration": [datetime.timedelta(seconds=2), None], "nothing": pyarrow.nulls(2),
    })  # fmt: skip
    path = parquet(tmp_path, table)
    assert kinds(path) == {
        "whole": "number", "gap": "number", "real": "number", "decimal": "number", "truth": "boolean", "text": "text",
        "category": "text", "day": "date", "moment": "date", "time": "time of day", "duration": "duration",
        "nothing": "text",
    }  # fmt: skip
    (row, _) = guess_schema(read(path), "").patterns(read(path)[0])
    assert (row["decimal"], row["text"], row["moment"], row["gap"], row["nothing"]) == (1.25, "007", moment, 1.0, None)


@pytest.mark.parametrize("write", [pyarrow.ipc.new_file, pyarrow.ipc.new_stream])
def test_arrow_files_and_streams_of_many_batches(tmp_path, write):
    table = pyarrow.table({"x": np.arange(10_000.0), "s": ["a", None] * 5000})
    with write(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=4500)
    chunks = read(tmp_path / "a.arrow")
    assert [len(chunk) for chunk in chunks] == [4096, 404, 4096, 404, 1000]
    assert [chunk.first for chunk in chunks] == [0, 4096, 4500, 8596, 9000]
    assert np.concatenate([chunk.columns["x"] for chunk in chunks]).tolist() == list(range(10_000))


def test_parquet_of_many_row_groups_and_of_none(tmp_path):
    many = read(parquet(tmp_path, pyarrow.table({"x": np.arange(100.0)}), row_group_size=7))
    assert [value for chunk in many for value in chunk.columns["x"]] == list(range(100))
    assert fault(parquet(tmp_path, pyarrow.table({"x": pyarrow.array([], pyarrow.float64())}))) == (
        "a.parquet: holds no rows; at least 1 is required"
    )


def test_columns_that_are_lists_or_bytes_are_refused_unless_dropped(tmp_path):
    path = parquet(tmp_path, pyarrow.table({"x": [1.0, 2.0], "v": [[1, 2], [3]], "b": [b"x", b"y"]}))
    assert "row 1: column 'v': '[1, 2]' is not a single value; drop the column" in fault(path)
    assert guess_schema(read(path), "", ["v", "b"]).names == ["x"]


def test_infinity_in_a_typed_column_is_an_error_and_nan_a_gap(tmp_path):
    assert "row 2: column 'x': 'inf' is not a finite number" in fault(
        parquet(tmp_path, pyarrow.table({"x": [1.0, math.inf]}))
    )
    schema = guess_schema(read(parquet(tmp_path, pyarrow.table({"x": [1.0, math.nan]}))), "")
    assert (schema.kind, schema.columns) == ("records", (("x", "number"),))


def test_pandas_unnamed_index_is_no_column(tmp_path):
    assert list(columns(parquet(tmp_path, pyarrow.table({"x": [1.0], "__index_level_0__": [5]})))) == ["x"]


def test_a_name_twice_in_parquet(tmp_path):
    table = pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], names=["x", "x"])
    assert fault(parquet(tmp_path, table)) == "a.parquet: the column 'x' occurs twice; rename one"


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
@pytest.mark.parametrize("data", [b"", b"PAR1", b"ARROW1\0\0", b"a,b\n1,2\n", b"\xff" * 100])
def test_damaged_typed_files_are_one_line(tmp_path, name, data):
    said = fault(csv(tmp_path, data, name))
    assert said.startswith(f"{name}: cannot be read: ")
    assert said.endswith("is the file complete, and does its name match its format?")


def test_dates_out_of_pythons_reach_are_an_error(tmp_path):
    far = pyarrow.array([2**62], pyarrow.timestamp("s"))
    assert "column 'x' of type timestamp[s]" in fault(parquet_or_arrow(tmp_path, far))


def parquet_or_arrow(tmp_path, array):
    table = pyarrow.table({"x": array})
    with pyarrow.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table)
    return tmp_path / "a.arrow"
