"""Packages that some rivals need beside the library's own."""

import importlib
from typing import Any


def needed(module: str, package: str, by: str) -> Any:
    """Return the module, or say which package `by` needs and how to install it.

    >>> needed("minisom", "minisom", by="SelfOrganisingMap").__name__
    'minisom'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{by} needs the package {package}: pip install 'eocc[rivals]'", name=error.name) from error
