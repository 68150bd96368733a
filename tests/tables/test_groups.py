"""baseline_by: numbers relative to the level and the spread of each row's group."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import polygamma

from eocc import RegionClassifier, SurpriseClassifier, load
from eocc.base.types import ROUNDING
from eocc.cli import main
from eocc.space.baseline import NEW_LEVELS, _inverse_trigamma, fit_baseline, on_log_scale
from eocc.streaming import fit_stream, score_stream
from eocc.tables import TableWarning
from eocc.tables.reading import fit_reading
from eocc.tables.sources import table_of

CLASSIFIERS = (SurpriseClassifier, RegionClassifier)


def machines(rng, levels, n, factor=1.0):
    machine = np.repeat(np.arange(len(levels)), n)
    volume = factor * levels[machine] * np.exp(rng.normal(0, 0.2, len(machine)))
    others = {name: rng.normal(size=len(machine)).round(4) for name in ("noise", "load")}
    return pd.DataFrame({"machine": [f"A{k}" for k in machine], "volume": volume.round(4), **others})


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    levels = np.exp(rng.normal(4, 0.8, 20))
    return {"training": machines(rng, levels, 8), "normal": machines(rng, levels, 5),
            "shifted": machines(rng, levels, 2, 0.2)}  # fmt: skip


def table(frame, by=("machine",)):
    return fit_reading(table_of(frame), True, dict.fromkeys(by, "categorical"))[1]


def baseline_of(values, groups):
    found, added = fit_baseline(table(pd.DataFrame({"machine": groups, "x": values})), ("machine",))
    return found, added.columns[-1].values


def plain_relative(values, groups, found):
    """The definition, row by row: standardise each value by what the other rows of its group let expect."""
    end, mean, between, within, freedom, unit = found.pooled[0, :6]
    x = on_log_scale(np.asarray(values, float), end) if end else np.asarray(values, float) / unit
    inside = [x[[one == group for one in groups]] for group in sorted(set(groups))]
    of_all = sum(((part - part.mean()) ** 2).sum() for part in inside) / max(len(x) - len(inside), 1)
    relative = []
    for i in range(len(x)):
        others = np.array([x[j] for j in range(len(x)) if groups[j] == groups[i] and j != i])
        n = len(others)
        squares = ((others - others.mean()) ** 2).sum() if n > 1 else 0.0
        variance = (freedom * within + squares) / (freedom + n - 1) if n else max(within, of_all)
        variance = max(variance, ROUNDING**2)
        level, error = mean, between
        if n and between:
            precision = n / variance + 1 / between
            level, error = (n / variance * others.mean() + mean / between) / precision, 1 / precision
        elif n:
            error = 0.0
        away = x[i] - level if abs(x[i] - level) > ROUNDING else 0.0
        relative.append(away / np.sqrt(variance + error))
        if within <= ROUNDING**2 and not n and abs(relative[-1]) <= NEW_LEVELS:
            relative[-1] = 0.0
    return np.array(relative)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(-50, 200)), min_size=6, max_size=40))
def test_each_training_row_is_compared_with_the_others_of_its_group(pairs):
    groups, values = [group for group, _ in pairs], [value / 4 for _, value in pairs]
    found, relative = baseline_of(values, groups)
    assert relative == pytest.approx(plain_relative(values, groups, found), rel=1e-6, abs=1e-6)


def test_a_column_that_is_normal_on_a_log_scale_is_taken_there_and_others_are_not():
    rng = np.random.default_rng(0)
    groups = np.repeat(list("abcdefgh"), 30)
    for draw, is_log in ((lambda n: np.exp(rng.normal(size=n)), True), (lambda n: rng.normal(100, 3, n), False),
                         (lambda n: rng.exponential(size=n) - 0.2, False)):  # fmt: skip
        assert bool(baseline_of(draw(len(groups)), groups)[0].pooled[0, 0]) == is_log


def test_zero_and_less_are_far_below_on_a_log_scale_but_finite():
    found, _ = baseline_of(np.exp(np.random.default_rng(0).normal(size=60)), list("abc") * 20)
    new = found.add_to(table(pd.DataFrame({"machine": ["a"] * 4, "x": [0.01, 0.0, -1.0, -1e6]}))).columns[-1].values
    assert np.isfinite(new).all()
    assert (np.diff(new) < 0).all()


def test_small_groups_are_shrunk_to_the_pooled_level_and_large_ones_are_not():
    rng = np.random.default_rng(1)
    groups = ["big"] * 200 + ["small"] * 2 + [f"g{k}" for k in range(30) for _ in range(5)]
    level = {"big": 10.0, "small": 10.0, **{f"g{k}": rng.normal(0, 3) for k in range(30)}}
    values = [level[group] + rng.normal() for group in groups]
    found, _ = baseline_of(values, groups)
    rows = table(pd.DataFrame({"machine": ["big", "small", "new"], "x": [0.0] * 3}))
    codes, (low, high) = found.codes(rows), found.usual(0, rows)
    own = np.array([np.mean([x for x, one in zip(values, groups, strict=True) if one == group])
                    for group in ("big", "small")])  # fmt: skip
    pooled = found.pooled[0, 1] * found.pooled[0, 5]
    levels = found._expected(0, codes[:2], np.full(2, np.nan))[0] * found.pooled[0, 5]
    shrunk = 1 - (levels - pooled) / (own - pooled)
    assert 0 < shrunk[0] < 0.01 < shrunk[1] < 0.5
    assert high[2] - low[2] > 2 * (high - low)[:2].max()


def test_the_prior_of_the_variances_is_that_of_its_moments():
    for y in (0.01, 0.5, 3.0, 1e4):
        assert polygamma(1, _inverse_trigamma(y)) == pytest.approx(y, rel=1e-9)
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(400), 6).astype(str)
    same, _ = baseline_of(rng.normal(size=2400), groups)
    spreads = np.sqrt(4 / rng.chisquare(4, 400))  # inverse gamma with 4 degrees of freedom
    varied, _ = baseline_of(rng.normal(size=2400) * np.repeat(spreads, 6), groups)
    assert same.pooled[0, 4] > 50
    assert 3 < varied.pooled[0, 4] < 5.5
    assert same.pooled[0, 3] * same.pooled[0, 5] ** 2 == pytest.approx(1, abs=0.1)
    assert baseline_of([3.0] * 6, list("aabbcc"))[0].pooled[0, 4] == 1 / ROUNDING


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_shift_of_one_groups_rows_is_found(kind, rows):
    clf = kind(baseline_by="machine").fit(rows["training"])
    pooled = kind().fit(rows["training"])
    found, alarms = ((clf.predict(rows[name]) == -1).mean() for name in ("shifted", "normal"))
    assert found >= 0.95
    assert alarms <= 0.1
    assert (pooled.predict(rows["shifted"]) == -1).mean() < 0.5


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_row_alone_scores_as_in_a_batch_and_the_order_does_not_matter(kind, rows):
    training, new = rows["training"], rows["shifted"]
    clf = kind(baseline_by="machine").fit(training)
    scores = clf.score_samples(new)
    assert [clf.score_samples(new[k : k + 1])[0] for k in range(5)] == scores[:5].tolist()
    order = np.random.default_rng(3).permutation(len(training))
    again = kind(baseline_by="machine").fit(training.iloc[order])
    assert (again._read(new).columns[-1].values == clf._read(new).columns[-1].values).all()
    assert again.score_samples(new) == pytest.approx(scores, rel=1e-12)  # Gower's sums round differently


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_files_frames_records_and_streams_give_the_same_model(kind, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Machines are numbers here: they are groups all the same.
    numbered = {name: frame.assign(machine=frame.machine.str[1:].astype(int)) for name, frame in rows.items()}
    training, new = numbered["training"], numbered["shifted"]
    training.to_csv("training.csv", index=False)
    new.to_csv("new.csv", index=False)
    expected = kind(baseline_by="machine").fit(training).score_samples(new)
    records = kind(baseline_by=["machine"]).fit(training.to_dict("records"))
    assert (records.score_samples(new.to_dict("records")) == expected).all()
    method = "surprise" if kind is SurpriseClassifier else "regions"
    assert main(["fit", "training.csv", "-o", "m.eocc", "--baseline-by", "machine", "--method", method, "-q"]) == 0
    assert (load("m.eocc").score_samples(new) == expected).all()
    assert main(["score", "m.eocc", "new.csv", "-o", "s.csv", "-q"]) == 0
    assert pd.read_csv("s.csv").score.tolist() == expected.tolist()
    streamed = fit_stream(kind(baseline_by="machine"), "training.csv")
    assert (streamed.score_samples(new) == expected).all()
    score_stream(streamed, "new.csv", "t.csv")
    assert pd.read_csv("t.csv").score.tolist() == expected.tolist()


def test_a_training_row_keeps_its_score_when_it_is_read_again(rows, tmp_path):
    clf = SurpriseClassifier(baseline_by="machine").fit(rows["training"])
    clf.save(tmp_path / "m.eocc")
    for model in (clf, load(tmp_path / "m.eocc")):
        assert (model.p_values(rows["training"]) == clf.training_p_values_).all()
    assert "copy of training row 3" in clf.explain(rows["training"][3:4])[0].facts


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_explanations_speak_of_the_group(kind, rows):
    clf = kind(baseline_by="machine").fit(rows["training"])
    (one,) = clf.explain(rows["shifted"][:1])
    own = rows["training"].volume[:8]
    assert f"volume is {rows['shifted'].volume[0]:.0f}" in one.sentence
    assert "; machine A0 usually has " in one.sentence
    assert one.reasons[0].name == "volume"
    assert one.reasons[0].low < own.median() < one.reasons[0].high
    (new,) = clf.explain(rows["shifted"][:1].assign(machine="Z9"))
    assert "machine is Z9, which no training row has" in new.facts
    assert any("machine Z9 is new: all groups together usually have" in reason.text for reason in new.reasons)


def test_the_strangest_training_row_is_compared_with_the_others_of_its_group(rows):
    wild = rows["training"].copy()
    wild.loc[3, "volume"] *= 6
    clf = SurpriseClassifier(baseline_by="machine").fit(wild)
    (one,) = clf.explain(wild[3:4])
    assert one.reasons[0].name == "volume"
    assert one.reasons[0].high < wild.volume[3] / 2  # without it, machine A0 has a sixth


def test_gaps_and_several_columns(rows):
    training = rows["training"].assign(shift=np.tile(["day", "night"], len(rows["training"]) // 2))
    training.loc[::7, "load"] = np.nan
    clf = SurpriseClassifier(baseline_by=["machine", "shift"]).fit(training)
    new = training[:2].assign(load=np.nan)
    assert "1 of 5 values missing" in clf.explain(new)[0].facts
    assert clf.summary(new).to_dict()["gaps"]["columns"] == [{"name": "load", "rows": 2}]
    assert any("machine A0, shift day usually has" in one.text for one in clf.explain(training[:1])[0].reasons)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(clf.score_samples(new.assign(machine=None, volume=np.nan, noise=np.nan))).all()


def test_known_outliers_are_not_part_of_the_baseline(rows):
    wild = rows["training"][:8].assign(volume=1e6)
    both = pd.concat([rows["training"], wild], ignore_index=True)
    y = np.repeat([1, -1], [len(rows["training"]), 8])
    clf, clean = SurpriseClassifier(baseline_by="machine").fit(both, y), SurpriseClassifier(baseline_by="machine")
    clean.fit(rows["training"])
    assert (clf.baseline_.means == clean.baseline_.means).all()
    assert (clf.predict(wild) == -1).all()


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("machin", "X has no column 'machin' for baseline_by; .* Did you mean 'machine'"),
        (["machine", "shift"], "X has no column 'shift' for baseline_by"),
        (3.5, "baseline_by must be the name of a column or a list of names, not 3.5"),
        ([], r"baseline_by must be the name of a column or a list of names, not \[\]"),
        ("noise", "baseline_by='noise' puts every row in a group of its own"),
    ],
)
def test_wrong_columns_are_named(rows, by, said):
    training = rows["training"].drop_duplicates("noise")
    with pytest.raises(ValueError, match=said):
        SurpriseClassifier(baseline_by=by).fit(training)


def test_what_cannot_be_combined_says_so(rows):
    with pytest.raises(ValueError, match="pass a table"):
        SurpriseClassifier(baseline_by="machine").fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="weights and baseline_by cannot be combined"):
        SurpriseClassifier(baseline_by="machine", weights=[1, 1, 1, 1]).fit(rows["training"])
    with pytest.raises(ValueError, match="column of numbers besides those of the groups"):
        SurpriseClassifier(baseline_by="machine").fit(pd.DataFrame({"machine": list("aab"), "state": list("xyx")}))
    with pytest.raises(ValueError, match="a model with baseline_by cannot be exported"):
        RegionClassifier(baseline_by="machine").fit(rows["training"]).to_sql("t")


def test_the_command_line_names_an_unknown_column(rows, tmp_path, capsys):
    rows["training"].to_csv(tmp_path / "t.csv", index=False)
    assert main(["fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "m.eocc"), "--baseline-by", "machin"]) == 1
    error = capsys.readouterr().err
    assert "'machin'" in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "m.eocc").exists()


def test_the_rows_that_a_model_keeps_can_be_fitted_again(rows, tmp_path):
    clf = SurpriseClassifier(baseline_by="machine").fit(rows["training"])
    clf.save(tmp_path / "m.eocc")
    again = load(tmp_path / "m.eocc")
    again._fit_patterns(again.prototypes_, None)
    assert (again.score_samples(rows["shifted"]) == clf.score_samples(rows["shifted"])).all()


def test_an_update_is_a_fresh_fit_of_all_rows(rows):
    first, rest = rows["training"][::2], rows["training"][1::2]
    updated = SurpriseClassifier(baseline_by="machine").fit(first).update(rest)
    fresh = SurpriseClassifier(baseline_by="machine").fit(pd.concat([first, rest]))
    assert (updated.score_samples(rows["shifted"]) == fresh.score_samples(rows["shifted"])).all()


def same_baseline(one, other):
    return all((getattr(one, name) == getattr(other, name)).all() for name in ("counts", "means", "squares", "pooled"))


def test_a_new_group_has_the_spread_of_all_rows_together():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 6)
    values = np.where(groups % 2, 1, 1000) * rng.normal(size=120)  # the typical spread is far below that of all rows
    found, _ = baseline_of(values, groups.astype(str))
    level, spread, is_new = found._expected(0, np.array([-1]), np.full(1, np.nan))
    unit = found.pooled[0, 5]
    assert is_new.all()
    assert spread[0] * unit == pytest.approx(values.std(), rel=0.1)
    assert abs(level[0]) * unit < 100


def test_a_column_that_is_constant_in_every_group_is_compared_without_its_rounding():
    rng = np.random.default_rng(0)
    groups, lengths = np.repeat(np.arange(20), 6), np.round(rng.uniform(100, 3000, 20))
    for noise in (0.0, 1e-13):
        length = lengths[groups] * (1 + noise * rng.normal(size=120))
        frame = pd.DataFrame({"route": groups.astype(str), "length": length, "load": rng.normal(size=120)})
        with pytest.warns(TableWarning, match="length by route never differs within a group: a row with any other"):
            clf = SurpriseClassifier(baseline_by="route").fit(frame)
        own = lengths[0]
        new = pd.DataFrame(
            {"route": ["0", "0", "new", "new"], "length": [own, own + 1, 1500.0, 1e9], "load": [0.0] * 4}
        )
        assert clf.predict(new).tolist() == [1, -1, 1, -1]
        assert clf.score_samples(new).min() > -1e6
        assert f"length is {own + 1:.0f}; route 0 usually has {own:.0f}." in clf.explain(new)[1].sentence
        # A length 3 spreads from the mean of the new groups is usual, and 3.1 are not.
        level, spread, _ = clf.baseline_._expected(0, np.array([-1]), np.full(1, np.nan))
        near, far = (clf.baseline_._unscaled(0, level + times * spread)[0] for times in (2.9, 3.1))
        assert clf.predict(new[2:].assign(length=[near, far])).tolist() == [1, -1]


def test_a_file_whose_groups_share_no_variance_is_not_sound(rows):
    found, _ = fit_baseline(table(rows["training"]), ("machine",))
    pooled = found.pooled.copy()
    pooled[0, 4] = 0.0
    sizes = {"u": len(found.names), "g": len(found.groups)}
    found.check_parts(sizes)
    with pytest.raises(ValueError, match="do not fit together"):
        replace(found, pooled=pooled).check_parts(sizes)


def test_an_update_compares_known_outliers_with_the_new_baseline(rows):
    wild = rows["shifted"][:4]
    first, rest = rows["training"][::2], rows["training"][1::2]
    y = np.repeat([1, -1], [len(first), 4])
    updated = SurpriseClassifier(baseline_by="machine").fit(pd.concat([first, wild]), y).update(rest)
    both = pd.concat([first, rest, wild])
    fresh = SurpriseClassifier(baseline_by="machine").fit(both, np.repeat([1, -1], [len(both) - 4, 4]))
    assert (updated.score_samples(rows["shifted"]) == fresh.score_samples(rows["shifted"])).all()


def test_training_rows_that_answers_remove_leave_the_baseline(rows, tmp_path):
    training, new = rows["training"].copy(), rows["shifted"]
    training.loc[:1, "volume"] = [2e4, 0.01]
    y = np.where(np.arange(len(training)) < 2, -1, 1)
    clf, fresh = (SurpriseClassifier(baseline_by="machine").fit(training, labels) for labels in (None, y))
    taught = clf.teach(training[:1], [-1]).teach(training[1:2], [-1])
    assert same_baseline(taught.baseline_, fresh.baseline_)
    assert (taught.predict(new) == fresh.predict(new)).all()
    assert (clf.predict(new) != fresh.predict(new)).any()
    taught.save(tmp_path / "m.eocc")
    for model in (taught, load(tmp_path / "m.eocc")):
        back = model.withdraw([0, 1])
        assert same_baseline(back.baseline_, clf.baseline_)
        assert (back.score_samples(new) == clf.score_samples(new)).all()
        once = model.withdraw([0])
        assert (once.score_samples(new) == clf.teach(training[1:2], [-1]).score_samples(new)).all()


def test_answers_about_other_rows_leave_the_baseline_as_it_is(rows):
    clf = SurpriseClassifier(baseline_by="machine").fit(rows["training"])
    assert same_baseline(clf.teach(rows["shifted"][:3], [-1, -1, 1]).baseline_, clf.baseline_)
    few = SurpriseClassifier(baseline_by="machine", prototypes=100).fit(rows["training"])
    assert few.teach(few.prototypes_[:1], [-1]).baseline_ is few.baseline_  # made of rows that are not kept


def test_gaps_are_counted_in_the_columns_of_the_table_and_shares_add_up(rows):
    rng = np.random.default_rng(1)
    wide = rows["training"].assign(**{name: rng.normal(size=len(rows["training"])) for name in "abcdef"})
    row = wide[:1].assign(noise=np.nan, load=np.nan, a=np.nan)
    (found,) = SurpriseClassifier(baseline_by="machine").fit(wide).explain(row)
    assert "3 of 10 values are missing; normal rows have none" in found.sentence
    assert found.reasons[0].name == "missing values"
    assert found.reasons[0].share > 0.5
    cells = found._cells()[1:]
    assert cells[-1][0] == "other columns"
    assert abs(sum(float(line[-1].rstrip("%")) for line in cells) - 100) <= len(cells) / 2
