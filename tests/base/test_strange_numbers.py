"""Constant columns, columns of any size, masks, dates, similarities: nothing wrong passes in silence."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from eocc import SurpriseClassifier
from eocc.base.wording import format_within, share
from eocc.measures import LabelledGraph
from eocc.measures.unit import StandardUnit

pytestmark = pytest.mark.filterwarnings("ignore:.* is always")

ROWS = np.random.default_rng(0).normal(size=(100, 2))


def test_gower_rejects_any_other_value_in_a_constant_column():
    frame = pd.DataFrame(ROWS, columns=["a", "b"]).assign(volts=230.0, kind="x")
    clf = SurpriseClassifier(measure="gower").fit(frame)
    new = frame[:1].loc[[0] * 5].assign(volts=[230.0, 231.0, 0.0, 1e12, np.nan])
    assert clf.predict(new).tolist() == [1, -1, -1, -1, 1]


@pytest.mark.parametrize("factor", [1e-310, 1e-200, 1e-9, 1e9, 1e160, 1e300])
def test_standardised_columns_may_differ_by_any_power(factor):
    clf = SurpriseClassifier(measure="standardised").fit(ROWS * [factor, 1])
    assert clf.predict([[0, 1e6], [0, 0], [50 * factor, 0]]).tolist() == [-1, 1, -1]


def test_one_huge_cell_does_not_hide_the_other_columns():
    clf = SurpriseClassifier(measure="standardised").fit(np.vstack([ROWS, [[1e308, 1]]]))
    assert clf.predict([[0, 1e6], [0, 0]]).tolist() == [-1, 1]


def test_a_column_that_varies_by_rounding_only_keeps_its_own_scale():
    rows = np.column_stack([ROWS[:, 0] * 1e6, np.full(100, 0.1) + 1e-17 * np.arange(100), np.full(100, 7.0)])
    assert_array_equal(StandardUnit.of(rows).spreads[1:], [1.0, 1.0])
    assert StandardUnit.of(rows).spreads[0] == pytest.approx(rows[:, 0].std(), rel=1e-12)


def test_dates_are_not_taken_for_numbers():
    days = pd.date_range("2031-12-01", periods=100)
    shuffled = days[np.argsort(ROWS[:, 0])]  # in order they would be set aside
    frames = pd.DataFrame({"day": shuffled}), pd.DataFrame({"a": ROWS[:, 0], "day": shuffled})
    for X in (*frames, shuffled.to_numpy()[:, None]):
        with pytest.raises(ValueError, match=r"holds dates.*measure 'gower'"):
            SurpriseClassifier(measure="euclidean").fit(X)
    clf = SurpriseClassifier().fit(pd.DataFrame({"day": shuffled}))
    new = pd.DataFrame({"day": [days[50], days[-1] + pd.Timedelta(days=365)]})
    assert clf.predict(new).tolist() == [1, -1]


@pytest.mark.parametrize("unit", ["Y", "D", "s", "ms"])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
@pytest.mark.parametrize("of_objects", [False, True])
def test_dates_that_microseconds_do_not_reach_are_refused(kind, unit, of_objects):
    moments = np.array([1, 2**62] * 20).view(f"{kind}[{unit}]")
    with pytest.raises(ValueError, match="'inf' is not a finite number"):
        SurpriseClassifier().fit([{"t": one} for one in moments] if of_objects else moments[:, None])


@pytest.mark.parametrize("unit", ["ns", "as"])
def test_dates_finer_than_microseconds_are_read(unit):
    moments = np.array([5, 2**62] * 20).view(f"datetime64[{unit}]")[:, None]
    assert SurpriseClassifier().fit(moments).predict(moments[:2]).tolist() == [1, 1]


def test_a_signaling_nan_is_a_missing_value():
    rows = [{"d": Decimal(k), "c": "ab"[k % 2]} for k in (3, 1, 4, 1, 5, 9, 2, 6) * 5]
    gap = [{"d": Decimal("NaN"), "c": "a"}, {"d": Decimal("sNaN"), "c": "a"}]
    quiet, signaling = SurpriseClassifier().fit([*rows, *gap]).score_samples(gap)
    assert quiet == signaling


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(9, [("a", float), ("b", int)]), r"a structured array; pass pandas.DataFrame\(X\)"),
        (pd.DataFrame(ROWS, columns=["a", np.nan]).assign(c="x"), "a column named NaN; rename it"),
        ([{"a": 1.0, np.nan: "x"}] * 9, "a column named NaN; rename it"),
    ],
)
def test_columns_without_usable_names_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        SurpriseClassifier().fit(X)


def test_a_mask_is_not_ignored():
    masked = np.ma.masked_array(ROWS, np.arange(200).reshape(100, 2) == 7)
    with pytest.raises(ValueError, match=r"mask would be ignored; pass X.filled\(np.nan\), with measure='gower'"):
        SurpriseClassifier().fit(masked)
    clf = SurpriseClassifier().fit(np.ma.masked_array(ROWS))
    with pytest.raises(ValueError, match="mask would be ignored"):
        clf.predict(masked)


@pytest.mark.parametrize(
    "function", [lambda a, b: 1 / (1 + abs(a - b)), lambda a, b: 1.0, lambda a, b: np.exp(-abs(a - b))]
)
def test_a_similarity_is_refused_as_a_measure(function):
    with pytest.raises(ValueError, match=r"of a pattern and itself must be 0; it is 1: is it a similarity\?"):
        SurpriseClassifier(measure=function).fit(list(ROWS[:, 0]))


def test_a_self_dissimilarity_of_rounding_size_is_accepted():
    def cosine(a, b):
        return max(0.0, 1 - a @ b / np.sqrt((a @ a) * (b @ b))) + 1e-16

    assert SurpriseClassifier(measure=cosine).fit(list(ROWS)).predict([ROWS[0]]) == [1]


def test_records_of_numbers_are_rows_of_numbers():
    records = [{"a": float(a), "b": float(b)} for a, b in ROWS]
    clf = SurpriseClassifier(measure="euclidean").fit(records)
    assert_array_equal(
        clf.score_samples(records), SurpriseClassifier(measure="euclidean").fit(ROWS).score_samples(ROWS)
    )


def test_what_is_no_measure_is_refused():
    with pytest.raises(ValueError, match=r"unknown measure 3; known: .* or pass an object with a method 'fit' or a"):
        SurpriseClassifier(measure=3).fit(ROWS)


def test_numbers_of_graphs_may_lie_any_number_of_ranges_apart():
    graphs = [LabelledGraph(2, [[0, 1]], {"x": [0.001 * k, 0.5]}) for k in range(12)]
    clf = SurpriseClassifier(measure="graph-edit").fit(graphs)
    far = [LabelledGraph(2, [[0, 1]], {"x": [x, -x]}) for x in (1e99, 1e308)]
    assert clf.predict(far).tolist() == [-1, -1]
    assert np.isfinite(clf.transform(far)).all()
    assert all("Nearest training rows" in explanation.detail for explanation in clf.explain(far))


def test_shares_of_nothing_and_infinite_amounts_have_words():
    assert share(0.0, 0.0) == "  0%"
    assert format_within(float("inf"), 1.0) == ["1"]
