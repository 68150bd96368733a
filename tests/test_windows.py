"""Windows of one long series, and decisions mapped back to times."""

import numpy as np
import pandas as pd
import pytest

import eocc
from eocc import SurpriseClassifier
from eocc.tables.windows import Alarm

HOURS = pd.date_range("2026-01-01", periods=12, freq="h")


def test_windows_are_rows_in_the_order_of_time():
    frame = pd.DataFrame({"t": HOURS, "x": np.arange(12.0)}).sample(frac=1, random_state=0)
    found = eocc.windows(frame, 4, 4, time="t")
    assert found.X.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert found.names == ("x 0", "x 1", "x 2", "x 3")
    assert found.alarms([1, -1, -1]) == [Alarm(None, "2026-01-01T04:00:00", "2026-01-01T11:00:00")]


def test_each_group_is_a_series_and_columns_stand_side_by_side():
    frame = pd.DataFrame({"s": list("ababab"), "x": [0.0, 10, 1, 11, 2, 12], "y": [5.0] * 6})
    found = eocc.windows(frame, 2, 1, by="s")
    assert found.X.tolist() == [[0, 1, 5, 5], [1, 2, 5, 5], [10, 11, 5, 5], [11, 12, 5, 5]]
    assert found.groups == ("a", "a", "b", "b")
    assert found.alarms([-1, 1, -1, -1]) == [Alarm("a", 0, 2), Alarm("b", 1, 5)]
    assert found.per_row([0.4, 0.3, 0.2, 0.1]).tolist() == [0.4, 0.2, 0.3, 0.1, 0.3, 0.1]


def test_no_window_spans_a_gap_in_time():
    frame = pd.DataFrame({"t": [0, 1, 2, 3, 4, 5, 6, 50, 51, 52, 53, 54, 55], "x": np.arange(13.0)})
    starts = eocc.windows(frame, 6, 1, time="t").X[:, 0]
    assert starts.tolist() == [0, 1, 7]


@pytest.mark.parametrize(
    ("frame", "given", "rejected", "alarms"),
    [
        ({"t": [*range(9), *range(50, 59)], "x": np.arange(18.0)}, {"length": 3, "step": 3, "time": "t"}, [2, 3],
         [(6, 8), (50, 52)]),  # a gap
        ({"x": [0.0, 1, 2, 3, np.nan, 5, 6, 7, 8]}, {"length": 2, "step": 2}, [1, 2], [(2, 3), (6, 7)]),  # left out
        ({"x": np.arange(12.0)}, {"length": 2, "step": 4}, [0, 1], [(0, 1), (4, 5)]),  # rows between windows
        ({"x": np.arange(12.0)}, {"length": 4, "step": 1}, [0, 4, 7], [(0, 10)]),  # rows that are shared or adjoin
        ({"x": np.arange(12.0)}, {"length": 4, "step": 1}, [], []),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*left out")
def test_an_alarm_is_a_stretch_without_a_break(frame, given, rejected, alarms):
    found = eocc.windows(frame, **given)
    decisions = np.where(np.isin(np.arange(len(found)), rejected), -1, 1)
    assert [(one.start, one.end) for one in found.alarms(decisions)] == alarms


def test_a_series_of_pandas_is_one_column():
    found = eocc.windows(pd.Series(np.arange(4.0), name="load"), 2, 2)
    assert (found.X.tolist(), found.names) == ([[0, 1], [2, 3]], ("load 0", "load 1"))
    assert repr(found) == "<Windows: 2 of 2 rows, from 1 series>"


def test_times_may_be_written():
    frame = {"t": ["2026-01-03 00:00", "2026-01-01 00:00", "2026-01-02 00:00"], "x": [3.0, 1.0, 2.0]}
    found = eocc.windows(frame, 3, time="t")
    assert found.X.tolist() == [[1, 2, 3]]
    assert found.alarms([-1]) == [Alarm(None, "2026-01-01", "2026-01-03")]


def test_rows_are_drawn_in_the_order_of_time_and_not_across_gaps():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    frame = {"t": [53, 52, 51, 50, *range(8)], "x": [11.0, 10, 9, 8, *range(8)]}
    axes = eocc.plots.plot_series(eocc.windows(frame, 4, 4, time="t"), [1, -1, 1])
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [*range(8), np.nan, *range(8, 12)])
    assert [(patch.get_x(), patch.get_width()) for patch in axes.patches] == [(3.5, 4)]
    matplotlib.pyplot.close(axes.figure)


def test_windows_with_missing_values_are_left_out_with_a_note():
    values = np.arange(10.0)
    values[6] = np.nan
    with pytest.warns(UserWarning, match="3 windows with missing values left out"):
        found = eocc.windows({"x": values.tolist()}, 3)
    assert len(found) == 5
    assert np.isnan(found.per_row(np.ones(5))).tolist() == [False] * 6 + [True] + [False] * 3


def test_features_describe_a_window():
    found = eocc.windows(np.array([1.0, 3.0, 2.0]), 3, features=True)
    assert found.names == tuple(
        f"0 {name}" for name in ("mean", "deviation", "least", "largest", "change", "mean step")
    )
    np.testing.assert_allclose(found.X[0], [2, np.sqrt(2 / 3), 1, 3, 1, 1.5])


@pytest.mark.parametrize(
    ("frame", "given", "message"),
    [
        (
            {"x": [1.0, 2.0]},
            {"length": 3},
            "windows of 3 values are longer than any series without a gap, of 2 at most",
        ),
        ({"x": [1.0, 2.0]}, {"length": 0}, "length must be an integer >= 1"),
        ({"x": [1.0, 2.0]}, {"length": 1, "by": "s"}, "by='s' is no column of the series; it has 'x'"),
        ({"x": ["a", "b"]}, {"length": 1}, "a series needs a column of numbers"),
        ({"x": [1.0, 2.0], "t": ["a", "b"]}, {"length": 1, "time": "t"}, "the column 't' holds no times"),
        ({"x": [1.0, 2.0], "t": [3.0, 3.0]}, {"length": 1, "time": "t"}, "two rows have the time 3"),
        ({"x": [1.0] * 5, "t": [0.0, 1, 1.5, 3, 4.1]}, {"length": 2, "time": "t"}, "the times are irregular: 2 of 4"),
    ],
)
def test_mistakes_are_one_line(frame, given, message):
    with pytest.raises(ValueError, match=message) as told:
        eocc.windows(frame, **given)
    assert len(str(told.value).splitlines()) == 1


def test_a_spike_is_found_at_its_time_and_drawn():
    rng = np.random.default_rng(0)
    normal, new = (np.sin(np.arange(n) / 5) + rng.normal(size=n) / 20 for n in (800, 300))
    new[150] += 3
    model = SurpriseClassifier(false_alarm_rate=0.01).fit(eocc.windows(normal, 20, 2).X)
    found = eocc.windows(new, 20, 2)
    decisions = model.predict(found.X)
    assert any(alarm.start <= 150 <= alarm.end for alarm in found.alarms(decisions))
    assert np.nanargmin(found.per_row(model.score_samples(found.X))) in range(131, 170)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from eocc.plots import plot_series

    axes = plot_series(found, decisions)
    assert axes.get_title() == f"{(decisions < 0).sum()} of {len(found)} windows rejected"
    assert any(patch.get_x() <= 150 <= patch.get_x() + patch.get_width() for patch in axes.patches)
    matplotlib.pyplot.close(axes.figure)
