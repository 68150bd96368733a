"""Pictures of a fitted classifier: one function each, which draws on a matplotlib axis and returns it."""

from eocc.foundation.registry import Registry

PLOTS = Registry(
    "eocc.plots",
    {
        "space": "drawing.plot_space",
        "membership": "drawing.plot_membership",
        "modularity": "drawing.plot_modularity",
        "history": "drawing.plot_history",
        "weights": "drawing.plot_weights",
        "roc": "drawing.plot_roc",
        "scores": "drawing.plot_scores",
        "regions": "drawing.plot_region_sizes",
    },
)
__getattr__, __all__ = PLOTS.exports()
