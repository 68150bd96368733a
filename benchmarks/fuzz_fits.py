"""Fit to data of every kind, then change the data in place: the model must not notice.

``python benchmarks/fuzz_fits.py [cases] [seed]`` fits 5,000 models to small data of all kinds in turn, with random
settings. Each fit must raise a ValueError of one line, or give a model that holds four promises:

- the fit and the answers leave the data as they are,
- scores are finite, and a row scores the same alone as in a batch and with another number of threads,
- after all data, labels, weights and the measure object are changed in place, the model gives the same decisions,
  scores, explanations and file,
- the file gives the same model again.

The number of every case that ends otherwise is printed, and the exit status is then 1. The same seed gives the same
cases.
"""

import copy
import datetime as dt
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import MutableMapping, MutableSet
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse

from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier, load
from eocc.measures import DTW, Composite, Gower, LabelledGraph
from eocc.measures.graphs import GraphEdit

N_ROWS, N_NEW = 24, 3
CLASSIFIERS = {
    "surprise": SurpriseClassifier,
    "regions": RegionClassifier,
    "entropic": lambda **settings: EntropicOneClassClassifier(search=None, **settings),
}


class Case:
    """Training data, new data, and all that the caller could change afterwards."""

    def __init__(self, X, new, owned=(), measure="auto"):
        self.X, self.new, self.measure = X, copy.deepcopy(new), measure
        self.owned = [X, *owned, measure]


def numbers(rng, n, scale=1.0):
    return np.round(rng.normal(size=(n, 4)) * scale + rng.integers(0, 2, (n, 1)) * 3, 3)


def laid_out(order, gaps=False, dtype=np.float64, step=1):
    """Return a maker of arrays in an order of memory, perhaps with gaps or as every second row of a larger array."""

    def make(rng, folder):
        whole = np.array(numbers(rng, (N_ROWS + N_NEW) * step), dtype=dtype, order=order)
        if gaps:
            whole[rng.random(whole.shape) < 0.1] = np.nan
            whole[:, 0] = np.arange(len(whole))
        rows = whole[::step]
        return Case(rows[:N_ROWS], rows[N_ROWS:], [whole])

    return make


def memmap(order, gaps=False):
    def make(rng, folder):
        case = laid_out(order, gaps)(rng, folder)
        path = Path(folder) / f"rows-{rng.integers(10**12)}.npy"
        mapped = np.lib.format.open_memmap(path, "w+", np.float64, case.X.shape, fortran_order=order == "F")
        mapped[:] = case.X
        return Case(mapped, case.new)

    return make


def columns(rng, n):
    """Return columns of every kind that a frame may hold, as lists."""
    day = dt.datetime(2031, 3, 3)
    return {
        "load": rng.normal(size=n).round(3).tolist(),
        "count": rng.integers(0, 5, n).tolist(),
        "state": [("on", "off", "idle")[k] for k in rng.integers(0, 3, n)],
        "new": (rng.random(n) < 0.5).tolist(),
        "when": [day + dt.timedelta(hours=int(k)) for k in rng.integers(0, 500, n)],
        "took": [dt.timedelta(seconds=int(k)) for k in rng.integers(0, 500, n)],
    }


def pandas_frame(dtype=None, numeric=False, from_array=False):
    """Return a maker of pandas frames with columns of every kind, or of numbers of one dtype, perhaps over an array."""

    def make(rng, folder):
        if numeric:
            values = numbers(rng, N_ROWS + N_NEW, 100.0)
            values = np.asfortranarray(values.astype(np.int64) if dtype in ("int64", "Int64") else values)
            frame = pd.DataFrame(values, columns=list("abcd"), copy=False) if from_array else None
            frame = pd.DataFrame(values, columns=list("abcd")).astype(dtype) if frame is None else frame
            return Case(frame.iloc[:N_ROWS], frame.iloc[N_ROWS:], [values, frame])
        frame = pd.DataFrame(columns(rng, N_ROWS + N_NEW))
        if dtype == "nullable":
            frame = frame.convert_dtypes()
        elif dtype == "arrow":
            frame = frame.convert_dtypes(dtype_backend="pyarrow")
        elif dtype == "category":
            frame["state"] = pd.Categorical(frame["state"], ["off", "idle", "on"], ordered=True)
        elif dtype == "object":
            frame = frame.astype(object)
        elif dtype == "gaps":
            frame = frame.mask(rng.random(frame.shape) < 0.1)
        return Case(frame.iloc[:N_ROWS].copy(deep=True), frame.iloc[N_ROWS:])

    return make


def arrow_over_numpy(as_polars=False):
    def make(rng, folder):
        arrays = [np.ascontiguousarray(column) for column in numbers(rng, N_ROWS + N_NEW).T]
        words = ["ab"[k] for k in rng.integers(0, 2, N_ROWS + N_NEW)]
        table = pa.table({**{f"c{k}": pa.array(array) for k, array in enumerate(arrays)}, "w": words})
        table = pl.from_arrow(table) if as_polars else table
        new = pl.DataFrame(table[N_ROWS:].to_dicts()) if as_polars else pa.Table.from_pylist(table[N_ROWS:].to_pylist())
        return Case(table[:N_ROWS], new, arrays)

    return make


def pandas_over_buffers(rng, folder):
    """Return a frame whose columns of all kinds lie over arrays and bytes that the caller can change."""
    n = N_ROWS + N_NEW
    numbers, integers, codes = (
        rng.normal(size=n).round(3),
        rng.integers(0, 99, n),
        rng.integers(0, 3, n).astype(np.int8),
    )
    gaps, text = rng.random(n) < 0.1, rng.choice(list(b"abc"), n).astype(np.uint8)
    places = pa.py_buffer(np.arange(n + 1, dtype=np.int32))
    texts = pa.StringArray.from_buffers(n, places, pa.py_buffer(text))
    frame = pd.DataFrame({
        "arrow": pd.arrays.ArrowExtensionArray(pa.array(numbers)),
        "nullable": pd.arrays.IntegerArray(integers, gaps, copy=False),
        "state": pd.Categorical.from_codes(codes, ["on", "off", "idle"]),
        "text": pd.arrays.ArrowExtensionArray(texts),
    })  # fmt: skip
    return Case(
        frame.iloc[:N_ROWS], frame.iloc[N_ROWS:], [one[:N_ROWS] for one in (numbers, integers, codes, gaps, text)]
    )


def sparse(rng, folder):
    whole = scipy.sparse.csr_matrix(np.maximum(numbers(rng, N_ROWS + N_NEW), 0))
    rows = whole[:N_ROWS]
    return Case(rows, whole[N_ROWS:], [rows.data])


def matrix(rng, folder):
    case = laid_out("C")(rng, folder)
    return Case(np.matrix(case.X, copy=False), case.new, [case.X])


def polars_over_numpy(rng, folder):
    values = np.asfortranarray(numbers(rng, N_ROWS + N_NEW))
    frame = pl.from_numpy(values, schema=list("abcd"))
    return Case(frame[:N_ROWS], pl.DataFrame(frame[N_ROWS:].to_dicts()), [values])


def polars_mixed(rng, folder):
    frame = pl.DataFrame(columns(rng, N_ROWS + N_NEW))
    return Case(frame[:N_ROWS], frame[N_ROWS:])


def records(rng, folder):
    known = columns(rng, N_ROWS + N_NEW)
    rows = [dict(zip(known, row, strict=True)) for row in zip(*known.values(), strict=True)]
    return Case(rows[:N_ROWS], rows[N_ROWS:])


def lists(rng, folder):
    rows = numbers(rng, N_ROWS + N_NEW).tolist()
    return Case(rows[:N_ROWS], rows[N_ROWS:])


def objects_2d(rng, folder):
    known = columns(rng, N_ROWS + N_NEW)
    cells = np.array(list(zip(known["load"], known["state"], known["new"], strict=True)), object)
    return Case(cells[:N_ROWS], cells[N_ROWS:], [cells])


def strings(rng, folder):
    words = ["".join("ab-"[k] for k in rng.integers(0, 3, rng.integers(1, 9))) for _ in range(N_ROWS + N_NEW)]
    return Case(words[:N_ROWS], words[N_ROWS:])


def string_array(rng, folder):
    words = np.array(strings(rng, folder).owned[0] + ["aa", "b-b", "ab"], object)
    return Case(words[:N_ROWS], words[N_ROWS:], [words])


def string_series(rng, folder):
    words = pd.Series(strings(rng, folder).owned[0])
    return Case(words, ["aa", "b-b", "ab"])


def tokens(rng, folder):
    rows = [[str(k) for k in rng.integers(0, 6, rng.integers(1, 6))] for _ in range(N_ROWS + N_NEW)]
    return Case(rows[:N_ROWS], rows[N_ROWS:])


def sets(rng, folder):
    rows = [{f"t{k}" for k in rng.integers(0, 6, 3)} for _ in range(N_ROWS + N_NEW)]
    return Case(rows[:N_ROWS], rows[N_ROWS:])


def bags(rng, folder):
    rows = [{f"t{k}": int(rng.integers(1, 4)) for k in rng.integers(0, 6, 3)} for _ in range(N_ROWS + N_NEW)]
    return Case([*rows[: N_ROWS - 1], {"rare": 1}], rows[N_ROWS:])


def series(as_list=False, measure="auto"):
    def make(rng, folder):
        rows = [np.cumsum(rng.normal(size=(int(rng.integers(3, 7)), 2)), axis=0) for _ in range(N_ROWS + N_NEW)]
        rows = [row.tolist() for row in rows] if as_list else rows
        return Case(rows[:N_ROWS], rows[N_ROWS:], measure=copy.deepcopy(measure))

    return make


def series_cube(rng, folder):
    cube = np.cumsum(rng.normal(size=(N_ROWS + N_NEW, 5, 2)), axis=1)
    return Case(cube[:N_ROWS], cube[N_ROWS:], [cube])


def networks(rng, folder):
    made = []
    for _ in range(N_ROWS + N_NEW):
        graph = nx.gnp_random_graph(int(rng.integers(2, 6)), 0.5, seed=int(rng.integers(10**6)))
        nx.set_node_attributes(graph, {node: float(rng.random()) for node in graph}, "x")
        nx.set_edge_attributes(graph, {edge: float(rng.random()) for edge in graph.edges}, "v")
        made.append(graph)
    return Case(made[:N_ROWS], made[N_ROWS:])


def labelled_graphs(measure=None):
    def make(rng, folder):
        made = []
        for _ in range(N_ROWS + N_NEW):
            n = int(rng.integers(2, 6))
            edges = np.array([[k, k + 1] for k in range(n - 1)])
            made.append(LabelledGraph(n, edges, {"x": rng.random(n).tolist(), "s": ["CN"[k % 2] for k in range(n)]}))
        return Case(
            made[:N_ROWS], made[N_ROWS:], measure=GraphEdit(vertex_kinds={"x": "number"}) if measure else "auto"
        )

    return make


def fingerprints(rng, folder):
    bits = rng.integers(0, 2, (N_ROWS + N_NEW, 20)).astype(np.uint8)
    return Case(bits[:N_ROWS], bits[N_ROWS:], [bits], "tanimoto")


def precomputed(rng, folder):
    x, new = rng.normal(size=N_ROWS), rng.normal(size=N_NEW)
    return Case(np.abs(x[:, None] - x), np.abs(new[:, None] - x), measure="precomputed")


def declared_gower(rng, folder):
    case = records(rng, folder)
    measure = Gower(kinds={"state": ["off", "idle", "on"]})
    return Case(case.X, case.new, [measure.kinds], measure)


def composite(rng, folder):
    rows, words, curves = numbers(rng, N_ROWS + N_NEW), strings(rng, folder), series()(rng, folder)
    texts = [*words.X, *words.new]
    parts = [
        {"r": row, "w": word, "s": one} for row, word, one in zip(rows, texts, [*curves.X, *curves.new], strict=True)
    ]
    measures = {"r": "euclidean", "w": "string-edit", "s": DTW(band=0.5)}
    return Case(parts[:N_ROWS], parts[N_ROWS:], [rows, measures], Composite(measures))


KINDS = {
    "C array": laid_out("C"),
    "C array with gaps": laid_out("C", gaps=True),
    "Fortran array": laid_out("F"),
    "Fortran array with gaps": laid_out("F", gaps=True),
    "every second row": laid_out("C", step=2),
    "every second row with gaps": laid_out("F", gaps=True, step=2),
    "float32 array": laid_out("C", dtype=np.float32),
    "integer array": laid_out("C", dtype=np.int64),
    "memmap": memmap("C"),
    "Fortran memmap": memmap("F"),
    "memmap with gaps": memmap("F", gaps=True),
    "array of objects": objects_2d,
    "matrix": matrix,
    "sparse matrix": sparse,
    "pandas float64": pandas_frame("float64", numeric=True),
    "pandas float32": pandas_frame("float32", numeric=True),
    "pandas int64": pandas_frame("int64", numeric=True),
    "pandas Int64": pandas_frame("Int64", numeric=True),
    "pandas Float64": pandas_frame("Float64", numeric=True),
    "pandas double[pyarrow]": pandas_frame("double[pyarrow]", numeric=True),
    "pandas over an array": pandas_frame("float64", numeric=True, from_array=True),
    "pandas over buffers": pandas_over_buffers,
    "pandas mixed": pandas_frame(),
    "pandas mixed with gaps": pandas_frame("gaps"),
    "pandas nullable": pandas_frame("nullable"),
    "pandas arrow": pandas_frame("arrow"),
    "pandas category": pandas_frame("category"),
    "pandas object": pandas_frame("object"),
    "polars over an array": polars_over_numpy,
    "polars over Arrow": arrow_over_numpy(as_polars=True),
    "polars mixed": polars_mixed,
    "Arrow over arrays": arrow_over_numpy(),
    "records": records,
    "lists": lists,
    "strings": strings,
    "array of strings": string_array,
    "series of strings": string_series,
    "tokens": tokens,
    "sets": sets,
    "bags": bags,
    "series": series(),
    "series as lists": series(as_list=True),
    "series with a band": series(measure=DTW(band=0.5)),
    "cube of series": series_cube,
    "networkx": networks,
    "graphs": labelled_graphs(),
    "graphs with kinds": labelled_graphs("graph-edit"),
    "fingerprints": fingerprints,
    "precomputed": precomputed,
    "declared kinds": declared_gower,
    "composite": composite,
}


def change(thing, seen):
    """Change an object and all that it holds in place, wherever that is possible."""
    if id(thing) in seen or isinstance(thing, str | bytes | int | float | type | None):
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        _change_array(thing, seen)
    elif isinstance(thing, pd.DataFrame | pd.Series):
        _change_pandas(thing)
    elif isinstance(thing, nx.Graph):
        thing.remove_edges_from(list(thing.edges)[1:])
        for node in thing:
            thing.nodes[node].update(x=0.5, more="yes")
    elif isinstance(thing, list):
        for item in thing:
            change(item, seen)
        thing.reverse()
        thing[1:] = [_other(item) for item in thing[1:]]
    elif isinstance(thing, MutableMapping):
        for item in list(thing.values()):
            change(item, seen)
        for key in thing:
            thing[key] = _other(thing[key])
    elif isinstance(thing, MutableSet):
        thing.clear()
        thing.add("changed")
    elif hasattr(thing, "__dataclass_fields__"):
        for value in list(vars(thing).values()):
            change(value, seen)


def _other(item):
    """Return another value of the same kind."""
    if isinstance(item, bool):
        return not item
    if isinstance(item, int | float):
        return 7 - 3 * item
    if isinstance(item, str):
        return item[::-1] + "zz"
    return item + dt.timedelta(days=400) if isinstance(item, dt.datetime | dt.timedelta) else item


def _change_array(array, seen):
    if array.dtype == object:
        for item in array.ravel().tolist():
            change(item, seen)
    if not array.flags.writeable:
        return
    if array.dtype == object:
        array[...] = np.array([_other(item) for item in array.ravel().tolist()], object).reshape(array.shape)
    elif array.dtype.kind in "fiu" and array.dtype.itemsize > 1:  # shorter ones may be codes or letters
        array[...] = (array[::-1] * 3 + 7).astype(array.dtype)
    else:
        array[...] = array[::-1].copy()


def _change_pandas(frame):
    for column in range(frame.shape[1]) if frame.ndim == 2 else [None]:
        for k in range(len(frame)):
            place = k if column is None else (k, column)
            frame.iloc[place] = frame.iloc[-1 if column is None else (-1, column)]


def fingerprint(thing):
    """Return the content of an object as text, to see whether it changed."""
    thing = thing.toarray() if scipy.sparse.issparse(thing) else thing
    if isinstance(thing, np.ndarray):
        return repr(thing.tolist())
    if isinstance(thing, nx.Graph):
        return repr((sorted(thing.nodes(data=True)), sorted(thing.edges(data=True))))
    if isinstance(thing, pd.DataFrame):
        return repr(thing.to_dict("list"))
    if isinstance(thing, pl.DataFrame):
        return repr(thing.to_dict(as_series=False))
    if isinstance(thing, pa.Table):
        return repr(thing.to_pydict())
    if isinstance(thing, pd.Series | list | tuple):
        return repr([fingerprint(item) for item in thing])
    if isinstance(thing, LabelledGraph | Composite | Gower | GraphEdit):
        return repr({name: fingerprint(value) for name, value in vars(thing).items()})
    return repr({key: fingerprint(thing[key]) for key in thing} if isinstance(thing, dict) else thing)


def answers(model, new, path):
    """Return what a model says about new rows, and its file without the parameters, which are the caller's."""
    model.save(path)
    again = load(path)
    said = [
        model.predict(new).tolist(), model.score_samples(new).tolist(), list(map(str, model.explain(new))),
        list(map(str, model.rules())), again.score_samples(new).tolist(), path.read_bytes(),
    ]  # fmt: skip
    assert said[1] == said[4], "the file gives other scores"
    return said


def check(case, clf, y, owned, path):
    """Raise an AssertionError if a model of this case breaks a promise."""
    before = fingerprint(case.X)
    model = clf.fit(case.X, y)
    first = answers(model, case.new, path)
    assert np.isfinite(first[1]).all(), "a score is not finite"
    alone = [model.score_samples(case.new[k : k + 1])[0] for k in range(N_NEW)]
    assert alone == first[1], "a row scores otherwise alone"
    assert fingerprint(case.X) == before, "the data changed"
    seen = {}
    for thing in (*case.owned, y, *owned):
        change(thing, seen)
    later = answers(model, case.new, path)
    names = ("decisions", "scores", "explanations", "rules", "scores of the file", "file")
    changed = [name for name, a, b in zip(names, first, later, strict=True) if a != b]
    assert not changed, f"changed with the data: {', '.join(changed)}"


def settings_of(rng, name, kind):
    """Return random settings of a classifier, labels, and what the caller owns of both."""
    settings, owned, y = {}, [], None
    settings["n_jobs"] = rng.choice([1, 2])
    settings["false_alarm_rate"] = rng.choice([None, 0.05, 0.2]) if name == "entropic" else rng.choice([0.05, 0.2])
    if rng.random() < 0.3 and name != "entropic":
        y = np.ones(N_ROWS, np.int64)
        y[-3:] = -1
        y = rng.choice([y, y.tolist(), pd.Series(y), y == 1])
    if rng.random() < 0.3 and kind in ("C array", "Fortran array", "memmap", "lists", "pandas float64"):
        settings["weights"] = rng.choice([np.array([1.0, 0.5, 0.2, 0.7]), [1.0, 0.5, 0.2, 0.7]])
        owned.append(settings["weights"])
    if rng.random() < 0.3 and name != "regions" and kind != "precomputed":
        settings["prototypes"] = rng.choice([5, 0.5, None])
    return settings, y, owned


def run_case(number, seed, folder, kind=None, name=None):
    """Return the kind, the classifier and how the case ended; "BAD ..." if a promise is broken."""
    rng = random.Random(f"{seed} {number}")
    kind = kind or list(KINDS)[number % len(KINDS)]
    name = name or rng.choice(list(CLASSIFIERS))
    settings, y, owned = settings_of(rng, name, kind)
    try:
        case = KINDS[kind](np.random.default_rng(rng.randrange(2**32)), folder)
        check(case, CLASSIFIERS[name](measure=case.measure, **settings), y, owned, Path(folder) / "model.eocc")
    except ValueError as error:
        text = str(error)
        return kind, name, "refused" if text.isprintable() and 20 < len(text) < 1000 else f"BAD message {text[:300]!r}"
    except Exception as error:
        return kind, name, f"BAD {type(error).__name__}: {str(error)[:300]}"
    return kind, name, "holds"


def run(cases, seed, tell=print):
    """Return how the cases ended, counted, and the bad ones."""
    counts, bad = Counter(), []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(cases):
            kind, name, ended = run_case(number, seed, folder)
            counts[name, ended.split()[0]] += 1
            if ended.startswith("BAD"):
                bad.append((number, kind, name, ended))
                tell(f"case {number}, {kind}, {name}: {ended}")
    return counts, bad


def main():
    words = sys.argv[1:]
    cases, seed = int(words[0]) if words else 5000, int(words[1]) if len(words) > 1 else 0
    started = time.perf_counter()
    counts, bad = run(cases, seed, lambda text: print(text, flush=True))
    for ended, count in sorted(counts.items()):
        print(f"{count:7d}  {' '.join(ended)}")
    print(f"{cases} fits in {time.perf_counter() - started:.0f} s, {len(bad)} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
