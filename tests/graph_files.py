"""Graph files to read, good and bad, and how to write them."""

import io
import signal
import zipfile
from contextlib import contextmanager

import pytest

from eocc.formats.archive import Limits
from eocc.formats.graphs.gxl import read_gxl

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE gxl SYSTEM "http://www.gupro.de/GXL/gxl-1.0.dtd">\n'
TRIANGLE = f"""{HEAD}<gxl xmlns:xlink="http://www.w3.org/1999/xlink"><graph id="g" edgemode="undirected">
<node id="_1"><attr name="symbol"><string>C  </string></attr><attr name="x"><float>3.5</float></attr></node>
<node id="_2"><attr name="symbol"><String>O &amp; H</String></attr><attr name="x"><double>-.25</double></attr></node>
<node id="_3"><attr name="symbol"><string/></attr></node>
<edge from="_1" to="_2"><attr name="valence"><Integer>1</Integer></attr><attr name="r"><bool>True</bool></attr></edge>
<edge from="_2" to="_3"><attr name="valence"><int>+2</int></attr></edge>
<edge from="_3" to="_1"><attr name="valence"><INT> -3
</INT></attr></edge>
</graph></gxl>
"""
SMALL = Limits(file_bytes=10_000, total_bytes=25_000, members=20)


def gxl(body, mode="undirected"):
    return f'<gxl><graph edgemode="{mode}">\n{body}\n</graph></gxl>'


def vertex(*values, identity="a"):
    return f'<node id="{identity}">' + "".join(f'<attr name="v">{value}</attr>' for value in values) + "</node>"


def vertices(*values):
    return "\n".join(vertex(value, identity=str(i)) for i, value in enumerate(values))


def read(text, **options):
    return read_gxl(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


def message_of(function, *arguments, **options):
    """The one line a ValueError says; other exceptions pass through and fail the test."""
    with pytest.raises(ValueError, match=r"\S") as caught:
        function(*arguments, **options)
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 500
    return text


def cxl(*entries):
    lines = "\n".join(f'<print file="{file}" class="{label}"/>' for file, label in entries)
    return f"<GraphCollection><set count='7' base='/etc'>\n{lines}\n</set></GraphCollection>"


def collection(split="train", label="a"):
    return {f"{split}.cxl": cxl(("1.gxl", label), ("2.gxl", "b")), "1.gxl": TRIANGLE, "2.gxl": gxl("")}


def write_zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def write_folder(path, members):
    for name, data in members.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@contextmanager
def within_a_minute():
    """Fail what hangs."""

    def fail(*_):
        raise AssertionError("the reader hangs")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def damaged(data, rng):
    """A few bytes changed, cut out or put in."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[place : place + rng.randint(1, 30)]
        elif kind == 2:
            data[place:place] = rng.choice([rng.randbytes(rng.randint(1, 9)), b"<", b"&x;", b"\x00", b"9" * 5000])
        else:
            del data[max(place, 1) :]
        data = data or bytearray(b" ")
    return bytes(data)


def outcome(function, argument):
    """What the argument gives; exceptions other than ValueError pass through and fail the test."""
    try:
        function(argument)
    except ValueError as error:
        return "error" if str(error).isprintable() else "error of several lines"
    return "graph"
