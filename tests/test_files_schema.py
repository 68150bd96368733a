import datetime

import numpy as np
import pytest

from eocc import SurpriseClassifier
from eocc.io.files import Chunk, Schema, guess_schema, schema_of_model
from eocc.measures import CosineBags, Gower, LabelledGraph
from graph_files import message_of

NUMBERS = Schema("numbers", (("a", "number"), ("b", "number")))
RECORDS = Schema("records", (("a", "number"), ("s", "text"), ("on", "boolean"), ("day", "date")))


def text(**columns):
    return Chunk("a.csv", 0, columns, lines=range(2, 99), is_text=True)


def typed(**columns):
    return Chunk("a.parquet", 4096, columns)


def values(*objects):
    return Chunk("a.jsonl", 0, objects=objects, lines=range(1, 99))


def fitted(patterns, **options):
    return SurpriseClassifier(**options).fit(patterns)


def test_rows_of_numbers_are_in_the_models_order_and_other_columns_are_left():
    chunk = text(b=["1", " -2.5e1 "], c=["x", "y"], a=["3", "+.5"])
    assert NUMBERS.patterns(chunk).tolist() == [[3.0, 1.0], [0.5, -25.0]]
    assert NUMBERS.ignored(chunk) == ["c"]
    rows = NUMBERS.patterns(typed(a=np.array([1, 2]), b=[0.5, 1]))
    assert rows.tolist() == [[1.0, 0.5], [2.0, 1.0]]
    assert rows.flags.c_contiguous


def test_records_have_values_of_their_kind():
    chunk = text(a=["1", ""], s=[" x ", "NA"], on=["yes", "?"], day=["2024-01-31", "null"])
    day = datetime.datetime(2024, 1, 31)
    assert RECORDS.patterns(chunk) == [
        {"a": 1.0, "s": "x", "on": True, "day": day},
        {"a": None, "s": None, "on": None, "day": None},
    ]


def test_typed_cells_are_what_they_are():
    chunk = typed(a=["1", 2], s=["NA", 7], on=[True, None], day=[datetime.date(2024, 1, 31), "2024-02-01"])
    first, second = RECORDS.patterns(chunk)
    assert (first["a"], first["s"], first["on"]) == (1.0, "NA", True)
    assert (second["s"], second["on"], second["day"]) == ("7", None, datetime.datetime(2024, 2, 1))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["1"]}, "a.csv: has no column 'b', which the model needs; it has 'a'"),
        ({"a": ["1"], "b": ["1_0"]}, "a.csv:2: column 'b': '1_0' is not a number"),
        ({"a": ["1", "2"], "b": ["1", "x"]}, "a.csv:3: column 'b': 'x' is not a number"),
        ({"a": ["1"], "b": ["1e400"]}, "a.csv:2: column 'b': '1e400' is not a number"),
        ({"a": ["1"], "b": ["inf"]}, "a.csv:2: column 'b': 'inf' is not a number"),
        ({"a": ["1", "2"], "b": ["1", "NA"]}, "a.csv:3: column 'b' has no number here; fill it in, or drop the row"),
        ({"a": ["1", "2", ""], "b": ["1", "NA", "3"]}, "a.csv:3: column 'b' has no number here"),
        ({"a": ["1"], "b": ["true"]}, "a.csv:2: column 'b': 'true'"),
        ({"a": ["1"], "b": ["x" * 999]}, "a.csv:2: column 'b': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"),
    ],
)
def test_other_rows_are_refused_with_line_and_value(columns, message):
    assert message_of(NUMBERS.patterns, text(**columns)).startswith(message)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"on": [1]}, "row 4097: column 'on': '1' is not true or false"),
        ({"a": [True]}, "row 4097: column 'a': 'True' is not a number"),
        (
            {"a": [None, float("inf")], "s": "xy", "on": [True] * 2, "day": [None] * 2},
            "row 4098: column 'a': 'inf'",
        ),
        ({"a": np.array([np.inf])}, "row 4097: column 'a': 'inf'"),
        (
            {"day": ["2024-02-30"]},
            "row 4097: column 'day': '2024-02-30' is not a date (2031-12-01 is)",
        ),
        ({"s": [["x"]]}, "row 4097: column 's': \"['x']\" is not text"),
    ],
)
def test_other_records_are_refused_with_row_and_value(columns, message):
    good = {"a": [1.0], "s": ["x"], "on": [True], "day": [None]}
    assert message_of(RECORDS.patterns, typed(**{**good, **columns})).startswith(f"a.parquet: {message}")


def test_lists_are_rows_by_position():
    assert NUMBERS.patterns(values([1, 2], [3.5, 4])).tolist() == [[1.0, 2.0], [3.5, 4.0]]
    assert message_of(NUMBERS.patterns, values([1, 2], [3])) == (
        "a.jsonl:2: the list [3] is not a list of 2 numbers; the model compares rows of numbers in 2 columns (a, b)"
    )
    assert "is not a record" in message_of(RECORDS.patterns, values([1, 2]))


def test_a_model_without_names_takes_columns_in_order_if_they_are_as_many():
    nameless = Schema("numbers", (("1", "number"), ("2", "number")), is_named=False)
    assert nameless.patterns(text(x=["1"], y=["2"])).tolist() == [[1.0, 2.0]]
    assert "has 1 column, but the model needs 2, and one of the two has no names" in message_of(
        nameless.patterns, text(x=["1"])
    )


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (Schema("strings"), ["a"], "the list ['a'] is not a text, which the model compares"),
        (Schema("tokens"), "a", "the text 'a' is not a list of texts"),
        (Schema("graphs"), None, "null is not a graph"),
        (Schema("series", n_channels=1), [], "the list [] is not a series of numbers"),
        (Schema("series", n_channels=2), [1, 2], "a series of 1 channel, but the model compares 2; correct it"),
        (Schema("series", n_channels=2), [[1, 2], [3]], "the list [[1, 2], [3]] is not a series of numbers"),
    ],
)
def test_objects_of_another_kind_are_refused_with_their_line(schema, value, message):
    assert message_of(schema.patterns, values(value)).startswith(f"a.jsonl:1: {message}")


def test_a_table_for_a_model_of_objects_is_refused():
    assert "holds a table, but the model compares strings" in message_of(Schema("strings").patterns, text(a=["x"]))


def test_a_column_is_one_kind_over_all_chunks():
    chunks = [text(a=["1", "2"], b=["1", "2"]), text(a=["3", "4"], b=["x", "4"])]
    schema = guess_schema(chunks, "a.csv")
    assert schema.columns == (("a", "number"), ("b", "text"))
    assert [schema.patterns(chunk)[0]["b"] for chunk in chunks] == ["1", "x"]


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        ({"a": ["1", "2"]}, {}, "numbers"),
        ({"a": ["1", ""]}, {}, "records"),
        ({"a": ["1", "2"]}, {"measure": "gower"}, "records"),
        ({"a": ["1", "2"], "y": ["x", "y"]}, {"apart": ["y"]}, "numbers"),
        ({"a": ["1", ""]}, {"measure": "euclidean"}, "numbers"),
    ],
)
def test_a_table_is_numbers_or_records(columns, options, expected):
    assert guess_schema([text(**columns)], "a.csv", **options).kind == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"apart": ["z"]}, "a.csv: has no column 'z'; it has 'a', 'b'"),
        ({"apart": ["a", "b"]}, "a.csv: has no columns left to compare; drop fewer"),
        (
            {"measure": "dtw"},
            "a.csv: holds records of 2 columns (number: a; text: b), which 'dtw' does not compare",
        ),
        (
            {"measure": "euclidean"},
            "a.csv: column 'b' counts as text because 'x' (line 3) is not a number, but euclidean compares numbers; "
            "pass --drop b",
        ),
    ],
)
def test_what_a_table_cannot_be(options, message):
    assert message_of(guess_schema, [text(a=["1", "2"], b=["1", "x"])], "a.csv", **options).startswith(message)


def test_the_schema_in_words():
    wide = Schema("numbers", tuple((f"c{k}", "number") for k in range(10)))
    assert wide.describe().endswith("(c0, c1, c2, c3, c4, c5, c6, c7 and 2 more)")
    assert Schema("series", n_channels=1).describe() == "series of 1 channel"
    assert Schema("numbers", (("1", "number"),), is_named=False).describe() == "rows of numbers in 1 column"
    assert "\n" not in Schema("records", (("two\nlines", "text"),)).describe()


def test_a_column_without_values_is_set_aside():
    chunks = [text(a=["", "NA"], b=["1", "2"]), text(a=["", ""], b=["3", "4"])]
    schema = guess_schema(chunks, "a.csv")
    assert (schema.kind, schema.names, schema.reasons) == ("numbers", ["b"], {"a": "holds no values"})
    assert schema.remarks == ("not compared: 'a' (holds no values); --all-columns compares it",)
    assert guess_schema(chunks, "a.csv", keeps_names=True).names == ["a", "b"]
    chunks.append(text(a=["x", ""], b=["5", "6"]))
    assert guess_schema(chunks, "a.csv").names == ["a", "b"]


def test_a_long_remark_is_whole_and_names_a_remedy():
    chunk = text(**{"air pressure": ["1000.25"] * 3 + ["oops"]})
    assert guess_schema([chunk], "").remarks == (
        "column 'air pressure' counts as text because 'oops' (line 5) is not a number; correct it, leave it empty, or "
        "--drop 'air pressure'",
    )


def test_models_know_what_they_compare(setosa):
    assert schema_of_model(fitted(setosa)) == Schema(
        "numbers", tuple((str(k), "number") for k in range(1, 5)), is_named=False, allows_gaps=True
    )
    assert schema_of_model(fitted(["oak", "elm", "ash"], measure="string-edit")).kind == "strings"
    assert schema_of_model(fitted([["a"], ["b", "c"]], measure="string-edit")).kind == "tokens"
    assert schema_of_model(fitted([["a"], ["b", "c"]], measure=CosineBags())).kind == "tokens"
    assert schema_of_model(fitted([[1.0, 2.0], [3.0]], measure="dtw")) == Schema("series", n_channels=1)
    assert schema_of_model(fitted([LabelledGraph(1), LabelledGraph(2)], measure="graph-edit")).kind == "graphs"
    assert schema_of_model(fitted(np.eye(3), measure="tanimoto")).names == ["1", "2", "3"]
    assert "cannot score files" in message_of(schema_of_model, fitted(1 - np.eye(3), measure="precomputed"))


def test_a_model_of_records_finds_numbered_columns_and_declared_kinds():
    rows = [[1.0, "x", 3], [2.0, "y", 4], [3.0, "x", 3]]
    classifier = fitted(rows, measure=Gower(kinds={2: "categorical"}))
    schema = schema_of_model(classifier)
    assert schema.columns == ((0, "number"), (1, "text"), (2, "number"))
    chunk = text(**{"0": ["1", "2", "3"], "1": ["x", "y", "x"], "2": ["3", "4", "3"]})
    assert np.array_equal(classifier.score_samples(schema.patterns(chunk)), classifier.score_samples(rows))


def test_a_typo_in_a_column_of_numbers_does_not_make_it_an_id():
    cells = [str(k / 7) for k in range(40)]
    cells[5] = "oops"
    schema = guess_schema([text(a=cells, b=["1", "2"] * 20)], "a.csv")
    assert schema.aside == ()
    assert schema.remarks == (
        "column 'a' counts as text because 'oops' (line 7) is not a number; correct it, leave it empty, or --drop a",
    )


def test_a_table_of_nothing_but_ids_is_refused_with_the_remedy():
    message = message_of(guess_schema, [text(a=[f"m{k}" for k in range(20)])], "a.csv")
    assert message == (
        "a.csv: has no columns left to compare; 'a' (has a different text in nearly every row); "
        "--all-columns compares it"
    )


def test_integers_that_all_differ_are_compared_with_a_remark():
    ids = [str(k * 7919 % 10007) for k in range(1, 41)]
    schema = guess_schema([text(order=ids, b=["1.5", "2"] * 20)], "a.csv")
    assert schema.names == ["order", "b"]
    assert schema.remarks == ("column 'order' has a different integer in every row; if it names them, --drop order",)
    assert guess_schema([text(order=ids, b=["1.5", "2"] * 20)], "a.csv", keeps_names=True).remarks == ()


def test_columns_without_names_are_compared_as_in_an_array():
    chunk = Chunk("a.npy", 0, {"0": np.arange(30.0), "1": np.ones(30)}, is_named=False)
    assert guess_schema([chunk], "a.npy").aside == ()
