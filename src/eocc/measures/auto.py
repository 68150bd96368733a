"""The measure that the user asks for; with measure="auto" the data decide, in Python and for files by the same rules.

Whatever scikit-learn would convert to a 2-D array of finite numbers is "numbers". So is anything that only looks like
it, such as a 1-D array: scikit-learn's checks then say what is wrong. A classifier reads frames and records before
(`eocc.tables.reading`): columns that name the rows are left out, and text that holds only numbers counts as such.
"""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from eocc.base.registry import resolve
from eocc.measures import MEASURES, measures_of
from eocc.measures.labelled_graph import is_graph
from eocc.measures.protocol import Measure
from eocc.tables.sources import eager, is_frame, is_missing, table_of
from eocc.tables.table import EMPTY, NUMBER

# Cells of a table that are not numbers.
OTHER_CELLS = (str, date, time, timedelta, np.datetime64, np.timedelta64, type(None))


def resolve_measure(measure: Any, X: Any = None, kind: str = "") -> Measure:
    """Return the measure itself, the one of that name, a function of two objects as a measure, or "auto" for X.

    "auto" is the first measure of the kind of X that reads it; the kind may be known.
    """
    if isinstance(measure, str) and measure == "auto":
        if X is None and not kind:
            raise ValueError(f"measure='auto' needs data to decide; name one of {', '.join(map(repr, MEASURES))}")
        kind = kind or kind_of(X)
        measure, *others = measures_of(kind)
        for name in (measure, *others) if kind == "tokens" else ():  # sets and word counts are both tokens
            with suppress(ValueError):
                MEASURES[name]().read(list(X)[:1])
                measure = name
                break
    if isinstance(measure, str | type | Measure):
        return cast(Measure, resolve("measure", MEASURES, measure, method="fit"))
    from eocc.measures.function import FunctionMeasure, OwnMeasure  # compiles kernels

    if hasattr(measure, "fit"):
        return OwnMeasure(measure)
    if callable(measure):
        return FunctionMeasure(measure)
    raise ValueError(f"a measure is a name, a function of two patterns, or an object like Gower(), not {measure!r}")


def is_pairwise(measure: Any) -> bool:
    """Return whether X holds dissimilarities instead of patterns; the measure may be a name."""
    known = MEASURES[measure]() if isinstance(measure, str) and measure in MEASURES else measure
    return isinstance(known, Measure) and known.is_pairwise


def kind_of(X: Any) -> str:
    """Return the kind of data, one of eocc.measures.KINDS; raise a ValueError if no rule knows X.

    >>> kind_of(["oak", "elm"]), kind_of([[1, "a"], [2, None]]), kind_of([[1, 2, 3], [1, 2]]), kind_of([{"oak"}])
    ('strings', 'records', 'series', 'tokens')
    """
    X = eager(X)
    ones = {"graph": is_graph(X), "dict": isinstance(X, Mapping), "text": isinstance(X, str | bytes)}
    for called in (name for name, is_one in ones.items() if is_one):
        one = "record" if called == "dict" else called
        raise ValueError(f"X is one {called}; pass a list of {one}s, for example [{one}]")
    if is_frame(X):
        columns = table_of(X).columns if len(X) else ()
        are_numbers = all(one.kind in (NUMBER, EMPTY) for one in columns)
        return _kind_of_array(np.array([one.values for one in columns]).T) if are_numbers else "records"
    if hasattr(X, "__array__"):
        return _kind_of_array(np.asarray(X))
    if isinstance(X, Sequence):
        return _kind_of_items(X)
    if isinstance(X, Iterable):
        raise ValueError(f"X is of type {type(X).__name__}; pass a list or an array")
    return "numbers"


def _kind_of_array(X: NDArray[Any]) -> str:
    kind = X.dtype.kind
    if X.ndim == 1 and kind in "UTO" and len(X):
        return _kind_of_items(X.tolist())
    if X.ndim == 3 and kind in "biuf":
        return "series"
    if X.ndim != 2 or kind in "biuc":
        return "numbers"
    if kind == "f":
        return "records" if np.isnan(X).any() and not np.isinf(X).any() else "numbers"
    return "records" if kind in "mM" else _kind_of_cells(X.ravel().tolist())


def _kind_of_cells(cells: Sequence[Any]) -> str:
    """Return "numbers" if all cells convert to finite numbers, or if one is of a type that no table can hold."""
    if not all(_is_number(cell) or is_missing(cell) or isinstance(cell, OTHER_CELLS) for cell in cells):
        return "numbers"
    try:
        values = np.array([np.nan if is_missing(cell) else cell for cell in cells], np.float64)
    except (TypeError, ValueError):
        return "records"
    return "records" if np.isnan(values).any() else "numbers"


def _kind_of_items(X: Sequence[Any]) -> str:
    if all(_is_number(item) for item in X):
        return "numbers"
    if all(isinstance(item, str) for item in X):
        return "strings"
    if all(item is None or is_graph(item) for item in X) and any(map(is_graph, X)):
        return "graphs"  # the measure names the row that is None, as RDKit has it for a SMILES that it refuses
    if all(isinstance(item, Set) for item in X):
        return "tokens"
    if all(isinstance(item, Mapping) for item in X):
        is_table = bool(X[0]) and all(record.keys() == X[0].keys() for record in X)
        are_counts = all(_is_number(value) for record in X for value in record.values())
        return "tokens" if are_counts and not is_table else "records"
    if all(isinstance(item, list | tuple | np.ndarray) for item in X):
        return _kind_of_lists(X)
    odd = list(dict.fromkeys(type(item).__name__ for item in X))
    raise _unknown(f"a list of {' and '.join(odd[:3])}")


def _kind_of_lists(X: Sequence[Any]) -> str:
    """Return the kind of a list of rows, series or lists of tokens."""
    try:
        table = np.asarray(X)
    except ValueError:  # of unequal length
        table = np.empty(0, object)
    if table.dtype.kind in "biufc":
        return _kind_of_array(table)
    if all(isinstance(cell, str) for row in X for cell in row):
        return "tokens"
    if all(np.ndim(cell) == 0 for row in X for cell in row) and len({len(row) for row in X}) == 1:
        return _kind_of_cells([cell for row in X for cell in row])
    if all(_is_series(row) for row in X):
        return "series"
    raise _unknown("a list of lists that are no rows of one length, no series of numbers, and no lists of texts")


def kind_of_object(value: Any) -> str:
    """Return the kind of data that an object is; "" if it is none."""
    if is_graph(value):
        return "graphs"
    if isinstance(value, str):
        return "strings"
    if channels_of(value):
        return "series"
    return "tokens" if isinstance(value, list) and all(isinstance(item, str) for item in value) else ""


def channels_of(value: Any) -> int:
    """Return the number of channels of a series; 0 if the value is not a series."""
    if not isinstance(value, list) or not value:
        return 0
    if all(map(_is_finite, value)):
        return 1
    if not all(isinstance(step, list) and step and all(map(_is_finite, step)) for step in value):
        return 0
    return len(value[0]) if len({len(step) for step in value}) == 1 else 0


def _is_finite(item: Any) -> bool:
    return isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item)


def _is_series(item: Any) -> bool:
    try:
        values = np.asarray(item)
    except ValueError:
        return False
    return values.dtype.kind in "biuf" and values.ndim in (1, 2)


def _is_number(item: Any) -> bool:
    return isinstance(item, Real | Decimal | np.bool_ | complex) or (isinstance(item, np.ndarray) and item.ndim == 0)


def _unknown(what: str) -> ValueError:
    names = ", ".join(map(repr, MEASURES))
    hint = f"pass measure=, one of {names}, or a function f(a, b)"
    return ValueError(f"measure='auto' knows no measure for {what}; {hint}")
