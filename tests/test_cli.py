import re
import subprocess
import sys

import pytest

from eocc import __version__
from eocc.cli import main
from eocc.demo import DEMO_SETS


@pytest.mark.parametrize("name", DEMO_SETS)
def test_demo_tells_regions_decisions_memberships_and_auc(name, capsys):
    assert main(["demo", "--dataset", name]) == 0
    told = capsys.readouterr().out
    for word in ("Trained on", "region 1:", "accepted  rejected", "membership", "more normal"):
        assert word in told
    assert 0 <= float(re.search(r"AUC ([\d.]+):", told)[1]) <= 1


def test_demo_is_the_same_for_the_same_seed(capsys):
    told = [main(["demo", "--dataset", "iris", "--seed", "3"]) or capsys.readouterr().out for _ in range(2)]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--seed", "-4"], "'-4' is not an integer >= 0"),
        (["demo", "--dataset", "moon"], "choose from"),
        (["nothing"], "invalid choice: 'nothing'"),
        ([], "COMMAND"),
    ],
)
def test_mistakes_are_named_and_exit_with_2(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_version_and_module_entry():
    answer = subprocess.run([sys.executable, "-m", "eocc", "--version"], capture_output=True, text=True, check=True)
    assert answer.stdout == f"eocc {__version__}\n"
