"""The protocol: which rows one run trains, validates and tests on.

A random 90 % of the targets train; the other targets and all outliers test. Validation uses a tenth of the test rows of
each kind. *Leaking*, as in the paper: with Gaussian noise, and the originals stay in the test set. *Honest*: without
noise, and moved out of the test set.
"""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Indices, Matrix

Signs = NDArray[np.int64]

TRAINING_SHARE = 0.9
VALIDATION_SHARE = 0.1
# The paper says "suitable" noise. Here: a tenth of each column's standard deviation over the training targets.
NOISE = 0.1  # departure: validation noise

NORMALISATIONS = ("raw", "unit-variance")


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows of both kinds, y = +1 for targets and -1 for outliers."""

    patterns: Any
    y: Signs


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


@dataclass(frozen=True)
class Split:
    """Indices of the rows to train on and to test on, and positions in `test` of the rows to validate on."""

    training: Indices
    test: Indices
    validation: Indices


def rng_of(seed: int, *names: Any) -> np.random.Generator:
    """Return a random generator that depends only on the seed and the names.

    >>> int(rng_of(0, "AB", 3).integers(1000)) == int(rng_of(0, "AB", 3).integers(1000))
    True
    """
    return np.random.default_rng([seed, *(zlib.crc32(str(name).encode()) for name in names)])


def split_rows(is_target: NDArray[np.bool_], rng: np.random.Generator) -> Split:
    """Return a random split; at least one target trains, and at least one row of each kind validates.

    >>> split = split_rows(np.array([True] * 10 + [False] * 5), np.random.default_rng(0))
    >>> len(split.training), len(split.test), len(split.validation)
    (9, 6, 2)
    """
    targets = rng.permutation(np.flatnonzero(is_target))
    outliers = np.flatnonzero(~is_target)
    if len(targets) < 2 or len(outliers) < 1:
        raise ValueError(
            f"a comparison needs at least 2 targets and 1 outlier; there are {len(targets)} and {len(outliers)}"
        )
    n_training = min(max(1, int(TRAINING_SHARE * len(targets))), len(targets) - 1)
    held_out = np.sort(targets[n_training:])
    kinds = (np.arange(len(held_out)), len(held_out) + np.arange(len(outliers)))
    validation = [rng.permutation(kind)[: _tenth(len(kind))] for kind in kinds]
    return Split(
        np.sort(targets[:n_training]), np.concatenate([held_out, outliers]), np.sort(np.concatenate(validation))
    )


def trial_of_rows(X: Matrix, is_target: NDArray[np.bool_], normalisation: str, rng: np.random.Generator) -> Trial:
    """Return a run on rows of numbers, normalised by the training targets."""
    split = split_rows(is_target, rng)
    X = normalised(X, X[split.training], normalisation)
    y = np.where(is_target, 1, -1)
    test = Labelled(X[split.test], y[split.test])
    honest = Labelled(test.patterns[split.validation], test.y[split.validation])
    spread = NOISE * X[split.training].std(axis=0)
    noisy = honest.patterns + spread * rng.normal(size=honest.patterns.shape)
    left = np.setdiff1d(np.arange(len(split.test)), split.validation)
    return Trial(X[split.training], test, Labelled(noisy, honest.y), honest, left)


def normalised(X: Matrix, training: Matrix, normalisation: str) -> Matrix:
    """Return X unchanged ("raw"), or with the mean 0 and the standard deviation 1 of the training rows."""
    if normalisation == "raw":
        return X
    spread = training.std(axis=0)
    # The standard deviation of a constant column is rounding only; it is not scaled.
    constant = spread <= 1e-12 * np.abs(training).max(axis=0)
    return np.asarray((X - training.mean(axis=0)) / np.where(constant, 1.0, spread))


def _tenth(n: int) -> int:
    return max(1, round(VALIDATION_SHARE * n))
