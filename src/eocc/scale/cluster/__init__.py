"""Fits and scores on a Dask cluster. Dask is imported when it is used.

client      the cluster in use; data, tasks and candidates of a search, which survive the death of a worker
pairs       blocks of an expensive dissimilarity matrix as tasks
partitions  Dask arrays, frames and bags: scored by partition, or materialised for a fit
passes      Dask arrays and frames of numbers: folded by partition for a fit
pickled     what travels to the workers
"""

from eocc.scale.cluster.client import Remote, current, on, using
from eocc.scale.cluster.pairs import prepare, spread_measure
from eocc.scale.cluster.partitions import dask_lazy, is_dask, materialised
from eocc.scale.cluster.passes import DaskPasses, are_numbers

__all__ = [
    "DaskPasses", "Remote", "are_numbers", "current", "dask_lazy", "is_dask", "materialised", "on", "prepare",
    "spread_measure", "using",
]  # fmt: skip
