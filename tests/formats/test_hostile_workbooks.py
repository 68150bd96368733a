"""Workbooks that unpack to much or take long are read or refused in one line, within bounds of time and memory."""

import re
import subprocess
import sys

import pytest
from hostile_workbooks import KINDS, MOST_BYTES, in_process

from eocc.formats.files import binary
from eocc.formats.files.formats import open_files

READ = ("harmless.xlsx", "comment.xlsx", "dimension.xlsx", "many sheets.xlsx", "merged cells.xlsx", "deep.xlsx")
REFUSED = ("entities.xlsx", "shared entities.xlsx", "shared texts declared.xlsx", "far cell.xlsx", "repeated both.ods")


@pytest.mark.parametrize("kind", [*READ, *REFUSED, "repeated rows.ods", "entities.ods", "zeros.xls"])
def test_hostile_workbooks_take_little_memory(kind, tmp_path):
    path = tmp_path / kind
    path.write_bytes(KINDS[kind]())
    said, _, *peaks = in_process(path)
    assert not said.startswith("BAD")
    assert bool(re.fullmatch(r"\d+ rows", said)) == (kind in READ), said
    assert peaks[0] < MOST_BYTES


def test_a_workbook_that_takes_too_long_is_refused(tmp_path, monkeypatch):
    assert binary.SECONDS == 10
    monkeypatch.setattr(binary, "SECONDS", 1)
    path = tmp_path / "a.xlsx"
    path.write_bytes(KINDS["many large sheets.xlsx"]())
    with pytest.raises(ValueError, match=r"a\.xlsx: takes more than 1 seconds; save the sheet as \.csv"):
        list(open_files([path]))


def test_files_are_read_where_no_signal_ends_long_work():
    script = "import signal; del signal.SIGXCPU; import eocc.formats.files.binary"  # as on Windows
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).stderr == b""
