"""Pictures of a fitted classifier: one function per question, which draws on a matplotlib axis and returns it."""

from eocc.base.registry import Registry

NAMES = (
    "rows", "row", "calibration", "space", "history", "membership", "modularity", "weights", "roc", "scores",
)  # fmt: skip
PLACES = {name: f"drawing.plot_{name}" for name in NAMES} | {"regions": "drawing.plot_region_sizes"}
PLOTS = Registry("eocc.plots", PLACES)
__getattr__, __all__ = PLOTS.exports("drawing.plot", "series.plot_series")
