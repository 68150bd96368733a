"""Clusters -> fuzzy decision regions -> membership, score, decision. One row per choice here."""

from eocc.foundation.registry import Registry

EXTENTS = Registry(
    "eocc.regions.extents", {name: f"{name}_extent" for name in ("max", "mean", "median", "quantile", "std")}
)
REPRESENTATIVES = Registry("eocc.regions.representatives", {"centroid": "Centroid", "medoid": "Medoid"})
MEMBERSHIP_FUNCTIONS = Registry(
    "eocc.regions.memberships",
    {"bell": "Bell", "gaussian": "Gaussian", "trapezoidal": "Trapezoidal", "triangular": "Triangular",
     "two-sided": "TwoSided"},
)  # fmt: skip
TCONORMS = Registry(
    "eocc.regions.tconorms",
    {"einstein": "einstein", "lukasiewicz": "lukasiewicz", "max": "maximum", "probabilistic": "probabilistic_sum"},
)
