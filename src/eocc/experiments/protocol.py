"""The data of a comparison, and the protocol: which rows one run trains, validates and tests on.

A random 90 % of the targets train; the other targets and all outliers test. Validation uses a tenth of the test rows of
each kind. *Leaking*, as in the paper: with Gaussian noise, and the originals stay in the test set. *Honest*: without
noise, and moved out of the test set.
"""

import zlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any, ClassVar, NamedTuple

import numpy as np

from eocc.datasets import load_iam, load_uci
from eocc.foundation.types import Flags, Indices, Matrix
from eocc.rivals.distances import resolve_metric

TRAINING_SHARE = 0.9
VALIDATION_SHARE = 0.1
# The paper says "suitable" noise. Here: a tenth of each column's standard deviation over the training targets.
NOISE = 0.1  # departure: validation noise
NORMALISATIONS = ("raw", "unit-variance")


class Labelled(NamedTuple):
    """Rows of both kinds, y = +1 for targets and -1 for outliers."""

    patterns: Any
    y: Indices


@dataclass(frozen=True, eq=False)
class Trial:
    """One run: targets to train on, rows to test on, and two validation sets.

    `honest_test` are the indices of the test rows without those of `honest`.
    """

    training: Any
    test: Labelled
    leaking: Labelled
    honest: Labelled
    honest_test: Indices


def rng_of(seed: int, *names: Any) -> np.random.Generator:
    """Return a random generator that depends only on the seed and the names."""
    return np.random.default_rng([seed, *(zlib.crc32(str(name).encode()) for name in names)])


def split_rows(is_target: Flags, rng: np.random.Generator) -> tuple[Indices, Indices, Indices]:
    """Return the indices of the rows to train on and to test on, and the positions among the latter to validate on.

    The split is random; at least one target trains, and at least one row of each kind validates.
    """
    targets, outliers = rng.permutation(np.flatnonzero(is_target)), np.flatnonzero(~is_target)
    if len(targets) < 2 or len(outliers) < 1:
        known = f"there are {len(targets)} and {len(outliers)}"
        raise ValueError(f"a comparison needs at least 2 targets and 1 outlier; {known}")
    n_training = max(1, int(TRAINING_SHARE * len(targets)))
    held_out = np.sort(targets[n_training:])
    kinds = (np.arange(len(held_out)), len(held_out) + np.arange(len(outliers)))
    validation = [rng.permutation(kind)[: max(1, round(VALIDATION_SHARE * len(kind)))] for kind in kinds]
    test = np.concatenate([held_out, outliers])
    return np.sort(targets[:n_training]), test, np.sort(np.concatenate(validation))


def trial_of_rows(X: Matrix, is_target: Flags, normalisation: str, rng: np.random.Generator) -> Trial:
    """Return a run on rows of numbers, normalised by the training targets."""
    training, tested, validation = split_rows(is_target, rng)
    X = normalised(X, X[training], normalisation)
    test = Labelled(X[tested], np.where(is_target, 1, -1)[tested])
    honest = Labelled(test.patterns[validation], test.y[validation])
    noise = NOISE * X[training].std(axis=0) * rng.normal(size=honest.patterns.shape)
    left = np.setdiff1d(np.arange(len(tested)), validation)
    return Trial(X[training], test, Labelled(honest.patterns + noise, honest.y), honest, left)


def normalised(X: Matrix, training: Matrix, normalisation: str) -> Matrix:
    """Return X unchanged ("raw"), or with the mean 0 and the standard deviation 1 of the training rows."""
    if normalisation == "raw":
        return X
    spread = training.std(axis=0)
    # The standard deviation of a constant column is rounding only; it is not scaled.
    constant = spread <= 1e-12 * np.abs(training).max(axis=0)
    return np.asarray((X - training.mean(axis=0)) / np.where(constant, 1.0, spread))


@dataclass(frozen=True)
class Source:
    """A data set by name; `ships_validation` says that it has its own validation data, which do not leak."""

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
