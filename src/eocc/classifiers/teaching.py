"""A fitted SurpriseClassifier and answers -> a new one that has learned them."""

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from eocc.classifiers.answers import Answers, Removed, known_outliers, n_removed, removed_by, rows_of_fit
from eocc.foundation.arguments import n_threads
from eocc.foundation.threads import threads
from eocc.space.baseline import Baseline
from eocc.surprise.model import corrected


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
        _, rows, found.outliers_ = found._relative_to_groups(normal.indices, normal.rows, classifier.outliers_)
        normal, answers = normal._replace(rows=rows), _put_on(found.baseline_, answers)
    confirmed = None if answers is None else answers.confirmed
    found._row_names_, found.answers_ = normal.names, answers
    surprises = found._learn(normal.rows, normal.indices, known_outliers(found.outliers_, answers), confirmed)
    if answers is not None:
        with threads(n_threads(classifier.n_jobs)):
            found.surprise_model_ = corrected(found.surprise_model_, answers.rows, answers.y, surprises)
    calibration, default = classifier.calibration_, classifier.false_alarm_rate is None
    rate = max(calibration.rate, 1 / (len(surprises) + 1)) if default else calibration.rate
    found._calibrate(surprises, rate, calibration.foreign)
    if answers is None and before is not None:
        # A model that keeps fewer prototypes than it had training rows was calibrated on all of these.
        found.surprise_model_ = replace(found.surprise_model_, threshold=before.threshold)
        found.calibration_ = before.calibration
    return found


def _put_on(baseline: Baseline, answers: Answers | None) -> Answers | None:
    """Return answers, and the training rows that they removed, relative to this baseline."""
    if answers is None:
        return None
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
    return removed_by(answers, known, distances, tolerance)
