"""Clusters -> fuzzy decision regions -> membership, score, decision. One row per choice here."""

from eocc.foundation.registry import Registry

EXTENTS = Registry(
    "eocc.regions.extents",
    {
        "max": "max_extent",
        "mean": "mean_extent",
        "median": "median_extent",
        "quantile": "quantile_extent",
        "std": "std_extent",
    },
)
REPRESENTATIVES = Registry("eocc.regions.representatives", {"centroid": "Centroid", "medoid": "Medoid"})
TCONORMS = Registry(
    "eocc.regions.tconorms",
    {"einstein": "einstein", "lukasiewicz": "lukasiewicz", "max": "maximum", "probabilistic": "probabilistic_sum"},
)
