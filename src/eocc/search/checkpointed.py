"""A search that saves every evaluated candidate to a file and resumes from it."""

import json
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from eocc.foundation.atomic import check_output, drafted, remove_abandoned
from eocc.foundation.types import Matrix
from eocc.search.protocol import Search, SearchRun

FORMAT = 1
# Errors of numpy and zipfile for a file that is not a checkpoint.
READ_ERRORS = (
    ValueError, LookupError, TypeError, AttributeError, EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
# This many stored candidates are evaluated again, to notice code that changed since the file was written.
PROBES = 3


@dataclass(frozen=True)
class Checkpointed:
    """Wraps a search with a file of all candidates evaluated so far: after `kill -9` the same fit resumes from it.

    The file is replaced after every generation. A fit with the same data, settings and seed proposes the same
    candidates, takes the known ones from the file, and gives the model of an uninterrupted fit, bit for bit.
    `max_time` starts again with every run. The file of another fit is refused. The file remains after the fit.
    """

    search: Search
    path: str | Path
    _generators: list[np.random.Generator] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not hasattr(self.search, "start"):
            raise ValueError(f"Checkpointed needs a search object, for example GeneticSearch(), not {self.search!r}")
        if not isinstance(self.path, str | os.PathLike):
            raise ValueError(f"the path of a checkpoint must be a string or a path, not {self.path!r}")

    def start(self, n_parameters: int, rng: np.random.Generator) -> SearchRun:
        """Start the wrapped search."""
        return self.search.start(n_parameters, rng)

    @property
    def max_generations(self) -> int | None:
        """The limit of the wrapped search, if it has one."""
        return getattr(self.search, "max_generations", None)

    def refusal(self) -> ValueError:
        """Return the error for the file of another fit."""
        return ValueError(
            f"{str(self.path)!r} is the checkpoint of a fit with other data, settings or seed; "
            "delete it or name another file"
        )

    def log(self, identity: str, rng: np.random.Generator) -> "Log":
        """Return the log of the search with this identity, or refuse the file."""
        # A fit may run several searches with the same generator. The first must be in the file; the others are added.
        path = Path(self.path)
        check_output(path)
        remove_abandoned(path)
        logs = _read(path) if path.exists() else {}
        is_first = not any(known is rng for known in self._generators)
        if is_first and logs and next(iter(logs)) != identity:
            raise self.refusal()
        self._generators[:] = [rng]
        known = logs.setdefault(identity, {})
        return Log(path, logs, known)


@dataclass
class Log:
    """The candidates of one search with their scores; the file may hold other searches too."""

    path: Path
    logs: dict[str, dict[bytes, Matrix]]
    known: dict[bytes, Matrix]

    def numbers_of(self, candidate: Matrix) -> Matrix | None:
        """Return the stored scores of a candidate, if any."""
        return self.known.get(candidate.tobytes())

    def some(self) -> list[tuple[Matrix, Matrix]]:
        """Return a few stored candidates, spread from the first to the last, with their scores."""
        known = list(self.known.items())
        few = [known[place] for place in sorted({*np.linspace(0, len(known) - 1, PROBES).astype(int)})] if known else []
        return [(np.frombuffer(candidate), numbers) for candidate, numbers in few]

    def add(self, candidates: Sequence[Matrix], numbers: Sequence[Sequence[float]]) -> None:
        """Save more candidates with their scores."""
        for candidate, row in zip(candidates, numbers, strict=True):
            self.known[candidate.tobytes()] = np.array(row, np.float64)
        _write(self.path, self.logs)


def _write(path: Path, logs: Mapping[str, Mapping[bytes, Matrix]]) -> None:
    """Write all logs as arrays, with one line of JSON."""
    arrays: dict[str, Any] = {}
    for number, known in enumerate(logs.values()):
        arrays[f"candidates_{number}"] = np.array([np.frombuffer(key) for key in known])
        arrays[f"numbers_{number}"] = np.array(list(known.values()))
    about = json.dumps({"format": FORMAT, "searches": list(logs)})
    with drafted(path) as draft, draft.open("wb") as file:
        np.savez(file, about=np.array(about), **arrays)


def _read(path: Path) -> dict[str, dict[bytes, Matrix]]:
    """Return the logs of a file by their identity, in order; raise a ValueError for other files."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            if about["format"] != FORMAT:
                raise ValueError("another version")
            return {str(identity): _rows(arrays, k) for k, identity in enumerate(about["searches"])}
    except PermissionError:
        raise
    except READ_ERRORS as error:
        raise ValueError(
            f"{str(path)!r} is not a checkpoint of this version, or it is damaged; delete it or name another file"
        ) from error


def _rows(arrays: Any, number: int) -> dict[bytes, Matrix]:
    candidates, numbers = arrays[f"candidates_{number}"], arrays[f"numbers_{number}"]
    if len(candidates) != len(numbers) or candidates.dtype != np.float64 or numbers.dtype != np.float64:
        raise ValueError("candidates and scores do not match")
    return {candidate.tobytes(): row for candidate, row in zip(candidates, numbers, strict=True)}
