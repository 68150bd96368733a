"""Pictures of a fitted classifier: one function per question, which draws on a matplotlib axis and returns it."""

from eocc.base.registry import Registry

NAMES = ("rows", "calibration", "space", "history", "membership", "modularity", "roc", "scores")
PLOTS = Registry("eocc.plots", {name: f"drawing.plot_{name}" for name in NAMES})
__getattr__, __all__ = PLOTS.exports("drawing.plot", "drawing.plot_series")
