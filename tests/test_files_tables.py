import datetime
import decimal
import math
import os
import zipfile

import numpy as np
import openpyxl
import pyarrow
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

from eocc.io.archive import Limits
from eocc.io.files import Schema, guess_schema, open_chunks, sheets, source
from eocc.io.files.chunk import CHUNK_BYTES, CHUNK_ROWS
from eocc.io.files.dialect import LINES_AHEAD, Dialect, delimiter_of
from eocc.io.files.formats import FORMATS
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
        (
            b"a;b\n1;2;3\n1;2\n4;5\n",
            "a.csv:1: only one column, with ';' in its name; if that divides cells, pass --del",
        ),
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
        (["1,000", "2"], "number"),
        (["1,00", "2.5"], "text"),
        (["٣", "4"], "text"),
        (["0x10", "4"], "text"),
        (["infinity", "low"], "text"),
        (["true", "FALSE", "?"], "boolean"),
        (["yes", "no"], "boolean"),
        (["yes", "1"], "text"),
        (["yes", "no", "1"], "text"),
        (["2024-01-31", "2024-02-01 12:30"], "date"),
        (["2024-02-30", "2024-02-01"], "text"),
        (["01067", "4109", ""], "text"),
        (["00", "5"], "text"),
        (["0", "10"], "number"),
        (["0.5", "00.5"], "number"),
        (["007", "1.5"], "number"),
        (["007", "-5"], "number"),
        (["07%", "12%"], "number"),
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
        ("a.xls", "save the sheet as .xlsx or .csv"),
        ("a.npz", "save the array that you need with numpy.save, as .npy"),
        ("a.dat", f"convert it to one of {', '.join(FORMATS)}"),
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
    }  # fmt: skip
    (row, _) = guess_schema(read(path), "").patterns(read(path)[0])
    assert (row["decimal"], row["text"], row["moment"], row["gap"]) == (1.25, "007", moment, 1.0)


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


def test_codes_that_begin_with_0_are_text_with_a_remark(tmp_path):
    book = openpyxl.Workbook()
    for row in [["plz", "load"], [80331, 1.5], ["01067", 2.5]]:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    for path in (csv(tmp_path, "plz,load\n80331,1.5\n 01067,2.5\n"), tmp_path / "a.xlsx"):
        (chunk,) = read(path)
        schema = guess_schema([chunk], "")
        assert schema.patterns(chunk) == [{"plz": "80331", "load": 1.5}, {"plz": "01067", "load": 2.5}]
        assert schema.remarks == ("column 'plz' counts as text because '01067' (line 3) begins with 0",)
        (new,) = read(csv(tmp_path, "plz,load\n80331,007\n"))
        assert schema.patterns(new) == [{"plz": "80331", "load": 7.0}]


def test_codes_that_count_the_rows_name_them(tmp_path):
    (chunk,) = read(csv(tmp_path, "part,load\n" + "".join(f"{k:04d},{k % 3}\n" for k in range(30))))
    schema = guess_schema([chunk], "")
    assert schema.names == ["load"]
    assert schema.remarks == (
        "not compared: 'part' (has a different text in nearly every row); --all-columns compares it",
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("a;b\n1,5;x\n2,5;y\n", {"a": [1.5, 2.5], "b": ["x", "y"]}),
        ("load, kN;heat\n1,5;20\n2,5;30\n", {"load, kN": [1.5, 2.5], "heat": [20.0, 30.0]}),
        ("a\tb\n1,5\tx\n", {"a": [1.5], "b": ["x"]}),
        ("a|b\n1|2\n", {"a": [1.0], "b": [2.0]}),
        ('a,b\n"1,5",2\n"3,25",4\n', {"a": [1.5, 3.25], "b": [2.0, 4.0]}),
        ('a,b\n"1,234",2.5\n', {"a": [1234.0], "b": [2.5]}),
        ('a,b\n"1,234",2\n', {"a": [1234.0], "b": [2.0]}),
        ("a;b\n1.234,5;1.000\n", {"a": [1234.5], "b": [1000.0]}),
        ("a;b\n0,125;3,500\n", {"a": [0.125], "b": [3.5]}),
        ("a,b\n12%,€5\n13%,€6\n", {"a": [12.0, 13.0], "b": [5.0, 6.0]}),
        ("\ufeffa;b\n1,5;NA\n;x\n", {"a": [1.5, None], "b": [None, "x"]}),
    ],
    ids=["semicolons and decimal commas", "commas in names", "tabs in a .csv", "bars", "quoted decimal commas",
         "thousands", "thousands by the delimiter", "thousands with points", "a leading zero", "signs", "BOM and gaps"],
)  # fmt: skip
def test_how_a_csv_is_written_is_found(tmp_path, data, expected):
    path = csv(tmp_path, data)
    (chunk,) = read(path)
    schema = guess_schema([chunk], "", measure="gower")
    assert schema.patterns(chunk) == [
        dict(zip(expected, row, strict=True)) for row in zip(*expected.values(), strict=True)
    ]


@pytest.mark.parametrize(
    ("data", "given", "expected"),
    [
        ("a;b\n1,234;x\n", {"decimal": ","}, [1.234]),
        ("a;b\n1,234;x\n", {"decimal": "."}, [1234.0]),
        ("a:b\n1:x\n", {"delimiter": ":"}, [1.0]),
        ("a,b\n3/4/2031,x\n", {"dates": "day-first"}, [datetime.datetime(2031, 4, 3)]),
        ("a,b\n3/4/2031,x\n", {"dates": "month-first"}, [datetime.datetime(2031, 3, 4)]),
        ("a,b\n3/4/2031,x\n31/1/2031,y\n", {}, [datetime.datetime(2031, 4, 3), datetime.datetime(2031, 1, 31)]),
        ("a,b\n3/4/2031,x\n1/31/2031,y\n", {}, [datetime.datetime(2031, 3, 4), datetime.datetime(2031, 1, 31)]),
        ("a,b\n2031-04-03,x\n31.1.2031,y\n", {}, [datetime.datetime(2031, 4, 3), datetime.datetime(2031, 1, 31)]),
    ],
)
def test_what_is_given_is_not_guessed(tmp_path, data, given, expected):
    (chunk,) = open_chunks(csv(tmp_path, data), dialect=Dialect(**given))
    assert [row["a"] for row in guess_schema([chunk], "", measure="gower").patterns(chunk)] == expected


def test_what_can_be_read_in_two_ways_is_refused_or_noted_with_the_remedy(tmp_path):
    path = csv(tmp_path, "a;b\n1,234;x\n5,678;y\n")
    assert fault(path) == (
        "a.csv: the number '1,234' can be read in two ways; pass --decimal , for 1.234 or --decimal . for 1234"
    )
    path = csv(tmp_path, "a,b\n3/4/2031,1\n5/6/2031,2\n")
    (remark,) = guess_schema(read(path), "").remarks
    assert remark == (
        "column 'a' counts as text because '3/4/2031' (line 2) can be read as two dates; pass --dates day-first or "
        "--dates month-first"
    )
    path = csv(tmp_path, 'a,b\n"1,5",1.5\n"2,5",2.5\n2,3.5\n3,4.5\n')
    (remark,) = guess_schema(read(path), "").remarks
    assert remark == (
        "column 'a' counts as text because '1,5' (line 2) is not a number; if its decimal mark is ',', pass --decimal ,"
    )
    path = csv(tmp_path, "a,b\n12%,1\n5,2\n")
    assert guess_schema(read(path), "").remarks[0] == (
        "column 'a' counts as text because it holds numbers without a sign and with %; write all in one unit"
    )


def test_new_rows_are_refused_with_the_option_that_would_read_them(tmp_path):
    numbers, dates = Schema("numbers", (("a", "number"),)), Schema("records", (("a", "date"),))
    (chunk,) = read(csv(tmp_path, 'a,b\n1.5,x\n"2,5",x\n'))
    assert message_of(numbers.patterns, chunk).endswith("if its decimal mark is ',', pass --decimal ,")
    (chunk,) = read(csv(tmp_path, "a,b\n3/4/2031,x\n"))
    said = "'3/4/2031' can be read as two dates; pass --dates day-first or --dates month-first"
    assert message_of(dates.patterns, chunk).endswith(said)


def test_signs_are_noted(tmp_path):
    schema = guess_schema(read(csv(tmp_path, "a,b\n12%,1\n13%,2\n")), "")
    assert (schema.kind, schema.remarks) == ("numbers", ("column 'a' holds numbers with %, which is left out",))


def test_the_delimiter_is_found_in_20_lines(tmp_path):
    rows = "1;2\n" * (LINES_AHEAD - 2)
    odd = "x;y;z\n"
    assert delimiter_of(["a;b\n", *rows.splitlines(), odd]) == ";"  # the last line may be cut
    assert delimiter_of(["a;b\n", odd, "1;2\n"]) == ","


@pytest.mark.parametrize(
    ("lines", "delimiter"),
    [
        (["a;unit,b,c\n", "x;mm,1,2\n", "y;kg,3,4\n"], ","),
        (["a;unit,b,c\n", "x;mm,p,q\n", "y;kg,r,s\n"], ","),  # more cells
        (["load, kN;heat, C\n", "1,5;20,5\n", "2,5;21,5\n"], ";"),  # more numbers
        (["load, kN;heat\n", "x,y;z\n", "x,y;z\n"], ";"),
    ],
)
def test_of_two_delimiters_the_one_with_more_numbers_or_more_cells_is_taken(lines, delimiter):
    assert delimiter_of(lines) == delimiter
    assert LINES_AHEAD == 20


@pytest.fixture
def workbook(tmp_path):
    book = openpyxl.Workbook()
    moment = datetime.datetime(2031, 1, 31, 12)
    for row in [
        ["x", "s", "on", "at"],
        [1.5, "a", True, moment],
        [],
        [2, None, False, "NA"],
        ["#N/A", "12 %", None, moment],
    ]:
        book.active.append(row)
    book.create_sheet("other").append(["y"])
    book.save(tmp_path / "a.xlsx")
    return tmp_path / "a.xlsx"


def test_the_first_sheet_of_a_workbook(workbook):
    moment = datetime.datetime(2031, 1, 31, 12)
    (chunk,) = read(workbook)
    schema = guess_schema([chunk], "")
    assert schema.columns == (("x", "number"), ("s", "text"), ("on", "boolean"), ("at", "date"))
    assert schema.patterns(chunk) == [
        {"x": 1.5, "s": "a", "on": True, "at": moment}, {"x": 2.0, "s": None, "on": False, "at": None},
        {"x": None, "s": "12 %", "on": None, "at": moment},
    ]  # fmt: skip
    assert list(chunk.lines) == [2, 4, 5]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "a.xlsx: is empty; it needs a header and rows"),
        ([["a", "a"]], "a.xlsx:1: the column 'a' occurs twice; rename one"),
        ([["a", None, "b"], [1, 2, 3]], "a.xlsx:1: column 2 of the header has no name"),
        ([["a"], [1, 2]], "a.xlsx:2: 2 cells, but the header has 1; name all columns"),
        ([["a"]], "a.xlsx: holds no rows"),
    ],
)
def test_errors_in_a_workbook_name_the_line(tmp_path, rows, message):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert fault(tmp_path / "a.xlsx").startswith(message)


def test_a_workbook_that_unpacks_to_too_much_is_refused(workbook, monkeypatch):
    assert sheets.LIMITS.file_bytes == 2**28
    monkeypatch.setattr(sheets, "LIMITS", Limits(file_bytes=500))
    assert "is larger than the limit of 500 bytes" in fault(workbook)


def test_a_line_that_is_too_long_is_refused(tmp_path, monkeypatch):
    assert source.LONGEST_LINE == 2**26
    monkeypatch.setattr(source, "LONGEST_LINE", 100)
    path = csv(tmp_path, b"a,b\n1,2\n" + b"1" * 101 + b",2\n")
    assert fault(path).startswith("a.csv:3: the line is longer than 100 bytes; write one row per line")


def test_a_damaged_workbook_is_one_line(workbook):
    data = workbook.read_bytes()
    workbook.write_bytes(data[: len(data) // 2])
    assert fault(workbook).startswith("a.xlsx: cannot be read: ")
    with zipfile.ZipFile(workbook, "w") as archive:
        archive.writestr("oak.txt", "elm")
    assert fault(workbook).endswith("is it a complete Excel workbook?")
