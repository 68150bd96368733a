"""Regions as SQL, Python and JSON give the scores and decisions of the classifier, on random and extreme rows."""

import json
import sqlite3
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier, RegionClassifier, load
from eocc.cli.app import main
from eocc.formats.export import DIALECTS
from eocc.measures import Gower

pytestmark = pytest.mark.filterwarnings("ignore:.* is always")
NAMES = ["a b", 'q"uote', "c", "select"]


def numbers(n=300):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)), columns=NAMES)


def extreme():
    rng = np.random.default_rng(1)
    sizes = 10.0 ** rng.uniform(-5, 300, size=(50, 4)) * rng.choice([-1, 1], size=(50, 4))
    return pd.concat([numbers(), 10 * numbers(), pd.DataFrame(sizes, columns=NAMES)], ignore_index=True)


def constant(X):
    """Add a column that follows from another, and one that is constant in training."""
    return X.assign(e=2 * X["c"], k=3.0)


def mixed(X):
    rng = np.random.default_rng(2)
    cities = rng.choice(["Ro'me", "Oslo", "x\\y"], len(X))
    sizes = pd.Categorical(rng.choice(["S", "M", "L"], len(X)), ["S", "M", "L"], ordered=True)
    return X.assign(city=cities, ok=rng.random(len(X)) < 0.5, size=sizes, k=7.5)


def labelled(X):
    return RegionClassifier().fit(X, np.where(np.arange(len(X)) < 7, -1, 1))


def unusual(X):
    """Change a few values to others that training did not have."""
    X = X.copy()
    X.loc[X.index[:9], "k"] = 8.0
    if "city" in X:
        X.loc[X.index[5:20], "city"] = "Paris"
    return X


CASES = {
    "numbers": (lambda: RegionClassifier().fit(numbers()), extreme),
    "known outliers": (lambda: labelled(numbers()), extreme),
    "standardised, off the span": (
        lambda: RegionClassifier(measure="standardised").fit(constant(numbers())),
        lambda: unusual(constant(extreme())),
    ),
    "a weight of 0": (lambda: RegionClassifier(weights=[1, 0, 1, 0.5]).fit(numbers()), extreme),
    "all equal": (lambda: RegionClassifier().fit(0 * numbers(9)), lambda: numbers(20)),
    "one region": (lambda: RegionClassifier(n_regions=1).fit(numbers()), extreme),
    "sixty regions": (lambda: RegionClassifier(n_regions=60).fit(numbers()), extreme),
    "thirty columns": (
        lambda: RegionClassifier().fit(pd.DataFrame(np.random.default_rng(0).normal(size=(50, 30))).add_prefix("x")),
        lambda: pd.DataFrame(np.random.default_rng(1).normal(size=(50, 30))).add_prefix("x"),
    ),
    "a mixed table": (lambda: RegionClassifier().fit(mixed(numbers())), lambda: unusual(mixed(extreme()))),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    make, rows = CASES[request.param]
    return make(), rows()


def check(clf, rows, scores, p_values, decisions):
    assert_allclose(np.asarray(scores, float), clf.score_samples(rows), rtol=1e-9, atol=1e-9)
    assert_array_equal(np.asarray(decisions, int), clf.predict(rows))
    assert_allclose(np.asarray(p_values, float), clf.p_values(rows), rtol=1e-12)


def in_duckdb(statement, table, rows):
    with duckdb.connect() as database:
        database.register("given", rows)
        database.execute(f'CREATE TABLE "{table}" AS SELECT * FROM given')
        return database.execute(statement).df().sort_values("id")


def in_sqlite(statement, table, rows):
    database = sqlite3.connect(":memory:")
    rows.to_sql(table, database, index=False)
    return pd.read_sql(statement, database).sort_values("id")


@pytest.mark.parametrize(("dialect", "run"), [("duckdb", in_duckdb), ("sqlite", in_sqlite)])
def test_a_database_scores_as_the_classifier(case, dialect, run):
    clf, rows = case
    named = rows.assign(id=range(len(rows)))
    if "size" in named:
        named["size"] = named["size"].astype(str)
    found = run(clf.to_sql('a "table"'.replace('"', "'"), dialect, keep=["id"]), "a 'table'", named)
    check(clf, rows, found["score"], found["p_value"], found["decision"])


def test_the_module_scores_as_the_classifier_in_a_bare_interpreter(case, tmp_path):
    clf, rows = case
    (tmp_path / "model.py").write_text(clf.to_python())
    records = rows.astype(object).to_dict("records")
    (tmp_path / "rows.json").write_text(json.dumps(records, default=lambda value: value.item()))
    script = (
        "import json, sys; sys.path.insert(0, '.'); import model; rows = json.load(open('rows.json'));"
        "print(json.dumps([[model.score(r), model.p_value(r), model.predict(r)] for r in rows]))"
    )
    asked = [sys.executable, "-I", "-S", "-c", script]
    printed = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    check(clf, rows, *zip(*json.loads(printed), strict=True))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", ["known outliers", "a mixed table"])
def test_every_dialect_can_be_parsed(name, dialect):
    clf = CASES[name][0]().set_params(n_regions=3)
    clf = clf.fit(mixed(numbers(40)) if name == "a mixed table" else numbers(40), np.repeat([1, -1], [38, 2]))
    statement = sqlglot.parse_one(clf.to_sql(["main", "parts"], dialect), read=dialect)
    assert [one.alias_or_name for one in statement.selects][-3:] == ["score", "p_value", "decision"]


@pytest.mark.parametrize(("dialect", "run"), [("duckdb", in_duckdb), ("sqlite", in_sqlite)])
def test_a_missing_value_gives_null(dialect, run):
    clf, rows = RegionClassifier().fit(numbers()), numbers(3).assign(id=range(3))
    rows.loc[1, "c"] = np.nan
    found = run(clf.to_sql("t", dialect, keep=["id"]), "t", rows)
    assert found["score"].isna().tolist() == found["decision"].isna().tolist() == [False, True, False]
    assert found["p_value"].isna().tolist() == [False, True, False]


def test_a_missing_value_gives_none_in_python():
    module = {}
    exec(RegionClassifier().fit(numbers()).to_python(), module)
    for missing in (None, float("nan")):
        row = [0.0, missing, 0.0, 0.0]
        assert module["score"](row) is module["p_value"](row) is module["predict"](row) is None
    with pytest.raises(ValueError, match="a row has 4 values, not 3"):
        module["score"]([1.0, 2.0, 3.0])


def test_json_holds_the_numbers_of_the_model():
    clf = RegionClassifier().fit(numbers())
    found = json.loads(clf.to_json(columns=list("wxyz")))
    assert [column["name"] for column in found["columns"]] == list("wxyz")
    assert found["limit"] == clf.offset_
    assert sum(found["regions"]["counts"]) == 300


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda clf: clf.to_sql("t", "oracle"), "unknown dialect 'oracle'; known: 'bigquery', 'duckdb'"),
        (lambda clf: clf.to_sql(""), "names of tables and columns must be texts that are not empty, not ''"),
        (lambda clf: clf.to_sql("t", keep=["score"]), "column 'score' has the name of a result"),
        (lambda clf: clf.to_sql("t", columns=["a"]), "columns must be 4 different names, not"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(RegionClassifier().fit(numbers()))


def test_models_without_columns_are_refused():
    with pytest.raises(ValueError, match="only models of numbers and of tables can be exported, not those of String"):
        RegionClassifier().fit(["oak", "elm", "ash", "yew"]).to_sql("t")
    dates = pd.DataFrame({"when": pd.date_range("2031-01-01", periods=40, freq="h"), "kind": ["a", "b"] * 20})
    with pytest.raises(ValueError, match="holds dates, which cannot be exported"):
        RegionClassifier(measure=Gower()).fit(dates).to_python()
    with pytest.raises(ValueError, match="a model of 501 features is too wide to export; at most 500"):
        RegionClassifier().fit(np.random.default_rng(0).normal(size=(9, 501))).to_json()


def test_the_command_writes_what_the_classifier_gives(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    numbers().to_csv("normal.csv", index=False)
    assert main(["fit", "normal.csv", "--method", "regions", "-o", "regions.eocc"]) == 0
    clf = load("regions.eocc")
    asked = ["export", "regions.eocc", "--to", "sql", "--table", "main.parts", "--dialect", "postgres", "-o", "q.sql"]
    assert main(asked) == 0
    assert (tmp_path / "q.sql").read_text() == clf.to_sql(["main", "parts"], "postgres") + "\n"
    capsys.readouterr()
    assert main(["export", "regions.eocc", "--to", "json"]) == 0
    assert capsys.readouterr().out == clf.to_json() + "\n"
    EntropicOneClassClassifier(search=None).fit(numbers()).save("other.eocc")
    assert main(["export", "other.eocc", "--to", "python"]) == 1
    assert "fit it with --method regions to export it" in capsys.readouterr().err


def test_truth_values_written_as_text_have_no_decision():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=80), "ok": rng.random(80) < 0.7})
    clf = RegionClassifier().fit(rows)
    database = sqlite3.connect(":memory:")
    rows.to_sql("right", database, index=False)
    rows.assign(ok=np.where(rows["ok"], "yes", "no")).to_sql("wrong", database, index=False)
    right, wrong = (pd.read_sql(clf.to_sql(name, dialect="sqlite"), database) for name in ("right", "wrong"))
    database.close()
    assert right["decision"].tolist() == clf.predict(rows).tolist()
    assert wrong["decision"].isna().all()
    names = {}
    exec(clf.to_python(), names)
    with pytest.raises(ValueError, match="'ok' holds truth values: pass True or False, not 'yes'"):
        names["predict"]({"a": 0.0, "ok": "yes"})
    assert names["predict"]({"a": 0.0, "ok": " ?\n"}) is names["predict"]({"a": 0.0, "ok": "N/A"}) is None
    with pytest.raises(ValueError, match="'a' holds numbers: pass a number, not '5'"):
        names["predict"]({"a": "5", "ok": True})


def table_of_words():
    rng = np.random.default_rng(0)
    colours, countries = rng.choice(["red", "blue"], 80), rng.choice(["NA", "DE"], 80)
    return pd.DataFrame({"a": rng.normal(size=80), "colour": colours, "country": countries})


@pytest.mark.parametrize("colour", ["", " null ", "N/A", None, "N/A\n", "\t?\x0b\x0c\r", "\x1c\x1d\x1e\x1fNA"])
def test_text_that_means_a_gap_to_the_model_has_no_decision(colour):
    clf = RegionClassifier().fit(table_of_words())
    given = pd.DataFrame({"a": [0.0, 0.0], "colour": [colour, "\t red\r\n"], "country": ["DE", "DE"], "id": [0, 1]})
    expected = [None, int(clf.predict(given.drop(columns="id"))[1])]
    assert expected[1] == 1
    for dialect, run in (("duckdb", in_duckdb), ("sqlite", in_sqlite)):
        found = run(clf.to_sql("t", dialect, keep=["id"]), "t", given)["decision"]
        assert [None if pd.isna(one) else int(one) for one in found] == expected
    module = {}
    exec(clf.to_python(), module)
    assert [module["predict"](row) for row in given.drop(columns="id").to_dict("records")] == expected


def test_a_declared_text_may_be_na_in_an_export(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table_of_words().to_csv("rows.csv", index=False)
    assert main(["fit", "rows.csv", "--kind", "country=text", "--method", "regions", "-o", "m.eocc", "-q"]) == 0
    rows = table_of_words().assign(id=range(80))
    for dialect, run in (("duckdb", in_duckdb), ("sqlite", in_sqlite)):
        found = run(load("m.eocc").to_sql("t", dialect, keep=["id"]), "t", rows)
        assert found["decision"].notna().all()
        blank = run(load("m.eocc").to_sql("t", dialect, keep=["id"]), "t", rows.assign(country="\t" + rows["country"]))
        assert blank["score"].tolist() == found["score"].tolist()


def test_what_is_no_number_has_no_decision():
    clf = RegionClassifier().fit(numbers().iloc[:, :2].set_axis(["a", "b"], axis=1))
    with duckdb.connect() as database:
        database.execute("CREATE TABLE t AS SELECT 'nan'::DOUBLE AS a, 0.0 AS b")
        assert database.execute(clf.to_sql("t", "duckdb")).fetchone()[-1] is None
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (a, b)")
    texts = ["", "abc", "1,5", "0.5", "-1e-3", 0, 0.5, None]
    database.executemany("INSERT INTO t VALUES (?, 0)", [(text,) for text in texts])
    decisions = [row[-1] for row in database.execute(clf.to_sql("t", "sqlite"))]
    database.close()
    assert [one is None for one in decisions] == [True, True, True, False, False, False, False, True]
