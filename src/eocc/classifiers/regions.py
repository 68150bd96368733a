"""RegionClassifier: at most twenty regions of one shape, each a rule."""

import json
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from math import ceil
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from eocc.base.estimator import check_is_fitted
from eocc.base.registry import FEW, listed
from eocc.base.threads import n_threads, threads
from eocc.base.types import Flags, Indices, Matrix
from eocc.base.wording import counted, format_number, wrapped
from eocc.calibration.conformal import Calibration, Tally, joined, rank_of, ranks_of, rate_for
from eocc.classifiers.learning import LearnsRows
from eocc.classifiers.own_state import REGION_KEYS, region_state, restore_regions
from eocc.classifiers.parameters import REGION_PARAMETERS
from eocc.classifiers.updating import Batch
from eocc.ellipsoids.features import ColumnFeatures, PairFeatures, has_columns, has_rows, pair_features, row_coordinates
from eocc.ellipsoids.model import EllipsoidModel, EllipsoidRegion, learn_ellipsoids, means_of, radius, with_outliers
from eocc.entropic.graph import SpanningTree
from eocc.entropic.rules import BOUNDARY, Scores, decision_margin
from eocc.explain.by_regions import explain_by_ellipsoids
from eocc.explain.explanation import reach_of
from eocc.explain.rules import Rule, correlations_of, ellipsoid_rules, normal_rows
from eocc.formats.export import formula_of, python_module, select_statement
from eocc.kernels.content import row_hashes
from eocc.measures.function import OwnFitted
from eocc.measures.protocol import Measure
from eocc.scale.memory import MARGIN, OVERHEAD
from eocc.space.prototypes.content import words_of
from eocc.space.representation import check_measure

# The number of regions if the user gives none.
N_REGIONS = 20
# Regions are fitted to at most this many rows of a table, chosen by content; all rows calibrate.
MOST_ROWS = 5000
# The same for other objects: the model keeps them, and compares every new object with them.
MOST_OBJECTS = 2000
# The model keeps this many quantiles of its training rows, for p-values: 4 KiB.
MOST_MARGINS = 500


class RegionClassifier(LearnsRows):
    """Describes normal rows by at most twenty regions of one shape, each a rule that a person can read.

    The minimum spanning tree of the rows is cut where that lowers the scatter within the parts most. Every part is a
    region; all regions share one covariance, pooled over them and shrunk. The membership of a row is the weighted sum
    of its Gaussian grades in the regions. The limit and the p-values come from the training rows, each left out of its
    region and of the covariance. There is no search and nothing random.

    A model of rows of numbers holds centres, deviations, one matrix, weights and quantiles: 16 kB for ten columns. It
    holds a training row only as the centre of a region of one row.

    The shape of the regions makes up for most weights: a weight of 0 leaves a column out, others change little.

    Attributes
    ----------
    regions_ : list of EllipsoidRegion
        The regions, the largest first: `n_members`, `weight`, and `representative`, the training row nearest to the
        centre, as an index of `training_indices_`.
    ellipsoids_ : EllipsoidModel
        Where rows lie, centres and weights of the regions, and the regions of known outliers.
    prototypes_ : array, table or objects
        The centres of the regions for rows of numbers, the rows nearest to them for other tables, else the training
        objects that new objects are compared with.
    training_indices_, prototype_indices_ : array
        The rows of X that the prototypes are or belong to, and 0, 1, 2, ... for each of them.
    labels_ : array
        The region of each row in `training_indices_`.
    spanning_tree_ : SpanningTree
        The edges between regions that were cut, as edges between their representatives.
    threshold_, offset_ : float
        decision_function is score_samples - offset_; threshold_ is the margin at the limit.
    calibration_, n_rows_, measure_, resolved_measure_, weights_, n_features_in_, feature_names_in_, reading_
        As for SurpriseClassifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eocc import RegionClassifier
    >>> X = load_iris().data
    >>> clf = RegionClassifier().fit(X[:40])  # 40 setosas
    >>> clf.predict(X[[40, 75, 149]])
    array([ 1, -1, -1])
    """

    _parameters = REGION_PARAMETERS
    _state_keys = REGION_KEYS
    _space_name, _unit = "Space of the regions, in widths", "widths"
    _how_far_out_name = "distance from the regions, in their widths"
    _scores_left_out = False
    _own_state, _restore_own = region_state, restore_regions
    _explain_rows = explain_by_ellipsoids
    ellipsoids_: EllipsoidModel
    features_: ColumnFeatures | PairFeatures
    representatives_: Indices
    region_tree_: Indices

    def __init__(
        self,
        *,
        measure: str | Measure | Callable[[Any, Any], float] = "auto",
        n_regions: int = N_REGIONS,
        weights: ArrayLike | None = None,
        false_alarm_rate: float | None = None,
        baseline_by: str | Sequence[str] | None = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.measure, self.n_regions, self.weights, self.baseline_by = measure, n_regions, weights, baseline_by
        self.false_alarm_rate, self.max_memory, self.n_jobs = false_alarm_rate, max_memory, n_jobs

    def _learn(self, patterns: Any, numbers: Indices, outliers: Any) -> Matrix:
        n = self.n_rows_
        if self.n_regions > max(n, N_REGIONS):
            raise ValueError(f"n_regions is {self.n_regions}, but there are {n} normal rows; pass at most {n}")
        # In the order of their content, so that the order of the rows does not matter.
        order = np.argsort(row_hashes(words_of(patterns)), kind="stable")
        patterns, measure = patterns[order], self.resolved_measure_
        with threads(self.n_jobs):
            fitted = measure.fit_roughly(patterns)
            weights = self._weights_of(fitted)
            if has_columns(fitted):
                features: ColumnFeatures | PairFeatures = ColumnFeatures(fitted, weights)
                coordinates = row_coordinates(features.of(patterns))
            else:
                prepared = fitted.prepare(patterns)
                if isinstance(fitted, OwnFitted):
                    check_measure(fitted, prepared, np.empty((len(patterns), len(patterns))))
                features, coordinates = pair_features(fitted, weights, patterns, prepared)
            learned = learn_ellipsoids(coordinates, self.n_regions)
            if outliers is not None:
                rank = rank_of(rate_for(self.false_alarm_rate, len(numbers)), len(numbers))
                limit = float(np.sort(learned.radii)[-rank])  # up to this radius rows are normal
                places = learned.model.placement.place(features.of(outliers))
                learned = with_outliers(learned, places, limit, self.n_regions)
        self.weights_, self.ellipsoids_ = weights, learned.model
        self._keep(fitted, patterns, numbers[order], learned, features)
        return learned.radii

    def _keep(self, measure: Any, patterns: Any, numbers: Indices, learned: Any, features: Any) -> None:
        """Set what the model keeps of the training patterns, `numbers` of X: centres, their nearest rows, or all."""
        own = numbers[learned.representatives]
        if isinstance(features, PairFeatures):
            order = np.argsort(numbers)
            placement = self.ellipsoids_.placement
            placed = replace(placement, origin=placement.origin[order], axes=placement.axes[order].copy())
            self.ellipsoids_ = replace(self.ellipsoids_, placement=placed)
            self.prototypes_, self.labels_ = patterns[order], learned.labels[order]
            self.features_ = replace(features, prototypes=self.prototypes_)
        else:
            order = learned.representatives[np.argsort(own)]
            self.labels_ = np.argsort(own)
            self.ellipsoids_ = self.ellipsoids_.with_deviations(features.of(patterns), learned.labels)
            self.prototypes_ = patterns[order]
            if has_rows(measure):
                rows = measure.unit.measure(patterns)
                self.prototypes_ = measure.unit.restored(means_of(rows, learned.labels, len(own)))[self.labels_]
                measure = replace(measure, donors=self.prototypes_[:1].copy())  # `filled` of the model fills gaps
                centres = features.of(self.prototypes_)[np.argsort(self.labels_)]
                ends = None if self.reading_ else np.array([patterns.min(axis=0), patterns.max(axis=0)])
                self.ellipsoids_ = replace(self.ellipsoids_.with_centres(centres), ends=ends)
            self.features_ = replace(features, measure=measure)
        self.measure_, self.training_indices_ = measure, numbers[order]
        self.prototype_indices_ = np.arange(len(order))
        self.representatives_ = np.searchsorted(self.training_indices_, own)
        self.outliers_ = None  # their regions stand for them
        self.region_tree_ = learned.tree

    def _kept_rows(self, forget: Any, day: Any, first: Any = None) -> tuple[tuple[Batch, ...], Flags]:
        if forget is not None:
            raise ValueError("a RegionClassifier keeps no rows that it could forget; fit it again to the rows to keep")
        return (), np.ones(len(self.prototypes_), bool)

    def _updated(self, new: Any, batch: Batch, history: tuple[Batch, ...], kept: Flags, names: Any = None) -> Self:
        found, known, margins = copy(self), self._calibrated(), self._score_read(new).margins
        found.n_rows_ = self.n_rows_ + len(margins)
        rate, ranks = self._kept_ranks(found.n_rows_)
        before = ranks_of(len(known.margins), self.n_rows_, known.rate)
        found._set_margins(-joined(-known.margins, before, self.n_rows_, -margins, ranks), rate)
        return found

    def _calibrate_on(self, tally: Tally) -> None:
        rate, ranks = self._kept_ranks(tally.total)
        self._set_margins(decision_margin(tally.largest(ranks)), rate)

    def _kept_ranks(self, n: int) -> tuple[float, Indices]:
        """Return the false-alarm rate of n rows, and the ranks of the rows whose margins the model keeps."""
        rate = rate_for(self.false_alarm_rate, n)
        return rate, ranks_of(min(n, max(MOST_MARGINS, ceil(1 / rate))), n, rate)

    def _set_margins(self, margins: Matrix, rate: float) -> None:
        found, of_copies, of_width = Calibration(margins, rate), *decision_margin(np.array([0.0, 1.0]))
        if found.threshold == of_copies:  # copies of a row: rows up to one width away are like them
            found = Calibration(np.minimum(margins, of_width), rate)
        self.calibration_, self.threshold_ = found, found.threshold
        self.offset_ = self.threshold_ - BOUNDARY**2 / 2

    def _calibration_values(self, patterns: Any) -> Matrix:
        return self._score_patterns(patterns).ratios

    def _score_patterns(self, patterns: Any) -> Scores:
        """Return the scores of patterns as the measure reads them: the ratio is sqrt(-2 ln membership)."""
        logs = self.ellipsoids_.log_memberships(self.features_.of(patterns))
        return Scores(radius(logs), np.minimum(logs, 0.0))

    def _embed(self, patterns: Any) -> Matrix:
        """Return where patterns lie, in widths of the regions: Euclidean distances are Mahalanobis distances."""
        return self.ellipsoids_.place(self.features_.of(patterns))

    def _plan_fit(self, n: int, n_columns: int, pair_bytes: float = 0.0, n_outliers: int = 0) -> tuple[float, str, int]:
        count = min(n, MOST_OBJECTS if pair_bytes else MOST_ROWS)
        if pair_bytes:  # squared dissimilarities, their eigenvectors, coordinates and distances
            kept = (pair_bytes + 56) * count * (count + n_outliers)
        else:
            kept = 8.0 * (count + n_outliers) * (12 * n_columns + 60) + 24 * n_columns**2
        block = n_threads(self.n_jobs) * 2**23 if n > count else 0
        needed = OVERHEAD + MARGIN * (8 * n * n_columns + kept + block)
        if pair_bytes and has_columns(self.resolved_measure_.fitted_class):
            count = min(n, MOST_ROWS)
        return needed, "pass fewer rows, or raise max_memory", count

    @property
    def _n_features_out(self) -> int:
        return len(self.ellipsoids_.placement.scales) + 1

    @property
    def _prototypes_in_words(self) -> str:
        named = f"the centres of {counted(len(self.regions_), 'region')}"
        return super()._prototypes_in_words if self._keeps_training_rows else named

    @property
    def _reference_rows(self) -> Any:
        return normal_rows(self) if has_columns(self.measure_) else super()._reference_rows

    @property
    def _region_centres(self) -> Matrix:
        return self.ellipsoids_.regions.centres

    @property
    def _region_reaches(self) -> Matrix | None:  # type: ignore[override]
        """How far each region reaches by itself: the distance at which its weighted grade is that of the limit.

        None if the data have no columns: in hundreds of dimensions, a circle on a map would hold every row.
        """
        if not has_columns(self.measure_):
            return None
        limit, logs = reach_of(self.threshold_), self.ellipsoids_.regions.log_weights
        return np.sqrt(np.maximum(limit**2 + 2 * logs, 0.0))

    def _map_rows(self, columns: Indices) -> Matrix:
        """Return the places of training rows, or centres and rows one width from their mean, if there are no rows."""
        if not has_columns(self.measure_):
            return self._map_points(self.prototypes_, columns)
        centres = self._region_centres
        apart = np.eye(centres.shape[1])[:50]
        return np.vstack([centres, centres.mean(axis=0) + apart, centres.mean(axis=0) - apart])[:, columns]

    def _map_points(self, patterns: Any, columns: Indices) -> Matrix:
        return self._embed(patterns)[:, columns]

    def _map_in_words(self, row_name: str) -> str:
        return "Distances count the widths of the regions, which all have the same shape."

    @cached_property
    def regions_(self) -> list[EllipsoidRegion]:  # type: ignore[override]
        """The regions, the largest first."""
        counts = self.ellipsoids_.regions.counts
        pairs = zip(counts.tolist(), self.representatives_.tolist(), strict=True)
        return [EllipsoidRegion(n, n / float(counts.sum()), one) for n, one in pairs]

    @property
    def spanning_tree_(self) -> SpanningTree:
        """The edges between regions that were cut, as edges between their representatives."""
        ends, centres = self.region_tree_, self.ellipsoids_.regions.centres
        edges = np.sort(self.representatives_[ends], axis=1)
        return SpanningTree(edges, np.sqrt(((centres[ends[:, 0]] - centres[ends[:, 1]]) ** 2).sum(axis=1)))

    @property
    def _keeps_training_rows(self) -> bool:  # type: ignore[override]
        """Whether the prototypes are training rows: for rows of numbers they are centres of regions."""
        return not has_rows(self.measure_)

    def rules(self) -> list[Rule]:
        """Return the regions as rules for people to read, the largest region first."""
        check_is_fitted(self)
        return ellipsoid_rules(self)

    def __str__(self) -> str:
        """Return the rules of a fitted model, one line each."""
        if not hasattr(self, "ellipsoids_"):
            return repr(self)
        return "\n".join([*wrapped(self._describe(), 0), *map(str, self.rules())])

    def to_sql(
        self,
        table: str | Sequence[str],
        dialect: str = "duckdb",
        *,
        columns: Sequence[str] | None = None,
        keep: Sequence[str] | None = None,
    ) -> str:
        """Return one SELECT statement that scores the rows of a table, without any training row in it.

        It has the columns to `keep` (by default those of the model), then score, p_value and decision, which are NULL
        for rows with a NULL. The `dialect` is "duckdb", "postgres", "sqlite" or "bigquery". A table in a schema is a
        list of names, for example ["main", "parts"]. `columns` are the names in the table, if they are not those of the
        fit. For rows of numbers, and for tables of numbers, categories and levels.
        """
        check_is_fitted(self)
        return select_statement(formula_of(self, columns), table, dialect, keep)

    def to_python(self, *, columns: Sequence[str] | None = None) -> str:
        """Return a Python module, as text, that scores rows and imports nothing but math."""
        check_is_fitted(self)
        return python_module(formula_of(self, columns))

    def to_json(self, *, columns: Sequence[str] | None = None) -> str:
        """Return the numbers of the model as JSON: see `eocc.formats.export.formula.Formula` for their meaning."""
        check_is_fitted(self)
        return json.dumps(formula_of(self, columns).to_dict())

    def _facts(self) -> dict[str, Any]:
        outliers, kept = self.ellipsoids_.outliers, len(self.prototypes_)
        if not self._keeps_training_rows:  # the centre of a region of one row is that row
            kept = sum(region.n_members == 1 for region in self.regions_)
        return {
            "method": "regions",
            "regions": len(self.regions_),
            "training rows in the model": kept,
            "known outliers": None if outliers is None else int(outliers.counts.sum()),
            "false-alarm rate": self._calibrated().rate,
            "limit, in widths": reach_of(self.threshold_),
            "correlated columns": "; ".join(correlations_of(self)) or None,
        }

    def _describe(self) -> str:
        limit, together = format_number(reach_of(self.threshold_)), correlations_of(self)
        rows, regions = counted(self._n_training, "training row"), counted(len(self.regions_), "region")
        said = f"{rows} in {regions} of one shape. A row is accepted if its distance from the regions, "
        said += f"all taken together, is at most {limit} widths."
        if self.ellipsoids_.outliers is not None:
            said += " Known outliers have regions too, which rows should avoid."
        return f"{said} Within a region, {listed(together, FEW)}." if together else said
