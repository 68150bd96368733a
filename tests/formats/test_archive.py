"""Folders and zip files from untrusted sources."""

import os
import random
import struct
import tracemalloc
import zipfile
import zlib
from dataclasses import replace

import pytest

from eocc.formats.archive import SAFE, Collection
from eocc.formats.graphs.gxl import read_graph_set
from graph_files import (
    SMALL,
    TRIANGLE,
    collection,
    cxl,
    damaged,
    gxl,
    message_of,
    outcome,
    read,
    within_a_minute,
    write_folder,
    write_zip,
)


@pytest.fixture(params=[write_zip, write_folder], ids=["zip", "folder"])
def write(request, tmp_path):
    return lambda members: request.param(tmp_path / "set.zip", members)


@pytest.mark.parametrize("name", ["../secret.gxl", "x/../../secret.gxl", "/etc/passwd", "C:\\x.gxl", "..\\secret.gxl"])
def test_an_index_that_leads_out_is_refused(name, write, tmp_path):
    (tmp_path / "secret.gxl").write_text(TRIANGLE)
    members = {"train.cxl": cxl((name, "a"))}
    assert "leads out of the collection" in message_of(read_graph_set, write(members))


@pytest.mark.parametrize("name", ["../x.gxl", "/x.gxl", "a/../../x.gxl", "C:x.gxl"])
def test_archives_with_members_that_lead_out_are_refused(name, tmp_path):
    path = write_zip(tmp_path / "a.zip", collection() | {name: TRIANGLE})
    assert "leads out of the archive" in message_of(read_graph_set, path)


def test_links_in_archives_are_refused(tmp_path):
    path = write_zip(tmp_path / "a.zip", collection())
    link = zipfile.ZipInfo("3.gxl")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    assert "'3.gxl' is a link or a device" in message_of(read_graph_set, path)


def test_links_out_of_a_folder_are_refused(tmp_path):
    path = write_folder(tmp_path / "set", collection())
    (tmp_path / "secret.gxl").write_text(TRIANGLE)
    (path / "2.gxl").unlink()
    (path / "2.gxl").symlink_to(path / "1.gxl")
    assert read_graph_set(path).graphs[1].n_vertices == 3
    (path / "2.gxl").unlink()
    (path / "2.gxl").symlink_to(tmp_path / "secret.gxl")
    assert "2.gxl: cannot be read: the link leads out" in message_of(read_graph_set, path)


def test_members_of_one_name_are_refused(tmp_path):
    path = write_zip(tmp_path / "a.zip", collection())
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("1.gxl", TRIANGLE)
    assert "'1.gxl' appears twice" in message_of(read_graph_set, path)


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(write):
    path = write(collection() | {"2.gxl": gxl(" " * 50_000)})
    assert "2.gxl: is larger than the limit of 10000 bytes" in message_of(read_graph_set, path, limits=SMALL)


def test_the_default_limits_refuse_large_members(tmp_path):
    path = write_zip(tmp_path / "a.zip", collection() | {"2.gxl": b" " * (2**26 + 1)})
    assert path.stat().st_size < 100_000
    assert f"limit of {2**26} bytes" in message_of(read_graph_set, path)


def test_many_small_members_are_refused_together(write):
    members = {f"{i}.gxl": gxl(" " * 9_000) for i in range(3)}
    path = write(members | {"train.cxl": cxl(*((name, "a") for name in members))})
    assert "set.zip: holds more than the limit of 25000 bytes" in message_of(read_graph_set, path, limits=SMALL)


def test_too_many_members_are_refused(write):
    path = write(collection() | {f"{i}.txt": "" for i in range(20)})
    assert "more than the limit of 20 files" in message_of(read_graph_set, path, limits=SMALL)


def test_the_directory_of_an_archive_is_not_read_if_it_is_too_long(tmp_path):
    path = write_zip(tmp_path / "a.zip", {f"{i}.txt": "" for i in range(2_000)})
    limits = replace(SMALL, total_bytes=2**20)
    assert "holds more than the limit of 20 files" in message_of(read_graph_set, path, limits=limits)
    assert "larger than the limit of 25000 bytes" in message_of(read_graph_set, path, limits=SMALL)


def test_a_zip_is_not_read_into_memory(tmp_path):
    path = write_zip(tmp_path / "a.zip", {f"{i}.gxl": os.urandom(2**20) for i in range(12)})
    tracemalloc.start()
    names = Collection(path, SAFE).names
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(names), peak < 2**22) == (12, True)


@pytest.mark.parametrize(("declared", "summed"), [(300, 300), (300, 301), (9_000, 20), (2**31, 20)])
def test_members_with_other_sizes_than_declared_are_refused(declared, summed, tmp_path):
    text = gxl(" " * 2_000).encode()
    data = bytearray(write_zip(tmp_path / "a.zip", {"train.cxl": cxl(("1.gxl", "a")), "1.gxl": text}).read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, entry + 24, declared)
    struct.pack_into("<I", data, entry + 16, zlib.crc32(text[:summed] if declared < len(text) else text))
    (tmp_path / "a.zip").write_bytes(data)
    assert "1.gxl: " in message_of(read_graph_set, tmp_path / "a.zip")


@pytest.mark.parametrize(
    ("offset", "value", "words"),
    [(8, 1, "encrypted"), (10, 12, "neither stored nor deflated"), (10, 99, "neither stored"), (16, 7, "CRC")],
)
def test_unreadable_members_say_why(offset, value, words, tmp_path):
    data = bytearray(write_zip(tmp_path / "a.zip", collection()).read_bytes())
    struct.pack_into("<H", data, data.rindex(b"PK\x01\x02") + offset, value)
    (tmp_path / "a.zip").write_bytes(data)
    assert words in message_of(read_graph_set, tmp_path / "a.zip")


def test_other_files_say_that_they_are_no_archive(tmp_path):
    (tmp_path / "a.zip").write_text("no archive")
    assert "a.zip: cannot be read: File is not a zip file" in message_of(read_graph_set, tmp_path / "a.zip")


def test_damaged_files_read_or_say_why():
    rng = random.Random(0)
    with within_a_minute():
        results = {outcome(read, damaged(TRIANGLE.encode(), rng)) for _ in range(300)}
    assert results == {"graph", "error"}


def test_damaged_archives_read_or_say_why(tmp_path):
    rng = random.Random(1)
    path = tmp_path / "a.zip"
    good = write_zip(path, collection()).read_bytes()

    def attempt(data):
        path.write_bytes(data)
        read_graph_set(path)

    with within_a_minute():
        results = {outcome(attempt, damaged(good, rng)) for _ in range(300)}
    assert results == {"graph", "error"}


def test_a_pipe_is_refused_at_once(tmp_path):
    path = write_folder(tmp_path / "set", collection())
    (path / "2.gxl").unlink()
    os.mkfifo(path / "2.gxl")
    with within_a_minute():
        assert "2.gxl: cannot be read: not a regular file" in message_of(read_graph_set, path)
