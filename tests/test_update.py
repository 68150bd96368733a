"""Updated models equal fresh fits, bit for bit; what drifts or is abnormal is not learned unasked."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eocc
from eocc import RegionClassifier, SurpriseClassifier
from eocc.classifiers.updating import Batch, kept_rows, restored_history
from eocc.cli import main

HISTORY = (Batch("a", None, 2), Batch("b", date(2026, 1, 10), 3), Batch("a", date(2026, 2, 10), 1))


def same(one, other, rows):
    assert one.calibration_.margins.tolist() == other.calibration_.margins.tolist()
    assert one.score_samples(rows).tolist() == other.score_samples(rows).tolist()
    assert one.n_rows_ == other.n_rows_


@settings(max_examples=15, deadline=None)
@given(st.integers(20, 60), st.integers(1, 25), st.integers(0, 19), st.integers(1, 7), st.integers(0, 10**6))
def test_an_update_is_a_fresh_fit_on_the_rows_kept(n, n_new, forget, n_columns, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, (n + n_new, n_columns)) + rng.choice([0.0, rng.normal()], (n + n_new, n_columns))
    model = SurpriseClassifier().fit(rows[:n])
    before = model.score_samples(rows).tolist()
    same(model.update(rows[n:], forget=forget), SurpriseClassifier().fit(rows[forget:]), rows)
    assert model.score_samples(rows).tolist() == before


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
        (7, [0] * 6),
    ],
)
def test_forget(forget, kept):
    assert kept_rows(HISTORY, forget, date(2026, 2, 19)).astype(int).tolist() == kept


@pytest.mark.parametrize("forget", ["c", -1, True, 1.5, "2026-13-01"])
def test_what_cannot_be_forgotten_is_refused(forget):
    with pytest.raises(ValueError, match=r"month must be|forget must be a number of rows, an age such as 90d"):
        kept_rows(HISTORY, forget, date(2026, 2, 19))


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
    with pytest.raises(ValueError, match="a RegionClassifier keeps no training rows to update"):
        RegionClassifier().fit(rows).update(rows)
    with pytest.raises(ValueError, match="keeps only 20 of its 60 training rows"):
        SurpriseClassifier(prototypes=20).fit(rows).update(rows)
    with pytest.raises(ValueError, match="has learned answers"):
        SurpriseClassifier().fit(rows).teach(rows[:1] + 9, [-1]).update(rows)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for name, n, shift in (("jan", 600, 0.0), ("feb", 50, 0.0), ("drift", 80, 4.0)):
        pd.DataFrame(rng.normal(size=(n, 3)) + shift, columns=list("abc")).to_csv(f"{name}.csv", index=False)
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


@pytest.mark.parametrize(
    "arguments",
    [["other.csv", "-o", "m.eocc"], ["feb.csv", "-o", "nowhere/m.eocc"], ["feb.csv", "-o", "m.eocc", "--forget", "x"]],
)
def test_a_mistake_is_one_line_and_leaves_the_model(arguments, folder, capsys):
    (folder / "other.csv").write_text("a,b\n1,2\n3,4\n")
    before = (folder / "m.eocc").read_bytes()
    assert main(["update", "m.eocc", *arguments]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert (folder / "m.eocc").read_bytes() == before
