"""What a fit learnt -> verdicts: how far a pattern lies from what is normal, and to what degree it belongs there.

Two ways to decide. By *regions*, the paper's: the least distance to a region's representative in its extents. By
*surprise*, at several resolutions at once, with or without known non-targets; the regions then tell where it lies.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.calibration.conformal import Calibration, check_rate
from eocc.measures.protocol import FittedMeasure, Prepared
from eocc.regions.fuzzy import FuzzyModel, decision_margin, log_grades
from eocc.regions.memberships import MembershipFunction
from eocc.space.representation import Representation
from eocc.space.weightings import views_of
from eocc.surprise.likelihood_ratio import Contrast, Examples, NewPatterns, Pairs, learn_contrast
from eocc.surprise.score import Border, Surprise, learn_surprise, surprise_of

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]

# The share of new targets beyond the border where the user named none.
USUAL_RATE = 0.05


@dataclass(frozen=True, eq=False)
class Scores:
    """For every pattern: its `ratio`, d / tau or what stands for it, 1 at the border; and its log-membership."""

    ratios: Matrix
    log_memberships: Matrix

    @property
    def margins(self) -> Matrix:
        """(1 - ratio^2) / 2: >= 0 for targets, unless calibrated to another threshold."""
        return decision_margin(self.ratios)


def usual_rate(n: int) -> float:
    """Return USUAL_RATE, or one of n + 1 where n targets are too few for it: what is stranger than all lies beyond.

    >>> usual_rate(100), usual_rate(4)
    (0.05, 0.2)
    """
    return max(USUAL_RATE, 1 / (n + 1))


def by_regions(model: FuzzyModel, rows: Matrix) -> Scores:
    """Judge rows of the dissimilarity space by the region where d / tau is least."""
    return Scores(model.ratios(rows).min(axis=1), model.log_membership(rows))


@dataclass(frozen=True, eq=False)
class KnownOthers:
    """Known non-targets and further targets; they `are_comparable` where dissimilarities to them can be known."""

    others: Any
    more_targets: Any
    are_comparable: bool


@dataclass(frozen=True, eq=False)
class SurpriseModel:
    """Surprise and its border; with labels also what these add, and the `others`, the non-targets known.

    `left_out` (n,) is the surprise of every training pattern, left out of its own neighbours.
    """

    surprise: Surprise
    border: Border
    left_out: Matrix
    contrast: Contrast | None = None
    others: Any = None

    @property
    def left_out_ratios(self) -> Matrix:
        """What stands for d / tau of every training pattern, left out."""
        return self.border.ratios(self.left_out)

    @property
    def n_others(self) -> int:
        """How many known others new patterns are compared with."""
        return 0 if self.others is None else len(self.others)

    def ratios(self, measure: FittedMeasure, patterns: Any, to_prototypes: Prepared) -> Matrix:
        """Return what stands for d / tau of new patterns, prepared against the prototypes."""
        terms = self.surprise.columns(to_prototypes)
        if self.contrast is None:
            return self.border.ratios(surprise_of(terms))
        pairs = None
        if self.others is not None:
            pairs = Pairs(NewPatterns(to_prototypes), NewPatterns(measure.prepare(patterns, self.others)))
        return self.border.ratios(self.contrast.of(self.surprise, terms, pairs))


def by_surprise(ratios: Matrix, function: MembershipFunction) -> Scores:
    """Grade the ratios."""
    return Scores(ratios, log_grades(function, ratios[:, None])[:, 0])


def learn_decision(
    representation: Representation, weights: Matrix, known: KnownOthers | None, rate: float | None
) -> tuple[SurpriseModel, Calibration]:
    """Return the model of surprise for a search's weights, and its calibration by left-out training patterns.

    `rate` is the share of targets beyond the border, by default USUAL_RATE, or one of n + 1 where they are few.
    """
    surprise, terms = learn_surprise(representation, list(views_of(representation, weights)))
    contrast, others, surprises = None, None, surprise_of(terms)
    if known is not None:
        others = known.others if known.are_comparable else None
        contrast, surprises = _learn_contrast(representation, surprise, terms, known)
    n = len(surprises)
    if rate is not None:
        check_rate(rate, n)
    share = usual_rate(n) if rate is None else rate
    border = Border.of(surprises, share)
    model = SurpriseModel(surprise, border, surprises, contrast, others)
    return model, Calibration(np.sort(decision_margin(model.left_out_ratios)), share)


def _learn_contrast(
    representation: Representation, surprise: Surprise, terms: Matrix, known: KnownOthers
) -> tuple[Contrast, Matrix]:
    """Return what the labels add, and the surprise of the training targets in its light."""
    measure, prototypes, others = representation.measure, representation.prototypes, known.others
    nobody, no_prototype = np.full(len(others), -1), np.full(len(representation.prototype_indices), -1)

    def examples(patterns: Any, own_others: Indices) -> Examples:
        to_targets = Representation(measure, patterns, prototypes, no_prototype, is_whole=False)
        return Examples(surprise.columns(to_targets.prepared), pairs_of(to_targets, own_others))

    def pairs_of(to_targets: Representation, own_others: Indices) -> Pairs | None:
        if not known.are_comparable:
            return None
        return Pairs(to_targets, Representation(measure, to_targets.patterns, others, own_others, is_whole=False))

    pairs = pairs_of(representation, nobody)
    more = examples(known.more_targets, nobody) if len(known.more_targets) else None
    return learn_contrast(surprise, Examples(terms, pairs), examples(others, np.arange(len(others))), more)
