"""A model file as a manifest and named arrays: an uncompressed zip of a ``manifest.json`` and ``.npy`` files.

The arrays are of version 1.0: numbers and booleans in C order, never pickled.
"""

import hashlib
import io
import json
import math
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.base.atomic import drafted
from eocc.base.printing import complaint, quoted
from eocc.formats.archive import ENTRY_MARK, FAILURES, PLAIN, SAFE
from eocc.formats.strict_json import DECODER

Arrays = dict[str, NDArray[Any]]
MANIFEST, SUFFIX = "manifest.json", ".npy"
# Every change of what a file holds gets a number of its own, and stored files in the tests. 2: version 0.2. 3: what
# some files of format 2 lack is always there. 4: what leaves training rows out of the local scales of others.
FORMAT, OLDEST = 4, 2
KEYS = {
    "format", "library", "library_version", "estimator", "parameters", "passed_at_load", "fitted", "first_score",
    "members",
}  # fmt: skip
# The most memory, in bytes, that Python needs for what starts with each of these characters of JSON. A file of
# brackets would otherwise take forty times its size.
ROOM = {b"{": 320, b"[": 110, b",": 90, b":": 90}
# The last record of a zip without a comment, and the bytes before the name of a member: the last four of these are the
# lengths of its name and of its extra fields.
END_RECORD, END_MARK, HEAD = 22, b"PK\5\6", 30
BETWEEN = "has other bytes before or between its members, or members that overlap"
AGAIN = "copy the file again from where it came, or save the model again"
TRUSTED = "pass a larger max_bytes if you trust the file"
NAME_ONE = "name a file written by eocc.save or `eocc fit`"

MAGIC = b"\x93NUMPY\x01\x00"
# Little-endian on any machine, so that the same model gives the same bytes.
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
SHAPE = rb"\((|\d{1,15},|\d{1,15}(?:, \d{1,15}){1,7})\)"
HEADER = re.compile(rb"\{'descr': '([|<][biuf][1248])', 'fortran_order': False, 'shape': " + SHAPE + rb", \} *\n")


class ModelFileError(ValueError):
    """A file is no model that this version can load. The message is one line: the file, what is wrong, what to do."""


def fault(path: Path, message: str, remedy: str = AGAIN) -> ModelFileError:
    """Return the error as one printable line."""
    short = message if len(message) <= 300 else message[:297] + "..."
    return ModelFileError(str(complaint(str(path), None, f"{short}; {remedy}")))


def write_container(path: str | os.PathLike[str], manifest: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a model file, whole or not at all, uncompressed and without a date: the same model gives the same bytes."""
    members = {name + SUFFIX: array_bytes(array) for name, array in arrays.items()}
    listed = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()}
    text = json.dumps({**manifest, "members": listed}, allow_nan=False, separators=(",", ":")) + "\n"
    with drafted(Path(path)) as draft, zipfile.ZipFile(draft, "x", zipfile.ZIP_STORED) as archive:
        for name, data in {MANIFEST: text.encode("ascii"), **members}.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data)


def read_container(path: Path, max_bytes: int) -> tuple[dict[str, Any], Arrays]:
    """Return the manifest and the arrays, each with the right checksum."""
    members = _members(path, _content(path, max_bytes))
    if MANIFEST not in members:
        raise fault(path, f"has no {MANIFEST}: it is no model file", NAME_ONE)
    manifest, arrays = _manifest(path, bytes(members.pop(MANIFEST)), max_bytes), dict[str, NDArray[Any]]()
    listed = manifest["members"]
    if not isinstance(listed, dict) or set(listed) != set(members):
        raise fault(path, f"holds other members than its {MANIFEST} lists")
    for name, data in members.items():
        facts = listed[name]
        try:
            if not isinstance(facts, dict) or set(facts) != {"bytes", "sha256"} or facts["bytes"] != len(data):
                raise ValueError(f"has {len(data)} bytes, not as many as {MANIFEST} says")
            if facts["sha256"] != hashlib.sha256(data).hexdigest():
                raise ValueError("does not match its checksum: the file was altered or damaged")
            arrays[name.removesuffix(SUFFIX)] = array_from_bytes(data)
        except ValueError as error:
            raise fault(path, f"member {quoted(name)} {error}") from None
    return manifest, arrays


def _content(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a file that starts and ends as a zip does; one that never was a model has its own error."""
    if not path.exists():
        raise FileNotFoundError(f"no file {str(path)!r}")
    if not path.is_file():
        raise fault(path, "is not a regular file", NAME_ONE)
    if path.stat().st_size > max_bytes:
        raise fault(path, f"is larger than the limit of {max_bytes} bytes", TRUSTED)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise fault(path, f"cannot be read: {error.strerror}") from None
    if not data:
        raise fault(path, "is empty")
    if not data.startswith(b"PK"):
        raise fault(path, "is no model file", NAME_ONE)
    if not data[-END_RECORD:].startswith(END_MARK) or not data.endswith(b"\0\0"):
        raise fault(path, "is cut off, or other bytes follow its end")
    if data.count(ENTRY_MARK) > SAFE.members:  # the directory is read at once
        raise fault(path, f"holds more than the limit of {SAFE.members} files")
    return data


def _members(path: Path, data: bytes) -> dict[str, memoryview]:
    """Return the members of a zip as `save` writes it: not compressed, one after the other, nothing around them."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            listed, directory = archive.infolist(), archive.start_dir
    except FAILURES as error:
        raise fault(path, f"cannot be read: {str(error) or type(error).__name__}") from None
    found, end = dict[str, memoryview](), 0
    for member in sorted(listed, key=lambda member: member.header_offset):
        name, size = member.filename, member.file_size
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != size:
            what = f"member {quoted(name)} is compressed, or declares two sizes"
            raise fault(path, what, "pack it again without compression (zip -0), or save the model again")
        if member.flag_bits & 1 or stat.S_IFMT(member.external_attr >> 16) not in PLAIN:
            raise fault(path, f"member {quoted(name)} is encrypted, a link or a device")
        lengths = (int.from_bytes(data[place : place + 2], "little") for place in (end + HEAD - 4, end + HEAD - 2))
        start = end + HEAD + sum(lengths)
        if member.header_offset != end or start + size > directory:
            raise fault(path, BETWEEN)
        end = start + size
        if name in found:
            raise fault(path, f"member {quoted(name)} appears twice")
        found[name] = memoryview(data)[start:end]
        if zlib.crc32(found[name]) != member.CRC:
            raise fault(path, f"member {quoted(name)} was altered or damaged")
    if end != directory:
        raise fault(path, BETWEEN)
    return found


def _manifest(path: Path, text: bytes, max_bytes: int) -> dict[str, Any]:
    most = max(max_bytes // 16, 2**16)  # only a part of the limit
    if len(text) > most:
        raise fault(path, f"{MANIFEST} is larger than the limit of {most} bytes", TRUSTED)
    room = sum(text.count(mark) * size for mark, size in ROOM.items())
    if room > max_bytes:
        raise fault(path, f"{MANIFEST} would take {room} bytes, the limit is {max_bytes} bytes", TRUSTED)
    try:
        manifest = DECODER.decode(text.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise fault(path, f"{MANIFEST} is not JSON: {str(error) or 'nested too deep'}") from None
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if type(version) is not int or version < 1:
        raise fault(path, f"{MANIFEST} names no format: it is no model file", NAME_ONE)
    if version < OLDEST:
        remedy = "fit the model again with this version, or load it with eocc 0.1"
        raise fault(path, f"has format {version}, of the first version of eocc, which this one cannot read", remedy)
    if version > FORMAT:
        remedy = f"install eocc {str(manifest.get('library_version', 'a later version'))[:40]} or later"
        raise fault(path, f"has format {version}, this eocc reads formats {OLDEST} to {FORMAT}", remedy)
    for key in manifest.keys() ^ KEYS:
        what = "holds" if key in manifest else "lacks"
        raise fault(path, f"{MANIFEST} {what} {quoted(key)}, which is not format {version}")
    return dict(manifest)


def descr_of(array: NDArray[np.generic]) -> str | None:
    """Return the name of the dtype in the file, None if it cannot be written."""
    descr = array.dtype.newbyteorder("<").str
    return descr if descr in DTYPES else None


def array_bytes(array: NDArray[np.generic]) -> bytes:
    """Return the array as a ``.npy`` file. Its header does not depend on the version of numpy."""
    descr = descr_of(array)
    shape = f"({array.shape[0]},)" if array.ndim == 1 else str(tuple(map(int, array.shape)))
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    room = -(len(MAGIC) + 2 + len(header) + 1) % 64  # the data of a .npy file begin at a multiple of 64
    header += b" " * room + b"\n"
    return MAGIC + len(header).to_bytes(2, "little") + header + np.ascontiguousarray(array, descr).tobytes()


def array_from_bytes(data: bytes | memoryview) -> NDArray[np.generic]:
    """Return a new array from the bytes of a ``.npy`` file; a ValueError says what is wrong with them."""
    start = len(MAGIC) + 2
    stop = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header = HEADER.fullmatch(data[start:stop]) if data[: len(MAGIC)] == MAGIC else None
    if header is None or header[1].decode() not in DTYPES:
        raise ValueError("is not a .npy file of plain numbers, version 1.0 and in C order")
    shape = tuple(int(size) for size in header[2].decode().replace(",", " ").split())
    dtype = np.dtype(header[1].decode())
    if 0 in shape and max(shape) > 2**20:  # an array without entries could declare any length
        raise ValueError(f"declares an array of shape {shape} that holds nothing")
    if math.prod(shape) * dtype.itemsize != len(data) - stop:
        raise ValueError(f"holds {len(data) - stop} bytes of data, which is not an array of shape {shape}")
    if dtype.kind == "b" and (np.frombuffer(data, np.uint8, offset=stop) > 1).any():
        raise ValueError("holds a boolean that is neither 0 nor 1")
    # A copy, because kernels are compiled for writable arrays.
    return np.frombuffer(data, dtype, offset=stop).reshape(shape).astype(dtype.newbyteorder("="), copy=True)
