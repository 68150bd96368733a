"""Damage data files at random: each must be read, or raise a ValueError or OSError of one line.

``python benchmarks/fuzz_files.py [cases] [seed]`` runs 1,000 cases over all formats in turn. Every file is read as
training data, and scored with a model of its kind. A case with another outcome, or one that takes longer than LONGEST
seconds, is printed with its number. The same seed damages files in the same way. The exit status is 1 if there is one.
"""

import contextlib
import faulthandler
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
import openpyxl
import pyarrow
import pyarrow.parquet

from eocc import SurpriseClassifier
from eocc.formats.files.formats import open_files
from eocc.formats.files.rows import learn as learn_rows
from eocc.streaming.fit import source_of

LONGEST = 30  # seconds for one case; they take milliseconds
ODD = [
    b"", b"\n", b"\r", b"\r\n", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b'""', b",", b"\t", b";", b"NaN", b"inf",
    b"1e400", b"-1e-400", b"1_000", b"1,000", b"0x10", "٣".encode(), "é\u2028\u0000".encode(), b"\xc3", b"\xed\xa0\x80",
    b"9" * 5000,
    b"[" * 100_000, b"{", b"}", b"[]", b"{}", b"null", b"true", b'"\\ud800"', b'{"a": 1, "a": 2}', b"<!ENTITY a 'b'>",
    b"<", b">", b"&x;", b"2024-02-30", b"3/4/2031", b"31.12.9999 23:59",
    b"12%", "€5".encode(), b"1.234,5", b"0001-01-01", b"9999-12-31", b"yes", b"NA", b"[[1, 2], [3]]", b"[1, null]",
    b'{"nodes": [], "links": []}', b'{"nodes": [1], "links": [2]}', b'{"nodes": {}, "links": 3}', b"../../x.gxl",
    b"x" * 200_000, b"-", b"1" + b"0" * 308, b"1.7976931348623157e308",
]  # fmt: skip


def valid():
    """Return {suffix: bytes} of a small valid file of every format; formats of several kinds have several files."""
    rows = [{"load": k / 7, "state": "ab"[k % 2], "on": k % 3 == 0, "day": f"2024-01-{k + 1:02d}"} for k in range(12)]
    series = [[float(k), 2.5, -1.0] + [0.5] * (k % 3) for k in range(9)]
    graphs = [
        {"nodes": [{"id": i, "s": "CNO"[i % 3], "x": i / 3} for i in range(2 + k % 3)],
         "links": [{"source": 0, "target": 1, "v": k % 2}]} for k in range(9)
    ]  # fmt: skip
    loads, states = ([row[name] for row in rows] for name in ("load", "state"))
    coded = pyarrow.array(["x", "y"] * 6).dictionary_encode()
    table = pyarrow.table({"load": loads, "state": states, "n": [None, *range(11)], "c": coded})
    return {
        "numbers.csv": "\n".join(["a,b,c", *(f"{k},{k / 3},{-k}" for k in range(12))]).encode(),
        "records.csv": "\r\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]).encode(),
        "quoted.csv": b'a,"b, c"\r\n1,"two\nlines"\r\n2,"a ""q"""\r\n' + b'3,"x"\r\n4,y\r\n' * 4,
        "european.csv": "\n".join(
            ["load;cost;on;day", *(f"{k},5;€1.00{k},5;{'yes' if k % 2 else 'no'};{k + 1}.1.2031" for k in range(9))]
        ).encode(),
        "sheet.xlsx": _xlsx([list(rows[0]), *(list(row.values()) for row in rows)]),
        "numbers.tsv": "\n".join(["a\tb", *(f"{k}\t{k * k}" for k in range(12))]).encode(),
        "records.jsonl": "\n".join(map(json.dumps, rows)).encode(),
        "series.jsonl": "\n".join(map(json.dumps, series)).encode(),
        "tokens.jsonl": "\n".join(json.dumps(["a", "b", "c"][: k % 3 + 1]) for k in range(9)).encode(),
        "graphs.jsonl": "\n".join(map(json.dumps, graphs)).encode(),
        "array.json": json.dumps(series, indent=1).encode(),
        "words.txt": "\n".join(["oak", "elm", "ash tree", "é", "maple", "yew", "pine", "x" * 70]).encode(),
        "table.parquet": _parquet(table),
        "table.arrow": _arrow(table, pyarrow.ipc.new_file),
        "stream.arrow": _arrow(table, pyarrow.ipc.new_stream),
        "rows.npy": _npy(np.arange(36.0).reshape(12, 3) / 7),
        "one.gxl": _gxl(2).encode(),
        "graphs.zip": _zip({f"{k}.gxl": _gxl(k) for k in range(5)}),
    }


def _parquet(table):
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink, row_group_size=4)
    return sink.getvalue()


def _arrow(table, new):
    sink = io.BytesIO()
    with new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)
    return sink.getvalue()


def _xlsx(rows):
    book, sink = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(sink)
    return sink.getvalue()


def _npy(array):
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()


def _gxl(k):
    nodes = "\n".join(
        f'<node id="n{i}"><attr name="s"><string>{"CNO"[i % 3]}</string></attr>'
        f'<attr name="x"><float>{i / 3}</float></attr></node>'
        for i in range(2 + k)
    )
    return f'<gxl><graph edgemode="undirected">{nodes}<edge from="n0" to="n1"/></graph></gxl>'


def _zip(members):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return sink.getvalue()


def damaged(data, rng, others):
    """Return the bytes with one to four pieces changed, cut out, put in, doubled or swapped."""
    for _ in range(rng.choice([1, 1, 2, 4])):
        data = rng.choice(DAMAGES)(bytearray(data), rng, others)
    return bytes(data)


def _flip(data, rng, others):
    for _ in range(rng.randint(1, 5)):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def _cut(data, rng, others):
    place = rng.randrange(len(data) + 1)
    del data[place : place + rng.choice([1, 5, 50, len(data)])]
    return data


def _insert(data, rng, others):
    place = rng.randrange(len(data) + 1)
    data[place:place] = rng.choice([rng.choice(ODD), rng.randbytes(rng.randint(1, 9)), _unicode(rng)])
    return data


def _unicode(rng):
    return "".join(chr(rng.randrange(0xD800)) for _ in range(rng.randint(1, 6))).encode()


def _splice(data, rng, others):
    other = rng.choice(others)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _double_line(data, rng, others):
    lines = data.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return bytearray(b"\n".join(lines))


def _drop_line(data, rng, others):
    lines = data.split(b"\n")
    del lines[rng.randrange(len(lines))]
    return bytearray(b"\n".join(lines))


def _odd_value(data, rng, others):
    """Put something odd in the place of one value between delimiters."""
    marks = [k for k, byte in enumerate(data) if byte in b',\t\n:[]"']
    if len(marks) < 2:
        return data
    k = rng.randrange(len(marks) - 1)
    return data[: marks[k] + 1] + rng.choice(ODD) + data[marks[k + 1] :]


DAMAGES = (_flip, _cut, _insert, _splice, _double_line, _drop_line, _odd_value)


def write(folder, name, data):
    """Write a case."""
    path = folder / name
    path.write_bytes(data)
    return path


def models(folder, files):
    """Return, by name, a model fitted to each valid file."""
    fitted = {}
    for name, data in files.items():
        fitted[name] = SurpriseClassifier().fit(learn_rows(list(open_files([write(folder, name, data)])), name).X)
    return fitted


def outcome(read, path):
    """Return how reading a file ends: "read", the type of a permitted error, or what is wrong."""
    try:
        with _limited():
            read(path)
    except (ValueError, OSError) as error:
        text = str(error)
        return type(error).__name__ if text.isprintable() and 0 < len(text) < 1000 else f"BAD message {text[:200]!r}"
    except BaseException as error:  # whatever it is, it is not permitted
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"BAD {type(error).__name__}: {str(error)[:200]}"
    return "read"


class HangError(BaseException):
    """A case takes too long; not one of the permitted errors, so that nothing takes it for one."""


@contextlib.contextmanager
def _limited():
    def fail(*_):
        raise HangError

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def learn(path):
    learn_rows(list(open_files([path])), str(path))


def judge(classifier):
    def read(path):
        for part in source_of(path).parts(classifier._known_data, allows_gaps=True):
            classifier.score_samples(part.values)

    return read


def run(cases, seed, tell=lambda text: None):
    """Return the outcomes of that many damaged files, and the bad ones with their number and file."""
    files, counts, bad = valid(), Counter(), []
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        folder = Path(name)
        fitted = models(folder, files)
        for case in range(cases):
            rng = random.Random(f"{seed} {case}")
            kind = list(files)[case % len(files)]
            path = write(folder, kind, damaged(files[kind], rng, list(files.values())))
            for way, read in (("learn", learn), ("judge", judge(fitted[kind]))):
                ended = outcome(read, path)
                counts[f"{way}: {ended.split()[0]}"] += 1
                if ended.startswith("BAD"):
                    bad.append((case, kind, way, ended))
                    tell(f"case {case}, {kind}, {way}: {ended}")
    return counts, bad


def main():
    cases, seed = (int(text) for text in (*sys.argv[1:], *("1000", "0")[len(sys.argv) - 1 :]))
    faulthandler.enable()
    start = time.perf_counter()
    counts, bad = run(cases, seed, print)
    for ended, count in sorted(counts.items()):
        print(f"{count:7d}  {ended}")
    print(f"{cases} files in {time.perf_counter() - start:.0f} s, {len(bad)} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
