"""A model file as named bytes: a zip whose ``manifest.json`` lists every other member with its SHA-256."""

import hashlib
import json
import os
import stat
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from eocc.foundation.atomic import drafted
from eocc.foundation.printing import complaint, quoted
from eocc.io.archive import CHUNK, Collection, Limits, Zip

MANIFEST = "manifest.json"
FORMAT = 1
MEMBERS = 50_000
KEYS = {
    "format", "library", "library_version", "estimator", "parameters", "passed_at_load", "schema", "fitted", "members",
}  # fmt: skip
MANIFEST_SHARE = 16
# Bytes that Python takes, at most, for what begins with each of these characters of JSON: a file of brackets would take
# forty times its size.
ROOM = {b"{": 320, b"[": 110, b",": 90}
AGAIN = "copy the file again from where it came, or save the model again"


class ModelFileError(ValueError):
    """A file is no model that this version can load. The message is one line: the file, what is wrong, the remedy."""


def fault(path: Path, message: str, remedy: str = AGAIN) -> ModelFileError:
    r"""Return the error, on one line whatever the parts hold.

    >>> fault(Path("a.eocc"), "two\nlines", "save it again")
    ModelFileError('a.eocc: two?lines; save it again')
    """
    short = message if len(message) <= 300 else message[:297] + "..."
    return ModelFileError(str(complaint(str(path), None, f"{short}; {remedy}")))


def write_archive(path: str | os.PathLike[str], manifest: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    """Write a model file whole or not at all: beside its place first, then renamed over what was there."""
    with drafted(Path(path)) as draft, draft.open("xb") as file:
        _fill(file, manifest, members)
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(Path(os.path.realpath(path)).parent)


def _fill(file: IO[bytes], manifest: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    """Store the members without compression and without a date: the same model gives the same bytes everywhere."""
    listed = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()}
    text = json.dumps({**manifest, "members": listed}, allow_nan=False, separators=(",", ":")) + "\n"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in {MANIFEST: text.encode("ascii"), **members}.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data)


def _sync_folder(folder: Path) -> None:
    """Have the new name on disk too, where the system can do that for a folder."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_archive(path: Path, max_bytes: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the other members, every one as its checksum says."""
    if not path.exists():
        raise FileNotFoundError(f"no file {str(path)!r}")
    if not path.is_file():
        raise fault(path, "is not a regular file", "name a model file")
    _check_start(path)
    try:
        archive = _Stored(path, Limits(max_bytes, max_bytes, MEMBERS))
    except ModelFileError:
        raise
    except ValueError as error:
        raise _refused(path, error) from None
    try:
        manifest = _manifest(path, archive, max_bytes)
        return manifest, _members(path, archive, manifest)
    finally:
        archive.close()


def _check_start(path: Path) -> None:
    """Tell what was never a model file from one that was damaged."""
    with path.open("rb") as file:
        start = file.read(2)
    if not start:
        raise fault(path, "is empty")
    if start != b"PK":
        raise fault(path, "is no model file", "eocc.save and `eocc fit` write one")


class _Stored(Zip):
    """A zip as save writes it: nothing compressed, so that a small file cannot become a large one."""

    def _check_members(self, members: list[zipfile.ZipInfo]) -> None:
        super()._check_members(members)
        for member in members:
            if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
                what = f"member {quoted(member.filename)} is compressed, or declares two sizes"
                raise fault(self.path, what, "pack it again without compression (zip -0), or save the model again")
        if sum(member.file_size for member in members) > self.path.stat().st_size:
            raise fault(self.path, "declares members of more bytes than the file has")


def _refused(path: Path, error: ValueError) -> ModelFileError:
    message = str(error).removeprefix(f"{path}: ").removeprefix(str(path))
    is_size = "limit" in message and message.endswith("bytes")
    return fault(path, message.lstrip("/\\"), "pass a larger max_bytes if you trust the file" if is_size else AGAIN)


def _manifest(path: Path, archive: Collection, max_bytes: int) -> dict[str, Any]:
    if MANIFEST not in archive.names:
        raise fault(path, f"has no {MANIFEST}: it is no model file", "name a file written by save")
    text, most = bytearray(), max(max_bytes // MANIFEST_SHARE, CHUNK)
    try:
        for chunk in archive.chunks(MANIFEST):
            text += chunk
            if len(text) > most:
                raise ValueError(f"{MANIFEST} is larger than the limit of {most} bytes")
        room = sum(text.count(mark) * size for mark, size in ROOM.items())
        if room > max_bytes:
            raise ValueError(f"{MANIFEST} would take {room} bytes, the limit is {max_bytes} bytes")
    except ValueError as error:
        raise _refused(path, error) from None
    try:
        manifest = json.loads(bytes(text), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise fault(path, f"{MANIFEST} is not JSON: {str(error) or 'nested too deep'}") from None
    _check_format(path, manifest)
    return dict(manifest)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


def _check_format(path: Path, manifest: Any) -> None:
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if type(version) is not int or version < 1:
        raise fault(path, f"{MANIFEST} names no format: it is no model file", "name a file written by save")
    if version > FORMAT:
        by = str(manifest.get("library_version", "a later version"))[:40]
        raise fault(path, f"has format {version}, this eocc reads up to {FORMAT}", f"install eocc {by} or later")
    for key in manifest.keys() - KEYS:
        raise fault(path, f"{MANIFEST} holds {quoted(key)}, which format {FORMAT} does not know")


def _members(path: Path, archive: Collection, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    listed = manifest.get("members")
    if not isinstance(listed, dict) or set(listed) != archive.names - {MANIFEST}:
        raise fault(path, f"holds other members than its {MANIFEST} lists")
    members = {}
    for name, facts in listed.items():
        try:
            members[name] = archive.read(name)
        except ValueError as error:
            raise _refused(path, error) from None
        if not isinstance(facts, dict) or set(facts) != {"bytes", "sha256"} or facts["bytes"] != len(members[name]):
            raise fault(path, f"member {name[:60]!r} has {len(members[name])} bytes, not as many as {MANIFEST} says")
        if facts["sha256"] != hashlib.sha256(members[name]).hexdigest():
            raise fault(path, f"member {name[:60]!r} is not as its checksum says: the file was altered or damaged")
    return members
