"""Text from files cannot control a terminal."""

import pytest

from eocc.cli import main
from terminals import on_terminal

RAW = "\x1b\x07\x9b\u202e\u2028"


@pytest.mark.parametrize(
    "command",
    [["score", "--format", "csv"], ["score", "--format", "table"], ["score", "--format", "json"],
     ["explain"], ["explain", "--format", "csv"]],
    ids=" ".join,
)  # fmt: skip
def test_commands_print_no_control_characters(command, tmp_path):
    kinds = ("a", "b\x1b]0;t\x07\x9b")
    rows = "".join(f"r\x1b[31m\x07\u202e{k},{k % 7 / 7},{kinds[k % 2]}\n" for k in range(40))
    data, model = tmp_path / "rows.csv", str(tmp_path / "m.eocc")
    data.write_text("name,x\u202e,kind\x1b\n" + rows, encoding="utf-8")
    assert main(["-q", "fit", str(data), "--id", "name", "-o", model]) == 0
    name, *options = command
    shown, code = on_terminal(main, ["-q", name, model, str(data), "--id", "name", *options])
    assert code == 0
    assert [letter for letter in RAW if letter in shown] == []
    assert "r?[31m??13" in shown or "\\u001b" in shown


def test_files_hold_the_text_as_it_is(tmp_path):
    data, model, out = tmp_path / "rows.csv", tmp_path / "m.eocc", tmp_path / "scores.csv"
    data.write_text("name,x\n" + "".join(f"r\x1b\u202e{k},{k % 7}\n" for k in range(40)), encoding="utf-8")
    assert main(["-q", "fit", str(data), "--id", "name", "-o", str(model)]) == 0
    assert main(["-q", "score", str(model), str(data), "--id", "name", "-o", str(out)]) == 0
    assert "r\x1b\u202e0," in out.read_text(encoding="utf-8")
