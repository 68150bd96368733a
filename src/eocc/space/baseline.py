"""A table -> its numbers relative to the level and the spread of each row's group.

A column of group g has values x ~ N(m_g, v_g), with m_g ~ N(m, t) and 1 / v_g ~ Gamma: an empirical Bayes model whose
constants come from all groups. The variance of a group is the mean of its own and of the pooled one, weighted by
degrees of freedom (Smyth 2004); its level lies between its own mean and m. A value is standardised by what the model
expects of one more value of its group: (x - level) / sqrt(variance + variance of the level). So a group of few rows is
judged nearly as all rows are, and a group without any by the mean variance within groups and that between them. Each
training row is standardised without itself.

Positive columns are taken on a log scale if that makes the values within groups more likely.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import scipy

from eocc.base.checks import Sizes, demand, hashable, indices, numbers, tuple_of
from eocc.base.printing import has_instead
from eocc.base.types import HUGE, ROUNDING, Flags, Indices, Matrix
from eocc.kernels.content import row_hashes
from eocc.space.prototypes.content import words_of
from eocc.tables.table import NUMBER, RELATIVE, Column, Table

# A log scale goes on as a straight line below this share of the least training value: 0 and less stay finite.
LEAST_SHARE = 1e-3
# Levels of new groups are usual up to this many spreads of a column that is constant within every group. With 30 groups
# of 20 rows, 0.057 of the rows of new groups are rejected (0.096 with 2, all with 0), and all whose level is 7 away.
NEW_LEVELS = 3.0


@dataclass(frozen=True, eq=False)
class Baseline:
    """What is usual in the groups of rows that have the same values in the columns `by`.

    Of u columns, `names`, and g `groups`: `counts`, `means` and `squares` (u, g) are the number of values, their mean
    and the sum of squared deviations from it. `pooled` (u, 8) are the end of the log scale (0 for none), the mean of
    the levels, their variance, the pooled variance within groups and its degrees of freedom, the unit of the values,
    and the ends of what is usual, standardised. `known` are hashes of the training rows, which are compared with their
    group without them.
    """

    by: Annotated[tuple[Hashable, ...], tuple_of(hashable, 1)]
    names: Annotated[tuple[Hashable, ...], tuple_of(hashable, 1)]
    groups: tuple[tuple[str, ...], ...]
    counts: Annotated[Matrix, numbers("u g", "[0, inf)")]
    means: Annotated[Matrix, numbers("u g")]
    squares: Annotated[Matrix, numbers("u g", "[0, inf)")]
    pooled: Annotated[Matrix, numbers("u 8")]
    known: Annotated[Indices, indices("k", least=-(2**63), most=2**63 - 1)]

    def check_parts(self, sizes: Sizes) -> None:
        """Demand a column of numbers per group, and positive variances."""
        is_right = len(self.names) == sizes["u"] and len(self.groups) == sizes["g"] > 0
        is_right &= {len(group) for group in self.groups} == {len(self.by)} and bool((self.pooled[:, 3:6] > 0).all())
        demand(is_right and bool((self.pooled[:, [0, 2]] >= 0).all()), "the parts of a Baseline do not fit together")

    @property
    def is_constant(self) -> Flags:
        """Which columns are constant within every group, but for rounding."""
        return np.asarray(self.pooled[:, 3] <= ROUNDING**2)

    def relative_name(self, name: Hashable) -> str:
        """Return the name of the column that holds the values of another relative to their groups."""
        return f"{name} by {' and '.join(map(str, self.by))}"

    def add_to(self, table: Table) -> Table:
        """Return a table with the relative columns too."""
        if self.relative_name(self.names[0]) in table.names:
            return table
        return self._added(table, self.codes(table), self.are_known(table))

    def put_on(self, table: Table) -> Table:
        """Return a table with the relative columns of this baseline, instead of those of an earlier one."""
        return self.add_to(table.without(map(self.relative_name, self.names)))

    def are_known(self, table: Table) -> Flags:
        """Return which rows are copies of training rows, and so are compared with their group without them."""
        as_given = table.without(map(self.relative_name, self.names))
        return np.isin(row_hashes(words_of(as_given)).view(np.int64), self.known)

    def _added(self, table: Table, codes: Indices, is_known: Flags) -> Table:
        relative = []
        for k, name in enumerate(self.names):
            values = self._scaled(k, table.column(name).values)
            level, spread, is_new = self._expected(k, codes, np.where(is_known, values, np.nan))
            away = np.where(np.abs(values - level) <= ROUNDING, 0.0, values - level)
            standardised = np.clip(away / spread, -(HUGE**0.5), HUGE**0.5)
            if self.is_constant[k]:  # what is usual of all groups together is as normal as the value of a group
                standardised = np.where(is_new & (np.abs(standardised) <= NEW_LEVELS), 0.0, standardised)
            relative.append(Column(self.relative_name(name), NUMBER, standardised, declared=RELATIVE))
        return replace(table, columns=(*table.columns, *relative))

    def codes(self, table: Table) -> Indices:
        """Return the group of each row, -1 for one that no training row has."""
        places = {group: place for place, group in enumerate(self.groups)}
        return np.array([places.get(group, -1) for group in group_keys(table, self.by)], np.int64)

    def usual(self, k: int, table: Table) -> tuple[Matrix, Matrix]:
        """Return the ends of what is usual of column k in the group of each row, in its own unit."""
        values = self._scaled(k, table.column(self.names[k]).values)
        level, spread, is_new = self._expected(k, self.codes(table), np.where(self.are_known(table), values, np.nan))
        wide = (-NEW_LEVELS, NEW_LEVELS) if self.is_constant[k] else self.pooled[k, 6:]
        low, high = (
            self._unscaled(k, level + np.where(is_new, far, end) * spread + rounding)
            for end, far, rounding in zip(self.pooled[k, 6:], wide, (-ROUNDING, ROUNDING), strict=True)
        )
        return low, high

    def _expected(self, k: int, codes: Indices, without: Matrix) -> tuple[Matrix, Matrix, Flags]:
        """Return the level and the spread of one more value of each group, and whether the group has no other value.

        A value `without` NaN is left out of its group.
        """
        _, mean, between, within, freedom = self.pooled[k, :5]
        is_known = codes >= 0
        leaves, tables = is_known & ~np.isnan(without), (self.counts, self.means, self.squares)
        n, own, squares = (np.where(is_known, table[k][codes], 0.0) for table in tables)
        rest = n - leaves
        safe = np.maximum(rest, 1.0)
        gap = np.where(leaves, without - own, 0.0)
        own, squares = own - gap / safe, np.maximum(squares - gap**2 * n / safe, 0.0)
        squares = np.where(rest > 1, squares, 0.0)
        variance = (freedom * within + squares) / (freedom + np.maximum(rest - 1, 0.0))
        of_all = self.squares[k].sum() / max(np.maximum(self.counts[k] - 1, 0.0).sum(), 1.0)
        variance = np.maximum(np.where(rest > 0, variance, max(within, of_all)), ROUNDING**2)
        trust = rest * between / (rest * between + variance)
        return mean + trust * (own - mean), np.sqrt(variance + between * (1 - trust)), rest == 0

    def _scaled(self, k: int, values: Matrix) -> Matrix:
        end, unit = self.pooled[k, [0, 5]]
        with np.errstate(over="ignore"):
            return on_log_scale(values, end) if end else values / unit

    def _unscaled(self, k: int, values: Matrix) -> Matrix:
        end = self.pooled[k, 0]
        if not end:
            return values * float(self.pooled[k, 5])
        beyond = values - np.log(end)
        return np.asarray(end * np.where(beyond > 0, np.exp(np.maximum(beyond, 0.0)), 1 + beyond))


def on_log_scale(values: Matrix, end: float) -> Matrix:
    """Return log(x), and below `end` the tangent there, which reaches 0 and negative values.

    >>> on_log_scale(np.array([1.0, 0.001, -1.0]), 0.001).round(2)
    array([    0.  ,    -6.91, -1007.91])
    """
    return np.where(values > end, np.log(np.maximum(values, end)), np.log(end) + values / end - 1)


def group_keys(table: Table, by: Sequence[Hashable]) -> list[tuple[str, ...]]:
    """Return the group of each row: its values in the columns `by`, as texts."""
    columns = [table.column(name) for name in by]
    labels = [np.array([*map(str, column.labels or ()), ""], object) for column in columns]
    return list(zip(*(texts[one.codes] for texts, one in zip(labels, columns, strict=True)), strict=True))


def checked_by(baseline_by: Any, names: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Return the columns that baseline_by names; raise a ValueError for one that the table does not have."""
    by = tuple(baseline_by) if isinstance(baseline_by, list | tuple) else (baseline_by,)
    for unknown in (name for name in by if name not in names):
        raise ValueError(f"X has no column {unknown!r} for baseline_by; {has_instead(str(unknown), map(str, names))}")
    return tuple(dict.fromkeys(by))


def fit_baseline(table: Table, by: tuple[Hashable, ...]) -> tuple[Baseline, Table]:
    """Return the baseline of a training table, and the table with its relative columns, each row left out of its own.

    Only columns of numbers get a baseline.
    """
    keys = group_keys(table, by)
    groups = tuple(sorted(set(keys)))
    places = {group: place for place, group in enumerate(groups)}
    codes = np.array([places[key] for key in keys], np.int64)
    numbers = [one for one in table.columns if one.kind == NUMBER and one.labels is None and one.name not in by]
    if not numbers:
        raise ValueError("baseline_by needs a column of numbers besides those of the groups; X has none")
    if len(groups) == len(table) > 1:
        named = ", ".join(map(str, by))
        raise ValueError(f"baseline_by={named!r} puts every row in a group of its own; name a column that repeats")
    found = [_fit_column(one.values, codes, len(groups)) for one in numbers]
    counts, means, squares, pooled = map(np.array, zip(*found, strict=True))
    names = tuple(one.name for one in numbers)
    hashes = np.unique(row_hashes(words_of(table)).view(np.int64))
    rough = Baseline(by, names, groups, counts, means, squares, pooled, hashes)
    for twice in (name for name in map(rough.relative_name, names) if name in table.names):
        raise ValueError(f"X has a column {twice!r}, a name that baseline_by gives; rename it")
    added = rough._added(table, codes, np.ones(len(table), bool))
    for row, name in zip(pooled, names, strict=True):
        relative = added.column(rough.relative_name(name)).values
        if len(present := relative[~np.isnan(relative)]):
            row[6:] = np.quantile(present, [0.025, 0.975])
    return rough, added


def _fit_column(values: Matrix, codes: Indices, n_groups: int) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return counts, means and squares of a column's groups, and the row of `pooled`, on the scale that fits better."""
    present = ~np.isnan(values)
    order = np.lexsort((values[present], codes[present]))  # sums do not depend on the order of the rows
    x, g = values[present][order], codes[present][order]
    unit = float(2.0 ** np.frexp(np.abs(x).max(initial=1e-300))[1])  # squares of huge numbers stay finite
    plain = _statistics(x / unit, g, n_groups)
    if len(x) and x.min() > 0:
        logs = np.log(x)
        on_logs = _statistics(logs, g, n_groups)
        # Of normal values within groups: -n/2 log(variance), and the density of x is that of log x over x.
        plain_fit, log_fit = (
            -0.5 * len(x) * np.log(max(squares.sum() / len(x), ROUNDING**2)) - jacobian
            for (_, _, squares), jacobian in ((plain, len(x) * np.log(unit)), (on_logs, logs.sum()))
        )
        if log_fit > plain_fit:
            return *on_logs, _pooled(*on_logs, LEAST_SHARE * x.min(), 1.0)
    return *plain, _pooled(*plain, 0.0, unit)


def _statistics(x: Matrix, g: Indices, n_groups: int) -> tuple[Matrix, Matrix, Matrix]:
    """Return the number of values of each group, their mean, and the sum of squared deviations."""
    counts: Matrix = np.bincount(g, minlength=n_groups).astype(np.float64)
    means = np.bincount(g, x, n_groups) / np.maximum(counts, 1)
    return counts, means, np.asarray(np.bincount(g, (x - means[g]) ** 2, n_groups), np.float64)


def _pooled(counts: Matrix, means: Matrix, squares: Matrix, end: float, unit: float) -> Matrix:
    """Return the constants that all groups share."""
    freedom = counts - 1
    within, prior = _prior_variance(squares[freedom > 0] / freedom[freedom > 0], freedom[freedom > 0])
    has_any = counts > 0
    levels, n = means[has_any], counts[has_any]
    total = float(levels.var(ddof=1)) if len(levels) > 1 else 0.0
    within = max(within if (freedom > 0).any() else total, ROUNDING**2)
    between = max(total - float((within / n).mean()) if len(n) else 0.0, 0.0)
    weights = 1 / (between + within / n)
    mean = float((weights * levels).sum() / weights.sum()) if len(n) else 0.0
    return np.array([end, mean, between, within, prior, unit, 0.0, 0.0])


def _prior_variance(variances: Matrix, freedom: Matrix) -> tuple[float, float]:
    """Return the pooled variance and its degrees of freedom, from the moments of the groups' log variances.

    1 / ROUNDING degrees of freedom mean that all groups have the same variance.
    """
    if not len(variances) or not variances.any():
        return 0.0, 1 / ROUNDING
    logs = np.log(np.maximum(variances, 1e-5 * np.median(variances[variances > 0])))
    centred = logs - scipy.special.digamma(freedom / 2) + np.log(freedom / 2)
    spread = float(centred.var(ddof=1)) if len(centred) > 1 else 0.0
    beyond = spread - float(scipy.special.polygamma(1, freedom / 2).mean())
    if beyond <= 0:
        return float((variances * freedom).sum() / freedom.sum()), 1 / ROUNDING
    prior = min(2 * _inverse_trigamma(beyond), 1 / ROUNDING)
    return float(np.exp(centred.mean() + scipy.special.digamma(prior / 2) - np.log(prior / 2))), prior


def _inverse_trigamma(y: float) -> float:
    """Return x with trigamma(x) = y, by Newton's method for 1 / trigamma, which converges from below."""
    x = 0.5 + 1 / y
    for _ in range(50):
        value = float(scipy.special.polygamma(1, x))
        step = value * (1 - value / y) / float(scipy.special.polygamma(2, x))
        x += step
        if abs(step) <= 1e-12 * x:
            break
    return x
