import json

import pytest

from eocc.formats.files.formats import open_files
from eocc.formats.files.rows import CHUNK_ROWS, learn
from eocc.formats.strict_json import JsonError, parse_json
from graph_files import message_of


def read(tmp_path, data, name="a.jsonl"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return list(open_files([path]))


def objects(tmp_path, data, name="a.jsonl"):
    return [value for chunk in read(tmp_path, data, name) for value in chunk.objects]


def kind(tmp_path, data, measure=None, name="a.jsonl"):
    return learn(read(tmp_path, data, name), name, measure).known.kind


def fault(tmp_path, data, name="a.jsonl", measure=None):
    said = message_of(lambda: learn(read(tmp_path, data, name), name, measure))
    return said.replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("oak\nelm\n", ["oak", "elm"]),
        (b"\xef\xbb\xbfoak\r\nelm", ["oak", "elm"]),
        ("oak\n\n  \nelm \n", ["oak", "elm "]),
        ("a\u2028b\x0cc\n", ["a\u2028b\x0cc"]),
    ],
)
def test_lines_of_text(tmp_path, data, expected):
    assert objects(tmp_path, data, "a.txt") == expected


def test_text_has_line_numbers_and_chunks(tmp_path):
    chunks = read(tmp_path, "\n" + "x\n" * (CHUNK_ROWS + 1), "a.txt")
    assert [len(chunk) for chunk in chunks] == [CHUNK_ROWS, 1]
    assert chunks[1].place(0) == f"line {CHUNK_ROWS + 2}"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ('"oak"\n""\n', "strings"),
        ("[1, 2.5]\n[3]\n", "series"),
        ("[[1, 2], [3, 4]]\n[[0, 1]]\n", "series"),
        ('["a"]\n[]\n', "tokens"),
        ('{"a": 1}\n{"a": 2}\n', "numbers"),
        ('{"a": 1, "b": "x"}\n{"a": null, "b": "y"}\n', "records"),
        ("1\n2.5\n", "numbers"),
        ('{"nodes": [], "links": []}\n', "graphs"),
        ('{"nodes": [{"id": 1}], "edges": []}\n', "graphs"),
        ('{"nodes": 3, "edges": 2}\n{"nodes": 4, "edges": 1}\n', "numbers"),
    ],
)
def test_what_lines_of_json_hold(tmp_path, data, expected):
    assert kind(tmp_path, data) == expected
    assert kind(tmp_path, "\n" + data.replace("\n", "\r\n\r\n")) == expected


def test_records_are_columns_whatever_the_order_of_keys(tmp_path):
    (chunk,) = read(tmp_path, '{"a": 1, "b": "x"}\n{"b": null, "a": 2.5}\n')
    assert {name: column.cells() for name, column in chunk.columns.items()} == {"a": [1, 2.5], "b": ["x", None]}


def test_strings_in_json_are_read_as_in_any_other_file(tmp_path):
    chunks = read(tmp_path, '{"a": "1", "b": "NA", "c": "012"}\n{"a": "2", "b": "x", "c": "345"}')
    columns = learn(chunks, "").known.columns
    assert [(one.name, one.kind) for one in columns] == [("a", "number"), ("b", "text"), ("c", "text")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "a.jsonl: holds no rows"),
        ("\n  \n", "a.jsonl: holds no rows"),
        (
            '{"a": 1}\n{"b": 1}\n',
            "a.jsonl:2: this record has no 'a', but the first has; give every record the same keys",
        ),
        ('{"a": 1}\n{"a": 1, "b": 2}\n', "a.jsonl:2: the first record has no 'b', but this one has"),
        ('{"a": 1}\n"x"\n', "a.jsonl:2: a list or text, but the first is a record"),
        ('"x"\n{"a": 1}\n', "a.jsonl:2: a record, but the first is a list or text"),
        ('"x"\n[1]\n', "a.jsonl:2: the list [1] is not a text, as the first object is"),
        ("[1]\n[]\n", "a.jsonl:2: the list [] is not a series of numbers, as the first object is"),
        ("[1, null]\n", "a.jsonl:1: the list [1, None] cannot be compared"),
        ("[true]\n", "a.jsonl:1: the list [True] cannot be compared"),
        ('[1, "a"]\n', "a.jsonl:1: the list [1, 'a'] cannot be compared"),
        ("[[1, 2], [3]]\n", "a.jsonl:1: the list [[1, 2], [3]] cannot be compared"),
        ("[[], []]\n", "a.jsonl:1: the list [[], []] cannot be compared"),
        ("null\n", "a.jsonl:1: null cannot be compared"),
        ('{"a": [1]}\n', "a.jsonl:1: column 'a': '[1]' is not a single value; drop the column"),
        (
            '{"a": 1}\n{"a": NaN}\n',
            "a.jsonl:2: NaN is not a number in JSON; write null for missing values; write one JSON",
        ),
        ("[1e400]\n", "a.jsonl:1: the number '1e400' is too large"),
        ("[" + "9" * 5000 + "]\n", "a.jsonl:1: the number '9999999999999999999999999999999999999...' is too large"),
        ("[" * 100_000, "a.jsonl:1: the value is nested too deeply"),
        ('{"a": 1, "a": 2}\n', "a.jsonl:1: the key 'a' occurs twice"),
        ('"\\ud800"\n', "a.jsonl:1: a text holds half a surrogate pair"),
        (
            "[1,\n2]\n",
            "a.jsonl:1: not a JSON value: Expecting value at character 1; if the file is one array over several",
        ),
        ("{}\n", "a.jsonl:1: an object without keys cannot be compared"),
        (b'"\xff"\n', "a.jsonl:1: byte 2, 0xff, is not UTF-8"),
        (b'"\0"\n', "a.jsonl:1: a NUL byte"),
    ],
)
def test_errors_in_json_lines_name_the_line(tmp_path, data, message):
    assert fault(tmp_path, data).startswith(message)


def test_one_array_over_several_lines_is_read_as_json(tmp_path):
    assert objects(tmp_path, "[[1,\n2],\n[3]]", "a.json") == [[1, 2], [3]]
    (chunk,) = read(tmp_path, '[\n {"a": 1},\n {"a": 2}\n]', "a.json")
    assert ({"a": chunk.columns["a"].cells()}, chunk.place(1)) == ({"a": [1, 2]}, "row 2")
    assert kind(tmp_path, '{"nodes": [],\n "links": []}', name="a.json") == "graphs"


def test_json_lines_are_read_under_the_name_of_json_too(tmp_path):
    (chunk,) = read(tmp_path, '{"a": 1}\n\n{"a": 2}\n', "a.json")
    assert ({"a": chunk.columns["a"].cells()}, chunk.place(1)) == ({"a": [1, 2]}, "line 3")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"a":\n1}\n{"a": 2}\n', "a.json:3: not a JSON value: Extra data at character 1"),
        ('{"a": 1}\n\n{"b": 2}\n', "a.json:3: this record has no 'a'"),
        ('[\n1,\n"x"]', "a.json: row 2: a list or text, but the first is a number"),
        ("[1, 2", "a.json:1: not a JSON value: Expecting ',' delimiter"),
        ("[]", "a.json: holds no rows"),
        ("", "a.json:1: not a JSON value: Expecting value"),
        ('["x", []]', "a.json: row 2: the list [] is not a text"),
    ],
)
def test_errors_in_json_name_the_place(tmp_path, data, message):
    assert fault(tmp_path, data, "a.json").startswith(message)


def test_lists_of_numbers_are_rows_where_the_measure_compares_rows(tmp_path):
    learnt = learn(read(tmp_path, "[1, 2]\n[3, 4]\n"), "", "euclidean")
    assert (learnt.known.kind, learnt.known.names) == ("numbers", [0, 1])
    assert learnt.known.patterns(learnt.X.patterns).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("data", "measure", "message"),
    [
        ('"x"\n', "gower", "holds strings, which 'gower' does not compare; use string-edit"),
        ("[1]\n", "string-edit", "which 'string-edit' does not compare; use dtw"),
        ('{"a": 1}\n', "dtw", "in 1 column (a), which 'dtw' does not compare; use euclidean, standardised"),
        ('{"a": "x"}\n', "euclidean", "column 'a' holds text, but euclidean compares numbers; drop it, or choose"),
    ],
)
def test_a_measure_for_other_data_is_refused(tmp_path, data, measure, message):
    assert message in fault(tmp_path, data, measure=measure)


@pytest.mark.parametrize("text", ["1", "-0.5", '"\\ud83d\\ude00"', "1" + "0" * 308, "-1" + "0" * 308, '{"a": {}}'])
def test_plain_json_is_what_json_is(text):
    assert parse_json(text) == json.loads(text)


@pytest.mark.parametrize("text", ["1" + "0" * 309, "-1e309", "Infinity", "-Infinity", '"\\udc00"', "[1] 2", "", "'a'"])
def test_odd_json_is_refused(text):
    with pytest.raises(JsonError):
        parse_json(text)
