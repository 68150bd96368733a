"""Data sets: the paper's synthetic problems."""

from eocc.datasets.synthetic import (
    OneClassProblem,
    make_isolated_pattern,
    make_narrow_band,
    make_three_clusters,
    make_two_clusters,
)

__all__ = [
    "OneClassProblem",
    "make_isolated_pattern",
    "make_narrow_band",
    "make_three_clusters",
    "make_two_clusters",
]
