"""Results on disk: one line per cell, written at once, so that an interrupted run can continue."""

import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, fields
from pathlib import Path
from typing import IO, Any

from eocc.experiments.cells import Cell, Figures
from eocc.foundation.atomic import drafted, flush_to_disk, naming

Finished = dict[tuple[Any, ...], Figures]
Add = Callable[[Cell, Figures], None]

FOLDER = "cells"
OF_CELL = ("dataset", "normalisation", "system", "run", "seed", "most_generations", "code")
OF_FIGURES = tuple(field.name for field in fields(Figures))
CELL_HEAD = (*OF_CELL, *OF_FIGURES)


@contextmanager
def open_store(folder: Path) -> Iterator[tuple[Finished, Add]]:
    """Yield the results of the finished cells of a folder by key, and a function that adds those of another cell.

    Every data set has a CSV file in the folder `cells`. A line holds the cell, with the fingerprint of the code that
    ran it, and the results; the last line of a cell counts. A line that was cut off when a run was killed is dropped,
    and its cell runs again. In the end lines are sorted, and of a cell only the last one is kept, by whatever code.
    The folder is locked meanwhile.
    """
    cells = folder / FOLDER
    cells.mkdir(parents=True, exist_ok=True)
    with _locked(folder / "lock"):
        finished = {key: figures for path in sorted(cells.glob("*.csv")) for key, figures in _read(path).items()}
        touched = set[Path]()

        def add(cell: Cell, figures: Figures) -> None:
            path = cells / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', cell.source.name)}.csv"
            with naming(path), path.open("ab") as file:
                texts = [_text(value) for value in astuple(figures)]
                file.write((b"" if file.tell() else _line(CELL_HEAD)) + _line((*cell.key, *texts)))
                flush_to_disk(file)
            finished[cell.key] = _figures(texts)  # as they will be read
            touched.add(path)

        yield finished, add
        for path in touched:
            _tidy(path)


def _text(value: Any) -> str:
    """Return a result as text, empty for NaN; nine digits are enough."""
    if isinstance(value, str):
        return " ".join(value.split())
    return "" if value != value else f"{value:.9g}"


def _line(values: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue().encode()


def _read(path: Path) -> Finished:
    lines = path.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
        os.truncate(path, sum(map(len, lines)))
    finished = {}
    for number, line in enumerate(lines[1:], start=2):
        try:
            cells = next(csv.reader([line.decode()]))
            key = cells[: len(OF_CELL)]
            finished[(*key[:3], *map(int, key[3:6]), key[6])] = _figures(cells[len(OF_CELL) :])
        except (ValueError, IndexError) as error:
            raise ValueError(f"{path}, line {number} is damaged; delete that line and start again") from error
    return finished


def _figures(texts: Sequence[str]) -> Figures:
    values = dict(zip(OF_FIGURES, texts, strict=True))
    reason = values.pop("reason")
    return Figures(**{name: float(value) for name, value in values.items() if value}, reason=reason)


def _tidy(path: Path) -> None:
    """Keep the last line of every cell, sorted."""
    latest = {key[:-1]: (key[-1], figures) for key, figures in _read(path).items()}
    lines = [(*key, code, *map(_text, astuple(figures))) for key, (code, figures) in sorted(latest.items())]
    with drafted(path) as draft:
        draft.write_bytes(b"".join(map(_line, (CELL_HEAD, *lines))))


def _locked(path: Path) -> IO[bytes]:
    """Return the open lock file; systems without file locks get none."""
    file = path.open("wb")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ModuleNotFoundError:
        pass
    except OSError:
        file.close()
        raise ValueError(f"another run uses the folder {path.parent}; wait for it, or pass another --output") from None
    return file
