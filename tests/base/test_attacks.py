"""A small part of each attack in benchmarks/ that no other test runs."""

import subprocess
import sys
from pathlib import Path

import fuzz_commands
import fuzz_updates
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # what small odd data are warned of is not the question


def test_commands_on_hostile_tables_keep_their_promises():
    said = []
    assert sum(fuzz_commands.attack(3, 0, said.append).values()) > 20
    assert said == []


def test_updates_and_windows_of_random_tables_keep_their_promises():
    outcomes = [fuzz_updates.run_case(case, 0) for case in range(24)]
    assert [one for one in outcomes if fuzz_updates.is_bad(one)] == []


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_processes_killed_while_they_write_leave_whole_files():
    script = Path(fuzz_updates.__file__).with_name("kill.py")
    done = subprocess.run([sys.executable, script, "3", "0", "Saving", "Writing"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("2 processes killed")
