"""Entropic one-class classification: learn what is normal from examples of it.

The rooms, in the order of the data flow. A room imports only rooms that stand before it, and ``kernels``.

- ``base``          what every room may use: checks of arguments, named choices, threads, text, atomic files
- ``tables``        any source of rows -> one table of typed columns, read in one way
- ``measures``      a pair of objects -> a dissimilarity; one file per measure
- ``scale``         the memory limit of a fit, and Dask
- ``space``         objects -> prototypes, weightings, dissimilarity space
- ``neighbours``    rows -> their nearest neighbours
- ``entropic``      the paper, in its order: graph, entropy, partition, fuzzy regions, search, synthesis
- ``ellipsoids``    coordinates -> regions of one shape -> membership
- ``calibration``   held-out rows -> thresholds and p-values
- ``surprise``      distances to the nearest normal rows -> the surprise score
- ``explain``       fitted model + rows -> explanations and rules
- ``formats``       data files and the model file
- ``classifiers``   the classifiers behind scikit-learn's interface
- ``streaming``     data larger than memory
- ``plots``         pictures of a fitted classifier
- ``report``        the HTML page
- ``integrations``  PyOD
- ``rivals``        the other one-class classifiers
- ``datasets``      loaders of published data
- ``experiments``   the paper's tables and figures
- ``cli``           the command line
"""

from typing import TYPE_CHECKING, Any

from eocc.base.registry import Registry

if TYPE_CHECKING:
    from eocc.classifiers.entropic import EntropicOneClassClassifier
    from eocc.classifiers.regions import RegionClassifier
    from eocc.classifiers.state import load, save
    from eocc.classifiers.surprise import SurpriseClassifier
    from eocc.tables.windows import windows

__all__ = [
    "EntropicOneClassClassifier",
    "RegionClassifier",
    "SurpriseClassifier",
    "__version__",
    "load",
    "save",
    "windows",
]

_load, _ = Registry("eocc", {}).exports(
    "classifiers.entropic.EntropicOneClassClassifier",
    "classifiers.regions.RegionClassifier",
    "classifiers.surprise.SurpriseClassifier",
    "classifiers.state.load",
    "classifiers.state.save",
    "tables.windows.windows",
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("eocc")
    if name == "plots":
        from importlib import import_module

        return import_module("eocc.plots")
    found = globals()[name] = _load(name)
    return found


def __dir__() -> list[str]:
    return __all__
