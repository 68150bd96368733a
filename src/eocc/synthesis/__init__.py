"""p + data -> model: EOCC-1 and EOCC-2, as the paper describes them."""

from eocc.foundation.registry import Registry

GRAPHS = Registry("eocc.synthesis.graph_kinds", {"complete": "CompleteGraph", "knn": "NeighbourGraph"})
