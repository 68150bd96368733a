"""The paper's method, in its order. The choices that have names, one row each, are imported when they are used.

- ``graph``         space -> Euclidean graph, minimum spanning tree, Rényi entropy
- ``partition``     spanning tree -> clusters, modularity
- ``rules``         extents, membership functions and t-conorms; ratios -> scores
- ``regions``       clusters -> fuzzy decision regions -> membership; how well those of all partitions classify
- ``search``        maximise any function of the dissimilarity's parameters p
- ``synthesis``     p + data -> model: EOCC-1 and EOCC-2
"""

from eocc.base.registry import Registry

# The fewest clusters of Algorithm 1: two if it always cuts the heaviest edge, as its pseudo-code does; one if it begins
# with one cluster and cuts only while Q does not fall, as the text before it says. departure: first cut
LEAST_CLUSTERS = {"always": 2, "if-better": 1}
_EXTENTS, _MEMBERSHIPS = ("max", "mean", "median", "quantile", "std"), ("Bell", "Gaussian", "Triangular")
EXTENTS = Registry("eocc.entropic.rules", {name: f"{name}_extent" for name in _EXTENTS})
MEMBERSHIP_FUNCTIONS = Registry("eocc.entropic.rules", {name.lower(): name for name in _MEMBERSHIPS})
PERFORMANCES = Registry("eocc.entropic.regions", {name: name for name in ("accuracy", "balanced_accuracy", "f1")})
SEARCHES = Registry("eocc.entropic", {"genetic": "search.GeneticSearch"})
TCONORMS = Registry(
    "eocc.entropic.rules", {"lukasiewicz": "lukasiewicz", "max": "maximum", "probabilistic": "probabilistic_sum"}
)
