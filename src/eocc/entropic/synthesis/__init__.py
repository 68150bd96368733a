"""p + data -> model: EOCC-1 and EOCC-2, as the paper describes them."""

from eocc.base.registry import Registry

GRAPHS = Registry("eocc.entropic.synthesis.assessment", {"complete": "CompleteGraph", "knn": "NeighbourGraph"})
