import json
import math
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from doubles import Manhattan, OneBatch, fitted_names, plain
from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier, load, save
from eocc.classifiers import CLASSIFIERS
from eocc.entropic import EXTENTS, TCONORMS
from eocc.entropic.rules import MEMBERSHIP_FUNCTIONS, Bell, Gaussian, QuantileExtent, Triangular, lukasiewicz
from eocc.entropic.search import GeneticSearch
from eocc.formats.model_file import FORMAT, ModelFileError, NotSaved
from eocc.formats.model_file.codec import Decoder, classes, functions, name_of
from eocc.formats.model_file.plain import PLAIN
from eocc.measures import DTW, MEASURES, Composite, Euclidean, FunctionMeasure, Gower, GraphEdit, LabelledGraph
from eocc.measures.objects import Objects
from eocc.space.prototypes import FarthestFirst
from eocc.surprise.comparison import Reference
from samples import samples

READER = """
import sys
from pathlib import Path
from eocc import load, save
from samples import samples
for path in map(Path, sys.argv[1:]):
    model, (measure, _) = load(path), path.stem.split("_")
    print(path.stem, model.score_samples(samples(measure)[1]).tobytes().hex())
    save(model, path.with_suffix(".again"))
"""


def again(clf, path, **passed):
    save(clf, path)
    return load(path, **passed)


def same(one, other):
    """Say whether two fitted values are the same, down to types and bits."""
    if isinstance(one, np.ndarray):
        is_equal = all(same(a, b) for a, b in zip(one, other, strict=True)) if one.dtype == object else (
            one.tobytes() == other.tobytes())  # fmt: skip
        return (one.dtype, one.shape) == (other.dtype, other.shape) and is_equal
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    if isinstance(one, list | tuple | Objects):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, Reference):
        return type(other) is Reference and same(one.__reduce__()[1], other.__reduce__()[1])
    if is_dataclass(one):
        names = [field.name for field in fields(one)]
        return type(one) is type(other) and all(same(getattr(one, name), getattr(other, name)) for name in names)
    return one == other


def check_whole(clf, loaded, new):
    kept = fitted_names(clf) - {"structure_"}  # computed on demand, and not stored
    assert fitted_names(loaded) == kept
    for name in kept:
        assert same(getattr(clf, name), getattr(loaded, name)), name
    for method in ("score_samples", "decision_function", "membership", "predict"):
        assert_array_equal(getattr(clf, method)(new), getattr(loaded, method)(new))


# Every classifier, without labels and with some.
LABELS = np.array([1] * 14 + [-1] * 6)
MODELS = {
    "surprise": (SurpriseClassifier, {}, None),
    "labelled": (SurpriseClassifier, {"false_alarm_rate": 0.2}, LABELS),
    "eocc-1": (plain, {"tconorm": "probabilistic", "random_state": 0}, None),
    "eocc-2": (
        EntropicOneClassClassifier,
        {"synthesis": "validation", "search": GeneticSearch(max_generations=2), "random_state": 0},
        LABELS,
    ),
}


def fitted(kind, measure, training):
    make, settings, y = MODELS[kind]
    return make(measure=measure, **settings).fit(training, y)


def test_every_measure_scores_bit_for_bit_the_same_in_a_new_process(tmp_path):
    scores = {}
    for name in MEASURES:
        training, new = samples(name)
        for kind in ("labelled", "eocc-1"):
            clf = fitted(kind, name, training)
            scores[f"{name}_{kind}"] = clf.score_samples(new).tobytes().hex()
            save(clf, tmp_path / f"{name}_{kind}.eocc")
    paths = sorted(map(str, tmp_path.glob("*.eocc")))
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "1234"}
    run = subprocess.run(
        [sys.executable, "-c", READER, *paths], env=environment, capture_output=True, text=True, check=False
    )
    assert run.stderr == ""
    assert dict(line.split() for line in run.stdout.splitlines()) == scores
    for path in map(Path, paths):
        assert path.read_bytes() == path.with_suffix(".again").read_bytes(), path.stem


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("name", MEASURES)
def test_every_fitted_attribute_comes_back(name, kind, tmp_path):
    training, new = samples(name)
    clf = fitted(kind, name, training)
    loaded = again(clf, tmp_path / "m.eocc")
    check_whole(clf, loaded, new)
    assert loaded.get_params() == clf.get_params()


@pytest.mark.parametrize("kind", ["surprise", "labelled"])
def test_regions_are_not_stored_and_come_out_the_same(kind, tmp_path):
    training, _ = samples("euclidean")
    clf = fitted(kind, "auto", training)
    loaded = again(clf, tmp_path / "m.eocc")
    assert "structure_" not in vars(loaded)
    assert same(loaded.regions_, clf.regions_)
    assert_array_equal(loaded.labels_, clf.labels_)
    assert [str(rule) for rule in loaded.rules()] == [str(rule) for rule in clf.rules()]


def test_the_measure_that_auto_chose_comes_back(setosa, tmp_path):
    loaded = again(SurpriseClassifier().fit(setosa), tmp_path / "m.eocc")
    assert loaded.measure == "auto"
    assert loaded.resolved_measure_ == Euclidean()


@pytest.mark.parametrize("kind", ["surprise", "eocc-1"])
def test_a_model_with_few_prototypes_comes_back(kind, setosa, iris, tmp_path):
    clf = fitted(kind, "auto", setosa).set_params(prototypes=12).fit(setosa)
    loaded = again(clf, tmp_path / "m.eocc")
    check_whole(clf, loaded, iris[0])
    assert len(loaded.prototypes_) == 12
    assert len(loaded.calibration_.margins if kind == "surprise" else loaded.labels_) == 50
    assert (loaded._n_training, loaded._is_whole) == (50, False)


def test_a_calibration_of_fewer_margins_than_rows_comes_back(setosa, tmp_path, monkeypatch):
    monkeypatch.setattr("eocc.classifiers.surprise.MOST_BINS", 30)
    clf = SurpriseClassifier(prototypes=12).fit(setosa)
    loaded = again(clf, tmp_path / "m.eocc")
    check_whole(clf, loaded, setosa)
    assert (loaded.n_rows_, len(loaded.calibration_.margins)) == (50, 30)


def composed(n, seed=1):
    rng = np.random.default_rng(seed)
    return [
        {"size": float(rng.normal()), "name": "ab" * int(rng.integers(1, 4)), "path": rng.normal(size=(4, 2))}
        for _ in range(n)
    ]


def attributed(n, seed=2):
    rng, made = np.random.default_rng(seed), []
    for number in range(n):
        count = int(rng.integers(1, 5))
        vertex = {
            "word": [None if rng.random() < 0.2 else f"a long word {k}" for k in rng.integers(0, 99, count)],
            "kind": [(1, "x") if k else b"\x00" for k in rng.integers(0, 2, count)],
            "size": [float(x) if x > 0 else math.nan for x in rng.normal(size=count)],
            "count": [int(k) for k in rng.integers(0, 9, count)],
        }
        edges = [[0, count - 1]] if count > 1 else []
        made.append(LabelledGraph(count, edges, vertex if number else {}, {"on": [True] * len(edges)}, directed=True))
    return made


def table(n, seed=3):
    rng = np.random.default_rng(seed)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 50, n), unit="D")
    sizes = pd.Categorical(np.array(["S", "M", "L"])[rng.integers(0, 3, n)], ["S", "M", "L"], ordered=True)
    mixed = np.array([1, 2.5, "x", date(2024, 5, 1), Decimal("1.10"), None], dtype=object)[rng.integers(0, 6, n)]
    return pd.DataFrame({"day": days, "size": sizes, "any": mixed, "none": [None] * n, "floor": rng.integers(0, 4, n),
                         "when": days, "sure": rng.random(n) < 0.5})  # fmt: skip


RICH = {
    "series without a band": (DTW(band=None), samples("dtw")[0], samples("dtw")[1]),
    "series of one channel": (DTW(band=0), np.random.default_rng(0).normal(size=(12, 6)), np.zeros((2, 6))),
    "graphs": (GraphEdit(vertex_kinds={"count": "category"}), attributed(16), attributed(4, seed=9)),
    "tables": (
        Gower(kinds={"any": "categorical", "floor": [0, 1, 2, 3], "when": "categorical"}), table(20), table(4, seed=9),
    ),
    "token lists": ("string-edit", [["a", 1], ["b", 2.5, None], [("c", 1)], ["a", b"z"]] * 3, [["a"], [9]]),
    "sets": ("jaccard", [{"a", 1}, {date(2024, 1, 1)}, {(1, "b")}, set()] * 3, [{"a"}, {2}]),
    "bags": ("cosine-bags", [{"a": 0.1, 1: 0.7}, {1: 3}, {"b": 1e300}, {}] * 3, [{"a": 1.0, "b": 2}, {}]),
    "parts": (
        Composite({"size": "euclidean", "name": "string-edit", "path": DTW(band=None)}), composed(12), composed(3, 8),
    ),
    "records in a table": (Gower(), [{"a": 1.0, 2: "x"}, {"a": None, 2: "y"}, {"a": 3.0, 2: None}] * 3,
                           [{"a": 2.0, 2: "z"}]),
}  # fmt: skip


@pytest.mark.parametrize("case", RICH)
def test_measures_with_arguments_and_patterns_of_all_kinds_come_back(case, tmp_path):
    measure, training, new = RICH[case]
    clf = SurpriseClassifier(measure=measure).fit(training)
    loaded = again(clf, tmp_path / "m.eocc")
    check_whole(clf, loaded, new)
    assert same(loaded.measure, clf.measure)
    assert_array_equal(loaded.fit(training).score_samples(new), clf.score_samples(new))
    save(loaded, tmp_path / "n.eocc")
    assert (tmp_path / "m.eocc").read_bytes() == (tmp_path / "n.eocc").read_bytes()


SETTINGS = [
    *({"extent": name} for name in EXTENTS),
    *({"extent": extent} for extent in (*EXTENTS.values(), QuantileExtent(0.25))),
    {"selection": FarthestFirst(), "prototypes": 8},
    *({"membership_function": name} for name in MEMBERSHIP_FUNCTIONS),
    *({"membership_function": function} for function in (Bell(slope=1.5), Triangular(3.0))),
    *({"tconorm": name} for name in TCONORMS),
    {"tconorm": lukasiewicz},
    {"search": "genetic", "random_state": 1},
    {"search": GeneticSearch(max_generations=2), "n_jobs": 2},
    {"search": GeneticSearch(max_generations=2, population_size=6, mutation_rate=0.5, max_time=60.0)},
    {"weights": [0.5, 1, 0.25, 0.0], "gamma": np.float64(0.1)},
    {"max_memory": "2GiB", "verbose": False},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: re.sub(r" at 0x\w+", "", str(settings)))
def test_every_built_in_choice_comes_back(settings, setosa, iris, tmp_path):
    clf = plain(**{"random_state": 0, **settings}).fit(setosa[:20])
    loaded = again(clf, tmp_path / "m.eocc")
    check_whole(clf, loaded, iris[0][::10])
    for name, value in settings.items():
        kept = getattr(loaded, name)
        assert same(kept, value) or type(kept) is type(value)
    assert_array_equal(clone(loaded).fit(setosa[:20]).score_samples(iris[0]), clf.score_samples(iris[0]))


def test_performances_come_back(iris, tmp_path):
    X, y = iris
    for performance in ("f1", "balanced_accuracy"):
        clf = plain(synthesis="validation", performance=performance, random_state=0).fit(X, y)
        loaded = again(clf, tmp_path / "m.eocc")
        check_whole(clf, loaded, X)
        assert loaded.performance == performance


def test_a_calibration_comes_back(setosa, iris, tmp_path):
    clf = plain(false_alarm_rate=0.1, random_state=0).fit(setosa)
    loaded = again(clf, tmp_path / "m.eocc")
    check_whole(clf, loaded, iris[0])
    assert_array_equal(loaded.p_values(iris[0]), clf.p_values(iris[0]))
    loaded = again(clf.set_params(false_alarm_rate=Fraction(1, 5)), tmp_path / "m.eocc")
    assert loaded.calibration_.rate == 0.1  # that of the fit
    assert isinstance(loaded.false_alarm_rate, NotSaved)  # JSON has no fractions


def test_feature_names_come_back(setosa, tmp_path):
    frame = pd.DataFrame(setosa, columns=["a", "b", "c", "d"])
    loaded = again(plain().fit(frame), tmp_path / "m.eocc")
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert loaded.feature_names_in_.dtype == object
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize("make", [plain, SurpriseClassifier])
def test_a_model_of_one_row_comes_back(make, tmp_path):
    clf = make().fit([[1.0, 2.0]])
    check_whole(clf, again(clf, tmp_path / "m.eocc"), [[1.0, 2.0], [3.0, 4.0]])


def gap(a, b):
    return abs(len(a) - len(b))


@pytest.mark.parametrize(
    ("measure", "training", "new"),
    [
        (gap, ["a", "bcd", "ef"], ["abcdefg"]),
        (FunctionMeasure(lambda a, b: float(np.abs(a - b).sum())), np.eye(4, dtype=np.float32), np.ones((2, 4))),
        (Manhattan(), np.eye(4), np.ones((2, 4))),
        (Composite({"size": Euclidean(), "name": gap}), composed(6), composed(2, 8)),
        (Composite({"size": Manhattan(), "name": "string-edit"}), composed(6), composed(2, 8)),
    ],
    ids=["function", "function of rows", "measure", "composite", "composite of a measure"],
)
@pytest.mark.parametrize("make", [plain, SurpriseClassifier])
def test_a_measure_of_the_users_own_is_passed_again(make, measure, training, new, tmp_path):
    clf = make(measure=measure).fit(training)
    save(clf, tmp_path / "m.eocc")
    with pytest.raises(ModelFileError, match=r"m\.eocc: was fitted with a measure of your own .*load\(path, measure"):
        load(tmp_path / "m.eocc")
    loaded = load(tmp_path / "m.eocc", measure=measure)
    assert loaded.measure is measure
    assert_array_equal(loaded.score_samples(new), clf.score_samples(new))


def test_another_function_than_that_of_the_fit_is_refused(tmp_path):
    save(plain(measure=gap).fit(["a", "bcd", "ef"]), tmp_path / "m.eocc")
    with pytest.raises(ModelFileError, match=r"scores .* not .* as before; pass the measure of the fit"):
        load(tmp_path / "m.eocc", measure=lambda a, b: abs(len(a) - len(b)) ** 2)
    with pytest.raises(ModelFileError, match="pass the function of two objects"):
        load(tmp_path / "m.eocc", measure=Manhattan())


def test_an_object_in_the_file_must_not_be_passed(setosa, tmp_path):
    save(plain().fit(setosa), tmp_path / "m.eocc")
    with pytest.raises(ModelFileError, match="holds its own measure; load it without measure="):
        load(tmp_path / "m.eocc", measure="euclidean")


def test_a_membership_function_and_a_tconorm_of_the_users_own_are_passed_again(setosa, tmp_path):
    class Cauchy:
        def log_grade(self, ratio):
            return -np.log1p(ratio**2)

    own = {"membership_function": Cauchy(), "tconorm": lambda grades: grades.max(axis=1)}
    clf = plain(**own).fit(setosa)
    save(clf, tmp_path / "m.eocc")
    for name, value in own.items():
        with pytest.raises(ModelFileError, match=r"of your own .* pass it again: load\(path"):
            load(tmp_path / "m.eocc", **{name: value})
    assert_array_equal(load(tmp_path / "m.eocc", **own).score_samples(setosa), clf.score_samples(setosa))
    with pytest.raises(ModelFileError, match="pass the membership_function and tconorm of the fit"):
        load(tmp_path / "m.eocc", **{**own, "membership_function": Gaussian()})


def test_objects_that_only_a_fit_calls_become_notes(setosa, tmp_path):
    own = {
        "search": OneBatch([np.ones((2, 4))]),
        "extent": lambda pairs: float(pairs.max()),
        "random_state": np.random.default_rng(0),
    }
    clf = EntropicOneClassClassifier(**own).fit(setosa)
    loaded = again(clf, tmp_path / "m.eocc")
    check_whole(clf, loaded, setosa)
    assert_array_equal(loaded.score_samples(setosa), clf.score_samples(setosa))
    for name in own:
        assert isinstance(getattr(loaded, name), NotSaved)
        others = {other: value for other, value in own.items() if other != name}
        with pytest.raises(ValueError, match=rf"set_params\({name}=...\) before fit"):
            clone(loaded).set_params(**others).fit(np.vstack([setosa, setosa + 9]), np.repeat([1, -1], 50))
    assert_array_equal(again(loaded, tmp_path / "n.eocc").score_samples(setosa), clf.score_samples(setosa))


def test_errors_say_what_cannot_be_saved(setosa, tmp_path):
    with pytest.raises(NotFittedError):
        save(plain(), tmp_path / "m.eocc")
    with pytest.raises(ValueError, match=r"only .* and SurpriseClassifier can be saved, not Pattern"):
        save(type("Pattern", (), {})(), tmp_path / "m.eocc")
    odd = [complex(k) for k in range(4)]
    with pytest.raises(ValueError, match=r"training rows cannot be saved: .*complex"):
        save(plain(measure=lambda a, b: abs(a - b)).fit(odd), tmp_path / "m.eocc")
    with pytest.raises(FileNotFoundError, match="no folder"):
        save(plain().fit(setosa), tmp_path / "none" / "m.eocc")
    with pytest.raises(IsADirectoryError):
        save(plain().fit(setosa), tmp_path)
    with pytest.raises(FileNotFoundError, match="no file"):
        load(tmp_path / "m.eocc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", ["os.fsync", "os.replace", "zipfile.ZipFile.writestr"])
def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(call, setosa, tmp_path, monkeypatch):
    path = tmp_path / "m.eocc"
    save(plain().fit(setosa), path)
    before = path.read_bytes()

    def broken(*args, **kwargs):
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(call, broken)
        with pytest.raises(OSError, match="the disk is full"):
            save(plain(extent="max").fit(setosa), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions, and links need a privilege")
def test_a_file_keeps_its_permissions_and_a_link_its_target(setosa, tmp_path):
    path, link = tmp_path / "m.eocc", tmp_path / "link.eocc"
    clf = plain().fit(setosa)
    save(clf, path)
    path.chmod(0o600)
    link.symlink_to(path)
    save(plain(extent="max").fit(setosa), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert load(path).extent == "max"


def test_the_same_model_gives_the_same_bytes(setosa, tmp_path):
    for name in ("one", "two"):
        save(SurpriseClassifier().fit(setosa), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_format_can_be_read_without_the_library(iris, tmp_path):
    X, y = iris
    search = GeneticSearch(max_generations=2)
    clf = EntropicOneClassClassifier(search=search, random_state=0).fit(X[y == 1])
    save(clf, tmp_path / "m.eocc")
    with zipfile.ZipFile(tmp_path / "m.eocc") as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = {name: np.load(archive.open(name), allow_pickle=False) for name in manifest["members"]}
    fitted = manifest["fitted"]

    def array(document):
        return arrays[document["array"] + ".npy"]

    kind, measure = fitted["measure"]["object"]
    assert (manifest["format"], kind, fitted["tconorm"]) == (FORMAT, "FittedEuclidean", {"function": "maximum"})
    prototypes, weights, centres, extents = (array(fitted[k]) for k in ("prototypes", "weights", "centres", "extents"))
    delta = measure["largest"] * 2.0 ** measure["unit"]["object"][1]["exponent"]
    D = np.sqrt((weights * (X[:, None] - prototypes) ** 2).sum(axis=2)) / delta
    ratios = np.sqrt(((D[:, None] - centres) ** 2).mean(axis=2)) / (extents + 2e-15)
    np.testing.assert_allclose((-(ratios**2) / 2).max(axis=1), clf.score_samples(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(np.where((ratios <= 1 + 1e-9).any(axis=1), 1, -1), clf.predict(X))


def test_the_document_names_all_that_a_file_may_hold(setosa, tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "reference" / "model_file.md").read_text()
    names = [*PLAIN, *Decoder({}).kinds, *Decoder({}).columns]
    labelled = SurpriseClassifier().fit(setosa, [1] * 40 + [-1] * 10)
    for clf in (plain().fit(setosa), labelled, RegionClassifier().fit(setosa)):
        save(clf, tmp_path / "m.eocc")
        with zipfile.ZipFile(tmp_path / "m.eocc") as archive:
            manifest = json.loads(archive.read("manifest.json"))
        names += [*manifest, *manifest["fitted"]]
        surprise = manifest["fitted"].get("surprise", {"dict": []})
        names += [key for key, _ in surprise["dict"]]
    for name in names:
        assert f"`{name}`" in text, name


def test_the_names_of_classes_are_unambiguous():
    kinds = set(classes())
    names = {name_of(kind) for kind in kinds}
    assert len(names) == len(kinds)
    assert not names & set(functions())


def test_the_order_of_the_entropy_is_known_even_if_gamma_was_not_saved(tmp_path, setosa):
    clf = EntropicOneClassClassifier(search=None).fit(setosa).set_params(gamma="large")
    loaded = again(clf, tmp_path / "m.eocc")
    assert isinstance(loaded.gamma, NotSaved)
    assert loaded._facts()["order of the Rényi entropy"] == clf.alpha_ == (50 - 0.02) / 50


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parents[1].joinpath("stored_models").iterdir()), ids=lambda path: path.stem
)
def test_files_of_every_format_load_or_say_what_to_do(path):
    X = np.random.default_rng(0).normal(size=(30, 3))
    version, name = path.stem.split("_")[:2]
    if (version, name) == ("2", "SurpriseClassifier"):
        with pytest.raises(ModelFileError, match="fit the model again"):
            load(path)
        return
    loaded = load(path)
    assert type(loaded).__name__ == name
    settings = {"search": None, "false_alarm_rate": 0.1, "random_state": 0} if name.startswith("Entropic") else {}
    fresh = type(loaded)(**settings).fit(X)
    if (version, name) == ("3", "SurpriseClassifier"):  # its score is not quite the present one
        assert_array_equal(loaded.predict(X + 0.1), fresh.predict(X + 0.1))
        return
    assert_allclose(
        loaded.score_samples(X), fresh.score_samples(X), rtol=1e-9, atol=1e-12
    )  # representatives have about 0


def test_there_is_a_stored_file_of_this_format_for_every_classifier():
    names = {path.stem for path in Path(__file__).parents[1].joinpath("stored_models").iterdir()}
    assert {f"{FORMAT}_{name}" for name in CLASSIFIERS} <= names


@pytest.mark.parametrize("count", [2**53 + 1, 10**400])
@pytest.mark.parametrize("kind", [SurpriseClassifier, RegionClassifier])
def test_no_number_of_a_fit_is_beyond_its_range(kind, count, tmp_path, setosa):
    clf = kind().fit(setosa)
    clf.n_rows_ = count
    save(clf, tmp_path / "m.eocc")
    with pytest.raises(ModelFileError, match="n_rows must be an integer in"):
        load(tmp_path / "m.eocc")
