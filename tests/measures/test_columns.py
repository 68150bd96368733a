import builtins
import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eocc.measures.tables import Gower


def between(training, patterns, p, measure=None):
    fitted = (measure or Gower()).fit(training)
    return fitted.prepare(patterns, training).evaluate(np.asarray(p, dtype=np.float64))


def test_missing_values_of_every_spelling():
    nothing = [None, np.nan, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN"), np.float32("nan")]
    rows = [{"x": 1.0}, {"x": 3.0}] + [{"x": value} for value in nothing]
    D = Gower().fit(rows).prepare(rows).evaluate(np.ones(1))
    assert_array_equal(D[2:], [[0, 1, *[0] * len(nothing)]] * len(nothing))  # filled with the lower median, 1


def test_levels_of_numbers_and_categories_of_large_integers_are_exact():
    ids = [2**60, 2**60 + 1, None]
    D = between([{"id": i} for i in ids], [{"id": i} for i in ids], [1], Gower({"id": "categorical"}))
    assert_array_equal(D, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    levels = [{"size": size} for size in (30, 10, 20)]
    assert between(levels, pd.DataFrame({"size": [30.0]}), [1], Gower({"size": (30, 20, 10)})).tolist() == [[0, 1, 0.5]]


def test_times_and_durations_are_numbers():
    rome = dt.timezone(dt.timedelta(hours=1))
    rows = [
        {"at": dt.datetime(2020, 1, 1, 12), "lasts": dt.timedelta(hours=1), "opens": dt.time(8)},
        {"at": dt.datetime(2020, 1, 1, 15, tzinfo=rome), "lasts": dt.timedelta(hours=2), "opens": dt.time(9, 30)},
        {"at": dt.datetime(2020, 1, 1, 16), "lasts": dt.timedelta(hours=5), "opens": dt.time(10)},
    ]
    D = Gower().fit(rows).prepare(rows).evaluate(np.ones(3))
    assert_allclose(D[0], [0, (1 / 2 + 1 / 4 + 3 / 4) / 3, 1])
    naive = [{**row, "at": row["at"].replace(tzinfo=None)} for row in rows]
    expected = Gower().fit(naive).prepare(naive).evaluate(np.ones(3))
    for frame in (pd.DataFrame(naive), pl.DataFrame(naive)):
        assert_array_equal(Gower().fit(frame).prepare(frame).evaluate(np.ones(3)), expected)
    moments = np.array([["2020-01-01T12"], ["2020-01-01T14"], ["NaT"]], dtype="datetime64[ns]")
    D = Gower().fit(moments).prepare(moments).evaluate(np.ones(1))
    assert_array_equal(D, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ({"age": 3}, r"^X must be a pandas or polars frame, .*, not dict; for a single record write \[record\]$"),
        ("rows", "^X must be a pandas or polars frame, .*, not str$"),
        (pd.Series([1.0]), "^X must be a pandas or polars frame, .*, not Series$"),
        (np.arange(3), "^X must be .*, not a 1-D array$"),
        ([1, 2], "^X must be .*, not a list of int$"),
        ([[1, 2], [3]], "^the rows of X must be equally long; found 1 and 2 values$"),
        ([], "^X holds no rows; at least 1 is required$"),
        (pd.DataFrame({"a": []}), "^X holds no rows; at least 1 is required$"),
        (pd.DataFrame(index=[0, 1]), "^X has no columns; at least 1 is required$"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "^X has two columns named 'a'; rename one$"),
        ([{"a": 1}, [2]], "^X must be .*; row 1 is list, others are dicts$"),
        ([[2], {"a": 1}], "^X must be .*; row 0 is list, others are dicts$"),
        ([{"a": 1, "b": 1}, {"a": 1}], "^record 1 has no 'b', others have: write None for a missing value$"),
        ([{"a": 1}, {"a": 1, "b": 1}], "^record 0 has no 'b', others have: write None for a missing value$"),
        ([{"a": [1]}], r"^row 0: column 'a': '\[1\]' is not a single value; drop the column, or split it"),
        ([{"a": 1.0}, {"a": np.inf}], "^row 1: column 'a': 'inf' is not a finite number; correct it"),
        ([{"a": 10**400}], "^row 0: column 'a': 'inf' is not a finite number; correct it"),
    ],
)
def test_what_is_not_a_table(X, message):
    with pytest.raises(ValueError, match=message):
        Gower().read(X)


def test_a_mixed_column_is_categories():
    rows = [{"a": 1}, {"a": "one"}, {"a": None}]
    for measure in (Gower(), Gower({"a": "categorical"})):
        assert_array_equal(between(rows, [{"a": 1.0}], [1], Gower({"a": "categorical"})), [[0, 1, 0]])
        assert measure.fit(rows).kinds == ["categorical"]


def test_frames_without_narwhals_say_what_to_install(monkeypatch):
    found = builtins.__import__

    def without_narwhals(name, *rest):
        if name.startswith("narwhals"):
            raise ModuleNotFoundError(name)
        return found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_narwhals)
    with pytest.raises(ModuleNotFoundError, match=r"frames need the package narwhals: pip install narwhals"):
        Gower().read(pd.DataFrame({"a": ["x"]}))
    assert len(Gower().read(pd.DataFrame({"a": [1]}))) == 1
    assert len(Gower().read([{"a": 1}])) == 1
