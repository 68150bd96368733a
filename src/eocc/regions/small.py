"""Which regions may be clusters of outliers, where the training rows are not all normal."""

from collections.abc import Sequence

import numpy as np

from eocc.foundation.types import Indices
from eocc.regions.fuzzy import Region


def normal_regions(regions: Sequence[Region], share: float) -> Indices:
    """Return the indices of the regions that count as normal, if a `share` of the training rows may be outliers.

    A region does not count if it holds at most this share of the rows, and if all regions of its size or smaller hold
    at most half of the rows together. Without the second condition, data that form many small regions would have no
    normal region at all. Regions of equal size are treated alike, so the order of the rows does not matter.
    """
    sizes = np.array([len(region.members) for region in regions])
    held_by_no_larger = np.array([sizes[sizes <= size].sum() for size in sizes])
    # 1e-9 keeps 0.29 * 100 at 29, where floating point gives 28.999999999999996.
    may_be_outliers = sizes <= share * sizes.sum() + 1e-9
    return np.flatnonzero(~may_be_outliers | (2 * held_by_no_larger > sizes.sum()))
