"""Searches and measures as a user might write them, the plain classifier most tests use, and a record of progress."""

import io
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eocc import EntropicOneClassClassifier
from eocc.base.progress import Watch


def plain(**settings):
    return EntropicOneClassClassifier(**{"search": None, **settings})


def fitted_names(clf):
    return {name for name in vars(clf) if name.endswith("_") and not name.startswith("__")}


@dataclass
class OneBatch:
    """A user's own search: the given batches, then done."""

    proposals: list

    def batches(self, n_parameters, rng):
        yield from (batch for batch in self.proposals)  # it receives the values, which a list cannot


@dataclass(frozen=True)
class Manhattan:
    """A user's own measure, in plain numpy; `spoil` makes it break its promises."""

    spoil: Callable = lambda D: D

    def fit(self, training):
        return FittedManhattan(training.shape[1], np.ptp(training, axis=0).sum(), self.spoil)


@dataclass(frozen=True)
class FittedManhattan:
    n_parameters: int
    span: float
    spoil: Callable

    def prepare(self, patterns, prototypes=None):
        prototypes = patterns if prototypes is None else prototypes
        return PreparedGaps(np.abs(patterns[:, None] - prototypes[None]) / self.span, self.spoil)


@dataclass(frozen=True)
class PreparedGaps:
    gaps: np.ndarray
    spoil: Callable

    def evaluate(self, p, out=None):
        return self.spoil(self.gaps @ p)


class Midpoint:
    """A representative that asks for all distances."""

    def centre(self, rows, distances):
        return (rows.min(axis=0) + rows.max(axis=0)) / 2, 0


class Recorder(Watch):
    """Keeps the name, the share and the words of a stage whenever it reports."""

    def __init__(self):
        super().__init__(io.StringIO(), worth=-1.0)
        self.seen, self.words = [], []

    def look(self):
        for stage in self._stages[:1]:
            stage.due = 0.0  # always
        super().look()

    def show(self, name, share, words):
        self.seen.append((name, round(share, 6)))
        self.words.append(words)
