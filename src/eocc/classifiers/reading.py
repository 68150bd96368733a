"""Data of any kind -> the patterns that the measure compares."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from eocc.base.arguments import check_no_dates, saying_remedy
from eocc.base.printing import warn_user
from eocc.base.registry import listed
from eocc.base.types import Matrix
from eocc.base.wording import counted
from eocc.formats.files.rows import Objects
from eocc.measures import measures_of
from eocc.measures.auto import is_pairwise, kind_of, resolve_measure
from eocc.measures.protocol import Measure
from eocc.scale.passes import is_dask, plug_in
from eocc.space.baseline import Baseline, checked_by, fit_baseline
from eocc.space.representation import checked_weights
from eocc.tables.reading import GapError, Read, ReadColumn, Reading, constant, fit_reading, say_remarks
from eocc.tables.sources import eager, is_frame, table_of, without_columns
from eocc.tables.table import NUMBER, Table, gaps_in

# How the warning of rows without values ends.
NO_VALUES = "no values at all, so the score means nothing"


class ReadsPatterns:
    """How a classifier reads its data. `reading_` is its memory of the training table; None for other data."""

    measure: Any
    weights: Any
    baseline_by: Any
    reading_: Reading | None = None
    baseline_: Baseline | None = None
    resolved_measure_: Measure
    measure_: Any
    n_features_in_: int
    training_indices_: Any
    _row_names_: Any
    _windowing_: Any
    _check_memory: Any

    @property
    def ignored_columns_(self) -> tuple[Any, ...]:
        """The columns of the training table that are not compared."""
        return () if self.reading_ is None else tuple(self.reading_.left_out)

    @property
    def _not_compared(self) -> dict[Any, str]:
        """The columns that are not compared, with the reasons, without those that only say which window a row is."""
        left_out = {} if self.reading_ is None else self.reading_.left_out
        return {name: why for name, why in left_out.items() if why or self._windowing_ is None}

    def _read(self, X: Any, *, reset: bool = False) -> Any:
        """Return X as the measure's patterns; `reset` at fit, when "auto" chooses the measure."""
        patterns: Any = self._read_plain(X, reset)
        if patterns is not None and reset:  # complete numbers
            return patterns
        if isinstance(X, Read):
            patterns = self._read_as_measure(X.patterns, X.reading) if reset and X.reading else X.patterns
        elif patterns is None:
            X = plug_in().contents(X, self._check_memory if reset else None) if is_dask(X) else X
            if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
                remedy = "pass X.filled(np.nan), with measure='gower'"
                raise ValueError(f"X is a masked array, whose mask would be ignored; {remedy}")
            X = X if is_pairwise(self.measure) else eager(X)
            patterns = self._read_training(X) if reset else self._read_new(X)
        is_array = isinstance(patterns, np.ndarray) and patterns.dtype == np.float64
        width = patterns.shape[1] if is_array else len(patterns.columns) if isinstance(patterns, Table) else 0
        if width and (count := int((gaps_in(patterns) == width).sum())):  # gaps are filled: they look like common rows
            warn_user(f"{counted(count, 'row')} {'has' if count == 1 else 'have'} {NO_VALUES}")
        return patterns if reset or self.baseline_ is None else self.baseline_.add_to(patterns)

    def _read_plain(self, X: Any, reset: bool) -> Matrix | None:
        """Return an array of numbers that the measure takes as it is; None for data that must be read.

        The numbers are complete, unless the measure fills gaps. scikit-learn would accept the array too, but its checks
        take longer than scoring a row.
        """
        if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or not X.size:
            return None
        fills_gaps = not reset and self.reading_ is None and self._fills_gaps
        if not (~np.isinf(X) if fills_gaps else np.isfinite(X)).all():
            return None
        if reset:
            self.resolved_measure_ = resolve_measure(self.measure, kind="numbers")
        if self.resolved_measure_.read is not None:
            return None
        if not reset and (hasattr(self, "feature_names_in_") or X.shape[1] != self.n_features_in_):
            return None
        self.n_features_in_ = X.shape[1]
        return np.array(X, order="C") if reset else np.ascontiguousarray(X)

    def _read_training(self, X: Any) -> Any:
        named = isinstance(self.measure, str)
        own: Any = None if named else resolve_measure(self.measure)
        tables = ("auto", *measures_of("numbers"), *measures_of("records"))
        takes_tables = self.measure in tables if named else own.reads_tables or own.read is None
        if not (takes_tables and _is_table(X)):
            self.resolved_measure_ = resolve_measure(self.measure, X)
            return self._read_others(X, reset=True)
        raw, keeps_all = table_of(X), not (named and (is_frame(X) or isinstance(X[0], dict)))
        kinds = {**((own and own.kinds) or {}), **self._kinds_of_groups(raw.names)}
        reading, table = fit_reading(raw, keeps_all, kinds)
        say_remarks(reading.remarks)
        return self._read_as_measure(table, reading)

    def _read_as_measure(self, table: Table, reading: Reading) -> Any:
        """Choose the measure of a training table, and return its patterns."""
        measure = resolve_measure(self.measure, kind=reading.kind)
        self.resolved_measure_, wants_numbers = measure, measure.read is None
        self.reading_ = reading.for_numbers(wants_numbers, str(self.measure))
        self._name_features()
        try:
            return self.reading_.patterns(table, allows_gaps=not wants_numbers)
        except GapError as error:
            remedy = "X contains NaN; measure='gower' allows missing values; else drop or impute them"
            error.args = (f"row {error.fault.row}: {error.fault}: {remedy}",)
            raise

    def _read_new(self, X: Any) -> Any:
        if hasattr(X, "to_frame") and hasattr(self, "n_features_in_"):
            raise ValueError("X is one row or column; pass a frame: a row of df as df.iloc[[0]], not df.iloc[0]")
        if self.reading_ is None or not _is_table(X):
            return self._read_others(X)
        is_own = isinstance(X, Table)  # which may have columns relative to groups
        if is_frame(X) and not is_own:
            X = without_columns(X, self.ignored_columns_)
            if self.reading_.is_numbers:
                from sklearn.utils.validation import _check_feature_names

                _check_feature_names(self, X, reset=False)
        raw, more = self.reading_.matched(table_of(X), called="X ")
        for extra in (one.name for one in more if not (is_own or one.name in self.ignored_columns_)):
            how = ": X[clf.feature_names_in_]" if is_frame(X) and hasattr(self, "feature_names_in_") else ""
            raise ValueError(f"X has a column {extra!r}, which the training table did not have; leave it out{how}")
        return self.reading_.patterns(self.reading_.table(raw), self._fills_gaps)

    def _kinds_of_groups(self, names: Sequence[Any]) -> dict[Any, str]:
        """Return that the columns of `baseline_by`, which must be among the names, hold categories."""
        by = () if self.baseline_by is None else checked_by(self.baseline_by, names)
        return dict.fromkeys(by, "categorical")

    def _relative_to_groups(self, patterns: Any, outliers: Any) -> tuple[Any, Any]:
        """Return normal rows and outliers with columns relative to their groups, which `baseline_by` names."""
        if not isinstance(patterns, Table):
            raise ValueError("baseline_by names columns: pass a table, and measure='auto' or 'gower'")
        assert self.reading_ is not None
        given = {one.part_name(part) for one in self.reading_.columns for part in one.parts}
        patterns = patterns.without(name for name in patterns.names if name not in given)  # rows of an earlier fit
        self.baseline_, patterns = fit_baseline(patterns, checked_by(self.baseline_by, patterns.names))
        return patterns, None if outliers is None else self.baseline_.put_on(outliers)

    def _weights_of(self, fitted: Any) -> Any:
        """Return the weights of a fitted measure; with a baseline, neither groups nor numbers as they are count."""
        if self.baseline_ is None:
            return fitted.neutral_weights() if self.weights is None else checked_weights(self.weights, fitted)
        if self.weights is not None:
            raise ValueError("weights and baseline_by cannot be combined; leave one out")
        return np.array([float(name not in {*self.baseline_.by, *self.baseline_.names}) for name in fitted.names])

    def _take_reading(self, reading: Reading) -> None:
        """Read rows of numbers in this way, and say what the user should know about it."""
        say_remarks(reading.remarks)
        self.reading_ = reading
        self._name_features()

    def _name_features(self) -> None:
        """Set `n_features_in_` and, if all names are text, `feature_names_in_`, to the columns that are compared."""
        assert self.reading_ is not None
        self.n_features_in_ = len(self.reading_.columns)
        if all(isinstance(one, str) for one in self.reading_.names):
            self.feature_names_in_ = np.array(self.reading_.names, dtype=object)

    def _name_rows(self, numbers: Any, names: Any = None) -> None:
        """Say which rows of a file the rows of the fit were, by their numbers and perhaps names."""
        places = self.training_indices_
        self.training_indices_ = np.asarray(numbers)[places]
        self._row_names_ = None if names is None else [names[place] for place in places]

    def _having_seen(self, patterns: Any) -> None:
        """Remember the ranges and categories of the training patterns, and warn of columns with a single value."""
        if self.reading_ is not None:
            say_remarks(constant(patterns, self.reading_.names))
            self.reading_ = self.reading_.having_seen(patterns)

    @property
    def _known_data(self: Any) -> Reading | Objects:
        """How tables are read, also by a model of rows of numbers without names, or which other data it compares."""
        if isinstance(self.reading_, Reading):
            return self.reading_
        if hasattr(self, "n_features_in_"):
            names = getattr(self, "feature_names_in_", range(self.n_features_in_))
            return Reading(tuple(ReadColumn(name, NUMBER) for name in names), is_numbers=True)
        if not (kind := self.measure_.kind_of_data(self.prototypes_)):
            raise ValueError(f"a model with {self.measure_.called} cannot score files; score in Python")
        return Objects(kind, self.measure_.n_parameters if kind == "series" else 0)

    @property
    def _fills_gaps(self) -> bool:
        """Whether numbers of new rows may be missing; no before the fit ends."""
        return "measure_" in vars(self) and self.measure_.fills_gaps

    def _read_others(self, X: Any, reset: bool = False) -> Any:
        measure: Any = self.resolved_measure_
        if measure.read is not None:
            return measure.read(X)
        check_no_dates(X)
        width, n_ignored = sum(getattr(X, "shape", ())[1:]), 0 if reset else len(self.ignored_columns_)
        if n_ignored and not hasattr(X, "columns") and width == self.n_features_in_ + n_ignored:
            ignored = f"does not compare {listed(map(repr, self.ignored_columns_))}: leave out, or pass a frame"
            raise ValueError(f"X has {width} columns, but the model {ignored}")
        finite = "allow-nan" if not reset and self._fills_gaps else True
        from sklearn.utils.validation import validate_data  # takes long to import

        with saying_remedy():
            return validate_data(self, X, dtype=float, order="C", copy=reset, reset=reset, ensure_all_finite=finite)

    def _without_naming(self, X: Any) -> Any:
        """Return a Dask frame of numbers without the columns that name the rows, as its first rows show."""
        if hasattr(X, "columns"):
            first = next((part for part in map(X.get_partition, range(X.npartitions)) if len(part)), X)
            reading, _ = fit_reading(table_of(first.compute()), not isinstance(self.measure, str))
            self._take_reading(reading.for_numbers(True, str(self.measure)))
        return without_columns(X, self.ignored_columns_)


def _is_table(X: Any) -> bool:
    """Return whether X is a frame, a list of records, or rows with gaps or other values than numbers."""
    return isinstance(X, Table) or is_frame(X) or kind_of(X) == "records"
