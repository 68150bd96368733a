"""A fitted classifier -> its regions as rules for people to read, in the units of the columns."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eocc.base.markup import Shown, tag
from eocc.base.registry import FEW, SOME, listed
from eocc.base.types import Indices, Matrix
from eocc.base.wording import (
    counted,
    format_data_number,
    format_number,
    format_value,
    format_within,
    glued,
    known_of,
    wrapped,
)
from eocc.ellipsoids.features import CATEGORIES, CONSTANT, DATE, LEVELS, NUMBER, DataColumn, data_columns, has_columns
from eocc.ellipsoids.shape import ROUNDING
from eocc.explain.by_regions import prototypes_of
from eocc.explain.fitted import described, prototype_labels, reach_of, training_name
from eocc.explain.reasons import LEAST_SHOWN
from eocc.measures.cells import Cells
from eocc.tables.table import TIME, Column

# The normal range of a column reaches this many widths, or deviations of a region, to both sides.
N_WIDTHS = 2.0
# Columns go together if their correlation within regions is at least this.
LEAST_CORRELATION = 0.5
# A day, an hour, a minute and a second, in microseconds.
UNITS = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000)
# Pairs are looked for among at most this many columns.
MOST_PAIRED = 500
# The ends of a column of which the model does not know any.
EVERY = (-np.inf, np.inf)
# Those of times of day: the last second is that before midnight.
WHOLE_DAY = (0.0, float(UNITS[0] - UNITS[-1]))


class ShownRule:
    """What both kinds of rules offer: a text in notebooks, and plain data."""

    def _repr_html_(self) -> str:
        return tag("pre", str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True)
class FeatureRange:
    """The values of a column in the prototypes of a region, and the weight of the column in the dissimilarity.

    A share `missing` of these has no value.
    """

    feature: str
    weight: float
    minimum: float
    median: float
    maximum: float
    missing: float = 0.0

    def __str__(self) -> str:
        low, middle, high = (format_data_number(value) for value in (self.minimum, self.median, self.maximum))
        values = low if self.minimum == self.maximum else f"{low} to {high}, median {middle}"
        return f"{self.feature}: {values}{_remarks(self.missing, self.weight)}"


def _remarks(missing: float, weight: float) -> str:
    """Return the share of rows without a value, and the weight of the column, if they are not the usual ones."""
    gaps = f", missing in {missing:.0%}" if missing else ""
    return gaps if weight == 1 else f"{gaps} (weight {format_number(weight)})"


@dataclass(frozen=True)
class Rule(ShownRule):
    """A region as a rule: what its rows are like, and which rows are accepted because they are close to it.

    `prototype` is the training row that represents the region, by number and by `prototype_name`; `description`
    describes it. `extent` is the size of the region, `reach` is the number of extents within
    which rows are accepted, `degree` the membership as a formula. `ranges` are those of the columns of numbers with the
    highest weights, `contents` describe such columns that hold categories or dates. With fewer prototypes than training
    rows, `n_prototypes` of the members are prototypes, and ranges are taken from these. For a classifier that decides
    by neighbours, `rejected` is the share of new normal rows above the limit; the extent only describes the region.
    """

    region: int
    n_members: int
    prototype: int
    prototype_name: str
    description: str
    extent: float
    reach: float
    degree: str
    ranges: tuple[FeatureRange, ...] = ()
    contents: tuple[str, ...] = ()
    rejected: float | None = None
    n_prototypes: int | None = None

    def __str__(self) -> str:
        values = [*map(str, self.ranges), *self.contents]
        members = counted(self.n_members, "normal row") + self._prototype_in_words(has_values=bool(values))
        lines = wrapped(f"Region {self.region}: {members}.", 0)
        if values:
            lines.append(f"  {self.whose} {'has' if 1 in (self.n_prototypes, self.n_members) else 'have'}")
        decision = f"{self._condition()}. It is normal to the degree {self.degree}."
        return "\n".join([*lines, *(f"    {one}" for one in values), *wrapped(decision, 2)])

    @property
    def whose(self) -> str:
        """The rows that the ranges describe."""
        if self.n_members == 1:
            return "It"
        return "Its rows" if self.n_prototypes is None else f"Its {counted(self.n_prototypes, 'prototype')}"

    def _prototype_in_words(self, has_values: bool) -> str:
        row = f"row {self.prototype_name}"
        row += f" ({glued(self.description)})" if self.description and not has_values else ""
        known = known_of(self.n_members, self.n_prototypes)
        if self.n_prototypes == 0:
            return f"{known}; the prototype nearest to its centre is in another region, {row}"
        return f"{known}; the most typical is {row}" if self.n_members > 1 else f"{known}, {row}"

    def _condition(self) -> str:
        if self.rejected is None:
            limit = f"{'' if self.reach == 1 else f'{self.reach:.4g} times its extent, '}{format_number(self.extent)}"
            return f"A row is accepted if its distance d from the centre of the region is at most {limit}"
        nearest = "training row" if self.n_prototypes is None else "prototype"
        share = f"{format_number(100 * (1 - self.rejected))}% of new normal rows"
        near = f"A row whose nearest {nearest} is one of these"
        return f"{near} is accepted if its surprise is at most the limit, as for about {share}"


def rules_of(classifier: Any, rejected: float | None = None) -> list[Rule]:
    """Return one rule per region, in their order; docs/guides/explanations.md shows some.

    A classifier that decides by neighbours gives the share of new normal rows that are `rejected`.
    """
    prototypes = prototypes_of(classifier, range(len(classifier.regions_)))
    return Shown(_rule(classifier, number, column, rejected) for number, column in prototypes.items())


def _rule(classifier: Any, number: int, column: int, rejected: float | None) -> Rule:
    region, function = classifier.regions_[number], classifier.fuzzy_model_.membership_function
    index = int(classifier.prototype_indices_[column])
    own = np.flatnonzero(prototype_labels(classifier) == number)
    ratio = f"r = d / {format_number(region.extent)}" if rejected is None else "r = 1 at the limit"
    return Rule(
        region=number, n_members=len(region.members),
        prototype=int(classifier.training_indices_[index]), prototype_name=training_name(classifier, index),
        description=described(classifier, classifier.prototypes_, column),
        extent=region.extent, reach=reach_of(classifier.threshold_),
        degree=f"{getattr(function, 'formula', f'{function!r} of r')}, where {ratio}",
        **_values(classifier, own), rejected=rejected,
        n_prototypes=None if classifier._is_whole else len(own),
    )  # fmt: skip


def _values(classifier: Any, own: Indices) -> dict[str, Any]:
    """Return the `ranges` and the `contents` of the prototypes `own`, of the columns with the highest weights."""
    measure, weights = classifier.measure_, classifier.weights_
    if measure.cells is None or not len(own):
        return {}
    rows, ranges, contents = classifier.prototypes_[own], [], []
    cells: Cells = measure.cells(rows, rows, classifier._feature_names)
    for k in np.argsort(-weights, kind="stable")[:SOME].tolist():
        order = np.argsort(cells.columns[k], kind="stable").tolist()  # missing values last
        values = [value for value in (cells.value(j, k) for j in order) if value is not None]
        name, weight, missing = cells.names[k], float(weights[k]), 1 - len(values) / len(order)
        if weight == 0 or not values:
            continue
        if cells.is_code[k] or isinstance(values[0], str):
            words = _shares(values) if cells.is_code[k] else " to ".join(dict.fromkeys([values[0], values[-1]]))
            contents.append(f"{name}: {words}{_remarks(missing, weight)}")
        else:
            ranges.append(FeatureRange(name, weight, values[0], float(np.median(values)), values[-1], missing))
    return {"ranges": tuple(ranges), "contents": tuple(contents)}


def _shares(values: Sequence[Any]) -> str:
    """Return categories with their shares, the most common first."""
    counts = Counter(map(format_value, values))
    return listed([f"{label} {count / len(values):.0%}" for label, count in counts.most_common()], FEW)


@dataclass(frozen=True)
class RuleColumn:
    """The values of a column in a region: `said` in words, and for numbers the `centre`, `low`, `high` and `width`.

    Most rows of the region, about 95%, lie between `low` and `high`: two standard deviations on both sides of the
    centre, within the training values. The width is how much the column varies in all regions, given the other columns.
    """

    name: str
    said: str
    centre: float | None = None
    width: float | None = None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.said}"


@dataclass(frozen=True)
class EllipsoidRule(ShownRule):
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
        said += ", mostly" if values and self.n_members > 1 else ""
        return "\n".join(wrapped(f"{said}: {f'{values}; ' if values else ''}{near}", 0))


def ellipsoid_rules(classifier: Any) -> list[EllipsoidRule]:
    """Return one rule per region of a fitted RegionClassifier, the largest region first."""
    centres, columns = centre_features(classifier), columns_of_model(classifier)
    placement, together = classifier.ellipsoids_.placement, tuple(correlations_of(classifier))
    widths = placement.widths if columns else np.empty(0)
    deviations, ends = classifier.ellipsoids_.deviations if columns else centres, known_ends(classifier)
    spreads = np.sqrt(centres.var(axis=0) + widths**2) if columns else widths
    n_training, rules = sum(one.n_members for one in classifier.regions_), []
    for number, region in enumerate(classifier.regions_):
        named, index = columns, region.representative
        if len(columns) > SOME:  # those in which the centre differs most from the mean of all, in their order
            gaps = np.abs(centres[number] - centres.mean(axis=0)) / np.maximum(spreads, 1e-300)
            largest = np.argsort([-gaps[one.places].max() for one in columns], kind="stable")[:SOME]
            named = [columns[k] for k in np.sort(largest)]
        rules.append(EllipsoidRule(
            region=number, n_members=region.n_members, n_training=n_training, weight=region.weight,
            columns=tuple(
                _rule_column(
                    one, centres[number], widths, deviations[number] * (region.n_members > 1), ends.get(one.name, EVERY)
                )
                for one in named
            ),
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


def known_ends(classifier: Any) -> dict[str, tuple[float, float]]:
    """Return the least and the largest training value of columns of numbers and dates, as far as the model knows."""
    known = () if classifier.reading_ is None else classifier.reading_.columns
    return {str(one.name): (one.low, one.high) for one in known if one.low is not None and one.high is not None}


def _rule_column(
    column: DataColumn, centre: Matrix, widths: Matrix, deviations: Matrix, ends: tuple[float, float]
) -> RuleColumn:
    place = column.places[0]
    middle, apart, width = float(centre[place]), N_WIDTHS * float(deviations[place]), float(widths[place])
    apart = apart if apart > ROUNDING * width else 0.0  # or else a rounding error
    if column.kind in (CONSTANT, CATEGORIES):
        said = content_in_words(column, centre, middle)
        return RuleColumn(column.name, f"always {said}" if column.kind == CONSTANT else said)
    if column.kind == LEVELS:
        said, *more = dict.fromkeys(content_in_words(column, centre, end) for end in (middle - apart, middle + apart))
        return RuleColumn(column.name, " to ".join([said, *more]))
    value, width = column.value(middle), width / column.factor
    low, high = (float(np.clip(column.value(end), *ends)) for end in (middle - apart, middle + apart))
    if column.kind == DATE:
        said = " to ".join(dict.fromkeys(moments_in_words(column, high - low, low, high)))
        return RuleColumn(column.name, said)
    said = " to ".join(dict.fromkeys(format_within(high - low if low < high else width, low, high)))
    return RuleColumn(column.name, said, value, width, low, high)


def moments_in_words(column: DataColumn, width: float, *moments: float) -> list[str]:
    """Return dates or times, in microseconds, to the day, hour, minute or second, whichever shows the width."""
    units, ends = (UNITS[1:], WHOLE_DAY) if column.moment == TIME else (UNITS, EVERY)
    unit = next((unit for unit in units if unit <= width), UNITS[-1])
    holds = Column(column.name, column.moment, np.empty(0))
    return [str(holds.given(float(np.clip(round(moment / unit) * unit, *ends)))) for moment in moments]


def content_in_words(column: DataColumn, centre: Matrix, feature: float) -> str:
    """Return the categories of a region with their shares, the level nearest to a feature, or the constant value."""
    if column.kind == CONSTANT:
        return format_value(Column(column.name, column.moment, np.empty(0)).given(column.centre))
    if column.kind == LEVELS:
        last = len(column.labels) - 1
        return format_value(column.labels[round(float(np.clip(feature / column.factor, 0, 1)) * last)])
    shares = column.shares(centre)
    order = [k for k in np.argsort(-shares, kind="stable").tolist() if shares[k] >= LEAST_SHOWN]
    return listed([f"{format_value(column.labels[k])} {shares[k]:.0%}" for k in order], FEW)


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
    found = []
    for place in np.argsort(-np.abs(correlations), axis=None, kind="stable")[:SOME].tolist():
        i, j = divmod(place, len(columns))
        if abs(correlations[i, j]) >= LEAST_CORRELATION:
            verb = "rises" if correlations[i, j] > 0 else "falls"
            found.append(f"{columns[j].name} {verb} with {columns[i].name}")
    return found
