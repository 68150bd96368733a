"""The protocol: which rows one run trains, validates and tests on.

A random 90 % of the targets train; the other targets and all outliers test. Validation uses a tenth of the test rows of
each kind. *Leaking*, as in the paper: with Gaussian noise, and the originals stay in the test set. *Honest*: without
noise, and moved out of the test set.
"""

import zlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eocc.foundation.types import Flags, Indices, Matrix

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


class Split(NamedTuple):
    """Indices of the rows to train on and to test on, and positions in `test` of the rows to validate on."""

    training: Indices
    test: Indices
    validation: Indices


def rng_of(seed: int, *names: Any) -> np.random.Generator:
    """Return a random generator that depends only on the seed and the names."""
    return np.random.default_rng([seed, *(zlib.crc32(str(name).encode()) for name in names)])


def split_rows(is_target: Flags, rng: np.random.Generator) -> Split:
    """Return a random split; at least one target trains, and at least one row of each kind validates.

    >>> split = split_rows(np.array([True] * 10 + [False] * 5), np.random.default_rng(0))
    >>> len(split.training), len(split.test), len(split.validation)
    (9, 6, 2)
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
    return Split(np.sort(targets[:n_training]), test, np.sort(np.concatenate(validation)))


def trial_of_rows(X: Matrix, is_target: Flags, normalisation: str, rng: np.random.Generator) -> Trial:
    """Return a run on rows of numbers, normalised by the training targets."""
    split = split_rows(is_target, rng)
    X = normalised(X, X[split.training], normalisation)
    test = Labelled(X[split.test], np.where(is_target, 1, -1)[split.test])
    honest = Labelled(test.patterns[split.validation], test.y[split.validation])
    noise = NOISE * X[split.training].std(axis=0) * rng.normal(size=honest.patterns.shape)
    left = np.setdiff1d(np.arange(len(split.test)), split.validation)
    return Trial(X[split.training], test, Labelled(honest.patterns + noise, honest.y), honest, left)


def normalised(X: Matrix, training: Matrix, normalisation: str) -> Matrix:
    """Return X unchanged ("raw"), or with the mean 0 and the standard deviation 1 of the training rows."""
    if normalisation == "raw":
        return X
    spread = training.std(axis=0)
    # The standard deviation of a constant column is rounding only; it is not scaled.
    constant = spread <= 1e-12 * np.abs(training).max(axis=0)
    return np.asarray((X - training.mean(axis=0)) / np.where(constant, 1.0, spread))
