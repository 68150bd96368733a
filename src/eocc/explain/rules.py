"""A fitted classifier -> its regions as rules for people to read, and what is normal, in the units of the columns."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import scipy

from eocc.base.markup import Shown, tag
from eocc.base.registry import FEW, SOME, listed
from eocc.base.types import ROUNDING, Indices, Matrix
from eocc.base.wording import counted, format_number, format_value, format_within, glued, wrapped
from eocc.ellipsoids.features import CATEGORIES, CONSTANT, DATE, LEVELS, NUMBER, DataColumn, data_columns, has_columns
from eocc.entropic.graph import distances_to
from eocc.explain.explanation import described, prototype_labels, reach_of, training_name, weight_names
from eocc.explain.reasons import LEAST_SHOWN
from eocc.measures.difference import Cells
from eocc.tables.table import TIME, Column, Table

# The normal range of a column reaches this many widths, or deviations of a region, to both sides.
N_WIDTHS = 2.0
# A day, an hour, a minute and a second, in microseconds.
UNITS = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000)
# The ends of a column of which the model does not know any.
EVERY = (-np.inf, np.inf)
# Those of times of day: the last second is that before midnight.
WHOLE_DAY = (0.0, float(UNITS[0] - UNITS[-1]))
# The equal parts of what is normal at which rows show it.
SHARES = (np.arange(400) + 0.5) / 400


@dataclass(frozen=True)
class RuleColumn:
    """The values of a column in a region: `said` in words, and for numbers the `centre`, `low`, `high` and `width`.

    For a RegionClassifier, most rows of the region, about 95%, lie between `low` and `high`: two standard deviations on
    both sides of the centre, within the training values. The width is how much the column varies in all regions, given
    the other columns. Other classifiers give the median and the ends of the prototypes of the region, and no width.
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
class Rule:
    """A region as a rule: its rows, its columns, and the training row nearest to its centre.

    `prototype` is the number of that row, `prototype_name` its id if the model keeps ids, `description` what it is like
    if the data have no columns. `n_columns` are named or left out. The `condition` says which rows are accepted, and to
    which degree they are normal; the regions of a RegionClassifier decide together, and have none. `correlations` hold
    for all regions.
    """

    region: int
    n_members: int
    n_training: int
    columns: tuple[RuleColumn, ...]
    n_columns: int
    prototype: int
    prototype_name: str
    description: str = ""
    condition: str = ""
    correlations: tuple[str, ...] = ()

    def __str__(self) -> str:
        values = ", ".join(map(str, self.columns))
        more = self.n_columns - len(self.columns)
        values += f", and {counted(more, 'other column')}" if more else ""
        near = f"nearest training row {self.prototype_name}"
        near += f" ({glued(self.description)})" if self.description else ""
        said = f"Region {self.region}, {self.n_members:,} of {counted(self.n_training, 'row')}"
        said += ", mostly" if values and self.n_members > 1 and not self.condition else ""
        lines = wrapped(f"{said}: {f'{values}; ' if values else ''}{near}", 0)
        return "\n".join([*lines, *wrapped(self.condition, 2)])

    def _repr_html_(self) -> str:
        return tag("pre", str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)


def rules_of(classifier: Any, rejected: float | None = None) -> list[Rule]:
    """Return one rule per region, in their order.

    A classifier that decides by neighbours gives the share of new normal rows that are `rejected`.
    """
    labels, sizes = prototype_labels(classifier), [len(region.members) for region in classifier.regions_]
    rules, n_active = [], int((classifier.weights_ > 0).sum())
    for number, place in prototypes_of(classifier, range(len(sizes))).items():
        columns = _prototype_columns(classifier, np.flatnonzero(labels == number))
        more = {"n_columns": n_active if columns else 0, "condition": _condition(classifier, number, rejected)}
        rules.append(_rule(classifier, number, sizes, place, columns, **more))
    return Shown(rules)


def _rule(
    classifier: Any, number: int, sizes: Sequence[int], place: int, columns: Sequence[RuleColumn], **more: Any
) -> Rule:
    index = int(classifier.prototype_indices_[place])
    return Rule(
        number, sizes[number], sum(sizes), tuple(columns), prototype=int(classifier.training_indices_[index]),
        prototype_name=training_name(classifier, index),
        description="" if columns else described(classifier, classifier.prototypes_, place), **more,
    )  # fmt: skip


def _condition(classifier: Any, number: int, rejected: float | None) -> str:
    function, reach = classifier.fuzzy_model_.membership_function, reach_of(classifier.threshold_)
    extent = format_number(classifier.regions_[number].extent)
    ratio = f"r = d / {extent}"
    times = "" if reach == 1 else f"{reach:.4g} times its extent, "
    said = f"A row is accepted if its distance d from the centre of the region is at most {times}{extent}"
    if rejected is not None:
        ratio, nearest = "r = 1 at the limit", "training row" if classifier._is_whole else "prototype"
        said = f"A row whose nearest {nearest} is one of these is accepted if its surprise is at most the limit, "
        said += f"as for about {format_number(100 * (1 - rejected))}% of new normal rows"
    formula = getattr(function, "formula", f"{function!r} of r")
    return f"{said}. It is normal to the degree {formula}, where {ratio}."


def _prototype_columns(classifier: Any, own: Indices) -> list[RuleColumn]:
    """Return the columns of the prototypes `own`, those with the highest weights first."""
    measure, weights, found = classifier.measure_, classifier.weights_, []
    if measure.cells is None or not len(own):
        return []
    rows = classifier.prototypes_[own]
    cells: Cells = measure.cells(rows, rows, classifier._feature_names)
    for k in np.argsort(-weights, kind="stable")[:SOME].tolist():
        order = np.argsort(cells.columns[k], kind="stable").tolist()  # missing values last
        values = [value for value in (cells.value(j, k) for j in order) if value is not None]
        if weights[k] == 0 or not values:
            continue
        remarks = f" (missing in {1 - len(values) / len(order):.0%})" if len(values) < len(order) else ""
        remarks += "" if weights[k] == 1 else f" (weight {format_number(float(weights[k]))})"
        if cells.is_code[k]:
            counts = Counter(map(format_value, values)).most_common()
            said = listed([f"{label} {count / len(values):.0%}" for label, count in counts], FEW)
            found.append(RuleColumn(cells.names[k], said + remarks))
            continue
        said = " to ".join(dict.fromkeys(map(format_value, (values[0], values[-1])))) + remarks
        is_date = isinstance(values[0], str)
        numbers = () if is_date else (float(np.median(values)), None, float(values[0]), float(values[-1]))
        found.append(RuleColumn(cells.names[k], said, *numbers))
    return found


def prototypes_of(classifier: Any, numbers: Sequence[int]) -> dict[int, int]:
    """Return the column of the prototype of each of these regions.

    It is the representative of the region, if that lies at the centre and is a prototype. Otherwise it is the member
    nearest to the centre, or, if no member is a prototype, the nearest of all prototypes.
    """
    known, labels, found = classifier.prototype_indices_, prototype_labels(classifier), {}
    representatives = np.array([classifier.regions_[number].representative for number in numbers])
    columns = np.searchsorted(known, representatives).clip(max=len(known) - 1)
    rows = classifier._embed(classifier.prototypes_[columns])
    for i, number in enumerate(numbers):
        centre, column = classifier.fuzzy_model_.centres[[number]], int(columns[i])
        # The row of a medoid, computed again, differs from the centre by rounding only.
        if known[column] != representatives[i] or distances_to(rows[[i]], centre)[0, 0] > 1e-9:
            own = np.flatnonzero(labels == number)
            candidates = own if len(own) else np.arange(len(known))
            gaps = distances_to(classifier._embed(classifier.prototypes_[candidates]), centre)
            column = int(candidates[np.argmin(gaps)])
        found[number] = column
    return found


def ellipsoid_rules(classifier: Any) -> list[Rule]:
    """Return one rule per region of a fitted RegionClassifier, the largest region first."""
    centres, columns = centre_features(classifier), columns_of_model(classifier)
    together, ends, rules = tuple(correlations_of(classifier)), ends_of(classifier), []
    sizes = [region.n_members for region in classifier.regions_]
    widths = classifier.ellipsoids_.placement.widths if columns else np.empty(0)
    deviations = classifier.ellipsoids_.deviations if columns else centres
    spreads = np.sqrt(centres.var(axis=0) + widths**2) if columns else widths
    for number, region in enumerate(classifier.regions_):
        named, own = columns, deviations[number] * (region.n_members > 1)
        if len(columns) > SOME:  # those in which the centre differs most from the mean of all, in their order
            gaps = np.abs(centres[number] - centres.mean(axis=0)) / np.maximum(spreads, 1e-300)
            largest = np.argsort([-gaps[one.places].max() for one in columns], kind="stable")[:SOME]
            named = [columns[k] for k in np.sort(largest)]
        found = [_rule_column(one, centres[number], widths, own, ends.get(one.name, EVERY)) for one in named]
        more = {"n_columns": len(columns), "correlations": together}
        rules.append(_rule(classifier, number, sizes, region.representative, found, **more))
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


def ends_of(classifier: Any) -> dict[str, tuple[float, float]]:
    """Return `known_ends`, or for rows of numbers those of the rows that regions were fitted to."""
    ends = classifier.ellipsoids_.ends
    return known_ends(classifier) if ends is None else dict(zip(weight_names(classifier), ends.T.tolist(), strict=True))


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
    """Return which columns of numbers have a correlation of 0.5 or more within regions, the closest pairs first.

    A column that is constant within regions varies by the shrinkage only, and goes with no other. There are none for
    more than 500 columns.
    """
    columns = [one for one in columns_of_model(classifier) if one.kind == NUMBER]
    if not 2 <= len(columns) <= 500:
        return []
    places = np.concatenate([one.places for one in columns])
    covariance = classifier.ellipsoids_.placement.covariance[np.ix_(places, places)]
    deviations = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlations = np.triu(covariance / deviations / deviations[:, None], 1)
    found = []
    for place in np.argsort(-np.abs(correlations), axis=None, kind="stable")[:SOME].tolist():
        i, j = divmod(place, len(columns))
        if abs(correlations[i, j]) >= 0.5:
            verb = "rises" if correlations[i, j] > 0 else "falls"
            found.append(f"{columns[j].name} {verb} with {columns[i].name}")
    return found


def normal_rows(classifier: Any) -> Any:
    """Return rows whose columns, each by itself, are what the model knows of its training rows.

    Numbers have the quantiles of the regions, as many of each as its weight says, and categories their shares. Values
    of one row do not belong together. Columns that the model does not compare have the values of its prototypes.
    """
    model, prototypes, ends = classifier.ellipsoids_, classifier.prototypes_, ends_of(classifier)
    weights, known = np.exp(model.regions.log_weights), {one.name: one for one in columns_of_model(classifier)}
    spread, centres, deviations = scipy.special.ndtri(SHARES), centre_features(classifier), model.deviations

    def made(name: str, given: Matrix) -> Matrix:
        if name not in known:
            return np.resize(given, len(SHARES))
        column, place = known[name], known[name].places[0]
        if column.kind == CATEGORIES:  # codes of the labels in their shares
            sums = np.cumsum(np.maximum(column.shares(weights @ centres), 0.0))
            return np.searchsorted(sums / sums[-1], SHARES).astype(np.float64)
        if column.kind == CONSTANT:
            return np.full(len(SHARES), column.centre)
        # All regions, with quantiles of each, cut at equal parts of their weights.
        features = (centres[:, place, None] + spread * deviations[:, place, None]).ravel()
        order = np.argsort(features, kind="stable")
        sums = np.cumsum(np.repeat(weights, len(SHARES))[order])
        found = features[order[np.searchsorted(sums / sums[-1], SHARES)]]
        if column.kind == LEVELS:
            last = len(column.labels) - 1
            return np.asarray(np.rint(np.clip(found / column.factor, 0, 1) * last))
        values = np.clip(column.value(found), *(WHOLE_DAY if column.moment == TIME else ends.get(name, EVERY)))
        is_whole = isinstance(prototypes, Table) and (given == np.rint(given))[~np.isnan(given)].all()
        return np.asarray(np.rint(values) if is_whole else values)

    if not isinstance(prototypes, Table):
        names = classifier.measure_.weight_names(classifier._feature_names)
        return np.column_stack([made(name, prototypes[:, k]) for k, name in enumerate(names)])
    found = []
    for one in prototypes.columns:
        has_labels = one.labels is not None and str(one.name) in known
        labels = known[str(one.name)].labels if has_labels else one.labels
        found.append(replace(one, values=made(str(one.name), one.values), labels=labels))
    return Table(tuple(found))
