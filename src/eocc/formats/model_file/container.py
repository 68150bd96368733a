"""A model file as named bytes: an uncompressed zip with a ``manifest.json`` that lists the other members."""

import hashlib
import json
import os
import stat
import struct
import zipfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from eocc.base.atomic import drafted
from eocc.base.printing import complaint, quoted
from eocc.formats.archive import CHUNK, Limits, Zip, is_hidden
from eocc.formats.strict_json import DECODER

MANIFEST = "manifest.json"
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
# The last record of a zip without a comment.
END_RECORD, END_MARK = 22, b"PK\5\6"
# Where a member tells the lengths of its name and of its extra fields.
LENGTHS = 26
BETWEEN = "has other bytes before or between its members, or members that overlap"
AGAIN = "copy the file again from where it came, or save the model again"
TRUSTED = "pass a larger max_bytes if you trust the file"
NAME_ONE = "name a file written by eocc.save or `eocc fit`"


class ModelFileError(ValueError):
    """A file is no model that this version can load. The message is one line: the file, what is wrong, what to do."""


def fault(path: Path, message: str, remedy: str = AGAIN) -> ModelFileError:
    """Return the error as one printable line."""
    short = message if len(message) <= 300 else message[:297] + "..."
    return ModelFileError(str(complaint(str(path), None, f"{short}; {remedy}")))


def write_container(path: str | os.PathLike[str], manifest: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    """Write a model file, whole or not at all, uncompressed and without a date: the same model gives the same bytes."""
    listed = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()}
    text = json.dumps({**manifest, "members": listed}, allow_nan=False, separators=(",", ":")) + "\n"
    with drafted(Path(path)) as draft, zipfile.ZipFile(draft, "x", zipfile.ZIP_STORED) as archive:
        for name, data in {MANIFEST: text.encode("ascii"), **members}.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data)


def read_container(path: Path, max_bytes: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the other members, each with the right checksum."""
    if not path.exists():
        raise FileNotFoundError(f"no file {str(path)!r}")
    if not path.is_file():
        raise fault(path, "is not a regular file", NAME_ONE)
    try:
        with closing(_Stored(path, Limits(max_bytes, max_bytes))) as archive:
            manifest = _manifest(path, archive, max_bytes)
            return manifest, _members(path, archive, manifest)
    except ModelFileError:
        raise
    except ValueError as error:  # of the archive
        message = str(error).removeprefix(f"{path}: ").removeprefix(str(path)).lstrip("/\\")
        is_size = "limit" in message and message.endswith("bytes")
        raise fault(path, message, TRUSTED if is_size else AGAIN) from None


class _Stored(Zip):
    """A zip as `save` writes it: not compressed, so that a small file cannot become large, and nothing around it."""

    def _check_file(self, file: IO[bytes]) -> None:
        """Distinguish a file that was never a model from a damaged one."""
        start = file.read(2)
        if not start:
            raise fault(self.path, "is empty")
        if start != b"PK":
            raise fault(self.path, "is no model file", NAME_ONE)
        file.seek(max(0, self.size - END_RECORD))
        end = file.read(END_RECORD)
        if not end.startswith(END_MARK) or not end.endswith(b"\0\0"):
            raise fault(self.path, "is cut off, or other bytes follow its end")

    def _check_members(self, members: list[zipfile.ZipInfo]) -> None:
        super()._check_members(members)
        for member in members:
            if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
                what = f"member {quoted(member.filename)} is compressed, or declares two sizes"
                raise fault(self.path, what, "pack it again without compression (zip -0), or save the model again")
            if is_hidden(member.filename):
                raise fault(self.path, f"holds the hidden file {quoted(member.filename)}")
        end = 0
        for member in sorted(members, key=lambda member: member.header_offset):
            if member.header_offset != end:
                raise fault(self.path, BETWEEN)
            self._file.seek(end + LENGTHS)
            name, extra = struct.unpack("<HH", self._file.read(4).ljust(4, b"\0"))
            end += LENGTHS + 4 + name + extra + member.file_size
        if end != self._archive.start_dir:
            raise fault(self.path, BETWEEN)


def _manifest(path: Path, archive: Zip, max_bytes: int) -> dict[str, Any]:
    if MANIFEST not in archive.names:
        raise fault(path, f"has no {MANIFEST}: it is no model file", NAME_ONE)
    text, most = bytearray(), max(max_bytes // 16, CHUNK)  # only a part of the limit
    for chunk in archive.chunks(MANIFEST):
        text += chunk
        if len(text) > most:
            raise ValueError(f"{MANIFEST} is larger than the limit of {most} bytes")
    room = sum(text.count(mark) * size for mark, size in ROOM.items())
    if room > max_bytes:
        raise ValueError(f"{MANIFEST} would take {room} bytes, the limit is {max_bytes} bytes")
    try:
        manifest = DECODER.decode(text.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise fault(path, f"{MANIFEST} is not JSON: {str(error) or 'nested too deep'}") from None
    _check_format(path, manifest)
    return dict(manifest)


def _check_format(path: Path, manifest: Any) -> None:
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


def _members(path: Path, archive: Zip, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    listed = manifest["members"]
    if not isinstance(listed, dict) or set(listed) != archive.names - {MANIFEST}:
        raise fault(path, f"holds other members than its {MANIFEST} lists")
    members = {}
    for name, facts in listed.items():
        data = members[name] = archive.read(name)
        if not isinstance(facts, dict) or set(facts) != {"bytes", "sha256"} or facts["bytes"] != len(data):
            raise fault(path, f"member {name[:60]!r} has {len(data)} bytes, not as many as {MANIFEST} says")
        if facts["sha256"] != hashlib.sha256(data).hexdigest():
            raise fault(path, f"member {name[:60]!r} does not match its checksum: the file was altered or damaged")
    return members
