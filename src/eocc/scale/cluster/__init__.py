"""Fits and scores on a Dask cluster. Dask is imported when it is used.

client      data, tasks and candidates of a search, which survive the death of a worker
pairs       the cluster in use; blocks of an expensive dissimilarity matrix as tasks
partitions  Dask arrays, frames and bags: scored by partition, materialised, or folded for a fit
pickled     what travels to the workers
"""

from eocc.foundation.vocabulary import completed
from eocc.scale.cluster.pairs import on
from eocc.scale.cluster.partitions import DaskPasses, contents, lazily

__all__ = ["DaskPasses", "contents", "lazily", "on"]
for _name in __all__:
    completed(globals()[_name])
