"""What a notebook shows: explanations, rules, drift and classifiers, as HTML in which the data are text."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from browsing import HOSTILE
from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier
from eocc.base.markup import MOST_SHOWN

CLASSIFIERS = [SurpriseClassifier, RegionClassifier, EntropicOneClassClassifier]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({HOSTILE: rng.normal(size=150), "load": rng.normal(size=150)})


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_explanations_rules_and_drift_are_shown_and_escaped(kind, frame):
    clf = kind(false_alarm_rate=0.1, **({"search": None} if kind is EntropicOneClassClassifier else {})).fit(frame)
    far = frame[: MOST_SHOWN + 2].add([40.0, 0.0])
    explained, rules, drift = clf.explain(far), clf.rules(), clf.drift(far)
    for one in (explained, explained[0], rules, rules[0], drift):
        html = one._repr_html_()
        assert "<img" not in html
        assert "&lt;img" in html or one is drift or "<pre>" in html
    assert explained._repr_html_().count("<p>") - explained._repr_html_().count("Notes:") == MOST_SHOWN + 1
    assert explained._repr_html_().endswith("<p>and 2 more</p>")
    assert "<table>" in explained[0]._repr_html_()
    assert isinstance(explained, list)


def test_other_data_are_shown_by_their_differences():
    clf = SurpriseClassifier(measure="string-edit").fit(["oak", "oat", "oar", "oaks"])
    html = clf.explain(["<elm>"])[0]._repr_html_()
    assert "reason" in html
    assert "<elm>" not in html


@pytest.mark.parametrize("kind", CLASSIFIERS[:2])
def test_the_box_of_a_classifier_counts_no_prototypes_as_features(kind, frame):
    clf = kind().fit(frame)
    html = re.sub("<(style|script).*?</\\1>", "", clf._repr_html_(), flags=re.DOTALL)
    assert kind.__name__ in html
    assert not re.search(r"[\d,]+ features", html)
    assert len(clf.get_feature_names_out()) == clf.transform(frame[:1]).shape[1]  # it still works


def test_explanations_of_polars_are_polars(frame):
    polars = pytest.importorskip("polars")
    clf = SurpriseClassifier().fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = clf.explain_frame(polars.from_pandas(frame[:3]))
    assert isinstance(found, polars.DataFrame)
    expected = clf.explain_frame(frame[:3])
    assert isinstance(expected, pd.DataFrame)
    assert found.columns == expected.columns.tolist()
    assert found["sentence"].to_list() == expected["sentence"].tolist()


def test_huge_values_have_neither_long_numbers_nor_shares_that_are_none(frame):
    X = frame.to_numpy() * [1.0, 1e106]
    for kind in CLASSIFIERS[:2]:
        for value in (1e107, 1e160, 1e300):
            one = kind().fit(X).explain(np.array([[0.0, value]]))[0]
            text = f"{one}\n{one.detail}"
            assert "nan" not in text
            assert max(map(len, re.findall(r"\d+", text))) < 12
