"""Windows of one long series, and decisions mapped back to times."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eocc
from eocc import SurpriseClassifier
from eocc.cli import main
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


def test_every_column_has_its_own_axis_with_times_below_the_last():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    moments = pd.date_range("2026-01-01", periods=12, freq="h")
    frame = pd.DataFrame({"t": moments, "load": np.arange(12.0), "heat": 1e6 + np.arange(12.0)})
    found = eocc.windows(frame, 4, 4, time="t")
    axes = eocc.plots.plot_series(found, [1, -1, 1], axes=figure.subplots())
    upper, lower = axes.child_axes
    assert [panel.get_ylabel() for panel in (upper, lower)] == list(found.columns) == ["load", "heat"]
    assert upper.get_ylim()[1] < 20 < lower.get_ylim()[0]
    assert [(patch.get_x(), patch.get_width()) for patch in (*upper.patches, *lower.patches)] == [(3.5, 4)] * 2
    texts = [label.get_text() for label in lower.get_xticklabels()]
    assert texts == ["2026-01-01", "2026-01-01T05:00:00", "2026-01-01T11:00:00"]
    assert (len(upper.get_xticks()), lower.get_xlabel()) == (0, "time")


def test_windows_with_missing_values_are_left_out_with_a_note():
    values = np.arange(10.0)
    values[6] = np.nan
    with pytest.warns(UserWarning, match="3 windows with missing values left out"):
        found = eocc.windows({"x": values.tolist()}, 3)
    assert len(found) == 5
    values[6] = np.inf
    with pytest.warns(UserWarning, match="3 windows with missing values left out"):
        assert np.isfinite(eocc.windows(values, 3, features=True).X).all()
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
        (
            {"x": [1.0] * 21, "t": [*range(11), *range(30, 40)]},
            {"length": 15, "time": "t"},
            "windows of 15 values are longer than any series without a gap, of 11 at most",
        ),
        ({"x": [1.0, 2.0, 3.0], "s": ["a", None, "a"]}, {"length": 1, "by": "s"}, "1 row without a s; drop or fill"),
        ({"x": [1.0, 2.0], "t": [3.0, np.inf]}, {"length": 1, "time": "t"}, "1 row without a time; drop or fill"),
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


def write_series(path, n, spike=None, times=None, cell=""):
    """A file of two sensors, whose rows alternate; the value of B at `spike` is 3 too high."""
    rng, lines = np.random.default_rng(n), ["sensor,when,load,note"]
    for k, moment in enumerate(pd.date_range("2026-01-01", periods=n, freq="min") if times is None else times):
        for sensor in "AB":
            value = np.sin(k / 5) + rng.normal() / 20 + 3 * (sensor == "B" and k == spike)
            lines.append(f"{sensor},{moment},{cell if k == 5 and cell else round(value, 4)},fine")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_series(tmp_path / "normal.csv", 600)
    write_series(tmp_path / "new.csv", 200, spike=120)

    def run(command, code=0):
        assert main(command.split()) == code
        return capsys.readouterr()

    return run


@pytest.mark.parametrize("method", ["surprise", "regions", "eocc-1 --search none --false-alarm-rate 0.05"])
def test_the_model_file_remembers_how_a_series_is_cut(run, method):
    said = run(f"fit normal.csv -o m.eocc --window 20 --step 10 --by sensor --time when --method {method}").err
    assert "1,200 rows of 2 series: 118 windows of 20." in said
    assert "only numbers are part of windows, so these columns are not: 'note'" in said
    assert "the windows overlap" in said
    run("score m.eocc new.csv -o scores.csv")
    scores, frame = pd.read_csv("scores.csv"), pd.read_csv("new.csv", parse_dates=["when"])
    found = eocc.windows(frame, 20, 10, by="sensor", time="when")
    model = eocc.load("m.eocc")
    assert (model._windowing_.length, model._windowing_.step) == (20, 10)
    np.testing.assert_allclose(scores["score"], model.score_samples(pd.DataFrame(found.X, columns=found.names)))
    assert scores["group"].tolist() == list(found.groups)
    assert pd.to_datetime(scores["first"], format="ISO8601").tolist() == frame["when"][found.places[:, 0]].tolist()


def test_rejected_windows_are_those_of_the_alarm(run):
    run("fit normal.csv -o m.eocc --window 20 --step 10 --by sensor --time when --false-alarm-rate 0.01")
    run("score m.eocc new.csv -o scores.csv --only rejected")
    scores = pd.read_csv("scores.csv")[["group", "first", "last"]]
    assert scores.to_numpy().tolist() == [
        ["B", "2026-01-01T01:50:00", "2026-01-01T02:09:00"],
        ["B", "2026-01-01T02:00:00", "2026-01-01T02:19:00"],
    ]


def test_every_command_takes_the_series_and_names_windows_by_their_times(run):
    run("fit normal.csv -o m.eocc --window 20 --step 20 --by sensor --time when --features")
    assert "windows: 20 rows of each sensor, every 20, ordered by when, as features\n" in run("inspect m.eocc").out
    spike = "B: 2026-01-01T02:00:00 to 2026-01-01T02:19:00"
    assert f"Row {spike}: Rejected" in run("explain m.eocc new.csv --strangest 1").out
    kept = run("score m.eocc new.csv --only rejected --format csv --keep load_mean", 1).err
    assert "has no column 'load_mean'" in kept
    run("review m.eocc new.csv -o review.html")
    found = eocc.windows(pd.read_csv("new.csv", parse_dates=["when"]), 20, 20, by="sensor", time="when", features=True)
    rows = pd.DataFrame(found.X, columns=found.names)
    eocc.load("m.eocc").teach(rows[16:17], [1]).save("taught.eocc")
    assert spike not in run("score taught.eocc new.csv --only rejected").out
    run("update m.eocc new.csv -o m2.eocc --accept-drift --accept-discoveries")
    assert f"copy of training row {spike}" in run("score m2.eocc new.csv").out


def test_the_report_draws_the_series_with_the_alarms(run):
    pytest.importorskip("matplotlib")
    run("fit normal.csv -o m.eocc --window 20 --step 20 --by sensor --time when --features --false-alarm-rate 0.02")
    run("report m.eocc --data new.csv -o report.html")
    page = Path("report.html").read_text()
    assert "B: windows rejected from 2026-01-01T02:00:00 to 2026-01-01T02:19:00." in page
    assert "A: no alarms." in page
    assert "would by chance" in page
    assert "Not compared" not in page
    assert "not compared" not in run("inspect m.eocc").out


def test_the_report_has_no_discoveries_among_windows_that_overlap(run):
    pytest.importorskip("matplotlib")
    run("fit normal.csv -o m.eocc --window 20 --step 10 --by sensor --time when --features --false-alarm-rate 0.02")
    run("report m.eocc --data new.csv -o report.html")
    page = Path("report.html").read_text()
    assert "The windows overlap, so they depend on each other: discoveries are left out" in page
    assert "would by chance" not in page


def test_rows_are_counted_without_times_or_groups(run, tmp_path):
    np.save("a.npy", np.sin(np.arange(100.0))[:, None])
    run("fit a.npy -o m.eocc --window 10 --step 5")
    found = run("score m.eocc a.npy --format csv -q").out.splitlines()
    assert found[0].startswith("row,first,last,decision,")
    assert [line.split(",")[:3] for line in found[1:3]] == [["0 to 9", "0", "9"], ["5 to 14", "5", "14"]]


def test_cells_that_cannot_be_read_are_gaps_unless_strict(run, tmp_path):
    run("fit normal.csv -o m.eocc --window 20 --step 20 --by sensor --time when")
    write_series(tmp_path / "odd.csv", 100, cell="broken")
    said = run("score m.eocc odd.csv -o scores.csv").err
    assert "2 cells taken for missing, as they cannot be read: line 12: " in said
    assert "2 windows with missing values left out" in said
    assert len(pd.read_csv("scores.csv")) == 8
    assert "odd.csv:12: column 'load': 'broken'" in run("score m.eocc odd.csv -o strict.csv --strict", 1).err
    assert not (tmp_path / "strict.csv").exists()
    said = run("fit odd.csv -o odd.eocc --window 20 --by sensor --time when", 1).err
    assert "column 'load' counts as text because 'broken' (line 12)" in said
    assert "odd.csv: a series needs a column of numbers" in said
    assert "2 cells taken" in run("fit odd.csv -o odd.eocc --window 20 --by sensor --time when --skip-bad").err


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ("--window 5000 --by sensor", 1, "windows of 5000 values are longer than any series without a gap, of 600"),
        ("--window 5 --by sensr", 1, "normal.csv: has no column 'sensr'; it has"),
        ("--window 5 --by sensor --time note", 1, "the column 'note' holds no times"),
        ("--window 5 --time when", 1, "two rows have the time 2026-01-01; name the series by a column, or drop one"),
        ("--step 5", 2, "--step needs --window"),
        ("--window 0", 2, "'--window'"),
        ("--window 5 --label note --target fine", 2, "--label is about rows, but windows of rows are compared"),
        ("--window 5 --stream", 2, "--stream takes the rows of the file"),
        ("--window 5 --baseline-by sensor", 2, "--baseline-by takes the rows of the file"),
    ],
)
def test_a_series_that_cannot_be_cut_gives_one_line_and_no_model(run, tmp_path, given, code, message):
    said = run(f"fit normal.csv -o m.eocc -q {given}", code).err
    assert message in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "m.eocc").exists()


def test_a_new_series_that_cannot_be_cut_gives_one_line_and_no_scores(run, tmp_path):
    run("fit normal.csv -o m.eocc --window 20 --step 20 --by sensor --time when")
    write_series(tmp_path / "short.csv", 19)
    steps = np.cumsum(np.where(np.arange(100) % 3, 60, 80))
    write_series(tmp_path / "odd.csv", 100, times=pd.Timestamp("2026-01-01") + pd.to_timedelta(steps, "s"))
    (tmp_path / "words.txt").write_text("a\nb\n")
    (tmp_path / "other.csv").write_text("sensor,when\nA,2026-01-01\n")
    told = {
        "short.csv": "windows of 20 values are longer than any series without a gap, of 19 at most",
        "odd.csv": "the times of 'A' are irregular",
        "words.txt": "has no columns; pass a table, or fit without --window",
        "other.csv": "has no column 'load', which the model needs",
        "new.csv --id sensor": "--id is about rows, but windows of rows are compared",
    }
    for given, message in told.items():
        said = run(f"score m.eocc {given} -o scores.csv -q", 2 if "--id" in given else 1).err
        assert message in said
        assert len(said.splitlines()) == 1
        assert not (tmp_path / "scores.csv").exists()
