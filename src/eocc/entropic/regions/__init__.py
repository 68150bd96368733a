"""Clusters -> fuzzy decision regions -> membership, score, decision. One row per choice here."""

from eocc.base.registry import Registry

EXTENTS = Registry(
    "eocc.entropic.regions.rules", {name: f"{name}_extent" for name in ("max", "mean", "median", "quantile", "std")}
)
REPRESENTATIVES = Registry("eocc.entropic.regions.rules", {"centroid": "Centroid", "medoid": "Medoid"})
MEMBERSHIP_FUNCTIONS = Registry(
    "eocc.entropic.regions.memberships",
    {"bell": "Bell", "gaussian": "Gaussian", "trapezoidal": "Trapezoidal", "triangular": "Triangular"},
)
TCONORMS = Registry(
    "eocc.entropic.regions.rules",
    {"lukasiewicz": "lukasiewicz", "max": "maximum", "probabilistic": "probabilistic_sum"},
)
