"""Figures on disk: a line a cell, written as soon as it is known, so that an interrupted run goes on."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eocc.experiments.cells import Cell, Figures

Key = tuple[Any, ...]


class Store:
    """The finished cells of a folder, in `cells.jsonl`.

    A line says which cell, by which version of the library, and its figures. A line that was cut when a run was killed
    is dropped, and its cell runs again.
    """

    def __init__(self, folder: Path, version: str) -> None:
        self._path = folder / "cells.jsonl"
        self._version = version
        folder.mkdir(parents=True, exist_ok=True)
        self._finished = self._read()

    @property
    def finished(self) -> Mapping[Key, Figures]:
        """The figures of each finished cell, by its key."""
        return self._finished

    def add(self, cell: Cell, figures: Figures) -> None:
        """Write the figures down, and make sure that they are on disk."""
        line = {"version": self._version, "cell": list(cell.key), "figures": figures.to_dict()}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._finished[cell.key] = figures

    def _read(self) -> dict[Key, Figures]:
        if not self._path.exists():
            return {}
        text = self._path.read_text(encoding="utf-8", errors="replace")
        if text and not text.endswith("\n"):
            kept = text[: text.rfind("\n") + 1]
            self._path.write_text(kept, encoding="utf-8")
            text = kept
        finished = {}
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                entry = json.loads(line)
                if entry["version"] == self._version:
                    finished[tuple(entry["cell"])] = Figures.from_dict(entry["figures"])
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{self._path}, line {number} is damaged; delete that line and start again") from error
        return finished
