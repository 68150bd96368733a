"""The file of answers that ``eocc review`` writes, by its page or in the terminal, and ``eocc teach`` reads."""

import csv
from collections.abc import Iterable
from pathlib import Path

from eocc.cli.output import writing
from eocc.foundation.printing import quoted
from eocc.io.files import open_chunks
from eocc.report.review import HEAD, NORMAL, NOT_NORMAL

# The cells of a line by the names in HEAD.
Line = dict[str, str]


def read_answers(path: Path) -> list[Line]:
    """Return the answers in a file, each once; all are about rows of one data file."""
    found = dict[str, Line]()
    for chunk in open_chunks(path, "csv"):
        if absent := [name for name in HEAD if name not in chunk.columns]:
            raise ValueError(f"{path} holds no answers of eocc review: it has no column {absent[0]!r}")
        cells = {name: chunk.columns[name].cells() for name in HEAD}
        for k in range(len(chunk)):
            line = {name: str(cells[name][k] or "").strip() for name in HEAD}
            before = found.setdefault(line["digest"], line)
            if line["answer"] not in (NORMAL, NOT_NORMAL):
                remedy = f"write {NORMAL!r} or {NOT_NORMAL!r}, or remove the line"
                raise chunk.fault(k, f"{quoted(line['answer'])} is not an answer; {remedy}")
            if before["answer"] != line["answer"]:
                raise chunk.fault(
                    k, f"row {quoted(line['row'])} is answered twice, differently; remove one of the lines"
                )
            if before["data"] != next(iter(found.values()))["data"]:
                raise chunk.fault(k, f"{quoted(line['data'])} is another data file than in line 2; divide the answers")
    return list(found.values())


def write_answers(path: Path, lines: Iterable[Line]) -> None:
    """Write answers to a file, as the page does."""
    with writing(path) as file:
        writer = csv.DictWriter(file, HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
