"""A fitted RegionClassifier as SQL, as a Python module without imports, and as JSON."""

from eocc.formats.export.formula import Formula, formula_of, python_module
from eocc.formats.export.sql import DIALECTS, select_statement

__all__ = ["DIALECTS", "Formula", "formula_of", "python_module", "select_statement"]
