"""Unlabelled rows -> those whose labels would help most, or those that are most likely outliers.

To *find* outliers, the strangest rows are shown first.

To *learn*, a row is worth asking about if it is unusual: worth 1 / (p + 0.05) at the p-value p, so that rows near the
limit count half as much as the strangest. A row similar to one that was asked or answered is worth less: 1 - exp(-(d /
h)^2 / 2) of it, at the dissimilarity d. h is twice the median dissimilarity of a row to its third nearest among the
candidates. Rows are chosen one by one, each the most valuable of those that remain.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.types import Indices, Matrix
from eocc.base.wording import format_number
from eocc.classifiers.answers import without_gaps
from eocc.entropic.rules import Scores
from eocc.measures.auto import is_pairwise
from eocc.space.prototypes.content import row_hashes, words_of

# At a p-value of this, a row is worth half as much as the strangest.
HALF_WORTH = 0.05
# So many rows are candidates: half are the most unusual, half are evenly spaced among the other unusual rows.
CANDIDATES = 400
# A row counts as unusual if at most this share of all rows is more so.
UNUSUAL = 0.3
# Similar rows lie within this multiple of the median dissimilarity to the third nearest.
REACH = 2.0


@dataclass(frozen=True)
class Query:
    """A row to ask about, by its `index` in X, and the `reason` in plain words."""

    index: int
    reason: str


LEARN, FIND = GOALS = ("learn", "find")


def choose_queries(classifier: Any, patterns: Any, n: int, goal: str) -> list[Query]:
    """Return at most n rows, the most helpful first, or the strangest first."""
    if goal not in GOALS:
        raise ValueError(f"unknown goal {goal!r}; known: {', '.join(GOALS)}")
    scores = classifier._score_read(patterns)
    return (_strangest if goal == FIND else _most_helpful)(classifier, patterns, scores, n)


def _strangest(classifier: Any, patterns: Any, scores: Scores, n: int) -> list[Query]:
    """Return the rows of the lowest margins that have no answer yet; equal rows are shown once."""
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
    """Return unusual rows that are unlike each other and unlike the answered ones."""
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
