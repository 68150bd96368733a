"""The protocol: which patterns one run trains, validates and tests on.

A random 90 % of the targets train; the others and all non-targets test. EOCC-2 validates on a tenth of the test
patterns of either kind: with Gaussian noise, the originals left in the test set, as the paper does (that leaks), or
moved out of the test set and without noise, which is honest.
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
# The paper says "suitable" noise: a tenth of each feature's standard deviation among the training targets.
NOISE = 0.1  # departure: validation noise

NORMALISATIONS = ("raw", "unit-variance")


@dataclass(frozen=True, eq=False)
class Labelled:
    """Patterns of both kinds, y = +1 for targets and -1 for all else."""

    patterns: Any
    y: Signs


@dataclass(frozen=True, eq=False)
class Trial:
    """One run: targets to train on, patterns to test on, and two ways to validate.

    `honest` are patterns that `honest_test`, rows of `test`, leaves out.
    """

    training: Any
    test: Labelled
    leaking: Labelled
    honest: Labelled
    honest_test: Indices


@dataclass(frozen=True)
class Split:
    """Rows of a data set: those to train on, those to test on, and the test rows (by position) to validate on."""

    training: Indices
    test: Indices
    validation: Indices


def rng_of(seed: int, *names: Any) -> np.random.Generator:
    """Return random numbers that depend on the seed and the names alone, not on what ran before.

    >>> int(rng_of(0, "AB", 3).integers(1000)) == int(rng_of(0, "AB", 3).integers(1000))
    True
    """
    return np.random.default_rng([seed, *(zlib.crc32(str(name).encode()) for name in names)])


def split_rows(is_target: NDArray[np.bool_], rng: np.random.Generator) -> Split:
    """Return a random split by the protocol; at least one target trains, and at least one of either kind validates.

    >>> split = split_rows(np.array([True] * 10 + [False] * 5), np.random.default_rng(0))
    >>> len(split.training), len(split.test), len(split.validation)
    (9, 6, 2)
    """
    targets = rng.permutation(np.flatnonzero(is_target))
    others = np.flatnonzero(~is_target)
    if len(targets) < 2 or len(others) < 1:
        raise ValueError(
            f"a comparison needs at least 2 targets and 1 other pattern; there are {len(targets)} and {len(others)}"
        )
    n_training = min(max(1, int(TRAINING_SHARE * len(targets))), len(targets) - 1)
    held_out = np.sort(targets[n_training:])
    kinds = (np.arange(len(held_out)), len(held_out) + np.arange(len(others)))
    validation = [rng.permutation(kind)[: _tenth(len(kind))] for kind in kinds]
    return Split(np.sort(targets[:n_training]), np.concatenate([held_out, others]), np.sort(np.concatenate(validation)))


def trial_of_rows(X: Matrix, is_target: NDArray[np.bool_], normalisation: str, rng: np.random.Generator) -> Trial:
    """Return a run on rows of numbers; what normalises them is fitted on the training targets alone."""
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
    """Return X as it is, or less the training mean and over the training standard deviation (1 where that is 0)."""
    if normalisation == "raw":
        return X
    spread = training.std(axis=0)
    # A constant column's deviation is rounding, not spread.
    constant = spread <= 1e-12 * np.abs(training).max(axis=0)
    return np.asarray((X - training.mean(axis=0)) / np.where(constant, 1.0, spread))


def _tenth(n: int) -> int:
    return max(1, round(VALIDATION_SHARE * n))
