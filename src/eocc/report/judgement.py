"""Patterns as the page tells of them: how far, decided how, where in the plane, called what."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.explain import Explanation, explain
from eocc.explain.explain import names_of
from eocc.explain.regions import prototype_labels
from eocc.foundation.arguments import n_threads
from eocc.foundation.threads import threads
from eocc.foundation.types import Indices, Matrix
from eocc.measures.difference import description_of
from eocc.plots.projection import Projection, decides_by_regions

# Patterns are held against the prototypes so many at a time: the dissimilarities of all need not fit.
BLOCK = 1024
# Where more than this share of new patterns do not differ from one the model knows, it may be trained on them.
MANY_KNOWN = 0.2


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the model says of each pattern.

    `ratios` tell how far each lies, 1 at the border, `scores` are log-memberships, `accepted` the decisions, `nearest`
    the regions, `points` (m, 2) the places in the plane, `p_values` those of a calibrated model, `is_target` the labels
    if they are known; `are_known` says which do not differ from a prototype.
    """

    patterns: Any
    names: Sequence[str]
    ratios: Matrix
    scores: Matrix
    accepted: NDArray[np.bool_]
    nearest: Indices
    points: Matrix
    p_values: Matrix | None
    are_known: NDArray[np.bool_]
    is_target: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.ratios)

    @property
    def strangest(self) -> Indices:
        """The patterns, the least normal first; ties in their order."""
        return np.argsort(-self.ratios, kind="stable")

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which decisions contradict the labels; none where there are no labels."""
        return np.zeros(len(self), bool) if self.is_target is None else self.accepted != self.is_target


def judge(
    classifier: EntropicOneClassClassifier,
    plane: Projection,
    patterns: Any,
    names: Sequence[str],
    is_target: NDArray[np.bool_] | None = None,
) -> Judgement:
    """Return what the model says of patterns that its measure has read.

    >>> from eocc.plots.projection import project
    >>> clf = EntropicOneClassClassifier(search=None).fit([[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]])
    >>> judge(clf, project(clf), np.array([[2.0, 2.0], [90.0, 0.0]]), ["a", "b"]).accepted
    array([ True, False])
    """
    with threads(n_threads(classifier.n_jobs)):
        blocks = [_judged(classifier, plane, patterns[i : i + BLOCK]) for i in range(0, len(patterns), BLOCK)]
    ratios, scores, margins, nearest, points, known = (np.concatenate(part) for part in zip(*blocks, strict=True))
    calibration = getattr(classifier, "calibration_", None)
    return Judgement(
        patterns=patterns,
        names=names,
        ratios=ratios,
        scores=scores,
        accepted=margins - classifier.threshold_ >= 0,
        nearest=nearest,
        points=points,
        p_values=None if calibration is None else calibration.p_values(margins),
        are_known=known,
        is_target=is_target,
    )


def _judged(classifier: EntropicOneClassClassifier, plane: Projection, patterns: Any) -> tuple[Any, ...]:
    prepared = classifier.measure_.prepare(patterns, classifier.prototypes_)
    verdicts, rows = classifier._verdicts(patterns, prepared), prepared.evaluate(classifier.weights_)
    nearest = nearest_regions(classifier, rows)
    return (
        verdicts.ratios,
        verdicts.log_memberships,
        verdicts.margins,
        nearest,
        plane.place(rows),
        rows.min(axis=1) == 0,
    )


def nearest_regions(classifier: EntropicOneClassClassifier, rows: Matrix) -> Indices:
    """Return the region of each row of the dissimilarity space: that which decides, or that of its nearest prototype.

    >>> clf = EntropicOneClassClassifier().fit([[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]])
    >>> bool((nearest_regions(clf, clf.transform(clf.prototypes_)) == clf.labels_).all())
    True
    """
    if decides_by_regions(classifier):
        return np.asarray(classifier.fuzzy_model_.nearest_region(rows))
    return np.asarray(prototype_labels(classifier)[rows.argmin(axis=1)])


def explain_read(classifier: EntropicOneClassClassifier, patterns: Any) -> list[Explanation]:
    """Return the explanations of patterns that the measure has read already.

    >>> clf = EntropicOneClassClassifier(search=None).fit([[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]])
    >>> explain_read(clf, clf.prototypes_[3:])[0].is_target
    True
    """
    # What is read need not be readable anew: precomputed rows, say, or a measure of the user's own.
    knowing: Any = copy.copy(classifier)
    knowing._read = lambda X, *, reset: X
    return explain(knowing, patterns)


def described(classifier: EntropicOneClassClassifier, patterns: Any, index: int) -> str:
    """Return a few words on one pattern; nothing where none can be said.

    >>> clf = EntropicOneClassClassifier(measure="string-edit", search=None).fit(["oak", "oaks", "elm"])
    >>> described(clf, clf.prototypes_, 2)
    "'elm'"
    """
    return description_of(classifier.measure_, patterns[index : index + 1], names_of(classifier))


def evenly(indices: Indices, most: int) -> Indices:
    """Return at most `most` of the indices, spread evenly over them.

    >>> evenly(np.arange(10), 4), evenly(np.arange(2), 4)
    (array([0, 2, 5, 7]), array([0, 1]))
    """
    return indices if len(indices) <= most else indices[np.arange(most) * len(indices) // max(most, 1)]
