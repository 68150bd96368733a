import datetime as dt
import pickle
import runpy
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from eocc import EntropicOneClassClassifier, SurpriseClassifier, load
from eocc.entropic.search import GeneticSearch
from eocc.measures import Composite, Euclidean
from eocc.measures.base import MixedRows
from eocc.measures.tables import Gower
from oracles import tables

LEVELS = ["low", "middle", "high"]
KINDS = {"age": "numeric", "city": "categorical", "paid": "boolean", "rank": LEVELS, "day": "numeric"}
EPOCH = dt.date(1970, 1, 1)
DAYS = [dt.date(2020, 1, 1), dt.date(2020, 1, 2), dt.date(2024, 2, 29)]


def record(ages):
    values = {
        "age": ages,
        "city": st.sampled_from(["Oslo", "Rome", "Ürümqi"]),
        "paid": st.booleans(),
        "rank": st.sampled_from(LEVELS),
        "day": st.sampled_from(DAYS),
    }
    cells = st.tuples(*(st.one_of(st.none(), value) for value in values.values()))
    return cells.map(lambda row: dict(zip(values, row, strict=True)))


def records(min_rows=1, max_rows=9):
    """Rows full of ties and missing values, or with ages of any size."""
    ages = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e6, 1e6).map(lambda age: round(age, 3)))
    return st.lists(record(ages), min_size=min_rows, max_size=max_rows)


def in_days(rows):
    """The records as the oracle wants them: dates as numbers."""
    return [{**row, "day": None if row["day"] is None else (row["day"] - EPOCH).days} for row in rows]


def pandas_frame(rows):
    frame = pd.DataFrame(rows, columns=list(KINDS))
    frame["rank"] = pd.Categorical(frame["rank"], categories=LEVELS, ordered=True)
    return frame.astype({"age": "float64", "paid": "boolean", "city": "category", "day": "datetime64[us]"})


def polars_frame(rows):
    schema = {"age": pl.Float64, "city": pl.String, "paid": pl.Boolean, "rank": pl.Enum(LEVELS), "day": pl.Date}
    return pl.DataFrame(rows, schema=schema)


def gower():
    return Gower(kinds={"rank": LEVELS})


def weights(seed, size=5):
    return np.random.default_rng(seed).random(size)


def between(training, patterns, p, measure=None):
    fitted_measure = (measure or Gower()).fit(training)
    return fitted_measure.prepare(patterns, training).evaluate(np.asarray(p, dtype=np.float64))


def test_values_derived_by_hand():
    rows = [
        {"age": 10.0, "city": "Oslo", "paid": True, "rank": "low"},
        {"age": 20.0, "city": "Rome", "paid": True, "rank": "high"},
        {"age": 30.0, "city": None, "paid": False, "rank": "middle"},
        {"age": None, "city": "Rome", "paid": True, "rank": "low"},
    ]
    D = gower().fit(rows).prepare(rows).evaluate(np.array([1.0, 0.5, 0.25, 1.0]))
    # Three rows have a city: two in Rome. Three have an age: 20 is the median.
    assert D[0, 1] == pytest.approx((10 / 20 + 0.5 * 1 + 0 + 1) / 4)
    assert D[0, 2] == pytest.approx((1 + 0.5 * 1 + 0.25 + 1 / 2) / 4)
    assert D[0, 3] == pytest.approx((1 / 2 + 0.5 * 1 + 0 + 0) / 4)
    assert D[1, 3] == pytest.approx((0 + 0 + 0 + 1) / 4)
    assert D[2, 3] == pytest.approx((1 / 2 + 0 + 0.25 + 1 / 2) / 4)
    assert_array_equal(D.diagonal(), 0)


@given(records(), records(), st.integers(0, 10**6))
def test_the_measure_equals_its_twin(training, patterns, seed):
    p = weights(seed)
    fitted_measure = gower().fit(training)
    assert fitted_measure.names == list(KINDS)
    square = tables.dissimilarities(in_days(training), in_days(training), p, KINDS, in_days(training))
    assert_allclose(fitted_measure.prepare(training).evaluate(p), square, atol=1e-12)
    known = [row for row in patterns if all(can_be_measured(row, training, name) for name in KINDS)]
    if known:
        expected = tables.dissimilarities(in_days(known), in_days(training), p, KINDS, in_days(training))
        assert_allclose(fitted_measure.prepare(known, training).evaluate(p), expected, rtol=1e-9, atol=1e-12)


def can_be_measured(row, training, name):
    """The twin knows no columns that are all missing."""
    return row[name] is None or any(other[name] is not None for other in training)


@given(records(), st.integers(0, 10**6))
def test_training_values_lie_in_the_unit_interval_and_copies_are_zero_apart(rows, seed):
    copies = rows[:3]
    rows = rows + copies
    prepared = gower().fit(rows).prepare(rows)
    for p in (weights(seed), np.ones(len(KINDS)), np.zeros(len(KINDS))):
        D = prepared.evaluate(p)
        assert D.min() >= 0
        assert D.max() <= 1
        assert_array_equal(D, D.T)
        assert_array_equal(D.diagonal(), 0)
        assert_array_equal(D[: len(copies)], D[-len(copies) :])


@given(records(), st.integers(0, 10**6), st.integers(0, 10**6))
def test_p_enters_linearly(rows, seed, other_seed):
    prepared = gower().fit(rows).prepare(rows)
    p, q = weights(seed), weights(other_seed)
    mixed = prepared.evaluate((p + q) / 2)
    assert_allclose(mixed, (prepared.evaluate(p) + prepared.evaluate(q)) / 2, atol=1e-14)


@given(records(min_rows=2, max_rows=20), st.integers(0, 10**6))
def test_a_row_alone_equals_the_row_in_a_batch_and_in_the_square_bit_for_bit(rows, seed):
    p, measure = weights(seed), gower()
    table = measure.read(rows)
    fitted_measure = measure.fit(table)
    batch = fitted_measure.prepare(table, table).evaluate(p)
    assert_array_equal(fitted_measure.prepare(table).evaluate(p), batch)
    for i in range(len(rows)):
        assert_array_equal(fitted_measure.prepare(table[np.array([i])], table).evaluate(p)[0], batch[i])
        assert_array_equal(fitted_measure.prepare([rows[i]], table).evaluate(p)[0], batch[i])


@given(records(), st.integers(0, 10**6))
def test_pandas_polars_records_and_arrays_give_the_same(rows, seed):
    p = weights(seed)
    expected = gower().fit(rows).prepare(rows).evaluate(p)
    array = np.array([list(row.values()) for row in rows], dtype=object)
    for measure, X in (
        (Gower(), pandas_frame(rows)),
        (Gower(), polars_frame(rows)),
        (gower(), pandas_frame(rows).astype({"rank": "object", "paid": "object"})),
        (Gower(kinds={3: LEVELS}), array),
        (Gower(kinds={3: LEVELS}), array.tolist()),
    ):
        assert_array_equal(measure.fit(X).prepare(X).evaluate(p), expected)


ROWS = [
    {"age": 31.0, "city": "Oslo", "paid": True, "rank": "low", "day": DAYS[0]},
    {"age": None, "city": "Rome", "paid": False, "rank": "high", "day": DAYS[1]},
    {"age": 50.0, "city": "Rome", "paid": None, "rank": "middle", "day": DAYS[2]},
]


def test_a_model_of_one_library_measures_rows_of_another():
    p = weights(0)
    expected = between(pandas_frame(ROWS), pandas_frame(ROWS), p)
    assert_array_equal(between(pandas_frame(ROWS), polars_frame(ROWS), p), expected)
    assert_array_equal(between(polars_frame(ROWS), ROWS, p), expected)
    assert_array_equal(between(ROWS, polars_frame(ROWS), p, gower()), expected)


@pytest.mark.parametrize("frame", [pandas_frame, polars_frame])
def test_dtypes_decide_the_kinds(frame):
    kinds = Gower().fit(frame(ROWS)).kinds
    assert kinds == ["numeric", "categorical", "boolean", "ordered", "numeric"]
    assert Gower({"rank": "categorical", "paid": "numeric"}).fit(frame(ROWS)).kinds[2:4] == [
        "numeric",
        "categorical",
    ]


@pytest.mark.parametrize("frame", [pandas_frame, polars_frame])
def test_columns_are_found_by_name(frame):
    p = weights(1)
    reordered = frame(ROWS)[["day", "paid", "age", "rank", "city"]]
    assert_array_equal(between(frame(ROWS), reordered, p), between(frame(ROWS), frame(ROWS), p))


@pytest.mark.parametrize("frame", [pandas_frame, polars_frame])
def test_columns_that_do_not_fit_are_named(frame):
    fitted_measure = Gower().fit(frame(ROWS))
    with pytest.raises(ValueError, match=r"^X lacks column 'age', which the training table had$"):
        fitted_measure.prepare(frame(ROWS)[["city", "paid", "rank", "day"]])
    with pytest.raises(
        ValueError, match=r"^X has a column 'extra', which the training table did not have; leave it out$"
    ):
        fitted_measure.prepare([{**row, "extra": 1} for row in ROWS])
    with pytest.raises(ValueError, match=r"^row 0: column 'age': 'old' is not a number"):
        fitted_measure.prepare([{**row, "age": "old"} for row in ROWS])
    in_text = fitted_measure.prepare([{**row, "age": str(row["age"])} for row in ROWS if row["age"] is not None])
    assert_array_equal(in_text.rows, fitted_measure.prepare([row for row in ROWS if row["age"] is not None]).rows)
    with pytest.raises(ValueError, match=r"^column 'paid' holds numbers, but held booleans in training$"):
        fitted_measure.prepare([{**row, "paid": 1} for row in ROWS])
    with pytest.raises(ValueError, match=r"^column 'day' holds numbers, but held dates in training$"):
        fitted_measure.prepare([{**row, "day": 18262} for row in ROWS])
    with pytest.raises(
        ValueError, match=r"^column 'rank' holds the unknown level 'top'; known: 'low', 'middle', 'high'$"
    ):
        fitted_measure.prepare([{**ROWS[0], "rank": "top"}])


def test_unknown_categories_differ_from_all_known_and_equal_themselves():
    training = [{"city": city} for city in ("Oslo", "Rome", "Rome")]
    fitted_measure = Gower().fit(training)
    new = [{"city": city} for city in ("Lima", "Rome", "Bonn")]
    assert_array_equal(fitted_measure.prepare(new, training).evaluate(np.ones(1)), [[1, 1, 1], [1, 0, 0], [1, 1, 1]])
    assert_array_equal(fitted_measure.prepare(new).evaluate(np.ones(1)), [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    assert_array_equal(fitted_measure.prepare(new[:1], new[::-1]).evaluate(np.ones(1)), [[1, 1, 0]])


def test_a_column_that_is_missing_throughout_a_batch_fits_any_kind():
    empty = [dict.fromkeys(KINDS)]
    fitted_measure = Gower().fit(pandas_frame(ROWS))
    expected = fitted_measure.prepare(pandas_frame(empty), pandas_frame(ROWS)).evaluate(np.ones(5))
    for X in (empty, pd.DataFrame(empty), pl.DataFrame(empty), pd.DataFrame(empty).astype("float64")):
        assert_array_equal(fitted_measure.prepare(X, pandas_frame(ROWS)).evaluate(np.ones(5)), expected)


def test_a_gap_is_filled_from_the_eight_nearest_rows_that_have_a_value():
    near = [{"x": 0.0, "y": float(y), "c": c} for y, c in enumerate("aabbbbbcc")]  # nine, as near as each other
    far = [{"x": 9.0, "y": 100.0, "c": "d"}] * 20
    new = [{"x": 0.0, "y": None, "c": None}, {"x": 9.0, "y": None, "c": None}]
    fitted_measure = Gower().fit(near + far)
    D = fitted_measure.prepare(new, [near[4], far[0]]).evaluate(np.ones(3))
    # Filled with y = 4 and "b", the median and the most frequent, and with the values of the far rows.
    apart = (1 + 0.96 + 1) / 3
    assert_allclose(D, [[0, apart], [apart, 0]])
    eight = [{"x": float(x), "y": float(x < 8)} for x in range(17)]
    assert_array_equal(Gower().fit(eight).prepare([{"x": 0.0, "y": None}], eight[:1]).evaluate(np.ones(2)), [[0]])
    ninth = [{"x": float(x), "y": float(x < 4)} for x in range(17)]  # four of the nearest eight: the lower median
    assert_array_equal(
        Gower().fit(ninth).prepare([{"x": 0.0, "y": None}], ninth[4:5]).evaluate(np.array([0, 1.0])), [[0]]
    )


@pytest.mark.parametrize(("measure", "most"), [(Gower(), 10_000), (Euclidean(), 1000)])
def test_at_most_so_many_rows_fill_gaps(measure, most):
    rows = np.zeros((most + 1, 1))
    assert [len(measure.fit(some).donors) for some in (rows[:-1], rows)] == [most, most // 2 + 1]


def normal_machines(n, seed):
    """Correlated readings and a category."""
    rng = np.random.default_rng(seed)
    load, site = rng.normal(65, 12, n), rng.choice(["north", "south"], n)
    heat = 45 + 0.3 * load + rng.normal(0, 2, n) + 4 * (site == "south")
    return pd.DataFrame({"site": site, "load": load, "heat": heat, "flow": 14.2 * load + rng.normal(0, 25, n)})


@pytest.mark.parametrize("has_gaps", [False, True])
def test_gaps_as_in_training_neither_raise_alarms_nor_hide_strange_values(has_gaps):
    def removed(rows, seed):
        return rows.mask(np.random.default_rng(seed).random(rows.shape) < 0.03)

    training, new = normal_machines(400, 0), removed(normal_machines(400, 1), 2)
    clf = SurpriseClassifier(measure="gower").fit(removed(training, 3) if has_gaps else training)
    is_incomplete = new.isna().any(axis=1).to_numpy()
    rejected = (clf.predict(new[is_incomplete]) == -1).mean()
    # A gap where no normal row has one is as strange as a category that was never seen.
    assert rejected < 0.15 if has_gaps else rejected == 1.0
    strange = normal_machines(100, 4).assign(heat=lambda rows: rows["heat"] + 20)
    assert (clf.predict(strange) == -1).mean() > 0.9


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_gaps_in_training_do_not_hide_a_strange_value(share):
    rng = np.random.default_rng(0)
    training = pd.DataFrame(
        {
            "oil_pressure": rng.normal(2.8, 0.2, 400).clip(2.2, 3.4),
            "temperature": rng.normal(70, 5, 400),
            "speed": rng.normal(1500, 40, 400),
            "site": rng.choice(["north", "south"], 400),
        }
    )
    strange = training[:1].assign(oil_pressure=0.4)
    for name in ("oil_pressure", "temperature"):
        training.loc[rng.random(400) < share, name] = np.nan
    clf = SurpriseClassifier().fit(training)
    assert clf.predict(strange) == -1
    assert clf.p_values(strange) < 0.01
    assert clf._score_all(strange).ratios > 2


@pytest.mark.parametrize("measure", [Gower(), Composite({"table": Gower(), "load": "euclidean"})])
def test_a_copy_of_a_training_row_with_gaps_scores_as_the_row_did_when_it_was_left_out(measure):
    X = machines(60, 0)
    if isinstance(measure, Composite):
        records = X.astype(object).where(X.notna(), None).to_dict("records")
        X = [{"table": record, "load": float(i % 7)} for i, record in enumerate(records)]
    clf = SurpriseClassifier(measure=measure).fit(X)
    among = clf.surprise_model_.normal.among_itself()
    clf.surprise_model_.neighbours.leave_twins_out(among)
    single = clf._score_all(X).margins[among.twins < 0]
    assert len(single) > 40
    assert np.abs(single[:, None] - clf.calibration_.margins).min(axis=1).max() < 1e-8


def test_a_complete_row_scores_the_same_alone_and_next_to_rows_with_gaps():
    # The second row differs from the first by a gap in a column that is constant, which counts nothing.
    rows = [{"a": 1.0, "b": 5.0}, {"a": 1.0, "b": None}, *({"a": i * i % 29 / 4, "b": 5.0} for i in range(2, 30))]
    clf = SurpriseClassifier().fit(rows)
    scores = clf.score_samples([rows[0], rows[1], {"a": None, "b": 5.0}, {"a": 3.0, "b": None}])
    assert_array_equal(scores[0], clf.score_samples(rows[:1])[0])
    assert_array_equal(scores[3], clf.score_samples([{"a": 3.0, "b": None}])[0])


def test_a_column_without_a_value_in_training_tells_nothing():
    training = [{"x": None, "y": 1}, {"x": None, "y": 2}]
    fitted_measure = Gower().fit(training)
    assert fitted_measure.kinds == ["empty", "numeric"]
    assert_array_equal(fitted_measure.prepare([{"x": "new", "y": 1}], training).evaluate(np.ones(2)), [[0, 0.5]])


def test_a_constant_number_counts_as_a_category_does():
    training, new = [{"x": 7, "y": 0}, {"x": 7, "y": 1}], [{"x": 8, "y": 0}, {"x": -1e300, "y": 0}, {"x": 7, "y": 0}]
    for measure in (Gower(), Gower({"x": "categorical"})):
        assert_array_equal(between(training, new, [1, 0], measure), [[0.5, 0.5], [0.5, 0.5], [0, 0]])


@pytest.mark.parametrize("magnitude", [1e-310, 1e-300, 1.0, 1e300, 1.7e308])
def test_huge_and_tiny_numbers_are_measured_as_others_are(magnitude):
    X = np.array([[-1.0], [0.0], [1.0], [0.5]])
    assert_allclose(between(X * magnitude, X * magnitude, [1]), np.abs(X - X.T) / 2, atol=1e-12)


def test_new_numbers_may_exceed_the_range_and_are_never_infinite():
    training = np.array([[0.0], [2.0]])
    assert_array_equal(between(training, np.array([[6.0]]), [1]), [[3, 2]])
    assert np.isfinite(between(training * 1e-200, np.array([[1e300]]), [1])).all()


def test_ordered_numbers_take_their_training_values_as_levels():
    training = [{"floor": floor} for floor in (0, 1, 10, None, 1)]
    measure = Gower({"floor": "ordered"})
    assert_array_equal(between(training, [{"floor": 10}], [1], measure), [[1, 0.5, 0, 0.5, 0.5]])
    with pytest.raises(ValueError, match=r"column 'floor' holds the unknown level 2.0; known: 0.0, 1.0, 10.0"):
        between(training, [{"floor": 2}], [1], measure)


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"agee": "numeric"}, "^unknown column 'agee' in kinds; known: 'age', 'city', 'paid', 'rank', 'day'$"),
        (
            {"age": "number"},
            "^unknown kind 'number'; known: 'boolean', 'calendar', 'categorical', 'date', 'numeric', 'ordered'",
        ),
        ({"age": None}, "^unknown kind None; .*or pass a list of levels, the lowest first$"),
        ({"rank": ["low", "low"]}, "^the levels of column 'rank' must be different and at least 1, not"),
        ({"rank": []}, "^the levels of column 'rank' must be different and at least 1, not"),
        ({"city": "numeric"}, "^row 0: column 'city': 'Oslo' is not a number"),
        ({"city": "boolean"}, "^column 'city' is declared boolean, but holds Oslo$"),
        ({"age": "boolean"}, "^column 'age' is declared boolean, but holds 31$"),
        (
            {"city": "ordered"},
            r"^column 'city' is declared ordered, .* pass kinds=\{'city': \[levels, the lowest first\]\}$",
        ),
        ({"rank": ["low", "high"]}, "^column 'rank' holds the unknown level 'middle'; known: 'low', 'high'$"),
    ],
)
def test_kinds_that_cannot_be(kinds, message):
    with pytest.raises(ValueError, match=message):
        Gower(kinds).fit(ROWS)


def test_several_threads_evaluate_at_once():
    X = np.random.default_rng(0).normal(size=(200, 6))
    prepared = Gower().fit(X).prepare(X)
    candidates = [weights(seed, 6) for seed in range(16)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(prepared.evaluate, candidates))
    for p, D in zip(candidates, together, strict=True):
        assert_array_equal(prepared.evaluate(p, np.empty((200, 200))), D)


def machines(n, seed):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "load": rng.normal(50, 5, n),
            "site": rng.choice(["north", "south"], n),
            "checked": rng.random(n) < 0.9,
            "wear": pd.Categorical(rng.choice(LEVELS[:2], n), categories=LEVELS, ordered=True),
        }
    )
    rows.loc[rng.random(n) < 0.1, "load"] = np.nan
    return rows


def as_polars(frame):
    columns = {name: [None if value != value else value for value in frame[name]] for name in frame}
    return pl.DataFrame(columns, schema_overrides={"wear": pl.Enum(LEVELS)})


def classifier(**settings):
    search = GeneticSearch(max_generations=3)
    return EntropicOneClassClassifier(measure=Gower(), random_state=0, search=search, **settings)


@pytest.fixture(scope="module")
def fitted():
    return classifier().fit(machines(60, 0))


def test_from_a_frame_to_decisions(fitted):
    new = machines(20, 1)
    strange = new.assign(load=95.0, site="nowhere", checked=False)
    assert fitted.weights_.shape == (4,)
    assert fitted.measure_.names == ["load", "site", "checked", "wear"]
    assert set(fitted.predict(new)) <= {1, -1}
    assert (fitted.predict(strange) == -1).all()
    assert fitted.score_samples(new).min() > fitted.score_samples(strange).max()
    assert len(set(fitted.score_samples(new))) > 1


def test_a_row_scores_the_same_alone_in_a_batch_and_in_polars(fitted):
    new = machines(20, 1)
    scores = fitted.score_samples(new)
    assert_array_equal([fitted.score_samples(new.iloc[[i]])[0] for i in range(len(new))], scores)
    assert_array_equal(fitted.score_samples(as_polars(new)), scores)
    assert_array_equal(classifier().fit(as_polars(machines(60, 0))).score_samples(new), scores)


def test_a_model_with_gaps_categories_and_an_empty_column_is_saved(tmp_path):
    X = machines(60, 0).assign(empty=None)
    clf = SurpriseClassifier(measure=Gower()).fit(X)
    clf.save(tmp_path / "model.eocc")
    new = machines(20, 1).assign(empty="a value", site=None)
    assert_array_equal(load(tmp_path / "model.eocc").score_samples(new), clf.score_samples(new))


def test_a_model_can_be_cloned_and_pickled(fitted):
    new = machines(20, 1)
    assert clone(fitted).measure == Gower()
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).score_samples(new), fitted.score_samples(new))


def test_both_kinds_of_rows_in_one_frame():
    X = pd.concat([machines(60, 0), machines(20, 1).assign(load=95.0)], ignore_index=True)
    y = np.repeat([1, -1], [60, 20])
    clf = classifier(synthesis="validation").fit(X, y)
    assert (clf.predict(machines(10, 2).assign(load=95.0)) == -1).all()
    with pytest.raises(ValueError, match="X has no column 'load'"):
        clf.predict(X[["site", "checked", "wear"]])


def test_the_example_runs(capsys):
    example = Path(__file__).parents[2] / "examples" / "mixed_records.py"
    runpy.run_path(str(example), run_name="__main__")
    assert "How much each column counts" in capsys.readouterr().out


@pytest.mark.parametrize(("n", "is_here"), [(1024, True), (1025, False)])
def test_large_tables_are_compared_on_another_thread_so_that_ctrl_c_works(n, is_here):
    used = []

    class Watched(MixedRows):
        kernel = staticmethod(lambda *_: used.append(threading.current_thread() is threading.main_thread()))

    Watched(np.zeros((n, 2)), np.zeros((2, 1024)), np.zeros(2, bool)).evaluate(np.ones(2))
    assert used == [is_here]
