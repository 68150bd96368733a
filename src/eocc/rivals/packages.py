"""Optional packages that some rivals need."""

import importlib
from typing import Any


def needed(module: str, package: str, by: str) -> Any:
    """Return the module, or raise an ImportError that says which package `by` needs.

    >>> needed("minisom", "minisom", by="SelfOrganisingMap").__name__
    'minisom'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{by} needs the package {package}: pip install 'eocc[rivals]'", name=error.name) from error
