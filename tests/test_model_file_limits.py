"""What loading a model may cost, and what must agree in one."""

import json
import runpy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from doubles import plain
from eocc.io.model_file import ModelFileError, load, save, trial
from eocc.io.model_file.arrays import array_bytes, array_from_bytes
from eocc.io.model_file.plain import UnwritableError
from eocc.measures import LabelledGraph
from eocc.measures.composite import FittedComposite, Records
from eocc.measures.graphs import FittedGraphEdit, Schema
from eocc.measures.series import FittedDTW
from eocc.measures.strings import FittedStringEdit
from eocc.measures.unit import Unit
from samples import samples

FUZZ = runpy.run_path(str(Path(__file__).parent.parent / "benchmarks" / "fuzz_model_file.py"))
pack, pack_as_is, unpack = FUZZ["pack"], FUZZ["pack_as_is"], FUZZ["unpack"]


def unpacked(clf, path):
    save(clf, path)
    return unpack(path.read_bytes())


@pytest.mark.parametrize("junk", ["[],", "[[[]]],", '{"":{}},', '"",'])
def test_a_manifest_that_would_fill_the_memory_is_not_parsed(junk, tmp_path, monkeypatch):
    path = tmp_path / "m.eocc"
    path.write_bytes(pack_as_is(b'{"format":1,"fitted":[' + junk.encode() * 12_000 + b"0]}", {}))
    monkeypatch.setattr(json, "loads", None)
    with pytest.raises(ModelFileError, match="pass a larger max_bytes if you trust the file"):
        load(path, max_bytes=2**20)


NO_ATTRIBUTES, WORDS = Schema({}, (), ()), Schema({}, (), ("w",))
LONG = "a" * 90_000
LARGE = {
    "strings": (FittedStringEdit(), [LONG, LONG]),
    "tokens": (FittedStringEdit(), [tuple(LONG), ("b",)]),
    "series": (FittedDTW(Unit(np.zeros(1), 0), 1.0, 1.0), [np.zeros((20_000, 1))] * 2),
    "graphs": (FittedGraphEdit(NO_ATTRIBUTES, NO_ATTRIBUTES, None), [LabelledGraph(3000)] * 2),
    "words in graphs": (FittedGraphEdit(WORDS, NO_ATTRIBUTES, None), [LabelledGraph(1, [], {"w": [LONG]})] * 2),
    "parts": (FittedComposite({"w": FittedStringEdit()}), Records({"w": [LONG, "b"]})),
}


@pytest.mark.parametrize("case", LARGE)
def test_patterns_too_large_to_try_are_not_compared(case, monkeypatch):
    fitted_measure, patterns = LARGE[case]
    monkeypatch.setattr(type(fitted_measure), "prepare", None)
    assert trial.trial_score(fitted_measure, patterns, np.ones(3), None) is None


@pytest.mark.parametrize("name", ["string-edit", "dtw", "graph-edit"])
def test_a_model_that_is_not_tried_comes_back_and_says_so(name, tmp_path, monkeypatch):
    training, new = samples(name)
    clf = plain(measure=name).fit(training)
    tried, path = unpacked(clf, tmp_path / "m.eocc"), tmp_path / "m.eocc"
    monkeypatch.setattr(trial, "MOST_WORK", 10)
    with pytest.raises(ModelFileError, match="first_score must be null where patterns are too large to try"):
        load(path)
    untried = unpacked(clf, path)
    assert (type(tried[0]["fitted"]["first_score"]), untried[0]["fitted"]["first_score"]) == (float, None)
    np.testing.assert_array_equal(load(path).score_samples(new), clf.score_samples(new))


@pytest.mark.parametrize("name", ["string-edit", "dtw", "graph-edit", "jaccard", "cosine-bags", "gower", "tanimoto"])
def test_a_trial_by_block_is_the_score(name, monkeypatch):
    clf = plain(measure=name, resolution="single").fit(samples(name)[0])
    monkeypatch.setattr(trial, "BLOCK", 3)
    score = trial.trial_score(clf.measure_, clf.prototypes_, clf.weights_, clf.fuzzy_model_)
    np.testing.assert_allclose(score, clf.score_samples(samples(name)[0])[0], rtol=1e-9, atol=1e-12)


P = 2**61 - 1  # Python's hash of an integer is its remainder by this


@pytest.mark.parametrize(
    "token",
    [
        lambda k: {"integer": hex(k * P)},
        lambda k: {"decimal": str(k * P)},
        lambda k: {"tuple": [{"integer": hex(k * P)}]},
        lambda k: {"set": [{"integer": hex(k * P)}]},
    ],
    ids=["integers", "decimals", "tuples", "sets"],
)
def test_values_made_to_share_a_hash_are_refused(token, tmp_path):
    manifest, members = unpacked(plain(measure="jaccard").fit([["a"], ["b"]]), tmp_path / "m.eocc")
    manifest["fitted"]["prototypes"]["objects"]["items"] = [{"set": [token(k)]} for k in range(1, 200)]
    (tmp_path / "m.eocc").write_bytes(pack(manifest, members))
    with pytest.raises(ModelFileError, match="more than 64 different values have one hash"):
        load(tmp_path / "m.eocc")


def test_equal_values_may_come_as_often_as_they_like(tmp_path):
    clf = plain(measure="jaccard").fit([{(1, "a"), 2**70}, {(1, "b"), 2**70}] * 80)
    save(clf, tmp_path / "m.eocc")
    assert load(tmp_path / "m.eocc").predict([{(1, "a"), 2**70}]).tolist() == clf.predict([{(1, "a"), 2**70}]).tolist()


def calibrated(path, rate=0.25):
    X = np.random.default_rng(0).normal(size=(12, 2))
    clf = plain(resolution="single", false_alarm_rate=rate, random_state=0).fit(X)
    return clf, unpacked(clf, path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m["parameters"].update(false_alarm_rate=None), "it has a calibration but no false_alarm_rate"),
        (lambda m: m["parameters"].update(false_alarm_rate=0.01), "needs at least 99 training targets; there are 12"),
        (lambda m: m["parameters"].update(false_alarm_rate=0.5), "threshold is not that of the calibration"),
        (lambda m: m["fitted"].update(threshold={"float": "nan"}), "threshold must be a finite number"),
    ],
)
def test_a_rate_and_a_calibration_that_do_not_belong_together_are_refused(change, message, tmp_path):
    _, (manifest, members) = calibrated(tmp_path / "m.eocc")
    change(manifest)
    (tmp_path / "m.eocc").write_bytes(pack(manifest, members))
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "m.eocc")


def test_margins_that_do_not_rise_are_refused(tmp_path):
    _, (manifest, members) = calibrated(tmp_path / "m.eocc")
    members["calibration.npy"] = array_bytes(array_from_bytes(members["calibration.npy"])[::-1])
    (tmp_path / "m.eocc").write_bytes(pack(manifest, members))
    with pytest.raises(ModelFileError, match="calibration must rise"):
        load(tmp_path / "m.eocc")


def test_a_rate_changed_after_the_fit_is_not_saved(tmp_path):
    clf, _ = calibrated(tmp_path / "m.eocc", Fraction(1, 4))
    assert load(tmp_path / "m.eocc").false_alarm_rate == 0.25
    for rate in (None, 0.5):
        with pytest.raises(ValueError, match=r"the model was fitted with .*; fit it again before it is saved"):
            save(clf.set_params(false_alarm_rate=rate), tmp_path / "n.eocc")
    assert not (tmp_path / "n.eocc").exists()


def test_what_a_loaded_model_could_not_use_is_not_saved(tmp_path):
    clf = plain().fit(np.eye(4))
    with pytest.raises(UnwritableError, match="a model with n_jobs=100000 cannot be saved; set another first"):
        save(clf.set_params(n_jobs=10**5), tmp_path / "m.eocc")
    save(clf.set_params(n_jobs=None, eta="half", random_state=10**2000), tmp_path / "m.eocc")
    assert "set_params(eta=...) before fit" in repr(load(tmp_path / "m.eocc"))
