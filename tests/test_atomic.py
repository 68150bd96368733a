import os
import stat
import subprocess
import sys
from contextlib import contextmanager

import pytest

from eocc.foundation import atomic
from eocc.foundation.atomic import drafted, remove_abandoned

WRITER = """
import sys
from pathlib import Path
from eocc.foundation.atomic import drafted

with drafted(Path(sys.argv[1])) as draft:
    draft.write_text("half")
    print(draft.name, flush=True)
    sys.stdin.readline()
    draft.write_text("whole")
"""


@contextmanager
def another_writer(path):
    """A process in the middle of writing a file, and its draft; killed in the end."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], **pipes) as process:
        try:
            yield process, path.parent / process.stdout.readline().strip()
        finally:
            process.kill()


def left_by(path, place, pid, token):
    draft = path.parent / f".{path.name}.{place}-{pid}-{token}-0123abcd.tmp{path.suffix}"
    draft.write_text("half")
    return draft


def write(path):
    with drafted(path) as draft:
        draft.write_text("whole")


def test_what_a_killed_writer_left_goes_with_the_next_write_and_not_before(tmp_path):
    path = tmp_path / "table [1].csv"
    with another_writer(path) as (_, draft):
        write(path)
        assert draft.read_text() == "half"
    assert draft.exists()
    write(tmp_path / "another.csv")
    assert draft.exists()
    write(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["another.csv", path.name]


def test_a_living_writer_is_not_disturbed(tmp_path):
    path = tmp_path / "table.csv"
    with another_writer(path) as (process, draft):
        write(path)
        remove_abandoned(path)
        process.communicate("go on\n")
        assert process.returncode == 0
        assert not draft.exists()
    assert path.read_text() == "whole"


def test_a_draft_behind_a_link_is_found(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "near.csv").symlink_to(tmp_path / "far" / "table.csv")
    with another_writer(tmp_path / "far" / "table.csv") as (_, draft):
        pass
    remove_abandoned(tmp_path / "near.csv")
    assert not draft.exists()


def test_the_same_pid_in_another_life_is_another_process(tmp_path):
    path = tmp_path / "table.csv"
    before = left_by(path, atomic._here(), os.getpid(), "ffffffff")
    own = left_by(path, atomic._here(), os.getpid(), atomic.TOKEN)
    remove_abandoned(path)
    assert not before.exists()
    assert own.exists()


def test_a_writer_elsewhere_is_given_a_day(tmp_path):
    path = tmp_path / "table.csv"
    draft = left_by(path, "00000000", 2, "ffffffff")
    now = draft.stat().st_mtime
    os.utime(draft, (now, now - 80_000))
    remove_abandoned(path)
    assert draft.exists()
    os.utime(draft, (now, now - 90_000))
    remove_abandoned(path)
    assert not draft.exists()


@pytest.mark.parametrize("name", [".table.csv.tmp", ".table.csv.swp", ".table.csv.0-1-2-3.tmp.csv"])
def test_files_of_other_programs_stay(name, tmp_path):
    (tmp_path / name).write_text("mine")
    os.utime(tmp_path / name, (0, 0))
    remove_abandoned(tmp_path / "table.csv")
    assert (tmp_path / name).exists()


def test_a_long_name_leaves_room_for_the_draft(tmp_path):
    path = tmp_path / ("表" * 80 + ".csv")
    write(path)
    assert path.read_text() == "whole"


def test_a_file_for_reading_only_is_replaced_and_stays_so(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("before")
    path.chmod(0o444)
    write(path)
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("whole", 0o444)


def test_the_file_is_on_the_disk_before_its_name_and_the_folder_after(tmp_path, monkeypatch):
    path, synced = tmp_path / "table.csv", []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append((os.fstat(file).st_ino, path.exists())))
    write(path)
    assert synced == [(path.stat().st_ino, False), (tmp_path.stat().st_ino, True)]


def test_a_folder_that_cannot_be_synced_does_not_matter(tmp_path, monkeypatch):
    def refuse(file):
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "fsync", refuse)
    write(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "whole"


def test_a_file_that_cannot_be_synced_does(tmp_path, monkeypatch):
    def refuse(file):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="Input/output"):
        write(tmp_path / "table.csv")
    assert list(tmp_path.iterdir()) == []
