"""A search that writes down every candidate it has judged, and goes on from there when it is started again."""

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
from eocc.search.protocol import Matrix, Search, SearchRun

FORMAT = 1
# What numpy and zipfile raise on reading what is no checkpoint.
DAMAGES = (
    ValueError, LookupError, TypeError, AttributeError, EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
# So many candidates of a file are judged once more: a function that calls another, changed since, is noticed so.
PROBES = 3


@dataclass(frozen=True)
class Checkpointed:
    """Another search, with a file of all candidates judged so far: after `kill -9` the same fit goes on from there.

    The file is written whole after every generation. A fit with the same data, settings and seed asks for the same
    candidates in the same order, takes the known ones from the file at no cost, and ends with the model of a fit that
    was never interrupted, bit for bit; but `max_time` counts the seconds of every run anew. A file of another fit is
    refused. It is kept in the end: delete it, or fit once more for a few candidates.

    >>> from eocc.search.genetic import GeneticSearch
    >>> Checkpointed(GeneticSearch(max_generations=500), "search.ckpt").max_generations
    500
    """

    search: Search
    path: str | Path
    _known_to: list[np.random.Generator] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not hasattr(self.search, "start"):
            raise ValueError(f"Checkpointed needs a search object, GeneticSearch() say, not {self.search!r}")
        if not isinstance(self.path, str | os.PathLike):
            raise ValueError(f"the path of a checkpoint must be a string or a path, not {self.path!r}")

    def start(self, n_parameters: int, rng: np.random.Generator) -> SearchRun:
        """Begin the other search."""
        return self.search.start(n_parameters, rng)

    @property
    def max_generations(self) -> int | None:
        """The other search's limit, if it has one."""
        return getattr(self.search, "max_generations", None)

    def refusal(self) -> ValueError:
        """Return the error about a file that is not of this fit."""
        return ValueError(
            f"{str(self.path)!r} is the checkpoint of a fit with other data, settings or seed; "
            "delete it or name another file"
        )

    def log(self, identity: str, rng: np.random.Generator) -> "Log":
        """Return what the file knows of the search with this identity, or refuse the file.

        The searches of one fit share a generator: the first must be that of the file, the others are added to it.
        """
        path = Path(self.path)
        check_output(path)
        remove_abandoned(path)
        logs = _read(path) if path.exists() else {}
        is_first = not any(known is rng for known in self._known_to)
        if is_first and logs and next(iter(logs)) != identity:
            raise self.refusal()
        self._known_to[:] = [rng]
        known = logs.setdefault(identity, {})
        return Log(path, logs, known)


@dataclass
class Log:
    """The candidates of one search with their numbers, in a file that may hold those of other searches too."""

    path: Path
    logs: dict[str, dict[bytes, Matrix]]
    known: dict[bytes, Matrix]

    def numbers_of(self, candidate: Matrix) -> Matrix | None:
        """Return what was found out about a candidate, if anything."""
        return self.known.get(candidate.tobytes())

    def some(self) -> list[tuple[Matrix, Matrix]]:
        """Return a few of the candidates, from the first to the last, with their numbers."""
        known = list(self.known.items())
        few = [known[place] for place in sorted({*np.linspace(0, len(known) - 1, PROBES).astype(int)})] if known else []
        return [(np.frombuffer(candidate), numbers) for candidate, numbers in few]

    def add(self, candidates: Sequence[Matrix], numbers: Sequence[Sequence[float]]) -> None:
        """Write down more candidates, each with as many numbers."""
        for candidate, row in zip(candidates, numbers, strict=True):
            self.known[candidate.tobytes()] = np.array(row, np.float64)
        _write(self.path, self.logs)


def _write(path: Path, logs: Mapping[str, Mapping[bytes, Matrix]]) -> None:
    """Write all logs, as arrays and one line of JSON."""
    arrays: dict[str, Any] = {}
    for number, known in enumerate(logs.values()):
        arrays[f"candidates_{number}"] = np.array([np.frombuffer(key) for key in known])
        arrays[f"numbers_{number}"] = np.array(list(known.values()))
    about = json.dumps({"format": FORMAT, "searches": list(logs)})
    with drafted(path) as draft, draft.open("wb") as file:
        np.savez(file, about=np.array(about), **arrays)


def _read(path: Path) -> dict[str, dict[bytes, Matrix]]:
    """Return the logs of a file by their identity, in order, or say that it holds none."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            if about["format"] != FORMAT:
                raise ValueError("of another version")
            return {
                str(identity): _rows(arrays[f"candidates_{number}"], arrays[f"numbers_{number}"])
                for number, identity in enumerate(about["searches"])
            }
    except PermissionError:
        raise
    except DAMAGES as error:
        raise ValueError(
            f"{str(path)!r} is no checkpoint of this version, or a damaged one; delete it or name another file"
        ) from error


def _rows(candidates: Any, numbers: Any) -> dict[bytes, Matrix]:
    if len(candidates) != len(numbers) or candidates.dtype != np.float64 or numbers.dtype != np.float64:
        raise ValueError("not a number each")
    return {candidate.tobytes(): row for candidate, row in zip(candidates, numbers, strict=True)}
