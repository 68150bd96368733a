"""Clusters -> fuzzy decision regions -> membership, score, decision. One row per choice here."""

from eocc.base.registry import Registry

EXTENTS = Registry(
    "eocc.entropic.regions.rules", {name: f"{name}_extent" for name in ("max", "mean", "median", "quantile", "std")}
)
MEMBERSHIP_FUNCTIONS = Registry(
    "eocc.entropic.regions.memberships",
    {"bell": "Bell", "gaussian": "Gaussian", "triangular": "Triangular"},
)
PERFORMANCES = Registry(
    "eocc.entropic.regions.all_partitions", {name: name for name in ("accuracy", "balanced_accuracy", "f1")}
)
TCONORMS = Registry(
    "eocc.entropic.regions.rules",
    {"lukasiewicz": "lukasiewicz", "max": "maximum", "probabilistic": "probabilistic_sum"},
)
