"""The graph sets of the experiments, from the data folder."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eocc.base.printing import complaint
from eocc.base.registry import choose
from eocc.base.wording import counted
from eocc.datasets.catalogue import IAM
from eocc.formats.graphs.gxl import GraphSet, read_graph_set
from eocc.measures import MEASURES


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
