import os
import stat
from pathlib import Path

import pytest

from eocc.base import atomic
from eocc.base.atomic import drafted


def left_by(path, seconds):
    """Leave a draft of a writer that was killed so many seconds ago."""
    draft = path.parent / f".{path.name}.0123456789abcdef.tmp{path.suffix}"
    draft.write_text("half")
    now = draft.stat().st_mtime
    os.utime(draft, (now, now - seconds))
    return draft


def write(path):
    with drafted(path) as draft:
        draft.write_text("whole")


def test_the_next_write_removes_drafts_that_are_a_day_old(tmp_path):
    path = tmp_path / "table [1].csv"
    draft = left_by(path, 80_000)
    write(path)
    assert draft.read_text() == "half"  # its writer may live
    left_by(path, 90_000)
    write(tmp_path / "another.csv")
    assert draft.exists()
    write(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["another.csv", path.name]


def test_a_draft_has_a_name_that_is_removed_later(tmp_path):
    path = tmp_path / "table.csv"
    with drafted(path) as draft:
        draft.write_text("whole")
        os.utime(draft, (0, 0))
        write(path)
        assert not draft.exists()
        draft.write_text("whole")


def test_a_draft_behind_a_link_is_found(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "near.csv").symlink_to(tmp_path / "far" / "table.csv")
    draft = left_by(tmp_path / "far" / "table.csv", 90_000)
    write(tmp_path / "near.csv")
    assert not draft.exists()


@pytest.mark.parametrize("name", [".table.csv.tmp", ".table.csv.swp", ".table.csv.0-1-2-3.tmp.csv"])
def test_files_of_other_programs_stay(name, tmp_path):
    (tmp_path / name).write_text("mine")
    os.utime(tmp_path / name, (0, 0))
    write(tmp_path / "table.csv")
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
