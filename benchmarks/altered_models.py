"""Small model files of all classifiers and measures, and ways to alter them as a hostile writer would.

A damage takes the bytes of a file and a random generator, and returns other bytes. `edit_numbers` and `edit_values`
raise a ModelFileError at once if the edited content gives no model.
"""

import contextlib
import copy
import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np

from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier, load, save
from eocc.classifiers import CLASSIFIERS
from eocc.formats.model_file import MAX_BYTES, document
from eocc.formats.model_file.container import array_bytes, array_from_bytes
from eocc.measures import DTW, Composite, Gower, LabelledGraph

ODD = [
    None, True, False, 0, 1, -1, 2, 3, 10**6, 2**31, 2**53, 2**63, 10**30, -(10**30), 0.0, -0.0, 0.5, -0.5, 1e308,
    -1e308, 5e-324, "", "a", "euclidean", "precomputed", "../x", "é\ud800", "x" * 1000, [], [None], [[]], [0, 0], {},
    {"float": "nan"}, {"float": "inf"}, {"integer": "0x" + "f" * 200}, {"integer": "zz"},
    {"integer": "f" * 5000}, {"tuple": []}, {"set": [[]]},
    {"dict": [[1, 2], [1, 3]]}, {"dict": [[[], 2]]}, {"array": "weights"}, {"array": "nowhere"}, {"array": 3},
    {"object": ["Unit", {}]}, {"object": ["os.system", {"command": "true"}]}, {"object": ["Gaussian", {}]},
    {"object": ["FittedJaccard", {}]}, {"function": "maximum"}, {"function": "eval"}, {"function": "std_extent"},
    {"passed": None}, {"passed": {"largest": 1.0}}, {"passed": {"parts": []}}, {"cells": [[2**39, 2**39], []]},
    {"datetime64": ["D", 1, 2**62]}, {"decimal": "1e999999999"}, {"decimal": "sNaN"}, {"timedelta": [10**12, 0, 0]},
    {"bytes": "0"}, {"patterns": [1, "a", None]}, {"patterns": {"arrays": {}}}, {"patterns": {"lists": {}}},
    {"patterns": {"dicts": {"count": 2**60, "entries": []}}}, {"patterns": {"objects": ["LabelledGraph", {}]}},
    {"not_saved": "Mine"}, {"a": 1, "b": 2},
]  # fmt: skip
ODD_NUMBERS = [np.nan, np.inf, -np.inf, -1.0, 0.0, 1.5, 1e308, -1e308, 5e-324, 2.0**53, 1e18]
ODD_INTEGERS = [-1, 0, 1, 2, 7, 8, 100, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63)]


def patterns():
    """Return (measure, training patterns, new patterns) for every kind of data."""
    rng = np.random.default_rng(0)
    rows, gap = rng.normal(size=(9, 3)), [np.nan, 0.0, 0.0]
    words = ["oak", "elm", "ash tree", "", "maple", "map", "elms", "yew", "x" * 140]
    x = rng.normal(size=9)
    graphs = [
        LabelledGraph(
            3, [[0, 1], [1, 2]][: k % 3], {"x": [0.5, k / 9, None], "s": ["C", "O", "C"], "t": [f"word {k}"] * 3},
            {"v": [1, 2][: k % 3]}, directed=True,
        )
        for k in range(9)
    ]  # fmt: skip
    tokens = [word.split() + list(word[:3]) for word in words]
    series = [rng.normal(size=(3 + k % 3, 2)) for k in range(9)]
    table = [{"a": float(k), "b": "xyz"[k % 3], "c": k % 2 == 0, "d": "SML"[k % 3]} for k in range(9)]
    table[4]["a"] = table[4]["b"] = None
    parts = [{"r": row, "w": word, "s": one} for row, word, one in zip(rows, words, series, strict=True)]
    return {
        "euclidean": ("euclidean", rows, rows[:2] + 0.5),
        "standardised": ("standardised", rows * [1.0, 1e3, 1e-3], rows[:2] + gap),
        "string-edit": ("string-edit", words, ["oaks", "é"]),
        "hamming": ("hamming", [f"{word:3.3}" for word in words], ["oak", "elk"]),
        "tokens": ("string-edit", tokens, [["oak"], []]),
        "jaccard": ("jaccard", tokens, [["oak"], []]),
        "cosine-bags": ("cosine-bags", tokens, [["oak", "oak", "o"], []]),
        "dtw": (DTW(band=0.5), series, [*series[:1], rng.normal(size=(9, 2))]),
        "one-channel": ("dtw", [one[:, 0] for one in series], [[1.0, 2.0]]),
        "tanimoto": ("tanimoto", rng.integers(0, 2, (9, 70)), rng.integers(0, 2, (2, 70))),
        "gower": (Gower(kinds={"d": ["S", "M", "L"]}), table, table[3:5]),
        "graph-edit": ("graph-edit", graphs, graphs[:2]),
        "precomputed": ("precomputed", np.abs(x[:, None] - x), np.abs(x[:2, None] - x - 0.1)),
        "composite": (Composite({"r": "euclidean", "w": "string-edit", "s": "dtw"}), parts, parts[2:4]),
    }


def models(folder):
    """Return, for every model, the bytes of its file and new patterns to score."""
    made, y = {}, np.repeat([1, -1], [6, 3])
    for number, (kind, (measure, training, new)) in enumerate(patterns().items()):
        rate = None if number % 3 else 0.2
        for name, clf, labels in (
            ("entropic", EntropicOneClassClassifier(search=None, extent="max"), None),
            ("validated", EntropicOneClassClassifier(search=None, synthesis="validation", validation_fraction=0.3), y),
            ("surprise", SurpriseClassifier(), None),
            ("regions", RegionClassifier(n_regions=2), None),
            ("labelled", SurpriseClassifier(), y),
        ):
            clf = clf.set_params(measure=measure, false_alarm_rate=rate).fit(training, labels)
            answered = {"": clf}
            if name == "surprise" and kind != "precomputed":
                answered[" taught"] = clf.teach(new[:1], [False])
            for suffix, model in answered.items():
                path = Path(folder) / f"{kind} {name}{suffix}.eocc"
                save(model, path)
                load(path).score_samples(new)
                made[path.stem] = path.read_bytes(), new
    return made


def unpack(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("manifest.json")), members


def pack(manifest, members):
    """Return a model file with the right checksums."""
    with contextlib.suppress(AttributeError, TypeError):  # the manifest itself may be damaged
        manifest["members"] = {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()
        }
    return pack_as_is(json.dumps(manifest).encode(), members)


def pack_as_is(manifest, members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in {"manifest.json": manifest, **members}.items():
            archive.writestr(name, data)
    return file.getvalue()


def flip_bytes(data, rng):
    damaged = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8, 100])):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    return bytes(damaged)


def cut(data, rng):
    start, stop = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    return rng.choice([data[:start], data[stop:], data[:start] + data[stop:], data + data[start:stop]])


def shuffle_members(data, rng):
    manifest, members = unpack(data)
    one, other = rng.choice(list(members)), rng.choice(list(members))
    what = rng.randrange(4)
    if what == 0:
        members[one], members[other] = members[other], members[one]
    elif what == 1:
        del members[one]
    elif what == 2:
        members[rng.choice(["../" + one, "/" + one, "new.npy", one.upper()])] = members[one]
    else:
        members[one] = members[other]
    return rng.choice([pack(manifest, members), pack_as_is(json.dumps(manifest).encode(), members)])


def places(document):
    """Return the paths to all values in a document, its own () first."""
    if not isinstance(document, dict | list):
        return [()]
    items = document.items() if isinstance(document, dict) else enumerate(document)
    return [(), *[(key, *place) for key, value in items for place in places(value)]]


def at(document, place):
    for key in place:
        document = document[key]
    return document


def mutate_manifest(data, rng):
    manifest, members = unpack(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        ways = [way for way in places(manifest) if way and way[0] != "members"]
        if not ways:
            break
        *rest, key = rng.choice(ways)
        holder, what = at(manifest, rest), rng.randrange(6)
        if what == 0:
            del holder[key]
        elif what == 1 and isinstance(holder[key], list) and holder[key]:
            holder[key].append(copy.deepcopy(rng.choice(holder[key])))
        elif what == 2:
            holder[key] = copy.deepcopy(at(manifest, rng.choice(ways)))
        elif what == 3 and isinstance(holder[key], int | float):
            holder[key] = rng.choice([-holder[key], holder[key] + 1, holder[key] * 1e9, 1 / (holder[key] or 1)])
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD))
    return pack(manifest, members)


def mutate_header(data, rng):
    manifest, members = unpack(data)
    name = rng.choice(list(members))
    array = members[name]
    old, new = rng.choice([
        (b"<f8", b"<i8"), (b"<i8", b"<f8"), (b"<f8", b">f8"), (b"<i8", b"<u8"), (b"|b1", b"|u1"), (b"<f8", b"|O8"),
        (b"False", b"True "), (b"(", b"(1, "), (b",)", b", 1)"), (b"(", b"(-"), (b", }", b" }"), (b"'shape", b"'shap"),
        (b"NUMPY\x01", b"NUMPY\x02"), (b"9", b"8"), (b"9", b"90"), (b"9", b"9" * 30), (b"(", b"(" * 200), (b"\n", b" "),
    ])  # fmt: skip
    members[name] = array[:128].replace(old, new, 1) + array[128:]
    return pack(manifest, members)


def mutate_array(data, rng):
    manifest, members = unpack(data)
    for _ in range(rng.choice([1, 1, 3])):
        name = rng.choice(list(members))
        array = np.load(io.BytesIO(members[name]), allow_pickle=False)  # a boolean may be neither 0 nor 1 by now
        what = rng.randrange(4)
        if array.size and what < 2:
            odd = ODD_NUMBERS if array.dtype.kind == "f" else ODD_INTEGERS if array.dtype.kind == "i" else [0, 1]
            array.flat[rng.randrange(array.size)] = rng.choice(odd)
        elif array.size and what == 2:
            raw = array.view(np.uint8).reshape(-1)
            raw[rng.randrange(raw.size)] = rng.randrange(256)
        else:
            array = rng.choice([array[:-1], array.T, array.ravel(), array[None], np.concatenate([array, array])])
        members[name] = array_bytes(array)
    return pack(manifest, members)


def edit_numbers(data, rng):
    """Scale, shift, reorder or equalise the numbers of one or several arrays; shapes stay as they are."""
    manifest, members = unpack(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        name = rng.choice(list(members))
        array = array_from_bytes(members[name])
        if array.size == 0:
            continue
        flat, kind, some = array.reshape(-1), array.dtype.kind, rng.sample(range(array.size), min(array.size, 3))
        what = rng.randrange(5)
        with np.errstate(all="ignore"):
            if what == 0 and kind == "f":
                flat *= 10.0 ** rng.choice([-320, -300, -160, -100, -20, -3, -1, 1, 3, 20, 100, 160, 300])
            elif what == 1:
                flat[:] = flat[rng.randrange(array.size)]
            elif what == 2:
                flat[:] = flat[np.random.default_rng(rng.randrange(10**6)).permutation(array.size)]
            elif what == 3:
                flat[some] = flat[some[0]]
            elif kind == "f":
                flat[some] = rng.choice([5e-324, 1e-308, 1e-100, 1e-12, 0.0, 0.5, 1.0, 1e12, 1e100, 1e300, -1e-9])
            elif kind == "i":
                flat[some] += rng.choice([-1, 1, 2, 1000, 6000])
        members[name] = array_bytes(array)
    return repaired(manifest, members)


def edit_values(data, rng):
    """Change single values of the manifest to others of the same type: names, numbers, flags, items of lists."""
    manifest, members = unpack(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        ways = [(part, *way) for part in ("fitted", "parameters") for way in places(manifest[part])]
        way = rng.choice([way for way in ways if not isinstance(at(manifest, way), dict)] or ways)
        *rest, key = way
        holder = at(manifest, rest)
        value = holder[key]
        alike = [other for other in (at(manifest, way) for way in ways) if type(other) is type(value)]
        if type(value) is float:
            holder[key] = rng.choice([value * 1e-300, value * 1e300, -value, 5e-324, 1e308, 0.0, 1.0, value + 1])
        elif type(value) is int:
            holder[key] = rng.choice([value + 1, value - 1, 2 * value, 6000, 2**31, 2**53, 0])
        elif type(value) is list and value:
            holder[key] = rng.choice([value[:-1], value + value[-1:], value[::-1], [value[0]] * len(value)])
        else:
            holder[key] = copy.deepcopy(rng.choice(alike))
    return repaired(manifest, members)


def repaired(manifest, members):
    """Return the file with the numbers that follow from others as a hostile writer would compute them."""
    arrays = {name.removesuffix(".npy"): array_from_bytes(data) for name, data in members.items()}
    with derived_numbers_in(manifest):
        document.assemble(Path("edited.eocc"), manifest, arrays, CLASSIFIERS, {}, MAX_BYTES)
    return pack(manifest, members)


@contextlib.contextmanager
def derived_numbers_in(manifest):
    """Write the numbers that loading computes into the manifest, instead of checks of those that are there."""
    kept = document.first_score, {kind: kind._restore_own for kind in CLASSIFIERS.values()}

    def set_offset(classifier, state):
        manifest["fitted"]["offset"] = state["offset"] = kept[1][type(classifier)](classifier, state)
        return state["offset"]

    def set_score(classifier, fitted):
        score = kept[0](classifier, fitted)
        manifest.update(first_score=score)
        return score

    document.first_score = set_score
    for kind in kept[1]:
        kind._restore_own = set_offset
    try:
        yield
    finally:
        document.first_score = kept[0]
        for kind, restore in kept[1].items():
            kind._restore_own = restore


DAMAGES = (
    flip_bytes, cut, shuffle_members, mutate_header, mutate_manifest, mutate_array, *[edit_numbers, edit_values] * 6,
)  # fmt: skip
