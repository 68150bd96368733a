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
from eocc.explain.reasons import least_usual, part_strangeness, strangest
from eocc.measures import MEASURES, Composite, LabelledGraph
from eocc.measures.composite import RecordPart, Records
from eocc.measures.difference import Cells
from oracles import strangeness as oracle
from samples import samples

pytestmark = pytest.mark.filterwarnings("ignore:.* is always")

KINDS = {"surprise": SurpriseClassifier, "entropic": plain}
both = pytest.mark.parametrize("kind", KINDS)


def cells_of(rows, columns, is_code):
    return Cells(("a", "b", "c")[: len(columns)], rows, columns, is_code, rows.item, columns.T.item)


def test_strangeness_by_hand():
    # Rows with a = 0 have b from 1 to 4, those with a = 10 have b from 11 to 14: each value of (0, 12) is usual by
    # itself. Half of the eight rows are near.
    columns = np.array([[0.0] * 4 + [10.0] * 4, [1.0, 2, 3, 4, 11, 12, 13, 14]])
    cells = cells_of(np.array([[0.0, 12.0]]), columns, np.zeros(2, bool))
    strange = strangest(cells, np.arange(2))
    found, near = strange.values, strange.near
    assert strange.ends[0, 1].tolist() == [0, 3]  # b is 1 and 4
    assert near[0, 1].tolist() == [0, 1, 2, 3]  # alike in a
    assert near[0, 0].tolist() == [5, 4, 6, 7]  # alike in b; of equal ones the first
    spread = np.std(columns[1])
    assert_allclose(found[0], [10 / 2.5, (12 - 2.5) / ((np.sqrt(1.25) + spread) / 2)])


def test_the_strangeness_of_categories_by_hand():
    columns = np.array([[0.0] * 6 + [1.0] * 2, [5.0, 5, 5, 5, 5, 5, 7, 7]])
    rows = np.array([[0.0, 7.0], [2.0, 5.0], [np.nan, 5.0]])
    strange = strangest(cells_of(rows, columns, np.ones(2, bool)), np.arange(2))
    found, near = strange.values, strange.near
    # Near (0, 7) in the second column are rows 6 and 7, then rows with another category.
    assert near[0, 0].tolist() == [6, 7, 0, 1]
    assert_allclose(found[0, 0], np.sqrt(2 * np.log(1 / ((2 / 4 + 6 / 8) / 2))))
    assert found[1, 0] == 10  # no normal row has it
    assert found[2, 0] == 0  # missing


def test_sixteen_rows_are_near_or_half_of_fewer():
    rng = np.random.default_rng(0)
    for n, n_near in ((100, 16), (33, 16), (20, 10), (2, 1), (1, 1)):
        cells = cells_of(rng.normal(size=(1, 2)), rng.normal(size=(2, n)), np.zeros(2, bool))
        assert strangest(cells, np.arange(2)).near.shape == (1, 2, n_near)


def test_a_row_is_compared_with_the_others():
    columns = np.array([[0.0, 1, 2, 3, 50]])
    strange = strangest(cells_of(np.array([[50.0]]), columns, np.zeros(1, bool)), np.arange(1))
    assert strange.near[0, 0].tolist() == [0, 1, 2, 3]
    assert strange.values[0, 0] > 2


def test_a_number_in_a_gap_of_its_column_is_as_strange_as_an_unseen_category():
    # 24 rows on each side of 5: no value is within 5, the spread is 5, and 24 * 5 / 5 >= 6.
    column = np.repeat([0.0, 10.0], 24)
    found = [strangest(cells_of(np.array([[x]]), column[None], np.zeros(1, bool)), np.arange(1)) for x in (5, 1, 2)]
    assert [one.values[0, 0] == 10 for one in found] == [True, False, True]  # 1 is within a quarter of the spread
    few = cells_of(np.array([[5.0]]), np.array([[0.0] * 40 + [10.0] * 3]), np.zeros(1, bool))
    assert strangest(few, np.arange(1)).values[0, 0] < 10  # three rows above could be chance


def test_a_number_in_a_gap_is_named_with_the_ends_of_the_gap():
    rng = np.random.default_rng(0)
    speeds = np.round(np.repeat([1500.0, 3000.0], 100) + rng.normal(0, 12, 200))
    frame = pd.DataFrame({"rpm": speeds, "oil_bar": rng.normal(3, 0.2, 200), "load": rng.uniform(0, 1, 200)})
    (one,) = SurpriseClassifier().fit(frame).explain(frame[:1].assign(rpm=2200.0))
    low, high = speeds[:100].max(), speeds[100:].min()
    assert one.reasons[0].text == f"rpm is 2200; normal rows have up to {low:.0f} or from {high:.0f}"
    assert (one.reasons[0].low, one.reasons[0].high, one.reasons[0].stands_out) == (None, None, True)


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
    strange = strangest(cells, np.arange(n_columns))
    found, near = strange.values, strange.near
    for i, k in np.ndindex(2, n_columns):
        args = rows[i].tolist(), columns.T.tolist(), k, cells.is_code.tolist(), spreads.tolist(), near.shape[2]
        expected, here = oracle.near_rows(*args), near[i, k].tolist()
        apart = [[oracle.unlikeness(rows[i], columns[:, j], *args[2:5]) for j in some] for some in (here, expected)]
        assert_allclose(*apart, atol=1e-9)
        if here == expected:  # rounding may change the order of equal ones
            assert_allclose(found[i, k], oracle.strangeness(*args), rtol=1e-9, atol=1e-9)
        known = [columns[k, j] for j in here if not np.isnan(columns[k, j])]
        if known and not cells.is_code[k] and not np.isnan(rows[i, k]):
            assert columns[k, strange.ends[i, k]].tolist() == [min(known), max(known)]


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
    assert any(line.startswith("  oil_bar") for line in str(one).splitlines())


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
    clf = SurpriseClassifier().fit(numbers)
    found = least_usual(clf, numbers[:1] + 9, np.array([0.0, 1.0]), np.ones((1, len(numbers))))
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


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(0)
    sizes = rng.normal([0, 50], size=(40, 2))
    return [{"size": size, "heat": size[0], "name": f"AB-{1000 + i}"} for i, size in enumerate(sizes)]


@both
def test_the_columns_of_a_composite_are_compared_with_normal_rows(records, kind):
    measure = Composite({"size": "euclidean", "heat": "euclidean", "name": "string-edit"})
    clf = KINDS[kind](measure=measure).fit(records)
    wide, hot, odd = clf.explain([
        records[0] | {"size": [records[0]["size"][0], 90.0]}, records[0] | {"heat": 9.0}, records[0] | {"name": "x"}
    ])  # fmt: skip
    assert [one.reasons[0].name for one in (wide, hot, odd)] == ["size: feature 1", "heat", "name"]
    assert wide.reasons[0].value == 90
    assert wide.reasons[0].low < 50 < wide.reasons[0].high < 60
    assert hot.reasons[0].text.startswith("heat is 9; normal rows near it have ")
    assert odd.reasons[0].text.startswith("name is 'x'; the most similar normal row near it has 'AB-10")
    assert all(one.lead == "" for one in (wide, hot, odd))
    assert_allclose(sum(reason.share for reason in hot.reasons), 1, atol=0.03)


def test_the_strangeness_of_a_part_without_columns_by_hand():
    # Distances: 0.5 from each of the three, which differ by 0.1, 0.2 and 0.3 from one another.
    values = np.array([[0.0], [0.1], [0.3]])
    far = np.array([[0.8]])  # 0.8, 0.7 and 0.5 away
    part = RecordPart(
        "a", Composite({"a": lambda x, y: float(abs(x - y)[0])}).measures["a"].fit(values), 1.0, np.zeros(0)
    )
    records, pattern = Records({"a": values}), Records({"a": far})
    strange, nearest = part_strangeness(part, pattern, records, np.arange(3))
    assert_allclose(strange, (0.7 - 0.2) / np.std([0.1, 0.2, 0.3]))
    assert nearest == 2
    two = Records({"a": np.array([[0.0], [0.2]])})  # one distance, so its spread counts as a tenth of it
    assert_allclose(part_strangeness(part, pattern, two, np.arange(2))[0], (0.7 - 0.2) / 0.02)
    same = Records({"a": np.zeros((3, 1))})
    assert part_strangeness(part, pattern, same, np.arange(3)) == (10, 0)  # like an unseen category
    assert part_strangeness(part, same[:1], same, np.arange(3)) == (0, 0)


def test_parts_of_weight_0_are_no_reasons(records):
    measure = Composite({"size": "euclidean", "name": "string-edit"})
    weights = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    (one,) = SurpriseClassifier(measure=measure, weights=weights).fit(records).explain([records[0] | {"name": "x"}])
    assert {reason.name for reason in one.reasons} <= {"size: feature 1"}


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
    assert one.difference == one.neighbourhoods[0].difference
    assert "difference" not in vars(one.comparison)  # it is not kept: with very many columns it is large


def test_rules_of_a_mixed_table_name_categories_and_dates(machines):
    clf = plain(weights=[1.0, 0.5, 1.0, 1.0, 1.0]).fit(machines)
    for rule in clf.rules():
        members = machines.iloc[clf.regions_[rule.region].members]
        known = {one.name: one for one in rule.columns}
        assert list(known) == ["oil_bar", "pressure_pa", "site", "serviced", "load"]  # by weight
        assert known["oil_bar"].high == members["oil_bar"].max()
        assert "(weight 0.5)" in str(rule)
        share = members["site"].value_counts(normalize=True)
        assert known["site"].said.startswith(f"{share.index[0]} {share.iloc[0]:.0%}")
        assert str(known["serviced"]) == "serviced 2026-01-01"


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


def test_explanations_do_not_depend_on_the_number_of_threads(machines):
    rows = pd.concat([machines] * 2).assign(oil_bar=9.0)
    one, two = (SurpriseClassifier(n_jobs=count).fit(machines).explain(rows) for count in (1, 2))
    assert one == two


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AB--12x4", ["delete 'x'", "; replace"]),
        ("xABx1y3z", ["; and 1 more"]),
    ],
)
def test_a_sentence_names_every_edit_or_says_that_there_are_more(text, expected):
    rng = np.random.default_rng(0)
    codes = [f"AB-{''.join(rng.choice(list('1234'), 4))}" for _ in range(60)]
    sentence = SurpriseClassifier().fit(codes).explain([text])[0].sentence
    assert all(part in sentence for part in expected), sentence
