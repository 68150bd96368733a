"""Pictures of a fitted classifier: one function each, which draws on a matplotlib axis and returns it."""

from eocc.foundation.registry import Registry

NAMES = ("space", "membership", "modularity", "history", "weights", "roc", "scores")
PLACES = {name: f"drawing.plot_{name}" for name in NAMES} | {"regions": "drawing.plot_region_sizes"}
PLOTS = Registry("eocc.plots", PLACES)
__getattr__, __all__ = PLOTS.exports()
