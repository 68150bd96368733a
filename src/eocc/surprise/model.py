"""Prototypes, and known outliers if there are any -> the surprise model."""

from dataclasses import dataclass
from typing import Any

from eocc.foundation.types import Matrix
from eocc.space.weightings import LeftOutWeights
from eocc.surprise.comparison import Comparison, FullComparison, Nearest, Reference
from eocc.surprise.likelihood_ratio import BothKinds, LikelihoodRatio, fit_likelihood_ratio
from eocc.surprise.score import Surprise, Threshold, fit_surprise


@dataclass(frozen=True, eq=False)
class SurpriseModel:
    """The surprise among the `normal` rows, and its threshold; with labels also the likelihood ratio and the outliers.

    `normal` and `outliers` are the rows that new rows are compared with.
    """

    normal: Reference
    surprise: Surprise
    threshold: Threshold
    likelihood_ratio: LikelihoodRatio | None = None
    outliers: Reference | None = None

    @property
    def n_outliers(self) -> int:
        """How many known outliers new rows are compared with."""
        return 0 if self.outliers is None else len(self.outliers)

    def surprises(self, patterns: Any) -> Matrix:
        """Return the surprise of new patterns."""
        return self.surprises_compared(*self.compare(patterns))

    def surprises_compared(self, rows: Comparison, near: list[Nearest]) -> Matrix:
        """Return the surprise of patterns whose nearest normal rows are known."""
        terms = self.surprise.terms(near)
        if self.likelihood_ratio is None:
            return self.surprise.of_terms(terms)
        return self.likelihood_ratio.of_columns(self.labelled_columns(terms, rows, near))

    def compare(self, patterns: Any) -> tuple[Comparison, list[Nearest]]:
        """Return new patterns compared with the normal rows, and the nearest of these."""
        has_labels = self.likelihood_ratio is not None
        rows = self.normal.compare_fully(patterns) if has_labels else self.normal.compare(patterns)
        return rows, self.surprise.nearest(rows)

    def labelled_columns(self, terms: Matrix, rows: Comparison, near: list[Nearest]) -> Matrix:
        """Return the columns of the likelihood ratio of new patterns."""
        assert self.likelihood_ratio is not None
        assert self.outliers is not None
        assert isinstance(rows, FullComparison)
        both = BothKinds(rows, near, self.outliers.compare_fully(rows.patterns))
        return self.likelihood_ratio.columns(self.surprise, terms, both)


def fit_surprise_model(
    normal: Reference, outliers: Any, left_out: LeftOutWeights
) -> tuple[SurpriseModel, Matrix, float]:
    """Return the model, the surprise of every normal row as if it were new, and how much a step changes the surprise.

    The threshold of the model is still to be set. The step is that between common distances, 0 if there are none.
    """
    among = normal.among_itself()
    surprise, terms, steps = fit_surprise(among, left_out)
    unset = Threshold(0.0, 1.0)
    if outliers is None:
        model, surprises = SurpriseModel(normal, surprise, unset), surprise.of_terms(terms)
        step = float(surprise.of_terms(steps[None])[0])
    else:
        known, to_normal = normal.of_outliers(outliers), normal.compare_fully(outliers)
        near, outlier_near = surprise.nearest_left_out(among), surprise.nearest(to_normal)
        ratio, surprises = fit_likelihood_ratio(
            surprise,
            terms,
            BothKinds(among, near, known.compare_fully(normal.prototypes)),
            surprise.terms(outlier_near),
            BothKinds(to_normal, outlier_near, known.among_itself()),
        )
        model = SurpriseModel(normal, surprise, unset, ratio, known)
        step = float(steps @ (ratio.coefficients / ratio.standardisation.scale)[: len(steps)])
    if surprise.leave_twins_out(among):
        surprises = model.surprises_compared(among, surprise.nearest_left_out(among))
    return model, surprises, step
