"""measure="auto": the same rules for every kind of data."""

import subprocess
import sys
from datetime import date

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.measures import KINDS, LabelledGraph, measures_of, resolve_measure
from eocc.measures.auto import kind_of

NUMBERS = {"a": [1.0, 2.0, 4.0], "b": [1, 2, 3]}
GRAPH = LabelledGraph(2, [[0, 1]])

DATA = [
    ("numbers", np.ones((3, 2))),
    ("numbers", np.ones((3, 2), dtype=bool)),
    ("numbers", np.ones((3, 2), dtype=object)),
    ("numbers", np.ones((3, 2), dtype=complex)),
    ("numbers", np.array([["1", "2"]])),
    ("numbers", np.array([[1.0, np.inf]])),
    ("numbers", np.ones(3)),
    ("numbers", np.empty((0, 2))),
    ("numbers", np.empty((2, 0))),
    ("numbers", []),
    ("numbers", [1.0, 2.0]),
    ("numbers", [[1, 2], [3, 4.5]]),
    ("numbers", [np.ones(3), np.zeros(3)]),
    ("numbers", csr_array(np.ones((2, 2)))),
    ("numbers", np.array([[{"a": 1}, 2]], dtype=object)),
    ("numbers", pd.DataFrame(NUMBERS)),
    ("numbers", pd.DataFrame(NUMBERS, dtype=object)),
    ("numbers", pl.DataFrame(NUMBERS)),
    ("records", pd.DataFrame({"x": [1.0, 2.0], "code": pd.Categorical([1, 2])})),
    ("records", pd.DataFrame({"x": [1.0, 2.0], "zip": ["01234", "56789"]})),
    ("records", pd.DataFrame({"zip": np.array(["01234", "56789"], object)})),
    ("numbers", pd.DataFrame({"x": np.array([1, 2.5], object)})),
    ("records", np.array([[1.0, np.nan], [2.0, 3.0]])),
    ("records", np.array([[1, "oak"], [None, "elm"]], dtype=object)),
    ("records", np.array([["oak", "1"]])),
    ("records", np.array([["2031-12-01"]], dtype="datetime64[D]")),
    ("records", [[1, "oak"], [2, "elm"]]),
    ("records", [[1, None], [2, 3]]),
    ("records", [[1.0, float("nan")]]),
    ("records", [{"a": 1, "b": 2.0}, {"a": 1, "b": 3.0}]),
    ("records", [{"a": 1, "b": "oak"}, {"a": 1}]),
    ("records", pd.DataFrame({"a": [1.0, None]})),
    ("records", pd.DataFrame({"a": [1.0, 2.0], "b": ["oak", "elm"]})),
    ("records", pd.DataFrame({"a": [True, False]})),
    ("records", pd.DataFrame({"a": [date(2031, 1, 1)]})),
    ("records", pd.DataFrame({"a": pd.Series(["x", "y"], dtype="category")})),
    ("records", pl.DataFrame({"a": [1.0, None]})),
    ("records", pl.DataFrame({"a": [1.0, 2.0], "b": ["oak", "elm"]})),
    ("strings", ["oak", "elm"]),
    ("strings", np.array(["oak", "elm"])),
    ("strings", np.array(["oak", "elm"], dtype=object)),
    ("strings", pd.Series(["oak", "elm"])),
    ("tokens", [{"oak"}, set()]),
    ("tokens", [["to", "be"], ["or", "not"]]),
    ("tokens", [["to", "be"], ["or"], []]),
    ("tokens", [{"to": 1, "be": 2}, {"or": 1}]),
    ("series", np.ones((3, 5, 2))),
    ("series", [[1, 2, 3], [1, 2]]),
    ("series", [np.ones(4), np.ones(3)]),
    ("series", [np.ones((4, 2)), np.ones((3, 2))]),
    ("series", [np.ones((4, 2)), np.ones((4, 2))]),
    ("graphs", [GRAPH, GRAPH]),
    ("graphs", [nx.path_graph(3), nx.cycle_graph(3)]),
]


@pytest.mark.parametrize(("kind", "X"), DATA)
def test_the_kind_of_data(kind, X):
    assert kind_of(X) == kind


def test_every_kind_has_a_default_and_every_rule_is_tested():
    assert {kind for kind, _ in DATA} == set(KINDS)
    defaults = [measures_of(kind)[0] for kind in KINDS]
    assert defaults == ["euclidean", "gower", "string-edit", "jaccard", "dtw", "graph-edit"]


def test_word_counts_are_compared_as_bags_and_sets_as_sets():
    assert resolve_measure("auto", [{"to": 1, "be": 2}, {"or": 1}]) == resolve_measure("cosine-bags")
    assert resolve_measure("auto", [{"to", "be"}]) == resolve_measure("jaccard")


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (nx.path_graph(3), r"X is one graph; pass a list of graphs, for example \[graph\]"),
        (GRAPH, "X is one graph"),
        ({"a": 1}, r"X is one dict; pass a list of records, for example \[record\]"),
        ("oak", "X is one text"),
        ((word for word in ["oak"]), "X is of type generator; pass a list or an array"),
        (
            [object(), object()],
            "measure='auto' knows no measure for a list of object; pass measure=, one of 'euclidean'",
        ),
        (["oak", 3], "a list of str and int"),
        ([[1, "a"], ["b"]], "no rows of one length"),
    ],
)
@pytest.mark.parametrize("clf", [SurpriseClassifier(), EntropicOneClassClassifier(search=None)])
def test_what_no_rule_knows_is_refused_with_a_hint(clf, X, message):
    with pytest.raises(ValueError, match=message):
        clf.fit(X)


def test_without_data_a_name_is_needed():
    with pytest.raises(ValueError, match="measure='auto' needs data to decide; name one of 'euclidean'"):
        resolve_measure("auto")


def test_infinite_numbers_are_refused_with_and_without_gaps():
    for rows in ([[1.0, np.inf], [2.0, 3.0]], [[np.nan, np.inf], [2.0, 3.0]]):
        with pytest.raises(ValueError, match=r"infinity|NaN"):
            SurpriseClassifier().fit(np.array(rows))


@pytest.mark.parametrize(
    ("X", "new"),
    [
        ([nx.path_graph(n) for n in (3, 4, 5, 4)], [nx.complete_graph(6)]),
        (["oak", "oaks", "elm", "elms"], ["larch"]),
        ([[1, 2, 3], [1, 2], [2, 2, 3, 4]], [[9, 9]]),
        (np.array([[1.0, np.nan], [2.0, 3.0], [2.5, 3.5]]), np.array([[9.0, 9.0]])),
        ([{"to": 1, "be": 2}, {"or": 1}, {"be": 1}], [{"not": 3}]),
    ],
)
@pytest.mark.parametrize("clf", [SurpriseClassifier(), EntropicOneClassClassifier(search=None)])
def test_fits_and_reads_new_rows_by_the_same_measure(clf, X, new):
    clf.fit(X)
    assert np.isfinite(clf.score_samples(new)).all()
    with pytest.raises((ValueError, TypeError)):
        clf.score_samples(object())


def test_importing_the_names_of_the_measures_imports_nothing_heavy():
    heavy = ("numpy", "scipy", "sklearn", "numba")
    program = (
        f"import sys, eocc.measures as m; m.measures_of('series'); print([n for n in {heavy} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_lazy_frame_is_collected():
    frame = pl.DataFrame({"x": [1.0, 2.0, 4.0], "s": ["a", "b", "a"]})
    assert kind_of(frame.lazy()) == "records"
    for some in (frame, frame.select("x")):
        scores = [SurpriseClassifier().fit(X).score_samples(X).tolist() for X in (some, some.lazy())]
        assert scores[0] == scores[1]
