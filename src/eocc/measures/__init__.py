"""Measures: a pair of objects -> a dissimilarity. One file per measure, one row here."""

from eocc.base.registry import Registry

KINDS = ("numbers", "records", "strings", "tokens", "series", "graphs")
# Name -> where the measure is, then the kinds of data it compares. The first measure of a kind is its default.
_ROWS = {
    "euclidean": ("euclidean.Euclidean", "numbers"),
    "standardised": ("euclidean.Standardised", "numbers"),
    "tanimoto": ("sets.Tanimoto", "numbers"),
    "gower": ("tables.Gower", "records"),
    "jaccard": ("sets.Jaccard", "tokens"),
    "cosine-bags": ("sets.CosineBags", "tokens"),
    "string-edit": ("strings.StringEdit", "strings", "tokens"),
    "hamming": ("strings.Hamming", "strings", "tokens"),
    "dtw": ("series.DTW", "series"),
    "graph-edit": ("graphs.GraphEdit", "graphs"),
    "twec": ("graphs.Twec", "graphs"),
    "precomputed": ("precomputed.Precomputed",),
}
MEASURES = Registry("eocc.measures", {name: row[0] for name, row in _ROWS.items()})


def measures_of(kind: str) -> tuple[str, ...]:
    """Return the names of the measures for a kind of data; the first is the default. "" gives all others."""
    return tuple(name for name, (_, *kinds) in _ROWS.items() if kind in (kinds or ("",)))


__getattr__, __all__ = MEASURES.exports(
    "auto.resolve_measure", "composite.Composite", "function.FunctionMeasure", "labelled_graph.LabelledGraph",
    "protocol.FittedMeasure", "protocol.Measure", "protocol.Prepared",
)  # fmt: skip
