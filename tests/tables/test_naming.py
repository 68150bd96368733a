"""Columns that name the rows: one rule for files and frames."""

import datetime as dt
import warnings

import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pytest

from eocc import SurpriseClassifier, load
from eocc.cli import main
from eocc.measures import Euclidean, Gower
from eocc.streaming import fit_stream
from eocc.tables.judge import CLOCK, DAY, MOMENT, WEEKDAY, may_count, may_name, parts_of_dates, runs_on, why_naming
from eocc.tables.spelling import Spelling
from eocc.tables.table import Column

RNG = np.random.default_rng(0)
N = 40
LOAD = RNG.normal(size=N).round(4)
IDS = [f"M-{number}" for number in RNG.permutation(10 * N)[:N]]
HOUR = DAY / 24


def text(n_different, n):
    return [k % n_different for k in range(n)]


def column(kind, values):
    return Column("x", kind, np.array(values, np.float64))


@pytest.mark.parametrize(
    ("kind", "values", "is_naming"),
    [
        ("text", text(20, 20), True),
        ("text", text(19, 19), False),  # too few to tell
        ("text", text(18, 20), True),
        ("text", text(13, 20), True),  # 6 of 20 occur once
        ("text", text(12, 20), False),
        ("number", range(5, 25), True),
        ("number", range(19), False),
        ("number", [*range(19, -1, -1)], True),
        ("number", RNG.permutation(30), True),
        ("number", [*range(19), 39], True),  # half of the numbers from 0 to 39
        ("number", [*range(0, 19, 2), 40, *range(1, 19, 2)], False),
        ("number", [*range(18), 40, 18], True),  # nearly in order
        ("number", [*range(19), 40], True),  # in order
        ("number", [*range(19), 18], True),  # a number twice
        ("number", [*RNG.permutation(180), *RNG.permutation(20)], True),  # a tenth of them twice
        ("number", [*RNG.permutation(180), *RNG.permutation(21)], False),
        ("number", [*RNG.permutation(180), *RNG.permutation(19), 198], True),  # 181 different of 199: nine tenths
        ("number", [*RNG.permutation(180), *RNG.permutation(19), 202], False),
        ("number", np.cumsum(RNG.integers(1, 9, 50)), True),  # order numbers with gaps
        ("number", 1_700_000_000 + 60 * np.arange(30), True),  # Unix seconds
        ("number", -10 * np.arange(30), True),
        ("number", np.repeat(10 * np.arange(20), 2), False),  # sorted measurements repeat
        ("number", RNG.integers(900, 3000, 100), False),  # turns per minute
        ("number", RNG.permutation(10**6)[:100], False),
        ("number", np.arange(20) / 10, False),
        ("number", RNG.normal(size=50), False),
        ("boolean", [True] * 30, False),
        ("date", np.arange(20) * DAY, True),
        ("date", -np.arange(20) * DAY, True),
        ("date", np.repeat(np.arange(10), 2) * DAY, True),
        ("date", np.full(20, DAY), False),
        ("date", RNG.permutation(20) * DAY, False),  # days of service, for example
        ("date", RNG.permutation(20) * HOUR, False),  # moments in no order
        ("date", RNG.permutation(40) % 20 * HOUR, False),
    ],
)
def test_the_rule(kind, values, is_naming):
    assert bool(why_naming(column(kind, values))) == is_naming


def shifted(places, n=1000):
    """Return 0 to n - 1 with blocks of so many places in reverse: in order but for shifts."""
    return np.arange(n) // places * places + places - 1.0 - np.arange(n) % places


def moved(share, n=1000):
    """Return 0 to n - 1 with this share of the last values moved to the front."""
    return np.roll(np.arange(float(n)), round(share * n))


def test_values_nearly_in_order_run_on():
    assert runs_on(shifted(100))
    assert runs_on(-shifted(100))
    assert not runs_on(np.concatenate([shifted(100), shifted(100)]))  # two sensors, one after the other
    # The rank correlation is 1 - 6 * share * (1 - share) for moved rows: 0.952 and 0.946.
    assert runs_on(moved(0.008))
    assert not runs_on(moved(0.009))
    # The order is judged relative to that of the sorted values, which repeat.
    assert runs_on(moved(0.008) // 500)
    assert not runs_on(moved(0.04) // 500)


def test_values_in_order_by_chance_do_not_run_on():
    assert not any(runs_on(np.append(np.zeros(n), 1.0)) for n in (19, 1000))
    # Six ones at the end of 20 rows lie 3.46 standard deviations above chance, seven 3.60.
    assert not runs_on(np.repeat([0.0, 1.0], [14, 6]))
    assert runs_on(np.repeat([0.0, 1.0], [13, 7]))
    assert not any(runs_on(RNG.integers(0, k, 20)) for k in (3, 10, 100) for _ in range(300))


def test_integers_that_all_differ_in_no_order_may_name_the_rows():
    ids = RNG.permutation(10**6)[:20]
    assert may_name(column("number", ids))
    assert not may_name(column("number", ids[:19]))
    assert not may_name(column("number", [*ids, ids[0]]))
    assert not may_name(column("number", ids / 10))
    assert not may_name(column("text", ids))


def test_many_numbers_that_run_on_may_count():
    assert may_count(column("number", np.repeat(np.arange(20), 3)))  # a number of the day
    assert may_count(column("number", -np.arange(20) / 365))
    assert not may_count(column("number", np.repeat(np.arange(19), 3)))
    assert not may_count(column("number", np.tile(np.arange(20), 3)))
    assert not may_count(column("time of day", np.arange(60.0)))


def test_a_number_of_the_day_is_compared_with_a_note(tmp_path, capsys):
    whole = frame(day=np.arange(N) // 2)
    whole.to_csv(tmp_path / "a.csv", index=False)
    note = "'day' runs on from row to row: rows later than all training rows will stand out; --drop day leaves it out."
    for kind, is_noted in ((), True), (("--kind", "day=number"), False):
        assert main(["fit", str(tmp_path / "a.csv"), "-o", str(tmp_path / "m.eocc"), *kind]) == 0
        assert (note in capsys.readouterr().err) == is_noted
    assert load(tmp_path / "m.eocc").reading_.names == ["load", "state", "day"]


def test_a_frame_with_ids_that_may_be_measurements_is_compared_with_a_warning():
    whole = frame(order=RNG.permutation(10**6)[:N])
    with pytest.warns(
        UserWarning, match=r"^column 'order' has a different integer in every row; drop it if it only names"
    ):
        clf = SurpriseClassifier().fit(whole)
    assert clf.ignored_columns_ == ()


@pytest.mark.parametrize("make", [pd.Categorical, lambda ids: pl.Series(ids, dtype=pl.Categorical)])
def test_a_category_of_its_own_in_every_row_is_an_id(make):
    whole = {"load": LOAD, "id": make(IDS)}
    with pytest.warns(UserWarning, match="not compared: 'id'"):
        SurpriseClassifier().fit(pd.DataFrame(whole) if make is pd.Categorical else pl.DataFrame(whole))


def test_a_counter_with_gaps_is_set_aside_in_a_frame_as_in_a_file():
    numbers = np.arange(N, dtype=float)
    numbers[7] = np.nan
    for column in (numbers, pd.array(np.nan_to_num(numbers), "Int64")):
        whole = pd.DataFrame({"load": LOAD, "heat": -LOAD, "row": column})
        with pytest.warns(UserWarning, match="not compared: 'row'"):
            assert SurpriseClassifier().fit(whole).resolved_measure_ == Euclidean()


@pytest.mark.parametrize(
    ("moments", "parts"),
    [
        ([0, 7 * DAY + HOUR], (MOMENT, CLOCK, WEEKDAY)),
        ([0, 7 * DAY - HOUR], (MOMENT, CLOCK)),
        ([0, 7 * DAY], (MOMENT,)),
        (np.arange(20) * 9 * HOUR, (CLOCK, WEEKDAY)),
        (np.arange(19) * 9 * HOUR, (MOMENT, CLOCK)),
        (np.arange(20) * DAY, ()),
    ],
)
def test_what_dates_are_compared_by(moments, parts):
    assert parts_of_dates(column("date", moments)) == parts


def frame(**columns):
    return pd.DataFrame({"load": LOAD, "state": list("ab") * (N // 2), **columns})


@pytest.mark.parametrize("make", [lambda f: f, pl.DataFrame, pl.LazyFrame, lambda f: f.to_dict("records")])
def test_ids_in_frames_and_records_are_set_aside_with_a_warning_at_fit_and_silently_later(make):
    whole = frame(id=IDS, row=range(N), time=pd.date_range("2031-01-01", periods=N, freq="D"))
    with pytest.warns(
        UserWarning, match=r"^not compared: 'id' \(has a different text in nearly every row\), 'row' \(co"
    ):
        clf = SurpriseClassifier().fit(make(whole))
    assert clf.ignored_columns_ == ("id", "row", "time")
    expected = SurpriseClassifier().fit(frame())
    assert expected.ignored_columns_ == ()
    for some in (whole, frame()):
        assert clf.score_samples(make(some)).tolist() == expected.score_samples(frame()).tolist()


def test_an_index_without_a_name_is_set_aside_in_a_file(tmp_path, capsys):
    for name, index in (("a", True), ("b", False)):
        frame().to_csv(tmp_path / f"{name}.csv", index=index)
    scores = []
    for data in "ab":
        assert main(["fit", str(tmp_path / f"{data}.csv"), "-o", str(tmp_path / "m.eocc")]) == 0
        assert ("'column 1' (counts the rows)" in capsys.readouterr().err) == (data == "a")
        for new in "ab":
            assert main(["score", str(tmp_path / "m.eocc"), str(tmp_path / f"{new}.csv"), "--format", "csv"]) == 0
            scores.append(capsys.readouterr().out)
    assert len({*scores}) == 1


def test_the_model_file_remembers_what_is_set_aside(tmp_path):
    whole = frame(id=IDS)
    with pytest.warns(UserWarning, match="not compared"):
        clf = SurpriseClassifier().fit(whole)
    clf.save(tmp_path / "m.eocc")
    loaded = load(tmp_path / "m.eocc")
    assert loaded.ignored_columns_ == ("id",)
    assert loaded.score_samples(whole).tolist() == clf.score_samples(whole).tolist()


def test_a_frame_that_is_left_with_numbers_is_compared_as_rows_of_numbers():
    whole = pd.DataFrame({"id": IDS, "n": range(N), "load": LOAD, "heat": -LOAD})
    with pytest.warns(UserWarning, match="not compared: 'id'"):
        clf = SurpriseClassifier().fit(whole)
    assert clf.resolved_measure_ == Euclidean()
    assert clf.feature_names_in_.tolist() == ["load", "heat"]
    with pytest.warns(UserWarning, match=r"not compared: 'n' \(counts the rows\)"):
        assert SurpriseClassifier().fit(whole[["n", "load"]]).ignored_columns_ == ("n",)


def test_a_measure_as_an_object_compares_all_columns_and_arrays_are_taken_as_they_are():
    whole = frame(id=IDS)
    assert SurpriseClassifier(measure=Gower()).fit(whole).measure_.names == ["load", "state", "id"]
    rows = np.column_stack([np.arange(N), LOAD])
    assert SurpriseClassifier().fit(rows).prototypes_.shape == (N, 2)


def test_a_table_of_nothing_but_ids_is_refused_with_the_remedy():
    for X in (pd.DataFrame({"id": IDS}), [{"id": name} for name in IDS], pl.DataFrame({"id": IDS})):
        with pytest.raises(ValueError, match=r"no column left to compare: 'id' .* or measure=Gower\(\)$"):
            SurpriseClassifier().fit(X)


def test_text_in_a_frame_is_read_as_in_a_file():
    days = [f"{k % 28 + 1}.{k % 12 + 1}.2031" for k in RNG.permutation(N)]
    whole = frame(
        share=[f"{x:.2f} %" for x in LOAD], on=["yes", "No"] * (N // 2), day=days, zip=["01234", "56789"] * 20
    )
    clf = SurpriseClassifier().fit(whole)
    kinds = [(one.name, one.kind) for one in clf.reading_.columns[2:]]
    assert kinds == [("share", "number"), ("on", "boolean"), ("day", "date"), ("zip", "text")]
    typed = whole.assign(
        share=LOAD.round(2), on=[True, False] * (N // 2), day=[dt.datetime.strptime(day, "%d.%m.%Y") for day in days]
    )
    expected = SurpriseClassifier().fit(typed)
    assert clf.score_samples(whole).tolist() == expected.score_samples(typed).tolist()
    # A row is read by the kinds of the training table, not by what it holds itself.
    assert clf.score_samples(whole[3:4])[0] == clf.score_samples(whole)[3]
    with pytest.raises(ValueError, match="column 'day': 'soon' is not a date"):
        clf.predict(whole.assign(day="soon"))


def test_a_frame_of_numbers_written_as_text_is_rows_of_numbers():
    whole = pd.DataFrame({"load": LOAD, "share": [f"{x:.1f}%" for x in LOAD]})
    for X in (whole, pl.DataFrame(whole)):
        clf = SurpriseClassifier().fit(X)
        assert clf.resolved_measure_ == Euclidean()
        assert clf.score_samples(X).tolist() == clf.score_samples(whole.assign(share=LOAD.round(1))).tolist()


def test_a_third_value_in_a_boolean_column_is_one_more_category():
    for on in ([True, True, False, False] * (N // 4), ["yes", "yes", "no", "no"] * (N // 4)):
        whole = frame(on=on)
        clf = SurpriseClassifier().fit(whole)
        new = whole.astype({"on": object}).head(2).assign(on=["maybe", "YES"])
        odd, usual = clf.transform(new)
        assert odd.min() >= 1 / 3  # differs from all training rows in one of three columns
        assert usual.min() < 1 / 3


def test_the_time_of_day_and_weekday_of_a_date_with_times_are_two_more_columns():
    moments = [dt.datetime(2031, 3, 3 + k % 9, 8 + k % 5) for k in RNG.permutation(N) // 2]  # 3 March is a Monday
    whole = frame(at=moments)
    clf = SurpriseClassifier().fit(whole)
    assert clf.measure_.names == ["load", "state", "at", "at (time of day)", "at (weekday)"]
    table = clf._read([{"load": 0.0, "state": "a", "at": dt.datetime(2031, 3, 9, 23, 59)}])
    assert table.column("at (time of day)").cell(0) == "23:59:00"
    assert table[0]["at (weekday)"] == "Sunday"
    assert clf.reading_.names == ["load", "state", "at"]
    assert [remark.text for remark in clf.reading_.remarks] == [
        "'at' is compared by its moment, time of day and weekday: rows later than all training rows will stand out"
    ]
    in_order = SurpriseClassifier().fit(frame(at=sorted(moments)))
    assert in_order.measure_.names == ["load", "state", "at (time of day)", "at (weekday)"]


def test_all_columns_are_read_alike_at_once_and_in_parts(tmp_path):
    moments = sorted(dt.datetime(2031, 3, 3 + k % 20, 8 + k % 5) for k in range(N))
    frame(at=moments).to_csv(tmp_path / "a.csv", index=False)
    found = []
    for options in ([], ["--stream"]):
        arguments = [
            "--quiet",
            "fit",
            str(tmp_path / "a.csv"),
            "-o",
            str(tmp_path / "m.eocc"),
            "--all-columns",
            *options,
        ]
        assert main(arguments) == 0
        found.append(load(tmp_path / "m.eocc").reading_)
    assert found[0] == found[1]
    assert found[0].columns[2].parts == (MOMENT,)


def test_two_columns_of_one_name_are_refused_by_name():
    twice = pd.DataFrame([[1.0, 2.0]] * 3, columns=["a", "a"])
    for X in (twice, twice.assign(b="x")):
        with pytest.raises(ValueError, match=r"^X has two columns named 'a'; rename one$"):
            SurpriseClassifier().fit(X)


def test_no_warning_comes_from_numbers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SurpriseClassifier().fit(pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("abc")))


@pytest.mark.parametrize("name", [("site", "id"), 2.5, pd.Timestamp("2031-01-01")])
def test_a_model_with_an_ignored_column_of_any_name_can_be_loaded(tmp_path, name):
    whole = frame()
    whole[name] = IDS
    whole.columns = pd.Index(list(whole.columns), tupleize_cols=False)
    with pytest.warns(UserWarning, match="not compared"):
        clf = SurpriseClassifier().fit(whole)
    clf.save(tmp_path / "m.eocc")
    assert load(tmp_path / "m.eocc").ignored_columns_ == (name,)


def test_an_array_with_an_ignored_column_is_refused_with_its_name():
    whole = pd.DataFrame({"row": range(N), "load": LOAD, "heat": -LOAD})
    with pytest.warns(UserWarning, match="not compared: 'row'"):
        clf = SurpriseClassifier().fit(whole)
    with pytest.raises(
        ValueError, match=r"^X has 3 columns, but the model does not compare 'row': leave out, or pass a frame$"
    ):
        clf.predict(whole.to_numpy())


def test_a_date_next_to_its_own_hours_is_no_calendar():
    moments = [dt.datetime(2031, 3, 3 + k % 9, 8 + k % 5) for k in RNG.permutation(N) // 2]
    whole = frame(at=moments, **{"at (weekday)": [moment.weekday() for moment in moments]})
    assert SurpriseClassifier().fit(whole).measure_.names == ["load", "state", "at", "at (weekday)"]
    with pytest.raises(ValueError, match=r"^X has a column 'at \(weekday\)', a name that a calendar gives; rename it"):
        SurpriseClassifier(measure=Gower({"at": "calendar"})).fit(whole)


def test_a_frame_with_decimal_commas_and_signs_is_read_as_a_file_is():
    cells = {
        "load": [f"{x:.2f}".replace(".", ",") for x in LOAD],
        "heat": [f"{1000 + x:,.1f}".translate(str.maketrans(",.", ".,")) + " €" for x in LOAD],
    }
    whole = pd.DataFrame(cells, index=range(7, 7 + N))
    expected = pd.DataFrame({"load": LOAD.round(2), "heat": [float(f"{1000 + x:.1f}") for x in LOAD]})
    own = SurpriseClassifier().fit(expected)
    for X in (whole, pl.DataFrame(whole)):
        clf = SurpriseClassifier().fit(X)
        assert clf.resolved_measure_ == Euclidean()
        assert clf.reading_.spelling == Spelling(",")
        assert clf.score_samples(X).tolist() == own.score_samples(expected).tolist()
    # A row is read as the training rows were: 1.234 is a thousand here.
    assert clf.score_samples(whole[:1].assign(heat="1.234 €")) == clf.score_samples(whole[:1].assign(heat=1234.0))
    assert clf.predict(whole[:1].assign(heat="1.000 $")) == clf.predict(whole[:1].assign(heat=1000.0))


def test_dates_in_a_frame_have_the_order_that_one_of_them_shows(tmp_path):
    days = [f"{k % 28 + 1}/{k % 12 + 1}/2031" for k in RNG.permutation(N)]
    whole = frame(day=days)
    clf = SurpriseClassifier().fit(whole)
    expected = SurpriseClassifier().fit(frame(day=[dt.datetime.strptime(day, "%d/%m/%Y") for day in days]))
    clf.save(tmp_path / "m.eocc")
    for model in (clf, load(tmp_path / "m.eocc")):
        assert model.reading_.columns[2].kind == "date"
        new = frame(day="3/4/2031")
        assert model.score_samples(new).tolist() == expected.score_samples(frame(day=dt.datetime(2031, 4, 3))).tolist()


def test_text_that_could_nearly_be_read_is_a_category_with_a_warning():
    with pytest.warns(UserWarning, match="^column 'day' counts as text because '3/4/2031' can be read as two dates; "):
        SurpriseClassifier().fit(frame(day=["3/4/2031", "5/6/2031"] * (N // 2)))


def test_a_typo_in_a_column_of_numbers_does_not_make_it_an_id():
    load = [str(x) for x in LOAD]
    load[3] = "6O.5"
    with pytest.warns(UserWarning, match="^column 'heat' counts as text because '6O.5' is not a number; cor") as said:
        clf = SurpriseClassifier().fit(frame(heat=load))
    assert clf.ignored_columns_ == ()
    assert len(said) == 1


@pytest.mark.parametrize(("measure", "names"), [("gower", ["load", "heat", "state"]), ("euclidean", ["load", "heat"])])
def test_a_measure_by_its_name_sets_ids_aside_in_frames_as_in_files(tmp_path, capsys, measure, names):
    whole = pd.DataFrame({"id": IDS, "row": range(N), "load": LOAD, "heat": [f"{x:.2f}%" for x in -LOAD]})
    if measure == "gower":
        whole["state"] = list("ab") * (N // 2)
    whole.to_csv(tmp_path / "a.csv", index=False)
    assert main(["fit", str(tmp_path / "a.csv"), "-o", str(tmp_path / "m.eocc"), "--measure", measure]) == 0
    assert "not compared: 'id' (has a different text in nearly every row), 'row' (counts" in capsys.readouterr().err
    with pytest.warns(UserWarning, match=r"not compared: 'id' .*; to compare all .* measure=Gower\(\)$"):
        clf = SurpriseClassifier(measure=measure).fit(whole)
    in_file = load(tmp_path / "m.eocc")
    assert clf.ignored_columns_ == in_file.ignored_columns_ == ("id", "row")
    assert number_names(clf) == number_names(in_file) == names
    assert clf.score_samples(whole).tolist() == in_file.score_samples(whole).tolist()


def number_names(clf):
    return list(clf.feature_names_in_) if hasattr(clf, "feature_names_in_") else clf.measure_.names


def numbered(n=3 * N):
    return pd.DataFrame({"row": np.arange(n) + 7, "load": np.tile(LOAD, 3), "heat": np.repeat(LOAD, 3)})


def test_streams_and_dask_frames_set_ids_aside(tmp_path):
    whole = numbered()
    expected = SurpriseClassifier().fit(whole[["load", "heat"]])
    whole.assign(id=[f"M{k}" for k in range(len(whole))]).to_csv(tmp_path / "a.csv", index=False)
    chunks, partitions = [whole[:50], whole[50:]], dask.dataframe.from_pandas(whole, npartitions=3)
    for fit, ignored in (
        (lambda: fit_stream(SurpriseClassifier(), chunks), ("row",)),
        (lambda: fit_stream(SurpriseClassifier(), tmp_path / "a.csv"), ("row", "id")),
        (lambda: SurpriseClassifier().fit(partitions), ("row",)),
    ):
        with pytest.warns(UserWarning, match=r"^not compared: 'row' \(counts the rows\)"):
            clf = fit()
        assert clf.ignored_columns_ == ignored
        assert clf.feature_names_in_.tolist() == ["load", "heat"]
        assert clf.score_samples(whole).tolist() == expected.score_samples(whole[["load", "heat"]]).tolist()
    assert clf.predict(partitions).compute().tolist() == expected.predict(whole[["load", "heat"]]).tolist()
    assert fit_stream(SurpriseClassifier(), chunks, keeps_all=True).n_features_in_ == 3


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda columns: pd.DataFrame(columns).to_dict("records")])
def test_text_that_means_a_missing_value_is_a_gap_among_numbers_in_frames_as_in_files(tmp_path, make):
    load_column, note = [str(x) for x in LOAD], ["NA", "x"] * (N // 2)
    load_column[3], load_column[5], load_column[7] = "NA", "?", ""
    columns = {"load": load_column, "heat": list(-LOAD), "note": note, "open": ["yes", "no", "n/a", "no"] * (N // 4)}
    clf = SurpriseClassifier().fit(make(columns))
    assert [one.kind for one in clf.reading_.columns] == ["number", "number", "text", "boolean"]
    assert clf.prototypes_[3]["load"] is None
    assert clf.prototypes_[0]["note"] is None
    assert clf.prototypes_[2]["open"] is None
    pd.DataFrame({name: columns[name] for name in ("load", "heat")}).to_csv(tmp_path / "a.csv", index=False)
    assert main(["fit", str(tmp_path / "a.csv"), "-o", str(tmp_path / "m.eocc")]) == 0
    both = make({"load": load_column, "heat": list(-LOAD)})
    expected = load(tmp_path / "m.eocc").score_samples(both)
    assert SurpriseClassifier().fit(both).score_samples(both).tolist() == expected.tolist()


def test_new_rows_of_text_with_gaps_are_scored_one_by_one_as_together():
    whole = pd.DataFrame({"load": [str(x) for x in LOAD], "heat": -LOAD}, index=range(100, 100 + N))
    clf = SurpriseClassifier().fit(whole)
    assert clf.resolved_measure_ == Euclidean()
    new = whole[:4].assign(load=["NA", "0.5", None, "x"])
    together = clf.score_samples(new[:3])
    assert together.tolist() == [clf.score_samples(new[k : k + 1])[0] for k in range(3)]
    with pytest.raises(ValueError, match="column 'load': 'x' is not a number"):
        clf.score_samples(new)
