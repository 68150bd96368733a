"""Measures: a pair of objects -> a dissimilarity. One file per measure, one row here."""

from eocc.foundation.registry import Registry

MEASURES = Registry(
    "eocc.measures",
    {
        "cosine-bags": "sets.CosineBags",
        "dtw": "series.DTW",
        "euclidean": "euclidean.Euclidean",
        "gower": "tables.Gower",
        "graph-edit": "graphs.GraphEdit",
        "jaccard": "sets.Jaccard",
        "precomputed": "precomputed.Precomputed",
        "standardised": "standardised.Standardised",
        "string-edit": "strings.StringEdit",
        "tanimoto": "fingerprints.Tanimoto",
    },
)
__getattr__, __all__ = MEASURES.exports(
    "composite.Composite",
    "protocol.FindsNearest",
    "protocol.FittedMeasure",
    "function.FunctionMeasure",
    "labelled_graph.LabelledGraph",
    "protocol.Measure",
    "protocol.Prepared",
    "resolve.resolve_measure",
)
