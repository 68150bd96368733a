"""Selections: which training patterns become prototypes. One row per selection."""

from eocc.base.registry import Registry

SELECTIONS = Registry(
    "eocc.space.prototypes",
    {
        "content": "content.ByContent",
        "farthest-first": "selections.FarthestFirst",
        "random": "selections.RandomSelection",
    },
)
__getattr__, __all__ = SELECTIONS.exports(
    "selections.Selection", "selections.count_of", "selections.resolve_selection", "selections.select_prototypes"
)
