"""Damage model files at random. Each must give a ModelFileError of one line, or a model that works.

``python benchmarks/fuzz_model_file.py [cases] [seed]`` runs 10,000 cases over the models of all measures. It prints the
number of every case that ends otherwise, and then exits with status 1. The same seed gives the same damage.
"""

import contextlib
import copy
import faulthandler
import hashlib
import io
import json
import random
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from eocc import EntropicOneClassClassifier, SurpriseClassifier, load, save
from eocc.io.model_file import ModelFileError
from eocc.measures import DTW, Composite, Gower, LabelledGraph

LONGEST = 30  # seconds for one case; most take milliseconds
# Events that no reader of plain data has a reason to cause.
FORBIDDEN = (
    "compile", "exec", "pickle.find_class", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn",
    "subprocess.Popen", "socket.connect", "ctypes.dlopen",
)  # fmt: skip
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
    rows, words = rng.normal(size=(9, 3)), ["oak", "elm", "ash tree", "", "maple", "map", "elms", "yew", "x" * 140]
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
    parts = [{"r": row, "w": word, "s": one} for row, word, one in zip(rows, words, series, strict=True)]
    return {
        "euclidean": ("euclidean", rows, rows[:2] + 0.5),
        "standardised": ("standardised", rows * [1.0, 1e3, 1e-3], rows[:2]),
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
    made = {}
    for number, (kind, (measure, training, new)) in enumerate(patterns().items()):
        for name, clf, y in (
            (f"{kind} entropic", EntropicOneClassClassifier(search=None, extent="max"), None),
            (f"{kind} surprise", SurpriseClassifier(), [1] * 6 + [-1] * 3 if number % 2 else None),
        ):
            path = Path(folder) / f"{name}.eocc"
            rate = None if number % 3 else 0.2
            save(clf.set_params(measure=measure, false_alarm_rate=rate).fit(training, y), path)
            load(path).score_samples(new)
            made[name] = path.read_bytes(), new
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


def places(document, place=()):
    """Yield the path to every value in a document."""
    yield place
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        yield from places(value, (*place, key))


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
        array = np.load(io.BytesIO(members[name]), allow_pickle=False)
        what = rng.randrange(4)
        if array.size and what < 2:
            odd = ODD_NUMBERS if array.dtype.kind == "f" else ODD_INTEGERS if array.dtype.kind == "i" else [0, 1]
            array.flat[rng.randrange(array.size)] = rng.choice(odd)
        elif array.size and what == 2:
            raw = array.view(np.uint8).reshape(-1)
            raw[rng.randrange(raw.size)] = rng.randrange(256)
        else:
            array = rng.choice([array[:-1], array.T, array.ravel(), array[None], np.concatenate([array, array])])
        file = io.BytesIO()
        np.save(file, np.ascontiguousarray(array))
        members[name] = file.getvalue()
    return pack(manifest, members)


DAMAGES = (
    flip_bytes,
    cut,
    shuffle_members,
    mutate_manifest,
    mutate_manifest,
    mutate_header,
    mutate_array,
    mutate_array,
)


def outcome(path, new):
    """Return what became of a file; raise what should not happen."""
    try:
        model = load(path)
    except ModelFileError as error:
        if not (str(error).startswith(f"{path}: ") and str(error).isprintable()):
            raise AssertionError(f"not one line that names the file: {error!r}") from error
        return "refused"
    try:
        scores = [model.score_samples(new), model.decision_function(new)]
    except ValueError:
        return "refuses the new patterns"  # the damaged model has other columns
    assert np.isfinite(scores).all()
    return "works"


class Watch:
    """Counts forbidden events inside a `with` block. An audit hook cannot be removed."""

    def __init__(self):
        self.seen, self.listens = Counter(), False
        sys.addaudithook(self.note)

    def note(self, event, args):
        if self.listens and event in FORBIDDEN:
            self.seen[event] += 1

    def __enter__(self):
        self.listens = True

    def __exit__(self, *error):
        self.listens = False


def alarm(seconds):
    """End the process if it hangs, on systems with alarms."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def fuzz(n_cases, seed, folder, watch=contextlib.nullcontext(), report=print):  # noqa: B008  (it has no state)
    """Return the outcomes of the cases, counted, and the cases that failed."""
    made, fates, failures = models(folder), Counter(), []
    path = Path(folder) / "damaged.eocc"
    for case in range(n_cases):
        rng = random.Random(seed * 10**9 + case)
        name = list(made)[case % len(made)]
        damage = rng.choice(DAMAGES)
        path.write_bytes(damage(made[name][0], rng))
        alarm(LONGEST)
        try:
            with watch:
                fate = outcome(path, made[name][1])
        except Exception as error:
            failures.append((case, name, damage.__name__, f"{type(error).__name__}: {error}"))
            report(*failures[-1])
            fate = "failed"
        alarm(0)
        fates[damage.__name__, fate] += 1
    return fates, failures


def main():
    words = sys.argv[1:]
    n_cases = int(words[0]) if words else 10_000
    seed = int(words[1]) if len(words) > 1 else 0
    faulthandler.enable()
    if hasattr(signal, "SIGALRM"):
        faulthandler.register(signal.SIGALRM, chain=True)  # shows where it hangs, then ends the script
    warnings.simplefilter("error")
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        fuzz(200, seed + 1, folder, report=lambda *_: None)  # compiles and imports all that is needed
        watch = Watch()
        fates, failures = fuzz(n_cases, seed, folder, watch)
    for (damage, fate), count in sorted(fates.items()):
        print(f"{damage:16} {fate:26} {count}")
    seconds = time.perf_counter() - started
    print(f"{n_cases} cases in {seconds:.0f} s, {len(failures)} failed; code run: {dict(watch.seen)}")
    return 1 if failures or watch.seen else 0


if __name__ == "__main__":
    sys.exit(main())
