"""A person's answers on single rows, as a taught model keeps them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eocc.calibration.conformal import Calibration
from eocc.calibration.threshold import Threshold
from eocc.classifiers.labels import signs
from eocc.foundation.types import Indices
from eocc.measures.auto import is_pairwise
from eocc.measures.joining import joined

# Rows at most this dissimilarity apart are equal: they differ by rounding.
SAME = 1e-12
# 1 / rate may exceed a whole number by rounding.
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Answers:
    """The answered `rows`, as the measure reads them, and `y`: +1 for a normal row, -1 for one that is not.

    `names` are those of the rows, "" if not given. `threshold` and `calibration` are those of the model without
    answers.
    """

    rows: Any
    y: Indices
    names: tuple[str, ...]
    threshold: Threshold
    calibration: Calibration

    def __len__(self) -> int:
        return len(self.y)

    @property
    def confirmed(self) -> Any:
        """The rows that are normal; None if there are none."""
        places = np.flatnonzero(self.y == 1)
        return self.rows[places] if len(places) else None


def check_teachable(classifier: Any) -> None:
    """Raise a ValueError if the fitted classifier cannot be taught."""
    if not hasattr(classifier, "surprise_model_"):
        kind = type(classifier).__name__
        raise ValueError(f"{kind} cannot be taught; fit a SurpriseClassifier, in the command line --method surprise")
    if is_pairwise(classifier.resolved_measure_):
        raise ValueError("a model of precomputed dissimilarities cannot be taught; fit it to the rows, with a measure")
    n, rate = len(classifier.prototypes_), classifier.calibration_.rate
    if not classifier.is_whole and n < (least := math.ceil(1 / rate - ROUNDING) - 1):
        which = f"a model of {n} prototypes and a false_alarm_rate of {rate:g}"
        raise ValueError(f"{which} cannot be taught; fit it with at least {least} prototypes")


def add_answers(classifier: Any, rows: Any, y: Any, names: Iterable[Any] | None) -> Answers:
    """Return the answers of a classifier with further ones; of the answers to equal rows, the last counts."""
    labels = signs(y, "y", len(rows))
    if getattr(classifier.measure_, "fills_gaps", False):
        rows = classifier.measure_.filled(rows)  # a model file holds no gaps in numbers
    before: Answers | None = classifier.answers_
    called = ("",) * len(rows) if names is None else tuple(map(str, names))
    if len(called) != len(rows):
        raise ValueError(f"X holds {len(rows)} rows, names {len(called)}; pass one name per row")
    if before is None:
        before = Answers(rows, labels[:0], (), classifier.surprise_model_.threshold, classifier.calibration_)
    else:
        rows = joined(before.rows, rows)
    labels, called = np.concatenate([before.y, labels]), before.names + called
    same = classifier.measure_.prepare(rows, rows).evaluate(classifier.weights_) <= SAME
    np.fill_diagonal(same, True)
    kept = np.flatnonzero(same.argmax(axis=1) == np.arange(len(rows)))
    last = len(rows) - 1 - same[kept, ::-1].argmax(axis=1)
    return replace(before, rows=rows[kept], y=labels[last], names=tuple(called[k] for k in last))


def remaining_answers(answers: Answers | None, indices: Any) -> Answers | None:
    """Return the answers without some of them; None if none remain."""
    if answers is None:
        raise ValueError("this model has learned no answers, so none can be withdrawn")
    n, wanted = len(answers), np.atleast_1d(np.asarray(indices))
    is_right = wanted.ndim == 1 and wanted.dtype.kind in "iu" and bool(((wanted >= 0) & (wanted < n)).all())
    if not is_right and wanted.size:
        raise ValueError(f"indices must be integers from 0 to {n - 1}, the places in answers_, not {indices!r}")
    kept = np.delete(np.arange(n), wanted.astype(np.int64))
    if not len(kept):
        return None
    return replace(answers, rows=answers.rows[kept], y=answers.y[kept], names=tuple(answers.names[k] for k in kept))


def known_outliers(outliers: Any, answers: Answers | None) -> Any:
    """Return the outliers of the fit and those among the answers; None if there are none."""
    places = np.flatnonzero(answers.y == -1) if answers is not None else np.empty(0, np.int64)
    if answers is None or not len(places):
        return outliers
    found = answers.rows[places]
    return found if outliers is None else joined(outliers, found)
