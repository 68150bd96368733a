"""The data of a comparison, and the protocol: which rows one run trains, validates and tests on.

The targets are divided into ten random folds. A run trains on nine of them and tests on the tenth and on all outliers;
ten runs are a repetition, and each repetition draws new folds (departure: folds). Validation uses a tenth of the test
rows of each kind. *Leaking*, as in the paper: with Gaussian noise, and the originals stay in the test set. *Honest*:
without noise, and moved out of the test set.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any, ClassVar, NamedTuple

import numpy as np

from eocc.base.checks import integer
from eocc.base.types import Flags, Indices, Matrix
from eocc.classifiers.labels import signs
from eocc.datasets import load_iam, load_uci

N_FOLDS = 10
# The paper says "suitable" noise. Here: a tenth of each column's standard deviation over the training targets, and none
# in columns of two values, where noise would make rows that cannot occur.
NOISE = 0.1  # departure: validation noise
NORMALISATIONS = ("raw", "unit-variance")
# Mean and variance of all rows, as "each component" in the paper can be read. It tells about the test rows.
ALL_ROWS = "unit variance of all rows"


class Labelled(NamedTuple):
    """Rows of both kinds, y = +1 for targets and -1 for outliers."""

    patterns: Any
    y: Indices


@dataclass(frozen=True, eq=False)
class Trial:
    """One run: targets to train on, rows to test on, and two validation sets.

    `honest_test` are the indices of the test rows without those of `honest`. `measure` returns the measure for the
    data: for graphs that of a name, for rows "euclidean".
    """

    training: Any
    test: Labelled
    leaking: Labelled
    honest: Labelled
    honest_test: Indices
    measure: Callable[[str], Any] = lambda name: "euclidean"


def rng_of(seed: int, *names: Any) -> np.random.Generator:
    """Return a random generator that depends only on the seed and the names."""
    return np.random.default_rng([seed, *(zlib.crc32(str(name).encode()) for name in names)])


def fold_rows(is_target: Flags, run: int, seed: int, name: str) -> tuple[Indices, Indices]:
    """Return the indices of the rows to train on and of those to test on: targets first, then all outliers.

    Run r of N_FOLDS * repetitions holds out fold r mod N_FOLDS of repetition r // N_FOLDS.
    """
    targets, outliers = np.flatnonzero(is_target), np.flatnonzero(~is_target)
    if len(targets) < N_FOLDS or len(outliers) < 1:
        known = f"there are {len(targets)} and {len(outliers)}"
        raise ValueError(f"a comparison needs at least {N_FOLDS} targets and 1 outlier; {known}")
    repetition, fold = divmod(run, N_FOLDS)
    shuffled = rng_of(seed, name, "folds", repetition).permutation(targets)
    held_out = np.sort(np.array_split(shuffled, N_FOLDS)[fold])
    return np.setdiff1d(targets, held_out), np.concatenate([held_out, outliers])


def validation_rows(y: Indices, rng: np.random.Generator) -> Indices:
    """Return the positions of a random tenth of the test rows of each kind, at least one."""
    kinds = (np.flatnonzero(y == 1), np.flatnonzero(y == -1))
    chosen = [rng.permutation(kind)[: max(1, round(0.1 * len(kind)))] for kind in kinds]
    return np.sort(np.concatenate(chosen))


def trial_of_rows(X: Matrix, is_target: Flags, normalisation: str, run: int, seed: int = 0, name: str = "") -> Trial:
    """Return a run on rows of numbers, normalised by the training targets."""
    training, tested = fold_rows(is_target, run, seed, name)
    X = normalised(X, X if normalisation == ALL_ROWS else X[training], normalisation)
    test = Labelled(X[tested], np.where(is_target, 1, -1)[tested])
    rng = rng_of(seed, name, "validation", run)
    validation = validation_rows(test.y, rng)
    honest = Labelled(test.patterns[validation], test.y[validation])
    has_two_values = np.array([len(np.unique(column)) <= 2 for column in X.T])
    noise = NOISE * np.where(has_two_values, 0.0, X[training].std(axis=0)) * rng.normal(size=honest.patterns.shape)
    left = np.setdiff1d(np.arange(len(tested)), validation)
    return Trial(X[training], test, Labelled(honest.patterns + noise, honest.y), honest, left)


def normalised(X: Matrix, training: Matrix, normalisation: str) -> Matrix:
    """Return X unchanged ("raw"), or with the mean 0 and the standard deviation 1 of the training rows.

    departure: normalisation.
    """
    if normalisation == "raw":
        return X
    spread = training.std(axis=0)
    # The standard deviation of a constant column is rounding only; it is not scaled.
    constant = spread <= 1e-12 * np.abs(training).max(axis=0)
    return np.asarray((X - training.mean(axis=0)) / np.where(constant, 1.0, spread))


@dataclass(frozen=True)
class Source:
    """A data set by name.

    A variant, such as one with the other class as target, names its published set in `variant_of`. It is shown next to
    the set's published figures, and counts in no mean. `ships_validation` says that the set has its own validation
    data, which do not leak. A repetition has `n_folds` runs; with one fold, runs differ in their seeds only.
    """

    name: str
    variant_of: str = ""
    n_folds: ClassVar[int] = N_FOLDS
    normalisations: ClassVar[tuple[str, ...]] = NORMALISATIONS
    kind: ClassVar[str] = "rows"
    ships_validation: ClassVar[bool] = False

    @property
    def repetitions(self) -> int:
        """How many repetitions there are unless the user says."""
        return 1

    @property
    def identity(self) -> str:
        """Identifies the data in the results on disk: the name, since a published set never changes."""
        return self.name

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return what a run trains and tests on, the same for all systems."""
        raise NotImplementedError


class UciSource(Source):
    """A UCI set by its acronym; a variant has the other class as target."""

    @property
    def repetitions(self) -> int:
        """Three, but one of Abalone: its searches take as long as those of all other sets together."""
        return 1 if self.name == "AB" else 3

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return a fold of the targets against all other rows."""
        data = load_uci(self.variant_of or self.name)
        is_target = ~data.is_target if self.variant_of else data.is_target
        return trial_of_rows(data.X, is_target, normalisation, run, seed, self.name)


@dataclass(frozen=True)
class TableSource(Source):
    """A user's own rows of numbers, and which of them are targets."""

    rows: tuple[tuple[float, ...], ...] = ()
    is_target: tuple[bool, ...] = ()

    @cached_property
    def identity(self) -> str:
        """The name and a checksum: the file may change between two runs."""
        return f"{self.name} {zlib.crc32(repr((self.rows, self.is_target)).encode()):08x}"

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return a fold of the targets against all other rows."""
        return trial_of_rows(np.array(self.rows), np.array(self.is_target), normalisation, run, seed)


@dataclass(frozen=True)
class IamSource(Source):
    """A set of labelled graphs with a fixed split: runs differ only in the seeds of the systems."""

    target: str | None = None
    n_folds = 1
    normalisations = ("graphs",)
    kind = "graphs"
    ships_validation = True

    @property
    def repetitions(self) -> int:
        """Ten seeds."""
        return 10

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return the fixed split: train on its training targets, test on its test set and its training outliers."""
        return _iam_trial(self.variant_of or self.name, self.target)


@lru_cache(maxsize=1)
def _iam_trial(name: str, target: str | None) -> Trial:
    data = load_iam(name, target=target)
    splits = (data.training, data.validation, data.test)
    is_training, is_validation, is_test = (np.array(split.labels) == data.target for split in splits)
    outliers = list(compress(data.training.graphs, ~is_training))
    validation = Labelled(data.validation.graphs, np.where(is_validation, 1, -1))
    y = np.append(np.where(is_test, 1, -1), np.full(len(outliers), -1))
    test = Labelled([*data.test.graphs, *outliers], y)
    targets = list(compress(data.training.graphs, is_training))
    return Trial(targets, test, validation, validation, np.arange(len(y)), data.measure)


@lru_cache(maxsize=1)
def as_distances(source: Source) -> tuple[Matrix, ...]:
    """Return the (training, test) blocks of dissimilarities of a set, for systems that take them; computed once."""
    trial = source.trial(source.normalisations[0], 0, 0)
    measure = trial.measure("graph-edit")
    training, test = measure.read(trial.training), measure.read(trial.test.patterns)
    fitted = measure.fit(training)
    weights = fitted.neutral_weights()
    return tuple(fitted.prepare(patterns, training).evaluate(weights) for patterns in (training, test))


class OneClassFold:
    """Folds of the targets: train on all but one, test on that one and on all outliers.

    Pass it as `cv` to scikit-learn's GridSearchCV or cross_val_score, with y = +1 for targets and -1 for outliers.
    These are the folds of the paper's experiments. Pass refit=False to GridSearchCV, and fit the best parameters to the
    targets yourself: it would refit to all rows, and a classifier that ignores y would learn the outliers too.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from eocc import EntropicOneClassClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> y = np.where(y == 1, 1, -1)
    >>> choices = {"extent": ["mean", "max"], "gamma": [0.02, 1.0], "first_cut": ["always", "if-better"]}
    >>> clf = EntropicOneClassClassifier(search=None)
    >>> GridSearchCV(clf, choices, scoring="balanced_accuracy", cv=OneClassFold(5), refit=False).fit(X, y).best_params_
    {'extent': 'max', 'first_cut': 'always', 'gamma': 0.02}
    """

    def __init__(self, n_splits: int = 10, *, n_repeats: int = 1, random_state: int = 0) -> None:
        integer(2)("n_splits", n_splits)
        integer(1)("n_repeats", n_repeats)
        self.n_splits, self.n_repeats, self.random_state = n_splits, n_repeats, random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return self.n_splits * self.n_repeats

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the indices of the training targets, and of the test rows of both kinds, ascending."""
        is_target = signs(y) > 0
        targets, outliers = np.flatnonzero(is_target), np.flatnonzero(~is_target)
        if len(targets) < self.n_splits or not len(outliers):
            known = f"y has {len(targets)} targets (+1) and {len(outliers)} outliers (-1)"
            raise ValueError(f"{known}; at least {self.n_splits} targets and 1 outlier are needed")
        for repeat in range(self.n_repeats):
            shuffled = np.random.default_rng([self.random_state, repeat]).permutation(targets)
            for held_out in np.array_split(shuffled, self.n_splits):
                yield np.setdiff1d(targets, held_out), np.sort(np.concatenate([held_out, outliers]))
