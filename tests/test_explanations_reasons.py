"""The first sentence of an explanation, and the reasons in it."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from doubles import plain
from eocc import SurpriseClassifier
from eocc.explain import reasons as reasons_module
from eocc.explain.explanation import rarity_in_words
from eocc.explain.reasons import column_reasons, strangest
from eocc.measures import MEASURES, Composite, LabelledGraph
from eocc.measures.cells import Cells
from oracles import strangeness as oracle
from samples import samples

KINDS = {"surprise": SurpriseClassifier, "entropic": plain}
both = pytest.mark.parametrize("kind", KINDS)


def cells_of(rows, columns, is_code):
    return Cells(("a", "b", "c")[: len(columns)], rows, columns, is_code, rows.item, columns.T.item)


def test_strangeness_by_hand():
    # Rows with a = 0 have b from 1 to 4, those with a = 10 have b from 11 to 14: each value of (0, 12) is usual by
    # itself. Half of the eight rows are near.
    columns = np.array([[0.0] * 4 + [10.0] * 4, [1.0, 2, 3, 4, 11, 12, 13, 14]])
    cells = cells_of(np.array([[0.0, 12.0]]), columns, np.zeros(2, bool))
    found, near = strangest(cells, np.arange(2))
    assert near[0, 1].tolist() == [0, 1, 2, 3]  # alike in a
    assert near[0, 0].tolist() == [5, 4, 6, 7]  # alike in b; of equal ones the first
    spread = np.std(columns[1])
    assert_allclose(found[0], [10 / 2.5, (12 - 2.5) / ((np.sqrt(1.25) + spread) / 2)])


def test_the_strangeness_of_categories_by_hand():
    columns = np.array([[0.0] * 6 + [1.0] * 2, [5.0, 5, 5, 5, 5, 5, 7, 7]])
    rows = np.array([[0.0, 7.0], [2.0, 5.0], [np.nan, 5.0]])
    found, near = strangest(cells_of(rows, columns, np.ones(2, bool)), np.arange(2))
    # Near (0, 7) in the second column are rows 6 and 7, then rows with another category.
    assert near[0, 0].tolist() == [6, 7, 0, 1]
    assert_allclose(found[0, 0], np.sqrt(2 * np.log(1 / ((2 / 4 + 6 / 8) / 2))))
    assert found[1, 0] == 10  # no normal row has it
    assert found[2, 0] == 0  # missing


def test_sixteen_rows_are_near_or_half_of_fewer():
    rng = np.random.default_rng(0)
    for n, n_near in ((100, 16), (33, 16), (20, 10), (2, 1), (1, 1)):
        cells = cells_of(rng.normal(size=(1, 2)), rng.normal(size=(2, n)), np.zeros(2, bool))
        assert strangest(cells, np.arange(2))[1].shape == (1, 2, n_near)


def test_a_row_is_compared_with_the_others():
    columns = np.array([[0.0, 1, 2, 3, 50]])
    found, near = strangest(cells_of(np.array([[50.0]]), columns, np.zeros(1, bool)), np.arange(1))
    assert near[0, 0].tolist() == [0, 1, 2, 3]
    assert found[0, 0] > 2


cell = st.sampled_from([0.0, 1.0, 2.0, 7.0, np.nan]) | st.floats(-9, 9).map(lambda value: round(value, 2))


@settings(deadline=None)
@given(st.data(), st.integers(1, 12), st.integers(1, 3))
def test_the_kernel_is_the_definition(data, n, n_columns):
    columns = data.draw(arrays(float, (n_columns, n), elements=cell))
    rows = data.draw(arrays(float, (2, n_columns), elements=cell))
    if data.draw(st.booleans()):
        rows[0] = columns[:, -1]
    cells = cells_of(rows, columns, data.draw(arrays(bool, n_columns)))
    spreads = cells.spreads()
    with np.errstate(invalid="ignore"):
        expected = [np.std(one[~np.isnan(one)]) if (~np.isnan(one)).any() else 0.0 for one in columns]
    assert_allclose(spreads, np.where(cells.is_code, 0, expected), atol=1e-12)
    found, near = strangest(cells, np.arange(n_columns))
    for i, k in np.ndindex(2, n_columns):
        args = rows[i].tolist(), columns.T.tolist(), k, cells.is_code.tolist(), spreads.tolist(), near.shape[2]
        expected, here = oracle.near_rows(*args), near[i, k].tolist()
        apart = [[oracle.unlikeness(rows[i], columns[:, j], *args[2:5]) for j in some] for some in (here, expected)]
        assert_allclose(*apart, atol=1e-9)
        if here == expected:  # rounding may change the order of equal ones
            assert_allclose(found[i, k], oracle.strangeness(*args), rtol=1e-9, atol=1e-9)


@pytest.fixture(scope="module")
def machines():
    rng = np.random.default_rng(0)
    load = rng.uniform(0, 1, 200)
    return pd.DataFrame({
        "oil_bar": 2 + load + rng.normal(0, 0.05, 200), "load": load, "pressure_pa": 101325 + rng.normal(0, 0.3, 200),
        "site": rng.choice(["north", "south"], 200), "serviced": pd.Timestamp("2026-01-01"),
    })  # fmt: skip


@both
def test_the_sentence_names_what_was_moved(machines, kind):
    clf = KINDS[kind]().fit(machines)
    new = machines[:1].assign(oil_bar=0.4)
    (one,) = clf.explain(new)
    assert one.sentence.startswith("Rejected: ")
    first = one.reasons[0]
    assert (first.name, first.value, first.stands_out) == ("oil_bar", 0.4, True)
    # Normal rows near it have the same load, so their oil pressure varies less than in all rows.
    assert 2 < first.low < first.high < first.low + 0.6
    assert first.text == f"oil_bar is 0.4; normal rows near it have {first.low:.2f} to {first.high:.2f}"
    assert first.text in one.sentence
    assert_allclose(sum(reason.share for reason in one.reasons), 1, atol=0.03)
    assert str(one).startswith(one.sentence[:40])
    assert "oil_bar" in str(one).splitlines()[-1 - len(one.reasons) + 1]


def test_two_usual_values_that_do_not_go_together_are_named(machines):
    clf = SurpriseClassifier().fit(machines[["oil_bar", "load"]])
    (one,) = clf.explain(pd.DataFrame({"oil_bar": [2.1], "load": [0.9]}))
    assert not one.is_target
    assert {reason.name for reason in one.reasons if reason.stands_out} == {"oil_bar", "load"}


def test_categories_dates_and_gaps_in_words(machines):
    clf = SurpriseClassifier().fit(machines)
    new = machines[:3].assign(site=["west", None, "north"], serviced=pd.Timestamp("2027-03-04"))
    west, gap, north = clf.explain(new)
    texts = {reason.name: reason.text for reason in west.reasons}
    assert texts["site"] in (
        "site is west, which no normal row has; those near it have north or south",
        "site is west, which no normal row has; those near it have south or north",
    )
    assert texts["serviced"] == "serviced is 2027-03-04; normal rows near it have 2026-01-01"
    assert "Also site is west, not" in west.sentence
    assert all("site" not in {reason.name for reason in one.reasons if reason.stands_out} for one in (gap, north))
    json.dumps(west.to_dict(), allow_nan=False)


def test_numbers_have_the_digits_of_the_range(machines):
    clf = SurpriseClassifier().fit(machines[["pressure_pa"]])
    (one,) = clf.explain(pd.DataFrame({"pressure_pa": [101335.123456]}))
    assert one.reasons[0].said == "101335.1"
    column = machines["pressure_pa"]
    assert (one.reasons[0].low, one.reasons[0].high) == (column.min(), column.max())  # all rows are near


def test_columns_of_weight_0_are_no_reasons(machines):
    numbers = machines[["oil_bar", "load"]].to_numpy()
    found = column_reasons(
        SurpriseClassifier().fit(numbers).measure_, numbers[:1] + 9, numbers, np.array([0.0, 1.0]), None
    )
    assert [reason.name for reason in found[0]] == ["feature 1"]


def test_many_normal_rows_are_looked_at_in_part(machines, monkeypatch):
    numbers = machines[["oil_bar", "load"]].to_numpy()
    clf = SurpriseClassifier().fit(numbers)
    monkeypatch.setattr(reasons_module, "MOST_ROWS", 20)
    (one,) = clf.explain([[0.4, 0.5]])
    picked = numbers[np.linspace(0, 199, 20).astype(int), 0]
    assert {one.reasons[0].low, one.reasons[0].high} <= set(picked.tolist())


@pytest.mark.parametrize(
    ("p_value", "n", "n_left_out", "words"),
    [
        (1 / 201, 200, 200, "more unusual than all 200 normal rows"),
        (0.5, 1, 1, "more unusual than the one normal row"),
        (5 / 201, 200, 200, "1 in 50 normal rows look this unusual"),
        (8 / 30001, 30000, 30000, "1 in 4,300 normal rows look this unusual"),
        (1 / 101, 5000, 100, "at most 1 in 100 normal rows look this unusual"),
        (0.5, 199, 199, "50% of normal rows look at least this unusual"),
        (1.0, 9, 9, "every normal row looks at least this unusual"),
    ],
)
def test_how_unusual_in_words(p_value, n, n_left_out, words):
    assert rarity_in_words(p_value, n, n_left_out) == words


@both
@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_has_a_sentence(kind, name):
    training, new = samples(name)
    for one in KINDS[kind](measure=name).fit(training).explain(new):
        assert one.sentence.startswith(("Accepted: ", "Rejected: "))
        assert one.sentence.endswith(".")
        assert ("normal row" in one.sentence) or not one.lead
        shares = [reason.share for reason in one.reasons]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) < 1 + 1e-9
        assert max(map(len, one.sentence.split())) < 80
        assert one.to_record()["sentence"] == one.to_dict()["sentence"] == one.sentence


@both
def test_other_data_are_compared_with_one_normal_row(kind):
    clf = KINDS[kind](measure="string-edit").fit(["AB-1234", "AB-1299", "CD-4711", "CD-4007", "AB-8281", "CD-1918"])
    (one,) = clf.explain(["AB--12x4"])
    assert one.lead.startswith("To turn it into normal row 0 ('AB-1234'), ")
    assert "delete '-' at position 3" in one.sentence


def test_graphs_are_edited_the_way_the_measure_goes():
    def chain(*symbols):
        return LabelledGraph(len(symbols), [[k, k + 1] for k in range(len(symbols) - 1)], {"symbol": symbols})

    clf = SurpriseClassifier(measure="graph-edit").fit([chain(*"CCO"), chain(*"CCCO"), chain(*"CCN")])
    smaller, larger = clf.explain([chain(*"CO"), chain(*"CCCCCO")])
    assert smaller.lead.startswith("To turn it into normal row ")
    assert larger.lead.startswith("To turn normal row 1 (")
    assert larger.lead.endswith(", the most similar one, into it:")


def test_parts_of_a_composite_are_named():
    rng = np.random.default_rng(0)
    records = [{"size": rng.normal(size=2), "name": f"{'ab'[i % 2]}{i}"} for i in range(12)]
    clf = SurpriseClassifier(measure=Composite({"size": "euclidean", "name": "string-edit"})).fit(records)
    (one,) = clf.explain([{"size": [9.0, 9.0], "name": "a1"}])
    assert one.reasons[0].text.startswith("size: feature ")
    assert_allclose(sum(reason.share for reason in one.reasons), 1)


def test_a_measure_of_numbers_only_gives_the_distance():
    training, _ = samples("precomputed")
    (one,) = SurpriseClassifier(measure="precomputed").fit(training).explain(np.full((1, len(training)), 9.0))
    assert one.reasons == ()
    assert "The most similar normal row, 0, is " in one.sentence
    assert str(one).split() == one.sentence.split()


def test_a_row_like_known_outliers_is_called_so(machines):
    X = machines[["oil_bar", "load"]].to_numpy()
    y = np.where((X[:, 1] > 0.8), -1, 1)
    clf = SurpriseClassifier().fit(X, y)
    (one,) = clf.explain([[2.95, 0.95]])
    assert not one.is_target
    assert ("similar to known outliers" in one.sentence) == (2 * one.outliers.amount > one.surprise)


def test_the_difference_is_found_when_asked_for(machines):
    clf = SurpriseClassifier().fit(machines[["oil_bar", "load"]])
    (one,) = clf.explain(machines[["oil_bar", "load"]][:1])
    assert "difference" not in vars(one.comparison)
    assert one.difference is one.neighbourhoods[0].difference


def test_rules_of_a_mixed_table_name_categories_and_dates(machines):
    clf = plain(weights=[1.0, 0.5, 1.0, 1.0, 1.0]).fit(machines)
    for rule in clf.rules():
        members = machines.iloc[clf.regions_[rule.region].members]
        assert [one.feature for one in rule.ranges] == ["oil_bar", "pressure_pa", "load"]  # by weight
        assert rule.ranges[0].maximum == members["oil_bar"].max()
        assert "(weight 0.5)" in str(rule)
        share = members["site"].value_counts(normalize=True)
        assert rule.contents[0].startswith(f"site: {share.index[0]} {share.iloc[0]:.0%}")
        assert rule.contents[1] == "serviced: 2026-01-01"
        assert ("  It has" in str(rule)) == (rule.n_members == 1)


def test_a_table_of_many_cells_is_looked_at_in_part_and_block_by_block(machines, monkeypatch):
    numbers = machines[["oil_bar", "load"]].to_numpy()
    clf, new = SurpriseClassifier().fit(numbers), numbers[:7] + 1.0
    whole = clf.explain(new)
    monkeypatch.setattr(reasons_module, "MOST_CELLS", 400)  # 200 rows of 2 columns; 12 rows at a time
    assert clf.explain(new) == whole
    monkeypatch.setattr(reasons_module, "MOST_CELLS", 64)  # 32 rows of 2 columns; 2 rows at a time
    picked = set(numbers[np.linspace(0, 199, 32).astype(int)].ravel().tolist())
    assert all({one.reasons[0].low, one.reasons[0].high} <= picked for one in clf.explain(new))


def test_a_single_strange_value_of_very_many_is_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3000))
    new = rng.normal(size=(1, 3000))
    new[0, 1234] = 5.0
    (one,) = SurpriseClassifier().fit(X).explain(new)
    assert one.reasons[0].name == "feature 1234"


def test_further_reasons_are_named_if_they_are_about_as_strange(machines):
    clf = SurpriseClassifier().fit(machines[["load", "pressure_pa"]])
    far, near = clf.explain(pd.DataFrame({"load": [9.0, 9.0], "pressure_pa": [101335.0, 101326.0]}))
    assert "Also pressure_pa is 101335, not" in far.sentence or "Also load is 9, not" in far.sentence
    assert near.reasons[1].share < near.reasons[0].share / 4
    assert "Also" not in near.sentence
