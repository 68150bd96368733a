"""Fits and scores on a Dask cluster. Dask is imported when it is used.

client      data, tasks and candidates of a search, which survive the death of a worker
pairs       the cluster in use; blocks of an expensive dissimilarity matrix as tasks
partitions  Dask arrays, frames and bags: scored by partition, or materialised for a fit
passes      Dask arrays and frames of numbers: folded by partition for a fit
pickled     what travels to the workers
"""

from eocc.foundation.vocabulary import completed
from eocc.scale.cluster.pairs import on
from eocc.scale.cluster.partitions import contents, lazily
from eocc.scale.cluster.passes import DaskPasses

__all__ = ["DaskPasses", "contents", "lazily", "on"]
for _name in __all__:
    completed(globals()[_name])
