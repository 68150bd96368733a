"""A table or other data -> the patterns that the measure compares."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from eocc.foundation.arguments import check_no_dates, check_no_mask, saying_remedy
from eocc.foundation.registry import listed
from eocc.foundation.wording import counted
from eocc.measures import measures_of
from eocc.measures.auto import has_text, naming_columns, numbers_of_text, resolve_measure, without_columns
from eocc.measures.columns import Table, eager
from eocc.measures.naming import listed_reasons
from eocc.measures.protocol import Measure
from eocc.measures.text_format import TextFormat, text_format_of
from eocc.scale.cluster import materialised

# How the warning of rows without values ends.
NO_VALUES = "no values at all, so the score means nothing"
# The names of the measures that compare the columns of a table.
TABLE_MEASURES = (*measures_of("numbers"), *measures_of("records"))


class ReadsPatterns:
    """How a classifier reads its data; a fit remembers what it ignored and how text was written."""

    measure: Any
    ignored_columns_: tuple[Any, ...] = ()
    text_format_: TextFormat = TextFormat()
    resolved_measure_: Measure
    n_features_in_: int
    check_memory: Any

    def read(self, X: Any, *, reset: bool = False) -> Any:
        """Return X as the measure's patterns; `reset` at fit, when "auto" chooses the measure."""
        patterns = self._read(X, reset)
        _warn_of_empty_rows(patterns)
        return patterns

    def _read(self, X: Any, reset: bool) -> Any:
        if hasattr(X, "__dask_graph__"):
            X = materialised(X, self.check_memory if reset else None)
        check_no_mask(X)
        X = eager(X)
        if reset:
            self.text_format_ = text_format_of(X) if isinstance(self.measure, str) and has_text(X) else TextFormat()
        X = self.text_format_.plain(X)
        if reset:
            self.ignored_columns_ = self._columns_to_ignore(X)
        X = without_columns(X, self.ignored_columns_)
        if reset:
            self.resolved_measure_ = resolve_measure(self.measure, X)
        measure: Any = self.resolved_measure_
        if hasattr(measure, "read"):
            return measure.read(X)
        check_no_dates(X)
        if not reset and not hasattr(X, "columns"):
            self._check_width(sum(getattr(X, "shape", ())[1:]))
        fills_gaps = not reset and getattr(getattr(self, "measure_", None), "fills_gaps", False)
        X = numbers_of_text(X)
        with saying_remedy():
            allowed = "allow-nan" if fills_gaps else True
            return validate_data(
                self, X, dtype=np.float64, order="C", copy=reset, reset=reset, ensure_all_finite=allowed
            )

    def without_naming(self, X: Any) -> Any:
        """Return a Dask frame of numbers without the columns that name the rows, as its first partition shows."""
        if hasattr(X, "columns"):
            self.ignored_columns_ = self._columns_to_ignore(X.partitions[0].compute())
        return without_columns(X, self.ignored_columns_)

    def _check_width(self, width: int) -> None:
        """Refuse an array of so many columns if it still has those that training ignored."""
        ignored = listed(map(repr, self.ignored_columns_))
        if ignored and width == self.n_features_in_ + len(self.ignored_columns_):
            raise ValueError(
                f"X has {width} columns, but the model does not compare {ignored}: leave out, or pass a frame"
            )

    def _columns_to_ignore(self, X: Any) -> tuple[Any, ...]:
        """Return the columns that a measure given by its name leaves out because they name the rows, with a warning."""
        if not (isinstance(self.measure, str) and self.measure in ("auto", *TABLE_MEASURES)):
            return ()
        found, doubtful = naming_columns(X, self.text_format_.spelling)
        if found:
            which = listed_reasons(found)
            if len(found) == (len(X[0]) if isinstance(X, Sequence) else X.shape[1]):
                remedy = "pass a column of texts by itself to compare them letter by letter, or measure=Gower()"
                raise ValueError(f"X has no column left to compare: {which}; {remedy}")
            remedy = "to compare all columns, pass a measure as an object, for example measure=Gower()"
            warnings.warn(f"not compared: {which}; {remedy}", UserWarning, stacklevel=4)
        if doubtful:
            which = f"a different integer in every row: {listed(map(repr, doubtful))}"
            warnings.warn(f"{which}; drop columns that only name the rows", UserWarning, stacklevel=4)
        return tuple(found)


def _warn_of_empty_rows(patterns: Any) -> None:
    """Warn of rows of a table that have no values: their gaps are filled, and they look like common rows."""
    is_numbers = isinstance(patterns, np.ndarray) and patterns.dtype == np.float64
    table = patterns.columns if isinstance(patterns, Table) else ()
    columns = patterns.T if is_numbers else [one.values for one in table]
    if not len(columns):
        return
    is_empty = np.isnan(columns[0])
    for column in columns[1:]:
        if not is_empty.any():
            return
        is_empty &= np.isnan(column)
    if count := int(is_empty.sum()):
        has = "has" if count == 1 else "have"
        warnings.warn(f"{counted(count, 'row')} {has} {NO_VALUES}", stacklevel=4)
