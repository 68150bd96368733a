"""One table, whatever it comes from: the same model file, and the same scores bit for bit."""

import datetime as dt
import gzip
import json
import zipfile
from itertools import pairwise

import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pyarrow.parquet
import pytest

from eocc import SurpriseClassifier, load
from eocc.cli import main
from eocc.streaming import fit_stream

N = 70


def texts():
    """Numbers, a decimal comma, a category, a truth value, a date, a moment, a time of day and a code, with gaps."""
    rng = np.random.default_rng(0)
    day = [dt.date(2031, 1, 1) + dt.timedelta(int(k)) for k in rng.integers(0, 300, N)]
    at = [dt.datetime(2031, 1, 1) + dt.timedelta(seconds=int(k)) for k in rng.integers(0, 10**7, N)]
    opens = [dt.time(int(hour), int(minute)) for hour, minute in rng.integers(0, (24, 60), (N, 2))]
    frame = pd.DataFrame({
        "load": [f"{x:.3f}".replace(".", ",") for x in rng.normal(size=N)],
        "count": rng.integers(0, 9, N).astype(str),
        "city": rng.choice(["Oslo", "Rome", "Bern"], N), "closed": rng.choice(["yes", "no"], N),
        "day": [str(one) for one in day], "at": [str(one) for one in at], "opens": [str(one) for one in opens],
        "zip": rng.choice(["01067", "80331", "00185"], N),
    }).astype(object)  # fmt: skip
    for k, name in enumerate(frame):
        frame.loc[[k, 20 + k], name] = None
    return frame


TEXT = texts()


def typed():
    frame = TEXT.copy()
    frame["load"] = [None if x is None else float(x.replace(",", ".")) for x in TEXT["load"]]
    frame["load"] = frame["load"].astype(float)
    frame["count"] = frame["count"].map(lambda x: None if x is None else int(x)).astype("Int64")
    frame["closed"] = frame["closed"].map({"yes": True, "no": False}).astype("boolean")
    frame["day"], frame["at"] = pd.to_datetime(frame["day"]), pd.to_datetime(frame["at"])
    frame["opens"] = [None if x is None else dt.time.fromisoformat(x) for x in TEXT["opens"]]
    return frame


def records(frame):
    return [{name: None if cell is pd.NaT or pd.isna(cell) else cell for name, cell in row.items()}
            for row in frame.astype(object).to_dict("records")]  # fmt: skip


def in_categories():
    return typed().assign(city=TEXT["city"].astype("category"), zip=TEXT["zip"].astype("category"))


def parts(frame, count):
    cuts = np.linspace(0, len(frame), count + 1).astype(int)
    return [frame[start:stop] for start, stop in pairwise(cuts)]


FRAMES = {
    "text of pandas": lambda: TEXT.astype("str").where(TEXT.notna()),
    "objects of pandas": lambda: TEXT,
    "types of pandas": typed,
    "categories of pandas": in_categories,
    "types of Arrow in pandas": lambda: pyarrow.Table.from_pandas(typed()).to_pandas(types_mapper=pd.ArrowDtype),
    "text of polars": lambda: pl.from_pandas(TEXT),
    "types of polars": lambda: pl.DataFrame(records(typed())),
    "text of Arrow": lambda: pyarrow.Table.from_pandas(TEXT),
    "types of Arrow": lambda: pyarrow.Table.from_pandas(typed()),
    "dicts of text": lambda: records(TEXT),
    "dicts of values": lambda: records(typed()),
}
FILES = {
    "a.csv": lambda path: TEXT.to_csv(path, index=False),
    "quoted.csv": lambda path: TEXT.to_csv(path, index=False, quoting=1, sep=";", na_rep="NA"),
    "a.tsv": lambda path: TEXT.to_csv(path, index=False, sep="\t", na_rep="n/a"),
    "a.csv.gz": lambda path: path.write_bytes(gzip.compress(TEXT.to_csv(index=False).encode())),
    "a.xlsx": lambda path: typed().assign(count=typed()["count"].astype(float)).to_excel(path, index=False),
    "a.parquet": lambda path: pyarrow.parquet.write_table(pyarrow.Table.from_pandas(typed()), path),
    "a.jsonl": lambda path: path.write_text("".join(json.dumps(row) + "\n" for row in records(TEXT))),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The bytes of the model file of the typed table, and the scores."""
    folder = tmp_path_factory.mktemp("expected")
    clf = SurpriseClassifier().fit(typed())
    clf.save(folder / "m.eocc")
    return (folder / "m.eocc").read_bytes(), clf.score_samples(typed()).tolist()


def manifest(data):
    """The bytes of a model file without its checksums, with decimal points."""
    start = data.index(b'{"format"')
    return json.loads(data[start : data.index(b"\n", start)].replace(b'"decimal":","', b'"decimal":"."'))


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != "manifest.json"}


def check(clf, expected, tmp_path):
    clf.n_jobs = None
    clf.save(tmp_path / "m.eocc")
    known, scores = expected
    found = (tmp_path / "m.eocc").read_bytes()
    (tmp_path / "known.eocc").write_bytes(known)
    assert manifest(found) == manifest(known)
    assert members(tmp_path / "m.eocc") == members(tmp_path / "known.eocc")
    in_text = [TEXT, pl.from_pandas(TEXT)] if clf.reading_.spelling.decimal == "," else []
    for X in (typed(), *in_text):  # a model of typed values does not know that text has decimal commas
        assert clf.score_samples(X).tolist() == scores


@pytest.mark.parametrize("name", FRAMES)
def test_frames_give_the_same_model(name, expected, tmp_path):
    check(SurpriseClassifier().fit(FRAMES[name]()), expected, tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_files_give_the_same_model(name, expected, tmp_path):
    FILES[name](tmp_path / name)
    assert main(["-q", "fit", str(tmp_path / name), "-o", str(tmp_path / "file.eocc")]) == 0
    check(load(tmp_path / "file.eocc"), expected, tmp_path)
    assert main(["-q", "score", str(tmp_path / "file.eocc"), str(tmp_path / name), "-o", str(tmp_path / "s.csv")]) == 0
    assert pd.read_csv(tmp_path / "s.csv")["score"].tolist() == pytest.approx(expected[1], rel=1e-15)


@pytest.mark.parametrize("frame", [TEXT, typed()], ids=["text", "types"])
def test_parts_and_partitions_give_the_same_model(frame, expected, tmp_path):
    check(fit_stream(SurpriseClassifier(), parts(frame, 7)), expected, tmp_path)
    spread = dask.dataframe.from_pandas(frame.assign(opens=TEXT["opens"]), npartitions=3)
    check(SurpriseClassifier().fit(spread), expected, tmp_path)


def test_several_files_give_the_same_model_as_one(expected, tmp_path):
    for k, part in enumerate(parts(TEXT, 3)):
        part.to_csv(tmp_path / f"2026-{k}.csv", index=False)
    for given in ([str(path) for path in sorted(tmp_path.glob("*.csv"))], [str(tmp_path / "2026-*.csv")]):
        assert main(["-q", "fit", *given, "-o", str(tmp_path / "file.eocc")]) == 0
        check(load(tmp_path / "file.eocc"), expected, tmp_path)


def test_what_a_typed_source_cannot_say():
    """An integer is a number, though a file would call 01067 a code: declare a category, or keep the text."""
    codes = pd.DataFrame({"zip": [1067, 80331] * 20, "load": np.arange(40) % 7 / 7})
    assert SurpriseClassifier().fit(codes).reading_.columns[0].kind == "number"
    as_text = codes.assign(zip=codes["zip"].map("{:05d}".format))
    assert SurpriseClassifier().fit(as_text).reading_.columns[0].kind == "text"
    assert SurpriseClassifier().fit(codes.astype({"zip": "category"})).reading_.columns[0].kind == "text"


@pytest.mark.parametrize(
    "make", [lambda f: f, lambda f: f.to_numpy().copy(), lambda f: np.asfortranarray(f.to_numpy().copy()), list]
)
def test_nothing_that_the_caller_does_later_changes_a_model(make, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=list("ab"))
    frame.loc[3, "a"] = np.nan
    if make is list:
        X = [rng.normal(size=5 + k % 3) for k in range(40)]
    else:
        X = make(frame.assign(c=["x", "y"] * 30) if make(frame) is frame else frame)
    clf = SurpriseClassifier().fit(X)
    new = [rng.normal(size=5)] if isinstance(X, list) else X[:4].copy()
    before = clf.score_samples(new).tolist()
    if isinstance(X, pd.DataFrame):
        X.loc[:, "a"] *= 1000
    elif isinstance(X, list):
        for series in X:
            series *= 1000
    else:
        X *= 1000
    assert clf.score_samples(new).tolist() == before
