"""The same work on a Dask cluster: candidates, blocks of pairs, partitions. Dask is imported when it is used."""

from eocc.scale.cluster.client import current, on, using
from eocc.scale.cluster.judging import Remote
from eocc.scale.cluster.pairs import prepare, spread_measure
from eocc.scale.cluster.partitions import dask_lazy, is_dask, materialised, sample

__all__ = [
    "Remote",
    "current",
    "dask_lazy",
    "is_dask",
    "materialised",
    "on",
    "prepare",
    "sample",
    "spread_measure",
    "using",
]
