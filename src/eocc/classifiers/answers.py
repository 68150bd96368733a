"""A person's answers on single rows, as a taught model keeps them, and a model that has learned them."""

import math
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from eocc.base.threads import threads
from eocc.base.types import ROUNDING, Indices
from eocc.calibration.conformal import Calibration, Threshold
from eocc.classifiers.labels import signs
from eocc.measures.auto import is_pairwise
from eocc.measures.precomputed import joined
from eocc.space.baseline import Baseline
from eocc.surprise.model import corrected


class TrainingRows(NamedTuple):
    """Training rows as the measure reads them, their `indices` in the X of the fit, and their ids or None."""

    rows: Any
    indices: Indices
    names: list[str] | None

    def some(self, places: Indices) -> "TrainingRows":
        """Return some of them."""
        names = None if self.names is None else [self.names[place] for place in places.tolist()]
        return TrainingRows(self.rows[places], self.indices[places], names)


class Removed(NamedTuple):
    """The training rows that an answer calls not normal, and their `places` among all that the fit compared with."""

    training: TrainingRows
    places: Indices


@dataclass(frozen=True, eq=False)
class Answers:
    """The answered `rows`, as the measure reads them, and `y`: +1 for a normal row, -1 for one that is not.

    `names` are those of the rows, "" if not given. `threshold` and `calibration` are those of the model without
    answers. `removed` are the training rows among the answered outliers, which are no longer normal rows.
    """

    rows: Any
    y: Indices
    names: tuple[str, ...]
    threshold: Threshold
    calibration: Calibration
    removed: Removed | None = None

    def __len__(self) -> int:
        return len(self.y)

    def some(self, places: Indices, answered: Indices) -> "Answers":
        """Return some of the rows, with the answers and names of others."""
        names = tuple(self.names[place] for place in answered)
        return replace(self, rows=self.rows[places], y=self.y[answered], names=names)

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
    if not classifier._is_whole and n < (least := math.ceil(1 / rate - ROUNDING) - 1):
        which = f"a model of {n} prototypes and a false_alarm_rate of {rate:g}"
        raise ValueError(f"{which} cannot be taught; fit it with at least {least} prototypes")


def without_gaps(measure: Any, rows: Any) -> Any:
    """Return rows of numbers with their gaps filled, and other rows as they are: a model file holds no such gaps."""
    return measure.filled(rows) if measure.fills_gaps else rows


def add_answers(classifier: Any, rows: Any, y: Any, names: Iterable[Any] | None) -> Answers:
    """Return the answers of a classifier with further ones; of the answers to equal rows, the last counts."""
    labels = signs(y, "y", len(rows))
    rows = without_gaps(classifier.measure_, rows)
    before: Answers | None = classifier.answers_
    called = ("",) * len(rows) if names is None else tuple(map(str, names))
    if len(called) != len(rows):
        raise ValueError(f"X holds {len(rows)} rows, names {len(called)}; pass one name per row")
    if before is None:
        before = Answers(rows, labels[:0], (), classifier.surprise_model_.threshold, classifier.calibration_)
    else:
        rows = joined(before.rows, rows)
    labels, called = np.concatenate([before.y, labels]), before.names + called
    same = classifier.measure_.prepare(rows, rows).evaluate(classifier.weights_) <= 1e-12  # equal but for rounding
    np.fill_diagonal(same, True)
    kept = np.flatnonzero(same.argmax(axis=1) == np.arange(len(rows)))
    last = len(rows) - 1 - same[kept, ::-1].argmax(axis=1)
    return replace(before, rows=rows, y=labels, names=called).some(kept, last)


def remaining_answers(answers: Answers | None, indices: Any) -> Answers | None:
    """Return the answers without some of them; None if none remain."""
    if answers is None:
        raise ValueError("this model has learned no answers, so none can be withdrawn")
    n, wanted = len(answers), np.atleast_1d(np.asarray(indices))
    is_right = wanted.ndim == 1 and wanted.dtype.kind in "iu" and bool(((wanted >= 0) & (wanted < n)).all())
    if not is_right and wanted.size:
        raise ValueError(f"indices must be integers from 0 to {n - 1}, the places in answers_, not {indices!r}")
    kept = np.delete(np.arange(n), wanted.astype(np.int64))
    return answers.some(kept, kept) if len(kept) else None


def known_outliers(outliers: Any, answers: Answers | None) -> Any:
    """Return the outliers of the fit and those among the answers; None if there are none."""
    places = np.flatnonzero(answers.y == -1) if answers is not None else np.empty(0, np.int64)
    if answers is None or not len(places):
        return outliers
    found = answers.rows[places]
    return found if outliers is None else joined(outliers, found)


def n_removed(answers: Answers | None) -> int:
    """Return how many training rows answers removed."""
    return 0 if answers is None or answers.removed is None else len(answers.removed.places)


def rows_of_fit(classifier: Any) -> TrainingRows:
    """Return the rows that the fit compared with, those that answers removed included, in their order."""
    names = None if classifier._row_names_ is None else list(classifier._row_names_)
    kept = TrainingRows(classifier.prototypes_, classifier.training_indices_, names)
    removed = None if classifier.answers_ is None else classifier.answers_.removed
    if removed is None:
        return kept
    n, own = len(kept.indices) + len(removed.places), removed.training
    order = np.argsort(np.append(np.delete(np.arange(n), removed.places), removed.places))
    both = None if names is None else names + (own.names or [])
    return TrainingRows(joined(kept.rows, own.rows), np.append(kept.indices, own.indices), both).some(order)


def taught(classifier: Any, answers: Answers | None) -> Any:
    """Return a copy that has learned these answers instead of its own.

    Training rows that an answer calls not normal are no longer normal rows. The limit and the p-values come from the
    normal rows that remain, each left out, without the correction around answered rows. So does the baseline of groups,
    unless the model keeps only some of its training rows: then it stays that of all.
    """
    found, before = copy(classifier), classifier.answers_
    found.__dict__.pop("structure_", None)
    normal, removed = rows_of_fit(classifier), _removed(classifier, answers)
    found.n_rows_ = classifier.n_rows_ + n_removed(before) - (0 if removed is None else len(removed.places))
    if removed is not None:
        normal = normal.some(np.delete(np.arange(len(normal.indices)), removed.places))
    if answers is not None:
        answers = replace(answers, removed=removed)
    if classifier.baseline_ is not None and classifier._is_whole:
        rows, found.outliers_ = found._relative_to_groups(normal.rows, classifier.outliers_)
        normal, answers = normal._replace(rows=rows), put_on(found.baseline_, answers)
    confirmed = None if answers is None else answers.confirmed
    found._row_names_, found.answers_ = normal.names, answers
    surprises = found._learn(normal.rows, normal.indices, known_outliers(found.outliers_, answers), confirmed)
    if answers is not None:
        with threads(classifier.n_jobs):
            found.surprise_model_ = corrected(found.surprise_model_, answers.rows, answers.y, surprises)
    calibration, default = classifier.calibration_, classifier.false_alarm_rate is None
    rate = max(calibration.rate, 1 / (len(surprises) + 1)) if default else calibration.rate
    found._calibrate(surprises, rate, calibration.foreign)
    if answers is None and before is not None:
        # A model that keeps fewer prototypes than it had training rows was calibrated on all of these.
        found.surprise_model_ = replace(found.surprise_model_, threshold=before.threshold)
        found.calibration_ = before.calibration
    return found


def put_on(baseline: Baseline | None, answers: Answers | None) -> Answers | None:
    """Return answers, and the training rows that they removed, relative to this baseline, if there is one."""
    if answers is None or baseline is None:
        return answers
    removed = answers.removed
    if removed is not None:
        training = removed.training
        removed = removed._replace(training=training._replace(rows=baseline.put_on(training.rows)))
    return replace(answers, rows=baseline.put_on(answers.rows), removed=removed)


def _removed(classifier: Any, answers: Answers | None) -> Removed | None:
    """Return the training rows that answers call not normal, and their copies."""
    outliers = known_outliers(None, answers)
    if outliers is None:
        return None
    known, tolerance = rows_of_fit(classifier), classifier.surprise_model_.surprise.neighbours.weightings[0].tolerance
    distances = classifier.measure_.prepare(outliers, known.rows).evaluate(classifier.weights_)
    places = np.flatnonzero((distances <= tolerance).any(axis=0))
    if len(places) == len(known.indices):
        raise ValueError("the answers call every training row not normal; fit a model to other rows")
    return Removed(known.some(places), places) if len(places) else None
