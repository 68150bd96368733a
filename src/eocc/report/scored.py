"""Rows with their scores and decisions, as the page shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.classifiers.base import OneClassClassifier, blocks_of
from eocc.foundation.arguments import n_threads
from eocc.foundation.threads import threads
from eocc.foundation.types import Flags, Indices, Matrix
from eocc.measures.difference import description_of
from eocc.plots.projection import Projection

# If more than this share of the new rows equal a training row, the model may have been trained on them.
MANY_KNOWN = 0.2


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """What the model says of each row.

    `ratios` say how far out rows lie, `scores` are log-memberships, `accepted` are the decisions, `points` (m, 2) the
    places in the plane. `nearest` are the regions, if they are shown, `p_values` those of a calibrated model,
    `is_normal` the labels, if they are known. `are_known` marks rows that do not differ from a prototype.
    """

    patterns: Any
    names: Sequence[str]
    ratios: Matrix
    scores: Matrix
    accepted: Flags
    points: Matrix
    nearest: Indices | None
    p_values: Matrix | None
    are_known: Flags
    is_normal: Flags | None = None

    def __len__(self) -> int:
        return len(self.ratios)

    @property
    def order(self) -> Indices:
        """The rows in order, the most unusual first."""
        return np.argsort(-self.ratios, kind="stable")

    @property
    def wrong(self) -> Flags:
        """Which decisions contradict the labels; none if there are no labels."""
        return np.zeros(len(self), bool) if self.is_normal is None else self.accepted != self.is_normal


def score_rows(
    classifier: OneClassClassifier,
    plane: Projection,
    patterns: Any,
    names: Sequence[str],
    is_normal: Flags | None = None,
    *,
    with_regions: bool = True,
) -> ScoredRows:
    """Return what the model says of patterns as the measure reads them.

    >>> from eocc import SurpriseClassifier
    >>> from eocc.plots.projection import project
    >>> clf = SurpriseClassifier().fit([[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]])
    >>> score_rows(clf, project(clf), np.array([[2.0, 2.0], [90.0, 0.0]]), ["a", "b"]).accepted
    array([ True, False])
    """
    blocks = []
    for block in blocks_of(patterns, classifier.n_compared):
        with threads(n_threads(classifier.n_jobs)):
            scores, rows = classifier.score_patterns(block), classifier.embed(block)
        nearest = classifier.nearest_regions(rows) if with_regions else np.zeros(len(rows), np.int64)
        found = scores.ratios, scores.log_memberships, scores.margins, plane.place(rows), rows.min(axis=1) == 0
        blocks.append((*found, nearest))
    ratios, logs, margins, points, known, nearest = (np.concatenate(part) for part in zip(*blocks, strict=True))
    calibration = classifier.calibration_
    return ScoredRows(
        patterns=patterns,
        names=names,
        ratios=ratios,
        scores=logs,
        accepted=margins - classifier.threshold_ >= 0,
        points=points,
        nearest=nearest if with_regions else None,
        p_values=None if calibration is None else calibration.p_values(margins),
        are_known=known,
        is_normal=is_normal,
    )


def described(classifier: OneClassClassifier, patterns: Any, index: int) -> str:
    """Return one pattern in a few words; "" if the measure has none.

    >>> from eocc import SurpriseClassifier
    >>> clf = SurpriseClassifier(measure="string-edit").fit(["oak", "oaks", "elm"])
    >>> described(clf, clf.prototypes_, 2)
    "'elm'"
    """
    return description_of(classifier.measure_, patterns[index : index + 1], classifier.feature_names)
