"""Model files with altered views or removed rows are refused with one line, and so is the score of version 0.2."""

import numpy as np
import pandas as pd
import pytest
from altered_models import pack, unpack

from eocc import SurpriseClassifier, load, save
from eocc.formats.model_file import FORMAT, ModelFileError
from eocc.formats.model_file.container import array_bytes, array_from_bytes
from eocc.surprise.model import surprise_from_state, surprise_state

ROWS = np.random.default_rng(0).normal(size=(80, 4)) * [1.0, 2.0, 5.0, 9.0]
FEW = np.random.default_rng(0).normal(size=(12, 30))
TABLE = pd.DataFrame({"a": ROWS[:, 0], "b": np.where(ROWS[:, 1] > 0, "x", "y")})


def altered(clf, path, change):
    """Return the refusal of a model whose surprise has one value changed."""
    state = surprise_state(clf.surprise_model_)
    *parents, name = path
    inner = state
    for parent in parents:
        inner = inner[parent]
    inner[name] = change(inner[name])
    with pytest.raises(ValueError, match=r".") as caught:
        surprise_from_state(state, clf.measure_, clf.prototypes_, None, None)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("path", "change", "message"),
    [
        (("training",), lambda a: a[:, 1:], "training must be finite numbers of shape"),
        (("training",), lambda a: a[1:], "training must be finite numbers of shape"),
        (("training",), lambda a: a * np.inf, "training must be finite numbers"),
        (("training",), lambda a: a + 1e290, "training must lie in"),
        (("centres",), lambda a: a[1:], "centres must be finite numbers of shape"),
        (("centres",), lambda a: a * np.nan, "centres must be finite numbers"),
        (("centres",), lambda a: a + 1e290, "centres must lie in"),
        (("units",), lambda a: a * 0, "units must lie in"),
        (("units",), lambda a: -a, "units must lie in"),
        (("units",), lambda a: a[:2], "units must be finite numbers of shape"),
        (("helpers",), lambda a: [], "helpers must be some of far, covariance, cell"),
        (("helpers",), lambda a: {**a, "near": {}}, "helpers must be some of far, covariance, cell"),
        (("helpers",), lambda a: {"far": a["far"]}, "training must be finite numbers of shape"),
        (("helpers", "far", "landmarks"), lambda a: a[::-1], "helpers.far.landmarks must rise"),
        (("helpers", "far", "landmarks"), lambda a: a + 80, "helpers.far.landmarks must lie in 0..79"),
        (("helpers", "far", "landmarks"), lambda a: a[:2], "there must be 3 to 64 landmarks, not 2"),
        (("helpers", "far", "landmarks"), lambda a: np.arange(65), "there must be 3 to 64 landmarks, not 65"),
        (("helpers", "far", "least"), lambda a: -a, "helpers.far.least must"),
        (("helpers", "far", "mean"), lambda a: a[1:], "helpers.far.scale must be finite numbers of shape"),
        (("helpers", "far", "scale"), lambda a: a * 0, "helpers.far.scale must"),
        (("helpers", "far"), lambda a: None, "helpers.far"),
        (
            ("helpers", "covariance", "basis"),
            lambda a: a[1:],
            "helpers.covariance.basis must be finite numbers of shape",
        ),
        (("helpers", "covariance", "basis"), lambda a: a.ravel(), "helpers.covariance.basis must be finite numbers"),
        (("helpers", "covariance", "basis"), lambda a: a * np.nan, "helpers.covariance.basis must be finite numbers"),
        (("helpers", "covariance", "mean"), lambda a: a[1:], "helpers.covariance.mean must be finite numbers of shape"),
        (
            ("helpers", "covariance", "whole"),
            lambda a: np.inf,
            "helpers.covariance.whole must be a number in",
        ),
        (("helpers", "covariance", "inside"), lambda a: None, "helpers.covariance.inside must be a number in"),
        (("helpers", "covariance"), lambda a: 3, "helpers.covariance"),
        (("helpers", "cell"), lambda a: {"gaps": 1}, "helpers.cell"),
    ],
)
def test_an_altered_view_is_named(path, change, message):
    assert altered(SurpriseClassifier().fit(ROWS), path, change).startswith(message)


def test_views_that_the_data_cannot_have_are_refused():
    rows, table, words = (SurpriseClassifier().fit(X) for X in (ROWS, TABLE, ["a" * k for k in range(30)]))
    known = surprise_state(rows.surprise_model_)["helpers"]
    message = altered(table, ("helpers",), lambda a: {**a, "covariance": known["covariance"]})
    assert message == "only rows of numbers have a covariance view"
    assert altered(words, ("helpers",), lambda a: {**a, "cell": {}}) == "only tables have a cell view"


def test_a_covariance_of_many_columns_is_that_of_the_rows():
    clf = SurpriseClassifier().fit(FEW)
    assert surprise_state(clf.surprise_model_)["helpers"]["covariance"]["basis"].shape == (30, 12)
    message = altered(clf, ("helpers", "covariance", "basis"), lambda a: np.zeros((30, 31)))
    assert message.startswith("helpers.covariance.basis must be")


def refusal(path):
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("places", lambda a: a[::-1], "answers.removed.places must rise"),
        ("places", lambda a: a + 80, "answers.removed.places must lie in 0..79"),
        ("places", lambda a: a[1:], "answers.removed.places must be"),
        ("indices", lambda a: a[:1], "answers.removed.indices must be"),
        ("indices", lambda a: -a - 1, "answers.removed.indices must lie in"),
        ("names", lambda a: ["a", "b"], "answers.removed.names must be texts, if the training rows have names"),
        ("rows", lambda a: a[:, 1:], ""),
        ("rows", lambda a: a[:0], ""),
    ],
)
def test_altered_rows_that_answers_removed_are_refused(name, change, message):
    clf = SurpriseClassifier().fit(ROWS)
    state = clf.teach(ROWS[[3, 7]], [-1, -1])._fitted_state()
    state["answers"]["removed"][name] = change(state["answers"]["removed"][name])
    with pytest.raises(ValueError, match=r".") as caught:
        SurpriseClassifier()._restore_state(state, FORMAT)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["units", "centres", "training", "landmarks", "basis"])
def test_altered_numbers_in_a_file_are_refused_with_its_name(name, tmp_path):
    path = tmp_path / "m.eocc"
    save(SurpriseClassifier().fit(ROWS), path)
    manifest, members = unpack(path.read_bytes())
    (place,) = (one for one in members if one.removesuffix(".npy").endswith(f".{name}"))
    array = array_from_bytes(members[place])
    members[place] = array_bytes(-1 - np.abs(array) if name in ("units", "landmarks") else array[1:])
    path.write_bytes(pack(manifest, members))
    message = refusal(path)
    assert message.startswith(f"{path}: is no model: ")
    assert name in message


def test_the_score_of_version_0_2_is_refused_with_the_remedy():
    clf = SurpriseClassifier().fit(ROWS)
    state = clf._fitted_state()
    for name in ("helpers", "training", "centres", "units"):
        del state["surprise"][name]
    with pytest.raises(ValueError, match=r"^its score is that of eocc 0\.2, .*; fit the model again$"):
        SurpriseClassifier()._restore_state(state, FORMAT)
