import os
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from eocc.base import atomic
from eocc.base.atomic import drafted, remove_abandoned

WRITER = """
import sys
from pathlib import Path
from eocc.base.atomic import drafted

with drafted(Path(sys.argv[1])) as draft:
    draft.write_text("half")
    print(draft.name, flush=True)
    sys.stdin.readline()
    draft.write_text("whole")
"""


@contextmanager
def another_writer(path):
    """Yield a process that is writing a file, and its draft. The process is killed at the end."""
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


def test_the_next_write_removes_the_draft_of_a_killed_writer(tmp_path):
    path = tmp_path / "table [1].csv"
    with another_writer(path) as (_, draft):
        write(path)
        assert draft.read_text() == "half"
    assert draft.exists()
    write(tmp_path / "another.csv")
    assert draft.exists()
    write(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["another.csv", path.name]


def test_the_draft_of_a_living_writer_stays(tmp_path):
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


def test_a_draft_of_an_earlier_process_with_the_same_pid_is_removed(tmp_path):
    path = tmp_path / "table.csv"
    before = left_by(path, atomic._here(), os.getpid(), "ffffffff")
    own = left_by(path, atomic._here(), os.getpid(), atomic.TOKEN)
    remove_abandoned(path)
    assert not before.exists()
    assert own.exists()


def test_a_draft_of_another_machine_is_removed_after_a_day(tmp_path):
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


def test_a_long_name_works(tmp_path):
    path = tmp_path / ("表" * 80 + ".csv")
    write(path)
    assert path.read_text() == "whole"


def test_a_read_only_file_is_replaced_and_stays_read_only(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("before")
    path.chmod(0o444)
    write(path)
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("whole", 0o444)


def test_the_file_is_synced_before_it_is_renamed_and_the_folder_after(tmp_path, monkeypatch):
    path, synced = tmp_path / "table.csv", []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append((os.fstat(file).st_ino, path.exists())))
    write(path)
    assert synced == [(path.stat().st_ino, False), (tmp_path.stat().st_ino, True)]


def test_a_folder_that_cannot_be_synced_is_ignored(tmp_path, monkeypatch):
    def refuse(file):
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "fsync", refuse)
    write(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "whole"


def test_a_file_that_cannot_be_synced_raises(tmp_path, monkeypatch):
    def refuse(file):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="Input/output"):
        write(tmp_path / "table.csv")
    assert list(tmp_path.iterdir()) == []


def test_only_this_module_syncs_files():
    source = Path(atomic.__file__).parents[1]
    assert [path.name for path in source.rglob("*.py") if "fsync" in path.read_text()] == ["atomic.py"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux only")
def test_the_file_is_named_if_the_disk_is_full():
    named = atomic.naming(Path("table.csv"))
    with (
        pytest.raises(OSError, match=r"No space left on device: 'table\.csv'"),
        named,
        Path("/dev/full").open("w") as file,
    ):
        file.write("more")
    with pytest.raises(FileNotFoundError, match=r"other\.csv"), atomic.naming(Path("table.csv")):
        Path("other.csv").read_text()


def test_an_error_of_the_draft_names_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"table\.csv'$") as caught, drafted(tmp_path / "table.csv"):
        pass  # the draft is never written
    assert caught.value.filename == str(tmp_path / "table.csv")
