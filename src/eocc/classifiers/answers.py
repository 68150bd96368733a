"""A person's answers on single rows: what to ask, what a taught model keeps, and a model that has learned them.

To *find* outliers, the strangest rows are shown first.

To *learn*, a row is worth asking about if it is unusual: worth 1 / (p + 0.05) at the p-value p, so that rows near the
limit count half as much as the strangest. A row similar to one that was asked or answered is worth less: 1 - exp(-(d /
h)^2 / 2) of it, at the dissimilarity d. h is twice the median dissimilarity of a row to its third nearest among the
candidates. Rows are chosen one by one, each the most valuable of those that remain.
"""

import math
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np

from eocc.base.checks import ANYTHING, indices, optional, texts
from eocc.base.threads import threads
from eocc.base.types import ROUNDING, Indices, Matrix
from eocc.base.wording import format_number
from eocc.calibration.conformal import Calibration, Threshold
from eocc.classifiers.labels import signs
from eocc.entropic.rules import Scores
from eocc.kernels.content import row_hashes
from eocc.measures.auto import is_pairwise
from eocc.measures.precomputed import joined
from eocc.space.baseline import Baseline
from eocc.space.prototypes.content import words_of
from eocc.surprise.model import corrected

# At a p-value of this, a row is worth half as much as the strangest.
HALF_WORTH = 0.05
# So many rows are candidates: half are the most unusual, half are evenly spaced among the other unusual rows.
CANDIDATES = 400
# A row counts as unusual if at most this share of all rows is more so.
UNUSUAL = 0.3
# Similar rows lie within this multiple of the median dissimilarity to the third nearest.
REACH = 2.0


class TrainingRows(NamedTuple):
    """Training rows as the measure reads them, their `indices` in the X of the fit, and their ids or None.

    Rows that an answer calls not normal have `places` among all that the fit compared with.
    """

    rows: Annotated[Any, ANYTHING]
    indices: Annotated[Indices, indices("n", rising=True)]
    names: Annotated[list[str] | None, optional(texts("n"))]
    places: Annotated[Indices, indices("n", "all", rising=True)] = np.empty(0, np.int64)

    def some(self, places: Indices) -> "TrainingRows":
        """Return some of them."""
        names = None if self.names is None else [self.names[place] for place in places.tolist()]
        return TrainingRows(self.rows[places], self.indices[places], names)


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
    removed: TrainingRows | None = None

    def __len__(self) -> int:
        return len(self.y)

    def some(self, places: Indices, answered: Indices) -> "Answers":
        """Return some of the rows, with the answers and names of others."""
        names = tuple(self.names[place] for place in answered)
        return replace(self, rows=self.rows[places], y=self.y[answered], names=names)

    def of(self, answer: int) -> Any:
        """Return the rows with this answer, +1 or -1; None if there are none."""
        places = np.flatnonzero(self.y == answer)
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


def remaining_answers(answers: Answers | None, places: Any) -> Answers | None:
    """Return the answers without some of them; None if none remain."""
    if answers is None:
        raise ValueError("this model has learned no answers, so none can be withdrawn")
    n, wanted = len(answers), np.atleast_1d(np.asarray(places))
    is_right = wanted.ndim == 1 and wanted.dtype.kind in "iu" and bool(((wanted >= 0) & (wanted < n)).all())
    if not is_right and wanted.size:
        raise ValueError(f"indices must be integers from 0 to {n - 1}, the places in answers_, not {places!r}")
    kept = np.delete(np.arange(n), wanted.astype(np.int64))
    return answers.some(kept, kept) if len(kept) else None


def known_outliers(outliers: Any, answers: Answers | None) -> Any:
    """Return the outliers of the fit and those among the answers; None if there are none."""
    found = None if answers is None else answers.of(-1)
    return outliers if found is None else found if outliers is None else joined(outliers, found)


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
    n = len(kept.indices) + len(removed.places)
    order = np.argsort(np.append(np.delete(np.arange(n), removed.places), removed.places))
    both = None if names is None else names + (removed.names or [])
    return TrainingRows(joined(kept.rows, removed.rows), np.append(kept.indices, removed.indices), both).some(order)


def taught(classifier: Any, answers: Answers | None) -> Any:
    """Return a copy that has learned these answers instead of its own.

    Training rows that an answer calls not normal are no longer normal rows. The limit and the p-values come from the
    normal rows that remain, each left out, without the correction around answered rows. So does the baseline of groups,
    unless the model keeps only some of its training rows: then it stays that of all.
    """
    found, before = copy(classifier), classifier.answers_
    found.__dict__.pop("_structure_", None)  # the regions of other rows
    normal, removed = rows_of_fit(classifier), _removed(classifier, answers)
    found.n_rows_ = classifier.n_rows_ + n_removed(before) - (0 if removed is None else len(removed.places))
    if removed is not None:
        normal = normal.some(np.delete(np.arange(len(normal.indices)), removed.places))
    if answers is not None:
        answers = replace(answers, removed=removed)
    if classifier.baseline_ is not None and classifier._is_whole:
        rows, found.outliers_ = found._relative_to_groups(normal.rows, classifier.outliers_)
        normal, answers = normal._replace(rows=rows), put_on(found.baseline_, answers)
    confirmed = None if answers is None else answers.of(1)
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
        removed = removed._replace(rows=baseline.put_on(removed.rows))
    return replace(answers, rows=baseline.put_on(answers.rows), removed=removed)


def _removed(classifier: Any, answers: Answers | None) -> TrainingRows | None:
    """Return the training rows that answers call not normal, and their copies."""
    outliers = known_outliers(None, answers)
    if outliers is None:
        return None
    known, tolerance = rows_of_fit(classifier), classifier.surprise_model_.neighbours.weightings[0].tolerance
    distances = classifier.measure_.prepare(outliers, known.rows).evaluate(classifier.weights_)
    places = np.flatnonzero((distances <= tolerance).any(axis=0))
    if len(places) == len(known.indices):
        raise ValueError("the answers call every training row not normal; fit a model to other rows")
    return known.some(places)._replace(places=places) if len(places) else None


@dataclass(frozen=True)
class Query:
    """A row to ask about, by its `index` in X, and the `reason` in plain words."""

    index: int
    reason: str


def _strangest(classifier: Any, patterns: Any, scores: Scores, n: int) -> list[Query]:
    """Return at most n rows, those of the lowest margins that have no answer yet; equal rows are shown once."""
    found: list[Query] = []
    answered = classifier.answers_
    keys = row_hashes(words_of(without_gaps(classifier.measure_, patterns)))
    known = set() if answered is None else set(row_hashes(words_of(answered.rows)).tolist())
    order = np.argsort(scores.margins, kind="stable")
    ranks = _p_values(classifier, scores, order)
    for place, key, rank in zip(order.tolist(), keys[order].tolist(), ranks.tolist(), strict=True):
        if len(found) == n:
            break
        if key not in known:
            known.add(key)
            is_rejected = bool(scores.margins[place] < classifier.threshold_)
            found.append(Query(place, f"{'rejected' if is_rejected else 'accepted'}, p-value {format_number(rank)}"))
    return found


def _most_helpful(classifier: Any, patterns: Any, scores: Scores, n: int) -> list[Query]:
    """Return at most n unusual rows that are unlike each other and unlike the answered ones."""
    places = _candidates(scores)
    ranks = _p_values(classifier, scores, places)
    rows, answers = patterns[places], classifier.answers_
    distances = _distances(classifier, rows, rows)
    # From the median dissimilarity of a row to its third nearest other row, or to the farthest of fewer.
    reach = REACH * float(np.median(np.sort(distances, axis=1)[:, min(3, len(distances) - 1)]))
    is_rejected, left = scores.margins[places] < classifier.threshold_, np.ones(len(places))
    if answers is not None:
        left = np.prod(_unlike(_distances(classifier, rows, answers.rows), reach), axis=1)
    found = []
    for _ in range(min(n, len(places))):
        worth = left / (ranks + HALF_WORTH)
        chosen = int(np.argmax(worth))
        if left[chosen] <= 0:  # copies of rows that are asked already
            break
        # Rows at half the dissimilarity of the nearest normal row would follow the answer.
        alike = float(classifier._embed(rows[[chosen]]).min()) / 2
        count = int((is_rejected & (distances[chosen] <= alike)).sum())
        found.append(Query(int(places[chosen]), _reason(count, bool(is_rejected[chosen]), float(ranks[chosen]))))
        left = left * _unlike(distances[chosen], reach)
        left[chosen] = 0.0
    return found


FIND = "find"
GOALS = {"learn": _most_helpful, FIND: _strangest}


def _candidates(scores: Scores) -> Indices:
    """Return the rows that may be asked, the most unusual first."""
    order = np.argsort(scores.margins, kind="stable")
    if len(order) <= CANDIDATES:
        return order
    half = CANDIDATES // 2
    further = np.linspace(half, max(UNUSUAL * len(order), CANDIDATES), half, endpoint=False).astype(np.int64)
    return order[np.append(np.arange(half), further)]


def _p_values(classifier: Any, scores: Scores, places: Indices) -> Matrix:
    """Return the p-values; of a model that is not calibrated, the share of the rows that are as unusual."""
    if classifier.calibration_ is not None:
        return np.asarray(classifier.calibration_.p_values(scores.margins[places]))
    ranks = np.searchsorted(np.sort(scores.margins), scores.margins[places], side="right")
    return np.asarray(ranks / len(scores.margins))


def _distances(classifier: Any, rows: Any, others: Any) -> Matrix:
    """Return the dissimilarity of each pair; of precomputed ones, how much two rows differ in theirs to others."""
    if is_pairwise(classifier.resolved_measure_):
        spaces = classifier._embed(rows), classifier._embed(others)
        return np.array([np.abs(spaces[1] - row).max(axis=1) for row in spaces[0]])
    return np.asarray(classifier.measure_.prepare(rows, others).evaluate(classifier.weights_))


def _unlike(distances: Matrix, reach: float) -> Matrix:
    """Return 0 for copies, and nearly 1 for rows far beyond the reach."""
    if reach == 0:
        return np.asarray((distances > 0).astype(np.float64))
    return np.asarray(-np.expm1(-((distances / reach) ** 2) / 2))


def _reason(n_alike: int, is_rejected: bool, rank: float) -> str:
    """Return why a row is asked about. `n_alike` rejected rows lie much nearer to it than any normal row."""
    if n_alike >= 4:
        return f"a group of {n_alike} alike"
    if is_rejected:
        return "first of a new kind"
    return "near the limit" if rank <= UNUSUAL else "an ordinary row"
