"""The commands of docs/start.md print what the page shows."""

import re
import shlex
from pathlib import Path

from eocc.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "start.md").read_text(encoding="utf-8")
CONSOLE = re.compile(r"```console\n\$ eocc (.*)\n([^`]*)```")
PASSING = re.compile(r"Note: compiling|.* (left|so far)$")  # on a slow machine, or the first time
SIZE = re.compile(r"\d+ kB")  # of a page, whose charts depend on the version of matplotlib


def test_the_commands_print_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    block = next(one for one in re.findall(r"```python\n([^`]*)```", PAGE) if "def pumps" in one)
    exec("\n".join(line[4:] for line in block.splitlines()), {})
    shown = CONSOLE.findall(PAGE)
    assert [command.split()[0] for command, _ in shown] == ["fit", "explain", "report"]
    for command, lines in shown:
        assert main(shlex.split(command)) == 0
        printed = capsys.readouterr()
        found = sorted(line for line in (printed.err + printed.out).splitlines() if not PASSING.match(line))
        assert SIZE.sub("", "\n".join(found).strip()) == SIZE.sub("", "\n".join(sorted(lines.splitlines())).strip())
