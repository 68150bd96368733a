"""The data sets of the experiments, from catalogue.csv: what each holds, where it is looked for, where to get it."""

import csv
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path


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
