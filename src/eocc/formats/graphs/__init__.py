"""Collections of labelled graphs in files: GXL with CXL indices."""

from dataclasses import dataclass

from eocc.measures.labelled_graph import LabelledGraph


@dataclass(frozen=True, eq=False, repr=False)
class GraphSet:
    """Graphs, and for each its class and its name in the collection.

    >>> GraphSet([LabelledGraph(1), LabelledGraph(2)], ["a", "b"], ["first", "second"])
    <GraphSet of 2 graphs in 2 classes>
    """

    graphs: list[LabelledGraph]
    labels: list[str]
    names: list[str]

    def __repr__(self) -> str:
        return f"<GraphSet of {len(self.graphs)} graphs in {len(set(self.labels))} classes>"
