"""Training rows, and known outliers if there are any -> the surprise model: score, threshold, p-values."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.calibration.conformal import Calibration, rate_for
from eocc.foundation.types import Matrix
from eocc.measures.protocol import ComparesRows
from eocc.regions.scores import decision_margin
from eocc.space.dissimilarity_space import check_measure
from eocc.space.representation import Representation
from eocc.space.weightings import weightings_of
from eocc.surprise.comparison import Comparison
from eocc.surprise.likelihood_ratio import BothKinds, LikelihoodRatio, fit_likelihood_ratio
from eocc.surprise.score import Surprise, Threshold, fit_surprise


@dataclass(frozen=True, eq=False)
class SurpriseModel:
    """The surprise and its threshold; with labels also the likelihood ratio and the known `outliers`.

    `left_out` (n,) is the surprise of every training row, left out of its own neighbours.
    """

    surprise: Surprise
    threshold: Threshold
    left_out: Matrix
    likelihood_ratio: LikelihoodRatio | None = None
    outliers: Any = None

    @property
    def left_out_ratios(self) -> Matrix:
        """The ratio of every training row, left out: above 1 it is rejected."""
        return self.threshold.ratios(self.left_out)

    @property
    def n_outliers(self) -> int:
        """How many known outliers new rows are compared with."""
        return 0 if self.outliers is None else len(self.outliers)

    def surprises(self, rows: Comparison) -> Matrix:
        """Return the surprise of new patterns."""
        terms = self.surprise.terms(rows)
        if self.likelihood_ratio is None:
            return self.surprise.of_terms(terms)
        return self.likelihood_ratio.of_columns(self.labelled_columns(terms, rows))

    def labelled_columns(self, terms: Matrix, rows: Comparison) -> Matrix:
        """Return the columns of the likelihood ratio of new patterns."""
        assert self.likelihood_ratio is not None
        return self.likelihood_ratio.columns(self.surprise, terms, against_both(rows, self.outliers))


def against_both(rows: Comparison, outliers: Any) -> BothKinds:
    """Return patterns against the normal rows and, none of them being an outlier itself, against the known outliers."""
    return BothKinds(rows, Comparison(rows.measure, rows.patterns, outliers, np.full(len(rows.patterns), -1)))


def fit_surprise_model(
    representation: Representation, weights: Matrix, outliers: Any, rate: float | None
) -> tuple[SurpriseModel, Calibration]:
    """Return the model and its calibration by the left-out training rows.

    `rate` is the share of new normal rows to reject; None means 0.05, or 1 / (n + 1) for fewer than 19 rows.
    """
    measure, prototypes = representation.measure, representation.prototypes
    among = Comparison(measure, prototypes, prototypes, np.arange(len(prototypes)))
    training = among if representation.is_whole else Comparison(measure, representation.patterns, prototypes)
    if not isinstance(measure, ComparesRows):
        check_measure(measure, training.prepared, np.empty((len(representation.patterns), len(prototypes))))
    surprise, terms = fit_surprise(list(weightings_of(representation, weights)), among, training)
    surprises, likelihood_ratio = surprise.of_terms(terms), None
    if outliers is not None:
        labelled = Comparison(measure, outliers, prototypes)
        outlier_terms = surprise.terms(labelled)
        among_outliers = Comparison(measure, outliers, outliers, np.arange(len(outliers)))
        likelihood_ratio, surprises = fit_likelihood_ratio(
            surprise, terms, against_both(training, outliers), outlier_terms, BothKinds(labelled, among_outliers)
        )
    share = rate_for(rate, len(surprises))
    threshold = Threshold.fit(surprises, share)
    calibration = Calibration(np.sort(decision_margin(threshold.ratios(surprises))), share)
    return SurpriseModel(surprise, threshold, surprises, likelihood_ratio, outliers), calibration
