"""Updated models equal fresh fits, bit for bit; what drifts or is abnormal is not learned unasked."""

import os
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eocc
from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier
from eocc.classifiers.updating import Batch, kept_rows, restored_history
from eocc.cli import main
from eocc.neighbours import exact
from eocc.report.review import digests_of

HISTORY = (Batch("a", date(2025, 12, 10), 2), Batch("b", date(2026, 1, 10), 3), Batch("a", date(2026, 2, 10), 1))


def same(one, other, rows):
    assert one.calibration_.margins.tolist() == other.calibration_.margins.tolist()
    assert one.score_samples(rows).tolist() == other.score_samples(rows).tolist()
    assert one.n_rows_ == other.n_rows_


@settings(max_examples=15, deadline=None)
@given(
    st.integers(20, 60), st.integers(1, 25), st.integers(0, 19), st.integers(1, 7), st.booleans(), st.integers(0, 10**6)
)
def test_an_update_is_a_fresh_fit_on_the_rows_kept(n, n_new, forget, n_columns, scans, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, (n + n_new, n_columns)) + rng.choice([0.0, rng.normal()], (n + n_new, n_columns))
    with pytest.MonkeyPatch.context() as patch:
        if not scans:  # the search of many rows, which uses known neighbours
            patch.setattr(exact, "SCAN_VALUES", 0)
        model = SurpriseClassifier().fit(rows[:n])
        before = model.score_samples(rows).tolist()
        same(model.update(rows[n:], forget=forget), SurpriseClassifier().fit(rows[forget:]), rows)
        assert model.score_samples(rows).tolist() == before


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 60), st.sampled_from([None, 1, 30, 200]), st.booleans(), st.booleans(), st.integers(0, 10**6))
def test_known_neighbours_do_not_change_an_update(n_new, forget, has_ties, has_gaps, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(600 + n_new, 20)) * 10.0 ** rng.integers(1, 4, 20)
    rows = np.round(rows) if has_ties else rows
    rows[rng.integers(len(rows), size=9)] = rows[7]
    if has_gaps:
        rows[rng.random(rows.shape) < 0.002] = np.nan
    model = SurpriseClassifier().fit(rows[:600])
    once = model.update(rows[600:], forget=forget)
    # Few rows, and tables, which rows with gaps are, are searched anew.
    assert (once.surprise_model_.normal.index.known is None) == (has_gaps or forget == 200)
    same(once, SurpriseClassifier().fit(rows[forget or 0 :]), rows[::20])
    same(once.update(rows[:3]), SurpriseClassifier().fit(np.vstack([rows[forget or 0 :], rows[:3]])), rows[::20])


def test_tables_strings_and_known_outliers_are_updated_too():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"size": rng.normal(size=90), "colour": rng.choice(["red", "blue", "green"], 90)})
    same(SurpriseClassifier().fit(table[:60]).update(table[60:]), SurpriseClassifier().fit(table), table)
    words = ["".join(rng.choice(list("abc"), 5)) for _ in range(60)]
    same(SurpriseClassifier().fit(words[:40]).update(words[40:]), SurpriseClassifier().fit(words), words)
    rows, y = rng.normal(size=(80, 3)), np.repeat([1, -1, 1], [50, 4, 26])
    rows[y == -1] += 6
    found = SurpriseClassifier().fit(rows[:54], y[:54]).update(rows[54:])
    same(found, SurpriseClassifier().fit(rows, y), rows)


@pytest.mark.parametrize(
    ("forget", "kept"),
    [
        (None, [1, 1, 1, 1, 1, 1]),
        (4, [0, 0, 0, 0, 1, 1]),
        ("40d", [0, 0, 1, 1, 1, 1]),
        (timedelta(days=10), [0, 0, 0, 0, 0, 1]),
        ("2026-01-10", [0, 0, 1, 1, 1, 1]),
        ("2026-01-11", [0, 0, 0, 0, 0, 1]),
        ("a", [0, 0, 1, 1, 1, 0]),
        (np.int64(1), [0, 1, 1, 1, 1, 1]),
        (datetime(2026, 1, 11, 12), [0, 0, 0, 0, 0, 1]),
        (6, [0] * 6),
    ],
)
def test_forget(forget, kept):
    assert kept_rows(HISTORY, forget, date(2026, 2, 19)).astype(int).tolist() == kept


@pytest.mark.parametrize("forget", ["c", -1, True, 1.5, "2026-13-01"])
def test_what_cannot_be_forgotten_is_refused(forget):
    with pytest.raises(ValueError, match=r"month must be|forget must be a number of rows, an age such as 90d"):
        kept_rows(HISTORY, forget, date(2026, 2, 19))


def test_more_rows_than_there_are_cannot_be_forgotten():
    with pytest.raises(
        ValueError, match=r"at most the 6 training rows of the model, not 7; write a date as 2026-01-31"
    ):
        kept_rows(HISTORY, 7, date(2026, 2, 19))
    with pytest.raises(ValueError, match="back to the year 1"):
        kept_rows(HISTORY, "99999999999d", date(2026, 2, 19))


@pytest.mark.parametrize("forget", [timedelta(days=3), "2026-01-31"])
def test_rows_without_a_date_have_no_age(forget):
    rows = np.random.default_rng(0).normal(size=(60, 3))
    model = SurpriseClassifier().fit(rows[:40])
    with pytest.raises(ValueError, match=r"the 40 rows of 'first fit' have no date; .* pass date= with each update"):
        model.update(rows[40:], forget=forget)
    assert model.update(rows[40:], date=datetime(2026, 2, 1, 8)).batches_[1].date == date(2026, 2, 1)
    with pytest.raises(ValueError, match=r"date must be a datetime\.date"):
        model.update(rows[40:], date="2026-02-01")


def test_a_file_remembers_what_came_when(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 3))
    model = SurpriseClassifier().fit(rows[:40]).update(rows[40:], source="feb", date=date(2026, 2, 1), forget=10)
    model.save(tmp_path / "m.eocc")
    loaded = eocc.load(tmp_path / "m.eocc")
    assert loaded.batches_ == (Batch("first fit", None, 30), Batch("feb", date(2026, 2, 1), 20))
    same(loaded.update(rows[:5], forget="feb"), SurpriseClassifier().fit(np.vstack([rows[10:40], rows[:5]])), rows)


def test_counts_of_a_history_that_wrap_around_are_refused():
    state = {"sources": ["a"] * 5, "dates": [""] * 5, "counts": np.array([2**62] * 4 + [7])}
    with pytest.raises(ValueError, match="batches must count 7 training rows"):
        restored_history(state, 7)


def test_models_without_all_rows_are_refused():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(ValueError, match="a RegionClassifier keeps no rows that it could forget"):
        RegionClassifier().fit(rows).update(rows, forget=3)
    with pytest.raises(ValueError, match="EntropicOneClassClassifier keeps no training rows to update"):
        EntropicOneClassClassifier().fit(rows).update(rows)
    with pytest.raises(ValueError, match="keeps only 20 of 60 training rows"):
        SurpriseClassifier(prototypes=20).fit(rows).update(rows)


def test_an_update_of_regions_adds_the_margins_of_rows_that_the_fit_has_not_seen(tmp_path):
    rows = np.random.default_rng(5).normal(size=(300, 3))
    model = RegionClassifier().fit(rows[:200])
    before = model.calibration_.margins.tolist()
    found = model.update(rows[200:])
    margins = model.decision_function(rows[200:]) + model.threshold_
    np.testing.assert_allclose(found.calibration_.margins, np.sort([*before, *margins]), rtol=1e-12)
    assert (found.n_rows_, model.n_rows_, model.calibration_.margins.tolist()) == (300, 200, before)
    assert found.threshold_ == found.calibration_.threshold
    found.save(tmp_path / "m.eocc")
    assert eocc.load(tmp_path / "m.eocc").p_values(rows).tolist() == found.p_values(rows).tolist()


def test_many_rows_of_regions_count_as_many():
    rows = np.random.default_rng(6).normal(size=(6000, 2))
    model = RegionClassifier().fit(rows[:4000])
    found = model.update(rows[4000:])
    old, new = model.calibration_.margins, model.decision_function(rows[4000:]) + model.threshold_
    for probe in np.quantile(new, [0.01, 0.05, 0.3, 0.8]):
        share = (4000 * np.mean(old <= probe) + (new <= probe).sum()) / 6000  # every old margin stands for 8 rows
        assert abs(found.calibration_.p_values(np.array([probe]))[0] - share) < 2 / len(old)
    rank = int(0.05 * 6001)  # the limit is one of all rows
    below = 4000 * np.mean(old < found.threshold_) + (new < found.threshold_).sum()
    assert abs(below - rank) <= 2 * 4000 / len(old)


def test_many_small_updates_of_regions_give_the_limit_of_one():
    rows = np.random.default_rng(7).normal(size=(5000, 2))
    model = RegionClassifier().fit(rows[:2000])
    slowly, at_once = model, model.update(rows[2000:])
    for start in range(2000, 5000, 50):
        slowly = slowly.update(rows[start : start + 50])
    assert slowly.n_rows_ == at_once.n_rows_ == 5000
    new = np.random.default_rng(8).normal(size=(5000, 2))
    rejected = [int((one.predict(new) == -1).sum()) for one in (slowly, at_once)]
    assert abs(rejected[0] - rejected[1]) <= 10


def test_regions_of_copies_stay_wide_in_an_update():
    model = RegionClassifier().fit(np.ones((30, 3)))
    near = np.full((1, 3), 1.0 + 1e-6)
    assert model.predict(near) == model.update(np.ones((1000, 3))).predict(near) == 1


def test_an_update_of_a_taught_model_is_a_fresh_fit_taught_the_same(tmp_path):
    rows = np.random.default_rng(0).normal(size=(90, 3))
    asked, y = np.vstack([rows[3], rows[12], rows[:2] * 3 + 1]), [-1, -1, 1, -1]
    names = ["p", "q", "r", "s"]
    taught = SurpriseClassifier().fit(rows[:60]).teach(asked, y, names)  # two training rows are not normal
    for forget in (None, 10):
        found = taught.update(rows[60:], forget=forget)
        same(found, SurpriseClassifier().fit(rows[forget or 0 :]).teach(asked, y, names), rows)
        assert found.answers_.names == tuple(names)
        found.save(tmp_path / "m.eocc")
        loaded = eocc.load(tmp_path / "m.eocc")
        assert [batch.n_rows for batch in loaded.batches_] == [60 - (forget or 0), 30]
        same(loaded.update(rows[:5]), found.update(rows[:5]), rows)


@pytest.mark.parametrize("y", [[-1, -1, -1, -1], [-1, 1, 1, -1]])
def test_an_update_of_a_taught_model_with_groups_is_a_fresh_fit_taught_the_same(y, tmp_path):
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"machine": rng.choice(list("abc"), 120), "x": rng.normal(size=120), "y": rng.normal(size=120)})
    rows["x"] += rows["machine"].map({"a": 0.0, "b": 5.0, "c": 9.0})
    taught = SurpriseClassifier(baseline_by="machine").fit(rows[:80]).teach(rows[:4], y)
    taught.save(tmp_path / "m.eocc")
    for model, forget in ((taught, 0), (taught, 2), (eocc.load(tmp_path / "m.eocc"), 0)):
        found = model.update(rows[80:], forget=forget)
        fresh = SurpriseClassifier(baseline_by="machine").fit(rows[forget:]).teach(rows[:4], y)
        same(found, fresh, rows)
        assert found.n_rows_ == fresh.n_rows_
        assert found.answers_.removed.places.tolist() == fresh.answers_.removed.places.tolist()


def test_a_source_that_no_file_could_hold_is_refused():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    for model in (SurpriseClassifier().fit(rows), RegionClassifier().fit(rows)):
        with pytest.raises(ValueError, match="source must be of type str, not 3"):
            model.update(rows, source=3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for name, n, shift in (("jan", 600, 0.0), ("feb", 50, 0.0), ("drift", 80, 4.0)):
        rows = (rng.normal(size=(n, 3)) + shift).round(6)  # every reader of text gives these numbers exactly
        pd.DataFrame(rows, columns=list("abc")).to_csv(f"{name}.csv", index=False)
    odd = pd.read_csv("feb.csv")
    odd.iloc[7] = 60.0
    odd.to_csv("odd.csv", index=False)
    assert main(["-q", "fit", "jan.csv", "-o", "m.eocc"]) == 0
    return tmp_path


def test_the_command_adds_a_month_and_forgets_another(folder, capsys):
    assert main(["update", "m.eocc", "feb.csv", "-o", "m.eocc", "--date", "2026-02-01"]) == 0
    assert main(["update", "m.eocc", "feb.csv", "-o", "n.eocc", "--forget", "feb.csv"]) == 0
    assert "50 rows learned, 50 rows forgotten: now 650 training rows." in capsys.readouterr().out
    rows = pd.concat([pd.read_csv("jan.csv"), pd.read_csv("feb.csv")])
    same(eocc.load("n.eocc"), SurpriseClassifier().fit(rows), rows)


def test_what_drifts_is_refused_and_discoveries_are_held_back(folder, capsys):
    before = (folder / "m.eocc").read_bytes()
    assert main(["update", "m.eocc", "drift.csv", "-o", "m.eocc"]) == 1
    assert "pass --accept-drift" in capsys.readouterr().err
    assert (folder / "m.eocc").read_bytes() == before
    assert main(["update", "m.eocc", "odd.csv", "-o", "n.eocc"]) == 0
    told = capsys.readouterr()
    assert "1 row held back" in told.err
    assert "row 7." in told.err
    assert "49 rows learned" in told.out
    accepted = ["--accept-drift", "--accept-discoveries"]
    assert main(["update", "m.eocc", "drift.csv", "-o", "n.eocc", *accepted]) == 0
    assert "80 rows learned" in capsys.readouterr().out


def test_rejected_rows_that_are_learned_are_counted(folder, capsys):
    rejected = eocc.load("m.eocc").predict(pd.read_csv("odd.csv")) < 0
    assert main(["update", "m.eocc", "odd.csv", "-o", "n.eocc"]) == 0
    assert rejected.sum() == 6  # one of them is held back
    assert "Note: 5 rows that the present model rejects are learned too" in capsys.readouterr().err


def test_what_no_training_row_resembles_is_held_back_if_these_are_few(folder, capsys):
    pd.read_csv("jan.csv")[:40].to_csv("few.csv", index=False)
    assert main(["-q", "fit", "few.csv", "-o", "few.eocc"]) == 0
    assert main(["update", "few.eocc", "odd.csv", "-o", "n.eocc", "--accept-drift"]) == 0
    told = capsys.readouterr()
    assert "Rows stranger than all of them are held back." in told.err
    assert "held back, abnormal to the present model" in told.err
    assert eocc.load("n.eocc").prototypes_.max() < 60
    p_values = eocc.load("few.eocc").p_values(pd.read_csv("odd.csv"))
    assert f"{(p_values > 1.01 / 41).sum()} rows learned" in told.out


def test_a_model_of_some_of_its_training_rows_is_refused_first(folder, capsys):
    assert main(["fit", "jan.csv", "-o", "some.eocc", "--prototypes", "20"]) == 0
    assert "rows, so eocc update will refuse it; --prototypes none keeps all." in capsys.readouterr().err
    assert main(["update", "some.eocc", "odd.csv", "-o", "n.eocc"]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert "cannot be updated" in said


def test_copies_of_training_rows_are_counted(folder, capsys):
    assert main(["update", "m.eocc", "feb.csv", "-o", "m.eocc"]) == 0
    assert "copies" not in capsys.readouterr().err
    assert main(["update", "m.eocc", "odd.csv", "-o", "n.eocc"]) == 0
    noted = "Note: 49 of 50 rows are copies of training rows; was odd.csv learned before?"
    assert noted in capsys.readouterr().err


def test_the_command_teaches_and_updates_one_file(folder, capsys):
    os.utime("m.eocc", (1.75e9, 1.75e9))  # 2025-06-15
    odd = eocc.load("m.eocc")._read(pd.read_csv("odd.csv"))[7:8]
    line = {"row": "7", "answer": "not normal", "reason": "", "data": "odd.csv", "digest": digests_of(odd)[0]}
    pd.DataFrame([line]).to_csv(folder / "answers.csv", index=False)
    assert main(["teach", "m.eocc", "answers.csv", "-o", "m.eocc"]) == 0
    assert main(["update", "m.eocc", "feb.csv", "-o", "m.eocc", "--date", "2026-02-01"]) == 0
    found = eocc.load("m.eocc")
    assert [one.date for one in found.batches_] == [date(2025, 6, 15), date(2026, 2, 1)]
    assert found.answers_.y.tolist() == [-1]


@pytest.mark.parametrize(
    "arguments",
    [
        ["other.csv", "-o", "m.eocc"],
        ["feb.csv", "-o", "nowhere/m.eocc"],
        ["feb.csv", "-o", "feb.csv"],
        ["feb.csv", "-o", "m.eocc", "--forget", "x"],
        ["feb.csv", "-o", "m.eocc", "--forget", "²"],
        ["feb.csv", "-o", "m.eocc", "--forget", "20260131"],
    ],
)
def test_a_mistake_is_one_line_and_leaves_the_model(arguments, folder, capsys):
    (folder / "other.csv").write_text("a,b\n1,2\n3,4\n")
    before = (folder / "m.eocc").read_bytes()
    assert main(["update", "m.eocc", *arguments]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert (folder / "m.eocc").read_bytes() == before


def test_the_command_updates_regions(folder, capsys):
    assert main(["-q", "fit", "jan.csv", "-o", "r.eocc", "--method", "regions"]) == 0
    assert main(["update", "r.eocc", "feb.csv", "-o", "s.eocc"]) == 0
    printed = capsys.readouterr()
    assert "50 rows learned: now 650 training rows." in printed.out
    assert "nothing shows whether these rows were learned before" in printed.err
    assert main(["update", "r.eocc", "feb.csv", "-o", "s.eocc", "--forget", "3"]) == 1
    assert "keeps no rows that it could forget" in capsys.readouterr().err


def test_gaps_of_new_rows_of_numbers_are_filled_before_they_are_learned():
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(60, 3)), rng.normal(size=(30, 3))
    new[3, 1] = np.nan
    model = SurpriseClassifier().fit(rows)
    filled = np.vstack([rows, model.measure_.filled(new)])
    same(model.update(new), SurpriseClassifier().fit(filled), filled)
