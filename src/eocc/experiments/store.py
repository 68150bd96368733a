"""Results on disk: one line per cell, written at once, so that an interrupted run can continue."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Self

from eocc.experiments.cells import Cell, Figures
from eocc.foundation.atomic import flush_to_disk


class Store:
    """The finished cells of a folder, in `cells.jsonl`: `finished` are their results by key.

    A line holds the cell, the version of the library and the results; the last line of a cell counts. A line that was
    cut off when a run was killed is dropped, and its cell runs again. The folder is locked until the `with` block or
    the process ends.
    """

    def __init__(self, folder: Path, version: str) -> None:
        self._path = folder / "cells.jsonl"
        self._version = version
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(folder / "lock")
        try:
            self.finished = self._read()
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *trouble: object) -> None:
        self._lock.close()

    def add(self, cell: Cell, figures: Figures) -> None:
        """Append the results, and flush them to disk."""
        known = {name: value for name, value in asdict(figures).items() if value == value}  # JSON has no NaN
        line = {"version": self._version, "cell": cell.key, "figures": known}
        with self._path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            flush_to_disk(file)
        self.finished[cell.key] = figures

    def _read(self) -> dict[tuple[Any, ...], Figures]:
        lines = self._path.read_bytes().splitlines(keepends=True) if self._path.exists() else []
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
            os.truncate(self._path, sum(map(len, lines)))
        finished = {}
        for number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
                if entry["version"] == self._version:
                    finished[tuple(entry["cell"])] = Figures(**entry["figures"])
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{self._path}, line {number} is damaged; delete that line and start again") from error
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
