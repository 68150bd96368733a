"""The graph sets of the experiments, from the data folder."""

from dataclasses import dataclass

from eocc.datasets.catalogue import IAM
from eocc.foundation.printing import complaint
from eocc.foundation.registry import choose
from eocc.io.graphs import GraphSet
from eocc.io.graphs.gxl import read_graph_set


@dataclass(frozen=True, eq=False, repr=False)
class IamSet:
    """The graphs of the three splits with their classes, the target class, and the file they were read from."""

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
    """Return a graph set by its acronym in the paper: A, G, L-L, L-H, M or P. The numbers of graphs are checked.

    The file is iam/AIDS.zip, GREC.zip, Letter-LOW.zip, Letter-HIGH.zip, Mutagenicity.zip or Protein.zip in the data
    folder, as distributed: GXL graphs with train.cxl, valid.cxl and test.cxl. If it is missing, the
    FileNotFoundError says how to get it.

    `target` is the class to learn. The default is the paper's: i of AIDS (the paper says a, but its counts are those of
    i), 1 of GREC, A of the letters, mutagen of Mutagenicity, 1 of Protein.

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
    training, validation, test = splits
    return IamSet(row.name, row.title, chosen, training, validation, test, row.source(row.path.read_bytes()))
