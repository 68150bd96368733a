"""What people and pictures see of a fitted RegionClassifier: regions, rules, explanations, facts and the map."""

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from eocc.base.arguments import n_threads
from eocc.base.estimator import check_is_fitted
from eocc.base.registry import FEW, listed
from eocc.base.threads import threads
from eocc.base.types import Indices, Matrix
from eocc.base.wording import counted, format_number, wrapped
from eocc.classifiers.learning import LearnsRows
from eocc.ellipsoids.features import has_columns, has_rows
from eocc.ellipsoids.model import EllipsoidModel, EllipsoidRegion
from eocc.entropic.graph import SpanningTree
from eocc.explain import Explanation, Rule, reach_of
from eocc.explain.by_ellipsoids import explain_by_ellipsoids
from eocc.explain.groups import in_groups
from eocc.explain.normal import normal_rows
from eocc.explain.rules import correlations_of, ellipsoid_rules
from eocc.formats.export import formula_of, python_module, select_statement


class RegionViews(LearnsRows):
    """The part of RegionClassifier that shows a fitted model."""

    _space_name, _unit = "Space of the regions, in widths", "widths"
    ellipsoids_: EllipsoidModel
    representatives_: Indices
    region_tree_: Indices

    @property
    def _n_dimensions(self) -> int:
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
    def _region_reaches(self) -> Matrix | None:
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
    def _keeps_training_rows(self) -> bool:
        """Whether the prototypes are training rows: for rows of numbers they are centres of regions."""
        return not has_rows(self.measure_)

    def _explain_patterns(self, patterns: Any) -> Sequence[Explanation]:
        with threads(n_threads(self.n_jobs)):
            return in_groups(self, patterns, explain_by_ellipsoids(self, patterns))

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
            "known outliers": None if outliers is None else int(outliers.regions.counts.sum()),
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
