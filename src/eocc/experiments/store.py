"""Results on disk: one line per cell, written at once, so that an interrupted run can continue."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Self

from eocc.experiments.cells import Cell, Figures
from eocc.foundation.atomic import flush_to_disk

Key = tuple[Any, ...]


class Store:
    """The finished cells of a folder, in `cells.jsonl`.

    A line holds the cell, the version of the library and the results; the last line of a cell counts. A line that was
    cut off when a run was killed is dropped, and its cell runs again. The folder is locked until `close` or until the
    process ends.
    """

    def __init__(self, folder: Path, version: str) -> None:
        self._path = folder / "cells.jsonl"
        self._version = version
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(folder / "lock")
        try:
            self._finished = self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *trouble: object) -> None:
        self.close()

    def close(self) -> None:
        """Unlock the folder."""
        self._lock.close()

    @property
    def finished(self) -> Mapping[Key, Figures]:
        """The results of each finished cell, by its key."""
        return self._finished

    def add(self, cell: Cell, figures: Figures) -> None:
        """Append the results, and flush them to disk."""
        line = {"version": self._version, "cell": list(cell.key), "figures": figures.to_dict()}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            flush_to_disk(file)
        self._finished[cell.key] = figures

    def _read(self) -> dict[Key, Figures]:
        if not self._path.exists():
            return {}
        text = self._path.read_text(encoding="utf-8", errors="replace")
        if text and not text.endswith("\n"):
            text = text[: text.rfind("\n") + 1]
            os.truncate(self._path, len(text.encode()))
        finished = {}
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                entry = json.loads(line)
                if entry["version"] == self._version:
                    finished[tuple(entry["cell"])] = Figures.from_dict(entry["figures"])
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
        raise ValueError(f"another run is using the folder {path.parent}; wait for it, or pass another --out") from None
    return file
