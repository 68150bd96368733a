"""Regions of one shape -> rules for people to read, in the units of the columns."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy

from eocc.ellipsoids.columns import CATEGORIES, CONSTANT, DATE, LEVELS, NUMBER, DataColumn, data_columns
from eocc.ellipsoids.features import has_columns
from eocc.explain.fitted import described, training_name
from eocc.foundation.markup import Shown, tag
from eocc.foundation.registry import listed
from eocc.foundation.types import Matrix
from eocc.foundation.wording import counted, format_value, format_within, glued, wrapped
from eocc.tables.table import Column

# A rule names this many columns: those in which the region differs most from the others.
MOST_COLUMNS = 8
# It names this many categories of a column.
MOST_CATEGORIES = 3
# Columns go together if their correlation within regions is at least this.
LEAST_CORRELATION = 0.5
# A day, an hour, a minute and a second, in microseconds.
UNITS = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000)
# This many pairs of columns are named, of at most this many columns.
MOST_PAIRS, MOST_PAIRED = 5, 500
# The number of rows that show what is normal in each column of a model without training rows.
N_QUANTILES = 400


@dataclass(frozen=True)
class RuleColumn:
    """The values of a column in a region: `said` in words, and for numbers the `centre` and the `width`.

    The width is how much the column varies in the region, given the other columns.
    """

    name: str
    said: str
    centre: float | None = None
    width: float | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.said}"


@dataclass(frozen=True)
class EllipsoidRule:
    """A region as a rule: its share of the rows, its columns, and the training row nearest to its centre.

    `prototype` is the number of that row, `prototype_name` its id if the model keeps ids, `description` what it is like
    if the data have no columns. `n_columns` are named or left out. `correlations` hold for all regions.
    """

    region: int
    n_members: int
    n_training: int
    weight: float
    columns: tuple[RuleColumn, ...]
    n_columns: int
    correlations: tuple[str, ...]
    prototype: int
    prototype_name: str
    description: str = ""

    def __str__(self) -> str:
        values = ", ".join(map(str, self.columns))
        more = self.n_columns - len(self.columns)
        values += f", and {counted(more, 'other column')}" if more else ""
        near = f"nearest training row {self.prototype_name}"
        near += f" ({glued(self.description)})" if self.description else ""
        said = f"Region {self.region}, {self.n_members:,} of {counted(self.n_training, 'row')}"
        return "\n".join(wrapped(f"{said}: {f'{values}; ' if values else ''}{near}", 0))

    def _repr_html_(self) -> str:
        return tag("pre", str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)


def ellipsoid_rules(classifier: Any) -> list[EllipsoidRule]:
    """Return one rule per region of a fitted RegionClassifier, the largest region first."""
    centres, columns = centre_features(classifier), columns_of_model(classifier)
    placement, together = classifier.ellipsoids_.placement, tuple(correlations_of(classifier))
    widths = placement.widths if columns else np.empty(0)
    spreads = np.sqrt(centres.var(axis=0) + widths**2) if columns else widths
    rules = []
    for number, region in enumerate(classifier.regions_):
        named = _most_different(columns, centres[number], centres.mean(axis=0), spreads) if columns else []
        index = region.representative
        rules.append(EllipsoidRule(
            region=number, n_members=region.n_members, n_training=sum(one.n_members for one in classifier.regions_),
            weight=region.weight, columns=tuple(_rule_column(one, centres[number], widths) for one in named),
            n_columns=len(columns), correlations=together,
            prototype=int(classifier.training_indices_[index]), prototype_name=training_name(classifier, index),
            description="" if columns else described(classifier, classifier.prototypes_, index),
        ))  # fmt: skip
    return Shown(rules)


def columns_of_model(classifier: Any) -> list[DataColumn]:
    """Return the columns of the data; none if they have no columns."""
    if not has_columns(classifier.measure_):
        return []
    return data_columns(classifier.measure_, classifier.weights_, classifier._feature_names)


def centre_features(classifier: Any) -> Matrix:
    """Return the features (k, d) of the centres of all regions."""
    model = classifier.ellipsoids_
    return np.asarray(model.placement.features_of(model.regions.centres))


def _most_different(columns: list[DataColumn], centre: Matrix, mean: Matrix, spreads: Matrix) -> list[DataColumn]:
    """Return the columns in which a centre differs most from the mean of all, in their order."""
    if len(columns) <= MOST_COLUMNS:
        return columns
    gaps = np.abs(centre - mean) / np.maximum(spreads, 1e-300)
    largest = np.argsort([-gaps[one.places].max() for one in columns], kind="stable")[:MOST_COLUMNS]
    return [columns[k] for k in np.sort(largest)]


def _rule_column(column: DataColumn, centre: Matrix, widths: Matrix) -> RuleColumn:
    place = column.places[0]
    if column.kind == CONSTANT:
        return RuleColumn(column.name, f"always {format_value(column.centre)}")
    if column.kind == CATEGORIES:
        return RuleColumn(column.name, categories_in_words(column, centre))
    if column.kind == LEVELS:
        return RuleColumn(column.name, level_in_words(column, centre[place]))
    value, width = column.value(float(centre[place])), float(widths[place]) / column.factor
    if column.kind == DATE:
        return RuleColumn(column.name, " to ".join(moments_in_words(column, width, value - width, value + width)))
    said, apart = format_within(width, value, width)
    return RuleColumn(column.name, f"{said} +- {apart}", value, width)


def moments_in_words(column: DataColumn, width: float, *moments: float) -> list[str]:
    """Return dates or times, in microseconds, to the day, hour, minute or second, whichever shows the width."""
    unit = next((unit for unit in UNITS if unit <= width), UNITS[-1])
    holds = Column(column.name, column.moment, np.empty(0))
    return [str(holds.given(round(moment / unit) * unit)) for moment in moments]


def categories_in_words(column: DataColumn, centre: Matrix) -> str:
    """Return the most common categories of a region with their shares, given the features of its centre."""
    shares = column.shares(centre)
    order = [k for k in np.argsort(-shares, kind="stable").tolist() if shares[k] >= 0.005]
    return listed([f"{format_value(column.labels[k])} {shares[k]:.0%}" for k in order], MOST_CATEGORIES)


def level_in_words(column: DataColumn, feature: float) -> str:
    """Return the level nearest to a feature."""
    last = len(column.labels) - 1
    rank = round(float(np.clip(feature / column.factor, 0, 1)) * last)
    return format_value(column.labels[rank])


def correlations_of(classifier: Any) -> list[str]:
    """Return which columns of numbers go together within regions, the closest pairs first.

    A column that is constant within regions varies by the shrinkage only, and goes with no other.
    """
    columns = [one for one in columns_of_model(classifier) if one.kind == NUMBER]
    if not 2 <= len(columns) <= MOST_PAIRED:
        return []
    places = np.concatenate([one.places for one in columns])
    covariance = classifier.ellipsoids_.placement.covariance[np.ix_(places, places)]
    deviations = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlations = np.triu(covariance / deviations / deviations[:, None], 1)
    order = np.argsort(-np.abs(correlations), axis=None, kind="stable")[:MOST_PAIRS]
    found = []
    for i, j in zip(*np.unravel_index(order, correlations.shape), strict=True):
        if abs(correlations[i, j]) >= LEAST_CORRELATION:
            verb = "rises" if correlations[i, j] > 0 else "falls"
            found.append(f"{columns[j].name} {verb} with {columns[i].name}")
    return found


def quantile_rows(classifier: Any) -> Matrix:
    """Return rows whose columns, each by itself, have the quantiles of the columns of rows of numbers in all regions.

    There are about N_QUANTILES of them, in each region as many as its weight says. Values of one row do not belong
    together.
    """
    model, measure = classifier.ellipsoids_, classifier.measure_
    centres, deviations = centre_features(classifier), np.sqrt(np.diag(model.placement.covariance))
    rows = []
    for centre, weight in zip(centres, np.exp(model.regions.log_weights), strict=True):
        count = max(1, round(N_QUANTILES * float(weight)))
        rows.append(centre + scipy.special.ndtri((np.arange(count) + 0.5) / count)[:, None] * deviations)
    roots = np.sqrt(classifier.weights_)
    features = np.vstack(rows) / np.where(roots > 0, roots, 1.0)
    return np.asarray(measure.unit.restored(features * measure.largest))
