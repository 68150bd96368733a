"""The UCI sets of the experiments: from the data folder, else from scikit-learn, else downloaded."""

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_file, load_breast_cancer, load_iris

from eocc.base.checks import demand
from eocc.base.printing import complaint, printable, quoted
from eocc.base.registry import choose
from eocc.datasets.catalogue import UCI, DatasetRow
from eocc.formats.archive import Limits, read_file

# CO is a text file of tens of megabytes.
LARGE = Limits(file_bytes=2**28)


@dataclass(frozen=True, eq=False, repr=False)
class UciSet:
    """Rows `X` of shape (n, d), whether each is a target, the names of the columns, and where they were read from."""

    name: str
    title: str
    X: NDArray[np.float64]
    is_target: NDArray[np.bool_]
    feature_names: tuple[str, ...]
    source: str

    def __repr__(self) -> str:
        n_targets, (n_rows, n_features) = int(self.is_target.sum()), self.X.shape
        return f"<UciSet {self.name}: {n_targets} targets, {n_rows - n_targets} others, {n_features} features>"


def load_uci(name: str) -> UciSet:
    """Return a set by its acronym in the paper. The numbers of targets, others and features are checked.

    Low-dimensional: AB, BI, BW, D, E, I, L; high-dimensional: AR, BC-D, BC-P, C, CO, S, SP. Variants: BW-raw and
    BC-P-raw (missing cells are NaN; in BW and BC-P they are the mean of the column), C-2000 (all columns of C),
    SP-267 (without the 82 repeated rows of SP).

    A set is read from the data folder if it is there, for example uci/ab.csv: a header, columns of numbers, and last
    `target`, 1 for the target class and 0 for others. Otherwise from scikit-learn (I, BC-D); the rows are the same, in
    the same order, but column names may differ. Otherwise it is downloaded, if a checksum is known (AB, E, S). If all
    fails, the FileNotFoundError says how to get the set.

    >>> load_uci("I")
    <UciSet I: 50 targets, 100 others, 4 features>
    """
    row = choose("UCI data set", UCI, name)
    data = _from_folder(row) or _from_scikit_learn(row) or _from_home(row)
    n_targets = int(data.is_target.sum())
    found = (n_targets, len(data.X) - n_targets, data.X.shape[1], int(np.isnan(data.X).sum()))
    expected = (row.n_targets, row.n_others, row.n_features, row.n_missing)
    if found != expected:
        named = "targets, others, features, missing cells"
        raise complaint(data.source, None, f"holds {found} {named}; {row.name} has {expected}")
    return data


def _from_folder(row: DatasetRow) -> UciSet | None:
    if row.path.is_file():
        return read_target_csv(row.path, row)
    if row.public_file is not None and row.public_file.path.is_file():
        return _read_raw(row, row.public_file.path, str(row.public_file.path))
    return None


def _from_scikit_learn(row: DatasetRow) -> UciSet | None:
    loaders = {"I": (load_iris, "setosa"), "BC-D": (load_breast_cancer, "benign")}
    if row.name not in loaders:
        return None
    loader, target = loaders[row.name]
    bunch = loader()
    is_target = bunch.target == list(bunch.target_names).index(target)
    names = tuple(map(str, bunch.feature_names))
    return UciSet(row.name, row.title, np.asarray(bunch.data, dtype=np.float64), is_target, names, "scikit-learn")


def _from_home(row: DatasetRow) -> UciSet:
    public = row.public_file
    if public is None:
        raise FileNotFoundError(f"{row.name} ({row.title}) was not found: {row.how_to_get()}")
    try:
        public.path.parent.mkdir(parents=True, exist_ok=True)
        path = fetch_file(public.address, public.path.parent, public.path.name, public.sha256, n_retries=0)
    except (OSError, ValueError, HTTPException) as error:
        reason = f"{row.name} ({row.title}) was not found, and not downloaded from {public.address}: {error}"
        raise FileNotFoundError(printable(f"{reason}; {row.how_to_get()}")) from None
    return _read_raw(row, path, public.address)


# Of a public file the separator of cells, the names of the columns, and how the cells of a line are read as numbers and
# as whether it is a target.
RAW_FORMS: dict[str, tuple[str | None, str, Callable[[list[str]], tuple[list[Any], bool]]]] = {
    "AB": (
        ",", "sex_M sex_F sex_I length diameter height whole shucked viscera shell",
        lambda cells: ([*(cells[0] == sex for sex in "MFI"), *cells[1:8]], int(cells[8]) <= 8),
    ),
    "E": (None, "mcg gvh lip chg aac alm1 alm2", lambda cells: (cells[1:8], cells[8] == "pp")),
    "S": (",", " ".join(f"v{number}" for number in range(1, 61)), lambda cells: (cells[:60], cells[60] == "M")),
}  # fmt: skip


def _read_raw(row: DatasetRow, path: Path, source: str) -> UciSet:
    """Return the set of a public file, whose checksum was right when it was downloaded."""
    separator, names, read = RAW_FORMS[row.name]
    lines = [read(line.split(separator)) for line in path.read_text().splitlines() if line.strip()]
    X = np.array([list(map(float, numbers)) for numbers, _ in lines])
    return UciSet(row.name, row.title, X, np.array([target for _, target in lines]), tuple(names.split()), source)


def read_target_csv(path: Path, row: DatasetRow) -> UciSet:
    """Return the set of a CSV file. Blank cells are NaN if the set has missing cells, and otherwise an error."""
    data, where = read_file(path, LARGE)
    line, rows, is_target = 1, list[list[float]](), list[bool]()
    try:
        reader = csv.reader(data.decode("utf-8-sig").splitlines(), strict=True)
        *names, last = map(str.strip, next(reader, [""]))
        demand(names and last == "target", "the header must name the features, then `target`")
        demand(all(names) and len({*names, last}) > len(names), "the header has a blank name, or a name twice")
        for cells in filter(None, reader):
            line = reader.line_num
            demand(len(cells) == len(names) + 1, f"{len(cells)} cells where {len(names) + 1} are expected")
            *numbers, target = map(str.strip, cells)
            demand(target in ("0", "1"), f"target must be 1 or 0, not {quoted(target)}")
            rows.append([_number(cell, row.n_missing > 0) for cell in numbers])
            is_target.append(target == "1")
    except UnicodeDecodeError as error:
        raise complaint(where, data.count(b"\n", 0, error.start) + 1, "is not UTF-8 text") from None
    except csv.Error as error:
        raise complaint(where, reader.line_num, f"is not CSV: {error}") from None
    except ValueError as error:
        raise complaint(where, line, str(error)) from None
    X = np.array(rows).reshape(len(rows), len(names))
    return UciSet(row.name, row.title, X, np.array(is_target, bool), tuple(names), row.source(data))


def _number(cell: str, has_blanks: bool) -> float:
    if has_blanks and not cell:
        return math.nan
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    # float() also accepts 1_000 and digits of other scripts.
    demand(math.isfinite(number) and "_" not in cell and cell.isascii(), f"{quoted(cell)} is not a finite number")
    return number
