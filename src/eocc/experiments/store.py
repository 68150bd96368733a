"""Results on disk: one line per cell, written at once, so that an interrupted run can continue."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from eocc.experiments.cells import Cell, Figures
from eocc.foundation.atomic import flush_to_disk, naming

Finished = dict[tuple[Any, ...], Figures]


@contextmanager
def open_store(folder: Path) -> Iterator[tuple[Finished, Callable[[Cell, Figures], None]]]:
    """Yield the results of the finished cells of a folder by key, and a function that adds those of another cell.

    A line of `cells.jsonl` holds the cell, with a digest of the code that ran it, and the results; the last line of a
    cell counts. Results of other code stay in the file, but are not used. A line that was cut off when a run was killed
    is dropped, and its cell runs again. The folder is locked meanwhile.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "cells.jsonl"
    with _locked(folder / "lock"):
        finished = _read(path)

        def add(cell: Cell, figures: Figures) -> None:
            known = {name: value for name, value in asdict(figures).items() if value == value}  # JSON has no NaN
            with naming(path), path.open("ab") as file:
                line = json.dumps({"cell": cell.key, "figures": known})
                file.write(line.encode() + b"\n")
                flush_to_disk(file)
            finished[cell.key] = figures

        yield finished, add


def _read(path: Path) -> Finished:
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
        os.truncate(path, sum(map(len, lines)))
    finished = {}
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            finished[tuple(entry["cell"])] = Figures(**entry["figures"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}, line {number} is damaged; delete that line and start again") from error
    return finished


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
