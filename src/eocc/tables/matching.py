"""A raw table -> the columns of a model, found by name or by order; and what rows of it lack or hold."""

import shlex
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from eocc.foundation.printing import printable, quoted
from eocc.foundation.registry import listed
from eocc.foundation.types import Indices
from eocc.foundation.wording import counted
from eocc.tables.judge import Fault
from eocc.tables.reading import Reading, Remark, shown
from eocc.tables.table import NUMBER, RELATIVE, Column, Table


def matched(table: Table, reading: Reading, is_named: bool = True) -> tuple[Table, list[Column]]:
    """Return the columns of a table under the names that they have in the model, and those that it does not use.

    Columns are found by name, or by their order if the model or the table has no names.
    """
    names, wanted = table.names, reading.names
    has_names = all(isinstance(name, str) for name in wanted)
    if not (has_names and (is_named or {*wanted} <= {*names})):
        if [str(name) for name in wanted] == [str(name) for name in names] or len(names) == len(wanted):
            columns = [column.rename(name) for column, name in zip(table.columns, wanted, strict=True)]
            return Table(tuple(columns), table.dialect), []
        needs = f"but the model needs {len(wanted)}, and one of the two has no names to match"
        raise ValueError(f"has {counted(len(names), 'column')}, {needs}; drop the others")
    for absent in (name for name in wanted if name not in names):
        has = listed(quoted(str(name)) for name in names)
        raise ValueError(f"has no column {quoted(str(absent))}, which the model needs; it has {has}")
    known = {column.name: column for column in table.columns}
    return Table(tuple(known.pop(name) for name in wanted), table.dialect), list(known.values())


def constant(patterns: Any, names: Sequence[Hashable]) -> Iterator[Remark]:
    """Yield which columns of training patterns, a table or rows of numbers under these names, have a single value."""
    is_table = isinstance(patterns, Table)
    columns = patterns.columns if is_table else map(Column, names, [NUMBER] * len(names), patterns.T)
    for column in columns if len(patterns) > 1 else ():
        if not np.isnan(column.values[0]) and (column.values == column.values[0]).all():
            name, value = shown(column.name), printable(str(column.cell(0)).removesuffix(".0"))
            text, option = "a row with any other value will be rejected", f"--drop {shlex.quote(name)} leaves it out"
            always = f"is always {value}"
            if column.declared == RELATIVE:
                always, option = "never differs within a group", "--drop leaves such a column out"
            yield Remark(f"{name} {always}: {text}", "drop the column if it does not matter", option)


def gaps_in(patterns: Any) -> Indices:
    """Return how many values each row of numbers or of a table lacks."""
    if isinstance(patterns, np.ndarray):
        return np.asarray(np.isnan(patterns).sum(axis=1))
    counts = np.zeros(len(patterns), np.int64)
    for column in patterns.columns:
        if column.declared != RELATIVE:
            counts += np.isnan(column.values)
    return counts


def used_rows(patterns: Any, faults: Sequence[Fault] | None, skips_gaps: bool) -> Indices:
    """Return the rows of a table without those of faults and, if they are skipped, those with gaps."""
    kept = gaps_in(patterns) == 0 if skips_gaps else np.ones(len(patterns), bool)
    kept[[fault.row for fault in faults or ()]] = False
    return np.flatnonzero(kept)


def is_same(cell: Any, target: str) -> bool:
    """Say whether a label is the one given on the command line: the same text, number or truth value.

    >>> is_same(" good ", "good"), is_same(1.0, "1"), is_same(True, "true"), is_same("1.0", "1")
    (True, True, True, False)
    """
    text, wanted = str(cell).strip(), target.strip()
    if text == wanted:
        return True
    if isinstance(cell, bool | np.bool_):
        return text.lower() == wanted.lower()
    try:
        return not isinstance(cell, str) and float(cell) == float(wanted)
    except (TypeError, ValueError, OverflowError):
        return False
