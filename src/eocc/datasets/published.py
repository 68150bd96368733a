"""The published data sets: their catalogue, and where the sets of the UCI repository and of IAM are read from.

catalogue.csv says what each set holds, where it is looked for and where to get it: in the data folder, else a UCI set
comes from scikit-learn, else it is downloaded.
"""

import csv
import hashlib
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from eocc.base.wording import counted
from eocc.formats.archive import Limits, read_file
from eocc.formats.graphs.gxl import GraphSet, read_graph_set
from eocc.measures import MEASURES


def data_folder() -> Path:
    """Return the folder that holds uci/ and iam/: EOCC_DATA if that is set, otherwise ~/.local/share/eocc."""
    return Path(os.environ.get("EOCC_DATA") or "~/.local/share/eocc").expanduser()


@dataclass(frozen=True)
class PublicFile:
    """A file that can be downloaded, and the SHA-256 of its bytes."""

    address: str
    sha256: str

    @property
    def path(self) -> Path:
        """The place of a copy in the data folder."""
        return data_folder() / "downloads" / self.address.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class DatasetRow:
    """A row of the catalogue: the paper's numbers, where the set is looked for, and where to get it.

    `table` is the table of the paper: low, high or iam. A variant of a set names it in `variant_of`. `splits` of graph
    sets are (graphs, targets) of train, valid and test; kinds say which attributes are numbers, categories or texts.
    `sha256` is the checksum of the copy described here (other copies are accepted).
    """

    name: str
    title: str
    table: str
    file: str
    target_class: str
    n_targets: int
    n_others: int
    n_features: int | None
    n_missing: int
    home: str
    sha256: str | None
    public_file: PublicFile | None
    variant_of: str | None
    splits: tuple[tuple[int, ...], ...]
    vertex_kinds: dict[str, str]
    edge_kinds: dict[str, str]

    @property
    def kind(self) -> str:
        """Return "iam" for graph sets, otherwise "uci"."""
        return "iam" if self.table == "iam" else "uci"

    @property
    def path(self) -> Path:
        """The place of the file."""
        return data_folder() / self.file

    def source(self, data: bytes) -> str:
        """Return the path, and whether the data of the file have the checksum of the catalogue."""
        if self.sha256 is None:
            return str(self.path)
        is_same = hashlib.sha256(data).hexdigest() == self.sha256
        return f"{self.path} (SHA-256 {'as' if is_same else 'other than'} in the catalogue)"

    def how_to_get(self) -> str:
        """Return one line: which file to put where, and its source."""
        if self.kind == "iam":
            form = "a zip file of GXL graphs with train.cxl, valid.cxl and test.cxl"
        else:
            form = f"CSV, a header, {self.n_features} columns of numbers, then `target`: 1 for the target class, else 0"
        known = "" if self.public_file else "; no download known with a verified checksum"
        return f"put the file at {str(self.path)!r} ({form}); its home: {self.home}{known}"


def _row(cells: dict[str, str]) -> DatasetRow:
    address, same = cells["public_address"], ("name", "title", "table", "file", "target_class", "home")
    return DatasetRow(
        **{name: cells[name] for name in same},
        n_targets=int(cells["n_targets"]),
        n_others=int(cells["n_others"]),
        n_features=int(cells["n_features"]) if cells["n_features"] else None,
        n_missing=int(cells["n_missing"] or 0),
        sha256=cells["sha256"] or None,
        # Each is the checksum that others publish for that address.
        public_file=PublicFile(address, cells["public_sha256"]) if address else None,
        variant_of=cells["variant_of"] or None,
        splits=tuple(tuple(map(int, split.split(":"))) for split in cells["splits"].split()),
        vertex_kinds=dict(kind.split(":") for kind in cells["vertex_kinds"].split()),
        edge_kinds=dict(kind.split(":") for kind in cells["edge_kinds"].split()),
    )


with Path(__file__).with_name("catalogue.csv").open(encoding="utf-8", newline="") as _file:
    ROWS = tuple(map(_row, csv.DictReader(_file)))
UCI = {row.name: row for row in ROWS if row.kind == "uci"}
IAM = {row.name: row for row in ROWS if row.kind == "iam"}


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
    if row.path.is_file():
        data = read_target_csv(row.path, row)
    elif row.public_file is not None and row.public_file.path.is_file():
        data = _read_raw(row, row.public_file.path, str(row.public_file.path))
    else:
        data = _from_scikit_learn(row) if name in BUNDLED else _from_home(row)
    n_targets = int(data.is_target.sum())
    found = (n_targets, len(data.X) - n_targets, data.X.shape[1], int(np.isnan(data.X).sum()))
    expected = (row.n_targets, row.n_others, row.n_features, row.n_missing)
    if found != expected:
        named = "targets, others, features, missing cells"
        raise complaint(data.source, None, f"holds {found} {named}; {row.name} has {expected}")
    return data


# The sets that scikit-learn has, with the target class.
BUNDLED = {"I": (load_iris, "setosa"), "BC-D": (load_breast_cancer, "benign")}


def _from_scikit_learn(row: DatasetRow) -> UciSet:
    load, target = BUNDLED[row.name]
    bunch = load()
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


@dataclass(frozen=True, eq=False, repr=False)
class IamSet:
    """The graphs of the three splits with their classes, the target class, and the file they were read from.

    `vertex_kinds` and `edge_kinds` say which attributes are numbers, categories or texts. `remarks` say which values
    are damaged and count as missing.
    """

    name: str
    title: str
    target: str
    training: GraphSet
    validation: GraphSet
    test: GraphSet
    source: str
    vertex_kinds: dict[str, str]
    edge_kinds: dict[str, str]
    remarks: tuple[str, ...]

    def measure(self, name: str = "graph-edit") -> Any:
        """Return "graph-edit" or "twec" with the declared kinds of the attributes that the targets of training have."""
        rows = zip(self.training.graphs, self.training.labels, strict=True)
        targets = [graph for graph, label in rows if label == self.target]
        of_vertices = {key for graph in targets for key in graph.vertex_attributes}
        of_edges = {key for graph in targets for key in graph.edge_attributes}
        both = ((self.vertex_kinds, of_vertices), (self.edge_kinds, of_edges))
        return MEASURES[name](*({key: kinds[key] for key in kinds if key in known} for kinds, known in both))

    def __repr__(self) -> str:
        sizes = "/".join(str(len(split.graphs)) for split in (self.training, self.validation, self.test))
        return f"<IamSet {self.name}: {sizes} graphs, target {self.target!r}>"


def load_iam(name: str, *, target: str | None = None) -> IamSet:
    """Return a graph set by its acronym in the paper: A, G, L-L, L-H, M or P. The numbers of graphs are checked.

    The file is iam/AIDS.zip, GREC.zip, Letter-LOW.zip, Letter-HIGH.zip, Mutagenicity.zip or Protein.zip in the data
    folder, as distributed: GXL graphs with train.cxl, valid.cxl and test.cxl. If it is missing, the
    FileNotFoundError says how to get it.

    `target` is the class to learn. The default is the paper's: i of AIDS (departure: aids class), 1 of GREC, A of the
    letters, mutagen of Mutagenicity, 1 of Protein. The paper counts a few graphs fewer (departure: counts of graphs).

    The kinds of the attributes are declared: numbers that a file holds as text, the angles of GREC, are returned as
    numbers. A damaged one is missing, and `remarks` say so.

    >>> load_iam("AIDS")
    Traceback (most recent call last):
    ...
    ValueError: unknown IAM data set 'AIDS'; known: 'A', 'G', 'L-H', 'L-L', 'M', 'P'
    """
    row = choose("IAM data set", IAM, name)
    if not row.path.is_file():
        raise FileNotFoundError(f"{row.name} ({row.title}) was not found: {row.how_to_get()}")
    splits = [read_graph_set(row.path, split) for split in ("train", "valid", "test")]
    found = tuple((len(split.graphs), split.labels.count(row.target_class)) for split in splits)
    if found != row.splits:
        named = f"(graphs, graphs of class {row.target_class}) in train, valid and test"
        raise complaint(str(row.path), None, f"holds {list(found)} {named}; {row.name} has {list(row.splits)}")
    wanted = row.target_class if target is None else target
    chosen = choose(f"class of {row.title}", {label: label for label in splits[0].labels}, wanted)
    remarks = [*_read_numbers(splits, "vertex", row.vertex_kinds), *_read_numbers(splits, "edge", row.edge_kinds)]
    (training, validation, test), source = splits, row.source(row.path.read_bytes())
    kinds = row.vertex_kinds, row.edge_kinds
    return IamSet(row.name, row.title, chosen, training, validation, test, source, *kinds, tuple(remarks))


def _read_numbers(splits: Sequence[GraphSet], part: str, kinds: Mapping[str, str]) -> Iterator[str]:
    """Turn declared numbers that are written as text into numbers, in place; yield what is damaged."""
    columns = [getattr(graph, f"{part}_attributes") for split in splits for graph in split.graphs]
    for name in (name for name, kind in kinds.items() if kind == "number"):
        damaged = list[str]()
        for values in (column[name] for column in columns if name in column):
            for k, value in enumerate(values):
                try:
                    values[k] = float(value) if isinstance(value, str) else value
                except ValueError:
                    values[k] = None
                    damaged.append(value)
        if damaged:
            count = counted(len(damaged), "value")
            yield f"{count} of the {part} attribute {name} ({damaged[0]!r}) cannot be read and count as missing"
