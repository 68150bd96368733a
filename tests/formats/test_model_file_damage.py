import io
import json
import math
import struct
import zipfile
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from altered_models import pack, pack_as_is, unpack
from fuzz_model_file import fuzz

from doubles import plain
from eocc import RegionClassifier, SurpriseClassifier, load, save
from eocc.entropic.rules import Gaussian, std_extent
from eocc.formats.archive import Limits
from eocc.formats.model_file import ModelFileError, NotSaved, container
from eocc.formats.model_file.codec import Decoder, Encoder
from eocc.formats.model_file.container import array_bytes, array_from_bytes
from eocc.formats.model_file.plain import UnwritableError
from eocc.measures import DTW, LabelledGraph
from eocc.measures.objects import Objects
from samples import samples


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def saved(folder, name, make=plain, y=None):
    """Return the bytes of a small model."""
    measure = DTW(band=0.5) if name == "dtw" else name
    training = [LabelledGraph(2, [[0, 1]]), LabelledGraph(3), LabelledGraph(1)] if name == "graph-edit" else (
        samples(name)[0][:6, :6] if name == "precomputed" else samples(name)[0][:6])  # fmt: skip
    save(make(measure=measure).fit(training, y), folder / "whole.eocc")
    return (folder / "whole.eocc").read_bytes()


def labelled(folder):
    return saved(folder, "euclidean", SurpriseClassifier, [1, 1, 1, 1, -1, -1])


def refusal(folder, data, **arguments):
    path = folder / "damaged.eocc"
    path.write_bytes(data)
    with pytest.raises(ModelFileError) as caught:
        load(path, **arguments)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    assert "; " in message
    return message.removeprefix(f"{path}: ")


def test_random_damage_gives_a_one_line_error_or_a_working_model(folder):
    fates, failures = fuzz(250, seed=7, folder=folder, report=lambda *_: None)
    assert failures == []
    for damage in ("edit_numbers", "edit_values"):
        assert fates[damage, "refused"] > 5
        assert fates[damage, "works"] > 5


def test_a_cut_file_is_refused_wherever_it_is_cut(folder):
    data = saved(folder, "euclidean")
    for stop in [*range(0, len(data), 97), len(data) - 1]:
        refusal(folder, data[:stop])


def test_every_altered_byte_of_the_contents_is_noticed(folder):
    data = saved(folder, "euclidean")
    _, members = unpack(data)
    for member in members.values():
        start = data.index(member)
        for place in range(start, start + len(member), 41):
            altered = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
            assert ".npy' was altered or damaged" in refusal(folder, altered)


def test_parameters_that_the_version_of_a_file_did_not_have_keep_their_defaults(folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    for name in ("first_cut", "objective"):
        del manifest["parameters"][name]
    (folder / "old.eocc").write_bytes(pack(manifest, members))
    old = load(folder / "old.eocc")
    assert (old.first_cut, old.objective) == ("always", "normalised")


def test_former_values_that_only_a_fit_needs_are_as_good_as_not_saved(folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    manifest["parameters"] |= {"search": "random", "performance": "auc", "representative": "centroid"}
    (folder / "former.eocc").write_bytes(pack(manifest, members))
    former, X = load(folder / "former.eocc"), samples("euclidean", 5)[0]
    assert former.score_samples(X).tolist() == load(folder / "whole.eocc").score_samples(X).tolist()
    for name in ("search", "performance"):
        assert isinstance(getattr(former, name), NotSaved)


def test_a_checksum_that_is_wrong_is_noticed(folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    members["weights.npy"] = array_bytes(np.full(4, 0.5))
    altered = pack_as_is(json.dumps(manifest).encode(), members)
    assert "'weights.npy' does not match its checksum" in refusal(folder, altered)


def test_files_of_other_versions_say_what_to_do(folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    manifest.update(format=5, library_version="9.1", fitted="otherwise")
    later = "has format 5, this eocc reads formats 2 to 4; install eocc 9.1 or later"
    assert refusal(folder, pack(manifest, members)) == later
    first = refusal(folder, pack({"format": 1, "library": "eocc", "schema": {}}, {}))
    assert first == (
        "has format 1, of the first version of eocc, which this one cannot read; "
        "fit the model again with this version, or load it with eocc 0.1"
    )


def test_other_files_and_damaged_models_get_different_errors(folder):
    again = "copy the file again from where it came, or save the model again"
    for data in (b"no zip at all", b"a", b"\x93NUMPY", b"P", bytes(100)):
        assert refusal(folder, data) == "is no model file; name a file written by eocc.save or `eocc fit`"
    assert refusal(folder, b"") == f"is empty; {again}"
    assert refusal(folder, saved(folder, "euclidean")[:-30]).endswith(again)
    assert "has no manifest.json" in refusal(folder, b"PK\x05\x06" + bytes(18))


@pytest.mark.parametrize("name", [".more", "__MACOSX/more", "more/"])
def test_other_files_and_folders_in_the_archive_are_refused(name, folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    data = pack_as_is(json.dumps(manifest).encode(), {**members, name: b""})
    assert "holds other members than its manifest.json lists" in refusal(folder, data)


def test_bytes_before_and_after_the_archive_are_refused(folder):
    data = saved(folder, "euclidean")
    assert "other bytes before or between its members" in refusal(folder, b"PK" + bytes(10) + data)
    assert "other bytes follow its end" in refusal(folder, data + b"more")
    start = data.index(b"PK\1\2")  # of the directory
    moved = data[:start] + b"more" + data[start:-6] + struct.pack("<L", start + 4) + data[-2:]
    assert "other bytes before or between its members" in refusal(folder, moved)
    comment = data[:-2] + b"\4\0more"
    assert "other bytes follow its end" in refusal(folder, comment)


def test_other_zip_files_and_folders_are_refused(folder):
    assert "has no manifest.json" in refusal(folder, _zip({"a.txt": b"a"}))
    assert "names no format" in refusal(folder, _zip({"manifest.json": b"[]"}))
    with pytest.raises(ModelFileError, match="is not a regular file; name a file written by"):
        load(folder)


def _zip(members, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def test_a_compressed_file_is_refused_before_it_is_unpacked(folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    bomb = {"manifest.json": json.dumps(manifest).encode(), **members, "weights.npy": bytes(2**24)}
    remedy = "is compressed, or declares two sizes; pack it again without compression (zip -0), or save the model again"
    assert remedy in refusal(folder, _zip(bomb, zipfile.ZIP_DEFLATED))


def test_a_stored_member_with_two_sizes_is_refused(folder):
    data = bytearray(saved(folder, "euclidean"))
    entry = data.rindex(b"PK\x01\x02")
    (size,) = struct.unpack_from("<I", data, entry + 20)
    struct.pack_into("<I", data, entry + 20, size - 1)
    assert "is compressed, or declares two sizes" in refusal(folder, bytes(data))


def test_members_with_other_sizes_than_listed_or_above_the_limit_are_refused(folder):
    data = saved(folder, "euclidean")
    manifest, members = unpack(data)
    manifest["members"]["labels.npy"]["bytes"] += 1
    wrong = pack_as_is(json.dumps(manifest).encode(), members)
    assert "'labels.npy' has 176 bytes, not as many as manifest.json says" in refusal(folder, wrong)
    members["weights.npy"] = bytes(2**21)
    limit = "is larger than the limit of 1048576 bytes; pass a larger max_bytes if you trust the file"
    assert limit in refusal(folder, pack(manifest, members), max_bytes=2**20)
    large = _zip({"manifest.json": b" " * 2**18})
    assert "manifest.json is larger than the limit" in refusal(folder, large, max_bytes=2**20)
    declared = struct.pack("<L", 2**18)
    assert large.count(declared) == 4
    more = large.replace(declared, struct.pack("<L", 2**19))
    assert "or members that overlap" in refusal(folder, more)


def test_unknown_missing_and_duplicate_keys_are_refused(folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    assert "holds 'junk', which is not format 4" in refusal(folder, pack({**manifest, "junk": []}, members))
    text = json.dumps(manifest).encode()
    doubled = text.replace(b'"library":', b'"library": "x", "library":', 1)
    assert "occurs twice" in refusal(folder, pack_as_is(doubled, members))
    inner = text.replace(b'"eta":', b'"eta": 0.1, "eta":', 1)
    assert "occurs twice" in refusal(folder, pack_as_is(inner, members))
    del manifest["library"]
    assert "lacks 'library', which is not format 4" in refusal(folder, pack(manifest, members))


def test_a_model_larger_than_the_limit_loads_with_a_higher_limit(folder):
    data = saved(folder, "euclidean")
    (folder / "whole.eocc").write_bytes(data)
    refusal(folder, data, max_bytes=1000)
    assert load(folder / "whole.eocc", max_bytes=2**40).n_features_in_ == 4


def test_encrypted_and_linked_members_are_refused(folder):
    data = saved(folder, "euclidean")
    for place, more in ((8, b"\1"), (38, struct.pack("<L", 0o120777 << 16)), (38, struct.pack("<L", 0o020666 << 16))):
        entry = data.index(b"PK\1\2") + place
        altered = data[:entry] + more + data[entry + len(more) :]
        assert "is encrypted, a link or a device" in refusal(folder, altered)


def test_axes_of_regions_that_are_not_at_right_angles_are_refused(folder):
    manifest, members = unpack(saved(folder, "gower", RegionClassifier))
    axes = array_from_bytes(members["axes.npy"])
    for change in ([[1e-6]], [[0.5], [0.5]]):
        altered = axes.copy()
        altered[: len(change), :1] += change
        data = pack(manifest, {**members, "axes.npy": array_bytes(altered)})
        assert "axes must be of length 1 and at right angles" in refusal(folder, data)


def test_duplicate_and_unlisted_members_are_refused(folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    more = {**members, "weights.npx": members["weights.npy"]}
    twice = pack_as_is(json.dumps(manifest).encode(), more).replace(b"weights.npx", b"weights.npy")
    assert "appears twice" in refusal(folder, twice)
    more = pack_as_is(json.dumps(manifest).encode(), {**members, "more.npy": b""})
    assert "other members than its manifest.json lists" in refusal(folder, more)
    for name in ("more.npy", "../weights.npy", "/weights.npy"):  # a name is only a name: nothing is unpacked
        unused = pack(manifest, {**members, name: array_bytes(np.zeros(1))})
        assert "an array that nothing refers to" in refusal(folder, unused)


def test_a_file_of_very_many_members_is_refused_before_its_directory_is_read(folder, monkeypatch):
    data = saved(folder, "euclidean")
    monkeypatch.setattr(container, "SAFE", Limits(members=data.count(b"PK\1\2") - 1))
    monkeypatch.setattr(container, "zipfile", None)
    assert "holds more than the limit of" in refusal(folder, data)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"format":' + "9" * 5000 + "}", '{"format":2,"a":NaN}', '{"format":2', "\xff"]
)
def test_odd_json_is_refused(folder, text):
    assert "manifest.json is not JSON" in refusal(folder, _zip({"manifest.json": text.encode("latin-1")}))


def test_deep_values_are_refused(folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    deep = 1
    for _ in range(300):
        deep = {"tuple": [deep]}
    manifest["parameters"]["extent"] = deep
    assert "nested deeper than 60" in refusal(folder, pack(manifest, members))


@pytest.mark.parametrize(
    ("measure", "name", "change", "message"),
    [
        ("euclidean", "weights", lambda a: a[:-1], "weights must be finite numbers of shape (4,)"),
        ("euclidean", "weights", lambda a: a.astype(np.float32), "weights must be finite numbers of shape (4,)"),
        ("euclidean", "weights", lambda a: a * np.nan, "weights must be finite numbers of shape (4,)"),
        ("euclidean", "weights", lambda a: a - 2, "weights must lie in [0, 1]"),
        ("euclidean", "prototype_indices", lambda a: a + 1, "prototype_indices must lie in 0..5"),
        ("euclidean", "prototype_indices", lambda a: a[::-1], "prototype_indices must rise"),
        ("euclidean", "centres", lambda a: a[:, :-1], "centres must be finite numbers of shape"),
        ("euclidean", "extents", lambda a: a[:0], "centres must be finite numbers of shape (0, 6)"),
        ("euclidean", "extents", lambda a: -a, "extents must lie in (0, inf)"),
        ("euclidean", "labels", lambda a: a - 1, "labels must lie in 0.."),
        ("euclidean", "labels", lambda a: a + 99, "labels must lie in 0.."),
        ("euclidean", "labels", lambda a: a.astype(np.float64), "labels must be integers of shape (6,)"),
        ("euclidean", "representatives", lambda a: a + 6, "representatives must lie in 0..5"),
        ("euclidean", "representatives", lambda a: np.roll(a, 1), "must be its member"),
        ("euclidean", "tree_edges", lambda a: a - 9, "tree_edges must lie in 0..5"),
        ("euclidean", "tree_edges", lambda a: a[:, ::-1], "lower end first"),
        ("euclidean", "tree_edges", lambda a: np.tile(a[:1], (5, 1)), "edges must join all"),
        ("euclidean", "tree_lengths", lambda a: a[::-1], "edges must come heaviest first"),
        ("euclidean", "training_indices", lambda a: a[::-1], "training_indices must rise"),
        ("euclidean", "history.best", lambda a: a[:0], "history.mean must be finite numbers of shape (0,)"),
        ("euclidean", "prototypes", lambda a: a[:, :-1], "not what FittedEuclidean"),
        ("euclidean", "prototypes", lambda a: a * 2, "the first training row scores"),
        (
            "euclidean",
            "measure.unit.centre",
            lambda a: a[:-1],
            "the rows that fill gaps must be at least 1, of",
        ),
        ("gower", "measure.donors", lambda a: a[:, :1], "the rows that fill gaps must be at least 1, of 3 columns"),
        ("gower", "measure.donors", lambda a: a[:0], "the rows that fill gaps must be at least 1, of 3 columns"),
        ("gower", "measure.donors", lambda a: a + np.inf, "FittedGower.donors must lie in"),
        ("precomputed", "prototypes.columns", lambda a: a + 1, "not what FittedPrecomputed"),
        ("precomputed", "prototypes.block", lambda a: a[:, :-1], "not what FittedPrecomputed"),
        ("dtw", "prototypes.lengths", lambda a: a + 1, "cannot be split"),
        ("dtw", "prototypes.lengths", lambda a: a + 2**62, "cannot be split"),
        ("dtw", "prototypes.lengths", lambda a: -a, "lengths must be integers >= 0"),
        ("dtw", "prototypes.lengths", lambda a: np.append(a, 0), "not what FittedDTW"),
        ("dtw", "prototypes.values", lambda a: a[:, :1], "not what FittedDTW"),
        ("tanimoto", "prototypes", lambda a: a[:, 1:], "not what FittedTanimoto"),
        ("tanimoto", "prototypes", lambda a: a.astype(np.uint8), "not what FittedTanimoto"),
        ("graph-edit", "prototypes.edges.values", lambda a: a + 5, "edges must join vertices"),
        ("gower", "prototypes.columns.0.values", lambda a: a[1:], "the fields of a Table do not fit together"),
        ("graph-edit", "prototypes.n_vertices", lambda a: a + 10**7, "are too large for a model file"),
        ("graph-edit", "prototypes.n_vertices", lambda a: -a, "n_vertices"),
        ("graph-edit", "prototypes.directed", lambda a: a[1:], "argument"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(folder, measure, name, change, message):
    manifest, members = unpack(saved(folder, measure))
    array = array_from_bytes(members[f"{name}.npy"])
    members[f"{name}.npy"] = array_bytes(change(array))
    assert message in refusal(folder, pack(manifest, members))


DTW_MEASURE = {"object": ["DTW", {"band": 0.1}]}


def table(manifest):
    """Return the columns of the training rows of a table."""
    return [column["object"][1] for column in manifest["fitted"]["prototypes"]["object"][1]["columns"]["tuple"]]


def gower_column(manifest, number):
    """Return the fields of a column of the fitted measure of a table."""
    return fields(manifest)["columns"]["tuple"][number]["object"][1]


def recode(manifest, codes):
    """Give the first categories of the second column of a table other codes."""
    found = gower_column(manifest, 1)["coder"]["object"][1]["codes"]["dict"]
    for pair, code in zip(found, codes, strict=False):
        pair[1] = code


def fields(manifest, *way):
    """Return the fields of an object inside the fitted measure."""
    found = manifest["fitted"]["measure"]["object"][1]
    for name in way:
        found = found[name]["object"][1]
    return found


@pytest.mark.parametrize(
    ("measure", "change", "message"),
    [
        ("dtw", lambda m: fields(m).update(band={"float": "nan"}), "FittedDTW.band must be"),
        ("dtw", lambda m: fields(m).update(band=1e9), "FittedDTW.band must be"),
        ("dtw", lambda m: fields(m, "unit").update(exponent=10**9), "Unit.exponent must be"),
        ("euclidean", lambda m: fields(m).update(largest=0.0), "FittedEuclidean.largest must be"),
        ("euclidean", lambda m: fields(m).update(largest=9e-151), "FittedEuclidean.largest must be"),
        ("dtw", lambda m: fields(m).update(largest=9e-151), "FittedDTW.largest must be"),
        (
            "euclidean",
            lambda m: fields(m).update(n_parameters=9),
            "FittedEuclidean must hold exactly unit, largest, donors",
        ),
        ("tanimoto", lambda m: fields(m).update(n_bits=10**9), "not what FittedTanimoto"),
        ("graph-edit", lambda m: fields(m).update(n_parameters=9), "must hold exactly"),
        ("euclidean", lambda m: m["parameters"].update(measure="luck"), "unknown measure 'luck'"),
        ("euclidean", lambda m: m["parameters"].update(n_jobs=10**6), "other than 0, at most 1024"),
        ("euclidean", lambda m: m["parameters"].update(cleverness=1), "the parameters must be measure,"),
        ("euclidean", lambda m: m["parameters"].update(false_alarm_rate=1.0), "false_alarm_rate must be"),
        ("euclidean", lambda m: m["parameters"].update(eta={"dict": []}), "eta must be a number"),
        ("euclidean", lambda m: m["parameters"].update(beta={"float": "nan"}), "beta must be a number"),
        ("euclidean", lambda m: m["parameters"].update(gamma=0), "gamma must be a number"),
        ("euclidean", lambda m: m["parameters"].update(validation_fraction="0.1"), "validation_fraction must be"),
        ("euclidean", lambda m: m["parameters"].update(synthesis="magic"), "unknown synthesis 'magic'"),
        ("euclidean", lambda m: m["parameters"].update(extent=[]), "unknown extent []"),
        ("euclidean", lambda m: m["parameters"].update(search="luck"), "unknown search 'luck'"),
        ("euclidean", lambda m: m["parameters"].update(random_state={"decimal": "1E+999999999"}), "no decimal"),
        ("euclidean", lambda m: m["parameters"].update(membership_function=10**9), "unknown membership_function"),
        ("euclidean", lambda m: m["parameters"].update(tconorm={"integer": "f" * 10**6}), "a text of at most 1003"),
        ("euclidean", lambda m: m["parameters"].update(tconorm=10**30), "integer beyond 2^53 must be written as text"),
        ("euclidean", lambda m: m["parameters"].update(search={"not_saved": []}), "search has no type"),
        ("euclidean", lambda m: m["fitted"].update(resolved_measure=DTW_MEASURE), "DTW does not give FittedEuclidean"),
        ("euclidean", lambda m: m["fitted"].update(threshold=0.5), "threshold is not that of the calibration"),
        ("euclidean", lambda m: m["fitted"].update(offset=0.5), "offset is not"),
        ("euclidean", lambda m: m["fitted"].update(entropy={"float": "nan"}), "entropy must be a number in"),
        ("euclidean", lambda m: m["fitted"].update(raw_entropy={"float": "inf"}), "raw_entropy must be a number in"),
        ("euclidean", lambda m: m["fitted"].update(performance={"float": "inf"}), "performance must be a number in"),
        ("euclidean", lambda m: m.update(first_score=None), "first_score must be null if and only if"),
        ("euclidean", lambda m: m["fitted"].update(n_features_in=5), "n_features_in is not that of the rows"),
        ("euclidean", lambda m: m["fitted"].update(n_features_in=None), "n_features_in must be a number"),
        ("euclidean", lambda m: m["fitted"].update(feature_names_in=["a", "b"]), "must be 4 texts"),
        ("euclidean", lambda m: m["fitted"].update(feature_names_in=list("abca")), "must all be different"),
        ("euclidean", lambda m: m["fitted"].update(tconorm={"function": "system"}), "unknown function 'system'"),
        ("euclidean", lambda m: m["fitted"].update(tconorm={"function": "f1"}), "f1() missing 3 required"),
        ("euclidean", lambda m: m["fitted"].update(tconorm={"object": ["os.system", {}]}), "unknown class 'os.system'"),
        ("euclidean", lambda m: m["fitted"].update(tconorm={"passed": None}), "what must be passed is not"),
        ("euclidean", lambda m: m["fitted"].pop("centres"), "the fitted values must hold exactly"),
        ("euclidean", lambda m: m.update(estimator="Pipeline"), "no classifier of this version"),
        ("euclidean", lambda m: m["fitted"].update(labels={"array": "weights"}), "is used twice"),
        ("gower", lambda m: table(m)[1].update(name="load"), "the fields of a Table do not fit together"),
        ("gower", lambda m: table(m)[1].update(labels={"tuple": ["x"]}), "the fields of a Column do not fit"),
        ("gower", lambda m: table(m)[0].update(kind=""), "the fields of a Column do not fit"),
        (
            "gower",
            lambda m: table(m)[0].update(kind="fog"),
            "the fields of a Column do not fit together",
        ),
        (
            "gower",
            lambda m: gower_column(m, 0).update(kind="fog"),
            "a column holds values of an unknown kind",
        ),
        ("gower", lambda m: gower_column(m, 1).update(name="load"), "a column of the table is read twice"),
        *(
            ("gower", lambda m, c=codes: recode(m, c), "the codes of categories must be 0, 1, 2 and so on")
            for codes in ((0, 0), (1, 2), (1, 0))
        ),
    ],
)
def test_values_that_do_not_fit_are_refused(folder, measure, change, message):
    manifest, members = unpack(saved(folder, measure))
    change(manifest)
    assert message in refusal(folder, pack(manifest, members))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("surprise.weightings.weights", lambda a: a / 2, "weightings must start with weights"),
        ("surprise.weightings.weights", lambda a: a[:, :1], "weightings.weights must be finite numbers of shape"),
        ("surprise.weightings.local_scales", lambda a: -a, "weightings.local_scales must lie in (0, inf)"),
        ("surprise.weightings.mean_distance", lambda a: np.tile(a, 2), "weightings must hold arrays of one length"),
        (
            "surprise.weightings.median_profile",
            lambda a: a[:, :0],
            "weightings.median_profile must be finite numbers of shape",
        ),
        *(
            (
                f"surprise.weightings.{name}",
                lambda a: a.astype(np.float32),
                f"weightings.{name} must be numbers, stored",
            )
            for name in ("mean_distance", "mean_ratio", "tolerance", "weights", "local_scales")
        ),
        ("surprise.weightings.mean_distance", lambda a: a.astype(np.int64), "weightings.mean_distance must be numbers"),
        ("surprise.weightings.mean_distance", lambda a: a[0], "weightings.mean_distance must be numbers, stored"),
        ("surprise.weightings.mean_ratio", lambda a: a * 0, "weightings.mean_ratio must be a number >= 1e-60"),
        ("surprise.standardisation.scale", lambda a: a * 0, "standardisation.scale must lie in (0, inf)"),
        ("surprise.likelihood_ratio.gaussians.variance", lambda a: -a, "gaussians.variance must lie in (0, inf)"),
        ("surprise.likelihood_ratio.gaussians.mean", lambda a: a[1:], "gaussians.mean must be finite numbers of shape"),
        (
            "surprise.likelihood_ratio.gaussians.precision",
            lambda a: a[1:],
            "gaussians.precision must be finite numbers",
        ),
        ("surprise.likelihood_ratio.coefficients", lambda a: a[1:], "coefficients must be finite numbers of shape"),
        ("outliers", lambda a: a[:, 1:], "not what FittedEuclidean"),
        ("outliers", lambda a: a[:0], "there are no training rows"),
        ("calibration.margins", lambda a: a[::-1], "calibration.margins must not fall"),
    ],
)
def test_arrays_of_the_surprise_that_do_not_fit_are_refused(folder, name, change, message):
    manifest, members = unpack(labelled(folder))
    members[f"{name}.npy"] = array_bytes(change(array_from_bytes(members[f"{name}.npy"])))
    assert message in refusal(folder, pack(manifest, members))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda fitted: fitted.update(outliers=None), "come together or not at all"),
        (lambda fitted: fitted.update(calibration=None), "there must be a calibration"),
        (lambda fitted: fitted.update(n_rows=3), "n_rows must be an integer in [4,"),
        (lambda fitted: fitted.update(n_rows=4.0), "n_rows must be an integer in [4,"),
        (lambda fitted: fitted.update(threshold=0.5), "threshold is not that of the calibration"),
        (lambda fitted: fitted.update(offset=-3.0), "offset is not the log-membership at the threshold"),
        (lambda fitted: fitted.update(membership_function="bell"), "membership_function must be an object"),
    ],
)
def test_values_of_the_surprise_that_do_not_fit_are_refused(folder, change, message):
    manifest, members = unpack(labelled(folder))
    change(manifest["fitted"])
    members = {name: data for name, data in members.items() if f'"{name[:-4]}"' in json.dumps(manifest["fitted"])}
    assert message in refusal(folder, pack(manifest, members))


@pytest.fixture(scope="module")
def of_a_table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "m.eocc"
    frame = pd.DataFrame({"load": ["1,5 €", "2,5 €", "3 €"] * 9, "state": list("aab") * 9})
    SurpriseClassifier().fit(frame).save(path)
    return path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"decimal":","', '"decimal":";"', "Spelling.decimal must be"),
        ('"day_first":null', '"day_first":1', "Spelling.day_first must be"),
        ('"kind":"number"', '"kind":"colour"', "ReadColumn.kind must be"),
        ('"is_numbers":false', '"is_numbers":true', "reading must have one column per feature"),
        ('"name":"state"', '"name":"stat"', "reading must have the columns of the measure"),
    ],
)
def test_a_reading_that_does_not_fit_is_refused(folder, of_a_table, old, new, message):
    manifest, members = unpack(of_a_table.read_bytes())
    text = json.dumps(manifest["fitted"]["reading"], separators=(",", ":"))
    assert old in text
    manifest["fitted"]["reading"] = json.loads(text.replace(old, new))
    assert message in refusal(folder, pack(manifest, members))


@pytest.mark.parametrize("kind", ["date", "duration", "time of day"])
def test_moments_beyond_what_can_be_written_are_refused(folder, kind):
    moments = {"date": "datetime64[s]", "duration": "timedelta64[s]", "time of day": "datetime64[s]"}
    when = pd.Series(np.arange(0, 27_000, 1000).astype(moments[kind]))
    when = when if kind != "time of day" else when.dt.time
    SurpriseClassifier().fit(pd.DataFrame({"when": when, "state": list("aab") * 9})).save(folder / "m.eocc")
    manifest, members = unpack((folder / "m.eocc").read_bytes())
    column = manifest["fitted"]["reading"]["object"][1]["columns"]["tuple"][0]["object"][1]
    assert column["kind"] == kind
    for low, high in ((0.0, 1e308), (-1e308, 0.0), (2.0**63, 2.0**63), (27e9, 0.0)):
        column.update(low=low, high=high)
        message = "must not exceed high" if low == 27e9 else "the fields of a Column do not fit together"
        assert message in refusal(folder, pack(manifest, members))


@pytest.mark.parametrize("value", ["comma", [","], {"dict": [["decimal", ","]]}])
def test_a_reading_of_another_shape_is_refused(folder, value):
    manifest, members = unpack(labelled(folder))
    manifest["fitted"]["reading"] = value
    assert "reading must be of type Reading" in refusal(folder, pack(manifest, members))


def test_arrays_are_read_and_written_as_numpy_does():
    for array in (np.zeros((2, 3)), np.arange(5), np.array(1.5), np.array([True]), np.zeros((0, 2), np.float32)):
        read = np.load(io.BytesIO(array_bytes(array)), allow_pickle=False)
        assert (read.dtype, read.shape) == (array.dtype, array.shape)
        assert array_bytes(read) == array_bytes(array)
    pickled, fortran = io.BytesIO(), io.BytesIO()
    np.save(pickled, np.array([print], dtype=object), allow_pickle=True)
    np.save(fortran, np.asfortranarray(np.ones((2, 3))))
    for data in (pickled.getvalue(), fortran.getvalue(), b"", array_bytes(np.zeros(2))[:40]):
        with pytest.raises(ValueError, match=r"is not a \.npy file of plain numbers"):
            array_from_bytes(data)
    whole = array_bytes(np.zeros(3))
    for data in (whole[:-1], whole + b"0", whole.replace(b"(3,)", b"(4,)"), whole.replace(b"(3,)", b"(3, 99999999)")):
        with pytest.raises(ValueError, match=r"which is not an array of shape|is not a \.npy"):
            array_from_bytes(data)
    with pytest.raises(ValueError, match="that holds nothing"):
        array_from_bytes(array_bytes(np.zeros((0, 9999999))))
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        array_from_bytes(array_bytes(np.array([True]))[:-1] + b"\x02")


VALUES = [
    0, -1, 2**53 + 1, -(2**80), 0.1, -0.0, math.inf, -math.inf, math.nan, True, None, "", "é\ud800\n", b"\x00\xff",
    date(1, 1, 1), datetime(2024, 2, 29, 1, 2, 3, 4), datetime(2024, 1, 1, tzinfo=UTC), time(1, 2, 3, 4),
    timedelta(-3, 4, 5), Decimal("1.10"), Decimal("NaN"), np.datetime64("2024-01-01T00:00", "15m"),
    np.timedelta64(5, "ns"), np.datetime64("NaT", "D"), (), [[]], (1, (2.0, [None])), {}, {(1, "a"): [{2: ()}]},
    frozenset({1, "a", (2,)}), np.array(["a", None, 1.5], dtype=object), np.arange(6, dtype=np.uint16).reshape(1, 2, 3),
    np.zeros((0, 3)), np.array(2.5), np.array([True]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_come_back_with_their_types(value):
    encoder = Encoder()
    document = json.loads(json.dumps(encoder.encode(value, "x"), allow_nan=False))
    back = Decoder(encoder.arrays).decode(document)
    assert type(back) is type(value)
    assert back == value if isinstance(value, frozenset) else repr(back) == repr(value)


def test_numpys_scalars_become_pythons():
    values = [np.int32(3), np.float32(0.1), np.bool_(True), np.str_("a"), pd.Timestamp("2024-01-01")]
    back = Decoder({}).decode(Encoder().encode(values, "x"))
    assert back == values
    assert [type(value) for value in back] == [int, float, bool, str, datetime]


@pytest.mark.parametrize(
    "value", [object(), len, std_extent.__class__, 1j, np.array(["a"]), np.array([1j]), LabelledGraph]
)
def test_other_values_are_refused(value):
    encoder = Encoder()
    with pytest.raises(UnwritableError, match="cannot be written"):
        encoder.encode([np.zeros(1), value], "x")
    assert encoder.arrays == {}


def test_the_largest_integer_in_json_is_that_of_doubles():
    assert Encoder().encode([2**53, -(2**53)], "x") == [2**53, -(2**53)]
    assert Encoder().encode(2**53 + 1, "x") == {"integer": hex(2**53 + 1)}
    assert Decoder({}).decode(2**53) == 2**53
    for beyond in (2**53 + 1, -(2**53) - 1):
        with pytest.raises(ValueError, match="an integer beyond 2\\^53 must be written as text"):
            Decoder({}).decode(beyond)


COLUMN_LISTS = [
    [[1.5, 2.5], [], [3.5]],
    [[1, "a"], [None]],
    [{"a": 1, "b": "x"}, {"b": "y"}, {"a": 2, "b": "z"}],
    [{k: k} for k in range(9)],
    [LabelledGraph(2, [[0, 1]], {"x": [1.0, 2.0]}), LabelledGraph(1)],
    [Gaussian(), Gaussian()],
    [True, False],
    [2**70, 1],
    [np.zeros(2), np.zeros(3)],
    [np.zeros(2), np.zeros((1, 2))],
    [[[]], [[]]],
]


@pytest.mark.parametrize("values", COLUMN_LISTS, ids=str)
def test_lists_of_patterns_come_back(values):
    encoder = Encoder()
    document = json.loads(json.dumps(encoder.encode(Objects(values), "x")))
    decoder = Decoder(encoder.arrays)
    back = list(decoder.decode(document))
    assert decoder.used == set(encoder.arrays)
    assert [type(value) for value in back] == [type(value) for value in values]
    for one, other in zip(back, values, strict=True):
        assert repr(getattr(one, "__dict__", one)) == repr(getattr(other, "__dict__", other))


@pytest.mark.parametrize(
    "column",
    [
        3, {}, {"array": "x", "arrays": []}, {"unknown": []}, {"arrays": {"values": 1, "lengths": {"array": "n"}}},
        {"lists": {"values": [1, 2], "lengths": {"array": "n"}}}, {"dicts": {"count": 2**60, "entries": []}},
        {"dicts": {"count": 2**60, "entries": [["a", {"array": "b"}, [1]]]}}, {"objects": ["Gaussian", {}]},
        {"objects": ["LabelledGraph", {"n_vertices": [1]}]}, {"array": "m"},
    ],
    ids=str,
)  # fmt: skip
def test_odd_columns_are_refused(column):
    arrays = {"n": np.array([9]), "b": np.array([True]), "m": np.zeros((2, 2))}
    with pytest.raises(ValueError, match=r"must|unknown|cannot|has no fields"):
        Decoder(arrays).decode({"patterns": column})


def test_values_nested_too_deep_are_refused():
    value = ()
    for _ in range(100):
        value = (value,)
    deep = []
    for _ in range(100):
        deep = [deep]
    for nested in (value, Objects(deep)):
        with pytest.raises(UnwritableError, match="nested deeper"):
            Encoder().encode(nested, "x")
