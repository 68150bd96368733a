import io
import json
import math
import runpy
import struct
import zipfile
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doubles import plain
from eocc.io.model_file import ModelFileError, load, save
from eocc.io.model_file.arrays import array_bytes, array_from_bytes
from eocc.io.model_file.codec import Decoder, Encoder
from eocc.io.model_file.plain import UnwritableError
from eocc.measures import DTW, LabelledGraph
from eocc.measures.columns import Table
from eocc.regions.extents import std_extent
from samples import samples

FUZZ = runpy.run_path(str(Path(__file__).parent.parent / "benchmarks" / "fuzz_model_file.py"))
pack, pack_as_is, unpack = FUZZ["pack"], FUZZ["pack_as_is"], FUZZ["unpack"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def saved(folder, name):
    """The bytes of a small model."""
    measure = DTW(band=0.5) if name == "dtw" else name
    training = [LabelledGraph(2, [[0, 1]]), LabelledGraph(3), LabelledGraph(1)] if name == "graph-edit" else (
        samples(name)[0][:6, :6] if name == "precomputed" else samples(name)[0][:6])  # fmt: skip
    save(plain(measure=measure, extent="max").fit(training), folder / "whole.eocc")
    return (folder / "whole.eocc").read_bytes()


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


def test_random_damage_gives_an_error_of_one_line_or_a_model_that_works(folder):
    fates, failures = FUZZ["fuzz"](400, seed=7, folder=folder, report=lambda *_: None)
    assert failures == []
    assert sum(count for (_, fate), count in fates.items() if fate == "refused") > 200
    assert any(fate == "works" for _, fate in fates)


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
            assert ".npy: cannot be read: Bad CRC-32" in refusal(folder, altered)


def test_a_checksum_that_is_wrong_is_noticed(folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    members["weights.npy"] = array_bytes(np.full(4, 0.5))
    altered = pack_as_is(json.dumps(manifest).encode(), members)
    assert "'weights.npy' is not as its checksum says" in refusal(folder, altered)


def test_a_file_of_a_later_version_says_what_to_install(folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    manifest.update(format=2, library_version="9.1", fitted="otherwise")
    assert (
        refusal(folder, pack(manifest, members)) == "has format 2, this eocc reads up to 1; install eocc 9.1 or later"
    )


def test_what_is_no_model_is_told_from_a_damaged_one(folder):
    again = "copy the file again from where it came, or save the model again"
    for data in (b"no zip at all", b"a", b"\x93NUMPY", b"P", bytes(100)):
        assert refusal(folder, data) == "is no model file; eocc.save and `eocc fit` write one"
    assert refusal(folder, b"") == f"is empty; {again}"
    assert refusal(folder, saved(folder, "euclidean")[:-30]).endswith(again)
    assert "has no manifest.json" in refusal(folder, b"PK\x05\x06" + bytes(18))


def test_other_zip_files_and_folders_are_refused(folder):
    assert "has no manifest.json" in refusal(folder, pack_as_is(b"", {})[:0] + _zip({"a.txt": b"a"}))
    assert "names no format" in refusal(folder, _zip({"manifest.json": b"[]"}))
    with pytest.raises(ModelFileError, match="is not a regular file; name a model file"):
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


def test_sizes_are_those_declared_and_within_the_limits(folder):
    data = saved(folder, "euclidean")
    manifest, members = unpack(data)
    manifest["members"]["labels.npy"]["bytes"] += 1
    assert "'labels.npy' has 176 bytes, not as many as manifest.json says" in refusal(
        folder, pack_as_is(json.dumps(manifest).encode(), members)
    )
    members["weights.npy"] = bytes(2**21)
    limit = "is larger than the limit of 1048576 bytes; pass a larger max_bytes if you trust the file"
    assert limit in refusal(folder, pack(manifest, members), max_bytes=2**20)
    large = _zip({"manifest.json": b" " * 2**18})
    assert "manifest.json is larger than the limit" in refusal(folder, large, max_bytes=2**20)
    declared = struct.pack("<L", 2**18)
    assert large.count(declared) == 4
    assert "members of more bytes than the file has" in refusal(
        folder, large.replace(declared, struct.pack("<L", 2**19))
    )


def test_unknown_keys_are_refused(folder):
    manifest, members = unpack(saved(folder, "euclidean"))
    assert "holds 'junk', which format 1 does not know" in refusal(folder, pack({**manifest, "junk": []}, members))
    manifest["schema"]["junk"] = []
    assert "the schema must be n_patterns" in refusal(folder, pack(manifest, members))


def test_a_model_larger_than_the_limit_loads_where_that_is_raised(folder):
    data = saved(folder, "euclidean")
    (folder / "whole.eocc").write_bytes(data)
    refusal(folder, data, max_bytes=1000)
    assert load(folder / "whole.eocc", max_bytes=2**40).n_features_in_ == 4


@pytest.mark.parametrize("name", ["../weights.npy", "/weights.npy", "C:weights.npy", "a/../../weights.npy"])
def test_members_that_lead_out_are_refused(folder, name):
    manifest, members = unpack(saved(folder, "euclidean"))
    assert "leads out of the archive" in refusal(folder, pack(manifest, {**members, name: b""}))


def test_doubled_encrypted_linked_and_additional_members_are_refused(folder):
    data = saved(folder, "euclidean")
    manifest, members = unpack(data)
    twice = pack(manifest, {**members, "weights.npx": members["weights.npy"]}).replace(b"weights.npx", b"weights.npy")
    assert "appears twice" in refusal(folder, twice)
    entry = data.index(b"PK\x01\x02")
    encrypted = data[: entry + 8] + b"\x01" + data[entry + 9 :]
    assert "encrypted" in refusal(folder, encrypted)
    entry = data.index(b"PK\x01\x02", entry + 1)
    linked = data[: entry + 38] + struct.pack("<L", 0o120777 << 16) + data[entry + 42 :]
    assert "is a link" in refusal(folder, linked)
    more = pack_as_is(json.dumps(manifest).encode(), {**members, "more.npy": b""})
    assert "other members than its manifest.json lists" in refusal(folder, more)
    unused = pack(manifest, {**members, "more.npy": array_bytes(np.zeros(1))})
    assert "an array that nothing refers to" in refusal(folder, unused)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"format":' + "9" * 5000 + "}", '{"format":1,"a":NaN}', '{"format":1', "\xff"]
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
        ("euclidean", "weights", lambda a: a[:-1], "weights must be 4 finite numbers"),
        ("euclidean", "weights", lambda a: a.astype(np.float32), "weights must be 4 finite numbers"),
        ("euclidean", "weights", lambda a: a * np.nan, "weights must be 4 finite numbers"),
        ("euclidean", "weights", lambda a: a - 2, "weights must lie in [0, 1]"),
        ("euclidean", "centres", lambda a: a[:, :-1], "centres must be points of 6 finite numbers"),
        ("euclidean", "centres", lambda a: a[:0], "there must be 1..6 regions, not 0"),
        ("euclidean", "widths", lambda a: a[:, :1], "widths must be of shape"),
        ("euclidean", "widths", lambda a: a * 0, "widths must be positive"),
        ("euclidean", "extents", lambda a: -a, "extents must be positive"),
        ("euclidean", "labels", lambda a: a - 1, "labels must lie in 0.."),
        ("euclidean", "labels", lambda a: a + 99, "labels must lie in 0.."),
        ("euclidean", "labels", lambda a: a.astype(np.float64), "labels must be integers of shape (6,)"),
        ("euclidean", "representatives", lambda a: a + 6, "representatives must lie in 0..5"),
        ("euclidean", "representatives", lambda a: np.roll(a, 1), "must be its member"),
        ("euclidean", "tree_edges", lambda a: a - 9, "tree_edges must lie in 0..5"),
        ("euclidean", "tree_edges", lambda a: a[:, ::-1], "lower end first"),
        ("euclidean", "tree_edges", lambda a: np.tile(a[:1], (5, 1)), "tree_edges must join all"),
        ("euclidean", "tree_lengths", lambda a: a[::-1], "tree_lengths must fall"),
        ("euclidean", "training_indices", lambda a: a[::-1], "training_indices must rise"),
        ("euclidean", "history.0", lambda a: a[:0], "history must hold a generation"),
        ("euclidean", "prototypes", lambda a: a[:, :-1], "not what FittedEuclidean takes"),
        ("euclidean", "prototypes", lambda a: a * 2, "the first training pattern scores"),
        ("euclidean", "measure.unit.centre", lambda a: a[:-1], "not what FittedEuclidean takes"),
        ("precomputed", "prototypes.columns", lambda a: a + 1, "not what FittedPrecomputed takes"),
        ("precomputed", "prototypes.block", lambda a: a[:, :-1], "not what FittedPrecomputed takes"),
        ("dtw", "prototypes.lengths", lambda a: a + 1, "cannot be split"),
        ("dtw", "prototypes.lengths", lambda a: a + 2**62, "cannot be split"),
        ("dtw", "prototypes.lengths", lambda a: np.append(a, 0), "not what FittedDTW takes"),
        ("dtw", "prototypes.values", lambda a: a[:, :1], "not what FittedDTW takes"),
        ("tanimoto", "prototypes", lambda a: a[:, 1:], "not what FittedTanimoto takes"),
        ("tanimoto", "prototypes", lambda a: a.astype(np.uint8), "not what FittedTanimoto takes"),
        ("graph-edit", "prototypes.edges", lambda a: a + 5, "edges must join vertices"),
        ("graph-edit", "prototypes.n_vertices", lambda a: a + 10**7, "exceed the limit"),
        ("graph-edit", "prototypes.n_vertices", lambda a: -a, "n_vertices must be integers >= 0"),
        ("gower", "prototypes.values", lambda a: np.where(a == 1, 50, a), "refers to labels it does not have"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(folder, measure, name, change, message):
    manifest, members = unpack(saved(folder, measure))
    array = array_from_bytes(members[f"{name}.npy"])
    members[f"{name}.npy"] = array_bytes(change(array))
    assert message in refusal(folder, pack(manifest, members))


def note(parameter):
    return {"object": ["NotSaved", {"parameter": parameter, "kind": "Own"}]}


def fields(manifest, *way):
    """The fields of an object inside the fitted measure."""
    found = manifest["fitted"]["measure"]["object"][1]
    for name in way:
        found = found[name]["object"][1]
    return found


@pytest.mark.parametrize(
    ("measure", "change", "message"),
    [
        ("dtw", lambda m: fields(m).update(band={"float": "nan"}), "FittedDTW.band is of the wrong kind"),
        ("dtw", lambda m: fields(m).update(band=1e9), "FittedDTW.band is of the wrong kind"),
        ("dtw", lambda m: fields(m, "unit").update(exponent=10**9), "Unit.exponent is of the wrong kind"),
        ("euclidean", lambda m: fields(m).update(largest=0.0), "FittedEuclidean.largest is of the wrong kind"),
        ("euclidean", lambda m: fields(m).update(n_parameters=9), "has the fields unit, largest, and no others"),
        ("tanimoto", lambda m: fields(m).update(n_bits=10**9), "not what FittedTanimoto takes"),
        ("graph-edit", lambda m: fields(m).update(n_parameters=9), "and no others"),
        ("euclidean", lambda m: m["parameters"].update(measure="dtw"), "DTW is frozen as another kind"),
        ("euclidean", lambda m: m["parameters"].update(measure={"function": "f1"}), "its measure is of the wrong kind"),
        (
            "euclidean",
            lambda m: m["parameters"].update(n_jobs=10**6),
            "its n_jobs is of the wrong kind or out of range",
        ),
        ("euclidean", lambda m: m["parameters"].update(cleverness=1), "which this version does not know"),
        ("euclidean", lambda m: m["parameters"].update(false_alarm_rate=1.0), "its false_alarm_rate is of"),
        ("euclidean", lambda m: m["parameters"].update(eta={"dict": []}), "its eta is of"),
        ("euclidean", lambda m: m["parameters"].update(beta={"float": "nan"}), "its beta is of"),
        ("euclidean", lambda m: m["parameters"].update(gamma=0), "its gamma is of"),
        ("euclidean", lambda m: m["parameters"].update(validation_fraction="0.1"), "its validation_fraction is of"),
        ("euclidean", lambda m: m["parameters"].update(synthesis="magic"), "its synthesis is of"),
        ("euclidean", lambda m: m["parameters"].update(performance=3), "its performance is of"),
        ("euclidean", lambda m: m["parameters"].update(extent={"function": "f1"}), "its extent is of"),
        ("euclidean", lambda m: m["parameters"].update(representative=[]), "its representative is of"),
        ("euclidean", lambda m: m["parameters"].update(search="luck"), "its search is of"),
        ("euclidean", lambda m: m["parameters"].update(weights=["a"]), "its weights is of"),
        ("euclidean", lambda m: m["parameters"].update(random_state=-1), "its random_state is of"),
        ("euclidean", lambda m: m["parameters"].update(random_state={"decimal": "1E+999999999"}), "no decimal"),
        ("euclidean", lambda m: m["parameters"].update(verbose=1), "its verbose is of"),
        ("euclidean", lambda m: m["parameters"].update(membership_function=10**9), "its membership_function is of"),
        ("euclidean", lambda m: m["parameters"].update(tconorm={"integer": "f" * 10**6}), "at most 1000 hexadecimal"),
        ("euclidean", lambda m: m["parameters"].update(tconorm=10**30), "integer beyond 2^53 must be written as text"),
        ("euclidean", lambda m: m["parameters"].pop("eta"), "its eta is of"),
        ("euclidean", lambda m: m["parameters"].update(n_jobs=note("n_jobs")), "its n_jobs is of"),
        ("euclidean", lambda m: m["parameters"].update(search=note("extent")), "its search is of"),
        ("euclidean", lambda m: m["fitted"].update(threshold=0.5), "the border is not that of the calibration"),
        ("euclidean", lambda m: m["parameters"].update(resolution="single"), "its resolution is not that of"),
        (
            "euclidean",
            lambda m: m["parameters"].update(resolution=note("resolution")),
            "its resolution is of the wrong",
        ),
        ("euclidean", lambda m: m["fitted"].update(others={"array": "labels"}), "is used twice"),
        ("euclidean", lambda m: m["fitted"].update(offset=0.5), "offset is not"),
        ("euclidean", lambda m: m["fitted"].update(entropy={"float": "nan"}), "entropy must be a finite number"),
        ("euclidean", lambda m: m["fitted"].update(raw_entropy={"float": "inf"}), "raw_entropy must be a finite"),
        ("euclidean", lambda m: m["fitted"].update(performance={"float": "inf"}), "performance must be a finite"),
        ("euclidean", lambda m: m["fitted"].update(first_score=None), "first_score must be null where"),
        ("euclidean", lambda m: m["schema"].update(n_features_in=5), "n_features_in is wrong"),
        ("euclidean", lambda m: m["schema"].update(n_regions=99), "its schema is not that of its arrays"),
        ("euclidean", lambda m: m["fitted"].update(tconorm={"function": "system"}), "unknown function 'system'"),
        ("euclidean", lambda m: m["fitted"].update(tconorm={"object": ["os.system", {}]}), "unknown class 'os.system'"),
        ("euclidean", lambda m: m["fitted"].pop("centres"), "the fitted values must be"),
        ("euclidean", lambda m: m.pop("fitted"), "the manifest has no fitted"),
        ("euclidean", lambda m: m.update(estimator="Pipeline"), "no classifier known here"),
        ("euclidean", lambda m: m["fitted"].update(labels={"array": "weights"}), "is used twice"),
    ],
)
def test_values_that_do_not_fit_are_refused(folder, measure, change, message):
    manifest, members = unpack(saved(folder, measure))
    change(manifest)
    assert message in refusal(folder, pack(manifest, members))


def test_arrays_are_what_numpy_reads_and_nothing_else():
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


@pytest.mark.parametrize("value", [object(), len, std_extent.__class__, 1j, np.array(["a"]), np.array([1j]), Table])
def test_other_values_are_refused(value):
    encoder = Encoder()
    with pytest.raises(UnwritableError, match="cannot be written"):
        encoder.encode([np.zeros(1), value], "x")
    assert encoder.arrays == {}


def test_what_is_nested_too_deep_is_refused():
    value = ()
    for _ in range(100):
        value = (value,)
    with pytest.raises(UnwritableError, match="nested deeper"):
        Encoder().encode(value, "x")
