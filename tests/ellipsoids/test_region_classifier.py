"""RegionClassifier: decisions, false alarms, all kinds of data, scale, rules, explanations, degenerate input."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eocc import RegionClassifier, load
from eocc.classifiers import regions as module
from eocc.explain.rules import columns_of_model
from eocc.report import write_report
from eocc.report.columns import columns_of
from eocc.streaming import fit_stream
from samples import MAKERS, samples


def two_groups(seed=0, n=127):
    rng = np.random.default_rng(seed)
    load_ = rng.choice([0.3, 0.8], size=n) + 0.05 * rng.normal(size=n)
    temperature = 40 + 15 * load_ + 0.5 * rng.normal(size=n)
    return pd.DataFrame({"load": load_, "temp_c": temperature, "vibration": 1.7 + 0.4 * rng.normal(size=n)})


def strange():
    return pd.DataFrame({"load": [0.8, 0.3, 0.55], "temp_c": [52.0, 52.0, 1e6], "vibration": [1.7, 1.7, 9.0]})


@pytest.fixture(scope="module")
def fitted():
    return RegionClassifier().fit(two_groups())


def test_it_accepts_normal_rows_and_rejects_others(fitted):
    assert fitted.predict(strange()).tolist() == [1, -1, -1]
    assert_allclose(fitted.decision_function(strange()), fitted.score_samples(strange()) - fitted.offset_)
    assert_allclose(fitted.membership(strange()), np.exp(fitted.score_samples(strange())))


def test_rejected_rows_have_a_p_value_of_at_most_the_rate(fitted):
    new = two_groups(1, 500)
    assert_array_equal(fitted.predict(new) == -1, fitted.p_values(new) <= 0.05)


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("draw", ["standard_normal", "heavy"])
def test_about_the_promised_share_of_new_rows_is_rejected(n, draw):
    rates = []
    for seed in range(6000 // n):
        rng = np.random.default_rng(seed)
        rows = rng.standard_t(3, size=(n + 1000, 2)) if draw == "heavy" else rng.standard_normal((n + 1000, 2))
        rates.append((RegionClassifier().fit(rows[:n]).predict(rows[n:]) == -1).mean())
    assert 0.03 < np.mean(rates) < 0.07


@pytest.mark.parametrize("name", sorted([*MAKERS, "precomputed"]))
def test_every_measure_gives_a_model_that_can_be_saved(name, tmp_path):
    training, new = samples(name, 30)
    clf = RegionClassifier(measure=name, n_regions=4).fit(training)
    clf.save(tmp_path / "model.eocc")
    again = load(tmp_path / "model.eocc")
    assert_array_equal(again.score_samples(new), clf.score_samples(new))
    assert [str(rule) for rule in again.rules()] == [str(rule) for rule in clf.rules()]
    explained = clf.explain(new)
    assert [one.sentence for one in again.explain(new)] == [one.sentence for one in explained]
    assert str(explained[0].detail)
    assert clf.transform(new).shape == (len(new), clf._n_features_out)


@pytest.mark.parametrize("name", ["euclidean", "gower", "string-edit"])
def test_a_row_scores_the_same_alone(name):
    training, new = samples(name, 40)
    clf = RegionClassifier(measure=name).fit(training)
    alone = [clf.score_samples(new.iloc[[i]] if hasattr(new, "iloc") else new[i : i + 1])[0] for i in range(5)]
    assert_array_equal(clf.score_samples(new), alone)


def test_the_order_of_rows_and_the_number_of_threads_do_not_matter(fitted):
    shuffled = two_groups().sample(frac=1, random_state=0)
    for clf in (RegionClassifier().fit(shuffled), RegionClassifier(n_jobs=2).fit(two_groups())):
        assert_array_equal(clf.score_samples(strange()), fitted.score_samples(strange()))
        assert_array_equal(clf.calibration_.margins, fitted.calibration_.margins)
    words = samples("string-edit", 40)[0]
    one, other = (RegionClassifier().fit(some).score_samples(["12", "777"]) for some in (words, words[::-1]))
    assert_allclose(one, other, rtol=1e-9)


def test_what_the_caller_does_after_the_fit_changes_nothing():
    X = two_groups().to_numpy().copy()
    clf = RegionClassifier().fit(X)
    before = clf.score_samples(strange().to_numpy())
    X[:] = 0
    assert_array_equal(clf.score_samples(strange().to_numpy()), before)


@pytest.mark.parametrize("n", [300, 6000])
def test_a_stream_and_dask_give_the_model_of_fit(n, monkeypatch):
    dask_array = pytest.importorskip("dask.array")
    monkeypatch.setattr(module, "MOST_ROWS", 1000)
    rows = np.random.default_rng(0).normal(size=(n, 3))
    whole = RegionClassifier().fit(rows)
    parts = [rows[:123], rows[123:200], rows[200:]]
    for clf in (
        fit_stream(RegionClassifier(), parts),
        RegionClassifier().fit(dask_array.from_array(rows, chunks=(n // 3, 3))),
    ):
        assert_array_equal(clf.score_samples(rows[:50]), whole.score_samples(rows[:50]))
        assert_array_equal(clf.calibration_.margins, whole.calibration_.margins)
        assert clf._n_training == n


def test_labels_of_a_stream_and_of_dask_count(monkeypatch):
    dask_array = pytest.importorskip("dask.array")
    rows = np.vstack([np.random.default_rng(0).normal(size=(200, 2)), [[3.0, 3.0], [3.1, 3.0]]])
    y = np.append(np.ones(200), [-1, -1])
    one = RegionClassifier().fit(rows, y)
    other = RegionClassifier().fit(dask_array.from_array(rows, chunks=(70, 2)), y)
    assert one._facts()["known outliers"] == 2
    assert_array_equal(one.score_samples(rows), other.score_samples(rows))
    assert one.score_samples([[3.0, 3.0]])[0] < RegionClassifier().fit(rows[:200]).score_samples([[3.0, 3.0]])[0]


def test_all_rows_calibrate_also_those_without_regions(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 200)
    rows = np.random.default_rng(0).normal(size=(3000, 2))
    clf = RegionClassifier().fit(rows)
    assert clf._n_training == 3000
    assert sum(region.n_members for region in clf.regions_) == 200
    assert (clf.predict(rows) == -1).mean() == pytest.approx(0.05, abs=0.005)


def test_more_objects_are_compared_with_some_of_them(monkeypatch):
    monkeypatch.setattr(module, "MOST_OBJECTS", 25)
    words = [f"{a}{b}" for a in "abcdefg" for b in "uvwxyz"]
    clf = RegionClassifier().fit(words)
    assert len(clf.prototypes_) == 25
    assert not clf._is_whole
    assert clf._n_training == 42
    assert clf.predict(["au", "qqqqqqqqqq"]).tolist() == [1, -1]


def test_the_limits_of_a_fit():
    assert (module.N_REGIONS, module.MOST_ROWS, module.MOST_OBJECTS, module.MOST_MARGINS) == (20, 5000, 2000, 500)


def test_a_model_of_numbers_holds_no_training_row(fitted, tmp_path):
    X = two_groups()
    fitted.save(tmp_path / "model.eocc")
    content = (tmp_path / "model.eocc").read_bytes()
    assert b'"keeps_training_rows":false' in content
    # The centre of a region of one row is that row.
    held = sum(row.tobytes() in content for row in X.to_numpy())
    assert held == sum(region.n_members == 1 for region in fitted.regions_)
    assert held == fitted._facts()["training rows in the model"]
    few = RegionClassifier(n_regions=4).fit(X)
    few.save(tmp_path / "few.eocc")
    assert not any(row.tobytes() in (tmp_path / "few.eocc").read_bytes() for row in X.to_numpy())
    assert len(content) < 20_000


def test_a_rule_is_one_sentence_in_the_units_of_the_columns():
    X = pd.DataFrame({"load": [0.8, 0.9] * 20, "temp_c": [50.0, 52.0, 51.0, 51.0] * 10})
    (rule,) = RegionClassifier(n_regions=1).fit(X).rules()
    assert str(rule) == "Region 0, 40 of 40 rows, mostly: load 0.8 to 0.9, temp_c 50 to 52; nearest training row 3"
    assert rule.to_dict()["columns"][0]["centre"] == pytest.approx(0.85)


def trips(n=1500, seed=0):
    """Flights to two near and many far towns: within a region, time and distance vary much, given the other little."""
    rng = np.random.default_rng(seed)
    town = rng.choice([f"T{k:02}" for k in range(60)], n, p=np.r_[0.2, 0.2, np.full(58, 0.6 / 58)])
    distance = 100.0 + 40 * np.array([int(one[1:]) for one in town])
    minutes = distance / 8 + rng.normal(0, 4, n)
    day = pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 30 * 24, n), unit="h")
    return pd.DataFrame(
        {"town": town, "distance": distance, "minutes": minutes, "day": day, "fare": rng.gamma(2, 40, n)}
    )


@pytest.mark.parametrize("columns", [["distance", "minutes", "fare"], ["town", "distance", "minutes", "fare"]])
def test_most_rows_of_a_region_lie_within_the_ranges_of_its_rule(columns, monkeypatch):
    X, found, keep = trips()[columns], [], RegionClassifier._keep

    def kept(self, measure, patterns, numbers, learned, features):
        found.append((numbers, learned.labels))
        keep(self, measure, patterns, numbers, learned, features)

    monkeypatch.setattr(RegionClassifier, "_keep", kept)
    clf = RegionClassifier().fit(X)
    ((numbers, labels),) = found
    for rule in clf.rules():
        own = X.iloc[numbers[labels == rule.region]]
        assert len(own) == rule.n_members
        for column in rule.columns:
            if column.centre is None:
                continue
            values, slack = own[column.name], 1e-9 * (1 + abs(column.centre))
            share = values.between(column.low - slack, column.high + slack).mean()
            assert share >= 0.9 or rule.n_members < 20, (rule.region, column)
            assert column.low >= X[column.name].min()
            assert column.high <= X[column.name].max()
            # No range is much wider than the rows: the distance of a town is one number.
            assert column.high - column.low <= 4.001 * values.std(ddof=0) + slack or rule.n_members < 4
    if "town" in columns:
        assert re.search(r"town T\d\d 100%, distance \d+, minutes", " ".join(str(clf).split()))


def test_arrays_have_the_rules_of_frames(tmp_path):
    X = trips()[["distance", "minutes", "fare"]]
    clf = RegionClassifier().fit(X.to_numpy())
    clf.save(tmp_path / "m.eocc")
    for rules in (clf.rules(), load(tmp_path / "m.eocc").rules()):
        for one, other in zip(rules, RegionClassifier().fit(X).rules(), strict=True):
            assert [column.said for column in one.columns] == [column.said for column in other.columns]
            assert all(column.low >= X.iloc[:, k].min() for k, column in enumerate(one.columns))
            assert all(column.high <= X.iloc[:, k].max() for k, column in enumerate(one.columns))


def test_a_loaded_model_has_the_same_rules_and_one_of_an_older_format_those_of_the_shared_shape(tmp_path):
    clf = RegionClassifier().fit(trips())
    clf.save(tmp_path / "m.eocc")
    assert load(tmp_path / "m.eocc").rules() == clf.rules()
    old = load(Path(__file__).parents[1] / "stored_models" / "2_RegionClassifier.eocc")
    rule = old.rules()[0].columns[0]
    deviation = np.sqrt(old.ellipsoids_.placement.covariance[0, 0]) / columns_of_model(old)[0].factor
    assert rule.high - rule.low == pytest.approx(4 * deviation)


def test_a_report_calls_no_value_of_a_training_row_new(tmp_path):
    X, new = trips(), trips(300, seed=1)
    clf = RegionClassifier().fit(X)
    assert set(new["town"]) <= set(X["town"])
    new = new[new["fare"].between(X["fare"].min(), X["fare"].max())]
    new = new[new["minutes"].between(X["minutes"].min(), X["minutes"].max())]
    new.loc[new.index[:2], "town"] = "Nowhere"
    new.loc[new.index[:3], "fare"] = 9e4
    columns = columns_of(clf, clf._read(new), [])
    assert columns.beyond == ["Values beyond those of all training rows, rows by column: fare (3)."]
    assert clf.summary(new).new_categories == {"town": (2, ["Nowhere"])}
    town = columns.axes[columns.names.index("town")]
    assert set(dict(town.shares)) == set(X["town"])
    assert dict(town.shares)["T00"] == pytest.approx((X["town"] == "T00").mean(), abs=0.01)
    minutes = columns.axes[columns.names.index("minutes")]
    assert_allclose(minutes.range, X["minutes"].quantile([0.025, 0.975]), atol=10)


def test_correlated_columns_are_named():
    rising = RegionClassifier(n_regions=2, measure="standardised").fit(two_groups())
    assert rising.rules()[0].correlations == ("temp_c rises with load",)
    assert "temp_c rises with load" in str(rising)
    falling = two_groups()
    falling["load"] *= -1
    falls = RegionClassifier(n_regions=2, measure="standardised").fit(falling)
    assert falls._facts()["correlated columns"] == "temp_c falls with load"


def test_a_weak_correlation_is_not_named():
    rng = np.random.default_rng(0)
    for share, named in ((0.45, False), (0.6, True)):
        x = rng.normal(size=20_000)
        X = np.column_stack([x, share * x + np.sqrt(1 - share**2) * rng.normal(size=20_000)])
        assert bool(RegionClassifier(n_regions=1).fit(X).rules()[0].correlations) == named


def test_printing_shows_the_rules_and_before_the_fit_the_parameters(fitted):
    assert str(fitted).count("Region ") == 20
    assert str(RegionClassifier(n_regions=3)) == "RegionClassifier(n_regions=3)"


def test_an_explanation_names_the_column_that_takes_the_row_out(fitted):
    normal, broken, far = fitted.explain(strange())
    assert normal.is_target
    assert broken.main_column == "load"
    assert far.main_column == "temp_c"
    for one in (normal, broken, far):
        assert sum(reason.share for reason in one.reasons) == pytest.approx(1)
    reason = broken.reasons[0]
    assert reason.low < 0.8 < reason.high  # what a temperature of 52 suggests
    assert broken.how_far_out > broken.limit
    assert broken.limit == pytest.approx(np.sqrt(1 - 2 * fitted.threshold_))
    assert fitted.explain_frame(strange())["decision"].tolist() == [1, -1, -1]


def test_reasons_of_many_columns_add_up_to_1():
    X = np.random.default_rng(0).normal(size=(200, 40))
    for one in RegionClassifier().fit(X).explain(X[:5] * 3):
        assert len(one.reasons) <= 9
        assert sum(reason.share for reason in one.reasons) == pytest.approx(1)


def test_mixed_tables_with_gaps_and_unknown_categories():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({
        "age": rng.normal(40, 5, 200), "city": rng.choice(["Rome", "Oslo"], 200), "ok": rng.random(200) < 0.5,
        "size": pd.Categorical(rng.choice(["S", "M", "L"], 200), ["S", "M", "L"], ordered=True),
    })  # fmt: skip
    X.loc[3, "age"] = np.nan
    clf = RegionClassifier().fit(X)
    new = X.iloc[:4].copy()
    new["city"] = ["Paris", "Rome", "Rome", None]
    new["age"] = [40.0, 90.0, np.nan, 40.0]
    assert clf.predict(new).tolist() == [-1, -1, 1, 1]
    explained = clf.explain(new)
    assert [one.main_column for one in explained[:2]] == ["city", "age"]
    assert "Rome" in str(clf.rules()[0]) or "Oslo" in str(clf.rules()[0])


def test_gaps_in_new_rows_of_numbers_are_filled_by_the_regions(fitted):
    row = strange().iloc[[0]].copy()
    complete = fitted.score_samples(row)[0]
    row["temp_c"] = np.nan
    assert fitted.score_samples(row)[0] > complete - 0.1
    assert fitted.predict(row)[0] == 1


DEGENERATE = {
    "all equal": np.ones((30, 3)),
    "copies": np.repeat([[0.0, 0.0], [1.0, 2.0]], 20, axis=0),
    "one row": np.array([[1.0, 2.0]]),
    "two rows": np.array([[1.0, 2.0], [2.0, 2.0]]),
    "three rows": np.array([[1.0, 2.0], [2.0, 2.0], [5.0, 1.0]]),
    "a constant column": np.column_stack([np.arange(30.0), np.full(30, 7.0)]),
    "more columns than rows": np.random.default_rng(0).normal(size=(8, 30)),
    "one row at 50 sigma": np.vstack([np.random.default_rng(0).normal(size=(99, 2)), [[50.0, 0.0]]]),
    "tiny": 1e-300 * np.random.default_rng(0).normal(size=(30, 2)),
    "huge": 1e300 * np.random.default_rng(0).normal(size=(30, 2)),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_rows_give_finite_answers(name):
    X = DEGENERATE[name]
    clf = RegionClassifier().fit(X)
    far = np.vstack([X[:2], X[:1] + 1e4 * (np.abs(X).max() or 1.0)])
    assert np.isfinite(clf.score_samples(far)).all()
    assert clf.predict(far)[-1] == -1
    if name != "one row at 50 sigma":
        assert clf.predict(X).mean() > 0.7
    assert all(str(rule) for rule in clf.rules())
    assert sum(reason.share for reason in clf.explain(far)[-1].reasons) == pytest.approx(1)


def test_copies_are_accepted_up_to_one_width():
    clf = RegionClassifier().fit(np.ones((30, 2)))
    assert clf.predict([[1.0, 1.0], [1.9, 1.0], [1.0, 2.1]]).tolist() == [1, 1, -1]


@pytest.mark.parametrize("n_regions", [0, -1, 2.5, True, "many"])
def test_a_wrong_number_of_regions_is_refused(n_regions):
    with pytest.raises(ValueError, match="n_regions must be an integer >= 1"):
        RegionClassifier(n_regions=n_regions).fit(np.eye(3))


def test_more_regions_than_rows_are_refused():
    with pytest.raises(ValueError, match="n_regions is 31, but there are 30 normal rows; pass at most 30"):
        RegionClassifier(n_regions=31).fit(np.random.default_rng(0).normal(size=(30, 2)))


def test_a_column_of_weight_0_does_not_count():
    X = two_groups()
    clf = RegionClassifier(weights=[1, 1, 0]).fit(X)
    other = X.copy()
    other["vibration"] = 1e9
    assert_array_equal(clf.score_samples(other), clf.score_samples(X))
    assert [column.name for column in clf.rules()[0].columns] == ["load", "temp_c"]


def test_drift_looks_at_the_scores_alone(fitted):
    assert fitted.drift(two_groups(5, 300)).p_value > 0.01
    assert fitted.drift(two_groups(5, 300) * 1.2).p_value < 0.01


def test_it_cannot_be_taught(fitted):
    with pytest.raises(ValueError, match="RegionClassifier cannot be taught"):
        fitted.teach(two_groups().iloc[:1], [1])


@pytest.mark.parametrize("name", ["euclidean", "gower", "string-edit"])
def test_the_report_and_the_pictures_show_the_regions(name, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    training, new = samples(name, 40)
    clf = RegionClassifier(measure=name, n_regions=4).fit(training)
    write_report(clf, tmp_path / "page.html", new)
    page = (tmp_path / "page.html").read_text()
    assert "Region 0, " in page
    assert "4 regions as rules" in page
    for axes in (clf.plot(), clf.plot(new)):
        assert axes.get_title()
    reaches = clf._region_reaches
    assert (reaches is None) == (name == "string-edit")


def test_the_map_of_the_regions_has_a_circle_for_each(fitted):
    assert len(fitted._region_reaches) == 20
    reach = np.sqrt(-2 * fitted.offset_)
    assert (fitted._region_reaches < reach).all()
    shown = fitted._reference_rows
    assert_allclose(np.median(shown, axis=0), np.median(two_groups(), axis=0), rtol=0.2)
