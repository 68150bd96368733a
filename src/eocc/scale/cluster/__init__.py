"""Fits and scores on a Dask cluster. Dask is imported when it is used.

client      the cluster in use: data, candidates of a search and blocks of an expensive dissimilarity matrix as tasks
partitions  Dask arrays, frames and bags: scored by partition, materialised, or folded for a fit
"""

from eocc.base.vocabulary import completed
from eocc.scale.cluster.client import on
from eocc.scale.cluster.partitions import DaskPasses, contents, lazily

__all__ = ["DaskPasses", "contents", "lazily", "on"]
for _name in __all__:
    completed(globals()[_name])
