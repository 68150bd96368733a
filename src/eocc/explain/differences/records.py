"""Mixed records: what each column adds to Gower's dissimilarity."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from eocc.foundation.wording import format_value, named_values, to_json
from eocc.measures.columns import BOOLEANS, DATES, DURATIONS, TIMES, Column
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.tables import FittedColumn, FittedGower


def record_difference(measure: FittedGower, pair: Pair) -> Difference:
    """Return p_k c_k / u for each of the u columns, with both values; a missing value costs what the measure says."""
    prepared = measure.prepare(pair.pattern, pair.prototype)
    here, there = (_cells(measure, table) for table in (pair.pattern, pair.prototype))
    contributions = []
    for k, column in enumerate(measure.columns):
        lone = np.zeros(len(pair.weights))
        lone[k] = pair.weights[k]
        amount = float(prepared.evaluate(lone)[0, 0])
        details = {"column": to_json(column.name), "value": to_json(here[k]), "prototype": to_json(there[k])}
        details["weight"] = float(pair.weights[k])
        remark = _remark(column, here[k], there[k])
        text = f"{column.name}: {format_value(here[k])}, {pair.called} {format_value(there[k])}{remark}"
        contributions.append(Contribution(amount, text, details))
    return Difference(pair.dissimilarity, tuple(contributions), "by column")


def record_description(measure: FittedGower, pattern: Any, names: Sequence[str] | None) -> str:
    """Return the values by column.

    >>> from eocc.measures import Gower
    >>> rows = [{"age": 20, "city": "Oslo"}, {"age": None, "city": "Rome"}]
    >>> frozen = Gower().fit(rows)
    >>> record_description(frozen, Gower().read(rows[1:]), None)
    'age = missing, city = Rome'
    """
    return named_values([str(name) for name in measure.names], _cells(measure, pattern))


def cell(column: Column, index: int) -> Any:
    """Return a value of a column as it was given: numbers, words, booleans, dates; None where it is missing.

    >>> from eocc.measures.columns import read_table
    >>> table = read_table([{"new": True, "day": datetime(2024, 5, 1)}])
    >>> [cell(column, 0) for column in table.columns]
    [True, '2024-05-01']
    """
    value = column[index]
    if value is None or column.labels is not None:
        return value
    if column.contents == {BOOLEANS}:
        return bool(value)
    return _moment(value, next(iter(column.contents)))


def _moment(microseconds: float, content: str) -> Any:
    """Return a date, a duration or a time of day, counted in microseconds, as text; numbers as they are."""
    if content == DURATIONS:
        return str(timedelta(microseconds=microseconds))
    if content == TIMES:
        return str((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)).time())
    if content == DATES:
        return str(np.datetime64(int(microseconds), "us")).removesuffix(".000000").removesuffix("T00:00:00")
    return microseconds


def _cells(measure: FittedGower, table: Any) -> list[Any]:
    known = {column.name: column for column in table.columns}
    return [cell(known[name], 0) for name in measure.names]


def _remark(column: FittedColumn, here: Any, there: Any) -> str:
    if column.coder.kind == "empty":
        return " (no value in training: counts nothing)"
    return " (counted as the mean difference in training)" if (here is None) != (there is None) else ""
