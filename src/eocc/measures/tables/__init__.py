"""Mixed records: Gower's dissimilarity."""

from eocc.measures.tables.coders import FittedColumn
from eocc.measures.tables.gower import FittedGower, Gower

__all__ = ["FittedColumn", "FittedGower", "Gower"]
