"""The view that decided speaks first in an explanation."""

import numpy as np
import pandas as pd
import pytest

from eocc import SurpriseClassifier
from eocc.report import write_report
from pages import read


@pytest.fixture(scope="module")
def flights():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{k}": rng.choice([*"abcde"], 300) for k in range(12)})
    frame["carrier"] = rng.choice(["AA", "DL", "UA"], 300)
    for k in range(8):
        frame.loc[rng.permutation(300)[:40], f"c{k}"] = None
    frame.loc[0, [f"c{k}" for k in range(8)]] = "a"
    return frame


@pytest.fixture(scope="module")
def clf(flights):
    return SurpriseClassifier().fit(flights)


def explained(clf, row, **changes):
    (one,) = clf.explain(row.assign(**changes))
    assert not one.is_target
    return one


def test_an_unseen_category(clf, flights):
    one = explained(clf, flights[:1], carrier="ZZ")
    assert one.decided_by == "cell"
    assert one.reasons[0].text == "carrier is ZZ; no normal row has it"
    assert "carrier is ZZ; no normal row has it" in one.sentence
    assert one.reasons[0].share == max(reason.share for reason in one.reasons)


def test_a_gap_where_no_normal_row_has_one(clf, flights):
    one = explained(clf, flights[:1], carrier=None)
    assert one.decided_by == "cell"
    assert one.reasons[0].text == "carrier is missing; no normal row lacks it"


def test_the_number_of_gaps(clf, flights):
    most = int(flights.isna().sum(axis=1).max())
    one = explained(clf, flights[:1], **{f"c{k}": None for k in range(8)})
    assert one.decided_by == "cell"
    assert one.reasons[0].text == f"8 of 13 values are missing; normal rows have at most {most}"
    assert (one.reasons[0].value, one.reasons[0].high) == (8, most)


def test_a_number_of_gaps_that_some_normal_rows_have_is_counted(flights):
    frame = flights.copy()
    frame.loc[5, [f"c{k}" for k in range(10)]] = None
    (one,) = SurpriseClassifier().fit(frame).explain(frame.iloc[:1].assign(**{f"c{k}": None for k in range(10)}))
    (text,) = [reason.text for reason in one.reasons if reason.name == "missing values"]
    assert text == "10 of 13 values are missing; 1 of 300 normal rows lacks as many"


def test_what_is_not_new_is_counted(clf, flights):
    frame = flights.assign(carrier=["ZZ", *flights["carrier"][1:]])
    one = explained(SurpriseClassifier(false_alarm_rate=0.3).fit(frame), flights[1:2], carrier="ZZ")
    assert (one.decided_by, one.reasons[0].text) == ("cell", "carrier is ZZ; 1 of 300 normal rows has it")


def test_a_number_out_of_range(flights):
    frame = flights.assign(speed=np.random.default_rng(1).uniform(size=300))
    one = explained(SurpriseClassifier().fit(frame), frame[:1], speed=1.5)
    assert one.decided_by == "cell"
    assert one.reasons[0].text == "speed is 1.5; normal rows have 0.01 to 1"
    assert (one.reasons[0].low, one.reasons[0].high) == (frame["speed"].min(), frame["speed"].max())


def correlated(seed=0):
    """Six columns that rise and fall together, and six others; a row in which one of the six goes the other way."""
    rng = np.random.default_rng(seed)
    X, row = rng.normal(size=(300, 12)), rng.normal(size=12) * 0.8
    X[:, :6] = X[:, :1] + X[:, :6] / 10
    row[:6] = 0.7
    row[3] = -0.7
    names = [f"s{k}" for k in range(12)]
    return pd.DataFrame(X, columns=names), pd.DataFrame([row], columns=names)


def test_two_columns_that_do_not_go_together():
    X, row = correlated()
    one = explained(SurpriseClassifier().fit(X), row)
    assert one.decided_by == "covariance"
    first = one.reasons[0]
    assert first.name == "s3"
    partner = first.text.split(" and ")[1].split(" ")[0]
    assert partner in {"s0", "s1", "s2", "s4", "s5"}
    # The sixteen rows nearest to it in the other column have s3 in this range.
    alike = X["s3"].iloc[np.argsort(np.abs(X[partner] - 0.7), kind="stable")[:16]]
    assert (first.low, first.high) == (alike.min(), alike.max())
    assert first.text.startswith(
        f"No single value is unusual, but s3 and {partner} do not go together: at {partner} 0.7"
    )
    assert first.text.endswith(f"normal rows have s3 {first.normal}; here -0.7")


def test_another_unusual_value_is_not_called_usual():
    X, row = correlated()
    row["s9"] = X["s9"].quantile(0.995)  # beyond 99 % of the normal rows
    one = explained(SurpriseClassifier().fit(X), row)
    assert one.decided_by == "covariance"
    assert one.reasons[0].text.startswith("s3 and ")


@pytest.mark.parametrize("n_clump", [12, 20])
def test_a_clump_of_near_copies(n_clump):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    X[:n_clump] = 9 + rng.normal(size=(n_clump, 4)) / 100
    clf = SurpriseClassifier(false_alarm_rate=0.1).fit(X)
    (one,) = clf.explain(9 + rng.normal(size=(1, 4)) / 100)
    assert not one.is_target
    assert one.decided_by == "far"
    clump = (
        f"Its only near rows are {n_clump} training rows that are near copies of each other and far from all others."
    )
    assert one.lead == clump
    assert clump in one.sentence


def test_an_accepted_row_is_explained_by_its_neighbours(flights):
    # With a limit above all others the unseen category is accepted, and no view says what it saw.
    X = pd.concat([flights, flights.assign(carrier="ZZ")[:1]], ignore_index=True)
    clf = SurpriseClassifier(false_alarm_rate=0.004).fit(X)
    (one,) = clf.explain(X[-1:])
    assert one.is_target
    assert one.decided_by == "cell"
    assert "normal row has it" not in one.sentence


def test_the_neighbours_speak_where_they_decide():
    X = np.random.default_rng(0).normal(size=(300, 2))
    (one,) = SurpriseClassifier().fit(X).explain([[0.0, 9.0]])
    assert one.decided_by == "neighbours"
    assert one.reasons[0].text.startswith("feature 1 is 9; normal rows near it have ")


def test_a_missing_date_counts_as_one_column_everywhere(tmp_path):
    rng = np.random.default_rng(0)
    times = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 10**7, 300), "s")
    frame = pd.DataFrame({f"c{k}": rng.choice([*"abcde"], 300) for k in range(6)} | {"when": times})
    clf = SurpriseClassifier().fit(frame)
    assert len(clf.prototypes_.columns) > 7  # the parts of dates are compared
    new = frame[:1].assign(when=pd.NaT, **{f"c{k}": None for k in range(3)})
    one = explained(clf, new)
    assert one.reasons[0].text == "4 of 7 values are missing; normal rows have none"
    assert "4 of 7 values missing" in one.facts
    assert clf.summary(new).to_dict()["gaps"] == {
        "rows": 1, "empty_rows": 0, "columns": [{"name": name, "rows": 1} for name in ("c0", "c1", "c2", "when")]
    }  # fmt: skip
    page = read(write_report(clf, tmp_path / "page.html", new)).text
    assert "Gaps in 1 of 1 new row: c0 (1), c1 (1), c2 (1), when (1)." in page
