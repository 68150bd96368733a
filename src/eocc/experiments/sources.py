"""The data of a comparison: a published set, or a user's own table."""

import zlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any, ClassVar

import numpy as np

from eocc.datasets import load_iam, load_uci
from eocc.experiments.protocol import NORMALISATIONS, Labelled, Trial, rng_of, trial_of_rows
from eocc.rivals.distances import resolve_metric


@dataclass(frozen=True)
class Source:
    """A data set by name; other processes load it again.

    `measure` is the dissimilarity of its objects. `ships_validation` says that it comes with validation data, so that
    leaking and honest validation are the same.
    """

    name: str
    normalisations: ClassVar[tuple[str, ...]] = NORMALISATIONS
    measure: ClassVar[str] = "euclidean"
    ships_validation: ClassVar[bool] = False

    @property
    def identity(self) -> str:
        """Identifies the data in the results on disk: the name, since a published set never changes."""
        return self.name

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return what a run trains and tests on, the same for all systems."""
        raise NotImplementedError


class UciSource(Source):
    """A UCI set by its acronym."""

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return a random split of the rows."""
        data = load_uci(self.name)
        return trial_of_rows(data.X, data.is_target, normalisation, rng_of(seed, self.name, run))


@dataclass(frozen=True)
class TableSource(Source):
    """A user's own rows of numbers, and which of them are targets."""

    rows: tuple[tuple[float, ...], ...]
    is_target: tuple[bool, ...]

    @cached_property
    def identity(self) -> str:
        """The name and a checksum: the file may change between two runs."""
        return f"{self.name} {zlib.crc32(repr((self.rows, self.is_target)).encode()):08x}"

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return a random split of the rows."""
        return trial_of_rows(np.array(self.rows), np.array(self.is_target), normalisation, rng_of(seed, run))


@dataclass(frozen=True)
class IamSource(Source):
    """A set of labelled graphs with a fixed split: runs differ only in the seeds of the systems."""

    dataset: str = ""
    target: str | None = None
    normalisations = ("graphs",)
    measure = "graph-edit"
    ships_validation = True

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return the fixed split: train on its training targets, test on its test set and its training outliers."""
        return _iam_trial(self.dataset or self.name, self.target)


@lru_cache(maxsize=1)
def _iam_trial(name: str, target: str | None) -> Trial:
    data = load_iam(name) if target is None else load_iam(name, target=target)
    splits = (data.training, data.validation, data.test)
    is_training, is_validation, is_test = (np.array(split.labels) == data.target for split in splits)
    outliers = list(compress(data.training.graphs, ~is_training))
    validation = Labelled(data.validation.graphs, np.where(is_validation, 1, -1))
    y = np.append(np.where(is_test, 1, -1), np.full(len(outliers), -1))
    test = Labelled([*data.test.graphs, *outliers], y)
    return Trial(list(compress(data.training.graphs, is_training)), test, validation, validation, np.arange(len(y)))


@lru_cache(maxsize=1)
def as_distances(source: Source) -> tuple[Any, Any]:
    """Return the (training, test) blocks of dissimilarities of a set, for systems that take them; computed once."""
    trial = source.trial(source.normalisations[0], 0, 0)
    metric = resolve_metric(source.measure)
    training, test = metric.read(trial.training), metric.read(trial.test.patterns)
    fitted = metric.fit(training)
    return fitted.distances(training, training), fitted.distances(test, training)
