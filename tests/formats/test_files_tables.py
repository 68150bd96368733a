import datetime
import decimal
import gzip
import math
import os
import re
import zipfile

import numpy as np
import openpyxl
import pyarrow
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

from eocc.formats.files import binary, formats
from eocc.formats.files.formats import FORMATS, open_files
from eocc.formats.files.rows import CHUNK_BYTES, CHUNK_ROWS, Choices, learn, placing
from eocc.formats.files.tables import LINES_AHEAD, delimiter_of
from eocc.tables.judge import BadCellError
from eocc.tables.reading import ReadColumn, Reading
from eocc.tables.spelling import Dialect
from graph_files import message_of, within_a_minute
from tables import records, remarks


def read(path, file_format=None):
    return list(open_files([path], file_format))


def columns(path, file_format=None):
    (chunk,) = read(path, file_format)
    return {name: column.cells() for name, column in chunk.columns.items()}


def csv(tmp_path, data, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def parquet(tmp_path, table, **options):
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", **options)
    return tmp_path / "a.parquet"


def kinds(path):
    return {one.name: one.kind for one in learn(read(path), str(path)).known.columns}


def fault(path, file_format=None):
    """What is wrong with a file, without the folder it is in."""
    return message_of(lambda: learn(read(path, file_format), str(path))).replace(f"{path.parent}/", "")


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
        ("a,b\n,\n", {"a": [None], "b": [None]}),
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
        (b"a,,b\n0,1,2\n", "a.csv:1: column 2 of the header has no name; give it one, or delete it"),
        (b"0.5,1.5\n2.5,3.5\n", "a.csv:1: numbers such as '0.5' where a header is expected"),
        (
            b"a;b\n1;2;3\n1;2\n4;5\n",
            "a.csv:1: only one column, with ';' in its name; if that divides cells, pass --del",
        ),
        (b'a,b\n1,"x\n2,y\n', "a.csv:2: a quote is never closed"),
        (b'a,b\n1,"x"y\n', "a.csv:2: text after a closing quote"),
        (b"a,b\r1,2\r", "a.csv:1: a lone carriage return in a row; save"),
        (b"a,b\n1,\0\n", "a.csv:2: a NUL byte"),
        (b"PK\3\4\24\0", "a.csv: is no text but a zip archive (name an Excel file .xlsx, or"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "a.csv: is no text but packed by gzip (name it .csv.gz)"),
        (b"\x89PNG\r\n\x1a\n\0", "a.csv: is no text but a picture"),
        ("a,b\n1,é\n".encode("latin-1"), "a.csv:2: byte 3, 0xe9, is not UTF-8; save the file as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "a.csv:1: a NUL byte"),
        (b'a,b\n1, "' + b"x" * 200_000 + b'"\n', "a.csv:2: a cell has more than 131072 characters"),
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
    assert kinds(path) == {"x": "text"}
    (remark,) = remarks(read(path))
    assert remark.startswith(
        f"column 'x' counts as text because 'one' (line {CHUNK_ROWS + 2}) is not a number; correct it"
    )


def test_chunks_are_bounded_in_bytes(tmp_path):
    n_rows = 3 * CHUNK_BYTES // 10
    chunks = read(csv(tmp_path, "x,y\n" + "1234,5678\n" * n_rows))
    assert sum(map(len, chunks)) == n_rows
    assert [chunk.rows[0] for chunk in chunks] == [0, len(chunks[0]), len(chunks[0]) + len(chunks[1])]
    assert max(map(len, chunks)) <= CHUNK_BYTES // 10 + LINES_AHEAD + 1


def test_a_block_that_pyarrow_refuses_is_read_by_the_csv_module(tmp_path):
    plain = "a,b\n" + "".join(f"{k},x{k % 7}\n" for k in range(1000))
    odd = plain.replace("500,x3\n", '500, "x3"\n\n')
    for name in ("a", "b"):
        one, other = (columns(csv(tmp_path, data))[name] for data in (plain, odd))
        assert one == other


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
        ("a.zst", "unpack it first: unzstd FILE"),
        ("a.npz", "save the array that you need with numpy.save, as .npy"),
        ("a.dat", f"convert it to one of {', '.join(FORMATS)}"),
    ],
)
def test_unknown_suffixes_come_with_a_remedy_that_is_no_option_of_a_command(tmp_path, name, message):
    path = csv(tmp_path, "a\n1\n", name)
    assert message_of(read, path) == f"{path}: the suffix '{path.suffix}' is not known; {message}"


def test_formats_are_found_by_their_suffix_or_given(tmp_path):
    table = pyarrow.table({"x": [1.5]})
    pyarrow.parquet.write_table(table, tmp_path / "one")
    pyarrow.feather.write_feather(table, str(tmp_path / "two.feather"), compression="uncompressed")
    assert columns(tmp_path / "one", "parquet") == columns(tmp_path / "two.feather") == {"x": [1.5]}
    assert "it has no suffix to tell the format" in message_of(read, tmp_path / "one")
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
    (row, _) = records(read(path))
    assert (row["decimal"], row["text"], row["moment"], row["gap"]) == (1.25, "007", "2024-01-31T12:30:00", 1.0)


@pytest.mark.parametrize("write", [pyarrow.ipc.new_file, pyarrow.ipc.new_stream])
def test_arrow_files_and_streams_of_many_batches(tmp_path, write):
    table = pyarrow.table({"x": np.arange(10_000.0), "s": ["a", None] * 5000})
    with write(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=4500)
    chunks = read(tmp_path / "a.arrow")
    assert [len(chunk) for chunk in chunks] == [4500, 4500, 1000]
    assert [chunk.rows[0] for chunk in chunks] == [0, 4500, 9000]
    assert np.concatenate([chunk.columns["x"].values for chunk in chunks]).tolist() == list(range(10_000))


def test_parquet_of_many_row_groups_and_of_none(tmp_path):
    many = read(parquet(tmp_path, pyarrow.table({"x": np.arange(100.0)}), row_group_size=7))
    assert [value for chunk in many for value in chunk.columns["x"].values] == list(range(100))
    assert fault(parquet(tmp_path, pyarrow.table({"x": pyarrow.array([], pyarrow.float64())}))) == (
        "a.parquet: holds no rows; at least 1 is required"
    )


def test_columns_that_are_lists_or_bytes_are_refused_unless_dropped(tmp_path):
    path = parquet(tmp_path, pyarrow.table({"x": [1.0, 2.0], "v": [[1, 2], [3]], "b": [b"x", b"y"]}))
    assert "row 1: column 'v': '[1, 2]' is not a single value; drop the column" in fault(path)
    assert learn(read(path), "", choices=Choices(["v", "b"])).known.names == ["x"]


def test_infinity_in_a_typed_column_is_an_error_and_nan_a_gap(tmp_path):
    assert "row 2: column 'x': 'inf' is not a finite number" in fault(
        parquet(tmp_path, pyarrow.table({"x": [1.0, math.inf]}))
    )
    path = parquet(tmp_path, pyarrow.table({"x": [1.0, math.nan]}))
    assert (learn(read(path), "").known.kind, kinds(path)) == ("records", {"x": "number"})


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
    assert "column 'x': 'inf' is not a finite number" in fault(parquet_or_arrow(tmp_path, far))


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
        assert records([chunk]) == [{"plz": "80331", "load": 1.5}, {"plz": "01067", "load": 2.5}]
        assert remarks([chunk]) == ["column 'plz' counts as text because '01067' (line 3) begins with 0"]
        (new,) = read(csv(tmp_path, "plz,load\n80331,007\n"))
        assert records([new], learn([chunk], "").known) == [{"plz": "80331", "load": 7.0}]


def test_codes_that_count_the_rows_name_them(tmp_path):
    (chunk,) = read(csv(tmp_path, "part,load\n" + "".join(f"{k:04d},{k % 3}\n" for k in range(30))))
    assert learn([chunk], "").known.names == ["load"]
    assert remarks([chunk]) == [
        "not compared: 'part' (has a different text in nearly every row); --all-columns compares it"
    ]


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
    assert records([chunk]) == [dict(zip(expected, row, strict=True)) for row in zip(*expected.values(), strict=True)]


@pytest.mark.parametrize(
    ("data", "given", "expected"),
    [
        ("a;b\n1,234;x\n", {"decimal": ","}, [1.234]),
        ("a;b\n1,234;x\n", {"decimal": "."}, [1234.0]),
        ("a:b\n1:x\n", {"delimiter": ":"}, [1.0]),
        ("a,b\n3/4/2031,x\n", {"dates": "day-first"}, ["2031-04-03"]),
        ("a,b\n3/4/2031,x\n", {"dates": "month-first"}, ["2031-03-04"]),
        ("a,b\n3/4/2031,x\n31/1/2031,y\n", {}, ["2031-04-03", "2031-01-31"]),
        ("a,b\n3/4/2031,x\n1/31/2031,y\n", {}, ["2031-03-04", "2031-01-31"]),
        ("a,b\n2031-04-03,x\n31.1.2031,y\n", {}, ["2031-04-03", "2031-01-31"]),
    ],
)
def test_what_is_given_is_not_guessed(tmp_path, data, given, expected):
    (chunk,) = open_files([csv(tmp_path, data)], dialect=Dialect(**given))
    assert [row["a"] for row in records([chunk])] == expected


def test_what_can_be_read_in_two_ways_is_refused_or_noted_with_the_remedy(tmp_path):
    path = csv(tmp_path, "a;b\n1,234;x\n5,678;y\n")
    assert fault(path) == (
        "a.csv: the number '1,234' can be read in two ways; pass --decimal , if the comma is the decimal mark, "
        "--decimal . if it divides thousands"
    )
    path = csv(tmp_path, "a,b\n3/4/2031,1\n5/6/2031,2\n")
    (remark,) = remarks(read(path))[:1]
    assert remark == (
        "column 'a' counts as text because '3/4/2031' (line 2) can be read as two dates; pass --dates day-first or "
        "--dates month-first"
    )
    path = csv(tmp_path, 'a,b\n"1,5",1.5\n"2,5",2.5\n2,3.5\n3,4.5\n')
    (remark,) = remarks(read(path))[:1]
    assert remark == (
        "column 'a' counts as text because '1,5' (line 2) is not a number; if its decimal mark is ',', pass --decimal ,"
    )


def test_new_rows_are_refused_with_the_option_that_would_read_them(tmp_path):
    for kind, data, said in [
        ("number", 'a,b\n1.5,x\n"2,5",x\n', "if its decimal mark is ',', pass --decimal ,"),
        ("date", "a,b\n3/4/2031,x\n", "two dates; pass --dates day-first or --dates month-first"),
    ]:
        (chunk,) = read(csv(tmp_path, data))
        with pytest.raises(BadCellError, match=re.escape(said) + "$"), placing(chunk):
            Reading((ReadColumn("a", kind),)).table(chunk.table)


def test_signs_are_left_out(tmp_path):
    for data in ("a,b\n12%,1\n13%,2\n", "a,b\n12%,1\n5,2\n"):
        chunks = read(csv(tmp_path, data))
        assert learn(chunks, "").known.kind == "numbers"
        assert remarks(chunks) == []


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
    sheet = book.active
    for row in [
        ["x", "s", "on", "at"],
        [1.5, "a", True, moment],
        [],
        [2, None, False, "NA"],
        ["#N/A", "12 %", None, moment],
    ]:
        sheet.append(row)
    book.create_sheet("cover", 0).append(["Measurements of January"])
    book.create_sheet("other").append(["y"])
    book["other"].append([7])
    book.save(tmp_path / "a.xlsx")
    return tmp_path / "a.xlsx"


def test_the_largest_sheet_of_a_workbook_or_the_one_that_is_named(workbook):
    (chunk,) = read(workbook)
    assert kinds(workbook) == {"x": "number", "s": "text", "on": "boolean", "at": "date"}
    at = "2031-01-31T12:00:00"
    assert records([chunk]) == [
        {"x": 1.5, "s": "a", "on": True, "at": at}, {"x": 2.0, "s": None, "on": False, "at": None},
        {"x": None, "s": "12 %", "on": None, "at": at},
    ]  # fmt: skip
    assert list(chunk.lines) == [2, 4, 5]
    assert chunk.layout == "sheet 'Sheet' of 3, --sheet chooses another"
    (other,) = open_files([workbook], sheet="other")
    assert records([other]) == [{"y": 7.0}]
    assert "has no sheet 'oher'; it has 'cover', 'Sheet', 'other'. Did you mean 'other'?" in message_of(
        lambda: list(open_files([workbook], sheet="oher"))
    )


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


def test_a_workbook_that_needs_too_much_memory_is_refused(tmp_path):
    assert (binary.MEMORY, binary.TIMES) == (2**28, 64)
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    book.active["XFD1048576"] = 1  # two cells, and a box of 17 billion around them
    book.save(tmp_path / "a.xlsx")
    with within_a_minute():
        assert "a.xlsx: needs more than 256 MiB of memory; save the sheet as .csv" in fault(tmp_path / "a.xlsx")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_packed_files(tmp_path, suffix, monkeypatch):
    path = csv(tmp_path, "", f"a.csv{suffix}")
    with formats.PACKED[suffix](path, "wb") as file:
        file.write(b"a,b\n1,x\n2,y\n")
    assert columns(path) == {"a": ["1", "2"], "b": ["x", "y"]}
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert "cannot be unpacked" in fault(path)
    path.write_bytes(data)
    assert (formats.UNPACKED_BYTES, formats.UNPACKED_TIMES) == (2**28, 200)
    monkeypatch.setattr("eocc.formats.files.formats.UNPACKED_BYTES", 5)
    monkeypatch.setattr("eocc.formats.files.formats.UNPACKED_TIMES", 0.01)
    assert "unpacks to more than 5 bytes" in fault(path)
    csv(tmp_path, "", f"a.parquet{suffix}")
    assert "a packed file holds csv, tsv" in fault(tmp_path / f"a.parquet{suffix}")


def test_a_line_that_is_too_long_is_refused(tmp_path, monkeypatch):
    assert formats.LONGEST_LINE == 2**26
    monkeypatch.setattr(formats, "LONGEST_LINE", 100)
    path = csv(tmp_path, b"a,b\n1,2\n" + b"1" * 301 + b",2\n")
    assert fault(path).startswith("a.csv:3: the line is longer than 100 bytes; write one row per line")


def test_a_damaged_workbook_is_one_line(workbook):
    data = workbook.read_bytes()
    workbook.write_bytes(data[: len(data) // 2])
    said = "a.xlsx: cannot be read; is it a complete workbook, and does its name match its format?"
    assert fault(workbook) == said
    with zipfile.ZipFile(workbook, "w") as archive:
        archive.writestr("oak.txt", "elm")
    assert fault(workbook) == said
