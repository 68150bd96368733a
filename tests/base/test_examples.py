"""The examples run, and the pages made from them say what they print."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_choices_are_drawn_and_tabulated_as_their_page_shows(tmp_path, capsys):
    runpy.run_path(str(ROOT / "examples" / "choices.py"))["main"](tmp_path, resolution=40)
    page = (ROOT / "docs" / "research" / "choices.md").read_text()
    tables = capsys.readouterr().out.strip().split("\n\n")
    pictures = {path.name for path in tmp_path.glob("*.png")}
    assert len(pictures) == len(tables) == 4
    assert pictures == {part.split(")")[0] for part in page.split("](../images/")[1:]}
    assert [table for table in tables if table not in page] == []


@pytest.mark.parametrize("name", ["composite_records", "mixed_records", "part_numbers", "series"])
def test_examples_of_other_kinds_of_data_tell_what_they_found(name, capsys):
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    told = capsys.readouterr().out
    assert "AUC" in told
    assert "nan" not in told.split()
