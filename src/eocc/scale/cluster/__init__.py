"""Fits and scores on a Dask cluster. Dask is imported when it is used.

client      the cluster in use; data and tasks survive the death of a worker
candidates  candidates of a search as tasks
pairs       blocks of an expensive dissimilarity matrix as tasks
partitions  Dask arrays, frames and bags: scored by partition, materialised or sampled for a fit
pickled     what travels to the workers
"""

from eocc.scale.cluster.candidates import Remote
from eocc.scale.cluster.client import current, on, using
from eocc.scale.cluster.pairs import prepare, spread_measure
from eocc.scale.cluster.partitions import dask_lazy, is_dask, materialised, sample

__all__ = [
    "Remote", "current", "dask_lazy", "is_dask", "materialised", "on", "prepare", "sample", "spread_measure", "using",
]  # fmt: skip
