"""The data of a comparison: a published set, or a user's own table."""

import zlib
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eocc.datasets.iam import load_iam
from eocc.datasets.uci import load_uci
from eocc.experiments.protocol import NORMALISATIONS, Labelled, Trial, rng_of, trial_of_rows
from eocc.rivals.distances import resolve_metric


class Source(Hashable, Protocol):
    """A data set that is sent to another process by name and loaded there."""

    @property
    def name(self) -> str:
        """Its name in tables."""
        ...

    @property
    def identity(self) -> str:
        """Distinguishes its data from others of the same name, for results on disk."""
        ...

    @property
    def normalisations(self) -> tuple[str, ...]:
        """The normalisations to use."""
        ...

    @property
    def measure(self) -> str:
        """The dissimilarity of its objects."""
        ...

    @property
    def ships_validation(self) -> bool:
        """Whether it comes with validation data, so that leaking and honest validation are the same."""
        ...

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return what a run trains and tests on, the same for all systems."""
        ...


@dataclass(frozen=True)
class UciSource:
    """A UCI set by its acronym."""

    name: str
    normalisations: tuple[str, ...] = NORMALISATIONS
    measure: str = "euclidean"
    ships_validation: bool = False

    @property
    def identity(self) -> str:
        """The name: a published set never changes."""
        return self.name

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return a random split of the rows."""
        data = load_uci(self.name)
        return trial_of_rows(data.X, data.is_target, normalisation, rng_of(seed, self.name, run))


@dataclass(frozen=True, eq=True)
class TableSource:
    """A user's own rows of numbers, and which of them are targets."""

    name: str
    rows: tuple[tuple[float, ...], ...]
    is_target: tuple[bool, ...]
    normalisations: tuple[str, ...] = NORMALISATIONS
    measure: str = "euclidean"
    ships_validation: bool = False

    @cached_property
    def identity(self) -> str:
        """The name and a checksum: the file may change between two runs."""
        return f"{self.name} {zlib.crc32(repr((self.rows, self.is_target)).encode()):08x}"

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return a random split of the rows."""
        X, is_target = np.array(self.rows), np.array(self.is_target)
        return trial_of_rows(X, is_target, normalisation, rng_of(seed, run))


@dataclass(frozen=True)
class IamSource:
    """A set of labelled graphs with a fixed split: runs differ only in the seeds of the systems."""

    name: str
    dataset: str = ""
    target: str | None = None
    normalisations: tuple[str, ...] = ("graphs",)
    measure: str = "graph-edit"
    ships_validation: bool = True

    @property
    def identity(self) -> str:
        """The name: a published set never changes."""
        return self.name

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return the fixed split: train on its training targets, test on its test set and its training outliers."""
        return _iam_trial(self.dataset or self.name, self.target)


@lru_cache(maxsize=1)
def _iam_trial(name: str, target: str | None) -> Trial:
    data = load_iam(name) if target is None else load_iam(name, target=target)
    validation = Labelled(data.validation.graphs, _signs(data.validation.labels, data.target))
    is_target = np.array(data.training.labels) == data.target
    training = [graph for graph, kept in zip(data.training.graphs, is_target, strict=True) if kept]
    others = [graph for graph, kept in zip(data.training.graphs, is_target, strict=True) if not kept]
    y = np.append(_signs(data.test.labels, data.target), np.full(len(others), -1))
    test = Labelled([*data.test.graphs, *others], y)
    return Trial(training, test, validation, validation, np.arange(len(y)))


def _signs(labels: Any, target: str) -> NDArray[np.int64]:
    return np.where(np.array(labels) == target, 1, -1)


@lru_cache(maxsize=1)
def as_distances(source: Source) -> tuple[Any, Any]:
    """Return the (training, test) blocks of dissimilarities of a set, for systems that take them; computed once."""
    trial = source.trial(source.normalisations[0], 0, 0)
    metric = resolve_metric(source.measure)
    training, test = metric.read(trial.training), metric.read(trial.test.patterns)
    fitted = metric.fit(training)
    return fitted.distances(training, training), fitted.distances(test, training)
