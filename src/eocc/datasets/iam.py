"""The graph sets of the experiments, from the data folder."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from eocc.datasets.catalogue import IAM, DatasetRow
from eocc.foundation.printing import complaint
from eocc.foundation.registry import choose
from eocc.io.graphs import GraphSet
from eocc.io.graphs.gxl import read_graph_set


@dataclass(frozen=True, eq=False, repr=False)
class IamSet:
    """The graphs of the three shipped splits with their classes, the target class, and where they came from."""

    name: str
    title: str
    target: str
    training: GraphSet
    validation: GraphSet
    test: GraphSet
    source: str

    def __repr__(self) -> str:
        sizes = "/".join(str(len(split.graphs)) for split in (self.training, self.validation, self.test))
        return f"<IamSet {self.name}: {sizes} graphs, target {self.target!r}>"


def load_iam(name: str, *, target: str | None = None) -> IamSet:
    """Return a graph set by its acronym in the paper: A, G, L-L, L-H, M or P; numbers of graphs are checked.

    The file is iam/AIDS.zip, GREC.zip, Letter-LOW.zip, Letter-HIGH.zip, Mutagenicity.zip or Protein.zip in the data
    folder, as distributed: GXL graphs with train.cxl, valid.cxl and test.cxl. FileNotFoundError says what to put where.

    `target` is the class to learn; the paper's by default: i of AIDS (the paper says a, but counts i), 1 of GREC, A of
    the letters, mutagen of Mutagenicity, 1 of Protein.

    >>> load_iam("AIDS")
    Traceback (most recent call last):
    ...
    ValueError: unknown IAM data set 'AIDS'; known: 'A', 'G', 'L-H', 'L-L', 'M', 'P'
    """
    row = choose("IAM data set", IAM, name)
    if not row.path.is_file():
        raise FileNotFoundError(f"{row.name} ({row.title}) was not found: {row.how_to_get()}")
    training, validation, test = (read_graph_set(row.path, split) for split in ("train", "valid", "test"))
    wanted = row.target_class if target is None else target
    chosen = choose(f"class of {row.title}", {label: label for label in training.labels}, wanted)
    data = IamSet(row.name, row.title, chosen, training, validation, test, _source(row))
    _check_counts(row, data)
    return data


def _check_counts(row: DatasetRow, data: IamSet) -> None:
    """Hold graphs and targets of each split against the catalogue, by the class that the catalogue counts."""
    splits = (data.training, data.validation, data.test)
    found = [(len(split.graphs), split.labels.count(row.target_class)) for split in splits]
    expected = [(split.n_graphs, split.n_targets) for split in row.splits or ()]
    if found != expected:
        named = f"(graphs, graphs of class {row.target_class}) in train, valid and test"
        raise complaint(str(row.path), None, f"holds {found} {named}; {row.name} has {expected}")


def _source(row: DatasetRow) -> str:
    path: Path = row.path
    with path.open("rb") as file:
        is_same = hashlib.file_digest(file, "sha256").hexdigest() == row.sha256
    return f"{path} (SHA-256 {'as' if is_same else 'other than'} in the catalogue)"
